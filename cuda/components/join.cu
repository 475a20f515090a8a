// Joins the components of slabs by the local numbers in their faces, on the device.  It gives the bytes of src/slabs/join.cpp.
//
// Each local number in the faces of a slab is a node: a place in a hash table of the slab (open addressing).  Nodes that meet
// across a cut are joined by a union-find without locks.  The lowest node of a tree, in the order of slabs and local numbers,
// is its root: it has the lowest pixel.  All other nodes begin elsewhere.  These are sorted.  Then a component's number is its
// place among all local numbers, less its rank among those that begin elsewhere.
//
// Chosen where all faces are in device memory, and neither parts nor numbers are wanted or needed.
//
// Cost: faces are read and written once.  In between, for each column of a slab 24 to 48 bytes are cleared, and 64-bit keys
// sorted, half as many as faces have columns.
#include "core/keys.h"
#include "cuda/runtime/scan_and_sort.h"
#include "cuda/transforms.h"
#include "runtime/join_job.h"

namespace apsis::cuda::components {

namespace {

constexpr uint32_t NO_NODE = UINT32_MAX;

/// What is known of a slab.
struct JoinedSlab {
    int64_t *face[2];  // its first row and its last, in 3-D planes; or null
    int64_t count;     // its own components
    int64_t before;    // those of all slabs before it
    int64_t above;     // the slab whose last row its first one faces; -1: there is none
};

/// The nodes of all slabs, and what joining them takes.
struct Nodes {
    const JoinedSlab *slab;  // and behind the last one, one without rows
    int64_t slabs, columns, width, height;
    int axes, connectivity;
    Periodic periodic;
    int table_bits, local_bits;   // of a slab's table, and of a local number in a key
    unsigned long long *local;    // [node]: its local number; 0: this place in the table is free
    uint32_t *to_end;             // [node]: the columns from where it begins in the first row to the end; 0: it is not there
    uint32_t *parent;             // [node]: a lower node of its tree, or itself
    uint32_t *at;                 // [slab][side][column]: the node there, or NO_NODE
    uint64_t *elsewhere;          // the keys of nodes that are no roots, at first in any order
    uint32_t *listed, *is_wrong;  // how many these are; whether faces cannot be those of sets
    uint32_t most_listed;

    APSIS_BOTH int64_t size() const { return slabs << table_bits; }
    APSIS_BOTH int64_t pixels() const { return slabs * 2 * columns; }

