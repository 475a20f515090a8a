// A device for machines without one: it takes the place of the CUDA back end when the tests are linked.
//
// Its memory faults when anything but the device touches it (memory.h); it refuses a host pointer given for a device one
// and the other way round; what is queued on it happens as late as it may (lanes.h); scratch memory and outputs are
// poisoned before each transform.  The arithmetic is that of the CPU back end.
#include <algorithm>
#include <cstring>
#include <vector>

#include "runtime/backend.h"
#include "runtime/surfaces.h"
#include "memory.h"
#include "slabs/sites.h"
#include "transfer_queue.h"

namespace apsis {
namespace {

struct Span {
    const uint8_t *start;
    size_t bytes;
};

size_t pixel_size(apsis_type type) {
    return type == APSIS_I64 || type == APSIS_F64 ? 8 : type == APSIS_I32 || type == APSIS_F32 ? 4 : type == APSIS_U16 ? 2 : 1;
}

/// The bytes of a row, from its pixel x = 0, if its stride is positive.
int64_t row_bytes(const View &view) {
    return view.type == APSIS_BIT ? (view.size[0] + 7) / 8 : view.size[0] * static_cast<int64_t>(pixel_size(view.type));
}

/// All bytes from the first to the last of a view's pixels.
Span span_of(const View &view) {
    int64_t low = 0, high = view.type == APSIS_BIT ? row_bytes(view) : static_cast<int64_t>(pixel_size(view.type));
    for (int a = view.type == APSIS_BIT ? 1 : 0; a < 3; ++a) {
        const int64_t reach = (view.size[a] - 1) * view.stride[a];
        (reach < 0 ? low : high) += reach;
    }
    return {view.data + low, static_cast<size_t>(high - low)};
}

void require_device(const char *name, const View &view) {
    if (!view) return;
    const Span span = span_of(view);
    if (view.memory != APSIS_DEVICE || !fake::owns(span.start, span.bytes))
        throw Error(APSIS_ERROR_DEVICE, "fake device: %s at %p is not in device memory", name, static_cast<void *>(view.data));
}

void require_host(const char *name, const View &view) {
    const Span span = span_of(view);
    if (view.memory != APSIS_HOST || fake::touches(span.start, span.bytes))
        throw Error(APSIS_ERROR_DEVICE, "fake device: %s at %p is not in host memory", name, static_cast<void *>(view.data));
}

/// What crosses between host and device is packed, as cudaMemcpy wants it.
void require_packed(const char *name, const View &view) {
    const bool rows = view.type == APSIS_BIT || view.size[0] == 1 || view.stride[0] == int64_t(pixel_size(view.type));
    const bool planes = view.size[1] == 1 || view.stride[1] == row_bytes(view);
    const bool volume = view.size[2] == 1 || view.stride[2] == row_bytes(view) * view.size[1];
    if (!rows || !planes || !volume) throw Error(APSIS_ERROR_DEVICE, "fake device: %s is not packed", name);
}

void poison(const View &view) {
    if (!view) return;
    for (int64_t z = 0; z < view.size[2]; ++z)
        for (int64_t y = 0; y < view.size[1]; ++y)
            for (int64_t x = 0; x < view.size[0]; ++x)
                std::memset(view.row(y, z) + x * view.stride[0], fake::POISON, pixel_size(view.type));
}

View as_host(View view) {
    view.memory = APSIS_HOST;
    return view;
}

/// A copy of the sites outside of a slab: the caller's may be gone when the work is done, unless they are the device's.
class Outside {
    template <class Job>
    static auto &array_of(Job &job, int i) {
        if (i >= 4) return i == 4 ? job.slab.above_labels : job.slab.below_labels;
        return i < 2 ? job.slab.above[i] : job.slab.below[i - 2];
    }
    static constexpr int ARRAYS = 6;

  public:
    explicit Outside(const DistanceJob &job) {
        for (int i = 0; i < ARRAYS; ++i)
            if (const int64_t *from = array_of(job, i); from && !fake::touches(from, 1))
                rows_[i].assign(from, from + job.columns());
    }
    void give(DistanceJob &job) const {
        for (int i = 0; i < ARRAYS; ++i)
            if (array_of(job, i) && !fake::touches(array_of(job, i), 1)) array_of(job, i) = rows_[i].data();
    }

