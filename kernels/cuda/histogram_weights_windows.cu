// Sums of float32 weights of one channel in each block's shared memory, as fixed-point numbers
// (numerics/weight_window.h) of three words. Weights that no such number is equal to, and samples
// whose bins were not sure, are added in device memory.
#include "kernels/cuda/histogram_locators.cuh"
#include "kernels/cuda/histogram_outcomes.cuh"
#include "kernels/cuda/histogram_strategy.h"
#include "kernels/cuda/histogram_turns.cuh"
#include "kernels/cuda/histogram_weights.cuh"
#include "kernels/numerics/weight_window.h"

namespace gridfold::kernels::cuda {

namespace {

// Of a block, before sums are added up: see kWindowNumberBits.
constexpr uint64_t kSamplesPerFlushMax = uint64_t{1} << 23;

// The block's sums: (high * 2^32 + middle) units of the window, and low of the lower one. The
// copies of a sum stand side by side, each for other lanes of a warp.
class WindowSums {
 public:
  __device__ WindowSums(const HistogramArguments& arguments, uint32_t* words)
      : count_(arguments.bins_per_block),
        copies_(arguments.copies),
        own_(threadIdx.x & (arguments.copies - 1)),
        lows_(words),
        middles_(words + count_ * copies_),
        highs_(words + 2 * count_ * copies_) {}

  __device__ uint32_t copies() const { return copies_; }

  __device__ void Clear() {
    for (uint32_t i = threadIdx.x; i < 3 * count_ * copies_; i += blockDim.x) lows_[i] = 0;
  }

  // Adds high * 2^32 + low units.
  __device__ void Add(uint32_t bin, int32_t high, uint32_t low) {
    const uint32_t i = bin * copies_ + own_;
    const uint32_t carry = atomicAdd(&middles_[i], low) > ~low ? 1 : 0;
    const uint32_t rest = static_cast<uint32_t>(high) + carry;
    if (rest != 0) atomicAdd(&highs_[i], rest);
  }

  // The same in units of the lower window.
  __device__ void AddLower(uint32_t bin, int32_t high, uint32_t low) {
    const uint32_t i = bin * copies_ + own_;
    const uint32_t carry = atomicAdd(&lows_[i], low) > ~low ? 1 : 0;
    const int64_t rest = int64_t{high} + carry;
    if (rest != 0) Add(bin, static_cast<int32_t>(rest >> 32), static_cast<uint32_t>(rest));
  }

  // Calls add(bin, units, lower_units) for each bin that has any, and clears all.
  template <class AddUnits>
  __device__ void Flush(AddUnits&& add) {
    for (uint32_t bin = threadIdx.x; bin < count_; bin += blockDim.x) {
      uint64_t units = 0;
      uint64_t lower = 0;
      for (uint32_t c = 0; c < copies_; ++c) {
        const uint32_t i = bin * copies_ + ((c + threadIdx.x) & (copies_ - 1));
        units += uint64_t{highs_[i]} << 32 | middles_[i];
        lower += lows_[i];
        lows_[i] = middles_[i] = highs_[i] = 0;
      }
      if ((units | lower) != 0) add(bin, static_cast<int64_t>(units), static_cast<int64_t>(lower));
    }
  }

 private:
  const uint32_t count_;
  const uint32_t copies_;
  const uint32_t own_;
  uint32_t* const lows_;
  uint32_t* const middles_;
  uint32_t* const highs_;
};

// The window for weights like some of them, from everywhere. All threads of the block; `largest` is
// a word of its shared memory.
__device__ WeightWindow FindWindow(const HistogramArguments& arguments, uint32_t* largest) {
  constexpr uint32_t kInfinityBits = 0x7F80'0000;
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
  return WindowFor(*largest);
}

template <class T>
class WindowCounter {
 public:
  __device__ WindowCounter(const HistogramArguments& arguments, const WeightWindow& window,
                           WindowSums& sums, SharedOutcomes& outcomes)
      : arguments_(arguments),
        locator_(arguments),
        window_(window),
        sums_(sums),
        totals_(arguments),
        outcomes_(outcomes) {}

  // All lanes of a warp.
  __device__ void Count(const VectorRow<2>& row) {
    constexpr uint32_t kSamples = kVectorSamples<T>;
    uint32_t left = 0;
#pragma unroll
    for (uint32_t j = 0; j < kSamples; ++j) {
      if (!CountInWindow(PointOf<T>(row, j), SampleOf<float>(row.of[1], j))) {
        left |= uint32_t{1} << j;
      }
    }
#pragma unroll 1
    for (; left != 0; left &= left - 1) {
      const uint32_t j = static_cast<uint32_t>(__ffs(static_cast<int>(left))) - 1;
      CountInTotals(PointOf<T>(row, j), SampleOf<float>(row.of[1], j));
    }
  }

