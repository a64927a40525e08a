// Sums of float32 and integer weights of one channel in each block's shared memory, in windows of
// words. What is in none is added in device memory.
#include "kernels/cuda/histogram_block.h"
#include "kernels/cuda/histogram_locators.cuh"
#include "kernels/cuda/histogram_outcomes.cuh"
#include "kernels/cuda/histogram_weight_escapes.cuh"
#include "kernels/cuda/histogram_weight_turns.cuh"
#include "kernels/cuda/histogram_weight_words.cuh"
#include "kernels/cuda/histogram_weights.cuh"
#include "kernels/numerics/weight_window.h"

namespace gridfold::kernels::cuda {

namespace {

// Of a block, before sums are added up; and no more than 2^23 with those that are in no turn.
constexpr uint64_t kSamplesPerFlushMax = (uint64_t{1} << 23) - (uint64_t{1} << 12);

// The bits, without the sign, of the largest of some of the weights from everywhere. All threads of
// the block; `largest` is a word of its shared memory.
__device__ uint32_t LargestOfSome(const HistogramArguments& arguments, uint32_t* largest) {
  constexpr uint32_t kInfinityBits = 0x7F80'0000;
  constexpr uint32_t kOneBits = 0x3F80'0000;
  if (threadIdx.x == 0) *largest = 0;
  __syncthreads();
  if (threadIdx.x < arguments.sample_count) {
    const uint64_t sample = static_cast<uint64_t>(static_cast<double>(threadIdx.x) / blockDim.x *
                                                  static_cast<double>(arguments.sample_count));
    const uint32_t bits =
        std::bit_cast<uint32_t>(static_cast<const float*>(arguments.weights)[sample]) & 0x7FFF'FFFF;
    if (bits < kInfinityBits) atomicMax(largest, bits);
  }
  __syncthreads();
  if (threadIdx.x == 0 && *largest == 0) *largest = kOneBits;  // As likely as others.
  __syncthreads();
  return *largest;
}

// Adds a weight that is outside of the window, or not finite. A call, so that what it takes is no
// burden to the others.
__device__ __noinline__ void AddOutside(const HistogramArguments& arguments, uint32_t* memory,
                                        uint32_t largest_bits, uint32_t bin, uint32_t bits) {
  GlobalSums totals(arguments);
  if (WeightEscapes(memory, largest_bits).Add(bin, bits) || !totals.Has(bin)) return;
  AddWeight(totals, bin, WeightOf(std::bit_cast<float>(bits)), arguments.flags_kept);
}

class Float32Weights {
 public:
  using Element = float;

  // All threads of the block; `memory` is for WeightEscapes, `largest` another word of its shared
  // memory.
  __device__ Float32Weights(const HistogramArguments& arguments, uint32_t* memory,
                            uint32_t* largest)
      : memory_(memory),
        largest_(largest),
        window_(WindowFor(LargestOfSome(arguments, largest), arguments.window_words)) {}

  __device__ WindowNumber NumberOf(uint32_t bits) const { return NumberInWindow(bits, window_); }
  __device__ int32_t origin() const { return window_.origin; }
  __device__ void AddOutside(const HistogramArguments& arguments, uint32_t bin,
                             uint32_t bits) const {
    cuda::AddOutside(arguments, memory_, *largest_, bin, bits);
  }
  __device__ WeightEscapes escapes() const { return WeightEscapes(memory_, *largest_); }

 private:
  uint32_t* const memory_;
  const uint32_t* const largest_;
  const WeightWindow window_;
};

// Of an integer type as wide as the unsigned type E, which tells that all fit.
template <class E>
class IntegerWeights {
 public:
  using Element = E;

  __device__ IntegerWeights(const HistogramArguments& arguments, uint32_t*, uint32_t*)
      : sign_(IsSigned(arguments.weight_type) ? uint32_t{1} << (8 * sizeof(E) - 1) : 0) {}

  __device__ WindowNumber NumberOf(uint32_t bits) const { return NumberOfInteger(ValueOf(bits)); }
  __device__ int32_t origin() const { return 0; }

