// Pair bounds on the host: decides which components are solved together, and queues turn after turn until all are proved or out
// of budget.
#include "cuda/paths/pair_bounds.h"

#include <algorithm>

#include "cuda/paths/pair_steps.h"

namespace apsis::cuda::paths {

namespace {

/// Packs the set into bits, 32 cells a word.
__global__ void __launch_bounds__(BLOCK) pack_members(Ranks ranks, FieldShape shape, uint32_t *members) {
    for (int64_t cell = int64_t(blockIdx.x) * BLOCK + threadIdx.x; cell < shape.cells(); cell += int64_t(gridDim.x) * BLOCK) {
        const FieldShape::Place at = shape.place_of(cell);
        const bool is_member = shape.holds(at) && ranks.rank[shape.index_of(at)] != NO_PIXEL;
        const uint32_t word = __ballot_sync(ALL_LANES, is_member);
        if (threadIdx.x % WARP == 0) members[cell / WARP] = word;
    }
}

/// The host's side: memory, components that are solved together, and their turns.
template <class Length>
class Solver {
  public:
    Solver(const EccentricityJob &job, const Ranks &ranks, const LowerBounds<Length> &bounds, uint32_t *spare, void *memory,
           cudaStream_t stream)
        : job_(job),
          stream_(stream),
          carver_(memory),
          shape_(job.set.size, job.axes),
          tasks_(shape_, BATCH<Length>, carver_),
          pairs_{ranks, Moves(job.steps, job.axes), shape_, bounds, job.budget} {
        const int64_t pixels = job.set.pixels();
        pairs_.witness = spare;
        pairs_.components = static_cast<uint32_t>(most_components());
        for (int level = 0; level < LEVELS; ++level)
            pairs_.spans[level] = static_cast<uint32_t>((pixels >> 6 * (level + 1)) + most_components());
        carve();
        bytes_ = carver_.used();
    }

    size_t bytes() const { return bytes_; }

    template <bool FARTHEST>
    std::vector<Certificate<Length>> solve(const std::vector<ComponentRange> &found, int64_t members, const OnTurn &on_turn) {
        pairs_.first = static_cast<uint32_t>(job_.set.pixels() - members);
        pairs_.room = hub_room<Length>(job_.set.pixels(), members);
        launch("pack_members", pack_members, std::min<int64_t>(ceil_div(shape_.cells(), BLOCK), 1 << 16), BLOCK, stream_,
               pairs_.ranks, shape_, members_);
        std::vector<Certificate<Length>> certificates;
        for (size_t first = 0; first < found.size(); first += pairs_.components) {
            begin(found, first);
            solve_components<FARTHEST>(on_turn);
            finish<FARTHEST>();
            for (size_t i = 0; i < components_.size(); ++i)
                certificates.push_back(certify(found[first + i].component, components_[i]));
        }
        return certificates;
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
        members_ = carver_.take<uint32_t>(shape_.cells() / 32);
    }

    // ---- Components ----

    void begin(const std::vector<ComponentRange> &found, size_t first) {
        const size_t count = std::min<size_t>(found.size() - first, pairs_.components);
        std::vector<uint32_t> component_of;
        uint32_t next[LEVELS] = {};
        components_.assign(count, {});
        for (size_t i = 0; i < count; ++i) {
            ComponentState<Length> &component = components_[i];
            component.begin = found[first + i].begin;
            component.size = found[first + i].size;
            for (MadeField<Length> &made : component.made) made.source = NO_PIXEL, made.hub = -1;
            for (int level = 0; level < LEVELS; ++level) {
                component.first[level] = next[level];
                next[level] += component.spans(level);
            }
            component_of.insert(component_of.end(), component.spans(1), static_cast<uint32_t>(i));
        }
        spans_ = {0, next[1]};
        send(pairs_.component, components_);
        send(pairs_.component_of, component_of);
        begin_components(pairs_, component_count(), spans_, stream_);
    }

    template <class Item>
    void send(Item *to, const std::vector<Item> &items) {
        check(cudaMemcpyAsync(to, items.data(), items.size() * sizeof(Item), cudaMemcpyHostToDevice, stream_),
              "sending components");
    }

    uint32_t component_count() const { return static_cast<uint32_t>(components_.size()); }

    /// Reads the report of a turn.
    TurnReport read_turn() {
        TurnReport turn;
        check(cudaMemcpyAsync(&turn, pairs_.turn, sizeof turn, cudaMemcpyDeviceToHost, stream_), "reading a turn");
        check(cudaStreamSynchronize(stream_), "waiting for a turn");
        if (turn.too_long) throw TooLong();
        return turn;
    }

    static Certificate<Length> certify(uint32_t number, const ComponentState<Length> &component) {
        return {number,
                component.stage == PROVEN,
                component.fields,
                component.gap,
                component.end.value,
                component.centre.value,
                component.lowest,
                component.end.pixel,
                component.other_end,
                component.centre.pixel};
    }

    // ---- Turns ----

    /// Makes `count` fields of each component, from the sources set by the last step.
    void make_fields(uint32_t count, DeviceCondition condition = {}) {
        FieldTasks<Length> tasks = tasks_;
        tasks.fields = count;
        clear_tasks(tasks, condition, stream_);
        start_fields(tasks, members_, pairs_.field, pairs_.source, int64_t(count) * pairs_.components, condition, stream_);
        run_fields(tasks, pairs_.field, job_.steps, &pairs_.turn->too_long, condition, stream_);
    }

