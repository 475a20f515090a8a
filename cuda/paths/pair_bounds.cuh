// The eccentricities of the pixels of components, exact and proved, from few of their fields: by pair bounds, on the device.
// Chosen for components that are not solved by small_components.cuh.
//
// The method is that of src/cpu/paths/pair_bounds.h, which explains why it works.  The same pixels become sources, so that the
// bounds are the same when a budget runs out.  Components take their turns side by side: those of a class (classes.h) share
// nothing but the image, and a field holds a source of each.  A turn is
//
//     prove     every pixel that is not proved looks for a witness: a pixel that may be farther than is known (pair_proof.cuh)
//     choose    the pixel with the least lower bound, and some others, name the next sources (pair_targets.cuh)
//     measure   the largest length of each field, and its pixel (pair_fields.cuh)
//     raise     the lower bounds rise (pair_fields.cuh)
//     walk      from the pixels down the fields of their witnesses, to where new hubs are wanted (pair_targets.cuh)
//
// and then the fields of the new hubs are measured and raise bounds likewise; they are kept, with their maxima.
//
// Pixels are searched by spans: 64 ranks that follow each other in a component, 64 of these spans, and 64 of the larger ones.
// A block of threads has a span of 4096 ranks, or for the proof a part of it.
//
// The members of a team, each on a device, deal fields and large spans out among them, and read from each other what the
// others have made: the lengths of all fields, and which pixels are open.  So all do the rest alike.
//
// Cost: some dozen fields a component, and a proof a turn; in a team of n a share of 1/n of both, and 4 bytes a cell and a
// field of the others from their memory.
#pragma once

#include <algorithm>
#include <vector>

#include "cuda/paths/classes.h"
#include "cuda/paths/pair_fields.cuh"
#include "cuda/paths/pair_proof.cuh"
#include "cuda/paths/pair_targets.cuh"
#include "cuda/paths/plan.h"
#include "runtime/team.h"

namespace apsis::cuda::paths {

/// Some large spans.
struct Range {
    uint32_t begin, end;
    int64_t count() const { return int64_t(end) - begin; }
};

/// The host's side: decides which components are solved together, and queues turn after turn until all are proved or out of
/// budget.
template <class Length, bool FARTHEST>
class PairBounds {
  public:
    /// `spare` has room for a number a pixel.
    PairBounds(const EccentricityJob &job, const Ranks &ranks, const LowerBounds<Length> &bounds, uint32_t *spare, void *memory,
               cudaStream_t stream)
        : job_(job),
          stream_(stream),
          memory_(static_cast<uint8_t *>(memory)),
          carver_(memory),
          shape_(job.set.size, job.axes),
          tasks_(shape_, BATCH<Length>, carver_),
          pairs_{ranks, Moves(job), shape_, bounds, job.budget} {
        const int64_t pixels = job.set.pixels();
        pairs_.witness = spare;
        pairs_.components = static_cast<uint32_t>(most_components());
        for (int level = 0; level < LEVELS; ++level)
            pairs_.spans[level] = static_cast<uint32_t>((pixels >> 6 * (level + 1)) + most_components());
        carve();
        bytes_ = carver_.used();
    }

    size_t bytes() const { return bytes_; }

    /// Solves components of a set of `members` pixels, each with at most job.budget fields; classes of them end where `ends`
    /// says.  The other ends of components are found only if extents are wanted.  After each turn on_turn() gets the number of
    /// fields made, and of pixels proved; in the end on_done() gets each component's number and state.
    template <class OnTurn, class OnDone>
    void solve(const std::vector<ComponentRange> &found, const std::vector<size_t> &ends, int64_t members, OnTurn on_turn,
               OnDone on_done) {
        pairs_.first = static_cast<uint32_t>(job_.set.pixels() - members);
        pairs_.members = static_cast<uint32_t>(members);
        pairs_.room = hub_room<Length>(job_.set.pixels(), members);
        size_t first = 0;
        for (const size_t end : ends)
            for (; first < end; first += components_.size()) {
                begin(found, first, std::min<size_t>(end - first, pairs_.components));
                solve_components(on_turn);
                finish();
                for (size_t i = 0; i < components_.size(); ++i) on_done(found[first + i].component, components_[i]);
            }
    }