 private:
  __device__ int64_t ValueOf(uint32_t bits) const {
    return static_cast<int64_t>(bits ^ sign_) - sign_;
  }

  const uint32_t sign_;
};

template <class T, class Weights>
class WindowCounter {
 public:
  using Row = typename WeightedTurnRange<T, typename Weights::Element>::Row;

  __device__ WindowCounter(const HistogramArguments& arguments, Weights& weights,
                           const BinRange& bins, WeightWords& sums, SharedOutcomes& outcomes)
      : arguments_(arguments),
        locator_(arguments),
        weights_(weights),
        bins_(bins),
        sums_(sums),
        idle_(sums.IdlePlace()),
        totals_(arguments),
        outcomes_(outcomes) {}

  // All lanes of a warp.
  __device__ void Count(const Row& row) {
    constexpr uint32_t kSamples = kVectorSamples<T>;
    uint32_t places[kSamples];
    int32_t rests[kSamples];
    uint32_t left = 0;
    // Lanes that share a copy would wait for each other where all have one sum, as those of sorted
    // samples do: most probably all samples of the row.
    bool joins = sums_.copies() < kWaitingCopies;
#pragma unroll
    for (uint32_t j = 0; j < kSamples; ++j) {
      const auto guess = locator_.Guess(PointOf<T>(row.samples, j));
      const bool is_sure = locator_.IsSure(guess);
      const uint32_t sum = guess.bin - bins_.first;
      const bool is_here = sum < bins_.count;
      const WindowNumber number = weights_.NumberOf(BitsOf(row, j));
      if (!is_sure | (is_here & !number.fits)) left |= uint32_t{1} << j;
      const bool is_added = is_sure & is_here & number.fits;
      places[j] = is_added ? sums_.PlaceOf(sum, number.word) : idle_;
      uint32_t low = is_added ? number.low : 0;
      int32_t high = is_added ? number.high : 0;
      if (joins) joins = Join(places[j], low, high);
      rests[j] = sums_.AddLow(places[j], low, high);
    }
    if constexpr (kHaveRests) sums_.AddRests(places, rests);
#pragma unroll 1
    for (; left != 0; left &= left - 1) {
      const uint32_t j = static_cast<uint32_t>(__ffs(static_cast<int>(left))) - 1;
      CountSlowly(PointOf<T>(row.samples, j), BitsOf(row, j));
    }
  }

  // Of any sample and weight; one thread's.
  __device__ void CountSlowly(const SamplePoint<T>& point, uint32_t weight_bits) {
    const Placement placement = locator_.Resolve(locator_.Guess(point), point);
    if (placement.outcome != 0 && bins_.is_first()) outcomes_.Count(0, placement.outcome);
    if (placement.bin < 0) return;
    const uint32_t bin = static_cast<uint32_t>(placement.bin);
    const uint32_t sum = bin - bins_.first;
    if (sum >= bins_.count) return;
    const WindowNumber number = weights_.NumberOf(weight_bits);
    if (number.fits) {
      sums_.Add(sum, number);
      return;
    }
    if constexpr (kMayNotFit) {
      weights_.AddOutside(arguments_, bin, weight_bits);
    }
  }

  // All threads of the block.
  __device__ void Flush() {
    for (uint32_t i = threadIdx.x; i < bins_.count; i += blockDim.x) {
      const uint64_t bin = bins_.first + i;
      if (totals_.Has(bin)) sums_.FlushSum(i, bin, weights_.origin(), totals_);
    }
    if constexpr (kMayNotFit) weights_.escapes().Flush(totals_);
    if (arguments_.outcomes != nullptr) outcomes_.Flush(arguments_);
  }

 private:
  static constexpr bool kMayNotFit = std::is_same_v<Weights, Float32Weights>;
  // Sums of weights of 8 bits have one word: see kSamplesPerFlushMax.
  static constexpr bool kHaveRests = sizeof(typename Weights::Element) > 1;
  static constexpr uint32_t kWaitingCopies = 8;

  __device__ static uint32_t BitsOf(const Row& row, uint32_t j) {
    return WeightBits<typename Weights::Element>(row.weights, j);
  }

