#include "client/load/measure/latency_histogram.h"

#include <algorithm>
#include <bit>
#include <cmath>

namespace gridfold::load {

size_t LatencyHistogram::IndexOf(int64_t time_ns) {
  const auto value = static_cast<uint64_t>(std::clamp<int64_t>(time_ns, 0, kTrackedMaxNs - 1));
  // Bits that the bucket does not tell apart.
  const int dropped_bits = std::max<int>(0, std::bit_width(value) - 1 - kBucketsPerOctaveLog2);
  return static_cast<size_t>(dropped_bits) * kBucketsPerOctave + (value >> dropped_bits);
}

int64_t LatencyHistogram::LowerNs(size_t index) {
  const auto place = static_cast<int64_t>(index);
  if (place < 2 * kBucketsPerOctave) return place;
  const int64_t dropped_bits = place / kBucketsPerOctave - 1;
  return (place - dropped_bits * kBucketsPerOctave) << dropped_bits;
}

void LatencyHistogram::Record(int64_t time_ns, uint64_t count) {
  if (count == 0) return;
  time_ns = std::max<int64_t>(time_ns, 0);
  counts_[IndexOf(time_ns)] += count;
  min_ns_ = count_ == 0 ? time_ns : std::min(min_ns_, time_ns);
  max_ns_ = std::max(max_ns_, time_ns);
  sum_ns_ += static_cast<double>(time_ns) * static_cast<double>(count);
  count_ += count;
}

void LatencyHistogram::Merge(const LatencyHistogram& other) {
  if (other.count_ == 0) return;
  for (size_t i = 0; i < kBucketCount; ++i) counts_[i] += other.counts_[i];
  min_ns_ = count_ == 0 ? other.min_ns_ : std::min(min_ns_, other.min_ns_);
  max_ns_ = std::max(max_ns_, other.max_ns_);
  sum_ns_ += other.sum_ns_;
  count_ += other.count_;
}

int64_t LatencyHistogram::QuantileNs(double quantile) const {
  if (count_ == 0) return 0;
  const auto rank = std::clamp<uint64_t>(
      static_cast<uint64_t>(std::ceil(quantile * static_cast<double>(count_))), 1, count_);
  if (rank == count_) return max_ns_;
  uint64_t seen = 0;
  for (size_t i = 0; i < kBucketCount; ++i) {
    seen += counts_[i];
    if (seen >= rank) {
      const int64_t middle_ns = (LowerNs(i) + LowerNs(i + 1) - 1) / 2;
      return std::clamp(middle_ns, min_ns_, max_ns_);
    }
  }
  return max_ns_;
}

std::vector<LatencyHistogram::Bucket> LatencyHistogram::buckets() const {
  std::vector<Bucket> held;
  for (size_t i = 0; i < kBucketCount; ++i) {
    if (counts_[i] > 0) held.push_back({LowerNs(i), LowerNs(i + 1), counts_[i]});
  }
  return held;
}

}  // namespace gridfold::load
