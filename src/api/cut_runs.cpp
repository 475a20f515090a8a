// Runs a job on host images in slabs: see cut_runs.h.
//
// The slabs tell each other what those of apsis.h do, so the map is that of the whole image, byte for byte.  Every device has a
// context of its own, the first one the caller's, and a thread of its own while it works.
//
// Cost: what crosses to the devices is what crosses to one, but for two numbers a column and slab.  Where a device has several
// slabs, the set crosses twice.
#include "api/cut_runs.h"

#include <algorithm>
#include <atomic>
#include <mutex>
#include <new>
#include <optional>
#include <thread>
#include <vector>

#include "runtime/packed.h"
#include "runtime/staging.h"

namespace apsis {
namespace {

constexpr double SHARE_TOLD = 0.2;  // of the progress: until each slab knows of the others

/// Some rows of an image, in 3-D planes.
View part_of(const View &image, int axis, int64_t start, int64_t rows) {
    View part = image;
    if (!part) return part;
    part.data += start * part.stride[axis];
    part.size[axis] = rows;
    return part;
}

/// The contexts of a call, which work at the same time.  If one fails, the others stop at their next report of progress, if
/// the caller is told of it.
class Workers {
  public:
    explicit Workers(apsis_context &context) {
        reports_.reserve(1 + context.others.size());
        add(context);
        for (const auto &other : context.others) add(*other);
    }
    ~Workers() {
        for (const Report &report : reports_)
            report.context->progress_fn = report.told, report.context->progress_user = report.user;
    }
    Workers(const Workers &) = delete;
    Workers &operator=(const Workers &) = delete;

    size_t count() const { return reports_.size(); }
    apsis_context &operator[](size_t i) const { return *reports_[i].context; }

    /// Calls work(i) for each context: for the first on the calling thread, for each other on one of its own if there is a
    /// thread to be had.  The caller is told of progress from `from` to `to`.  Throws the first failure.
    template <class Work>
    void run(double from, double to, Work work) {
        from_ = from, to_ = to;
        const auto one = [&](size_t i) noexcept {
            try {
                work(i);
            } catch (const Error &error) {
                fail(i, error);
            } catch (const std::bad_alloc &) {
                fail(i, Error(APSIS_ERROR_MEMORY, "host memory ran out"));
            } catch (const std::exception &error) {
                fail(i, Error(APSIS_ERROR_INTERNAL, "%s", error.what()));
            }
        };
        std::vector<std::thread> threads;
        std::vector<size_t> here = {0};
        threads.reserve(count()), here.reserve(count());
        for (size_t i = 1; i < count(); ++i) try {
                threads.emplace_back(one, i);
            } catch (const std::exception &) {
                here.push_back(i);
            }
        for (const size_t i : here) one(i);
        for (std::thread &thread : threads) thread.join();
        if (failure_) throw *failure_;
    }

  private:
    struct Report {
        Workers *workers;
        apsis_context *context;
        apsis_progress_fn told;  // the caller's
        void *user;
    };

    void add(apsis_context &context) {
        reports_.push_back({this, &context, context.progress_fn, context.progress_user});
        if (!reports_.front().told) return;  // a report costs the device a wait
        context.progress_fn = report, context.progress_user = &reports_.back();
    }

    static int report(void *user, double done) {
        const Report &from = *static_cast<Report *>(user);
        Workers &all = *from.workers;
        if (from.told && from.told(from.user, all.from_ + (all.to_ - all.from_) * done)) return 1;
        return all.stop_;
    }

    void fail(size_t i, const Error &error) {
        const std::lock_guard<std::mutex> lock(mutex_);
        stop_ = true;
        if (failure_) return;
        const bool has_place = count() > 1 && error.status != APSIS_ERROR_CANCELLED;
        if (has_place)
            failure_.emplace(error.status, "device %d: %s", (*this)[i].backend->device(), error.what());
        else
            failure_.emplace(error);
    }

    std::vector<Report> reports_;
    double from_ = 0, to_ = 1;
    std::atomic<bool> stop_{false};
    std::mutex mutex_;
    std::optional<Error> failure_;
};

/// A copy of some rows of a set on a context's device.
class DeviceSet {
  public:
    DeviceSet() = default;
    ~DeviceSet() {
        if (copy_) context_->release(APSIS_DEVICE, copy_.data, static_cast<size_t>(packed_bytes(copy_)));
    }
    DeviceSet(const DeviceSet &) = delete;
    DeviceSet &operator=(const DeviceSet &) = delete;

    View of(apsis_context &context, const View &set) {
        context_ = &context;
        void *const data = context.allocate(APSIS_DEVICE, static_cast<size_t>(packed_bytes(set)));
        copy_ = packed_like(set, data, APSIS_DEVICE);
        copy_between(context, set, copy_);
        return copy_;
    }

  private:
    apsis_context *context_ = nullptr;
    View copy_;
};

/// A distance job in slabs.
class DistanceCut {
  public:
    /// With so many slabs a device.
    DistanceCut(apsis_context &context, const DistanceJob &job, int64_t each)
        : workers_(context),
          job_(job),
          axis_(job.is_batch() ? 2 : job.axes - 1),
          each_(each),
          slabs_(static_cast<int64_t>(workers_.count()) * each) {}

