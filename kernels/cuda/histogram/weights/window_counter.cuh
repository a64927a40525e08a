// A block sums weights in windows of words (numerics/sums/weight_window.h) in shared memory.
// Weights that are in no window are added in device memory.
#ifndef GRIDFOLD_KERNELS_CUDA_HISTOGRAM_WEIGHTS_WINDOW_COUNTER_CUH_
#define GRIDFOLD_KERNELS_CUDA_HISTOGRAM_WEIGHTS_WINDOW_COUNTER_CUH_

#include <cstdint>
#include <type_traits>

#include "kernels/cuda/histogram/place/locators.cuh"
#include "kernels/cuda/histogram/place/outcomes.cuh"
#include "kernels/cuda/histogram/plan/block.h"
#include "kernels/cuda/histogram/weights/queue.cuh"
#include "kernels/cuda/histogram/weights/survey.cuh"
#include "kernels/cuda/histogram/weights/turns.cuh"
#include "kernels/cuda/histogram/weights/weights.cuh"
#include "kernels/cuda/histogram/weights/window_weights.cuh"
#include "kernels/cuda/histogram/weights/words.cuh"
#include "kernels/numerics/sums/weight_window.h"

namespace gridfold::kernels::cuda {

// Samples of a block before its sums are added up; and no more than 2^23 with those that are in no
// turn.
inline constexpr uint64_t kSamplesPerFlushMax = (uint64_t{1} << 23) - (uint64_t{1} << 12);

// The placement of a sample that a guess is not sure of. A call, so that what it takes is no burden
// to others.
template <class T>
__device__ __noinline__ Placement ResolveInCall(const HistogramArguments& arguments,
                                                const SamplePoint<T>& point) {
  const AxisLocator<false> locator(arguments);
  return locator.Resolve(locator.Guess(point), point);
}

// With fewer copies of sums, lanes wait for each other where many add to one sum.
inline constexpr uint32_t kSharingCopies = 32;

// Adds the weights of samples of type T, of 4 bytes, to the sums of their bins, which a Locator
// (histogram/place/locators.cuh) finds.
template <class T, class Weights, class Locator = AxisLocator<false>>
class WindowCounter {
 public:
  using Bits = typename Weights::Bits;
  using Queue = WeightQueue<T, Bits>;
  using Row = typename WeightedTurnRange<T, typename Weights::Element>::Row;

  // Lanes add to the sum `frequent_sum` by sums of their own.
  __device__ WindowCounter(const HistogramArguments& arguments, Weights& weights,
                           const BinRange& bins, WeightWords& sums, uint32_t frequent_sum,
                           const Queue& queue, SharedOutcomes& outcomes)
      : arguments_(arguments),
        locator_(arguments),
        weights_(weights),
        bins_(bins),
        sums_(sums),
        idle_sum_(sums.IdleSum()),
        frequent_sum_(frequent_sum),
        queue_(queue),
        totals_(arguments),
        outcomes_(outcomes) {}

  // All lanes of a warp.
  __device__ void Count(const Row& row) {
    uint32_t sums[kSamples];
    uint32_t left = 0;
#pragma unroll
    for (uint32_t j = 0; j < kSamples; ++j) {
      const auto guess = locator_.Guess(PointOf<T>(row.samples, j));
      const uint32_t sum = guess.bin - bins_.first;
      const bool is_sure = locator_.IsSure(guess);
      if (!is_sure) left |= uint32_t{1} << j;
      sums[j] = is_sure & (sum < bins_.count) ? sum : idle_sum_;
    }
    if (AddTogether(row, sums)) return;
    left |= AddEach(row, sums);
    if (__any_sync(~0u, left != 0)) Keep(row, left);
  }

  // Counts any sample and weight, of one thread.
  __device__ void CountSlowly(T x, Bits weight_bits) {
    const SamplePoint<T> point{x, x, 0};
    const auto guess = locator_.Guess(point);
    uint32_t bin = guess.bin;
    if (!locator_.IsSure(guess)) {
      const Placement placement = ResolveInCall(arguments_, point);
      if (placement.outcome != 0 && bins_.is_first()) outcomes_.Count(0, placement.outcome);
      if (placement.bin < 0) return;
      bin = static_cast<uint32_t>(placement.bin);
    }
    const uint32_t sum = bin - bins_.first;
    if (sum >= bins_.count) return;
    const WindowSpot spot = weights_.SpotOf(weight_bits);
    if (spot.is_inside) sums_.Add(sum, spot.word, weights_.UnitsOf(weight_bits, spot));
    if constexpr (kMayNotFit) {
      if (spot.is_outside) weights_.AddOutside(arguments_, bin, weight_bits);
    }
  }

