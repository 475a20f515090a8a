// One problem through one route: images, scratch memory, callbacks, streams, the call, and what it has left.
#include "bench.h"

#include <cstring>
#include <map>
#include <optional>

#include "streams.h"

namespace soak {

namespace {

apsis_context *make_context(int device) {
    apsis_context *context = nullptr;
    need(nullptr, apsis_create(APSIS_VERSION, device, &context), "apsis_create");
    return context;
}

}  // namespace

apsis_context *Bench::context(bool on_device) {
    if (!contexts[on_device]) contexts[on_device] = make_context(on_device ? machine.device : APSIS_CPU);
    return contexts[on_device];
}

apsis_context *Bench::source(bool on_device) {
    if (!sources[on_device]) sources[on_device] = make_context(on_device ? machine.device : APSIS_CPU);
    return sources[on_device];
}

void Bench::close() {
    for (int i = 0; i < 2; ++i) {
        apsis_destroy(contexts[i]);
        apsis_destroy(sources[i]);
        contexts[i] = sources[i] = nullptr;
    }
}

namespace {

/// Calls something when it goes.
struct AtEnd {
    std::function<void()> action;
    explicit AtEnd(std::function<void()> what) : action(std::move(what)) {}
    AtEnd(const AtEnd &) = delete;
    ~AtEnd() { action(); }
};

constexpr int64_t EDGE = 512;  ///< Canaries before and behind scratch memory; a multiple of its alignment.

/// Scratch memory between canaries.
class Block {
  public:
    Block(apsis_context *context, Place place, size_t size)
        : memory(context, place, static_cast<int64_t>(size) + 2 * EDGE + 256),
          bytes(size) {
        const auto address = reinterpret_cast<uintptr_t>(memory.data()) + EDGE;
        offset = EDGE + (256 - address % 256) % 256;
    }

    uint8_t *data() const { return memory.data() + offset; }
    size_t size() const { return bytes; }

    void check(const char *name) {
        memory.download();
        for (size_t i = 0; i < memory.bytes.size(); ++i)
            if ((i < offset || i >= offset + bytes) && memory.bytes[i] != canary(i))
                throw Fault{std::string("byte ") + std::to_string(static_cast<int64_t>(i - offset)) + " of " + name + " of " +
                            std::to_string(bytes) + " bytes has changed"};
    }

  private:
    Memory memory;
    size_t bytes, offset;
};

/// An allocator that keeps an eye on what is asked of it.
class Pool {
  public:
    Pool(apsis_context *user, apsis_context *source) : context(user), from(source) {
        need(context, apsis_set_allocator(context, take, give, this), "apsis_set_allocator");
    }
    ~Pool() { apsis_set_allocator(context, nullptr, nullptr, nullptr); }
    Pool(const Pool &) = delete;

    /// Gives the context its own allocator back, and throws what was wrong.
    void close() {
        need(context, apsis_set_allocator(context, nullptr, nullptr, nullptr), "apsis_set_allocator");
        if (!blocks.empty()) fault = "memory of an allocator was not given back";
        if (!fault.empty()) throw Fault{fault};
    }

  private:
    static void *take(void *user, apsis_memory memory, size_t bytes, struct CUstream_st *) {
        Pool &pool = *static_cast<Pool *>(user);
        try {
            auto block = std::make_unique<Block>(pool.from, memory == APSIS_DEVICE ? Place::DEVICE : Place::HOST, bytes);
            uint8_t *data = block->data();
            pool.blocks[data] = std::move(block);
            return data;
        } catch (Fault &) {
            return nullptr;
        }
    }

    static void give(void *user, apsis_memory memory, void *data, size_t bytes, struct CUstream_st *stream) {
        Pool &pool = *static_cast<Pool *>(user);
        const auto found = pool.blocks.find(data);
        try {
            if (found == pool.blocks.end()) throw Fault{"an allocator is given back memory that is not its own"};
            if (found->second->size() != bytes) throw Fault{"an allocator is given back memory of another size"};
            if (memory == APSIS_DEVICE) wait_for(stream);
            found->second->check("an allocator's memory");
        } catch (Fault &f) {
            pool.fault = f.what;
        }
        if (found != pool.blocks.end()) pool.blocks.erase(found);
    }

