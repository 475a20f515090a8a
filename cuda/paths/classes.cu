// See classes.h.
#include "cuda/paths/classes.h"

#include <algorithm>

#include "cuda/transforms.h"

namespace apsis::cuda::paths {

namespace {

/// Numbers the pixels of some components, from 1; others get 0.
__global__ void __launch_bounds__(BLOCK)
    number_components(Ranks ranks, const ComponentRange *components, uint32_t count, uint32_t *number) {
    const uint32_t i = blockIdx.x * BLOCK + threadIdx.x;
    if (i >= ranks.raster.pixels()) return;
    const uint32_t rank = ranks.rank[i];
    uint32_t low = 0, high = count;  // how many begin at this rank or before it
    while (low < high) {
        const uint32_t middle = low + (high - low) / 2;
        if (components[middle].begin <= rank)
            low = middle + 1;
        else
            high = middle;
    }
    const bool is_in = rank != NO_PIXEL && low > 0 && rank - components[low - 1].begin < components[low - 1].size;
    number[i] = is_in ? low : 0;
}

/// The scratch memory.
struct Scratch {
    ComponentRange *components;
    uint32_t *number;  // [pixel]
    ContactsJob contacts;
    void *of_contacts;
    size_t bytes;

    Scratch(const EccentricityJob &job, void *memory) {
        Carver carver(memory);
        components = carver.take<ComponentRange>(job.most_components());
        number = carver.take<uint32_t>(job.set.pixels());
        contacts.axes = job.axes, contacts.connectivity = job.connectivity;
        contacts.periodic = job.periodic;
        contacts.set = job.set;
        contacts.set.data = reinterpret_cast<uint8_t *>(number), contacts.set.type = APSIS_I32;
        contacts.set.stride[0] = sizeof *number;
        for (int a = 1; a < 3; ++a) contacts.set.stride[a] = contacts.set.stride[a - 1] * job.set.size[a - 1];
        of_contacts = carver.take<uint8_t>(static_cast<int64_t>(labels::contacts_scratch(contacts)));
        bytes = carver.used();
    }
};

/// The class of each component; `touching` has the numbers, from 1, of each two that touch.
std::vector<uint32_t> classes_of(size_t count, std::vector<apsis_contact> &touching) {
    std::sort(touching.begin(), touching.end(),
              [](const apsis_contact &one, const apsis_contact &other) { return one.b < other.b; });
    std::vector<uint32_t> of(count, 0);
    std::vector<int64_t> taken_by(1, 0);  // [class]: the last component that may not have it
    for (size_t i = 0; i < touching.size();) {
        const int64_t own = touching[i].b;
        for (; i < touching.size() && touching[i].b == own; ++i) taken_by[of[static_cast<size_t>(touching[i].a - 1)]] = own;
        const auto free = std::find_if(taken_by.begin(), taken_by.end(), [=](int64_t by) { return by != own; });
        of[static_cast<size_t>(own - 1)] = static_cast<uint32_t>(free - taken_by.begin());
        if (free == taken_by.end()) taken_by.push_back(0);
    }
    return of;
}

}  // namespace

size_t classes_bytes(const EccentricityJob &job) { return job.by_value ? Scratch(job, nullptr).bytes : 0; }

std::vector<size_t> sort_by_class(const EccentricityJob &job, const Ranks &ranks, std::vector<ComponentRange> &components,
                                  void *memory, cudaStream_t stream, HostNumber &number) {
    if (!job.by_value || components.empty()) return {components.size()};
    Scratch scratch(job, memory);
    check(cudaMemcpyAsync(scratch.components, components.data(), components.size() * sizeof components[0],
                          cudaMemcpyHostToDevice, stream),
          "sending components");
    launch("number_components", number_components, ceil_div(job.set.pixels(), BLOCK), BLOCK, stream, ranks, scratch.components,
           static_cast<uint32_t>(components.size()), scratch.number);
    std::vector<apsis_contact> touching;
    scratch.contacts.found = &touching;
    labels::contacts(scratch.contacts, scratch.of_contacts, stream, {}, number);
    const std::vector<uint32_t> of = classes_of(components.size(), touching);
    std::vector<size_t> ends(*std::max_element(of.begin(), of.end()) + size_t(1), 0);
    for (const uint32_t each : of) ++ends[each];
    for (size_t i = 1; i < ends.size(); ++i) ends[i] += ends[i - 1];
    std::vector<size_t> next(ends.size(), 0);
    std::copy(ends.begin(), ends.end() - 1, next.begin() + 1);
    std::vector<ComponentRange> sorted(components.size());
    for (size_t i = 0; i < of.size(); ++i) sorted[next[of[i]]++] = components[i];
    components = std::move(sorted);
    return ends;
}

}  // namespace apsis::cuda::paths
