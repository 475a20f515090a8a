// Progress of a call that is made of several maps.
#pragma once

#include "runtime/context.h"

namespace apsis {

/// Tells the caller of so many calls after one another as of one.
class Stages {
  public:
    explicit Stages(apsis_context &context, int64_t count = 2)
        : context_(context),
          told_(context.progress_fn),
          user_(context.progress_user),
          count_(static_cast<double>(count)) {
        if (!told_) return;
        context.progress_fn = [](void *stages, double done) { return static_cast<Stages *>(stages)->tell(done); };
        context.progress_user = this;
    }
    ~Stages() { context_.progress_fn = told_, context_.progress_user = user_; }
    Stages(const Stages &) = delete;
    Stages &operator=(const Stages &) = delete;
    void next() { ++done_; }

  private:
    int tell(double done) const { return told_(user_, (done_ + done) / count_); }

    apsis_context &context_;
    apsis_progress_fn told_;
    void *user_;
    double count_, done_ = 0;
};

}  // namespace apsis
