// The slabs of several devices, and whether rows of their maps are those that the CPU gives, where nothing gives all of them.
#pragma once

#include <apsis.h>

#include <algorithm>
#include <utility>
#include <vector>

#include "whole_image.h"

constexpr int64_t CHECKED_ROWS = 8;      // on each side of a cut
constexpr int64_t NUMBERED_ROWS = 4096;  // by the CPU at once

inline void check(apsis_context *context, apsis_status status) {
    if (status != APSIS_OK) die(apsis_message(context));
}

/// A number for each column: in device memory or, page-locked if the context's device can do that, in the host's.
class Rows {
  public:
    void resize(apsis_context *context, apsis_memory memory, int64_t columns) {
        if (image_.size[0] == columns && image_.memory == memory) return;
        free(context);
        image_.type = APSIS_I64;
        image_.ndim = 2;
        image_.size[0] = columns, image_.size[1] = 1;
        check(context, apsis_alloc(context, memory, &image_));
    }
    void free(apsis_context *context) {
        if (image_.data) apsis_free(context, &image_);
        image_ = {};
    }
    int64_t columns() const { return image_.size[0]; }
    int64_t *data() const { return static_cast<int64_t *>(image_.data); }

  private:
    apsis_image image_ = {};
};

/// A device, and its slab.
struct Worker {
    apsis_context *context = nullptr;
    apsis_image set = {}, distance = {}, nearest = {}, labels = {};
    int64_t start = 0, rows = 0;
    bool fits = true;   // what it was asked last, of components
    Rows first, last;   // of distances, and of components
    Rows above, below;  // of distances
    std::vector<apsis_part> parts;
    apsis_slab_labels told = {};

    /// Rows of a map of its slab, on the host.
    std::vector<uint8_t> read(const Whole &whole, const apsis_image &map, int64_t at, int64_t count) const {
        const size_t row = static_cast<size_t>(whole.columns()) * pixel_bytes(map.type);
        std::vector<uint8_t> bytes(row * static_cast<size_t>(count));
        apsis_image from = whole.rows_of(map.type, count), to = from;
        from.data = static_cast<uint8_t *>(map.data) + row * static_cast<size_t>(at);
        from.memory = memory();
        to.data = bytes.data();
        check(context, apsis_copy(context, &from, &to));
        return bytes;
    }
    apsis_memory memory() const { return apsis_device(context) == APSIS_CPU ? APSIS_HOST : APSIS_DEVICE; }
    void free_images() {
        for (apsis_image *each : {&set, &distance, &nearest, &labels}) apsis_free(context, each);
        for (Rows *each : {&first, &last, &above, &below}) each->free(context);
    }
};

/// Rows beside the cuts between the slabs of some workers, the first rows and the last.
struct CheckedRows {
    apsis_context *cpu;
    Whole &whole;
    const std::vector<Worker> &workers;

    /// Whether the rows beside the cuts, the first and the last, are those that the CPU gives.
    bool are_rows_right(bool has_nearest, size_t devices) {
        bool right = true;
        for (size_t i = 0; i < devices; ++i) {
            const Worker &w = workers[i];
            const int64_t count = std::min(CHECKED_ROWS, w.rows);
            for (const int64_t at : {int64_t(0), w.rows - count}) right = right && are_rows_right(has_nearest, w, at, count);
        }
        return right;
    }

    /// Whether the labels beside the cuts, of the first rows and of the last, are those that the CPU gives by slabs of its own.
    bool are_labels_right(size_t devices) {
        struct Slab {
            const Worker *compared;
            apsis_slab_labels told;
            std::vector<int64_t> first, last;
        };
        std::vector<Slab> slabs;
        const auto columns = static_cast<size_t>(whole.columns());
        const auto add = [&](const Worker &w, int64_t from, int64_t to, bool compared) {
            Slab slab = {compared ? &w : nullptr, {}, std::vector<int64_t>(columns), std::vector<int64_t>(columns)};
            slab.told.start = w.start + from, slab.told.rows = to - from;
            slabs.push_back(std::move(slab));
        };
        for (size_t i = 0; i < devices; ++i) {
            const Worker &w = workers[i];
            const int64_t count = std::min(CHECKED_ROWS, w.rows / 2);
            add(w, 0, count, true);
            for (int64_t from = count, to; from < w.rows - count; from = to)
                add(w, from, to = std::min(from + NUMBERED_ROWS, w.rows - count), false);
            add(w, w.rows - count, w.rows, true);
        }
        std::vector<apsis_slab_labels> told;
        for (Slab &slab : slabs) {
            slab.told.first = slab.first.data(), slab.told.last = slab.last.data();
            const apsis_image set = whole.host(slab.told.start, slab.told.rows);
            check(cpu, apsis_slab_parts(cpu, &set, &slab.told, NULL));
            told.push_back(slab.told);
        }
        int64_t count;
        check(cpu, apsis_slab_join(cpu, whole.ndim, whole.size, told.data(), static_cast<int64_t>(told.size()), NULL, 0, &count,
                                   NULL));
        bool right = true;
        for (size_t k = 0; k < slabs.size(); ++k) {
            if (!slabs[k].compared) continue;
            const Worker &w = *slabs[k].compared;
            const apsis_image set = whole.host(told[k].start, told[k].rows);
            const std::vector<uint8_t> found = w.read(whole, w.labels, told[k].start - w.start, told[k].rows);
            std::vector<uint8_t> expected(found.size());
            apsis_image labels = whole.rows_of(w.labels.type, told[k].rows);
            labels.data = expected.data();
            check(cpu, apsis_slab_components(cpu, &set, &told[k], &labels, NULL));
            right = right && expected == found;
        }
        return right;
    }

  private:
    bool are_rows_right(bool has_nearest, const Worker &w, int64_t at, int64_t count) {
        const int64_t start = w.start + at;
        const std::vector<int64_t> above = whole.nearest_rows(start, -1), below = whole.nearest_rows(start + count, 1);
        const apsis_slab place = {start, whole.rows(), above.data(), below.data(), NULL, NULL};
        const apsis_image set = whole.host(start, count);
        const struct {
            const apsis_image &of;
            bool is_wanted;
        } outputs[] = {{w.distance, true}, {w.nearest, has_nearest}};
        std::vector<uint8_t> expected[2], found[2];
        apsis_image images[2];
        for (int k = 0; k < 2; ++k) {
            if (!outputs[k].is_wanted) continue;
            found[k] = w.read(whole, outputs[k].of, at, count);
            expected[k].resize(found[k].size());
            images[k] = whole.rows_of(outputs[k].of.type, count);
            images[k].data = expected[k].data();
        }
        check(cpu, apsis_slab_distance(cpu, &set, &place, &images[0], has_nearest ? &images[1] : NULL, NULL));
        return expected[0] == found[0] && expected[1] == found[1];
    }
};
