// bwdist: the distance to the nearest element that is not zero, exact, in two and three dimensions.
#include "apsis_octave.h"

using namespace apsis_octave;

// The work for one width of indices, of which Octave's count from 1 on, so that -1 becomes 0: none.
template <class Indices, class Integer>
static octave_value_list distances(const boolNDArray &bw, Method how, bool with_indices, apsis_type type) {
    const dim_vector size = bw.dims();
    FloatNDArray lengths(size);
    Indices indices(with_indices ? size : dim_vector(0, 0));
    Integer *const index = reinterpret_cast<Integer *>(indices.fortran_vec());
    const apsis_image set = view(bw), distance = view(size, lengths.fortran_vec(), APSIS_F32);
    const apsis_image nearest = view(size, index, type), *const wanted = with_indices ? &nearest : nullptr;
    apsis_options options = APSIS_OPTIONS_INIT;
    options.metric = how.metric;
    call("bwdist", [&](apsis_context *context) {
        if (!how.paths) return apsis_distance(context, &set, &distance, wanted, &options);
        const boolNDArray everywhere(size, true);
        const apsis_image ground = view(everywhere);
        return apsis_geodesic(context, &ground, &set, &distance, wanted, &options);
    });
    if (!with_indices) return ovl(lengths);
    for (octave_idx_type i = 0; i < size.numel(); ++i) index[i] += 1;
    return ovl(lengths, indices);
}

DEFUN_DLD(bwdist, args, nargout, R"(-*- texinfo -*-
@deftypefn  {} {@var{dist} =} bwdist (@var{bw})
@deftypefnx {} {@var{dist} =} bwdist (@var{bw}, @var{method})
@deftypefnx {} {[@var{dist}, @var{idx}] =} bwdist (@dots{})
Compute for every element of @var{bw} the distance to the nearest one that is not zero.

@var{dist} is of class single: the exact distance, rounded once, or Inf if @var{bw} is zero everywhere.  @var{idx} is the linear
index of the nearest element, of several the lowest, or 0 if there is none; its class is uint32, from 2^31 elements on uint64.

@var{method} is @qcode{"euclidean"} (the default), @qcode{"cityblock"}, @qcode{"chessboard"} or @qcode{"quasi-euclidean"}, the
length of the shortest path of steps between neighbours.  @var{bw} has two or three dimensions.  Computed by apsis.
@end deftypefn)") {
    if (args.length() < 1 || args.length() > 2) print_usage();
    const boolNDArray bw = mask(args(0), "bwdist", "BW");
    const Method how = args.length() > 1 ? method(args(1), "bwdist") : Method{APSIS_EUCLIDEAN, false};
    return bw.numel() < INT32_MAX ? distances<uint32NDArray, uint32_t>(bw, how, nargout > 1, APSIS_I32)
                                  : distances<uint64NDArray, uint64_t>(bw, how, nargout > 1, APSIS_I64);
}
