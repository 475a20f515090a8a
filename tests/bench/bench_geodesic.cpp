// Times apsis_geodesic on one GPU as bench_cuda times apsis_distance: device-resident images, CUDA events, 3 warm-ups,
// median of 10, one CSV line a case.  The workspace is set, of just the size that apsis asks for.
//
//     bench_geodesic [--check] [--only MASK] GROUP...
//
//     plane     one seed, 4096^2, alone and with the nearest seed
//     volume    one seed, 256^3 and 512^3, with 26 neighbours, likewise
//     seeds     one pixel of a thousand is a seed, 4096^2 and 512^3
//     long      one seed in a spiral one pixel wide, 4096^2: a path of 8 million pixels
//
// A mask with '-' before it is the pixels outside it.  One seed is the middle pixel, or the one of the largest component
// that follows it.  --check compares every result with the CPU back end's, byte for byte.  GROUP@SIDE runs one size.
#include <apsis.h>

#include <cstdio>
#include <cstring>
#include <string>

#include "gpu.h"

namespace {

struct Case : Subject {
    bool nearest = false, many = false;
};

struct Images {
    apsis_image set, seeds, distance, nearest;
};

class Bench : public Gpu {
  public:
    explicit Bench(bool compare) : Gpu(compare) {
        std::printf("group,mask,width,height,depth,outputs,reached,ms,megapixels_per_second,workspace_bytes_per_pixel\n");
    }

    void run(Case c, const std::string &mask) {
        c.mask = mask;
        if (is_left_out(c)) return;
        if (mask[0] == '-') c.options.flags = APSIS_COMPLEMENT, c.mask = mask.substr(1);
        load_mask(c);
        plant(c);
        Images on = {image(c, APSIS_U8), image(c, APSIS_U8), image(c, APSIS_F32), image(c, APSIS_I32)};
        apsis_image workspace = {};
        workspace.type = APSIS_U8;
        workspace.ndim = 2;
        workspace.size[0] = 1 << 20;
        size_t bytes = 0;
        const apsis_image *const images[] = {&on.set, &on.seeds, &on.distance, c.nearest ? &on.nearest : nullptr};
        check(gpu_, apsis_workspace_size(gpu_, APSIS_GEODESIC, images, 4, &c.options, &bytes));
        workspace.size[1] = (static_cast<int64_t>(bytes) >> 20) + 1;
        if (allocate(on.set) && allocate(on.seeds) && allocate(on.distance) && allocate(on.nearest) && allocate(workspace)) {
            apsis_image host = image(c, APSIS_U8);
            host.data = mask_.data();
            check(gpu_, apsis_copy(gpu_, &host, &on.set));
            host.data = seeds_.data();
            check(gpu_, apsis_copy(gpu_, &host, &on.seeds));
            check(gpu_, apsis_set_workspace(gpu_, workspace.data, bytes));
            const double ms = call_ms(false, [&] { ask(gpu_, c, on); });
            report(c, mask, on, ms, bytes);
            check(gpu_, apsis_set_workspace(gpu_, nullptr, 0));
        } else {
            say_no_memory(c);
        }
        for (apsis_image *each : {&on.set, &on.seeds, &on.distance, &on.nearest, &workspace}) apsis_free(gpu_, each);
    }

  private:
    static void ask(apsis_context *context, const Case &c, const Images &on) {
        check(context,
              apsis_geodesic(context, &on.set, &on.seeds, &on.distance, c.nearest ? &on.nearest : nullptr, &c.options));
    }

    void plant(const Case &c) {
        seeds_.assign(mask_.size(), 0);
        if (c.many) {
            for (size_t i = 0; i < seeds_.size(); ++i) seeds_[i] = i * 0x9e3779b97f4a7c15u >> 32 < UINT32_MAX / 1000;
            return;
        }
        std::vector<uint8_t> largest(mask_.size());
        apsis_image set = image(c, APSIS_U8), to = set;
        apsis_options options = APSIS_OPTIONS_INIT;
        set.data = mask_.data();
        to.data = largest.data();
        options.flags = c.options.flags;
        options.connectivity = c.ndim;
        options.largest = 1;
        check(cpu_, apsis_components(cpu_, &set, &to, nullptr, 0, nullptr, &options));
        const uint8_t outside = c.options.flags & APSIS_COMPLEMENT ? 1 : 0;
        size_t i = mask_.size() / 2 + static_cast<size_t>(c.size[0] / 2);
        for (size_t k = 0; k < mask_.size() && largest[i % mask_.size()] == outside; ++k) ++i;
        seeds_[i % mask_.size()] = 1;
    }

    void report(const Case &c, const std::string &mask, const Images &on, double ms, size_t workspace) {
        const auto distance = download<float>(on.distance);
        const int64_t pixels = c.pixels();
        const int64_t reached =
            std::count_if(distance.get(), distance.get() + pixels, [](float d) { return d >= 0 && d < 1e30f; });
        std::printf("%s,%s,%lld,%lld,%lld,%s,%lld,%.3f,%.0f,%.3f%s\n", c.group.c_str(), mask.c_str(), (long long)c.size[0],
                    (long long)c.size[1], (long long)c.size[2], c.nearest ? "distance+nearest" : "distance", (long long)reached,
                    ms, 1e-3 * static_cast<double>(reached) / ms, static_cast<double>(workspace) / static_cast<double>(pixels),
                    compare_ ? verdict(c, on, distance.get()) : "");
        std::fflush(stdout);
    }

    /// ",same" if the CPU back end gives the same bytes.
    const char *verdict(const Case &c, const Images &on, const float *distance) {
        Images ours = {image(c, APSIS_U8), image(c, APSIS_U8), image(c, APSIS_F32), image(c, APSIS_I32)};
        std::vector<float> lengths(mask_.size());
        std::vector<int32_t> names(c.nearest ? mask_.size() : 0);
        ours.set.data = mask_.data();
        ours.seeds.data = seeds_.data();
        ours.distance.data = lengths.data();
        ours.nearest.data = names.data();
        ask(cpu_, c, ours);
        bool same = !std::memcmp(distance, lengths.data(), lengths.size() * sizeof(float));
        if (c.nearest)
            same = same && !std::memcmp(download<int32_t>(on.nearest).get(), names.data(), names.size() * sizeof(int32_t));
        failed = failed || !same;
        return same ? ",same" : ",DIFFERENT";
    }

    std::vector<uint8_t> seeds_;
};

const char *const masks_2d[] = {"full", "-disc", "-blobs", "blobs", "noise-0.9", "noise-0.7", "coil", "maze", "wide-spiral"};
const char *const masks_3d[] = {"full", "-disc", "-blobs", "blobs", "noise-0.9", "noise-0.5"};

void run_group(Bench &bench, const std::string &group) {
    const char *const name = group.c_str();
    const bool many = group == "seeds";
    if (group == "long") return bench.run(plane_case<Case>(name, "", 4096, 4096), "spiral");
    for (const bool nearest : {false, true}) {
        Case plane = plane_case<Case>(name, "", 4096, 4096);
        plane.nearest = nearest;
        plane.many = many;
        if (group != "volume")
            for (const char *mask : masks_2d) bench.run(plane, mask);
        for (const int64_t side : {int64_t(256), int64_t(512)}) {
            Case volume = volume_case<Case>(name, "", side, side, side);
            volume.nearest = nearest;
            volume.many = many;
            if (group == "volume" || (many && side == 512))
                for (const char *mask : masks_3d) bench.run(volume, mask);
        }
    }
}

}  // namespace

int main(int argc, char **argv) { return run_groups(read_arguments(argc, argv), run_group); }