  private:
    std::vector<int64_t> rows_[ARRAYS];
};

class FakeDevice final : public Backend {
  public:
    // What has not been waited for never happens: a destroy that forgets to wait is seen.
    ~FakeDevice() override = default;

    int device() const override { return 0; }
    const char *name() const override { return "fake device"; }

    void *allocate(apsis_memory memory, size_t bytes) override {
        void *data = memory == APSIS_DEVICE ? fake::allocate(bytes) : cpu_->allocate(APSIS_HOST, bytes);
        if (!data) throw Error(APSIS_ERROR_MEMORY, "fake device: no memory for %zu bytes", bytes);
        if (memory == APSIS_HOST) {
            std::memset(data, fake::POISON, bytes);
            queue_.page_locked[reinterpret_cast<uintptr_t>(data)] = bytes;
        }
        return data;
    }
    void release(apsis_memory memory, void *data, size_t bytes) noexcept override {
        if (memory == APSIS_HOST) {
            queue_.page_locked.erase(reinterpret_cast<uintptr_t>(data));
            return cpu_->release(memory, data, bytes);
        }
        const bool idle = lanes_.idle();
        try {
            lanes_.push(Lane::WORK, [=] { fake::release(data, bytes); });  // in the stream's order
        } catch (const std::bad_alloc &) {
            lanes_.finish();
            fake::release(data, bytes);
        }
        if (idle) sync();
    }

    void copy(const View &from, const View &to) override {
        from.memory == APSIS_DEVICE ? require_device("from", from) : require_host("from", from);
        to.memory == APSIS_DEVICE ? require_device("to", to) : require_host("to", to);
        if (from.memory == APSIS_HOST && to.memory == APSIS_HOST)
            throw Error(APSIS_ERROR_DEVICE, "fake device: a copy from host to host is not its work");
        if (from.memory != to.memory) {
            require_packed("from", from);
            require_packed("to", to);
            if (from.type != to.type) throw Error(APSIS_ERROR_DEVICE, "fake device: a crossing copy changes the type");
        }
        lanes_.push(Lane::WORK, [this, from, to] {
            const std::vector<fake::Opened> open = opened({&from, &to});
            cpu_->copy(as_host(from), as_host(to));
        });
    }

    bool is_on_device(const void *array) const override { return fake::touches(array, 1); }
    bool are_sites(const int64_t *sites, const SiteRange &range) override {
        sync();
        const auto open = fake::opened_arrays({sites});
        return std::all_of(sites, sites + range.columns, [&](int64_t row) { return range.has(row); });
    }
    void merge_sites(const MergeJob &job) override {
        lanes_.push(Lane::WORK, [job] {
            std::vector<fake::Opened> open = fake::opened_arrays({job.merged});
            for (const int64_t *told : job.told) open.emplace_back(told);
            Arena arena(1);
            slabs::merge_sites(job, arena);
        });
    }

    void set_stream(CUstream_st *stream) override { stream_ = stream; }
    CUstream_st *stream() const override { return stream_; }
    void set_threads(int threads) override { cpu_->set_threads(threads); }
    void sync() override { lanes_.finish(); }

    size_t summary_scratch(const SummaryJob &job) const override { return cpu_->summary_scratch(job); }
    void summary(const SummaryJob &job, void *scratch, const Progress &progress) override {
        transform(
            {{"set", job.set, true}}, scratch, summary_scratch(job), progress,
            [this, job](const Views &views, void *memory, const Progress &told) {
                SummaryJob host = job;
                const auto open = fake::opened_arrays({job.first, job.last});
                host.set = views[0].view;
                cpu_->summary(host, memory, told);
            },
            job.is_found);
        sync();  // what it tells is in host memory
    }

    size_t distance_scratch(const DistanceJob &job) const override { return cpu_->distance_scratch(job); }
    void distance(const DistanceJob &job, void *scratch, const Progress &progress) override {
        transform(
            {{"set", job.set, true}, {"distance", job.distance}, {"nearest", job.nearest}, {"labels", job.values, true}},
            scratch, distance_scratch(job), progress,
            [this, job, outside = Outside(job)](const Views &views, void *memory, const Progress &told) {
                DistanceJob host = job;
                const auto open = fake::opened_arrays({job.slab.above[0], job.slab.below[0]});
                outside.give(host);
                host.set = views[0].view;
                host.distance = views[1].view;
                host.nearest = views[2].view;
                host.values = views[3].view;
                cpu_->distance(host, memory, told);
            },
            job.is_found);
    }

