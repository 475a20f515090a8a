// The plans of calls, asked for every width up to 4200 and for random sizes: no launch asks for more than a device has,
// whichever device it is.
//
// A plan is a pure function of the job and the device's limits, so that no device is needed, nor an emulated one.  What each
// kernel declares and allows is what the compiler made of it: the argument is the list that kernels.py has made.
#include <cstdio>
#include <fstream>
#include <map>
#include <random>
#include <sstream>
#include <string>

#include "cuda/components/plan.h"
#include "cuda/distance/plane/plan.h"
#include "cuda/distance/volume/plan.h"
#include "cuda/labels/plan.h"
#include "cuda/paths/plan.h"

using namespace apsis;

namespace {

/// Of compute capabilities 7.5 to 12.0: KiB of shared memory a block, and multiprocessors.
struct Device {
    int capability, kib, processors;
    cuda::Limits limits() const { return {size_t(kib) << 10, processors}; }
};
const Device DEVICES[] = {{75, 64, 40},   {80, 163, 108},  {86, 99, 84},  {89, 99, 128},
                          {90, 227, 132}, {100, 227, 148}, {120, 99, 170}};

/// The bytes that the instances of a kernel declare, and the threads that a block of one may have, at most.
struct Kernel {
    size_t declared = 0;
    int64_t threads = 0;
};
std::map<std::string, Kernel> kernels;

/// A kernel's name by itself: "void apsis::cuda::plane::(anonymous namespace)::search_bands<...>(...)" is
/// "plane::search_bands".
std::string short_name(std::string name) {
    for (const char *part : {"(anonymous namespace)::", "apsis::cuda::", "void "})
        for (size_t at; (at = name.find(part)) != std::string::npos;) name.erase(at, std::string(part).size());
    return name.substr(0, name.find_first_of("<("));
}

bool read_kernels(const char *path) {
    std::ifstream file(path);
    for (std::string line; std::getline(file, line);) {
        std::istringstream words(line);
        std::string place, name;
        Kernel one;
        words >> place >> one.declared >> one.threads;
        std::getline(words >> std::ws, name);
        Kernel &all = kernels[short_name(name)];
        all.declared = std::max(all.declared, one.declared), all.threads = std::max(all.threads, one.threads);
    }
    return !kernels.empty();
}

/// The outputs of a map.
struct Form {
    apsis_type distance, nearest;  // 0: not wanted
    bool is_signed, is_aligned;
};
constexpr apsis_type NONE = static_cast<apsis_type>(0);
const Form FORMS[] = {{APSIS_F32, NONE, false, true},  {APSIS_F32, APSIS_I32, false, true},
                      {APSIS_F32, NONE, true, true},   {APSIS_F32, APSIS_I32, true, true},
                      {APSIS_I32, NONE, false, true},  {APSIS_I64, APSIS_I64, false, true},
                      {APSIS_F64, NONE, true, true},   {NONE, APSIS_I32, false, true},
                      {APSIS_F32, NONE, false, false}, {APSIS_F32, APSIS_I32, false, false}};

View view_of(apsis_type type, const int64_t (&size)[3], bool is_aligned) {
    static uint8_t somewhere[16];  // its address alone counts
    View view;
    if (type == NONE) return view;
    const int64_t bytes = type == APSIS_U8 ? 1 : type == APSIS_U16 ? 2 : type == APSIS_F32 || type == APSIS_I32 ? 4 : 8;
    view.data =
        reinterpret_cast<uint8_t *>((reinterpret_cast<uintptr_t>(somewhere) & ~uintptr_t(15)) + (is_aligned ? 0 : bytes));
    view.type = type;
    for (int axis = 0; axis < 3; ++axis)
        view.size[axis] = size[axis], view.stride[axis] = axis ? view.stride[axis - 1] * size[axis - 1] : bytes;
    return view;
}

/// A job of a whole image, or of a slab: with rows of the image, or planes, that lie `outside` of it.
DistanceJob job_of(const Form &form, int axes, const int64_t (&size)[3], const int64_t (&weight)[3], int64_t outside) {
    DistanceJob job;
    job.set = view_of(APSIS_U8, size, true);
    job.distance = view_of(form.distance, size, form.is_aligned), job.nearest = view_of(form.nearest, size, form.is_aligned);
    job.axes = axes, job.is_signed = form.is_signed;
    for (int axis = 0; axis < 3; ++axis) job.measure.weight[axis] = weight[axis];
    job.slab.start = outside / 2, job.slab.extent = size[axes - 1] + outside;
    for (int axis = 0; axis < axes; ++axis) {
        const int64_t longest = (axis + 1 < axes ? size[axis] : job.slab.extent) - 1;
        job.measure.largest += weight[axis] * longest * longest;
    }
    job.measure.limit = job.measure.largest;
    return job;
}

int64_t plans = 0, launches = 0;

/// Whether a launch is within the limits of a device and of its kernel.
bool is_allowed(const std::string &room, const cuda::Launch &launch, const Device &device) {
    if (!launch.kernel) return true;
    ++launches;
    const auto found = kernels.find(room + launch.kernel);
    if (found == kernels.end()) return std::printf("there is no kernel %s%s\n", room.c_str(), launch.kernel), false;
    const int64_t threads = int64_t(launch.threads.x) * launch.threads.y * launch.threads.z;
    const Kernel &kernel = found->second;
    if (launch.blocks >= 0 && launch.blocks <= INT32_MAX && threads > 0 && threads <= kernel.threads &&
        kernel.declared + launch.shared <= device.limits().shared)
        return true;
    std::printf("%s%s on sm_%d: %lld blocks of %lld threads, of which it may have %lld; %zu bytes, and %zu declared\n",
                room.c_str(), launch.kernel, device.capability, static_cast<long long>(launch.blocks),
                static_cast<long long>(threads), static_cast<long long>(kernel.threads), launch.shared, kernel.declared);
    return false;
}

bool is_plane_allowed(const DistanceJob &job, const Device &device) {
    ++plans;
    const cuda::plane::Plan plan = cuda::plane::plan_of(job, device.limits());
    const cuda::plane::Plan of_labels = cuda::plane::plan_of_labels(job);
    for (const cuda::Launch &launch : {plan.near, plan.list, plan.brackets, plan.rows, of_labels.near, of_labels.rows})
        if (!is_allowed("plane::", launch, device)) return false;
    return plan.way != cuda::plane::Way::SEGMENTED_ROWS || plan.most_candidates > 0;
}

bool is_volume_allowed(const DistanceJob &job, const Device &device) {
    ++plans;
    const cuda::volume::Plan plan = cuda::volume::plan_of(job, device.limits());
    const cuda::volume::LabelPlan of_labels = cuda::volume::plan_of_labels(job);
    for (const cuda::Launch &launch :
         {plan.table, plan.sample, plan.sample_reach, plan.near_along[0], plan.near_along[1], plan.windows_along[0],
          plan.windows_along[1], plan.argmin_along[0], plan.argmin_along[1], of_labels.along[0], of_labels.along[1]})
        if (!is_allowed("volume::", launch, device)) return false;
    return true;
}

/// The tiles of volumes do not fit the 64 KiB of compute capability 7.5: the header says so.
bool are_components_allowed(const ComponentsJob &job, const Device &device) {
    if (job.axes == 3 && device.capability == 75) return true;
    ++plans;
    for (const cuda::components::Plan &plan : {cuda::components::plan_of(job), cuda::components::small_image_plan_of(job)}) {
        for (const cuda::Launch &launch : {plan.label, plan.join, plan.areas, plan.remeasure, plan.write, plan.end})
            if (!is_allowed("components::", launch, device)) return false;
        if (plan.is_small_image && !plan.is_one_tile &&
            plan.across * plan.down * plan.deep * 64 < job.set.size[1] * job.set.size[2])
            return false;
    }
    return true;
}

bool are_values_allowed(const ComponentsJob &job, const Device &device) {
    if (job.set.pixels() > int64_t(UINT32_MAX)) return true;  // which the plan refuses
    ++plans;
    const cuda::components::ValuePlan plan = cuda::components::value_plan_of(job);
    for (const cuda::Launch &launch : {plan.label, plan.join})
        if (!is_allowed("components::", launch, device)) return false;
    return int64_t(plan.across) * plan.down <= plan.label.blocks;
}

bool are_paths_allowed(const EccentricityJob &job, const Device &device) {
    ++plans;
    const cuda::paths::EccentricityPlan plan = cuda::paths::plan_of(job);
    for (const auto &classes : plan.small)
        for (const cuda::Launch &launch : classes)
            if (!is_allowed("paths::", launch, device)) return false;
    return plan.may_be_short || plan.may_be_long;
}

/// The items of one segment fit beside what is kept, so that trying fewer segments ends; and what a launch counts fits its
/// numbers.
template <class Job>
bool are_labels_allowed(const Job &job, int64_t items_a_pixel) {
    ++plans;
    const cuda::labels::Plan plan = cuda::labels::plan_of(job);
    for (const Device &device : DEVICES)
        for (const cuda::Launch &launch : {plan.emit, plan.begin, plan.add, plan.tiles, plan.count})
            if (!is_allowed("labels::", launch, device)) return false;
    const int64_t of_segment = std::min(job.set.size[0], cuda::labels::SEGMENT) * items_a_pixel;
    return plan.segments >= job.set.size[1] * job.set.size[2] && plan.most_segments >= 1 &&
           (plan.capacity - plan.kept >= of_segment || plan.capacity == job.set.pixels() * items_a_pixel) &&
           plan.capacity <= INT32_MAX && plan.chunk * 64 <= plan.table && plan.count.blocks * plan.chunk >= plan.set_words &&
           plan.set_words * 4 <= job.set.pixels() * job.set.stride[0] &&
           plan.kept + plan.most_segments * cuda::labels::SEGMENT * items_a_pixel <= int64_t(UINT32_MAX);
}

/// The squares of all warps cover the image, and what is counted from a warp's origin fits 32 bits.
bool are_measures_allowed(const MeasuresJob &job) {
    ++plans;
    const cuda::labels::MeasuresPlan plan = cuda::labels::plan_of(job);
    for (const Device &device : DEVICES)
        for (const cuda::Launch &launch : {plan.sum, plan.list, plan.gather})
            if (!is_allowed("labels::", launch, device)) return false;
    const int64_t beyond = plan.margin > 0, deep = plan.warps / (plan.across * plan.down) * plan.length;
    const int64_t down = job.axes == 3 ? plan.down : deep;
    const int64_t most = int64_t(plan.length) * 32, pixels = most * 32;
    return plan.across * plan.step >= job.set.size[0] + beyond && down * plan.step >= job.set.size[1] + beyond &&
           (job.axes == 2 || deep >= job.set.size[2] + beyond) && pixels * 65535 <= int64_t(UINT32_MAX) &&
           32 * most * most * most / 3 <= int64_t(UINT32_MAX) && plan.records >= 32 && plan.records <= int64_t(UINT32_MAX) &&
           (plan.records & (plan.records - 1)) == 0 && plan.batch > 0 && plan.batch <= plan.records;
}

/// Asks for the plan of a job on every device and in every form.
template <class IsAllowed>
bool are_allowed(int axes, const int64_t (&size)[3], const int64_t (&weight)[3], int64_t outside, IsAllowed is_job_allowed) {
    for (const Form &form : FORMS)
        for (const Device &device : DEVICES)
            if (!is_job_allowed(job_of(form, axes, size, weight, outside), device)) {
                std::printf("%lld x %lld x %lld, %lld outside, form %d\n", static_cast<long long>(size[0]),
                            static_cast<long long>(size[1]), static_cast<long long>(size[2]), static_cast<long long>(outside),
                            static_cast<int>(&form - FORMS));
                return false;
            }
    return true;
}

bool every_width() {
    for (const int64_t height : {1, 3, 64, 720, 4096})
        for (int64_t width = 1; width <= 4200; ++width)
            if (!are_allowed(2, {width, height, 1}, {1, 1, 1}, 0, is_plane_allowed)) return false;
    return true;
}

/// Mostly small, at times as large as may be.
int64_t random_extent(std::mt19937_64 &random, int most_bits) {
    return 1 + random() % (int64_t(1) << random() % (most_bits + 1));
}

bool random_sizes() {
    std::mt19937_64 random(1);
    for (int i = 0; i < 5000; ++i) {
        if (!are_allowed(2, {random_extent(random, 22), random_extent(random, 22), random_extent(random, 12)}, {1, 1, 1}, 0,
                         is_plane_allowed) ||
            !are_allowed(2, {random_extent(random, 22), random_extent(random, 22), 1}, {1, 1, 1}, random_extent(random, 22),
                         is_plane_allowed))
            return false;
        const int64_t weight[] = {random_extent(random, 8), random_extent(random, 8), random_extent(random, 8)};
        if (!are_allowed(3, {random_extent(random, 16), random_extent(random, 16), random_extent(random, 16)},
                         i % 2 ? weight : (const int64_t(&)[3]){1, 1, 1}, i % 3 ? 0 : random_extent(random, 16),
                         is_volume_allowed))
            return false;
    }
    return true;
}

/// Components with every kind of output, and eccentricities, of images of some sizes.
bool components_and_paths() {
    std::mt19937_64 random(1);
    for (int i = 0; i < 2000; ++i) {
        const int axes = 2 + i % 2, most_bits = axes == 2 ? 14 : 9;
        const int64_t size[] = {random_extent(random, most_bits), random_extent(random, most_bits), random_extent(random, 9)};
        apsis_component component;
        EccentricityJob paths;
        ComponentsJob job;
        job.set = paths.set = view_of(APSIS_U8, size, true);
        job.axes = paths.axes = axes, job.connectivity = paths.connectivity = 1 + i % axes;
        paths.steps.most = i % 5 ? 1 : int64_t(1) << 30;
        for (const bool is_measured : {false, true})
            for (const bool is_selected : {false, true})
                for (const Form &form : FORMS) {
                    job.labels = view_of(form.nearest, size, form.is_aligned);
                    job.components = is_measured ? &component : nullptr, job.no_border = is_selected;
                    job.first = is_selected ? View() : view_of(APSIS_I64, {size[0], axes == 3 ? size[1] : 1, 1}, true);
                    for (const Device &device : DEVICES)
                        if (!are_components_allowed(job, device) || !are_values_allowed(job, device) ||
                            !are_paths_allowed(paths, device))
                            return false;
                }
    }
    return true;
}

bool label_images() {
    std::mt19937_64 random(1);
    for (int i = 0; i < 20000; ++i) {
        const int axes = 2 + i % 2, connectivity = 1 + i % axes;
        const int64_t size[] = {random_extent(random, 30), random_extent(random, i % 3 ? 10 : 22), random_extent(random, 9)};
        StatisticsJob statistics;
        ContactsJob contacts;
        const apsis_type types[] = {APSIS_I64, APSIS_U8, APSIS_U16};
        statistics.set = contacts.set = view_of(types[std::min(i % 5, 2)], size, true);
        contacts.axes = axes, contacts.connectivity = connectivity;
        const int faces = axes == 2 ? (connectivity == 1 ? 2 : 4) : connectivity == 1 ? 3 : connectivity == 2 ? 9 : 13;
        if (!are_labels_allowed(statistics, 1) || !are_labels_allowed(contacts, faces)) return false;
        MeasuresJob measures;
        measures.set = contacts.set, measures.axes = axes;
        if (axes == 2) measures.set.size[2] = 1;
        measures.room = random_extent(random, 40);
        for (const uint32_t wanted : {0, int(APSIS_SURFACE), int(APSIS_PERIMETER)}) {
            measures.wanted = axes == 3 ? wanted & ~uint32_t(APSIS_PERIMETER) : wanted;
            if (!are_measures_allowed(measures)) return false;
        }
    }
    return true;
}

}  // namespace

int main(int argc, char **argv) {
    if (argc < 2 || !read_kernels(argv[1])) return std::printf("usage: test_plans KERNELS\n"), 2;
    if (!every_width() || !random_sizes() || !components_and_paths() || !label_images()) return 1;
    std::printf("%lld plans, %lld launches: none asks for more than its device has\n", static_cast<long long>(plans),
                static_cast<long long>(launches));
    return 0;
}
