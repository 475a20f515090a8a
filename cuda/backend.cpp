// The CUDA back end: one device and one stream.  Every call restores the calling thread's current context.
#include "runtime/backend.h"

#include <cuda_runtime.h>

#include "cuda/runtime/copy.h"
#include "cuda/runtime/current_device.h"
#include "cuda/runtime/devices.h"
#include "cuda/runtime/launch.h"
#include "cuda/runtime/settle.h"
#include "cuda/distance/label_lines.h"
#include "cuda/distance/plane/plane.h"
#include "cuda/distance/plane/transfer_queue.h"
#include "cuda/distance/volume/volume.h"
#include "cuda/transforms.h"
#include "runtime/join_job.h"
#include "runtime/measures_job.h"
#include "runtime/packed.h"
#include "runtime/surfaces.h"

namespace apsis {

namespace cuda {

namespace {

bool is_of_bits(const DistanceJob &job) { return job.is_mask() && job.distance.type == APSIS_BIT; }

/// The plan of a distance map: its scratch memory and the transform that computes it.  The transforms of the plane, of volumes
/// and of label images have plans of their own, which choose their kernels.
struct DistancePlan {
    size_t scratch;
    void (*run)(const DistanceJob &, void *scratch, cudaStream_t, const Progress &);  // nullptr: one of these plans serves
    plane::Plan plane = {};
    volume::Plan volume = {};
    distance::LabelPlan labels = {};

    /// Whether a set that is found must become an image: only in the plane, maps begin with its words.
    bool needs_pixels(const DistanceJob &job) const { return job.is_found && (run || volume.serves); }
    /// Whether a mask of bits must be made of bytes, as threads would share its bytes.  Where rows are whole they do not: that
    /// takes 0.3 ms less of 16384^2 on an H200.
    bool needs_bytes(const DistanceJob &job) const {
        return is_of_bits(job) && (plane.way != plane::Way::WHOLE_ROWS || job.border);
    }
};

DistancePlan plan_of(const DistanceJob &job, const Limits &limits) {
    switch (job.method) {
        case APSIS_RASTER_SCAN:
        case APSIS_SWEEP:
        case APSIS_SWEEP_BLOCKS:
        case APSIS_SWEEP_ROWS:
        case APSIS_JUMP_FLOOD: return {published::distance_scratch(job), published::distance};
        case APSIS_SEQUENTIAL_SCAN:
            throw Error(APSIS_ERROR_UNSUPPORTED, "options: method is APSIS_SEQUENTIAL_SCAN, which is for the CPU");
        default: break;
    }
    if (job.measure.metric == APSIS_CHESSBOARD) return {distance::chessboard_scratch(job), distance::chessboard};
    if (job.periodic.any()) return {distance::periodic_scratch(job), distance::distance_in_periodic};
    if (job.labels) {
        const distance::LabelPlan plan = distance::plan_of_labels(job);
        return {plan.scratch, nullptr, {}, {}, plan};
    }
    if (const plane::Plan plan = plane::plan_of(job, limits); plan.way != plane::Way::NONE)
        return {plan.scratch, nullptr, plan};
    if (const volume::Plan plan = volume::plan_of(job, limits); plan.serves) return {plan.scratch, nullptr, {}, plan};
    return {distance::lines_scratch(job), distance::distance_by_lines};
}

class CudaBackend final : public Backend {
  public:
    explicit CudaBackend(int device) : device_(device) {
        const CurrentDevice current(device_);
        cudaDeviceProp properties;
        check(cudaGetDeviceProperties(&properties, device_), "asking for the device's properties");
        name_ = properties.name;
        check(probe_code(), "loading apsis's kernels");
        forget_allowances(device_);
        limits_ = limits_of_device();
        check(cudaEventCreateWithFlags(&handover_, cudaEventDisableTiming), "creating an event");
    }

    ~CudaBackend() override {
        try {
            const CurrentDevice current(device_);
            if (!is_capturing() && cudaStreamSynchronize(stream_) != cudaSuccess) cudaGetLastError();
            if (cudaEventDestroy(handover_) != cudaSuccess) cudaGetLastError();
            queue_.reset();
            number_.reset();
            page_locked_.reset();
        } catch (const Error &) {  // the device has failed: there is nothing to wait for
        }
    }