  // All threads of the block.
  __device__ void Flush() {
    EmptyQueue();
    __syncthreads();
    if (frequent_sum_ != kNoFrequentSum && threadIdx.x < kWarpLanes) {
      sums_.MoveIdleSum(frequent_sum_);
    }
    __syncthreads();
    for (uint32_t i = threadIdx.x; i < bins_.count; i += blockDim.x) {
      const uint64_t bin = bins_.first + i;
      if (totals_.Has(bin)) sums_.FlushSum(i, bin, weights_.origin(), totals_);
    }
    if constexpr (kMayNotFit) weights_.FlushOutside(totals_);
    if (arguments_.outcomes != nullptr) outcomes_.Flush(arguments_);
  }

 private:
  static constexpr uint32_t kSamples = kVectorSamples<T>;
  static constexpr bool kMayNotFit = std::is_floating_point_v<typename Weights::Element>;
  // Sums of weights of 8 bits have one word: see kSamplesPerFlushMax.
  static constexpr bool kHaveRests = sizeof(typename Weights::Element) > 1;
  // Samples whose weights are added at once: as many as there are registers for.
  static constexpr uint32_t kBatch = sizeof(Bits) == 8 ? 2 : kSamples;

  __device__ static Bits BitsOf(const Row& row, uint32_t j) {
    return WeightBits<typename Weights::Element>(row.weights, j);
  }

  // Adds all weights of the warp at once, if they are of one sum and alike, as those of sorted
  // samples mostly are; else false, and adds none. All lanes of a warp.
  __device__ bool AddTogether(const Row& row, const uint32_t (&sums)[kSamples]) {
    if (sums_.copies() >= kSharingCopies) return false;
    bool is_same = true;  // Idle sums of two lanes are not.
    const uint32_t first = __shfl_sync(~0u, sums[0], 0);
#pragma unroll
    for (uint32_t j = 0; j < kSamples; ++j) is_same &= sums[j] == first;
    if (!__all_sync(~0u, is_same)) return false;
    Bits bits[kSamples];
#pragma unroll
    for (uint32_t j = 0; j < kSamples; ++j) bits[j] = BitsOf(row, j);
    return weights_.AddOfWarp(sums_, first, bits);
  }

  // Gives the samples, as bits, of which the weights do not fit.
  __device__ uint32_t AddEach(const Row& row, const uint32_t (&sums)[kSamples]) {
    using Rest = decltype(sums_.AddLow(0, weights_.UnitsOf(Bits{}, WindowSpot{})));
    uint32_t left = 0;
#pragma unroll
    for (uint32_t begin = 0; begin < kSamples; begin += kBatch) {
      uint32_t addresses[kBatch];
      Rest rests[kBatch];
#pragma unroll
      for (uint32_t i = 0; i < kBatch; ++i) {
        const uint32_t j = begin + i;
        const Bits bits = BitsOf(row, j);
        const WindowSpot spot = weights_.SpotOf(bits);
        const bool is_here = sums[j] < bins_.count;
        if (is_here & spot.is_outside) left |= uint32_t{1} << j;
        const Bits added = is_here & spot.is_inside ? bits : 0;
        const uint32_t sum = sums[j] == frequent_sum_ ? idle_sum_ : sums[j];
        addresses[i] = sums_.AddressOf(sum, spot.is_inside ? spot.word : 0);
        rests[i] = sums_.AddLow(addresses[i], weights_.UnitsOf(added, spot));
      }
      if constexpr (kHaveRests) sums_.AddRests(addresses, rests);
    }
    return left;
  }

  // Keeps those of the row's samples that are `left`, to be counted slowly. All lanes of a warp.
  __device__ void Keep(const Row& row, uint32_t left) {
#pragma unroll 1
    do {
      if (queue_.IsFull()) EmptyQueue();
      const uint32_t j = static_cast<uint32_t>(__ffs(static_cast<int>(left))) - 1;
      if (queue_.Keep(left != 0, SampleOf<T>(row.samples.of[0], j), BitsOf(row, j))) {
        left &= left - 1;
      }
    } while (__any_sync(~0u, left != 0));
  }

  __device__ void EmptyQueue() {
    queue_.Empty([&](T x, Bits bits) { CountSlowly(x, bits); });
  }

  const HistogramArguments& arguments_;
  const Locator locator_;
  Weights& weights_;
  const BinRange bins_;
  WeightWords& sums_;
  const uint32_t idle_sum_;
  const uint32_t frequent_sum_;
  Queue queue_;
  GlobalSums totals_;
  SharedOutcomes& outcomes_;
};

}  // namespace gridfold::kernels::cuda

#endif  // GRIDFOLD_KERNELS_CUDA_HISTOGRAM_WEIGHTS_WINDOW_COUNTER_CUH_
