// Pair bounds on the host: which pieces take their turns together, and turn after turn until all are proved or out of
// budget.
#include "cuda/paths/pair_bounds.h"

#include <algorithm>

#include "cuda/paths/pair_steps.h"

namespace apsis::cuda::paths {

namespace {

/// The pixels of the set as bits, 32 cells a word.
__global__ void __launch_bounds__(BLOCK) pack_members(Ranks ranks, FieldShape shape, uint32_t *members) {
    for (int64_t cell = int64_t(blockIdx.x) * BLOCK + threadIdx.x; cell < shape.cells();
         cell += int64_t(gridDim.x) * BLOCK) {
        const FieldShape::Place at = shape.place_of(cell);
        const bool is_member = shape.holds(at) && ranks.rank[shape.index_of(at)] != NONE;
        const uint32_t word = __ballot_sync(ALL_LANES, is_member);
        if (threadIdx.x % WARP == 0) members[cell / WARP] = word;
    }
}

template <class Length>
class Solver {
  public:
    Solver(const EccentricityJob &job, const Ranks &ranks, const Known<Length> &known, uint32_t *spare, void *memory,
           cudaStream_t stream)
        : job_(job),
          stream_(stream),
          carver_(memory),
          shape_(job.set.size, job.axes),
          tasks_(shape_, BATCH<Length>, carver_),
          pairs_{ranks, Moves(job.steps, job.axes), shape_, known, job.budget} {
        const int64_t pixels = job.set.pixels();
        pairs_.witness = spare;
        pairs_.pieces = static_cast<uint32_t>(most_pieces());
        for (int level = 0; level < LEVELS; ++level)
            pairs_.spans[level] = static_cast<uint32_t>((pixels >> 6 * (level + 1)) + most_pieces());
        carve();
        bytes_ = carver_.used();
    }

    size_t bytes() const { return bytes_; }

    template <bool FARTHEST>
    std::vector<Certificate<Length>> solve(const std::vector<Found> &found, int64_t members, const Told &told) {
        pairs_.first = static_cast<uint32_t>(job_.set.pixels() - members);
        pairs_.room = hub_room<Length>(job_.set.pixels(), members);
        launch("pack_members", pack_members, std::min<int64_t>(ceil_div(shape_.cells(), BLOCK), 1 << 16), BLOCK, stream_,
               pairs_.ranks, shape_, members_);
        std::vector<Certificate<Length>> certificates;
        for (size_t first = 0; first < found.size(); first += pairs_.pieces) {
            begin(found, first);
            solve_pieces<FARTHEST>(told);
            finish<FARTHEST>();
            for (size_t i = 0; i < pieces_.size(); ++i)
                certificates.push_back(certify(found[first + i].component, pieces_[i]));
        }
        return certificates;
    }

  private:
    /// As many as most images have: with room for more, those with the least memory would have none for the rest.
    int64_t most_pieces() const {
        constexpr int64_t SHARE = 1024, LEAST = 64;
        return job_.set.pixels() / SHARE + LEAST;
    }

    void carve() {
        const int64_t pixels = job_.set.pixels(), hubs = MOST_HUBS<Length>;
        pairs_.is_source = carver_.take<uint8_t>(pixels);
        pairs_.hub = carver_.take<Length>(HUB_ROOM<Length> * pixels);
        pairs_.field = carver_.take<Length>(BATCH<Length> * shape_.cells());
        pairs_.piece = carver_.take<Piece<Length>>(pairs_.pieces);
        pairs_.piece_of = carver_.take<uint32_t>(pairs_.spans[1]);
        for (int level = 0; level < LEVELS; ++level) {
            pairs_.top[level] = carver_.take<Length>(hubs * pairs_.spans[level]);
            pairs_.low[level] = carver_.take<uint32_t>(pairs_.spans[level]);
        }
        pairs_.open = carver_.take<uint32_t>(2 * int64_t(pairs_.spans[0]));
        pairs_.count_open = carver_.take<uint32_t>(pairs_.spans[1]);
        pairs_.rest = carver_.take<Rest<Length>>(PARTS * int64_t(pairs_.spans[1]));
        pairs_.most = carver_.take<Best<Length>>(BATCH<Length> * int64_t(pairs_.spans[1]));
        pairs_.source = carver_.take<FieldSource>(BATCH<Length> * int64_t(pairs_.pieces));
        pairs_.turn = carver_.take<Turn>(1);
        members_ = carver_.take<uint32_t>(shape_.cells() / 32);
    }