    int device() const override { return device_; }
    const char *name() const override { return name_.c_str(); }

    void *allocate(apsis_memory memory, size_t bytes) override {
        const CurrentDevice current(device_);
        void *data = nullptr;
        const cudaError_t error = memory == APSIS_DEVICE ? cudaMalloc(&data, bytes) : cudaMallocHost(&data, bytes);
        if (error == cudaErrorMemoryAllocation) {
            cudaGetLastError();
            throw Error(APSIS_ERROR_MEMORY, "%zu bytes of %s memory: %s", bytes,
                        memory == APSIS_DEVICE ? "device" : "page-locked host", cudaGetErrorString(error));
        }
        check(error, "allocating memory");
        return data;
    }

    void release(apsis_memory memory, void *data, size_t) noexcept override {
        try {
            const CurrentDevice current(device_);
            check(memory == APSIS_DEVICE ? cudaFree(data) : cudaFreeHost(data), "freeing memory");
        } catch (const Error &) {  // the device has failed, and its memory is lost anyway
        }
    }

    void copy(const View &from, const View &to) override {
        const CurrentDevice current(device_);
        copy_views(from, to, ready());
    }

    // Both streams use the same workspace, so work on the new stream must wait for the work on the old one, by an event.  NULL
    // is a stream like any other here: CUDA's default stream.  During a capture an event would draw another stream into it, or
    // end it with an error.  So a stream that is being captured records no event, and waits for one only after the capture.
    void set_stream(CUstream_st *next) override {
        if (next == stream_) return;
        const CurrentDevice current(device_);
        if (!is_capturing()) {
            ready();
            check(cudaEventRecord(handover_, stream_), "marking the end of the old stream");
        }
        stream_ = next;
        must_wait_ = true;
        if (!is_capturing()) ready();
    }

    CUstream_st *stream() const override { return stream_; }

    /// True also if this is CUDA's default stream and a stream that it would wait for is being captured.
    bool is_capturing() const override {
        const CurrentDevice current(device_);
        cudaStreamCaptureStatus status;
        const cudaError_t error = cudaStreamIsCapturing(stream_, &status);
        if (error == cudaErrorStreamCaptureImplicit) return cudaGetLastError(), true;
        check(error, "asking whether the stream is captured");
        return status != cudaStreamCaptureStatusNone;
    }

    void sync() override {
        const CurrentDevice current(device_);
        if (is_capturing()) throw Error(APSIS_ERROR_UNSUPPORTED, "the stream is being captured, and cannot be waited for");
        check(cudaStreamSynchronize(stream_), "waiting for the device");
        if (queue_) queue_->sync();
    }

    void set_threads(int) override {}

    size_t distance_scratch(const DistanceJob &job) const override {
        const CurrentDevice current(device_);
        const DistancePlan plan = plan_of(job, limits_);
        Carver carver;
        carver.take<uint8_t>(map_scratch(job, plan));
        if (plan.needs_bytes(job)) carver.take<uint8_t>(job.set.pixels());
        return carver.used();
    }

    void distance(const DistanceJob &job, void *scratch, const Progress &progress) override {
        const CurrentDevice current(device_);
        const DistancePlan plan = plan_of(job, limits_);
        if (!plan.needs_bytes(job)) return write_map(job, plan, scratch, progress);
        Carver carver(scratch);
        scratch = carver.take<uint8_t>(map_scratch(job, plan));  // first: what a slab has found stays there
        DistanceJob bytes = job;
        bytes.distance.type = APSIS_U8;
        bytes.distance = packed_like(bytes.distance, carver.take<uint8_t>(job.set.pixels()), APSIS_DEVICE);
        write_map(bytes, plan_of(bytes, limits_), scratch, progress);
        copy_views(bytes.distance, job.distance, stream_);
    }

    size_t summary_scratch(const SummaryJob &job) const override { return columns::summary_scratch(job); }

    void summary(const SummaryJob &job, void *scratch, const Progress &progress) override {
        const CurrentDevice current(device_);
        SummaryJob own = job;
        own.slab.page_locked = &page_locked_;
        columns::summary(own, scratch, ready(), progress);
    }

