// Host images in a device context: a packed copy of each on the device, uploaded before the transform and downloaded after it.
// And sets whose pixels are wide: their bits, in every context.
#pragma once

#include <memory>

#include "runtime/context.h"
#include "runtime/packed.h"

namespace apsis {

class Staging {
  public:
    /// Carves a copy for each image of a call that is not in the context's own memory.
    Staging(const apsis_context &context, Carver &carver) : context_(context), carver_(carver) {}

    View input(const View &view) { return own(view, false); }
    View output(const View &view) { return own(view, true); }
    /// An input that is a set: its bits, if its pixels are wide.
    View set(const View &view);
    /// An input whose values are wanted: its bytes, if its pixels are bits.
    View values(const View &view);

    /// Whether an image crosses between host and device.
    bool crosses() const { return crosses_; }

    /// Uploads, transforms and downloads.  Waits, also on failure, if an image crosses: the caller's memory is not touched
    /// after the call.
    template <class Transform>
    void run(Transform transform) {
        if (count_ == 0) return transform();
        try {
            upload();
            transform();
            download();
        } catch (...) {
            if (crosses_) settle();
            throw;
        }
        if (crosses_) context_.backend->sync();
    }

  private:
    struct Copy {
        View outside, inside;
        bool is_output;
    };
    View own(const View &view, bool is_output);
    View copy_of(const View &view, View inside, bool is_output);
    void upload();
    void download();
    void settle() noexcept;

    const apsis_context &context_;
    Carver &carver_;
    Copy copies_[6];
    int count_ = 0;
    bool crosses_ = false;
};

/// Copies pixels between any two views of a context, staging what the back end cannot reach.  Waits if it staged.
void copy_between(apsis_context &context, const View &from, const View &to);

/// Makes of an image one in host memory with pixels of this type, which copy_pixels can give it.  A copy is the caller's to
/// keep.
std::unique_ptr<uint8_t[]> bring_to_host(apsis_context &context, View &image, apsis_type type);

}  // namespace apsis