    size_t voronoi_scratch(const VoronoiJob &job) const override { return cpu_->voronoi_scratch(job); }
    void voronoi(const VoronoiJob &job, void *scratch, const Progress &progress) override {
        transform({{"set", job.set, true}, {"cells", job.nearest}, {"labels", job.values, true}}, scratch, voronoi_scratch(job),
                  progress, [this, job](const Views &views, void *memory, const Progress &told) {
                      VoronoiJob host = job;
                      host.set = views[0].view;
                      host.nearest = views[1].view;
                      host.values = views[2].view;
                      cpu_->voronoi(host, memory, told);
                  });
    }

    size_t components_scratch(const ComponentsJob &job) const override { return cpu_->components_scratch(job); }
    void components(const ComponentsJob &job, void *scratch, const Progress &progress) override {
        transform(
            {{"set", job.set, true},
             {"told first", job.told.first, true},
             {"told last", job.told.last, true},
             {"numbers", job.told.numbers, true},
             {"labels", job.labels},
             {"first", job.first},
             {"last", job.last}},
            scratch, components_scratch(job), progress,
            [this, job](const Views &views, void *memory, const Progress &told) {
                ComponentsJob host = job;
                host.set = views[0].view;
                host.told.first = views[1].view;
                host.told.last = views[2].view;
                host.told.numbers = views[3].view;
                host.labels = views[4].view;
                host.first = views[5].view;
                host.last = views[6].view;
                cpu_->components(host, memory, told);
            },
            job.is_found());
    }

    size_t geodesic_scratch(const GeodesicJob &job) const override { return cpu_->geodesic_scratch(job); }
    void geodesic(const GeodesicJob &job, void *scratch, const Progress &progress) override {
        transform({{"set", job.set, true},
                   {"seeds", job.seeds, true},
                   {"entering", job.entering, true},
                   {"distance", job.distance},
                   {"nearest", job.nearest},
                   {"told", job.told},
                   {"labels", job.values, true}},
                  scratch, geodesic_scratch(job), progress,
                  [this, job](const Views &views, void *memory, const Progress &told) {
                      GeodesicJob host = job;
                      host.set = views[0].view;
                      host.seeds = views[1].view;
                      host.entering = views[2].view;
                      host.distance = views[3].view;
                      host.nearest = views[4].view;
                      host.told = views[5].view;
                      host.values = views[6].view;
                      cpu_->geodesic(host, memory, told);
                  });
    }

    size_t eccentricity_scratch(const EccentricityJob &job) const override { return cpu_->eccentricity_scratch(job); }
    void eccentricity(const EccentricityJob &job, void *scratch, const Progress &progress) override {
        transform({{"set", job.set, true}, {"eccentricity", job.eccentricity}, {"farthest", job.farthest}}, scratch,
                  eccentricity_scratch(job), progress, [this, job](const Views &views, void *memory, const Progress &told) {
                      EccentricityJob host = job;
                      host.set = views[0].view;
                      host.eccentricity = views[1].view;
                      host.farthest = views[2].view;
                      cpu_->eccentricity(host, memory, told);
                  });
    }

    size_t statistics_scratch(const StatisticsJob &job) const override { return cpu_->statistics_scratch(job); }
    void statistics(const StatisticsJob &job, void *scratch, const Progress &progress) override {
        transform({{"labels", job.set, true}}, scratch, statistics_scratch(job), progress,
                  [this, job](const Views &views, void *memory, const Progress &told) {
                      StatisticsJob host = job;
                      host.set = views[0].view;
                      cpu_->statistics(host, memory, told);
                  });
        sync();  // what it tells is in host memory
    }

    size_t contacts_scratch(const ContactsJob &job) const override { return cpu_->contacts_scratch(job); }
    void contacts(const ContactsJob &job, void *scratch, const Progress &progress) override {
        transform({{"labels", job.set, true}}, scratch, contacts_scratch(job), progress,
                  [this, job](const Views &views, void *memory, const Progress &told) {
                      ContactsJob host = job;
                      host.set = views[0].view;
                      cpu_->contacts(host, memory, told);
                  });
        sync();
    }

