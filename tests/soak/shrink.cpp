// Making a failing problem small: halves of the image, default options, plain images and routes, fewer pixels in the set,
// each kept if the problem still fails.
#include <algorithm>
#include <chrono>

#include "judge.h"

namespace soak {

namespace {

/// `count` pixels along one axis, from `start` on.
Problem crop(const Problem &p, int axis, int64_t start, int64_t count) {
    Problem small = p;
    small.size[static_cast<size_t>(axis)] = count;
    const auto cut = [&](const std::vector<uint8_t> &from, std::vector<uint8_t> &to) {
        if (from.empty()) return;
        to.clear();
        int64_t at[3] = {};
        const int64_t shift[3] = {axis == 0 ? start : 0, axis == 1 ? start : 0, axis == 2 ? start : 0};
        for (at[2] = 0; at[2] < small.size[2]; ++at[2])
            for (at[1] = 0; at[1] < small.size[1]; ++at[1])
                for (at[0] = 0; at[0] < small.size[0]; ++at[0]) {
                    const int64_t x = at[0] + shift[0], y = at[1] + shift[1], z = at[2] + shift[2];
                    to.push_back(from[static_cast<size_t>(x + p.size[0] * (y + p.size[1] * z))]);
                }
    };
    cut(p.set, small.set);
    cut(p.seeds, small.seeds);
    return small;
}

/// The set or the seeds without the pixels of one part of them.
Problem thin(const Problem &p, bool seeds, size_t part, size_t parts) {
    Problem small = p;
    std::vector<uint8_t> &mask = seeds ? small.seeds : small.set;
    const size_t members = static_cast<size_t>(std::count_if(mask.begin(), mask.end(), [](uint8_t m) { return m != 0; }));
    size_t number = 0;
    for (uint8_t &each : mask)
        if (each && number++ * parts / members == part) each = 0;
    return small;
}

/// Keeps changing one problem as long as what is left fails.
class Shrinker {
  public:
    Shrinker(const Machine &where, Problem problem) : machine(where), best(std::move(problem)) {}

    Problem run(std::string *wrong) {
        if (!fails(best)) return best;
        keep_two_routes();
        for (bool changed = true; changed && !over();) {
            changed = false;
            for (int axis = 0; axis < best.ndim; ++axis) changed |= crops(axis);
            changed |= defaults();
            changed |= thins(false);
            changed |= thins(true);
        }
        *wrong = reason;
        return best;
    }

  private:
    bool over() const { return lost || std::chrono::steady_clock::now() > end; }

    bool fails(const Problem &p) {
        Bench bench(machine);
        const Verdict verdict = judge(bench, p);
        lost |= verdict.lost;
        if (!verdict.wrong.empty()) reason = verdict.wrong;
        return !verdict.wrong.empty();
    }

    bool take(Problem p) {
        if (over() || !fails(p)) return false;
        best = std::move(p);
        return true;
    }

    void keep_two_routes() {
        for (size_t k = best.routes.size(); k-- > 0 && best.routes.size() > 1;) {
            Problem p = best;
            p.routes.erase(p.routes.begin() + static_cast<std::ptrdiff_t>(k));
            take(p);
        }
    }

    bool crops(int axis) {
        bool changed = false;
        for (int64_t part = best.size[static_cast<size_t>(axis)] / 2; part > 0; part /= 2)
            for (;;) {
                const int64_t size = best.size[static_cast<size_t>(axis)];
                if (size <= part || !(take(crop(best, axis, 0, size - part)) || take(crop(best, axis, part, size - part))))
                    break;
                changed = true;
            }
        return changed;
    }

    template <class T, class V>
    bool set(T *field, V value) {  // a field of `trial`, which is `best` else
        if (*field == value) return false;
        *field = value;
        if (take(trial)) return true;
        trial = best;
        return false;
    }

    bool no_weights() {
        if (trial.options.weights[0] == 0) return false;
        std::fill_n(trial.options.weights, 4, 0);
        if (take(trial)) return true;
        trial = best;
        return false;
    }

    bool defaults() {
        trial = best;
        apsis_options &o = trial.options;
        bool changed = false;
        for (int bit = 0; bit < 10; ++bit) changed |= set(&o.flags, o.flags & ~(1u << bit));
        changed |= set(&o.max_distance, 0.0);
        changed |= no_weights();
        changed |= set(&o.metric, APSIS_EUCLIDEAN);
        changed |= set(&o.method, APSIS_AUTO);
        changed |= set(&o.connectivity, 0);
        changed |= set(&o.largest, 0);
        changed |= set(&o.min_area, 0);
        changed |= set(&o.max_area, 0);
        changed |= set(&o.budget, 0);
        changed |= set(&o.delta, 0.0);
        changed |= set(&trial.radius, 1.0);
        changed |= no_spacing();
        changed |= set(&trial.capacity, -1);
        changed |= set(&trial.count, false);
        changed |= set(&trial.type[SECOND], apsis_type(0));
        changed |= set(&trial.type[SET], APSIS_U8);
        for (Layout &each : trial.layout) changed |= plain(&each);
        for (size_t k = 0; k < trial.routes.size(); ++k) {
            changed |= set(&trial.routes[k].scratch, Scratch::OWN);
            changed |= set(&trial.routes[k].place, Place::HOST);
            changed |= set(&trial.routes[k].graph, false);
            changed |= set(&trial.routes[k].stream, false);
            changed |= set(&trial.routes[k].callbacks, false);
            changed |= set(&trial.routes[k].plain, true);
        }
        return changed;
    }

    bool no_spacing() {
        if (best.options.spacing[0] == 0) return false;
        std::fill(trial.options.spacing, trial.options.spacing + 3, 0.0);
        std::fill(trial.ratio, trial.ratio + 3, 1);
        trial.unit = 1;
        const bool taken = take(trial);
        trial = best;
        return taken;
    }

    bool plain(Layout *layout) {
        bool changed = set(&layout->swapped, false);
        changed |= set(&layout->flips, 0u);
        changed |= set(&layout->step, 1);
        for (int &each : layout->pad) changed |= set(&each, 0);
        changed |= set(&layout->strides, false);
        changed |= set(&layout->guard, 0);
        return changed;
    }

    bool thins(bool seeds) {
        bool changed = false;
        for (size_t parts = 2; parts <= 16; parts *= 2)
            for (size_t part = 0; part < parts; ++part) {
                const Problem p = thin(best, seeds, part, parts);
                changed |= (p.set != best.set || p.seeds != best.seeds) && take(p);
            }
        return changed;
    }

    const Machine machine;
    Problem best, trial;
    std::string reason;
    bool lost = false;
    const std::chrono::steady_clock::time_point end = std::chrono::steady_clock::now() + std::chrono::seconds(30);
};

}  // namespace

Problem shrink(const Machine &machine, Problem p, std::string *wrong) { return Shrinker(machine, std::move(p)).run(wrong); }

}  // namespace soak
