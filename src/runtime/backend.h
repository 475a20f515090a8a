// The interface of a back end.  There are two, the CPU and CUDA.  The tests have a third, whose device memory is host memory
// that no other code may touch.  A back end gets checked views in memory that it can reach, and throws Error.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "core/beyond.h"
#include "core/chessboard.h"
#include "core/measure.h"
#include "core/seam.h"
#include "core/steps.h"
#include "runtime/error.h"
#include "runtime/workspace.h"

namespace apsis {

/// Reports how much of a call is done, 0 to 1, and throws APSIS_ERROR_CANCELLED if the caller's callback asks to stop.  To be
/// called on the calling thread only.  Empty if there is no callback.
using Progress = std::function<void(double)>;

/// A part of an image along its last axis; for a whole image, all of it.
struct Slab {
    int64_t start = 0, extent = 0;  // where it begins, and the image's extent
    // As in apsis_slab: of the set, and of its complement.  Of a label image, whose distances are measured: where the run
    // begins that goes on in the first row, which may be that row, and the first row beyond that of the last row.  Of a set
    // without a sign they may be in device memory, but not for chessboard distances.
    const int64_t *above[2] = {}, *below[2] = {};
    // Of these sites the labels, where a map is to have labels in place of indices.
    const int64_t *above_labels = nullptr, *below_labels = nullptr;
    void *page_locked = nullptr;  // a back end's own, for these on their way
};

/// apsis_distance, its arguments checked and its defaults filled in.
struct DistanceJob {
    View set;       // if it is_found: its size alone
    View distance;  // without data: not wanted; of APSIS_BIT or APSIS_U8: a mask of the pixels within the limit
    View nearest;   // without data: not wanted
    int axes = 2;   // the distance is measured along the first 2 or 3; with 2, every z is an image of its own
    bool complement = false;
    // Whether the job before in the same scratch memory was the summary of this slab.  The set is still there, in words.
    bool is_found = false;
    bool is_signed = false;
    bool labels = false;  // the set is a label image, of APSIS_U8 or wider: the distance to another value is measured
    bool beyond = false;  // a mask is of the pixels beyond the limit instead
    Periodic periodic;
    bool border = false;  // what lies outside the image is background: its distance is taken where it is less
    View values;          // of a map of cells: the labels to write in place of indices; without data: indices
    apsis_method method = APSIS_AUTO;
    bool mixed = false;  // for APSIS_SWEEP: without the conversion to the complete map
    Measure measure;
    Slab slab;

    /// Whether there are pixels of the image outside of the set: before it or after it along the last axis.
    bool is_slab() const { return slab.extent != set.size[axes - 1]; }

    /// The axes along which the lines of the set close on themselves: where an image is cut, they go on outside of a slab.
    Periodic closed() const {
        Periodic lines = periodic;
        if (is_slab()) lines.along[axes - 1] = false;
        return lines;
    }
    bool is_closed(int axis) const { return closed().along[axis]; }
    /// The index in the image of the first pixel of the set.
    int64_t first_index() const { return slab.start * columns(); }

    /// Whether a mask is wanted, not lengths.
    bool is_mask() const { return distance && (distance.type == APSIS_BIT || distance.type == APSIS_U8); }

    /// Whether there are several images, one for each z.
    bool is_batch() const { return axes == 2 && set.size[2] > 1; }

    /// The number of columns along the last axis.
    int64_t columns() const { return axes == 3 ? set.size[0] * set.size[1] : set.size[0]; }

    /// Calls body(row, distances) for the first and the last row of a slab, in 3-D plane, with the chessboard distances from
    /// its pixels to the sites beyond; without sites there, not at all.  Sites are those of a side: of the set, or of its
    /// complement.
    template <class Body>
    void for_chessboard_beyond(int side, Body body) const {
        const int64_t height = axes == 3 ? set.size[1] : 1;
        const Beyond sites(*this, side);
        for (const bool is_above : {true, false}) {
            if (!(is_above ? sites.above : sites.below)) continue;
            const int64_t row = is_above ? 0 : set.size[axes - 1] - 1;
            std::vector<int32_t> entering(static_cast<size_t>(columns()));
            for (int64_t c = 0; c < columns(); ++c) {
                const int64_t offset = (is_above ? sites.before(c, row) : sites.after(c, row)).offset;
                entering[c] = offset < 0 ? NO_CHESSBOARD : static_cast<int32_t>(offset);
            }
            spread_chessboard(entering, set.size[0], height, is_closed(0), axes == 3 && is_closed(1));
            body(row, std::move(entering));
        }
    }

