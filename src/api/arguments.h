// The images of a call, checked together.
#pragma once

#include "api/jobs.h"

namespace apsis {

/// An image of a call, and the view to fill in.
struct Argument {
    const char *name;
    const apsis_image *image;
    View &view;
    Role role;
};

/// Checks the images of a call.  The first gives their size.  Sets cannot be left out; that of a slab that the context has
/// found has no data.
template <size_t COUNT>
void check_images(const apsis_context &context, const Argument (&images)[COUNT], bool need_data) {
    for (const Argument &each : images) {
        if (!each.image && each.role != Role::SET) continue;
        const bool is_found = context.found && each.image == &context.found->set;
        each.view = check_image(each.name, each.image, each.role, need_data && !is_found);
        if (is_found) each.view.data = nullptr;
        check_same_size(images[0].name, images[0].image, each.name, each.image);
        check_reach(context, each.name, each.image);
    }
}

/// Throws if an output overlaps another image.
template <size_t COUNT>
void check_all_apart(const Argument (&images)[COUNT]) {
    for (size_t i = 0; i < COUNT; ++i)
        for (size_t k = i + 1; k < COUNT; ++k)
            if (!is_input(images[k].role)) check_apart(images[i].name, images[i].view, images[k].name, images[k].view);
}

/// Throws unless the type of an output holds all labels of an input of this type.
void check_labels_fit(const char *name, const apsis_image *output, const char *input, apsis_type type);

}  // namespace apsis
