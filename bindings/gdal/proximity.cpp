// GDALComputeProximity, exact: GDAL's function under its own name, to be loaded before it.
//
// A raster is computed in strips of rows, as many as fit in the memory that GDAL may cache blocks in.  One strip is read
// once; several are read twice: first each tells the others where in its columns there are targets (slabs, in apsis.h).
#include <apsis.h>
#include <cpl_conv.h>
#include <cpl_error.h>
#include <gdal_alg.h>

#include <algorithm>
#include <cfloat>
#include <cmath>
#include <memory>
#include <new>

#include "request.h"

namespace apsis_gdal {
namespace {

constexpr int LEAST_ROWS = 32;         // in a strip: what strips tell of themselves is then at most half a byte a pixel
constexpr int PIECE = 1 << 18;         // pixels that are read or written at once: GDAL's conversions stay in the cache
constexpr double BYTES_A_PIXEL = 6.5;  // of a strip: two masks, distances, and apsis's scratch memory

/// A share of the progress.
struct Share {
    double from = 0, to = 1;

    double at(double done) const { return from + (to - from) * done; }
    Share part(double begin, double end) const { return {at(begin), at(end)}; }
    Share piece(int i, int count) const { return part(static_cast<double>(i) / count, (i + 1.0) / count); }
};

/// What the caller is told of the progress, within the share that is being worked at.
class Meter {
  public:
    Meter(GDALProgressFunc told, void *user) : told_(told ? told : GDALDummyProgress), user_(user) {}

    void begin(const Share &share) { share_ = share; }
    /// False if the caller wants to stop.
    bool reaches(double done) const { return told_(share_.at(done), "", user_); }
    void reach(double done) const {
        if (!reaches(done)) fail(CPLE_UserInterrupt, "User terminated");
    }

  private:
    GDALProgressFunc told_;
    void *user_;
    Share share_;
};

/// A context whose errors are GDAL's.
class Apsis {
  public:
    explicit Apsis(Meter &meter) {
        check(apsis_create(APSIS_VERSION, APSIS_CPU, &context_));
        const auto tell = [](void *to, double done) { return static_cast<Meter *>(to)->reaches(done) ? 0 : 1; };
        check(apsis_set_progress(context_, tell, &meter));
        check(apsis_set_threads(context_, std::max(0, std::atoi(CPLGetConfigOption("GDAL_NUM_THREADS", "ALL_CPUS")))));
    }
    ~Apsis() { apsis_destroy(context_); }
    Apsis(const Apsis &) = delete;
    Apsis &operator=(const Apsis &) = delete;

    apsis_context *get() const { return context_; }
    void check(apsis_status status) const {
        if (status == APSIS_ERROR_CANCELLED) fail(CPLE_UserInterrupt, "User terminated");
        if (status == APSIS_ERROR_MEMORY) fail(CPLE_OutOfMemory, apsis_message(context_));
        if (status != APSIS_OK) fail(CPLE_AppDefined, apsis_message(context_));
    }

  private:
    apsis_context *context_ = nullptr;
};

/// Some rows of the raster.
struct Rows {
    int first, count;
};

class Proximity {
  public:
    Proximity(GDALRasterBandH source, GDALRasterBandH target, const Request &request, Meter &meter)
        : source_(source),
          target_(target),
          request_(request),
          meter_(meter),
          apsis_(meter),
          width_(GDALGetRasterBandXSize(source)),
          height_(GDALGetRasterBandYSize(source)),
          strip_(strip_rows()) {
        const size_t pixels = static_cast<size_t>(strip_) * static_cast<size_t>(width_);
        is_target_.reset(new uint8_t[pixels]);
        if (request.input_nodata) is_hidden_.reset(new uint8_t[pixels]);
        distance_.reset(new float[pixels]);
        values_.resize(static_cast<size_t>(piece_rows()) * static_cast<size_t>(width_));
    }

    void run() {
        const int strips = (height_ + strip_ - 1) / strip_;
        if (strips == 1)
            run_strip(rows_of(0), nullptr, nullptr, {});
        else
            run_strips(strips);
    }

