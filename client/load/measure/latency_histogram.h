// A histogram of times in constant memory.
#ifndef GRIDFOLD_CLIENT_LOAD_MEASURE_LATENCY_HISTOGRAM_H_
#define GRIDFOLD_CLIENT_LOAD_MEASURE_LATENCY_HISTOGRAM_H_

#include <cstddef>
#include <cstdint>
#include <vector>

namespace gridfold::load {

// Log-linear buckets, after HdrHistogram (Gil Tene): each power of two is cut into 128 buckets of
// equal width. A time is told to 0.4 %, and below 128 ns exactly. About 36 KiB, whatever is
// recorded. Not thread-safe.
class LatencyHistogram {
 public:
  // More than an hour; longer times count as this long, but for `max_ns`.
  static constexpr int64_t kTrackedMaxNs = int64_t{1} << 42;

  LatencyHistogram() : counts_(kBucketCount) {}

  // Negative times count as 0.
  void Record(int64_t time_ns, uint64_t count = 1);

  void Merge(const LatencyHistogram& other);

  uint64_t count() const { return count_; }
  // Exact; 0 where nothing is recorded.
  int64_t min_ns() const { return count_ == 0 ? 0 : min_ns_; }
  int64_t max_ns() const { return max_ns_; }
  double mean_ns() const { return count_ == 0 ? 0 : sum_ns_ / static_cast<double>(count_); }

  // The smallest time that at least the part `quantile`, in [0, 1], of all times do not exceed; 0
  // where nothing is recorded.
  int64_t QuantileNs(double quantile) const;

  struct Bucket {
    int64_t lower_ns;  // Included.
    int64_t upper_ns;  // Not included.
    uint64_t count;
  };
  // Those that hold something, in order.
  std::vector<Bucket> buckets() const;

 private:
  static constexpr int kBucketsPerOctaveLog2 = 7;
  static constexpr int64_t kBucketsPerOctave = int64_t{1} << kBucketsPerOctaveLog2;
  static constexpr size_t kBucketCount = (42 - kBucketsPerOctaveLog2 + 1) * kBucketsPerOctave;

  static size_t IndexOf(int64_t time_ns);
  static int64_t LowerNs(size_t index);

  std::vector<uint64_t> counts_;
  uint64_t count_ = 0;
  int64_t min_ns_ = 0;
  int64_t max_ns_ = 0;
  double sum_ns_ = 0;
};

}  // namespace gridfold::load

#endif  // GRIDFOLD_CLIENT_LOAD_MEASURE_LATENCY_HISTOGRAM_H_