    void keep_labels(const View &mask, const View &labels, const View &result) override {
        transform({{"mask", mask, true}, {"labels", labels, true}, {"result", result}}, nullptr, 0, {},
                  [this](const Views &views, void *, const Progress &) {
                      cpu_->keep_labels(views[0].view, views[1].view, views[2].view);
                  });
    }

    size_t surface_scratch(const SurfaceJob &job) const override { return cpu_->surface_scratch(job); }
    bool mark_surface(const SurfaceJob &job, void *scratch) override {
        bool has_points = false;
        transform({{"image", job.image, true}, {"marks", job.marks}}, scratch, surface_scratch(job), {},
                  [&](const Views &views, void *memory, const Progress &) {
                      SurfaceJob host = job;
                      host.image = views[0].view;
                      host.marks = views[1].view;
                      has_points = cpu_->mark_surface(host, memory);
                  });
        sync();
        return has_points;
    }
    bool count_points(const SurfaceJob &job, void *scratch) override {
        if (job.others && !job.costs) return false;  // as on a GPU
        transform({{"marks", job.marks, true}, {"costs", job.costs, true}}, scratch, surface_scratch(job), {},
                  [this, job](const Views &views, void *memory, const Progress &) {
                      SurfaceJob host = job;
                      host.marks = views[0].view;
                      host.costs = views[1].view;
                      cpu_->count_points(host, memory);
                  });
        sync();
        return true;
    }

    /// As on a GPU, a Euclidean map in the plane goes strip by strip, and others do not.
    TransferQueue *transfer_queue(const DistanceJob &job) override {
        return job.axes == 2 && job.measure.metric == APSIS_EUCLIDEAN ? &queue_ : nullptr;
    }

  private:
    static std::vector<fake::Opened> opened(std::initializer_list<const View *> views) {
        std::vector<fake::Opened> open;
        for (const View *view : views)
            if (*view && view->memory == APSIS_DEVICE) open.emplace_back(view->data);
        return open;
    }

    struct Named {
        const char *name;
        View view;
        bool is_input = false;
    };
    using Views = std::vector<Named>;

    /// Checks where everything is, and queues the arithmetic.  It may need what scratch memory holds.
    template <class Work>
    void transform(const Views &views, void *scratch, size_t bytes, const Progress &progress, Work work, bool keeps = false) {
        for (const Named &named : views) require_device(named.name, named.view);
        if (bytes && !fake::owns(scratch, bytes))
            throw Error(APSIS_ERROR_DEVICE, "fake device: scratch at %p is not %zu bytes of device memory", scratch, bytes);
        const auto step = [=](const Progress &told) {
            std::vector<fake::Opened> open;
            Views host = views;
            for (Named &named : host) {
                if (named.view) open.emplace_back(named.view.data);
                named.view = as_host(named.view);
            }
            if (bytes) {
                open.emplace_back(scratch);
                if (!keeps) std::memset(scratch, fake::POISON, bytes);
            }
            const auto is_read = [&](const Named &named) {  // an output in place of an input
                return std::any_of(host.begin(), host.end(),
                                   [&](const Named &other) { return other.is_input && other.view.data == named.view.data; });
            };
            for (const Named &named : host)
                if (!named.is_input && !is_read(named)) poison(named.view);
            work(host, scratch, told);
        };
        if (!progress) return lanes_.push(Lane::WORK, [step] { step({}); });
        sync();  // as a back end that reports progress has to wait
        step(progress);
    }

    std::unique_ptr<Backend> cpu_ = make_cpu_backend();
    fake::Lanes lanes_;
    fake::TransferQueue queue_{lanes_, *cpu_};
    CUstream_st *stream_ = nullptr;
};

}  // namespace

std::unique_ptr<Backend> make_device_backend(int device) {
    if (device != 0) throw Error(APSIS_ERROR_NO_DEVICE, "device is %d, but the only device is 0, a fake one", device);
    return std::make_unique<FakeDevice>();
}

int device_count() noexcept { return 1; }

}  // namespace apsis
