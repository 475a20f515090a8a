// Times apsis_eccentricity on one GPU: device-resident images, one warm-up, the median of 3 calls, or one call if it takes
// more than a second; one CSV line a case.  The workspace is set, of just the size that apsis asks for.
//
//     bench_eccentricity [--check] [--only MASK] GROUP...
//
//     shapes    one component, or few large ones, 1024^2, and noise near the threshold of percolation
//     large     some of them, 4096^2
//     volume    the same, 96^3, with 26 neighbours
//     farthest  shapes with the farthest pixels
//     ring      a ring of a tenth of the width, 1024^2: a field for each pixel of its outline
//     small     a hundred thousand islands of some hundred pixels, 4096^2, and noise
//     every     blobs by APSIS_EVERY_SOURCE, 256^2, and by the default
//
// A mask with '-' before it is the pixels outside it.  `fields` is how many distance fields it took.  --check compares every
// result with the CPU back end's, byte for byte, by the default method.  GROUP@SIDE runs one size.
#include <apsis.h>

#include <chrono>
#include <cstdio>
#include <cstring>
#include <string>

#include "gpu.h"

namespace {

struct Case : Subject {
    bool farthest = false;
};

struct Answer {
    std::vector<float> eccentricity;
    std::vector<int32_t> farthest;
    apsis_extent extent = {};
    int64_t count = 0;

    bool operator==(const Answer &other) const {
        return eccentricity == other.eccentricity && farthest == other.farthest && count == other.count &&
               !std::memcmp(&extent, &other.extent, sizeof extent);
    }
};

/// The log says how many fields were made: "eccentricity: N fields for ...".
void listen(void *fields, const char *line) {
    long long count;
    if (std::sscanf(line, "eccentricity: %lld fields", &count) == 1) *static_cast<long long *>(fields) = count;
}

class Bench : public Gpu {
  public:
    explicit Bench(bool compare) : Gpu(compare) {
        check(gpu_, apsis_set_log(gpu_, listen, &fields_));
        std::printf("group,mask,width,height,depth,outputs,components,fields,ms,workspace_bytes_per_pixel\n");
    }

    void run(Case c, const std::string &mask) {
        c.mask = mask;
        if (is_left_out(c)) return;
        if (mask[0] == '-') c.options.flags = APSIS_COMPLEMENT, c.mask = mask.substr(1);
        load_mask(c);
        apsis_image host = image(c, APSIS_U8), set = host, out = image(c, APSIS_F32), index = image(c, APSIS_I32),
                    workspace = {};
        const apsis_image *const images[] = {&set, &out, c.farthest ? &index : nullptr};
        size_t bytes = 0;
        check(gpu_, apsis_workspace_size(gpu_, APSIS_ECCENTRICITY, images, 3, &c.options, &bytes));
        workspace.type = APSIS_U8;
        workspace.ndim = 2;
        workspace.size[0] = 1 << 20;
        workspace.size[1] = (static_cast<int64_t>(bytes) >> 20) + 1;
        host.data = mask_.data();
        if (allocate(set) && allocate(out) && allocate(index) && allocate(workspace)) {
            check(gpu_, apsis_copy(gpu_, &host, &set));
            check(gpu_, apsis_set_workspace(gpu_, workspace.data, bytes));
            Answer answer;
            const double ms = median_ms([&] { ask(gpu_, c, set, out, index, answer); });
            std::printf("%s,%s,%lld,%lld,%lld,%s,%lld,%lld,%.3f,%.1f%s\n", c.group.c_str(), mask.c_str(), (long long)c.size[0],
                        (long long)c.size[1], (long long)c.size[2], c.farthest ? "eccentricity+farthest" : "eccentricity",
                        (long long)answer.count, fields_, ms, static_cast<double>(bytes) / static_cast<double>(c.pixels()),
                        compare_ ? verdict(c, host, out, index, answer) : "");
            std::fflush(stdout);
            check(gpu_, apsis_set_workspace(gpu_, nullptr, 0));
        } else {
            say_no_memory(c);
        }
        for (apsis_image *each : {&set, &out, &index, &workspace}) apsis_free(gpu_, each);
    }

  private:
    template <class Call>
    static double median_ms(Call call) {
        constexpr double LONG = 1000;
        std::vector<double> times;
        for (int i = 0; i < 4; ++i) {
            const auto begin = std::chrono::steady_clock::now();
            call();
            times.push_back(std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - begin).count());
            if (times[0] > LONG) return times[0];
        }
        std::sort(times.begin() + 1, times.end());
        return times[2];
    }

    static void ask(apsis_context *context, const Case &c, const apsis_image &set, const apsis_image &out,
                    const apsis_image &index, Answer &answer) {
        check(context, apsis_eccentricity(context, &set, &out, c.farthest ? &index : nullptr, &answer.extent, 1, &answer.count,
                                          &c.options));
    }

    /// ",same" if the CPU back end, by its own method, gives the same bytes.
    const char *verdict(Case c, const apsis_image &set, const apsis_image &out, const apsis_image &index, Answer answer) {
        const size_t pixels = mask_.size(), named = c.farthest ? pixels : 0;
        const auto lengths = download<float>(out);
        const auto names = download<int32_t>(index);
        answer.eccentricity.assign(lengths.get(), lengths.get() + pixels);
        answer.farthest.assign(names.get(), names.get() + named);
        Answer expected;
        expected.eccentricity.resize(pixels);
        expected.farthest.resize(named);
        apsis_image our_out = image(c, APSIS_F32), our_index = image(c, APSIS_I32);
        our_out.data = expected.eccentricity.data();
        our_index.data = expected.farthest.data();
        c.options.method = APSIS_AUTO;
        ask(cpu_, c, set, our_out, our_index, expected);
        const bool same = answer == expected;
        failed = failed || !same;
        return same ? ",same" : ",DIFFERENT";
    }

    long long fields_ = 0;
};

const char *const shapes[] = {"-disc",     "full",       "holes", "-blobs", "blobs", "-islands", "noise-0.8",
                              "noise-0.9", "noise-0.41", "coil",  "maze",   "comb",  "spiral"};
const char *const large[] = {"-disc", "full", "holes", "-blobs", "blobs", "-islands", "noise-0.8", "coil", "maze"};
const char *const volumes[] = {"-disc", "full", "-blobs", "blobs", "noise-0.8", "torus"};

template <size_t N>
void run_masks(Bench &bench, const Case &c, const char *const (&masks)[N]) {
    for (const char *mask : masks) bench.run(c, mask);
}

void run_group(Bench &bench, const std::string &group) {
    const char *const name = group.c_str();
    Case plane = plane_case<Case>(name, "", 1024, 1024), wide = plane_case<Case>(name, "", 4096, 4096);
    plane.farthest = group == "farthest";
    if (group == "shapes" || group == "farthest") run_masks(bench, plane, shapes);
    if (group == "large") run_masks(bench, wide, large);
    if (group == "volume") run_masks(bench, volume_case<Case>(name, "", 96, 96, 96), volumes);
    if (group == "ring") bench.run(plane, "annulus");
    if (group == "small") run_masks(bench, wide, {"islands", "noise-0.3", "noise-0.5"});
    if (group == "every")
        for (const apsis_method method : {APSIS_EVERY_SOURCE, APSIS_AUTO}) {
            Case c = plane_case<Case>(name, "", 256, 256);
            c.options.method = method;
            bench.run(c, "-blobs");
        }
}

}  // namespace

int main(int argc, char **argv) { return run_groups(read_arguments(argc, argv), run_group); }
