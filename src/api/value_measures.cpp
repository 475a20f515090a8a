// apsis_measures: makes a checked job of the call, runs it, and tells what follows from the sums of each value.
#include "api/value_measures.h"

#include <algorithm>
#include <memory>
#include <utility>
#include <vector>

#include "api/arguments.h"
#include "api/guard.h"
#include "api/options.h"
#include "runtime/parallel.h"
#include "runtime/staging.h"

namespace apsis {

namespace {

constexpr uint32_t ALL_MEASURES =
    APSIS_MOMENTS | APSIS_PERIMETER | APSIS_SURFACE | APSIS_EULER | APSIS_FILLED | APSIS_HULL | APSIS_FERET | APSIS_INTENSITY;
constexpr double LEAST_SPACING = 1e-60, MOST_SPACING = 1e60;  // so that squares of squared lengths are doubles

}  // namespace

void take_wanted(uint32_t wanted, MeasuresJob &job) {
    if (wanted & ~ALL_MEASURES)
        throw Error(APSIS_ERROR_ARGUMENT, "wanted is 0x%x, but 0x%x is unknown", unsigned(wanted),
                    unsigned(wanted & ~ALL_MEASURES));
    job.wanted = wanted;
    if (job.axes == 3 && job.wants(APSIS_PERIMETER | APSIS_HULL | APSIS_FERET))
        throw Error(APSIS_ERROR_UNSUPPORTED, "wanted has %s, which in this version is for images in 2-D, but ndim is 3",
                    job.wants(APSIS_PERIMETER) ? "APSIS_PERIMETER"
                    : job.wants(APSIS_HULL)    ? "APSIS_HULL"
                                               : "APSIS_FERET");
}

void take_options(const char *function, const apsis_options *given, MeasuresJob &job) {
    const apsis_options options = read_options(given);
    if (options.flags & ~uint32_t(APSIS_DENSE | APSIS_LABELS))
        throw Error(APSIS_ERROR_ARGUMENT, "options: flags is 0x%x, but measures take APSIS_DENSE and APSIS_LABELS alone",
                    unsigned(options.flags));
    check_taken(function, {APSIS_AUTO}, options);
    refuse_delta(function, options);
    job.is_dense = options.flags & APSIS_DENSE;
    job.connectivity = connectivity_of(options, job.axes, 1);
    if (job.wants(APSIS_EULER) && job.axes == 3 && job.connectivity == 2)
        throw Error(APSIS_ERROR_UNSUPPORTED, "options: connectivity is 2, but in 3-D an Euler number is for 1 and 3");
    if (options.spacing[0] == 0) return;
    for (int a = 0; a < job.axes; ++a) {
        job.spacing[a] = options.spacing[a];
        if (!(job.spacing[a] >= LEAST_SPACING && job.spacing[a] <= MOST_SPACING))
            throw Error(APSIS_ERROR_UNSUPPORTED, "options: spacing[%d] is %g, but measures take %g to %g", a, job.spacing[a],
                        LEAST_SPACING, MOST_SPACING);
    }
    if (job.wants(APSIS_PERIMETER) && job.spacing[0] != job.spacing[1])
        throw Error(APSIS_ERROR_UNSUPPORTED, "options: spacing is %g and %g, but for APSIS_PERIMETER they must be equal",
                    job.spacing[0], job.spacing[1]);
}

MeasuresJob check_measures(const char *function, const apsis_context &context, const apsis_image *labels,
                           const apsis_image *grey, uint32_t wanted, const apsis_options *given) {
    MeasuresJob job;
    const Argument images[] = {{"labels", labels, job.set, Role::SET}, {"grey", grey, job.grey, Role::INTENSITY}};
    check_images(context, images, true);
    job.axes = labels->ndim;
    take_wanted(wanted, job);
    if (job.wants(APSIS_INTENSITY) && !grey) throw Error(APSIS_ERROR_ARGUMENT, "grey is NULL, but APSIS_INTENSITY is wanted");
    if (!job.wants(APSIS_INTENSITY)) job.grey = {};
    take_options(function, given, job);
    check_sums("labels: size", job.set.size);
    return job;
}

namespace {

/// Makes of an image one that the CPU can take: in host memory, and not of bits.
std::unique_ptr<uint8_t[]> bring(apsis_context &context, View &image) {
    return bring_to_host(context, image, image.type == APSIS_BIT ? APSIS_U8 : image.type);
}

void log_start(const apsis_context &context, const MeasuresJob &job, const char *where) {
    context.log("measures: %lld x %lld x %lld pixels on %s", static_cast<long long>(job.set.size[0]),
                static_cast<long long>(job.set.size[1]), static_cast<long long>(job.set.size[2]), where);
}

enum class Outcome { FOUND, NO_ROOM, FOR_HOST };

/// Runs a job on the back end, with room for so many values as the job says.  Without kernels for it, or memory, it is for the
/// host.  `kept` is how many bytes of images an earlier run has left in the scratch memory; they are not brought there again.
Outcome run_on_backend(apsis_context &context, const MeasuresJob &job, size_t &kept) {
    size_t of_images = 0;
    const auto stage = [&](Carver &carver, const auto &run) {
        Staging staging(context, carver);
        MeasuresJob own = job;
        own.set = staging.values(job.set);
        if (job.grey) own.grey = staging.input(job.grey);
        of_images = carver.used();
        const size_t bytes = context.backend->measures_scratch(own);
        if (bytes == 0) return Outcome::FOR_HOST;
        return run(staging, own, carver.take<uint8_t>(static_cast<int64_t>(bytes)));
    };
    Carver count;
    const auto just_count = [](const Staging &, const MeasuresJob &, const void *) { return Outcome::FOUND; };
    if (stage(count, just_count) == Outcome::FOR_HOST) return Outcome::FOR_HOST;
    void *const memory = context.find_scratch(count.used(), kept);
    if (!memory) return Outcome::FOR_HOST;
    log_start(context, job, context.backend->name());
    Carver carver(memory);
    return stage(carver, [&](Staging &staging, const MeasuresJob &own, void *scratch) {
        bool is_found = false;
        const auto find = [&] { is_found = context.backend->measures(own, scratch, context.progress()); };
        if (kept)
            find();
        else
            staging.run(find);
        kept = of_images;
        return is_found ? Outcome::FOUND : Outcome::NO_ROOM;
    });
}

/// Finds the sums on the host.
void run_on_host(apsis_context &context, MeasuresJob job, Arena &arena) {
    const std::unique_ptr<uint8_t[]> labels = bring(context, job.set), grey = bring(context, job.grey);
    log_start(context, job, "the CPU");
    measure_values(job, arena, context.progress());
}

}  // namespace

void run(apsis_context &context, MeasuresJob &job, Arena &arena) {
    constexpr int64_t LEAST_ROOM = 512, PIXELS_A_VALUE = 512, MORE = 4;  // of values there are fewer, mostly
    context.refuse_capture("measures are for the host");
    const int64_t pixels = job.set.pixels();
    job.room = std::max(LEAST_ROOM, pixels / PIXELS_A_VALUE);
    size_t kept = 0;
    Outcome outcome = run_on_backend(context, job, kept);
    while (outcome == Outcome::NO_ROOM && job.room < MORE * pixels) {
        job.room *= MORE;
        outcome = run_on_backend(context, job, kept);
    }
    if (outcome != Outcome::FOUND) run_on_host(context, job, arena);
}

namespace {

/// Tells the caller what is found, as it comes; but a table when all is known to fit.
class Teller {
  public:
    Teller(const MeasuresJob &job, Arena &arena, apsis_measure *measures, int64_t capacity)
        : job_(job),
          arena_(arena),
          measures_(measures),
          capacity_(capacity) {}