    size_t voronoi_scratch(const VoronoiJob &job) const override {
        const CurrentDevice current(device_);
        return std::max(distance_scratch(job), voronoi::exclaves_scratch(job));
    }

    void voronoi(const VoronoiJob &job, void *scratch, const Progress &progress) override {
        const CurrentDevice current(device_);
        VoronoiJob indices = job;
        indices.values = {};
        distance(indices, scratch, progress ? [&](double done) { progress(0.8 * done); } : Progress());
        voronoi::hide_exclaves(job, scratch, stream_, progress);
        if (job.values) write_labels(job.nearest, LabelValues(job.values), stream_);
    }

    size_t components_scratch(const ComponentsJob &job) const override {
        const CurrentDevice current(device_);
        if (job.method == APSIS_TILE_FILL) return published::tile_fill_scratch(job);
        return components::components_scratch(job);
    }

    void components(const ComponentsJob &job, void *scratch, const Progress &progress) override {
        const CurrentDevice current(device_);
        if (job.method == APSIS_TILE_FILL) return published::tile_fill(job, scratch, ready(), progress);
        components::find_components(job, scratch, ready(), progress, job.count || job.components ? number() : nullptr);
    }

    size_t geodesic_scratch(const GeodesicJob &job) const override {
        const CurrentDevice current(device_);
        return paths::geodesic_scratch(job);
    }

    void geodesic(const GeodesicJob &job, void *scratch, const Progress &progress) override {
        const CurrentDevice current(device_);
        paths::geodesic(job, scratch, ready(), progress);
        if (job.values) write_labels(job.nearest, LabelValues(job.values), stream_);
    }

    void keep_labels(const View &mask, const View &labels, const View &result) override {
        const CurrentDevice current(device_);
        cuda::keep_labels(mask, labels, result, ready());
    }

    size_t eccentricity_scratch(const EccentricityJob &job) const override {
        const CurrentDevice current(device_);
        return paths::eccentricity_scratch(job);
    }

    void eccentricity(const EccentricityJob &job, void *scratch, const Progress &progress) override {
        const CurrentDevice current(device_);
        paths::eccentricity(job, scratch, ready(), progress, number());
    }

    /// Lets this device read the other's memory, without a way through the host.
    bool can_read(const Backend &other) const override { return can_read(other.device()); }

    bool is_on_device(const void *array) const override {
        const CurrentDevice current(device_);
        const int owner = device_of(array);
        if (owner >= 0 && !can_read(owner))
            throw Error(APSIS_ERROR_UNSUPPORTED, "an array is in the memory of device %d, which device %d cannot read", owner,
                        device_);
        return owner >= 0;
    }

    bool are_sites(const int64_t *sites, const SiteRange &range) override {
        sync();  // which a stream that is being captured refuses
        const CurrentDevice current(device_);
        return columns::are_sites(sites, range, page_locked_, ready());
    }

    void merge_sites(const MergeJob &job) override {
        const CurrentDevice current(device_);
        columns::merge_sites(job, ready());
    }

    size_t statistics_scratch(const StatisticsJob &job) const override {
        const CurrentDevice current(device_);
        return labels::statistics_scratch(job);
    }

    void statistics(const StatisticsJob &job, void *scratch, const Progress &progress) override {
        const CurrentDevice current(device_);
        labels::statistics(job, scratch, ready(), progress, *number());
    }

    size_t contacts_scratch(const ContactsJob &job) const override {
        const CurrentDevice current(device_);
        return labels::contacts_scratch(job);
    }

    void contacts(const ContactsJob &job, void *scratch, const Progress &progress) override {
        const CurrentDevice current(device_);
        labels::contacts(job, scratch, ready(), progress, *number());
    }

    size_t surface_scratch(const SurfaceJob &job) const override {
        const CurrentDevice current(device_);
        return surfaces::surface_scratch(job);
    }

    bool mark_surface(const SurfaceJob &job, void *scratch) override {
        const CurrentDevice current(device_);
        return surfaces::mark_surface(job, scratch, ready(), *number());
    }

    bool count_points(const SurfaceJob &job, void *scratch) override {
        const CurrentDevice current(device_);
        return surfaces::count_points(job, scratch, ready(), *number());
    }

    size_t measures_scratch(const MeasuresJob &job) const override {
        const CurrentDevice current(device_);
        return labels::measures_scratch(job);
    }

