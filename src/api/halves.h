// Progress of a call that is made of two maps.
#pragma once

#include "runtime/context.h"

namespace apsis {

/// Tells the caller of two calls after one another as of one.
class Halves {
  public:
    explicit Halves(apsis_context &context) : context_(context), told_(context.progress_fn), user_(context.progress_user) {
        if (!told_) return;
        context.progress_fn = [](void *halves, double done) { return static_cast<Halves *>(halves)->tell(done); };
        context.progress_user = this;
    }
    ~Halves() { context_.progress_fn = told_, context_.progress_user = user_; }
    Halves(const Halves &) = delete;
    Halves &operator=(const Halves &) = delete;
    void next() { from_ = 0.5; }

  private:
    int tell(double done) const { return told_(user_, from_ + done / 2); }

    apsis_context &context_;
    apsis_progress_fn told_;
    void *user_;
    double from_ = 0;
};

}  // namespace apsis