    void take(int64_t count, const std::function<ValueSums(int64_t)> &of) {
        constexpr int64_t PIECE = 512;  // values that a thread takes at a time
        if (job_.is_dense) found_.resize(static_cast<size_t>(values_ + count));
        const int64_t wanted = job_.is_dense ? count : std::clamp(capacity_ - values_, int64_t(0), count);
        const auto tell_some = [&](int64_t piece) {
            for (int64_t i = piece * PIECE; i < std::min((piece + 1) * PIECE, wanted); ++i) tell(values_ + i, of(i));
        };
        if (wanted <= PIECE)
            tell_some(0);
        else
            parallel_for(arena_, (wanted + PIECE - 1) / PIECE, {}, 0, 1, tell_some);
        values_ += count;
    }

    void finish(int64_t *count) const {
        if (job_.is_dense) fill_table();
        if (count) *count = !job_.is_dense ? values_ : found_.empty() ? 0 : found_.back().part.value + 1;
    }

  private:
    void tell(int64_t place, const ValueSums &sums) {
        if (!job_.is_dense)
            measures_[place] = measure_of(job_, sums);
        else
            found_[static_cast<size_t>(place)] = {sums.part, measures_ ? measure_of(job_, sums) : apsis_measure{}};
    }

    void fill_table() const {
        std::vector<apsis_part> parts;
        for (const Found &each : found_) parts.push_back(each.part);
        check_fit("labels", parts, job_.set.size, measures_, capacity_);
        for (int64_t i = 0; i < capacity_; ++i) {
            measures_[i] = {};
            measures_[i].component = {-1, 0, {-1, -1, -1}, {-1, -1, -1}, {0, 0, 0}, i};
        }
        if (!measures_) return;
        for (const Found &each : found_) measures_[each.part.value] = each.measure;
    }

    struct Found {
        apsis_part part;
        apsis_measure measure;
    };

    const MeasuresJob &job_;
    Arena &arena_;
    apsis_measure *const measures_;
    const int64_t capacity_;
    int64_t values_ = 0;        // how many there were
    std::vector<Found> found_;  // for a table
};

}  // namespace

}  // namespace apsis

using namespace apsis;

apsis_status apsis_measures(apsis_context *context, const apsis_image *labels, const apsis_image *grey, uint32_t wanted,
                            apsis_measure *measures, int64_t capacity, int64_t *count, const apsis_options *options) {
    return guard("measures", context, [&] {
        MeasuresJob job = check_measures("apsis_measures", *context, labels, grey, wanted, options);
        check_capacity("measures", measures, capacity);
        Arena arena(Arena::threads_for(context->threads));
        Teller teller(job, arena, measures, capacity);
        job.take = [&](int64_t values, const auto &of) { teller.take(values, of); };
        if (job.set.pixels() > 0 && (measures || count)) run(*context, job, arena);
        teller.finish(count);
    });
}