    /// The work of a published method, in host memory on every device.
    struct Report {
        int64_t kernels;  // kernel instances, as the papers count them; on the CPU, rounds over the image
        int64_t mended;   // pixels at which its map differed from the complete one
    };
    Report *report = nullptr;  // nullptr: not wanted
};

/// apsis_voronoi, checked likewise.  `nearest` is the map of cells.
struct VoronoiJob : DistanceJob {
    bool connected = false;
};

/// apsis_morphology, checked likewise: one map, a mask, or a second one of the mask of the first.  A dilation is the pixels
/// within the limit of the set, an erosion those beyond it of the complement.
struct MorphologyJob {
    DistanceJob first;  // without a set: a label image that grows needs no mask
    bool has_second = false;
    View result;
    // Of a label image, whose masks are scratch memory: the labels grow before, and of others, or of these, some are kept.
    DistanceJob grown;  // without a set: not wanted
    View kept;          // where the last mask is 1; without data: the mask is the result

    /// The other operation, of the first one's mask and in its place: every map has read its set before it writes.
    DistanceJob second() const {
        DistanceJob job = first;
        job.set = first.distance;
        job.beyond = job.complement = !first.beyond;
        job.border = job.labels = false;
        return job;
    }
};

/// apsis_slab_summary, checked likewise.  From the distance job it uses the set and where the slab begins.  It leaves the set,
/// or its complement, in words at the beginning of its scratch memory.
///
/// If `labels`, the set is a label image, or of APSIS_BIT, and its first and last runs are told; nothing is left.
struct SummaryJob : DistanceJob {
    bool is_opposite = false;                   // whether the words that it finds there are those of the opposite set
    int64_t *first = nullptr, *last = nullptr;  // host memory or, of a set, device memory; nullptr: not wanted

    /// How many numbers are told in each of them: of labels the row, the row beyond the run, and the label, [3][column].
    int64_t told() const { return labels ? 3 * columns() : columns(); }
};

/// What a slab has been told, for its labels: the fields of apsis_slab_labels.  Views of APSIS_I64; they are without data where
/// the caller's arrays are NULL or empty.
struct ToldLabels {
    View first, last;
    View numbers;  // in place of numbers 1, 2, ... in labels, and 0 beyond: then `first`, `last` and `before` are not used
    int64_t before = 0, count = 0;
    bool is_any = false;

    bool has_faces() const { return first || last; }
};

/// apsis_components, checked likewise.
struct ComponentsJob {
    View set;          // of a slab that is_found(): its size alone
    View labels;       // numbers, or a set; without data: not wanted
    View first, last;  // APSIS_I64: the numbers in the first and the last row, in 3-D plane; without data: not wanted
    ToldLabels told;
    int axes = 2;
    int connectivity = 1;
    Periodic periodic;
    apsis_method method = APSIS_AUTO;
    bool complement = false;
    bool by_value = false;                     // the set is a label image, of APSIS_U8 or wider, or a grey one
    double delta = 0;                          // by value: by how much the values of neighbours may differ
    bool no_border = false, no_inner = false;  // whether components at the border, or not at it, are left out
    int64_t min_area = 0, max_area = INT64_MAX, largest = INT64_MAX;
    apsis_component *components = nullptr;  // host memory on every device, like the count
    bool as_parts = false;                  // each is an apsis_part: sums in place of the centroid
    int64_t start = 0;                      // of parts: the rows of the image before the set
    int64_t capacity = 0;
    int64_t *count = nullptr;

    /// The pixels of a row, in 3-D plane.
    int64_t columns() const { return axes == 3 ? set.size[0] * set.size[1] : set.size[0]; }
    bool is_slab() const { return as_parts || told.is_any; }
    /// Whether the job before it in the same scratch memory was for the parts of this slab.  What it has found is still there.
    bool is_found() const { return told.is_any && !set; }
    bool selects_by_area() const { return min_area > 1 || max_area < INT64_MAX || largest < INT64_MAX; }
    bool selects() const { return selects_by_area() || no_border || no_inner; }
    bool is_mask() const { return labels && (labels.type == APSIS_BIT || labels.type == APSIS_U8); }

    /// Whether values need not be equal to be connected; or, as those of APSIS_F32, may be equal and differ in their bits.
    bool by_delta() const { return by_value && (delta > 0 || set.type == APSIS_F32); }
    /// delta for values that are whole numbers: so are their differences.
    uint32_t whole_delta() const { return delta < UINT32_MAX ? static_cast<uint32_t>(delta) : UINT32_MAX; }
};
static_assert(sizeof(apsis_part) == sizeof(apsis_component) &&
              offsetof(apsis_part, sum) == offsetof(apsis_component, centroid) &&
              offsetof(apsis_part, value) == offsetof(apsis_component, value));

/// apsis_geodesic, checked likewise.
struct GeodesicJob {
    View set;
    View seeds;
    View values;    // the labels of seeds, to write in place of their indices; without data: indices
    View distance;  // without data: not wanted
    View nearest;   // without data: not wanted
    int axes = 2;
    Periodic periodic;
    bool complement = false;
    Steps steps;
    int64_t indices = 0;      // of the pixels of all the image: none is larger
    int64_t first_index = 0;  // of the first pixel of the set, if that is a slab
    // Of a slab: the shortest paths that come in through its first and its last row, and those to these rows.  APSIS_I64: at z
    // = 0 and 1 the lengths for both rows, INT64_MAX where there is none; then the seeds, if they are wanted.  Rows of planes
    // are along y.
    View entering, told;
    int64_t longest_entering = 0;

