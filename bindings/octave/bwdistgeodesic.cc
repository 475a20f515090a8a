// bwdistgeodesic: the length of the shortest path inside a set to the nearest seed.
#include "apsis_octave.h"

#include <limits>

using namespace apsis_octave;

static const char *const kName = "bwdistgeodesic";

static void put_seed(boolNDArray &seeds, double index) {
    if (!(index >= 1 && index <= double(seeds.numel())) || index != std::floor(index))
        error("%s: seed locations must be positions in BW", kName);
    seeds(octave_idx_type(index) - 1) = true;
}

// MASK, IND, or C and R: columns and rows.
static boolNDArray seeds_of(const octave_value_list &args, int places, const boolNDArray &bw) {
    if (places == 1 && args(1).islogical()) {
        boolNDArray seeds = args(1).bool_array_value();
        if (seeds.dims() != bw.dims()) error("%s: MASK must have the size of BW", kName);
        return seeds;
    }
    for (int i = 1; i <= places; ++i)
        if (!args(i).isnumeric()) error("%s: seed locations must be numeric", kName);
    boolNDArray seeds(bw.dims(), false);
    const NDArray first = args(1).array_value();
    if (places == 1) {
        for (octave_idx_type i = 0; i < first.numel(); ++i) put_seed(seeds, first(i));
        return seeds;
    }
    const NDArray second = args(2).array_value();
    if (first.numel() != second.numel()) error("%s: C and R must be of equal length", kName);
    if (bw.ndims() > 2) error("%s: with C and R, BW must have two dimensions", kName);
    const octave_idx_type rows = bw.rows(), columns = bw.columns();
    for (octave_idx_type i = 0; i < first.numel(); ++i) {
        const double c = first(i), r = second(i);
        const bool inside = c >= 1 && c <= double(columns) && r >= 1 && r <= double(rows);
        put_seed(seeds, inside && c == std::floor(c) ? (c - 1) * double(rows) + r : 0);
    }
    return seeds;
}

DEFUN_DLD(bwdistgeodesic, args, , R"(-*- texinfo -*-
@deftypefn  {} {@var{dist} =} bwdistgeodesic (@var{bw}, @var{mask})
@deftypefnx {} {@var{dist} =} bwdistgeodesic (@var{bw}, @var{ind})
@deftypefnx {} {@var{dist} =} bwdistgeodesic (@var{bw}, @var{c}, @var{r})
@deftypefnx {} {@var{dist} =} bwdistgeodesic (@dots{}, @var{method})
Compute the length of the shortest path, inside the elements of @var{bw} that are not zero, to the nearest seed.

The seeds are where the logical array @var{mask} is true, or have linear indices @var{ind}, or columns @var{c} and rows @var{r};
those outside do not count.  @var{dist} is of class single: NaN outside, Inf where no path leads to a seed.

@var{method} is @qcode{"chessboard"} (the default: every step to a neighbour is 1 long), @qcode{"cityblock"} (steps along one
dimension) or @qcode{"quasi-euclidean"} (steps as long as they are).  @var{bw} has two or three dimensions.  Computed by apsis.
@end deftypefn)") {
    const int nargin = args.length();
    if (nargin < 2 || nargin > 4) print_usage();
    const bool named = args(nargin - 1).is_string();
    const int places = nargin - 1 - named;
    if (places < 1 || places > 2) print_usage();
    const boolNDArray bw = mask(args(0), kName, "BW");
    const Method how = named ? method(args(nargin - 1), kName) : Method{APSIS_CHESSBOARD, true};
    if (how.metric == APSIS_EUCLIDEAN && !how.paths) error("%s: unknown METHOD 'euclidean'", kName);
    const boolNDArray seeds = seeds_of(args, places, bw);

    FloatNDArray lengths(bw.dims());
    float *const length = lengths.fortran_vec();
    apsis_options options = APSIS_OPTIONS_INIT;
    options.metric = how.metric;
    const apsis_image set = view(bw), from = view(seeds), distance = view(bw.dims(), length, APSIS_F32);
    call(kName, [&](apsis_context *context) { return apsis_geodesic(context, &set, &from, &distance, nullptr, &options); });
    for (octave_idx_type i = 0; i < lengths.numel(); ++i)
        if (length[i] < 0) length[i] = std::numeric_limits<float>::quiet_NaN();
    return ovl(lengths);
}
