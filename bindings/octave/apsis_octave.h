// What the oct-files share: Octave's arrays as images, one call of the library, and errors as Octave words them.
#pragma once
#include <apsis.h>
#include <octave/oct.h>

#include <string>

namespace apsis_octave {

/// The elements of BW that are not zero; a logical array is taken as it lies.
inline boolNDArray mask(const octave_value &value, const char *function, const char *name) {
    if (!value.islogical() && !value.isnumeric()) error("%s: %s must be a numeric or logical array", function, name);
    boolNDArray array = value.bool_array_value();
    if (array.ndims() > 3) error("%s: %s must have at most three dimensions", function, name);
    return array;
}

/// The very elements: x goes down the columns, as memory does.  Inputs are views too: they are never written to.
inline apsis_image view(const dim_vector &size, const void *data, apsis_type type) {
    apsis_image image = {};
    image.data = size.numel() ? const_cast<void *>(data) : nullptr;
    image.type = type;
    image.ndim = size.ndims();
    for (int axis = 0; axis < image.ndim; ++axis) image.size[axis] = size(axis);
    return image;
}
inline apsis_image view(const boolNDArray &set) { return view(set.dims(), set.data(), APSIS_U8); }

/// Makes a call: `work` gets a context, and returns its status.  Signals stop it; when Octave has seen to one, and goes on (for
/// an interrupt it does not), the call is made anew.
template <class Work>
void call(const char *function, Work work) {
    struct Context {
        apsis_context *handle = nullptr;
        ~Context() { apsis_destroy(handle); }
    } context;
    apsis_status status = apsis_create(APSIS_VERSION, APSIS_BEST, &context.handle);
    if (status == APSIS_OK)
        status = apsis_set_progress(context.handle, [](void *, double) { return int(octave_signal_caught != 0); }, nullptr);
    while (status == APSIS_OK && (status = work(context.handle)) == APSIS_ERROR_CANCELLED) {
        octave_quit();
        status = APSIS_OK;
    }
    if (status != APSIS_OK) error("%s: %s", function, apsis_message(context.handle));
}

/// A method of measuring: its paths are those of `metric`, where it is one of paths.
struct Method {
    apsis_metric metric;
    bool paths;
};

inline Method method(const octave_value &value, const char *function) {
    if (!value.is_string()) error("%s: METHOD must be a string", function);
    std::string name = value.string_value();
    for (char &c : name) c = char(std::tolower(static_cast<unsigned char>(c)));
    if (name == "euclidean") return {APSIS_EUCLIDEAN, false};
    if (name == "cityblock") return {APSIS_CITY_BLOCK, false};
    if (name == "chessboard") return {APSIS_CHESSBOARD, false};
    if (name == "quasi-euclidean") return {APSIS_EUCLIDEAN, true};
    error("%s: unknown METHOD '%s'", function, value.string_value().c_str());
}

}  // namespace apsis_octave