    bool wants_seeds() const { return nearest || told.size[2] > 2; }
};

/// The most components at any connectivity: every other pixel of a volume, or of each slice.
inline int64_t most_components(const View &set, int axes) {
    const int64_t slices = axes == 2 ? set.size[2] : 1, pixels = slices ? set.pixels() / slices : 0;
    return (pixels / 2 + pixels % 2) * slices;
}

class Team;

/// apsis_eccentricity, checked likewise.
struct EccentricityJob {
    View set;
    View eccentricity;  // without data: not wanted
    View farthest;      // without data: not wanted
    int axes = 2;
    int connectivity = 1;
    Periodic periodic;
    apsis_method method = APSIS_AUTO;
    bool complement = false;
    bool by_value = false;  // the set is a label image, of APSIS_U8 or wider: steps go from value to equal value
    Steps steps;
    int64_t budget = INT64_MAX;       // the most fields for one component
    apsis_extent *extents = nullptr;  // host memory on every device, like the count and the report
    int64_t capacity = 0;
    int64_t *count = nullptr;
    bool has_farthest = false;  // whether farthest pixels are found: if they are wanted, here or by another member of the team
    Team *team = nullptr;       // those that make the fields; nullptr: this job alone

    int64_t most_components() const { return by_value ? set.pixels() : apsis::most_components(set, axes); }

    /// The work done.  `fields` and `open` are up to date at every report of progress, and the rest at the end.
    struct Report {
        int64_t components, fields, most_fields;  // in all, and of one component
        int64_t open;                             // pixels that are not proved yet
        int64_t unproved;                         // components whose budget ran out
        double gap;                               // the largest gap among these
    };
    Report *report = nullptr;
};

/// apsis_statistics, checked likewise.
struct StatisticsJob {
    View set;                                  // a label image
    bool is_dense = false;                     // for the caller's table; back ends do not look at it
    std::vector<apsis_part> *found = nullptr;  // host memory on every device: of the values that occur, in ascending order
    // In place of `found` a back end may write the first components itself, and how many there are to `told`.
    apsis_component *components = nullptr;  // host memory on every device
    int64_t capacity = 0;
    int64_t *told = nullptr;  // null: it may not
};

/// apsis_contacts, checked likewise.
struct ContactsJob {
    View set;  // a label image
    int axes = 2;
    int connectivity = 1;
    Periodic periodic;
    double face[3] = {1, 1, 1};                   // the area of a face across each axis
    std::vector<apsis_contact> *found = nullptr;  // host memory on every device: in ascending order, areas not filled in
    // In place of `found` a back end may write the first contacts itself, with areas, and how many there are to `told`.
    apsis_contact *contacts = nullptr;  // host memory on every device
    int64_t capacity = 0;
    int64_t *told = nullptr;  // null: it may not
};

/// The rows that sites of a slab may have, of `columns` columns: `none`, or from `begin` to before `end`.
struct SiteRange {
    int64_t columns, none, begin, end;

    APSIS_BOTH bool has(int64_t row) const { return row == none || (row >= begin && row < end); }
};

/// What some slabs tell of their columns, to be merged for another one: in each the first row, or the last, of all.
struct MergeJob {
    std::vector<const int64_t *> told;
    bool are_last = false;
    int64_t columns = 0;
    int64_t *merged = nullptr;

    int64_t none() const { return are_last ? -1 : INT64_MAX; }
};

class TransferQueue;
struct JoinJob;
struct MeasuresJob;
struct SurfaceJob;

class Backend {
  public:
    virtual ~Backend() = default;
    virtual int device() const = 0;  // the CUDA device number, or APSIS_CPU
    virtual const char *name() const = 0;

    // Memory.  allocate() throws APSIS_ERROR_MEMORY; memory is aligned to Carver::SLOT.
    virtual void *allocate(apsis_memory memory, size_t bytes) = 0;
    virtual void release(apsis_memory memory, void *data, size_t bytes) noexcept = 0;
    /// Copies pixels between views of one size.  If both are in the back end's own memory, strides may differ, APSIS_BIT and
    /// APSIS_U8 are converted, and wide pixels of a set become bits.  Between host and device both are packed and of one type.
    virtual void copy(const View &from, const View &to) = 0;