    template <bool FARTHEST>
    void solve_components(const OnTurn &on_turn) {
        check(cudaMemsetAsync(pairs_.source, -1, BATCH<Length> * sizeof(FieldSource) * pairs_.components, stream_),
              "beginning");
        check(cudaMemsetAsync(pairs_.turn, 0, sizeof(TurnReport), stream_), "beginning");
        for (int round = 0; round < FIRST_HUBS; ++round) {
            if (round == FIRST_HUBS - 1) find_extremes<Length, FARTHEST>(pairs_, component_count(), spans_, stream_);
            choose_first_sources(pairs_, component_count(), round, stream_);
            make_fields(1, {&pairs_.turn->too_long, false});  // if a path is too long, all is done again
            use_fields<FARTHEST>(spans_, true);
        }
        read_turn();
        int64_t all = 0;
        for (const ComponentState<Length> &component : components_) all += component.size;
        for (Range spans = spans_;;) {
            prove<Length, FARTHEST>(pairs_, spans, stream_);
            choose_sources(pairs_, component_count(), stream_);
            const TurnReport turn = read_turn();
            on_turn(fields_ + static_cast<int64_t>(turn.fields), proved_ + all - static_cast<int64_t>(turn.open));
            if (turn.out_of_budget) has_gaps_ = true;
            if (turn.active == 0) {
                fields_ += static_cast<int64_t>(turn.fields);
                proved_ += all;
                return;
            }
            spans = {~turn.not_before, turn.end};
            make_fields(turn.targets);
            use_fields<FARTHEST>(spans, false);
            choose_hubs(pairs_, component_count(), stream_);
            make_fields(turn.targets, {&pairs_.turn->hubs, true});
            use_fields<FARTHEST>(spans, true);
        }
    }

    template <bool FARTHEST>
    void use_fields(const Range &spans, bool as_hubs) {
        measure_fields<Length, FARTHEST>(pairs_, component_count(), spans, as_hubs, stream_);
        raise_bounds<Length, FARTHEST>(pairs_, component_count(), spans, stream_);
    }

    template <bool FARTHEST>
    void finish() {
        if (has_gaps_) find_gaps(pairs_, spans_, stream_);
        has_gaps_ = false;
        if (job_.capacity > 0) {
            check(cudaMemsetAsync(&pairs_.turn->has_hidden_ends, 0, sizeof(uint32_t), stream_), "finding ends");
            find_extremes<Length, FARTHEST>(pairs_, component_count(), spans_, stream_);
            if (!FARTHEST) {
                make_fields(1, {&pairs_.turn->has_hidden_ends, true});
                find_other_ends(pairs_, component_count(), spans_, stream_);
            }
        }
        check(cudaMemcpyAsync(components_.data(), pairs_.component, components_.size() * sizeof components_[0],
                              cudaMemcpyDeviceToHost, stream_),
              "reading components");
        check(cudaStreamSynchronize(stream_), "waiting for components");
    }

    const EccentricityJob &job_;
    cudaStream_t stream_;
    Carver carver_;
    FieldShape shape_;
    FieldTasks<Length> tasks_;
    Pairs<Length> pairs_;
    uint32_t *members_;  // [cell]: a bit
    size_t bytes_;
    std::vector<ComponentState<Length>> components_;
    Range spans_ = {0, 0};  // of all components
    bool has_gaps_ = false;
    int64_t fields_ = 0, proved_ = 0;  // of components that were solved before
};

}  // namespace

template <class Length>
size_t pair_bounds_bytes(const EccentricityJob &job) {
    return Solver<Length>(job, {raster_of(job.set)}, {}, nullptr, nullptr, nullptr).bytes();
}

template <class Length>
std::vector<Certificate<Length>> solve_by_pairs(const EccentricityJob &job, const Ranks &ranks,
                                                const LowerBounds<Length> &bounds, uint32_t *spare,
                                                const std::vector<ComponentRange> &found, int64_t members, void *memory,
                                                cudaStream_t stream, const OnTurn &on_turn) {
    Solver<Length> solver(job, ranks, bounds, spare, memory, stream);
    return job.farthest ? solver.template solve<true>(found, members, on_turn)
                        : solver.template solve<false>(found, members, on_turn);
}

template size_t pair_bounds_bytes<int32_t>(const EccentricityJob &);
template size_t pair_bounds_bytes<int64_t>(const EccentricityJob &);
template std::vector<Certificate<int32_t>> solve_by_pairs(const EccentricityJob &, const Ranks &, const LowerBounds<int32_t> &,
                                                          uint32_t *, const std::vector<ComponentRange> &, int64_t, void *,
                                                          cudaStream_t, const OnTurn &);
template std::vector<Certificate<int64_t>> solve_by_pairs(const EccentricityJob &, const Ranks &, const LowerBounds<int64_t> &,
                                                          uint32_t *, const std::vector<ComponentRange> &, int64_t, void *,
                                                          cudaStream_t, const OnTurn &);

}  // namespace apsis::cuda::paths
