// Searches for the image that takes longest on one GPU: each kind that a seed draws (random_masks.h), seed after seed, until
// the time is over.  Device-resident images, kernels only, as bench_cuda.  One CSV line a kind and call: how many images, the
// worst one's seed and time, and the median's.
//
//     bench_worst SECONDS [SEED]    begins with that seed, by default 1
#include <apsis.h>
#include <cuda_runtime_api.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <map>
#include <string>
#include <vector>

#include "gpu.h"

namespace {

enum class Call { DISTANCE, NEAREST, COMPONENTS };
constexpr const char *NAMES[] = {"distance", "distance+nearest", "components"};

struct Found {
    double ms;
    uint64_t seed;
};

class Search : public Gpu {
  public:
    Search() : Gpu(false) {}

    void try_image(const std::string &kind, int64_t side, bool is_volume, uint64_t seed) {
        Subject s = subject(kind, side, is_volume, seed);
        load_mask(s);
        apsis_image host = image(s, APSIS_U8), set = host, first = image(s, APSIS_F32), second = image(s, APSIS_I32);
        host.data = mask_.data();
        if (allocate(set) && allocate(first) && allocate(second)) {
            check(gpu_, apsis_copy(gpu_, &host, &set));
            for (const Call call : {Call::DISTANCE, Call::NEAREST, Call::COMPONENTS}) {
                const double ms = timer_.median_ms(stream_, [&] { run(call, set, first, second); });
                found_[kind + "," + std::to_string(side) + (is_volume ? "^3," : "^2,") + NAMES[int(call)]].push_back(
                    {ms, seed});
            }
        } else {
            say_no_memory(s);
        }
        for (apsis_image *each : {&set, &first, &second}) apsis_free(gpu_, each);
    }

    void report() {
        std::printf("kind,size,call,images,seed_of_worst,worst_ms,median_ms\n");
        for (auto &[name, images] : found_) {
            std::sort(images.begin(), images.end(), [](const Found &a, const Found &b) { return a.ms < b.ms; });
            std::printf("%s,%zu,%llu,%.4f,%.4f\n", name.c_str(), images.size(), (unsigned long long)images.back().seed,
                        images.back().ms, images[images.size() / 2].ms);
        }
    }

  private:
    static Subject subject(const std::string &kind, int64_t side, bool is_volume, uint64_t seed) {
        const std::string name = kind + "-" + std::to_string(seed);
        return is_volume ? volume_case<Subject>("worst", name.c_str(), side, side, side)
                         : plane_case<Subject>("worst", name.c_str(), side, side);
    }

    void run(Call call, const apsis_image &set, const apsis_image &first, const apsis_image &second) {
        if (call == Call::COMPONENTS)
            check(gpu_, apsis_components(gpu_, &set, &second, nullptr, 0, nullptr, nullptr));
        else
            check(gpu_, apsis_distance(gpu_, &set, &first, call == Call::NEAREST ? &second : nullptr, nullptr));
    }

    std::map<std::string, std::vector<Found>> found_;
};

}  // namespace

int main(int argc, char **argv) {
    const Arguments arguments = read_arguments(argc, argv);
    const auto number = [&](size_t i, uint64_t otherwise) {
        return i < arguments.groups.size() ? std::strtoull(arguments.groups[i].c_str(), nullptr, 10) : otherwise;
    };
    const auto begin = std::chrono::steady_clock::now();
    const std::chrono::seconds time(number(0, 60));
    Search search;
    for (uint64_t seed = number(1, 1); std::chrono::steady_clock::now() - begin < time; ++seed) {
        for (const char *kind : {"strokes", "fractal", "dust", "sparse"}) search.try_image(kind, 16384, false, seed);
        for (const char *kind : {"strokes", "fractal", "sparse"}) search.try_image(kind, 512, true, seed);
    }
    search.report();
    return 0;
}