  // Gives the first lane all numbers, if they are of one place, and small; else false. All lanes of
  // a warp.
  __device__ static bool Join(uint32_t place, uint32_t& low, int32_t& high) {
    constexpr uint32_t kSmall = uint32_t{1} << 26;
    const bool is_small = (low + kSmall < 2 * kSmall) & (high == static_cast<int32_t>(low) >> 31);
    if (!__all_sync(~0u, is_small & (place == __shfl_sync(~0u, place, 0)))) return false;
    const int32_t sum = __reduce_add_sync(~0u, static_cast<int32_t>(low));
    const bool is_first = threadIdx.x % kWarpLanes == 0;
    low = is_first ? static_cast<uint32_t>(sum) : 0;
    high = is_first ? sum >> 31 : 0;
    return true;
  }

  const HistogramArguments& arguments_;
  const AxisLocator<false> locator_;
  Weights& weights_;
  const BinRange bins_;
  WeightWords& sums_;
  const uint32_t idle_;
  GlobalSums totals_;
  SharedOutcomes& outcomes_;
};

template <class T, class Weights>
__global__ void __launch_bounds__(kHistogramThreads)
    SumInWindows(const __grid_constant__ HistogramArguments arguments) {
  using W = typename Weights::Element;
  alignas(kHistogramPartAlignment) extern __shared__ unsigned char shared[];
  __shared__ uint32_t drawn;
  __shared__ uint32_t largest;
  __shared__ uint32_t outcome_counts[SharedOutcomes::kWords];
  uint32_t* const memory = reinterpret_cast<uint32_t*>(shared);
  const BinRange bins = BinRange::Of(arguments);
  SharedOutcomes outcomes(outcome_counts);
  WeightWords sums(memory + arguments.escape_words, arguments.bins_per_block,
                   arguments.window_words, arguments.copies);
  Weights weights(arguments, memory, &largest);
  sums.Clear();
  outcomes.Clear();
  if constexpr (std::is_same_v<Weights, Float32Weights>) weights.escapes().Clear();
  __syncthreads();
  const BlockShare block = BlockShare::Of(arguments.part_count);
  const WeightedTurnRange<T, W> range(arguments.samples, arguments.weights, arguments.sample_count,
                                      block);
  WindowCounter<T, Weights> counter(arguments, weights, bins, sums, outcomes);
  if (block.rank == 0) {
    range.VisitRest([&](uint64_t i) {
      using Bits = std::conditional_t<sizeof(W) == 4, uint32_t, W>;
      counter.CountSlowly(PointAt<T, 1>(arguments, i),
                          static_cast<const Bits*>(arguments.weights)[i]);
    });
  }
  const uint64_t turns_max = kSamplesPerFlushMax / range.kTurnSamples;
  VisitTurnsAndFlush(
      range, min(arguments.TurnsPerFlush(range.kTurnSamples), turns_max), &drawn,
      [&](const auto& row) { counter.Count(row); }, [&] { counter.Flush(); });
}

template <class T>
HistogramKernel KernelFor(ElementType weight_type) {
  if (weight_type == ElementType::kFloat32) return SumInWindows<T, Float32Weights>;
  if (IsFloatingPoint(weight_type)) return nullptr;
  switch (ElementSize(weight_type)) {
    case 1: return SumInWindows<T, IntegerWeights<uint8_t>>;
    case 2: return SumInWindows<T, IntegerWeights<uint16_t>>;
    case 4: return SumInWindows<T, IntegerWeights<uint32_t>>;
    default: return nullptr;
  }
}

}  // namespace

HistogramKernel FindWindowWeightsKernel(ElementType type, ElementType weight_type) {
  switch (type) {
    case ElementType::kFloat32: return KernelFor<float>(weight_type);
    case ElementType::kInt32: return KernelFor<int32_t>(weight_type);
    case ElementType::kUint32: return KernelFor<uint32_t>(weight_type);
    default: return nullptr;
  }
}

}  // namespace gridfold::kernels::cuda