    void run() {
        keep_sets();
        if (!job_.is_batch()) tell_all();
        workers_.run(job_.is_batch() ? 0 : SHARE_TOLD, 1, [&](size_t i) {
            for (int64_t k = first_of(i); k < first_of(i + 1); ++k)
                if (const DistanceJob part = part_job(k); part.set.pixels() > 0) run_here(workers_[i], part);
        });
    }

  private:
    int64_t first_of(size_t worker) const { return static_cast<int64_t>(worker) * each_; }
    int64_t start_of(int64_t k) const {
        const int64_t rows = job_.set.size[axis_];
        return rows / slabs_ * k + std::min(rows % slabs_, k);
    }

    /// A device that has one slab reads it twice, and keeps it, where it may allocate memory.
    void keep_sets() {
        sets_ = std::vector<DeviceSet>(static_cast<size_t>(slabs_));
        set_.resize(sets_.size());
        workers_.run(0, 0, [&](size_t i) {
            for (int64_t k = first_of(i); k < first_of(i + 1); ++k) {
                View &set = set_[k] = part_of(job_.set, axis_, start_of(k), start_of(k + 1) - start_of(k));
                const bool is_read_twice = each_ == 1 && !job_.is_batch() && set.pixels() > 0;
                if (is_read_twice && is_packed(set) && !workers_[i].has_callers_workspace())
                    set = sets_[k].of(workers_[i], set);
            }
        });
    }

    /// The slab's part of the job, without what is outside of it.
    DistanceJob part_job(int64_t k) const {
        const int64_t start = start_of(k), rows = start_of(k + 1) - start;
        DistanceJob part = job_;
        part.set = set_[k];
        part.distance = part_of(job_.distance, axis_, start, rows);
        part.nearest = part_of(job_.nearest, axis_, start, rows);
        if (job_.is_batch()) return part;
        part.slab.start = start;
        for (int side = 0; side < sides(); ++side) {
            if (k > 0) part.slab.above[side] = row_of(last_[side], k);
            if (k + 1 < slabs_) part.slab.below[side] = row_of(first_[side], k);
        }
        return part;
    }

    int sides() const { return job_.is_signed ? 2 : 1; }
    const int64_t *row_of(const std::vector<int64_t> &rows, int64_t k) const { return rows.data() + k * job_.columns(); }

    /// Finds for each slab the nearest sites above it and below it, in last_ and first_.
    void tell_all() {
        const auto columns = static_cast<size_t>(job_.columns());
        for (int side = 0; side < sides(); ++side) first_[side].resize(columns * slabs_), last_[side].resize(columns * slabs_);
        workers_.run(0, SHARE_TOLD, [&](size_t i) {
            for (int64_t k = first_of(i); k < first_of(i + 1); ++k)
                for (int side = 0; side < sides(); ++side) summarize(workers_[i], k, side);
        });
        std::vector<int64_t> sites(columns);
        const auto go_on = [&](std::vector<int64_t> &rows, int64_t k, auto nearer) {
            int64_t *const row = rows.data() + k * job_.columns();
            for (size_t c = 0; c < columns; ++c) {
                const int64_t site = row[c];
                row[c] = sites[c];
                sites[c] = nearer(sites[c], site);
            }
        };
        for (int side = 0; side < sides(); ++side) {
            std::fill(sites.begin(), sites.end(), -1);
            for (int64_t k = 0; k < slabs_; ++k) go_on(last_[side], k, [](int64_t a, int64_t b) { return std::max(a, b); });
            std::fill(sites.begin(), sites.end(), INT64_MAX);
            for (int64_t k = slabs_; k-- > 0;) go_on(first_[side], k, [](int64_t a, int64_t b) { return std::min(a, b); });
        }
    }

    void summarize(apsis_context &context, int64_t k, int side) {
        SummaryJob summary;
        static_cast<DistanceJob &>(summary) = job_;
        summary.set = set_[k];
        summary.distance = summary.nearest = {};
        summary.slab.start = start_of(k);
        summary.complement = job_.complement != (side == 1);
        summary.first = first_[side].data() + k * job_.columns();
        summary.last = last_[side].data() + k * job_.columns();
        apsis::run(context, summary);
    }

    Workers workers_;
    const DistanceJob &job_;
    int axis_;       // that is cut
    int64_t each_;   // slabs of a device
    int64_t slabs_;  // in all, some of them without rows
    std::vector<DeviceSet> sets_;
    std::vector<View> set_;                    // [slab], on its device or the host
    std::vector<int64_t> first_[2], last_[2];  // [side][slab][column]: of the slab; then the first below it, the last above
};

}  // namespace

bool can_be_cut(const apsis_context &context, const DistanceJob &job) {
    const auto is_outside = [](const View &view) { return !view || view.memory == APSIS_HOST; };
    return context.own_memory() == APSIS_DEVICE && is_outside(job.set) && is_outside(job.distance) && is_outside(job.nearest) &&
           !job.is_slab() && job.method == APSIS_AUTO && !(job.measure.metric == APSIS_CHESSBOARD && job.nearest) &&
           !(job.is_batch() && job.nearest);
}

void run_in_slabs(apsis_context &context, const DistanceJob &job) {
    const int64_t rows = job.set.size[job.is_batch() ? 2 : job.axes - 1];
    for (int64_t each = context.others.empty() ? 2 : 1;; each *= 2) try {
            return DistanceCut(context, job, each).run();
        } catch (const Error &error) {
            if (error.status != APSIS_ERROR_MEMORY || each >= rows) throw;
            context.log("%s: in more slabs", error.what());
        }
}

}  // namespace apsis
