// The range of the finite samples of each channel, for bins with an automatic range.
#ifndef GRIDFOLD_KERNELS_CPU_HISTOGRAM_SAMPLE_RANGE_H_
#define GRIDFOLD_KERNELS_CPU_HISTOGRAM_SAMPLE_RANGE_H_

#include <algorithm>
#include <cstdint>
#include <optional>
#include <vector>

#include "absl/status/status.h"
#include "kernels/cpu/base/job_context.h"
#include "kernels/cpu/histogram/input.h"
#include "kernels/numerics/arithmetic/element.h"
#include "kernels/numerics/bins/layout.h"

namespace gridfold::kernels::cpu {

template <class T>
struct SampleRange {
  bool empty = true;
  ComputeType<T> smallest{};
  ComputeType<T> largest{};

  void Add(ComputeType<T> x) { Merge({false, x, x}); }
  void Merge(const SampleRange& other) {
    if (other.empty) return;
    if (empty || other.smallest < smallest) smallest = other.smallest;
    if (empty || other.largest > largest) largest = other.largest;
    empty = false;
  }
};

// Ranges of the channels of interleaved samples: sample i belongs to channel i % channel_count.
template <class T>
absl::Status FindSampleRanges(const std::byte* samples, uint64_t count, uint64_t channel_count,
                              JobContext& job, std::vector<SampleRange<T>>& ranges) {
  constexpr uint64_t kPiecesMax = 64;
  constexpr uint64_t kPieceSamplesMin = 1 << 16;
  const uint64_t rows = count / channel_count;
  const uint64_t pieces =
      std::clamp<uint64_t>(count / std::max(kPieceSamplesMin, 4 * channel_count), 1, kPiecesMax);
  const uint64_t rows_per_piece = (rows + pieces - 1) / pieces;
  std::vector<SampleRange<T>> found(pieces * channel_count);
  const absl::Status status = job.ForEach(pieces, [&](uint64_t piece) {
    const uint64_t end = std::min((piece + 1) * rows_per_piece, rows);
    for (uint64_t row = piece * rows_per_piece; row < end; ++row) {
      for (uint64_t c = 0; c < channel_count; ++c) {
        const auto x = ToCompute(LoadUnaligned<T>(samples, row * channel_count + c));
        if (IsNan(x) || IsInfinite(x)) continue;
        found[piece * channel_count + c].Add(x);
      }
    }
  });
  ranges.assign(channel_count, {});
  for (size_t i = 0; i < found.size(); ++i) ranges[i % channel_count].Merge(found[i]);
  return status;
}

template <class T>
absl::Status ResolveRange(const SampleRange<T>& range, PlannedBins& bins) {
  if (range.empty) return ResolveAutomaticRange(std::nullopt, std::nullopt, bins);
  return ResolveAutomaticRange(LowerBoundFor(range.smallest), UpperBoundFor(range.largest), bins);
}

// Sets the automatic ranges among `bins`, those of the plan.
template <class T>
absl::Status ResolveRanges(const HistogramPlan& plan, const HostHistogramInput& input,
                           JobContext& job, std::vector<PlannedBins>& bins) {
  const uint64_t count = plan.array.element_count;
  job.statistics.bytes_read += plan.array.size_bytes();
  std::vector<SampleRange<T>> ranges;
  absl::Status status =
      FindSampleRanges<T>(input.array.data, count, plan.channel_count, job, ranges);
  if (status.ok() && plan.two_dimensional) {
    job.statistics.bytes_read += plan.array.size_bytes();
    std::vector<SampleRange<T>> y_range;
    status = FindSampleRanges<T>(input.y_array.data, count, 1, job, y_range);
    ranges.push_back(y_range.front());
  }
  for (size_t c = 0; c < bins.size() && status.ok(); ++c) {
    if (bins[c].automatic_range) status = ResolveRange(ranges[c], bins[c]);
  }
  return status;
}

}  // namespace gridfold::kernels::cpu

#endif  // GRIDFOLD_KERNELS_CPU_HISTOGRAM_SAMPLE_RANGE_H_