  private:
    void run_strips(int strips) {
        const Share first_reading = Share().part(0, 0.25), rest = Share().part(0.25, 1);
        const auto columns = static_cast<size_t>(width_);
        std::vector<int64_t> first(columns * static_cast<size_t>(strips)), last(first.size()), above(columns, -1);
        const auto of_strip = [&](std::vector<int64_t> &all, int strip) { return &all[columns * static_cast<size_t>(strip)]; };
        for (int i = 0; i < strips; ++i)
            summarize(rows_of(i), of_strip(first, i), of_strip(last, i), first_reading.piece(i, strips));
        for (int i = strips - 1; i > 0; --i)  // the first target from each strip on
            apsis_slab_merge(width_, of_strip(first, i), nullptr, of_strip(first, i - 1), nullptr);
        for (int i = 0; i < strips; ++i) {
            const int64_t *const below = i + 1 < strips ? of_strip(first, i + 1) : nullptr;
            run_strip(rows_of(i), above.data(), below, rest.piece(i, strips));
            apsis_slab_merge(width_, nullptr, of_strip(last, i), nullptr, above.data());
        }
    }

    void summarize(const Rows &rows, int64_t *first, int64_t *last, const Share &share) {
        read(rows, share.part(0, 0.8));
        const apsis_image set = image_of(rows, is_target_.get(), APSIS_U8);
        meter_.begin(share.part(0.8, 1));
        apsis_.check(apsis_slab_summary(apsis_.get(), &set, rows.first, first, last, nullptr));
    }

    void run_strip(const Rows &rows, const int64_t *above, const int64_t *below, const Share &share) {
        read(rows, share.part(0, 0.2));
        const apsis_image set = image_of(rows, is_target_.get(), APSIS_U8);
        const apsis_image distance = image_of(rows, distance_.get(), APSIS_F32);
        const apsis_slab slab = {rows.first, height_, above, below, nullptr, nullptr};
        const apsis_options options = options_of_apsis();
        meter_.begin(share.part(0.2, 0.6));
        apsis_.check(apsis_slab_distance(apsis_.get(), &set, &slab, &distance, nullptr, &options));
        write(rows, share.part(0.6, 1));
    }

    /// The rows of a strip: those that fit, in whole blocks of both rasters if they can be.
    int strip_rows() const {
        const double fit = static_cast<double>(GDALGetCacheMax64()) / (BYTES_A_PIXEL * width_);
        int rows = static_cast<int>(std::clamp<double>(fit, LEAST_ROWS, height_)), block_width, block_height;
        for (const GDALRasterBandH band : {source_, target_}) {
            GDALGetBlockSize(band, &block_width, &block_height);
            if (rows < height_ && rows > block_height) rows -= rows % block_height;
        }
        return rows;
    }
    int piece_rows() const { return std::clamp(PIECE / width_, 1, strip_); }
    Rows rows_of(int strip) const { return {strip * strip_, std::min(strip_, height_ - strip * strip_)}; }

    /// Calls body(row, count, offset) for the rows of a strip, piece by piece, the pixels of which begin at an offset.
    template <class Body>
    void for_pieces(const Rows &rows, const Share &share, Body body) {
        meter_.begin(share);
        for (int row = 0; row < rows.count; row += piece_rows()) {
            const int count = std::min(piece_rows(), rows.count - row);
            body(rows.first + row, count, static_cast<size_t>(row) * static_cast<size_t>(width_));
            meter_.reach(static_cast<double>(row + count) / rows.count);
        }
    }

    void transfer(GDALRasterBandH band, GDALRWFlag way, int row, int count, void *data, GDALDataType type) const {
        if (GDALRasterIO(band, way, 0, row, width_, count, data, width_, count, type, 0, 0) != CE_None) throw Failure();
    }

