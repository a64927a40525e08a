// The weights of a kernel that sums them in windows (numerics/sums/weight_window.h).
//
// A class of weights has
//   Element             the type of the weights, or one like it
//   Bits                what WeightBits makes of them
//   SpotOf(bits)        where the weight is in the window
//   UnitsOf(bits, s)    the weight, of which this is the spot, or 0, in units of the word
//   AddOfWarp(w, s, b)  adds weights of all lanes to sum s of the words w, or gives false where
//   they
//                       are too different
//   origin()            of the window
//
// and one whose weights may not fit AddOutside, ClearOutside and FlushOutside for those.
#ifndef GRIDFOLD_KERNELS_CUDA_HISTOGRAM_WEIGHTS_WINDOW_WEIGHTS_CUH_
#define GRIDFOLD_KERNELS_CUDA_HISTOGRAM_WEIGHTS_WINDOW_WEIGHTS_CUH_

#include <bit>
#include <cstdint>

#include "kernels/cuda/histogram/place/turns.cuh"
#include "kernels/cuda/histogram/plan/arguments.h"
#include "kernels/cuda/histogram/weights/escapes.cuh"
#include "kernels/cuda/histogram/weights/survey.cuh"
#include "kernels/cuda/histogram/weights/weights.cuh"
#include "kernels/cuda/histogram/weights/words.cuh"
#include "kernels/numerics/sums/weight_window.h"

namespace gridfold::kernels::cuda {

// Adds a weight that is outside of the window, or not finite. A call, so that what it takes is no
// burden to the others.
static __device__ __noinline__ void AddOutside(const HistogramArguments& arguments,
                                               uint32_t* memory, uint32_t largest_bits,
                                               uint32_t bin, uint32_t bits) {
  GlobalSums totals(arguments);
  if (WeightEscapes(memory, largest_bits).Add(bin, bits) || !totals.Has(bin)) return;
  AddWeight(totals, bin, WeightOf(std::bit_cast<float>(bits)), arguments.flags_kept);
}

// Adds a weight to the sum in device memory.
static __device__ __noinline__ void AddToTotals(const HistogramArguments& arguments, uint32_t bin,
                                                uint64_t bits) {
  GlobalSums totals(arguments);
  if (!totals.Has(bin)) return;
  AddWeight(totals, bin, WeightOf(std::bit_cast<double>(bits)), arguments.flags_kept);
}

// Adds all lanes' `units`, which begin at the place `base` of the window, to a sum. Requires
// |units| < 2^53. All lanes of a warp.
__device__ inline void AddUnitsOfWarp(const WeightWords& words, uint32_t sum, int64_t units,
                                      uint32_t base) {
  constexpr uint32_t kLowBits = 27;  // The hardware adds 32 numbers of 32 bits.
  const uint32_t low =
      __reduce_add_sync(~0u, static_cast<uint32_t>(units) & ((uint32_t{1} << kLowBits) - 1));
  const int32_t high = __reduce_add_sync(~0u, static_cast<int32_t>(units >> kLowBits));
  const uint32_t lane = threadIdx.x % kWarpLanes;
  const uint32_t place = base + (lane == 1 ? kLowBits : 0);
  const int64_t value = lane == 0 ? int64_t{low} : lane == 1 ? int64_t{high} : 0;
  if (value == 0) return;
  words.Add(sum, place / kWindowWordBits, value << place % kWindowWordBits);
}

// The word of a weight, if it is inside of the window, and its first place there; it is outside if
// it does not fit. Zeros may be neither.
struct WindowSpot {
  uint32_t word;
  uint32_t shift;
  bool is_inside;
  bool is_outside;
};

class Float32Weights {
 public:
  using Element = float;
  using Bits = uint32_t;

  // All threads of the block; `memory` is for WeightEscapes, `largest` another word of its shared
  // memory.
  __device__ Float32Weights(const HistogramArguments& arguments, uint32_t* memory,
                            uint32_t* largest)
      : memory_(memory),
        largest_(largest),
        window_(WindowFor(LargestOfSome<Bits>(arguments, largest), arguments.window_words)) {}