    __device__ int64_t slab_of(uint32_t node) const { return node >> table_bits; }
    /// Its place in the order of slabs and local numbers.
    __device__ uint64_t key_of(uint32_t node) const { return key_of(slab_of(node), local[node]); }
    __device__ uint64_t key_of(int64_t of_slab, uint64_t number) const {
        return static_cast<uint64_t>(of_slab) << local_bits | number;
    }
};

/// The node of a local number, which is made if there is none, or NO_NODE.  There is room for all pixels of both faces.
__device__ uint32_t find_node(const Nodes &nodes, int64_t slab, unsigned long long local, bool makes) {
    constexpr unsigned long long GOLDEN = 0x9e3779b97f4a7c15ull;  // numbers that follow each other are spread evenly
    const uint32_t last = (1u << nodes.table_bits) - 1, begin = static_cast<uint32_t>(slab) << nodes.table_bits;
    uint32_t place = static_cast<uint32_t>(local * GOLDEN >> (64 - nodes.table_bits));
    for (uint32_t tries = 0; tries <= last; ++tries, place = (place + 1) & last) {
        const uint32_t node = begin + place;
        unsigned long long there = __ldcg(nodes.local + node);
        if (there == 0 && makes) {
            there = atomicCAS(nodes.local + node, 0ull, local);
            if (there == 0) {
                nodes.parent[node] = node;
                return node;
            }
        }
        if (there == local) return node;
        if (there == 0) return NO_NODE;
    }
    return NO_NODE;
}

/// Finds the nodes of all pixels of faces.  Of a run in a warp, one thread does.
__global__ void __launch_bounds__(BLOCK) find_nodes(Nodes nodes) {
    const int64_t i = first_item(), face = i / nodes.columns, column = i - face * nodes.columns;
    const bool is_there = i < nodes.pixels();
    const JoinedSlab &slab = nodes.slab[is_there ? face / 2 : nodes.slabs];
    const int64_t *const numbers = slab.face[face % 2];
    const int64_t number = numbers ? numbers[column] : 0;
    const bool fits = number >= -slab.count && number <= slab.count;
    const unsigned long long local = !fits ? 0 : number < 0 ? -number : number;
    const int lane = threadIdx.x % WARP;
    const bool is_head = __shfl_up_sync(ALL_LANES, local, 1) != local || lane == 0 || column == 0;
    const uint32_t heads = __ballot_sync(ALL_LANES, is_head);
    uint32_t node = NO_NODE;
    if (is_head && local) {
        node = find_node(nodes, face / 2, local, true);
        if (face % 2 == 0) atomicMax(nodes.to_end + node, static_cast<uint32_t>(nodes.columns - column));
    }
    if (!fits) *nodes.is_wrong = 1;
    node = __shfl_sync(ALL_LANES, node, 31 - __clz(static_cast<int>(heads & ((2u << lane) - 1))));
    if (is_there) nodes.at[i] = node;
}

/// Goes to the root, and halves the path.  Threads may shorten and join trees meanwhile.
__device__ uint32_t root_of(const Nodes &nodes, uint32_t node) {
    for (uint32_t up; (up = __ldcg(nodes.parent + node)) != node;) {
        const uint32_t next = __ldcg(nodes.parent + up);
        if (next != up) __stcg(nodes.parent + node, next);
        node = next;
    }
    return node;
}

/// Joins two nodes.  The lower root stays one, in whatever order threads work.
__device__ void unite(const Nodes &nodes, uint32_t one, uint32_t other) {
    for (;;) {
        one = root_of(nodes, one), other = root_of(nodes, other);
        if (one == other) return;
        if (nodes.key_of(one) < nodes.key_of(other)) {
            const uint32_t lower = one;
            one = other;
            other = lower;
        }
        if (atomicCAS(nodes.parent + one, one, other) == one) return;
    }
}

/// Joins what meets across cuts; a thread for each pixel below one.  Neighbours differ along the last axis, and along one less
/// of the others than the connectivity says.
__global__ void __launch_bounds__(BLOCK) join_cuts(Nodes nodes) {
    const int64_t i = first_item(), slab = i / nodes.columns, column = i - slab * nodes.columns;
    if (slab >= nodes.slabs || nodes.slab[slab].above < 0) return;
    const uint32_t *const below = nodes.at + 2 * slab * nodes.columns;
    const uint32_t *const above = nodes.at + (2 * nodes.slab[slab].above + 1) * nodes.columns;
    const uint32_t own = below[column];
    if (own == NO_NODE) return;
    const int64_t y = column / nodes.width, x = column - y * nodes.width;
    const bool goes_on = x > 0 && below[column - 1] == own;  // then the pixel before has joined all but the last of a row
    for (int dy = -1; dy <= 1; ++dy) {
        const int64_t other_y = nodes.axes == 3 || dy == 0 ? nodes.periodic.wrap(1, y + dy, nodes.height) : -1;
        const int reach = min(nodes.connectivity - 1 - (dy != 0), 1);
        if (other_y < 0 || reach < 0) continue;
        const uint32_t *const row = above + other_y * nodes.width;
        for (int step = goes_on ? reach : -reach; step <= reach; ++step) {
            const int64_t other_x = nodes.periodic.wrap(0, x + step, nodes.width);
            if (other_x < 0 || row[other_x] == NO_NODE) continue;
            if (goes_on && other_x == x + step && row[other_x - 1] == row[other_x]) continue;
            unite(nodes, own, row[other_x]);
        }
    }
}

/// Gives every node its root, and lists the nodes that are none.
///
/// Those of a first row are 1, 2, ..., as they begin there: each begins behind the one before it.
__global__ void __launch_bounds__(BLOCK) list_elsewhere(Nodes nodes) {
    const int64_t i = first_item();
    const auto node = static_cast<uint32_t>(i);
    const unsigned long long local = i < nodes.size() ? nodes.local[node] : 0;
    bool is_elsewhere = false;
    if (local) {
        uint32_t root = node;
        for (uint32_t up; (up = __ldcg(nodes.parent + root)) != root;) root = up;
        __stcg(nodes.parent + node, root);
        is_elsewhere = root != node;
        if (local > 1 && nodes.to_end[node]) {
            const uint32_t before = find_node(nodes, nodes.slab_of(node), local - 1, false);
            if (before == NO_NODE || nodes.to_end[before] <= nodes.to_end[node]) *nodes.is_wrong = 1;
        }
    }
    const uint32_t place = take_places(nodes.listed, is_elsewhere);
    if (!is_elsewhere) return;
    if (place < nodes.most_listed)
        nodes.elsewhere[place] = nodes.key_of(node);
    else
        *nodes.is_wrong = 1;
}

/// How many nodes that begin elsewhere are below a key.
__device__ int64_t rank_of(const Nodes &nodes, uint64_t key) {
    uint32_t low = 0, high = min(*nodes.listed, nodes.most_listed);
    while (low < high) {
        const uint32_t middle = low + (high - low) / 2;
        if (nodes.elsewhere[middle] < key)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/// Writes the numbers in the image; with a minus where a component begins elsewhere.
__global__ void __launch_bounds__(BLOCK) write_faces(Nodes nodes) {
    const int64_t i = first_item(), face = i / nodes.columns;
    if (i >= nodes.pixels() || *nodes.is_wrong) return;
    const uint32_t node = nodes.at[i];
    if (node == NO_NODE) return;  // it is outside the set, or there is no face
    const uint32_t root = nodes.parent[node];
    const int64_t before = nodes.slab[nodes.slab_of(root)].before, local = static_cast<int64_t>(nodes.local[root]);
    const int64_t number = before + local - rank_of(nodes, nodes.key_of(root));
    nodes.slab[face / 2].face[face % 2][i - face * nodes.columns] = root == node ? number : -number;
}

/// Tells the host how many components of the image begin before each slab, then of all, then whether faces are wrong.
__global__ void __launch_bounds__(BLOCK) tell_host(Nodes nodes, int64_t *told) {
    const int64_t k = first_item();
    if (k <= nodes.slabs) told[k] = nodes.slab[k].before - rank_of(nodes, nodes.key_of(k, 0));
    if (k == nodes.slabs) told[k + 1] = *nodes.is_wrong;
}

/// The scratch memory of a job, and its steps.
class Join {
  public:
    Join(const JoinJob &job, void *memory) : job_(job) {
        int64_t most = 0, rows_with_faces = 0;
        for (int64_t k = 0; k < job.slab_count; ++k) {
            most = std::max(most, job.slabs[k].count);
            rows_with_faces += (job.slabs[k].first != nullptr) + (job.slabs[k].last != nullptr);
        }
        nodes_.slabs = job.slab_count, nodes_.columns = job.columns();
        nodes_.width = job.set.size[0], nodes_.height = nodes_.columns / nodes_.width;
        nodes_.axes = job.axes, nodes_.connectivity = job.connectivity, nodes_.periodic = job.periodic;
        // Of pixels side by side in a face no two are of different components.  So these fill at most half of a table.
        constexpr int64_t LONGEST = int64_t(1) << 30, MOST_NODES = int64_t(1) << 31;
        const int64_t most_in_face = ceil_div(nodes_.columns, 2);
        nodes_.table_bits = std::max(bits_below(4 * most_in_face), 1);
        nodes_.local_bits = bits_below(most + 1);
        key_bits_ = nodes_.local_bits + bits_below(job.slab_count + 1) + 1;  // what is behind the list is above all keys
        fits_ = nodes_.columns <= LONGEST && job.slab_count <= MOST_NODES >> nodes_.table_bits &&
                rows_with_faces * most_in_face < MOST_NODES && key_bits_ <= 64;
        if (!fits_) return;
        nodes_.most_listed = static_cast<uint32_t>(rows_with_faces * most_in_face);
        carve(memory);
    }

    /// 0: the numbers of nodes would not fit their types.
    size_t bytes() const { return fits_ ? bytes_ : 0; }

    std::optional<int64_t> run(cudaStream_t stream) {
        const size_t in = static_cast<size_t>(job_.slab_count + 1) * sizeof *slabs_;
        PageLocked &page_locked = *static_cast<PageLocked *>(job_.page_locked);
        auto *const slabs =
            static_cast<JoinedSlab *>(page_locked.at_least(in + static_cast<size_t>(job_.slab_count + 2) * sizeof(int64_t)));
        auto *const told = reinterpret_cast<int64_t *>(slabs + job_.slab_count + 1);
        describe(slabs);
        check(cudaMemcpyAsync(slabs_, slabs, in, cudaMemcpyHostToDevice, stream), "writing where faces are");
        page_locked.is_read(stream);
        check(cudaMemsetAsync(nodes_.local, 0, cleared_, stream), "clearing nodes");
        check(cudaMemsetAsync(nodes_.elsewhere, 0xff, nodes_.most_listed * sizeof *nodes_.elsewhere, stream), "clearing keys");
        launch("find_nodes", find_nodes, ceil_div(nodes_.pixels(), BLOCK), BLOCK, stream, nodes_);
        launch("join_cuts", join_cuts, ceil_div(nodes_.slabs * nodes_.columns, BLOCK), BLOCK, stream, nodes_);
        launch("list_elsewhere", list_elsewhere, ceil_div(nodes_.size(), BLOCK), BLOCK, stream, nodes_);
        SortBuffers<uint64_t> keys{nodes_.elsewhere, other_};
        sort_keys(sort_, sort_bytes_, keys, nodes_.most_listed, key_bits_, "sorting what begins elsewhere", stream);
        nodes_.elsewhere = keys.current;
        launch("write_faces", write_faces, ceil_div(nodes_.pixels(), BLOCK), BLOCK, stream, nodes_);
        launch("tell_host", tell_host, ceil_div(nodes_.slabs + 1, BLOCK), BLOCK, stream, nodes_, told);
        check(cudaStreamSynchronize(stream), "waiting for joined slabs");
        if (told[job_.slab_count + 1]) return {};
        for (int64_t k = 0; k < job_.slab_count; ++k) job_.slabs[k].before = told[k];
        return told[job_.slab_count];
    }

  private:
    void carve(void *memory) {
        Carver carver(memory);
        slabs_ = carver.take<JoinedSlab>(job_.slab_count + 1);
        nodes_.slab = slabs_;
        const size_t begin = carver.used();
        nodes_.local = carver.take<unsigned long long>(nodes_.size());
        nodes_.to_end = carver.take<uint32_t>(nodes_.size());
        nodes_.listed = carver.take<uint32_t>(2);
        nodes_.is_wrong = nodes_.listed + 1;
        cleared_ = carver.used() - begin;
        nodes_.parent = carver.take<uint32_t>(nodes_.size());
        nodes_.at = carver.take<uint32_t>(nodes_.pixels());
        nodes_.elsewhere = carver.take<uint64_t>(nodes_.most_listed);
        other_ = carver.take<uint64_t>(nodes_.most_listed);
        sort_bytes_ = sort_scratch_of_keys(nodes_.most_listed, key_bits_);
        sort_ = carver.take<uint8_t>(static_cast<int64_t>(sort_bytes_));
        bytes_ = carver.used();
    }

    /// Writes what is known of slabs, those without rows among them.
    void describe(JoinedSlab *slabs) const {
        int64_t before = 0, above = -1, top = -1;
        for (int64_t k = 0; k < job_.slab_count; ++k) {
            const apsis_slab_labels &slab = job_.slabs[k];
            slabs[k] = {{nullptr, nullptr}, slab.count, before, -1};
            before += slab.count;
            if (slab.rows == 0) continue;
            slabs[k] = {{slab.first, slab.last}, slab.count, slabs[k].before, above};
            above = k;
            if (top < 0) top = k;
        }
        if (top >= 0 && job_.is_ring()) slabs[top].above = above;
        slabs[job_.slab_count] = {{nullptr, nullptr}, 0, before, -1};
    }

    const JoinJob &job_;
    Nodes nodes_ = {};
    bool fits_;
    int key_bits_;
    JoinedSlab *slabs_;
    uint64_t *other_;  // what the sort may exchange the list with
    void *sort_;
    size_t sort_bytes_, cleared_, bytes_;
};

}  // namespace

size_t join_scratch(const JoinJob &job) { return Join(job, nullptr).bytes(); }

std::optional<int64_t> join_slabs(const JoinJob &job, void *scratch, cudaStream_t stream) {
    return Join(job, scratch).run(stream);
}

}  // namespace apsis::cuda::components
