// Exact sums of the next elements of a strip up to wherever one of its segments ends: a turn. A
// segment's sum is the difference of two of them, however many segments there are and wherever they
// begin, and all lanes have as many elements to add.
#ifndef GRIDFOLD_KERNELS_CUDA_REDUCE_STRIP_PREFIXES_CUH_
#define GRIDFOLD_KERNELS_CUDA_REDUCE_STRIP_PREFIXES_CUH_

#include <bit>
#include <cstdint>
#include <limits>

#include "kernels/cuda/reduce_batches.cuh"
#include "kernels/cuda/reduce_merge.cuh"
#include "kernels/cuda/reduce_pairs.cuh"
#include "kernels/cuda/reduce_strip_window.cuh"
#include "kernels/cuda/reduce_tuning.h"

namespace gridfold::kernels::cuda {

// Adds a lane's number to that of the lane `distance` above it, if there is one. The shuffle's own
// predicate says so; compared with the lane's rank, sums would be chosen by two instructions more.
__device__ inline void AddLaneBelow(uint32_t distance, double& sum) {
  asm volatile(
      "{\n"
      "  .reg .pred exists;\n"
      "  .reg .b32 low, high;\n"
      "  .reg .f64 other;\n"
      "  mov.b64 {low, high}, %0;\n"
      "  shfl.sync.up.b32 low, low, %1, 0, -1;\n"
      "  shfl.sync.up.b32 high|exists, high, %1, 0, -1;\n"
      "  mov.b64 other, {low, high};\n"
      "  @exists add.rn.f64 %0, %0, other;\n"
      "}"
      : "+d"(sum)
      : "r"(distance));
}

// Functions are called by all lanes of a warp.
template <class T>
class StripPrefixes {
 public:
  static constexpr uint32_t kSize = kVectorSize<T>;
  static constexpr uint32_t kLaneVectors = StripTuning::kLaneVectors;
  static constexpr uint32_t kVectors = kLaneVectors * ReduceTuning::kWarpThreads;
  static constexpr uint32_t kElements = kVectors * kSize;  // Of a turn.
  static constexpr uint32_t kPairs = kVectors / 2;
  static_assert(kElements <= StripWindow<T>::kSpanMax);
  // Neighbouring lanes' vectors are in different banks.
  static_assert(kLaneVectors % 2 == 1);

  // Of what precedes each vector. Pairs, where doubles do not hold the sums, are of half as many
  // vectors, those of the first lanes: upper parts, then lower ones.
  using Memory = double[kVectors];

  __device__ StripPrefixes(const Warp& warp, const StripWindow<T>& window, Memory& memory)
      : warp_(warp), window_(window), memory_(memory) {}

  // Begins a turn at the vector at place `first`, of which and of all others elements before place
  // `begin` are not counted, nor those from `end` on. Requires that the turn's were waited for.
  __device__ void Begin(uint32_t first, uint32_t begin, uint32_t end, StripWindow<T>& window) {
    first_ = first;
    const uint32_t cleared = first + warp_.thread_rank();
    if (cleared < begin) window.ElementAt(cleared) = NoElements().values[0];
    warp_.sync();
    uint4 raw[kLaneVectors];
    LoadLane(end, raw);
    double sums[kLaneVectors];
    MagnitudeRange range;
#pragma unroll
    for (uint32_t v = 0; v < kLaneVectors; ++v) {
      const auto batch = BatchOf<T>(raw[v]);
      double halves[2];
#pragma unroll
      for (uint32_t i = 0; i < kSize; ++i) {
        range.Add(MagnitudeBits(batch.values[i]));
        const double x = static_cast<double>(batch.values[i]);
        halves[i % 2] = i < 2 ? x : halves[i % 2] + x;
      }
      sums[v] = halves[0] + halves[1];
    }
    range_ = RangeOfWarp(range);
    is_plain_ = DoubleHolds<kElements>(range_) &&
                range_.largest < __float_as_uint(std::numeric_limits<float>::infinity());
    holds_ = is_plain_ || SumsHold(range_);
    limit_ = first + kElements;
    if (is_plain_) {
      ScanDoubles(sums);
    } else if (holds_) {
      limit_ = first + kElements / 2;
      ScanPairs(raw);
    }
    warp_.sync();
  }

  // Where the turn ends.
  __device__ uint32_t limit() const { return limit_; }
  // Whether sums are exact. If not, there are none.
  __device__ bool holds() const { return holds_; }
  // Whether they are exact as doubles. So are their differences then.
  __device__ bool is_plain() const { return is_plain_; }
  __device__ const MagnitudeRange& range() const { return range_; }
  // Of all elements.
  __device__ PairSum Total() const { return OfLane(to_lane_, ReduceTuning::kWarpThreads - 1); }
  // Of all elements before a place of the lane's own that is in the turn: the turn's first, where
  // sums are not exact.
  __device__ PairSum To(uint32_t place) const {
    const uint32_t vector = (place - first_) / kSize;
    const uint32_t rest = place % kSize;
    const auto batch = BatchOf<T>(*reinterpret_cast<const uint4*>(window_.At(place - rest)));
    PairSum sum{memory_[vector], 0};
    if (is_plain_) {
#pragma unroll
      for (uint32_t i = 0; i + 1 < kSize; ++i) {
        sum.high += static_cast<double>(i < rest ? batch.values[i] : -0.0f);
      }
      return sum;
    }
    sum.low = memory_[kPairs + vector];
#pragma unroll
    for (uint32_t i = 0; i + 1 < kSize; ++i) {
      if (i < rest) sum.Add(static_cast<double>(batch.values[i]));
    }
    return sum;
  }
  // That of another lane.
  __device__ PairSum OfLane(const PairSum& sum, uint32_t lane) const {
    return {warp_.shfl(sum.high, lane), is_plain_ ? 0.0 : warp_.shfl(sum.low, lane)};
  }