    apsis_context *context, *from;
    std::map<void *, std::unique_ptr<Block>> blocks;
    std::string fault;
};

/// Callbacks that look at what they are told.
struct Listener {
    std::string fault;

    static int progress(void *user, double done) {
        if (!(done >= 0 && done <= 1)) static_cast<Listener *>(user)->fault = "progress is " + std::to_string(done);
        return 0;
    }
    static void log(void *user, const char *line) {
        if (std::strchr(line, '\n')) static_cast<Listener *>(user)->fault = "a log's line has a newline";
    }
};

constexpr int64_t SPARE = 2;  ///< Records behind the capacity, that must not be touched.

int64_t record_size(const Problem &p) {
    return p.transform == APSIS_COMPONENTS ? int64_t(sizeof(apsis_component)) : int64_t(sizeof(apsis_extent));
}

int inputs_of(const Problem &p) { return p.transform == APSIS_GEODESIC ? 2 : 1; }

/// The images of a call, and the call.
class Call {
  public:
    Call(apsis_context *user, const Problem &problem, const Route &route)
        : context(user),
          p(problem),
          options(problem.options),
          count(-1) {
        const apsis_options defaults = APSIS_OPTIONS_INIT;
        if (route.automatic) options.method = APSIS_AUTO;
        if (std::memcmp(&options, &defaults, sizeof options) == 0) given = nullptr;
        for (int i = 0; i < IMAGES; ++i)
            if (p.type[i])
                buffers[i].emplace(context, route.place, p.type[i], p.ndim, p.size, route.plain ? Layout() : p.layout[i]);
        records = untouched_records(p);
        spare = static_cast<size_t>(SPARE * record_size(p));
    }

    void put(const std::vector<uint8_t> &set, const std::vector<uint8_t> &seeds) {
        buffers[SET]->put(set.data());
        if (buffers[SEEDS]) buffers[SEEDS]->put(seeds.data());
    }

    size_t workspace_size() {
        const apsis_image *images[IMAGES];
        int n = 0;
        for (int i = 0; i < IMAGES; ++i) {
            const bool counts = i == SEEDS ? inputs_of(p) == 2 : i == SECOND ? has_second() : true;
            if (counts) images[n++] = image(i);
        }
        size_t bytes = 0;
        const apsis_status status = apsis_workspace_size(context, p.transform, images, n, given, &bytes);
        return status == APSIS_OK ? bytes : 0;
    }

    apsis_status make() {
        switch (p.transform) {
            case APSIS_DISTANCE: return apsis_distance(context, image(SET), image(FIRST), image(SECOND), given);
            case APSIS_VORONOI: return apsis_voronoi(context, image(SET), image(FIRST), given);
            case APSIS_MORPHOLOGY: return apsis_morphology(context, p.operation, p.radius, image(SET), image(FIRST), given);
            case APSIS_COMPONENTS:
                return apsis_components(context, image(SET), image(FIRST), record<apsis_component>(), capacity(),
                                        p.count ? &count : nullptr, given);
            case APSIS_GEODESIC: return apsis_geodesic(context, image(SET), image(SEEDS), image(FIRST), image(SECOND), given);
            default:
                return apsis_eccentricity(context, image(SET), image(FIRST), image(SECOND), record<apsis_extent>(), capacity(),
                                          p.count ? &count : nullptr, given);
        }
    }

    void gather(Outcome &out) {
        for (int i = SET; i <= SEEDS; ++i)
            if (buffers[i]) buffers[i]->check_unchanged();
        for (int i = FIRST; i <= SECOND; ++i)
            if (buffers[i]) out.output[i - FIRST] = buffers[i]->get();
        for (size_t i = records.size() - (records.empty() ? 0 : spare); i < records.size(); ++i)
            if (records[i] != canary(i)) throw Fault{"a record behind the capacity has changed"};
        out.records = records;
        out.count = count;
    }