  __device__ WindowSpot SpotOf(uint32_t bits) const {
    const uint32_t height = HeightInWindow(bits, window_);
    const bool is_inside = IsInside(height, window_);
    return {WordAt(height), 0, is_inside, !is_inside && (bits & 0x7FFF'FFFF) != 0};
  }
  __device__ int64_t UnitsOf(uint32_t bits, const WindowSpot& spot) const {
    return UnitsOfWord(bits, spot.word, window_);
  }

  // Adds weights of a warp that are near each other, as most are.
  template <uint32_t kCount>
  __device__ bool AddOfWarp(const WeightWords& words, uint32_t to,
                            const uint32_t (&bits)[kCount]) const {
    static_assert(kCount <= 4);
    constexpr uint32_t kSpan = 26;  // Sums of `kCount` weights are below 2^53 units.
    uint32_t largest = 0;
#pragma unroll
    for (uint32_t j = 0; j < kCount; ++j) largest = max(largest, bits[j] & 0x7FFF'FFFF);
    largest = __reduce_max_sync(~0u, largest);
    const uint32_t height = HeightInWindow(largest, window_);
    const uint32_t top = height >> 23;
    const uint32_t base = top - min(top, kSpan);
    const uint32_t least = largest - min(largest, kSpan << 23);
    bool is_alike = IsInside(height, window_) || largest == 0;
    int64_t sum = 0;
#pragma unroll
    for (uint32_t j = 0; j < kCount; ++j) {
      const uint32_t size = bits[j] & 0x7FFF'FFFF;
      is_alike &=
          ((size >= least) & IsInside(HeightInWindow(size, window_), window_)) | (size == 0);
      sum += kernels::UnitsOf(bits[j], window_.origin + static_cast<int>(base));
    }
    if (!__all_sync(~0u, is_alike)) return false;
    AddUnitsOfWarp(words, to, sum, base);
    return true;
  }

  __device__ int32_t origin() const { return window_.origin; }
  __device__ void AddOutside(const HistogramArguments& arguments, uint32_t bin,
                             uint32_t bits) const {
    cuda::AddOutside(arguments, memory_, *largest_, bin, bits);
  }
  // All threads of the block, as of the next one.
  __device__ void ClearOutside() const { escapes().Clear(); }
  __device__ void FlushOutside(GlobalSums& totals) const { escapes().Flush(totals); }

 private:
  __device__ WeightEscapes escapes() const { return WeightEscapes(memory_, *largest_); }

  uint32_t* const memory_;
  const uint32_t* const largest_;
  const WeightWindow window_;
};

class Float64Weights {
 public:
  using Element = double;
  using Bits = uint64_t;

  // All threads of the block; `largest` is a word of its shared memory.
  __device__ Float64Weights(const HistogramArguments& arguments, uint32_t*, uint32_t* largest)
      : window_(DoubleWindowFor(LargestOfSome<Bits>(arguments, largest), arguments.window_words)) {}

  __device__ WindowSpot SpotOf(uint64_t bits) const {
    const uint32_t height = DoubleHeightInWindow(bits, window_);
    const bool is_inside = height <= window_.place_max;
    return {height / kWindowWordBits, height % kWindowWordBits, is_inside,
            !is_inside && bits << 1 != 0};
  }
  __device__ static WideUnits UnitsOf(uint64_t bits, const WindowSpot& spot) {
    return DoubleUnits(bits, spot.shift);
  }

  // Adds weights of a warp that are in one word.
  template <uint32_t kCount>
  __device__ bool AddOfWarp(const WeightWords& words, uint32_t to,
                            const uint64_t (&bits)[kCount]) const {
    const WindowSpot first = SpotOf(__shfl_sync(~0u, bits[0], 0));
    bool is_alike = first.is_inside;
    int64_t sums[2] = {0, 0};  // Of 32 bits of each weight, and the upper ones.
    int32_t upper = 0;
#pragma unroll
    for (uint32_t j = 0; j < kCount; ++j) {
      const WindowSpot spot = SpotOf(bits[j]);
      is_alike &= spot.is_inside & (spot.word == first.word);
      const WideUnits units = UnitsOf(bits[j], spot);
      sums[0] += units.low;
      sums[1] += static_cast<uint32_t>(units.high);
      upper += static_cast<int32_t>(units.high >> 32);
    }
    if (!__all_sync(~0u, is_alike)) return false;
    AddUnitsOfWarp(words, to, sums[0], first.word * kWindowWordBits);
    AddUnitsOfWarp(words, to, sums[1], (first.word + 1) * kWindowWordBits);
    // Both are added as one number, of which nothing is behind the last word for a moment.
    upper = __reduce_add_sync(~0u, upper);
    if (threadIdx.x % kWarpLanes == 0 && upper != 0) words.Add(to, first.word + 2, int64_t{upper});
    return true;
  }

  __device__ int32_t origin() const { return window_.origin; }
  __device__ static void AddOutside(const HistogramArguments& arguments, uint32_t bin,
                                    uint64_t bits) {
    AddToTotals(arguments, bin, bits);
  }
  __device__ static void ClearOutside() {}
  __device__ static void FlushOutside(GlobalSums&) {}

 private:
  const WeightWindow window_;
};

// Weights of an integer type as wide as the unsigned type E, which tells that all fit.
template <class E>
class IntegerWeights {
 public:
  using Element = E;
  using Bits = uint32_t;

  __device__ IntegerWeights(const HistogramArguments& arguments, uint32_t*, uint32_t*)
      : sign_(IsSigned(arguments.weight_type) ? uint32_t{1} << (8 * sizeof(E) - 1) : 0) {}

  __device__ static WindowSpot SpotOf(uint32_t) { return {0, 0, true, false}; }
  __device__ int64_t UnitsOf(uint32_t bits, const WindowSpot&) const { return UnitsOf(bits); }

  template <uint32_t kCount>
  __device__ bool AddOfWarp(const WeightWords& words, uint32_t to,
                            const uint32_t (&bits)[kCount]) const {
    int64_t sum = 0;
#pragma unroll
    for (uint32_t j = 0; j < kCount; ++j) sum += UnitsOf(bits[j]);
    if constexpr (sizeof(E) == 4) {
      AddUnitsOfWarp(words, to, sum, 0);
    } else {
      const int32_t all = __reduce_add_sync(~0u, static_cast<int32_t>(sum));
      if (threadIdx.x % kWarpLanes == 0 && all != 0) words.Add(to, 0, int64_t{all});
    }
    return true;
  }

  __device__ int32_t origin() const { return 0; }

 private:
  __device__ int64_t UnitsOf(uint32_t bits) const {
    return static_cast<int64_t>(bits ^ sign_) - sign_;
  }

  const uint32_t sign_;
};

}  // namespace gridfold::kernels::cuda

#endif  // GRIDFOLD_KERNELS_CUDA_HISTOGRAM_WEIGHTS_WINDOW_WEIGHTS_CUH_
