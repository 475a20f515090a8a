// Contacts of a label image: the common faces of every two values that touch.
#pragma once

#include "runtime/parallel.h"

namespace apsis::cpu::labels {

size_t contacts_scratch(const ContactsJob &job, int threads);
void contacts(const ContactsJob &job, void *scratch, Arena &arena, const Progress &progress);

}  // namespace apsis::cpu::labels