  // Whether pairs hold the sums of a segment with elements of a range, which is whatever lies in
  // the turns that have some of it: of those turns' other elements they are the sums too, and
  // again, negative.
  __device__ static bool SumsHold(const MagnitudeRange& range) {
    constexpr uint32_t kCount = 2 * StripTuning::kSegmentElementsMax + 4 * kElements;
    constexpr uint32_t kTurns = StripTuning::kSegmentElementsMax / kElements + 2;
    // A lane's elements and vectors, lanes, and what is before an end in its vector.
    constexpr uint32_t kChain = kLaneVectors * (kSize + 1) + ReduceTuning::kWarpThreads + kSize;
    return PairHolds(SpanBits(range), kCount, kChain + 2 * kTurns);
  }

 private:
  struct Elements {
    T values[kSize];
  };

  // They add nothing.
  __device__ static Elements NoElements() { return std::bit_cast<Elements>(NegativeZeros<T>()); }

  __device__ void LoadLane(uint32_t end, uint4 (&raw)[kLaneVectors]) const {
    const uint32_t place = first_ + warp_.thread_rank() * (kLaneVectors * kSize);
    const uint4* const vectors = reinterpret_cast<const uint4*>(window_.At(place));
#pragma unroll
    for (uint32_t v = 0; v < kLaneVectors; ++v) raw[v] = vectors[v];
    if (first_ + kElements <= end) return;
#pragma unroll
    for (uint32_t v = 0; v < kLaneVectors; ++v) {
      const uint32_t at = place + v * kSize;
      raw[v] = FirstOf(raw[v], end > at ? end - at : 0);
    }
  }
  // The first `count` elements of a vector; the others add nothing.
  __device__ static uint4 FirstOf(const uint4& raw, uint32_t count) {
    Elements elements = std::bit_cast<Elements>(raw);
#pragma unroll
    for (uint32_t i = 0; i < kSize; ++i) {
      if (i >= count) elements.values[i] = NoElements().values[i];
    }
    return std::bit_cast<uint4>(elements);
  }

  __device__ void ScanDoubles(const double (&sums)[kLaneVectors]) {
    double sum = sums[0];
#pragma unroll
    for (uint32_t v = 1; v < kLaneVectors; ++v) sum += sums[v];
    const double of_lane = sum;
#pragma unroll
    for (uint32_t distance = 1; distance < ReduceTuning::kWarpThreads; distance *= 2) {
      AddLaneBelow(distance, sum);
    }
    to_lane_ = {sum, 0};
    double before = sum - of_lane;
    double* const of_lane_vectors = memory_ + warp_.thread_rank() * kLaneVectors;
#pragma unroll
    for (uint32_t v = 0; v < kLaneVectors; ++v) {
      of_lane_vectors[v] = before;
      before += sums[v];
    }
  }

  __device__ void ScanPairs(uint4 (&raw)[kLaneVectors]) {
    const uint32_t first = warp_.thread_rank() * kLaneVectors;
    const uint32_t vectors = first < kPairs ? kLaneVectors : 0;
    double* const high = memory_ + first;
    double* const low = high + kPairs;
    PairSum sum;
    ForEachVector(raw, vectors, [&](const uint4& vector, uint32_t v) {
      high[v] = sum.high;
      low[v] = sum.low;
      const auto batch = BatchOf<T>(vector);
#pragma unroll
      for (const float x : batch.values) sum.Add(static_cast<double>(x));
    });
    PairSum before;
#pragma unroll 1
    for (uint32_t distance = 1; distance < ReduceTuning::kWarpThreads; distance *= 2) {
      const PairSum other{warp_.shfl_up(sum.high, distance), warp_.shfl_up(sum.low, distance)};
      if (warp_.thread_rank() < distance) continue;
      sum.Merge(other);
      before.Merge(other);
    }
    to_lane_ = sum;
#pragma unroll 1
    for (uint32_t v = 0; v < vectors; ++v) {
      PairSum of_vector = before;
      of_vector.Merge({high[v], low[v]});
      high[v] = of_vector.high;
      low[v] = of_vector.low;
    }
  }

  const Warp& warp_;
  const StripWindow<T>& window_;
  Memory& memory_;
  uint32_t first_ = 0;  // The turn's first place.
  uint32_t limit_ = 0;
  MagnitudeRange range_;
  PairSum to_lane_;  // Of the lane's elements and those before.
  bool is_plain_ = false;
  bool holds_ = false;
};

}  // namespace gridfold::kernels::cuda

#endif  // GRIDFOLD_KERNELS_CUDA_REDUCE_STRIP_PREFIXES_CUH_