  private:
    /// Enough for most images.  More would take memory that images with few components do not have.
    int64_t most_components() const {
        constexpr int64_t SHARE = 1024, LEAST = 64;
        return job_.set.pixels() / SHARE + LEAST;
    }

    void carve() {
        const int64_t pixels = job_.set.pixels(), hubs = MOST_HUBS<Length>;
        pairs_.is_source = carver_.take<uint8_t>(pixels);
        pairs_.hub = carver_.take<Length>(HUB_ROOM<Length> * pixels);
        pairs_.field = carver_.take<Length>(BATCH<Length> * shape_.cells());
        pairs_.component = carver_.take<ComponentState<Length>>(pairs_.components);
        pairs_.component_of = carver_.take<uint32_t>(pairs_.spans[1]);
        for (int level = 0; level < LEVELS; ++level) {
            pairs_.hub_maxima[level] = carver_.take<Length>(hubs * pairs_.spans[level]);
            pairs_.lowest_pixel[level] = carver_.take<uint32_t>(pairs_.spans[level]);
        }
        pairs_.open_bits = carver_.take<uint32_t>(2 * int64_t(pairs_.spans[0]));
        pairs_.open_count = carver_.take<uint32_t>(pairs_.spans[1]);
        pairs_.open_pixels = carver_.take<OpenPixels<Length>>(PROOF_PARTS * int64_t(pairs_.spans[1]));
        pairs_.most = carver_.take<Largest<Length>>(BATCH<Length> * int64_t(pairs_.spans[1]));
        pairs_.source = carver_.take<FieldSource>(BATCH<Length> * int64_t(pairs_.components));
        pairs_.turn = carver_.take<TurnReport>(1);
        pairs_.open_cells = carver_.take<uint32_t>(shape_.cells() / 32);
    }

    // ---- Components ----

    void begin(const std::vector<ComponentRange> &found, size_t first, size_t all) {
        std::vector<uint32_t> component_of;
        uint32_t next[LEVELS] = {};
        first_span_.clear();
        components_.assign(all, {});
        for (size_t i = 0; i < all; ++i) {
            ComponentState<Length> &component = components_[i];
            component.begin = found[first + i].begin;
            component.size = found[first + i].size;
            for (MadeField<Length> &made : component.made) made.source = NO_PIXEL, made.hub = -1;
            for (int level = 0; level < LEVELS; ++level) {
                component.first[level] = next[level];
                next[level] += component.spans(level);
            }
            for (uint32_t k = 0; job_.team && k < component.spans(1); ++k) first_span_.push_back(component.first[0] + k * SPAN);
            component_of.insert(component_of.end(), component.spans(1), static_cast<uint32_t>(i));
        }
        spans_ = {0, next[1]};
        first_span_.push_back(next[0]);
        send(pairs_.component, components_);
        send(pairs_.component_of, component_of);
        check(cudaMemsetAsync(pairs_.open_cells, 0, static_cast<size_t>(shape_.cells() / 8), stream_), "closing cells");
        over_spans("begin_span", begin_span<Length>, spans_);
        launch("begin_component", begin_component<Length>, count(), WARP, stream_, pairs_);
    }

    template <class Item>
    void send(Item *to, const std::vector<Item> &items) {
        check(cudaMemcpyAsync(to, items.data(), items.size() * sizeof(Item), cudaMemcpyHostToDevice, stream_),
              "sending components");
    }

    uint32_t count() const { return static_cast<uint32_t>(components_.size()); }

    /// Reads the report of a turn.
    TurnReport read_turn() {
        TurnReport turn;
        check(cudaMemcpyAsync(&turn, pairs_.turn, sizeof turn, cudaMemcpyDeviceToHost, stream_), "reading a turn");
        check(cudaStreamSynchronize(stream_), "waiting for a turn");
        if (turn.too_long) throw TooLong();
        return turn;
    }

    // ---- Turns ----

    /// Queues a kernel with a block for each large span.
    void over_spans(const char *name, void (*kernel)(Pairs<Length>, uint32_t), const Range &spans) const {
        launch(name, kernel, spans.count(), SPAN_THREADS, stream_, pairs_, spans.begin);
    }

    /// Makes `count` fields of each component, from the sources set by the last step.
    void make_fields(uint32_t count, DeviceCondition condition = {}) { make_fields({0, count}, condition); }