    bool measures(const MeasuresJob &job, void *scratch, const Progress &progress) override {
        const CurrentDevice current(device_);
        MeasuresJob own = job;
        own.page_locked = &page_locked_;
        return labels::measures(own, scratch, ready(), progress, *number());
    }

    size_t join_scratch(const JoinJob &job) const override {
        const CurrentDevice current(device_);
        return components::join_scratch(job);
    }

    std::optional<int64_t> join(const JoinJob &job, void *scratch) override {
        const CurrentDevice current(device_);
        JoinJob own = job;
        own.page_locked = &page_locked_;
        return components::join_slabs(own, scratch, ready());
    }

    TransferQueue *transfer_queue(const DistanceJob &job) override {
        const CurrentDevice current(device_);
        if (plane::plan_of(job, limits_).way == plane::Way::NONE || is_of_bits(job)) return nullptr;
        if (!is_capturing()) ready();
        if (!queue_) queue_ = std::make_unique<plane::CudaTransferQueue>(device_, limits_, stream_);
        return queue_.get();
    }

  private:
    bool can_read(int device) const {
        if (device == device_) return true;
        const CurrentDevice current(device_);
        int can = 0;
        check(cudaDeviceCanAccessPeer(&can, device_, device), "asking which devices can be read");
        if (!can) return false;
        const cudaError_t error = cudaDeviceEnablePeerAccess(device, 0);
        if (error != cudaSuccess) cudaGetLastError();
        return error == cudaSuccess || error == cudaErrorPeerAccessAlreadyEnabled;
    }

    /// The scratch memory of a map whose outputs kernels write.
    static int64_t map_scratch(const DistanceJob &job, const DistancePlan &plan) {
        const size_t map = plan.scratch + (plan.needs_pixels(job) ? columns::unpacked_bytes(job) : 0);
        return static_cast<int64_t>(std::max(map, columns::labels_of_sites_bytes(job)));
    }

    void write_map(const DistanceJob &job, const DistancePlan &plan, void *scratch, const Progress &progress) {
        DistanceJob own = job;
        if (plan.needs_pixels(job)) {
            Carver carver(scratch);
            own = columns::unpack(job, carver, ready());
            scratch = carver.take<uint8_t>(static_cast<int64_t>(plan.scratch));
        }
        own.slab.page_locked = &page_locked_;
        if (plan.run)
            plan.run(own, scratch, ready(), progress);
        else if (job.labels)
            distance::distance_of_labels(own, plan.labels, scratch, ready(), progress);
        else if (plan.volume.serves)
            volume::distance_in_volume(own, plan.volume, scratch, ready(), progress);
        else
            plane::distance_by_rows(own, plan.plane, scratch, ready(), progress);
        if (job.border) settle_border(job, stream_);
        if (job.values) write_labels(job.nearest, columns::labels_of_sites(own, scratch, stream_), stream_);
    }

    /// The stream, after it has been made to wait for the work on the old stream.
    cudaStream_t ready() {
        if (must_wait_ && !is_capturing()) {
            check(cudaStreamWaitEvent(stream_, handover_, 0), "queueing behind the old stream");
            must_wait_ = false;
        }
        return stream_;
    }

    HostNumber *number() {
        if (!number_) number_ = std::make_unique<HostNumber>();
        return number_.get();
    }

    int device_;
    Limits limits_;
    std::string name_;
    cudaStream_t stream_ = nullptr;
    bool must_wait_ = false;  // for handover_
    cudaEvent_t handover_ = nullptr;
    std::unique_ptr<plane::CudaTransferQueue> queue_;  // made for the first host images
    std::unique_ptr<HostNumber> number_;               // made when components are first counted
    PageLocked page_locked_;                           // what slabs tell and are told; holds nothing between calls
};

}  // namespace

}  // namespace cuda

std::unique_ptr<Backend> make_device_backend(int device) {
    cuda::require_device(device);
    try {
        return std::make_unique<cuda::CudaBackend>(device);
    } catch (const Error &error) {
        if (error.status == APSIS_ERROR_MEMORY) throw;
        throw Error(APSIS_ERROR_NO_DEVICE, "device %d: %s", device, error.what());
    }
}

}  // namespace apsis
