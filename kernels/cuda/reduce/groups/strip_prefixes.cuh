// A warp has exact sums of the first elements of a turn, the next of a strip, up to wherever a
// segment of the strip ends. What a segment has of the turn is the difference of two of these sums,
// however many segments there are and wherever they begin, so that all lanes have as many elements
// to add.
//
// Example: a turn 5 1 2 7 0 3 with segments that end behind its third and fifth elements:
//
//   sums of the first 0, 3, 5 and 6 elements:   0, 8, 15, 18
//   the segments' sums:                         8 - 0, 15 - 8, and 18 - 15, which is still open
#ifndef GRIDFOLD_KERNELS_CUDA_REDUCE_GROUPS_STRIP_PREFIXES_CUH_
#define GRIDFOLD_KERNELS_CUDA_REDUCE_GROUPS_STRIP_PREFIXES_CUH_

#include <cstdint>
#include <limits>

#include "kernels/cuda/reduce/core/batches.cuh"
#include "kernels/cuda/reduce/core/merge.cuh"
#include "kernels/cuda/reduce/core/pairs.cuh"
#include "kernels/cuda/reduce/groups/strip_window.cuh"
#include "kernels/cuda/reduce/plan/tuning.h"

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
  static constexpr uint32_t kElements = StripWindow<T>::kElements;  // Of a turn.
  static_assert(kElements == kVectors * kSize);
  // Neighbouring lanes' vectors are in different banks.
  static_assert(kLaneVectors % 2 == 1);

  // Sums of as many vectors as precede, from none to all. Pairs, where doubles do not hold the
  // sums, are of every other vector: upper parts, then lower ones.
  using Memory = double[kVectors + 1];

  // Takes the window at its begin, an empty turn.
  __device__ StripPrefixes(const Warp& warp, StripWindow<T>& window, Memory& memory)
      : warp_(warp), window_(window), memory_(memory) {
    memory_[0] = 0;
    memory_[kVectors] = 0;
    warp_.sync();
  }

  // Goes on to the next turn.
  __device__ void Next() {
    window_.Next();
    SumVectors();
    if (!is_plain_ && holds_) SumPairs();
    warp_.sync();
    to_begin_ = PairSum();
  }

  // Where the turn begins and ends.
  __device__ uint32_t first() const { return window_.limit() - kElements; }
  __device__ uint32_t limit() const { return window_.limit(); }
  // Whether sums are exact. If not, there are none.
  __device__ bool holds() const { return holds_; }
  __device__ const MagnitudeRange& range() const { return range_; }

  // Adds what the turn has of the lane's segment, which ends at place `end`. It begins where the
  // segment of the lane below ends; that of the first lane where, in the call before this, that of
  // the last lane did. Requires that sums are exact.
  __device__ void AddTo(PairSum& sum, uint32_t end) {
    const int count = min(max(static_cast<int>(end - first()), 0), static_cast<int>(kElements));
    if (is_plain_) {
      // A difference of doubles that are exact is.
      const double to_end = DoubleOf(static_cast<uint32_t>(count));
      sum.Add(to_end - OfLaneBelow(to_end, to_begin_.high));
    } else {
      const PairSum to_end = PairOf(static_cast<uint32_t>(count));
      sum.Merge(to_end);
      sum.Merge(
          {-OfLaneBelow(to_end.high, to_begin_.high), -OfLaneBelow(to_end.low, to_begin_.low)});
    }
  }

  // Whether pairs hold the sums of a segment with elements of a range, which is whatever lies in
  // the turns that have some of it: of those turns' other elements they are the sums too, and
  // again, negative.
  __device__ static bool SumsHold(const MagnitudeRange& range) {
    constexpr uint32_t kCount = 2 * StripTuning::kSegmentElementsMax + 4 * kElements;
    constexpr uint32_t kTurns = StripTuning::kSegmentElementsMax / kElements + 2;
    // A lane's elements and vectors, lanes, and what is between an end and the pair before it.
    constexpr uint32_t kChain =
        kLaneVectors * (kSize + 1) + ReduceTuning::kWarpThreads + kPairVectors * kSize;
    return PairHolds(SpanBits(range), kCount, kChain + 2 * kTurns);
  }

 private:
  static constexpr uint32_t kPairVectors = 2;
  static constexpr uint32_t kPairs = kVectors / kPairVectors;

  // The sum of the turn's first `count` elements.
  __device__ double DoubleOf(uint32_t count) const {
    const uint32_t rest = count % kSize;
    const auto batch = BatchOf<T>(*reinterpret_cast<const uint4*>(window_.At(count - rest)));
    double sum = memory_[count / kSize];
#pragma unroll
    for (uint32_t i = 0; i + 1 < kSize; ++i) {
      sum += static_cast<double>(i < rest ? batch.values[i] : -0.0f);
    }
    return sum;
  }
  __device__ PairSum PairOf(uint32_t count) const {
    const uint32_t pair = min(count / (kPairVectors * kSize), kPairs - 1);
    PairSum sum{memory_[pair], memory_[kPairs + pair]};
#pragma unroll 1
    for (uint32_t i = pair * (kPairVectors * kSize); i < count; ++i) {
      sum.Add(static_cast<double>(ToCompute(*reinterpret_cast<const T*>(window_.At(i)))));
    }
    return sum;
  }

  // The number of the lane below. The first lane's is the last's of the call before.
  __device__ double OfLaneBelow(double x, double& last) const {
    const double below = warp_.shfl(x, warp_.thread_rank() - 1);
    const double of_lane = warp_.thread_rank() == 0 ? last : below;
    last = below;
    return of_lane;
  }

  // Sums as doubles, and whether they, or pairs, are exact.
  __device__ void SumVectors() {
    const uint4* const vectors = LaneVectors();
    double sums[kLaneVectors];
    MagnitudeRange range;
#pragma unroll
    for (uint32_t v = 0; v < kLaneVectors; ++v) {
      const auto batch = BatchOf<T>(vectors[v]);
      double halves[2];
#pragma unroll
      for (uint32_t i = 0; i < kSize; ++i) {
        range.Add(MagnitudeBits(batch.values[i]));
        const double x = static_cast<double>(batch.values[i]);
        halves[i % 2] = i < 2 ? x : halves[i % 2] + x;
      }
      sums[v] = halves[0] + halves[1];
    }
    ScanDoubles(sums);
    range_ = RangeOfWarp(range);
    is_plain_ = DoubleHolds<kElements>(range_) &&
                range_.largest < __float_as_uint(std::numeric_limits<float>::infinity());
    holds_ = is_plain_ || SumsHold(range_);
  }
  // The lane's, one after the other.
  __device__ const uint4* LaneVectors() const {
    return reinterpret_cast<const uint4*>(window_.At(warp_.thread_rank() * (kLaneVectors * kSize)));
  }

  __device__ void ScanDoubles(const double (&sums)[kLaneVectors]) {
    double sum = sums[0];
#pragma unroll
    for (uint32_t v = 1; v < kLaneVectors; ++v) sum += sums[v];
    double before = -sum;
#pragma unroll
    for (uint32_t distance = 1; distance < ReduceTuning::kWarpThreads; distance *= 2) {
      AddLaneBelow(distance, sum);
    }
    before += sum;
    double* const after = memory_ + 1 + warp_.thread_rank() * kLaneVectors;
#pragma unroll
    for (uint32_t v = 0; v + 1 < kLaneVectors; ++v) {
      before += sums[v];
      after[v] = before;
    }
    after[kLaneVectors - 1] = sum;
  }

  // Instead of the doubles.
  __device__ void SumPairs() {
    const uint32_t first = warp_.thread_rank() * kLaneVectors;
    PairSum sum;
    warp_.sync();
#pragma unroll 1
    for (uint32_t v = 0; v < kLaneVectors; ++v) {
      if ((first + v) % kPairVectors == 0) StorePair((first + v) / kPairVectors, sum);
      const auto batch = BatchOf<T>(LaneVectors()[v]);
#pragma unroll
      for (const float x : batch.values) sum.Add(static_cast<double>(x));
    }
    PairSum before;
#pragma unroll 1
    for (uint32_t distance = 1; distance < ReduceTuning::kWarpThreads; distance *= 2) {
      const PairSum other{warp_.shfl_up(sum.high, distance), warp_.shfl_up(sum.low, distance)};
      if (warp_.thread_rank() < distance) continue;
      sum.Merge(other);
      before.Merge(other);
    }
#pragma unroll 1
    for (uint32_t pair = (first + kPairVectors - 1) / kPairVectors;
         pair * kPairVectors < first + kLaneVectors; ++pair) {
      PairSum of_pair = before;
      of_pair.Merge({memory_[pair], memory_[kPairs + pair]});
      StorePair(pair, of_pair);
    }
  }
  __device__ void StorePair(uint32_t pair, const PairSum& sum) {
    memory_[pair] = sum.high;
    memory_[kPairs + pair] = sum.low;
  }

  const Warp& warp_;
  StripWindow<T>& window_;
  Memory& memory_;
  MagnitudeRange range_;
  PairSum to_begin_;  // Of the first lane's segment, in that lane.
  bool is_plain_ = true;
  bool holds_ = true;
};

}  // namespace gridfold::kernels::cuda

#endif  // GRIDFOLD_KERNELS_CUDA_REDUCE_GROUPS_STRIP_PREFIXES_CUH_