  // Of any weight; one thread's.
  __device__ void CountInTotals(const SamplePoint<T>& point, float weight) {
    const Placement placement = locator_.Resolve(locator_.Guess(point), point);
    if (placement.outcome != 0) outcomes_.Count(0, placement.outcome);
    if (placement.bin < 0 || !totals_.Has(static_cast<uint64_t>(placement.bin))) return;
    AddWeight(totals_, static_cast<uint64_t>(placement.bin), WeightOf(weight),
              arguments_.flags_kept);
  }

  // All threads of the block.
  __device__ void Flush() {
    sums_.Flush([&](uint32_t bin, int64_t units, int64_t lower) {
      if (!totals_.Has(bin)) return;
      AddInteger(bin, units, window_.position);
      AddInteger(bin, lower, window_.position - kLowerWindowBits);
    });
    if (arguments_.outcomes != nullptr) outcomes_.Flush(arguments_);
  }

 private:
  // False where the sample is not counted.
  __device__ bool CountInWindow(const SamplePoint<T>& point, float weight) {
    const auto guess = locator_.Guess(point);
    const double wide = weight;
    const WindowNumber number = NumberInWindow(wide, window_.scale);
    const bool fits = locator_.IsSure(guess) & number.is_exact;
    // Lanes that share a copy would wait for each other where all have one bin, as those of sorted
    // samples do.
    if (sums_.copies() < kWarpLanes) {
      const uint32_t first_bin = __shfl_sync(~0u, guess.bin, 0);
      if (__all_sync(~0u, fits && guess.bin == first_bin)) {
        CountTogether(guess.bin, number);
        return true;
      }
    }
    if (fits) {
      sums_.Add(guess.bin, number.high, number.low);
      return true;
    }
    if (!locator_.IsSure(guess)) return false;
    constexpr double kLowerUnits = uint64_t{1} << kLowerWindowBits;
    const WindowNumber lower = NumberInWindow(wide, window_.scale * kLowerUnits);
    if (lower.is_exact) sums_.AddLower(guess.bin, lower.high, lower.low);
    return lower.is_exact;
  }

  __device__ void CountTogether(uint32_t bin, const WindowNumber& number) {
    const int64_t high = __reduce_add_sync(~0u, number.high);
    const int64_t middle = __reduce_add_sync(~0u, static_cast<int>(number.low >> 16));
    const int64_t low = __reduce_add_sync(~0u, static_cast<int>(number.low & 0xFFFF));
    if (threadIdx.x % kWarpLanes != 0) return;
    const int64_t sum = high * (int64_t{1} << 32) + middle * (int64_t{1} << 16) + low;
    if (sum != 0) sums_.Add(bin, static_cast<int32_t>(sum >> 32), static_cast<uint32_t>(sum));
  }

  __device__ void AddInteger(uint32_t bin, int64_t value, uint32_t position) {
    const bool negative = value < 0;
    const uint64_t magnitude =
        negative ? uint64_t{0} - static_cast<uint64_t>(value) : static_cast<uint64_t>(value);
    ForEachDigit<64>(magnitude, position, negative, [&](uint32_t digit, int64_t piece) {
      if (piece != 0) totals_.AddDigit(bin, digit, piece);
    });
  }

  const HistogramArguments& arguments_;
  const AxisLocator<false> locator_;
  const WeightWindow window_;
  WindowSums& sums_;
  GlobalSums totals_;
  SharedOutcomes& outcomes_;
};

template <class T>
__global__ void __launch_bounds__(kHistogramThreads)
    SumInWindows(const __grid_constant__ HistogramArguments arguments) {
  alignas(kHistogramPartAlignment) extern __shared__ unsigned char shared[];
  __shared__ uint32_t word;  // The largest weight first, then the turns that are drawn.
  __shared__ uint32_t outcome_counts[SharedOutcomes::kWords];
  SharedOutcomes outcomes(outcome_counts);
  WindowSums sums(arguments, reinterpret_cast<uint32_t*>(shared));
  sums.Clear();
  outcomes.Clear();
  const WeightWindow window = FindWindow(arguments, &word);
  __syncthreads();
  const BlockShare block = BlockShare::Of(1);
  const TurnRange<T, 2> range(arguments.samples, arguments.weights, arguments.sample_count, block);
  WindowCounter<T> counter(arguments, window, sums, outcomes);
  if (block.rank == 0) {
    range.VisitRest([&](uint64_t i) {
      counter.CountInTotals(PointAt<T, 1>(arguments, i),
                            static_cast<const float*>(arguments.weights)[i]);
    });
  }
  const uint64_t turns_max = kSamplesPerFlushMax / range.kTurnSamples;
  VisitTurnsAndFlush(
      range, min(arguments.TurnsPerFlush(range.kTurnSamples), turns_max), &word,
      [&](const VectorRow<2>& row) { counter.Count(row); }, [&] { counter.Flush(); });
}

}  // namespace

HistogramKernel FindWindowWeightsKernel(ElementType type) {
  switch (type) {
    case ElementType::kFloat32: return SumInWindows<float>;
    case ElementType::kInt32: return SumInWindows<int32_t>;
    case ElementType::kUint32: return SumInWindows<uint32_t>;
    default: return nullptr;
  }
}

}  // namespace gridfold::kernels::cuda
