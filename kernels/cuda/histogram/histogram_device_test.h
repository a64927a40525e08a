// What tests of histograms on device spans share: samples, a fixture that counts them by each
// strategy, and the expected answer by a loop that compares samples with edges as long doubles,
// which hold both exactly.
#ifndef GRIDFOLD_KERNELS_CUDA_HISTOGRAM_HISTOGRAM_DEVICE_TEST_H_
#define GRIDFOLD_KERNELS_CUDA_HISTOGRAM_HISTOGRAM_DEVICE_TEST_H_

#include <algorithm>
#include <cmath>
#include <random>
#include <utility>
#include <vector>

#include "gtest/gtest.h"
#include "kernels/cuda/device/status.h"
#include "kernels/cuda/histogram/histogram.h"
#include "kernels/cuda/lane/device_test.h"
#include "kernels/numerics/arithmetic/element.h"

namespace gridfold::kernels::cuda {

// What is counted: arrays of one type, and of weights.
template <class T>
struct Samples {
  std::vector<T> x = {};
  std::vector<T> y = {};            // Two dimensions only.
  std::vector<float> weights = {};  // Where the spec has weights.
  uint64_t misalignment = 0;
  uint64_t y_misalignment = misalignment;
};

class HistogramDeviceTest : public DeviceTest {
 protected:
  template <class T>
  absl::StatusOr<HistogramResult> Count(const HistogramSpec& spec, const Samples<T>& samples,
                                        const HistogramOverrides& overrides) {
    const auto plan = PlanHistogram(ArrayDescription::Vector(kElementTypeOf<T>, samples.x.size()),
                                    spec, uint64_t{1} << 30);
    if (!plan.ok()) return plan.status();
    const DeviceArray<T> x{std::span(samples.x), samples.misalignment};
    const DeviceArray<T> y{std::span(samples.y), samples.y_misalignment};
    const DeviceArray<float> weights{std::span(samples.weights), samples.misalignment};
    const DeviceHistogramInput input{
        {x.data(), x.size()}, {y.data(), y.size()}, {weights.data(), weights.size()}};
    return Count(*plan, input, overrides);
  }

  absl::StatusOr<HistogramResult> Count(const HistogramPlan& plan,
                                        const DeviceHistogramInput& input,
                                        const HistogramOverrides& overrides) {
    const DeviceArray<std::byte> memory(HistogramScratchBytes(plan));
    Scratch scratch(memory.data(), memory.size());
    Synchronize();
    auto counted = LaunchHistogram(plan, input, scratch, properties(), stream(), overrides);
    Synchronize();
    if (!counted.ok()) return counted.status();
    EXPECT_EQ(counted->strategy.method, overrides.method.value_or(counted->strategy.method));
    return CollectHistogram(plan, *std::move(counted),
                            [](const void* from, std::span<const MutableHostSpan> to) {
                              return CopySpans(static_cast<const std::byte*>(from), to);
                            });
  }