    void make_fields(const Range &made, DeviceCondition condition) {
        if (made.count() == 0) return;
        FieldTasks<Length> tasks = tasks_;
        tasks.fields = static_cast<uint32_t>(made.count());
        tasks.first = made.begin;
        Length *const field = pairs_.field_of(static_cast<int>(made.begin));
        clear_tasks(tasks, condition, stream_);
        start_fields(tasks, pairs_.open_cells, field, pairs_.source + int64_t(made.begin) * pairs_.components,
                     made.count() * pairs_.components, condition, stream_);
        run_fields(tasks, field, job_.steps, job_.periodic, &pairs_.turn->too_long, condition, stream_);
    }

    /// Makes the same fields with the team, if there is one.
    void share_fields(uint32_t count, DeviceCondition condition = {}) {
        if (!job_.team) return make_fields(count, condition);
        const auto part = [&](int member) {
            return count * static_cast<uint32_t>(member) / static_cast<uint32_t>(job_.team->size);
        };
        const auto made_by = [&](int member) { return Range{part(member), part(member + 1)}; };
        make_fields(made_by(job_.team->rank), condition);
        read_others([&](int member, auto read) {
            const Range made = made_by(member);
            read(pairs_.field_of(static_cast<int>(made.begin)), made.count() * shape_.cells());
        });
    }

    /// Finds which pixels of the dealt large spans are proved, and reads what other members of the team have found of theirs.
    void prove(const Range &spans) {
        const DealtSpans all = {spans.begin, static_cast<uint32_t>(spans.count()), 0};
        if (!job_.team) return prove(all, all.each);
        // Always the same spans: only the member that proves them knows the witnesses.
        const uint32_t members = static_cast<uint32_t>(job_.team->size), end = spans_.end;
        const uint32_t each = static_cast<uint32_t>(ceil_div(end, members * DEALT_ROWS)), step = each * members;
        const auto first = [&](int member) { return static_cast<uint32_t>(member) * each; };
        uint32_t own = 0;
        for (uint32_t at = first(job_.team->rank); at < end; at += step) own += std::min(each, end - at);
        prove({first(job_.team->rank), each, step}, own);
        read_others([&](int member, auto read) {
            for (uint32_t at = first(member); at < end; at += step) {
                const uint32_t until = std::min(at + each, end);
                read(pairs_.open_bits + 2 * first_span_[at], 2 * (first_span_[until] - first_span_[at]));
                read(pairs_.open_pixels + at * PROOF_PARTS, (until - at) * PROOF_PARTS);
            }
        });
    }

    void prove(const DealtSpans &dealt, uint32_t count) {
        if (count == 0) return;
        launch("prove_part", prove_part<Length, FARTHEST>, int64_t(count) * PROOF_PARTS, PROOF_THREADS, stream_, pairs_, dealt);
    }

    /// Calls body(member, read) for each other member of the team when all have done what they have queued so far; read(items,
    /// count) reads what is at the same place of that member's memory.  None goes on before all have read.  If one fails here,
    /// its memory stays until all have come to an end.
    template <class Body>
    void read_others(Body body) {
        Team &team = *job_.team;
        check(cudaStreamSynchronize(stream_), "waiting for a share of the work");
        void *const *const memory = team.meet(memory_);
        for (int i = 1; i < team.size; ++i) {
            const int member = (team.rank + i) % team.size;
            const auto theirs = static_cast<const uint8_t *>(memory[member]);
            body(member, [&](auto *items, int64_t count) {
                uint8_t *const own = reinterpret_cast<uint8_t *>(items);
                check(cudaMemcpyAsync(own, theirs + (own - memory_), static_cast<size_t>(count) * sizeof *items,
                                      cudaMemcpyDefault, stream_),
                      "reading from another device");
            });
        }
        check(cudaStreamSynchronize(stream_), "reading from another device");
        team.meet(nullptr);
    }

    /// Finds the eccentricities of sources, records their fields, as hubs or not, raises lower bounds by them, and keeps
    /// lengths from hubs.
    void use_fields(const Range &spans, bool as_hubs) {
        over_spans("measure_span", measure_span<Length>, spans);
        launch("record_fields", record_fields<Length, FARTHEST>, count(), FIELD_THREADS<Length>, stream_, pairs_, as_hubs);
        over_spans("raise_span", raise_span<Length, FARTHEST>, spans);
        launch("find_large_maxima", find_large_maxima<Length>, count(), FIELD_THREADS<Length>, stream_, pairs_);
    }

