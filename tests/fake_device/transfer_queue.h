// Images through the fake device strip by strip.
//
// Taking strips copies their rows to scratch memory; with the last of them the CPU back end maps the whole image there,
// and giving strips copies rows from that.  Strips out of order, and copies of memory that is not page-locked, are refused.
#pragma once

#include <map>

#include "lanes.h"

namespace fake {

class TransferQueue final : public apsis::TransferQueue {
  public:
    TransferQueue(Lanes &lanes, apsis::Backend &cpu) : lanes_(lanes), cpu_(cpu) {}

    /// The back end's page-locked memory.
    std::map<uintptr_t, size_t> page_locked;

    void copy(apsis::Lane lane, void *to, const void *from, size_t bytes) override;
    bool is_page_locked(const void *data, size_t bytes) const override;

    void mark(apsis::Lane lane, int number) override { lanes_.mark(lane, number); }
    void follow(apsis::Lane lane, int number) override { lanes_.follow(lane, number); }
    void await(int number) override { lanes_.await(number); }

    size_t scratch(const apsis::DistanceJob &job) const override;
    void take(const apsis::DistanceJob &job, const apsis::StripRange &range, void *scratch) override;
    void give(const apsis::DistanceJob &job, const apsis::StripRange &range, void *scratch) override;

  private:
    struct Whole;
    Lanes &lanes_;
    apsis::Backend &cpu_;
    int64_t taken_ = 0;
};

}  // namespace fake
