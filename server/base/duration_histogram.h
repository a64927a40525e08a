// Counts durations by fixed buckets. Thread-safe and without locks: an observation is two additions
// to atomic integers.
#ifndef GRIDFOLD_SERVER_BASE_DURATION_HISTOGRAM_H_
#define GRIDFOLD_SERVER_BASE_DURATION_HISTOGRAM_H_

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>

namespace gridfold::server {

class DurationHistogram {
 public:
  // A bucket holds the durations up to its bound, the bound included: 1, 2 and 5 of each decade,
  // from a small job's kernel to what callers wait for at most. Longer ones have a bucket of their
  // own.
  static constexpr std::array<std::chrono::nanoseconds, 22> kBounds = [] {
    std::array<std::chrono::nanoseconds, 22> bounds;
    std::chrono::nanoseconds decade = std::chrono::microseconds(10);
    for (size_t i = 0; i < bounds.size(); ++i) {
      const std::array<int, 3> steps = {1, 2, 5};
      bounds[i] = decade * steps[i % steps.size()];
      if (i % steps.size() == steps.size() - 1) decade *= 10;
    }
    return bounds;
  }();
  static_assert(kBounds.back() == std::chrono::seconds(100));

  struct Snapshot {
    std::array<uint64_t, kBounds.size() + 1> counts;  // Not cumulative.
    std::chrono::nanoseconds sum;
  };

  void Observe(std::chrono::nanoseconds duration) {
    const auto* const bucket = std::lower_bound(kBounds.begin(), kBounds.end(), duration);
    counts_[bucket - kBounds.begin()].fetch_add(1, std::memory_order_relaxed);
    sum_ns_.fetch_add(duration.count(), std::memory_order_relaxed);
  }

  // Of observations under way, count and sum may each be in it or not.
  Snapshot Read() const {
    Snapshot snapshot;
    for (size_t i = 0; i < counts_.size(); ++i) {
      snapshot.counts[i] = counts_[i].load(std::memory_order_relaxed);
    }
    snapshot.sum = std::chrono::nanoseconds(sum_ns_.load(std::memory_order_relaxed));
    return snapshot;
  }

 private:
  std::array<std::atomic<uint64_t>, kBounds.size() + 1> counts_{};
  std::atomic<int64_t> sum_ns_ = 0;
};

}  // namespace gridfold::server

#endif  // GRIDFOLD_SERVER_BASE_DURATION_HISTOGRAM_H_