  private:
    const apsis_image *image(int i) const { return buffers[i] ? buffers[i]->image() : nullptr; }
    bool has_second() const {
        return p.transform != APSIS_VORONOI && p.transform != APSIS_COMPONENTS && p.transform != APSIS_MORPHOLOGY;
    }
    int64_t capacity() const { return p.capacity < 0 ? 0 : p.capacity; }
    template <class T>
    T *record() {
        return p.capacity < 0 ? nullptr : reinterpret_cast<T *>(records.data());
    }

    apsis_context *context;
    const Problem &p;
    apsis_options options;
    const apsis_options *given = &options;
    std::optional<Buffer> buffers[IMAGES];
    std::vector<uint8_t> records;
    size_t spare = 0;
    int64_t count;
};

constexpr size_t MOST_SCRATCH = size_t(256) << 20;

void run_whole(Bench &bench, apsis_context *context, const Problem &p, const Route &route, Stream *stream, Outcome &out) {
    Call call(context, p, route);
    std::optional<Block> scratch;
    const AtEnd own_scratch([&] { apsis_set_workspace(context, nullptr, 0); });
    if (route.scratch == Scratch::EXACT) {
        const size_t bytes = call.workspace_size();
        if (bytes > 0 && bytes < MOST_SCRATCH) {
            scratch.emplace(bench.source(route.on_device), route.on_device ? Place::DEVICE : Place::HOST, bytes);
            need(context, apsis_set_workspace(context, scratch->data(), bytes), "apsis_set_workspace");
        }
    }
    Listener listener;
    const AtEnd silence([&] {
        apsis_set_progress(context, nullptr, nullptr);
        apsis_set_log(context, nullptr, nullptr);
    });
    if (route.callbacks) {
        need(context, apsis_set_progress(context, Listener::progress, &listener), "apsis_set_progress");
        need(context, apsis_set_log(context, Listener::log, &listener), "apsis_set_log");
    }
    call.put(p.set, p.seeds);
    if (route.graph && stream) {  // captured while other pixels are there
        call.put(std::vector<uint8_t>(p.set.rbegin(), p.set.rend()), p.seeds);
        out.status = call.make();
        if (out.status == APSIS_OK) out.status = stream->replay([&] { return call.make(); }, [&] { call.put(p.set, p.seeds); });
    } else {
        out.status = call.make();
    }
    if (out.status != APSIS_OK) out.message = apsis_message(context);
    if (out.status == APSIS_ERROR_DEVICE) return;
    need(context, apsis_sync(context), "apsis_sync");
    call.gather(out);
    if (scratch) scratch->check("a workspace");
    if (!listener.fault.empty()) throw Fault{listener.fault};
}

}  // namespace

std::vector<uint8_t> untouched_records(const Problem &p) {
    std::vector<uint8_t> records;
    if (p.capacity >= 0) records.resize(static_cast<size_t>((p.capacity + SPARE) * record_size(p)));
    for (size_t i = 0; i < records.size(); ++i) records[i] = canary(i);
    return records;
}

Outcome run(Bench &bench, const Problem &p, const Route &route) {
    Outcome out;
    try {
        apsis_context *context = bench.context(route.on_device);
        need(context, apsis_set_threads(context, route.threads), "apsis_set_threads");
        std::optional<Stream> stream;
        if (route.stream && has_streams()) stream.emplace(context);
        std::optional<Pool> pool;
        if (route.scratch == Scratch::POOL) pool.emplace(context, bench.source(route.on_device));
        if (route.cuts.empty())
            run_whole(bench, context, p, route, stream ? &*stream : nullptr, out);
        else
            run_in_slabs(context, p, route, out);
        if (pool) pool->close();
    } catch (Fault &f) {
        out.fault = f.what;
    }
    if (!out.answered() && out.fault.empty() && out.message.empty()) out.fault = "a status without a message";
    if (out.status == APSIS_ERROR_INTERNAL && out.fault.empty()) out.fault = out.message;
    if (out.status == APSIS_ERROR_DEVICE || !out.fault.empty()) bench.close();
    return out;
}

}  // namespace soak