    /// Which pixels of a strip are targets, and which have no value.  As for GDAL, values are whole numbers.
    void read(const Rows &rows, const Share &share) {
        for_pieces(rows, share, [&](int row, int count, size_t offset) {
            transfer(source_, GF_Read, row, count, values_.data(), GDT_Int32);
            const size_t pixels = static_cast<size_t>(count) * static_cast<size_t>(width_);
            const int *const values = values_.data();
            uint8_t *const is_target = &is_target_[offset];
            if (request_.values.empty())
                for (size_t i = 0; i < pixels; ++i) is_target[i] = values[i] != 0;
            else
                for (size_t i = 0; i < pixels; ++i) is_target[i] = request_.is_target(values[i]);
            for (size_t i = 0; is_hidden_ && i < pixels; ++i)
                is_hidden_[offset + i] = !is_target[i] && values[i] == *request_.input_nodata;
        });
    }

    apsis_image image_of(const Rows &rows, void *data, apsis_type type) const {
        return {.data = data,
                .type = type,
                .ndim = 2,
                .size = {width_, rows.count, 0},
                .stride = {},
                .memory = APSIS_HOST,
                .reserved = 0};
    }

    void write(const Rows &rows, const Share &share) {
        for_pieces(rows, share, [&](int row, int count, size_t offset) {
            finish(offset, static_cast<size_t>(count) * static_cast<size_t>(width_));
            transfer(target_, GF_Write, row, count, &distance_[offset], GDT_Float32);
        });
    }

    apsis_options options_of_apsis() const {
        apsis_options options = APSIS_OPTIONS_INIT;
        options.spacing[0] = request_.spacing[0];
        options.spacing[1] = request_.spacing[1];
        if (request_.max_distance && !std::isinf(*request_.max_distance)) {
            // To apsis 0 is no limit; to GDAL it leaves the targets alone.
            const double least = std::min(request_.spacing[0], request_.spacing[1]) / 2;
            options.max_distance = *request_.max_distance > least ? *request_.max_distance : least;
        }
        return options;
    }

    /// From distances to what is written.
    void finish(size_t begin, size_t count) {
        float *const pixels = &distance_[begin];
        const double scale = request_.scale;
        const bool has_fixed = request_.fixed.has_value();
        const float nodata = request_.nodata, fixed = static_cast<float>(request_.fixed.value_or(0));
        for (size_t i = 0; i < count; ++i) {
            const float written = has_fixed ? (pixels[i] > 0 ? fixed : 0) : static_cast<float>(pixels[i] * scale);
            pixels[i] = pixels[i] <= FLT_MAX ? written : nodata;
        }
        for (size_t i = 0; is_hidden_ && i < count; ++i)
            if (is_hidden_[begin + i]) pixels[i] = nodata;
    }

    const GDALRasterBandH source_, target_;
    const Request &request_;
    Meter &meter_;
    Apsis apsis_;
    const int width_, height_, strip_;
    std::unique_ptr<uint8_t[]> is_target_, is_hidden_;  // of a strip
    std::unique_ptr<float[]> distance_;
    std::vector<int> values_;  // of a piece
};

void compute_proximity(GDALRasterBandH source, GDALRasterBandH target, char **options, Meter &meter) {
    if (!source || !target) fail(CPLE_ObjectNull, "A band is NULL in GDALComputeProximity");
    const Request request = read_request(source, target, options);
    if (GDALGetRasterBandXSize(source) != GDALGetRasterBandXSize(target) ||
        GDALGetRasterBandYSize(source) != GDALGetRasterBandYSize(target))
        fail(CPLE_AppDefined, "Source and proximity bands are not the same size.");
    meter.reach(0);
    Proximity(source, target, request, meter).run();
}

}  // namespace
}  // namespace apsis_gdal

CPLErr CPL_STDCALL GDALComputeProximity(GDALRasterBandH source, GDALRasterBandH target, char **options,
                                        GDALProgressFunc progress, void *user) {
    try {
        apsis_gdal::Meter meter(progress, user);
        apsis_gdal::compute_proximity(source, target, options, meter);
        return CE_None;
    } catch (const apsis_gdal::Failure &) {
    } catch (const std::bad_alloc &) {
        CPLError(CE_Failure, CPLE_OutOfMemory, "No memory for a strip of the raster");
    } catch (...) {
        CPLError(CE_Failure, CPLE_AppDefined, "An unknown exception in apsis_gdal");
    }
    return CE_Failure;
}