    // Order.  Work is queued on the stream.  On the CPU it is done when a call returns.
    virtual void set_stream(CUstream_st *stream) = 0;
    virtual CUstream_st *stream() const = 0;
    virtual void sync() = 0;  // throws APSIS_ERROR_UNSUPPORTED while the stream is captured
    /// Whether the stream is being captured: work is recorded and done later, so it cannot be waited for.
    virtual bool is_capturing() const { return false; }
    virtual void set_threads(int threads) = 0;

    // The transforms, each with the bytes of scratch memory that it needs.  When distance() returns, the sites outside of a
    // slab are not needed any more.
    virtual size_t distance_scratch(const DistanceJob &job) const = 0;
    virtual void distance(const DistanceJob &job, void *scratch, const Progress &progress) = 0;
    virtual size_t summary_scratch(const SummaryJob &job) const = 0;
    virtual void summary(const SummaryJob &job, void *scratch, const Progress &progress) = 0;  // returns when it is done
    virtual size_t voronoi_scratch(const VoronoiJob &job) const = 0;
    virtual void voronoi(const VoronoiJob &job, void *scratch, const Progress &progress) = 0;
    virtual size_t components_scratch(const ComponentsJob &job) const = 0;  // whether or not components are wanted
    virtual void components(const ComponentsJob &job, void *scratch, const Progress &progress) = 0;
    virtual size_t geodesic_scratch(const GeodesicJob &job) const = 0;
    virtual void geodesic(const GeodesicJob &job, void *scratch, const Progress &progress) = 0;
    virtual size_t eccentricity_scratch(const EccentricityJob &job) const = 0;
    virtual void eccentricity(const EccentricityJob &job, void *scratch, const Progress &progress) = 0;

    /// Whether this device can read the memory of another back end's, so that both can be members of a team.
    virtual bool can_read(const Backend &) const { return true; }
    // Arrays of slabs in device memory: of each column a row.
    /// Whether an array of the caller's is there.  Throws if it is another device's, which this one cannot read.
    virtual bool is_on_device(const void *) const { return false; }
    /// Whether each row is `none` or in a range.  Returns when that is known.
    virtual bool are_sites(const int64_t *, const SiteRange &) { return false; }
    virtual void merge_sites(const MergeJob &) {}

    // These return when they are done.
    virtual size_t statistics_scratch(const StatisticsJob &job) const = 0;
    virtual void statistics(const StatisticsJob &job, void *scratch, const Progress &progress) = 0;
    virtual size_t contacts_scratch(const ContactsJob &job) const = 0;
    virtual void contacts(const ContactsJob &job, void *scratch, const Progress &progress) = 0;

    /// Marks the points of a surface, and returns whether there are some; and finds how many are alike, or returns false if it
    /// must know costs for that.  Both return when they are done.  If the back end has no kernels for a job, no memory is
    /// needed, and it is the work of the host.
    virtual size_t surface_scratch(const SurfaceJob &) const { return 0; }
    virtual bool mark_surface(const SurfaceJob &, void *) { return false; }
    virtual bool count_points(const SurfaceJob &, void *) { return false; }

    /// Writes the labels of the pixels where a mask is 1, otherwise 0.  All are in the back end's own memory, and the result
    /// may be the labels.
    virtual void keep_labels(const View &mask, const View &labels, const View &result) = 0;

    /// Measures, if the back end has kernels for them; otherwise no memory is needed, and they are the work of the host.
    /// Returns false if more values occur than there is room for.
    virtual size_t measures_scratch(const MeasuresJob &) const { return 0; }
    virtual bool measures(const MeasuresJob &, void *, const Progress &) { return false; }

    /// Joins slabs whose faces are all in memory that this device can reach, if the back end has kernels for it; otherwise no
    /// memory is needed, and it is the work of the host.  Returns how many components there are.  Returns nothing, and writes
    /// nothing, if the numbers in the faces cannot be those of sets: the host tells why.
    virtual size_t join_scratch(const JoinJob &) const { return 0; }
    virtual std::optional<int64_t> join(const JoinJob &, void *) { return {}; }

    /// The queue that takes a job's host images strip by strip (transfer_queue.h); null if they must be copied whole.
    virtual TransferQueue *transfer_queue(const DistanceJob &) { return nullptr; }
};

std::unique_ptr<Backend> make_cpu_backend();

/// Throws APSIS_ERROR_NO_DEVICE, with the reason, if there is no such device.
std::unique_ptr<Backend> make_device_backend(int device);
int device_count() noexcept;

}  // namespace apsis