    // ---- Pieces ----

    void begin(const std::vector<Found> &found, size_t first) {
        const size_t count = std::min<size_t>(found.size() - first, pairs_.pieces);
        std::vector<uint32_t> piece_of;
        uint32_t next[LEVELS] = {};
        pieces_.assign(count, {});
        for (size_t i = 0; i < count; ++i) {
            Piece<Length> &piece = pieces_[i];
            piece.begin = found[first + i].begin;
            piece.size = found[first + i].size;
            for (Made<Length> &made : piece.made) made.source = NONE, made.hub = -1;
            for (int level = 0; level < LEVELS; ++level) {
                piece.first[level] = next[level];
                next[level] += piece.spans(level);
            }
            piece_of.insert(piece_of.end(), piece.spans(1), static_cast<uint32_t>(i));
        }
        spans_ = {0, next[1]};
        send(pairs_.piece, pieces_);
        send(pairs_.piece_of, piece_of);
        begin_pieces(pairs_, count_pieces(), spans_, stream_);
    }

    template <class Item>
    void send(Item *to, const std::vector<Item> &items) {
        check(cudaMemcpyAsync(to, items.data(), items.size() * sizeof(Item), cudaMemcpyHostToDevice, stream_),
              "sending pieces");
    }

    uint32_t count_pieces() const { return static_cast<uint32_t>(pieces_.size()); }

    /// Reads what the turn has brought.
    Turn turn() {
        Turn turn;
        check(cudaMemcpyAsync(&turn, pairs_.turn, sizeof turn, cudaMemcpyDeviceToHost, stream_), "reading a turn");
        check(cudaStreamSynchronize(stream_), "waiting for a turn");
        if (turn.too_long) throw TooLong();
        return turn;
    }

    static Certificate<Length> certify(uint32_t component, const Piece<Length> &piece) {
        return {component,          piece.stage == PROVEN, piece.fields,    piece.gap,       piece.end.value,
                piece.centre.value, piece.lowest,          piece.end.pixel, piece.other_end, piece.centre.pixel};
    }

    // ---- Turns ----

    /// Makes some fields of each piece, which begin where the last step has said.
    void make_fields(uint32_t count, OnlyIf condition = {}) {
        FieldTasks<Length> tasks = tasks_;
        tasks.fields = count;
        clear_tasks(tasks, condition, stream_);
        start_fields(tasks, members_, pairs_.field, pairs_.source, int64_t(count) * pairs_.pieces, condition, stream_);
        run_fields(tasks, pairs_.field, job_.steps, &pairs_.turn->too_long, condition, stream_);
    }

    template <bool FARTHEST>
    void solve_pieces(const Told &told) {
        check(cudaMemsetAsync(pairs_.source, -1, BATCH<Length> * sizeof(FieldSource) * pairs_.pieces, stream_), "beginning");
        check(cudaMemsetAsync(pairs_.turn, 0, sizeof(Turn), stream_), "beginning");
        for (int round = 0; round < FIRST_HUBS; ++round) {
            if (round == FIRST_HUBS - 1) find_extremes<Length, FARTHEST>(pairs_, count_pieces(), spans_, stream_);
            choose_first_sources(pairs_, count_pieces(), round, stream_);
            make_fields(1, {&pairs_.turn->too_long, false});  // all is begun anew where one is too long
            take<FARTHEST>(spans_, true);
        }
        turn();
        int64_t all = 0;
        for (const Piece<Length> &piece : pieces_) all += piece.size;
        for (Range spans = spans_;;) {
            prove<Length, FARTHEST>(pairs_, spans, stream_);
            choose_sources(pairs_, count_pieces(), stream_);
            const Turn turn = this->turn();
            told(fields_ + static_cast<int64_t>(turn.fields), proved_ + all - static_cast<int64_t>(turn.open));
            if (turn.out_of_budget) has_gaps_ = true;
            if (turn.active == 0) {
                fields_ += static_cast<int64_t>(turn.fields);
                proved_ += all;
                return;
            }
            spans = {~turn.not_before, turn.end};
            make_fields(turn.targets);
            take<FARTHEST>(spans, false);
            choose_hubs(pairs_, count_pieces(), stream_);
            make_fields(turn.targets, {&pairs_.turn->hubs, true});
            take<FARTHEST>(spans, true);
        }
    }