    /// Finds the ends and centres of components, and their other ends where these are known.  Where they are not, sets the
    /// source of a field that finds them.
    void find_extremes() {
        over_spans("measure_lower", measure_lower<Length>, spans_);
        launch("find_ends", find_ends<Length, FARTHEST>, count(), WARP, stream_, pairs_);
    }

    /// Makes the first fields, one after the other.
    void make_first_fields() {
        check(cudaMemsetAsync(pairs_.source, -1, BATCH<Length> * sizeof(FieldSource) * pairs_.components, stream_),
              "beginning");
        check(cudaMemsetAsync(pairs_.turn, 0, sizeof(TurnReport), stream_), "beginning");
        for (int round = 0; round < FIRST_HUBS; ++round) {
            if (round == FIRST_HUBS - 1) find_extremes();
            launch("choose_first", choose_first<Length>, ceil_div(count(), BLOCK), BLOCK, stream_, pairs_, count(), round);
            make_fields(1, {&pairs_.turn->too_long, false});  // if a path is too long, all is done again
            use_fields(spans_, true);
        }
        read_turn();
    }

    /// Finds which pixels are proved, sets the sources of the next fields, and reports.
    TurnReport prove_and_choose(const Range &spans) {
        prove(spans);
        check(cudaMemsetAsync(pairs_.turn, 0, offsetof(TurnReport, fields), stream_), "beginning a turn");
        launch("choose_targets", choose_targets<Length>, count(), SPAN_THREADS, stream_, pairs_);
        launch("find_witnesses", find_witnesses<Length>, count() * int64_t(BATCH<Length>), SPAN_THREADS, stream_, pairs_);
        launch("merge_targets", merge_targets<Length>, ceil_div(count(), BLOCK), BLOCK, stream_, pairs_, count());
        return read_turn();
    }

    template <class OnTurn>
    void solve_components(OnTurn on_turn) {
        make_first_fields();
        int64_t all = 0;
        for (const ComponentState<Length> &component : components_) all += component.size;
        for (Range spans = spans_;;) {
            const TurnReport turn = prove_and_choose(spans);
            on_turn(fields_ + static_cast<int64_t>(turn.fields), proved_ + all - static_cast<int64_t>(turn.open));
            if (turn.out_of_budget) has_gaps_ = true;
            if (turn.active == 0) {
                fields_ += static_cast<int64_t>(turn.fields);
                proved_ += all;
                return;
            }
            spans = {~turn.not_before, turn.end};
            share_fields(turn.targets);
            use_fields(spans, false);
            launch("choose_hub", choose_hub<Length>, ceil_div(count() * int64_t(BATCH<Length>), WARPS), BLOCK, stream_, pairs_,
                   count());
            share_fields(turn.targets, {&pairs_.turn->hubs, true});
            use_fields(spans, true);
        }
    }

    void finish() {
        if (has_gaps_) over_spans("find_gap", find_gap<Length>, spans_);
        has_gaps_ = false;
        if (job_.capacity > 0) {
            check(cudaMemsetAsync(&pairs_.turn->has_hidden_ends, 0, sizeof(uint32_t), stream_), "finding ends");
            find_extremes();
            if (!FARTHEST) {
                make_fields(1, {&pairs_.turn->has_hidden_ends, true});
                over_spans("measure_span", measure_span<Length>, spans_);
                launch("find_other_end", find_other_end<Length>, count(), WARP, stream_, pairs_);
            }
        }
        check(cudaMemcpyAsync(components_.data(), pairs_.component, components_.size() * sizeof components_[0],
                              cudaMemcpyDeviceToHost, stream_),
              "reading components");
        check(cudaStreamSynchronize(stream_), "waiting for components");
    }

    const EccentricityJob &job_;
    cudaStream_t stream_;
    uint8_t *memory_;
    Carver carver_;
    FieldShape shape_;
    FieldTasks<Length> tasks_;
    Pairs<Length> pairs_;
    size_t bytes_;
    std::vector<ComponentState<Length>> components_;
    Range spans_ = {0, 0};              // of all components
    std::vector<uint32_t> first_span_;  // of each large span, and one behind; for a team
    bool has_gaps_ = false;
    int64_t fields_ = 0, proved_ = 0;  // of components that were solved before
};

}  // namespace apsis::cuda::paths
