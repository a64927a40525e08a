// The weights of a kernel that sums them in windows (numerics/weight_window.h).
//
// A class of weights has
//   Element            of which WeightBits makes bits
//   SpotOf(bits)       where the weight is in the window
//   UnitsOf(bits, w)   the weight, of which this is the word, in units of that
//   NumberOf(bits)     both
//   SumOfWarp(bits)    numbers of which the sum over the warp is that of all lanes' weights; false
//                      ones where these are too different
//   origin()           of the window
//
// and one whose weights may not fit AddOutside, and escapes, for those.
#ifndef GRIDFOLD_KERNELS_CUDA_HISTOGRAM_WINDOW_WEIGHTS_CUH_
#define GRIDFOLD_KERNELS_CUDA_HISTOGRAM_WINDOW_WEIGHTS_CUH_

#include <bit>
#include <cstdint>

#include "kernels/cuda/histogram_arguments.h"
#include "kernels/cuda/histogram_turns.cuh"
#include "kernels/cuda/histogram_weight_escapes.cuh"
#include "kernels/cuda/histogram_weights.cuh"
#include "kernels/numerics/weight_window.h"

namespace gridfold::kernels::cuda {

// The bits, without the sign, of the largest of some of the weights from everywhere. All threads of
// the block; `largest` is a word of its shared memory.
__device__ inline uint32_t LargestOfSome(const HistogramArguments& arguments, uint32_t* largest) {
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
static __device__ __noinline__ void AddOutside(const HistogramArguments& arguments,
                                               uint32_t* memory, uint32_t largest_bits,
                                               uint32_t bin, uint32_t bits) {
  GlobalSums totals(arguments);
  if (WeightEscapes(memory, largest_bits).Add(bin, bits) || !totals.Has(bin)) return;
  AddWeight(totals, bin, WeightOf(std::bit_cast<float>(bits)), arguments.flags_kept);
}

// Numbers of the first two lanes that are together the sum of all lanes' `sum` units, which begin
// at the place `base` of the window; 0 of the others. Requires |sum| < 2^53. All lanes of a warp.
__device__ inline WindowNumber SumOverWarp(int64_t sum, uint32_t base) {
  constexpr uint32_t kLowBits = 27;  // The hardware adds 32 numbers of 32 bits.
  const uint32_t low =
      __reduce_add_sync(~0u, static_cast<uint32_t>(sum) & ((uint32_t{1} << kLowBits) - 1));
  const int32_t high = __reduce_add_sync(~0u, static_cast<int32_t>(sum >> kLowBits));
  const uint32_t lane = threadIdx.x % kWarpLanes;
  const uint32_t place = base + (lane == 1 ? kLowBits : 0);
  const int64_t value = lane == 0 ? int64_t{low} : lane == 1 ? int64_t{high} : 0;
  return {place / kWindowWordBits, value << place % kWindowWordBits, true};
}

// The word of a weight, if it is inside of the window; it is outside if it does not fit. Zeros may
// be neither.
struct WindowSpot {
  uint32_t word;
  bool is_inside;
  bool is_outside;
};

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

  __device__ WindowSpot SpotOf(uint32_t bits) const {
    const uint32_t height = HeightInWindow(bits, window_);
    const bool is_inside = IsInside(height, window_);
    return {WordAt(height), is_inside, !is_inside && bits << 1 != 0};
  }
  __device__ int64_t UnitsOf(uint32_t bits, uint32_t word) const {
    return UnitsOfWord(bits, word, window_);
  }
  __device__ WindowNumber NumberOf(uint32_t bits) const { return NumberInWindow(bits, window_); }

  // Of weights near each other, as most are.
  template <uint32_t kCount>
  __device__ WindowNumber SumOfWarp(const uint32_t (&bits)[kCount]) const {
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
    if (!__all_sync(~0u, is_alike)) return {0, 0, false};
    return SumOverWarp(sum, base);
  }

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

  __device__ static WindowSpot SpotOf(uint32_t) { return {0, true, false}; }
  __device__ int64_t UnitsOf(uint32_t bits, uint32_t) const {
    return static_cast<int64_t>(bits ^ sign_) - sign_;
  }
  __device__ WindowNumber NumberOf(uint32_t bits) const { return {0, UnitsOf(bits, 0), true}; }

  template <uint32_t kCount>
  __device__ WindowNumber SumOfWarp(const uint32_t (&bits)[kCount]) const {
    int64_t sum = 0;
#pragma unroll
    for (uint32_t j = 0; j < kCount; ++j) sum += UnitsOf(bits[j], 0);
    if constexpr (sizeof(E) == 4) {
      return SumOverWarp(sum, 0);
    } else {
      const int32_t all = __reduce_add_sync(~0u, static_cast<int32_t>(sum));
      return {0, threadIdx.x % kWarpLanes == 0 ? int64_t{all} : 0, true};
    }
  }

  __device__ int32_t origin() const { return 0; }

 private:
  const uint32_t sign_;
};

}  // namespace gridfold::kernels::cuda

#endif  // GRIDFOLD_KERNELS_CUDA_HISTOGRAM_WINDOW_WEIGHTS_CUH_