    template <bool FARTHEST>
    void take(const Range &spans, bool as_hubs) {
        measure<Length, FARTHEST>(pairs_, count_pieces(), spans, as_hubs, stream_);
        fold<Length, FARTHEST>(pairs_, count_pieces(), spans, stream_);
    }

    template <bool FARTHEST>
    void finish() {
        if (has_gaps_) find_gaps(pairs_, spans_, stream_);
        has_gaps_ = false;
        if (job_.capacity > 0) {
            check(cudaMemsetAsync(&pairs_.turn->has_hidden_ends, 0, sizeof(uint32_t), stream_), "finding ends");
            find_extremes<Length, FARTHEST>(pairs_, count_pieces(), spans_, stream_);
            if (!FARTHEST) {
                make_fields(1, {&pairs_.turn->has_hidden_ends, true});
                find_other_ends(pairs_, count_pieces(), spans_, stream_);
            }
        }
        check(cudaMemcpyAsync(pieces_.data(), pairs_.piece, pieces_.size() * sizeof pieces_[0], cudaMemcpyDeviceToHost,
                              stream_),
              "reading pieces");
        check(cudaStreamSynchronize(stream_), "waiting for pieces");
    }

    const EccentricityJob &job_;
    cudaStream_t stream_;
    Carver carver_;
    FieldShape shape_;
    FieldTasks<Length> tasks_;
    Pairs<Length> pairs_;
    uint32_t *members_;  // [cell]: a bit
    size_t bytes_;
    std::vector<Piece<Length>> pieces_;
    Range spans_ = {0, 0};  // of all pieces
    bool has_gaps_ = false;
    int64_t fields_ = 0, proved_ = 0;  // of the pieces before
};

}  // namespace

template <class Length>
size_t pair_bounds_bytes(const EccentricityJob &job) {
    return Solver<Length>(job, {raster_of(job.set)}, {}, nullptr, nullptr, nullptr).bytes();
}

template <class Length>
std::vector<Certificate<Length>> solve_by_pairs(const EccentricityJob &job, const Ranks &ranks, const Known<Length> &known,
                                                uint32_t *spare, const std::vector<Found> &found, int64_t members,
                                                void *memory, cudaStream_t stream, const Told &told) {
    Solver<Length> solver(job, ranks, known, spare, memory, stream);
    return job.farthest ? solver.template solve<true>(found, members, told)
                        : solver.template solve<false>(found, members, told);
}

template size_t pair_bounds_bytes<int32_t>(const EccentricityJob &);
template size_t pair_bounds_bytes<int64_t>(const EccentricityJob &);
template std::vector<Certificate<int32_t>> solve_by_pairs(const EccentricityJob &, const Ranks &, const Known<int32_t> &,
                                                          uint32_t *, const std::vector<Found> &, int64_t, void *,
                                                          cudaStream_t, const Told &);
template std::vector<Certificate<int64_t>> solve_by_pairs(const EccentricityJob &, const Ranks &, const Known<int64_t> &,
                                                          uint32_t *, const std::vector<Found> &, int64_t, void *,
                                                          cudaStream_t, const Told &);

}  // namespace apsis::cuda::paths