  // Calls check(result) for each strategy that can hold the bins, and for the best one.
  template <class T, class Check>
  void ForEachMethod(const HistogramSpec& spec, const Samples<T>& samples, Check&& check) {
    for (const HistogramMethod method : kHistogramMethods) {
      for (const uint64_t samples_per_flush : {uint64_t{1} << 31, uint64_t{20'000}}) {
        SCOPED_TRACE(testing::Message() << HistogramMethodName(method) << ", " << samples_per_flush
                                        << " samples before a flush");
        const auto result = Count(spec, samples, {method, samples_per_flush});
        if (result.status().code() == absl::StatusCode::kFailedPrecondition) continue;
        ASSERT_TRUE(result.ok()) << result.status();
        check(*result);
        if (HasFailure()) return;
      }
    }
    const auto result = Count(spec, samples, {});
    ASSERT_TRUE(result.ok()) << result.status();
    check(*result);
  }

 private:
  static absl::Status CopySpans(const std::byte* from, std::span<const MutableHostSpan> to) {
    for (const MutableHostSpan& span : to) {
      GRIDFOLD_RETURN_IF_CUDA_ERROR(
          cudaMemcpy(span.data, from, span.size_bytes, cudaMemcpyDeviceToHost));
      from += span.size_bytes;
    }
    return absl::OkStatus();
  }
};

// One channel's answer by a loop.
struct Expected {
  std::vector<uint64_t> counts;
  std::vector<double> weight_sums;
  uint64_t underflow = 0;
  uint64_t overflow = 0;
  uint64_t nan = 0;
};

// The bin by exact comparison; -1 below, -2 above.
inline int64_t BinOf(long double x, const std::vector<double>& edges) {
  if (x < edges.front()) return -1;
  if (x > edges.back()) return -2;
  const auto above = std::upper_bound(edges.begin(), edges.end(), x);
  return std::min<int64_t>(above - edges.begin(), edges.size() - 1) - 1;
}

template <class T>
long double ToLongDouble(T x) {
  return static_cast<long double>(ToCompute(x));
}

// `edges` are those that the answer holds.
template <class T>
Expected LoopCounts(const Samples<T>& samples, uint64_t channel, uint64_t channel_count,
                    const std::vector<double>& edges, OutOfRangePolicy policy) {
  Expected expected;
  expected.counts.resize(edges.size() - 1);
  expected.weight_sums.resize(edges.size() - 1);
  for (uint64_t i = channel; i < samples.x.size(); i += channel_count) {
    const long double x = ToLongDouble(samples.x[i]);
    if (std::isnan(x)) {
      ++expected.nan;
      continue;
    }
    int64_t bin = BinOf(x, edges);
    expected.underflow += bin == -1 ? 1 : 0;
    expected.overflow += bin == -2 ? 1 : 0;
    if (bin < 0 && policy == OutOfRangePolicy::kDrop) continue;
    if (bin < 0) bin = bin == -1 ? 0 : static_cast<int64_t>(edges.size()) - 2;
    ++expected.counts[bin];
    if (!samples.weights.empty()) expected.weight_sums[bin] += samples.weights[i];
  }
  return expected;
}

// The same of pairs, whose bins stand row by row.
template <class T>
Expected LoopPairs(const Samples<T>& samples, const std::vector<double>& x_edges,
                   const std::vector<double>& y_edges, OutOfRangePolicy policy) {
  const int64_t x_bins = static_cast<int64_t>(x_edges.size()) - 1;
  const int64_t y_bins = static_cast<int64_t>(y_edges.size()) - 1;
  Expected expected;
  expected.counts.resize(x_bins * y_bins);
  for (size_t i = 0; i < samples.x.size(); ++i) {
    const long double x = ToLongDouble(samples.x[i]);
    const long double y = ToLongDouble(samples.y[i]);
    if (std::isnan(x) || std::isnan(y)) {
      ++expected.nan;
      continue;
    }
    int64_t x_bin = BinOf(x, x_edges);
    int64_t y_bin = BinOf(y, y_edges);
    const int64_t outside = x_bin < 0 ? x_bin : y_bin;
    expected.underflow += outside == -1 ? 1 : 0;
    expected.overflow += outside == -2 ? 1 : 0;
    if (outside < 0 && policy == OutOfRangePolicy::kDrop) continue;
    if (x_bin < 0) x_bin = x_bin == -1 ? 0 : x_bins - 1;
    if (y_bin < 0) y_bin = y_bin == -1 ? 0 : y_bins - 1;
    ++expected.counts[x_bin * y_bins + y_bin];
  }
  return expected;
}

inline void ExpectChannel(const HistogramCounts& actual, const Expected& expected, bool weighted) {
  EXPECT_EQ(actual.underflow_count, expected.underflow);
  EXPECT_EQ(actual.overflow_count, expected.overflow);
  EXPECT_EQ(actual.nan_count, expected.nan);
  if (weighted) {
    EXPECT_TRUE(actual.weight_sums == expected.weight_sums) << "sums of weights differ";
  } else {
    EXPECT_TRUE(actual.counts == expected.counts) << "counts differ";
  }
}

enum class Distribution { kUniform, kConstant, kSkewed, kSorted };
inline constexpr Distribution kDistributions[] = {Distribution::kUniform, Distribution::kConstant,
                                                  Distribution::kSkewed, Distribution::kSorted};

// Samples of [lower, upper], a fiftieth of them a little outside.
template <class T>
std::vector<T> MakeSamples(Distribution distribution, uint64_t count, double lower, double upper) {
  std::mt19937_64 random(count);
  std::uniform_real_distribution<double> unit(-0.01, 1.01);
  std::vector<T> values(count);
  for (uint64_t i = 0; i < count; ++i) {
    double u = unit(random);
    if (distribution == Distribution::kConstant) u = 0.37;
    if (distribution == Distribution::kSkewed) u = std::pow(u, 6);
    if (distribution == Distribution::kSorted)
      u = static_cast<double>(i) / static_cast<double>(count);
    const double x = lower + u * (upper - lower);
    if constexpr (HalfElement<T>) {
      values[i] = T::FromDouble(x);
    } else {
      values[i] = static_cast<T>(x);
    }
  }
  return values;
}

inline HistogramSpec SpecOf(std::vector<BinSpec> bins) {
  HistogramSpec spec;
  spec.bins = std::move(bins);
  return spec;
}

}  // namespace gridfold::kernels::cuda

#endif  // GRIDFOLD_KERNELS_CUDA_HISTOGRAM_HISTOGRAM_DEVICE_TEST_H_
