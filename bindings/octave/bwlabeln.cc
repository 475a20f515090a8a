// bwlabeln: the connected components of an array, numbered by their first element.
#include "apsis_octave.h"

#include <cstring>

using namespace apsis_octave;

// Which elements are neighbours: those that differ along at most `axes` of the first `dimensions`.
struct Neighbours {
    int axes, dimensions;
};

static Neighbours neighbours_of(int number) {
    switch (number) {
        case 4: return {1, 2};
        case 8: return {2, 2};
        case 6: return {1, 3};
        case 18: return {2, 3};
        case 26: return {3, 3};
    }
    error("bwlabeln: CONN must be 4, 6, 8, 18 or 26, or the mask of one of them");
}

static bool is_mask_of(const boolNDArray &mask, int number) {
    const Neighbours wanted = neighbours_of(number);
    if (mask.ndims() != wanted.dimensions) return false;
    for (int axis = 0; axis < mask.ndims(); ++axis)
        if (mask.dims()(axis) != 3) return false;
    for (octave_idx_type i = 0; i < mask.numel(); ++i) {
        const int axes = (i % 3 != 1) + (i / 3 % 3 != 1) + (mask.ndims() == 3 && i / 9 != 1);
        if (mask(i) != (axes <= wanted.axes)) return false;
    }
    return true;
}

static Neighbours neighbours_of(const octave_value &value) {
    if (!value.islogical() && !value.isnumeric()) error("bwlabeln: CONN must either be a logical array or a numeric scalar");
    if (value.is_scalar_type()) return neighbours_of(value.double_value() == value.int_value() ? value.int_value() : 0);
    const boolNDArray mask = value.bool_array_value();
    for (const int number : {4, 8, 6, 18, 26})
        if (is_mask_of(mask, number)) return neighbours_of(number);
    return neighbours_of(0);
}

DEFUN_DLD(bwlabeln, args, , R"(-*- texinfo -*-
@deftypefn  {} {[@var{l}, @var{num}] =} bwlabeln (@var{bw})
@deftypefnx {} {[@var{l}, @var{num}] =} bwlabeln (@var{bw}, @var{conn})
Label the connected components of the elements of @var{bw} that are not zero.

@var{l} is 1, 2, 3 ... in the components, in the order of their first elements, and 0 elsewhere; @var{num} is how many they are.

@var{conn} is 4 or 8 (the default of two dimensions), or 6, 18 or 26 (the default of three), or the mask of one of them, of
which each dimension has size 3.  With 4 and 8 the pages of an array of three dimensions are apart.  Computed by apsis.
@end deftypefn)") {
    if (args.length() < 1 || args.length() > 2) print_usage();
    const boolNDArray bw = mask(args(0), "bwlabeln", "BW");
    const Neighbours joined = args.length() > 1 ? neighbours_of(args(1)) : Neighbours{bw.ndims(), bw.ndims()};

    apsis_options options = APSIS_OPTIONS_INIT;
    options.connectivity = std::min(joined.axes, bw.ndims());
    if (joined.dimensions < bw.ndims()) options.flags = APSIS_SLICES;
    NDArray labels(bw.dims());
    int64_t count = 0;
    double *const label = labels.fortran_vec();
    const apsis_image set = view(bw), map = view(bw.dims(), label, APSIS_I64);
    call("bwlabeln",
         [&](apsis_context *context) { return apsis_components(context, &set, &map, nullptr, 0, &count, &options); });
    for (octave_idx_type i = 0; i < labels.numel(); ++i) {  // the integers become what Octave counts with, where they lie
        int64_t integer;
        std::memcpy(&integer, label + i, sizeof integer);
        label[i] = double(integer);
    }
    return ovl(labels, double(count));
}
