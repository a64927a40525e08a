// 16-bit floating-point elements are integers in a window, and the tensor cores make numbers of
// them that count its units.
//
// The product of a matrix of halves with a diagonal matrix is the matrix of halves scaled, in
// float32. Products of two halves are exact there, and so is adding zeros to them.
//
// Example, a window whose unit is 2^-8:
//
//   1.5, -0.25 and 3 times 2^8 on the diagonal: 384, -64 and 768
//   as integers: sum 1088, squares 147456 + 4096 + 589824 = 741376, in units of 2^-8 and 2^-16
#ifndef GRIDFOLD_KERNELS_CUDA_REDUCE_COLUMNS_HALF_WINDOWS_CUH_
#define GRIDFOLD_KERNELS_CUDA_REDUCE_COLUMNS_HALF_WINDOWS_CUH_

#include <cstdint>
#include <type_traits>

#include "kernels/cuda/reduce/core/words.cuh"
#include "kernels/cuda/reduce/plan/tuning.h"
#include "kernels/numerics/arithmetic/element.h"

namespace gridfold::kernels::cuda {

// Two elements in a word, and what is done to both at once.
template <HalfElement T>
struct HalfWords {
  static constexpr bool kIsFloat16 = std::is_same_v<T, Float16>;
  using Pair = std::conditional_t<kIsFloat16, __half2, __nv_bfloat162>;
  static constexpr int kPrecision = SingleWords<T>::kPrecision;
  static constexpr int kBias = kIsFloat16 ? 15 : 127;
  static constexpr int kExponentMax = kBias + 1;
  static constexpr uint32_t kInfinities = kIsFloat16 ? 0x7C00'7C00u : 0x7F80'7F80u;

  __device__ static Pair PairOf(uint32_t word) { return reinterpret_cast<const Pair&>(word); }
  __device__ static uint32_t WordOf(Pair pair) { return reinterpret_cast<const uint32_t&>(pair); }
  __device__ static uint32_t Magnitudes(uint32_t a) { return WordOf(__habs2(PairOf(a))); }
  // The smaller magnitudes, with any sign.
  __device__ static uint32_t Smaller(uint32_t a, uint32_t b) {
    uint32_t smaller;
    if constexpr (kIsFloat16) {
      asm("min.xorsign.abs.f16x2 %0, %1, %2;" : "=r"(smaller) : "r"(a), "r"(b));
    } else {
      asm("min.xorsign.abs.bf16x2 %0, %1, %2;" : "=r"(smaller) : "r"(a), "r"(b));
    }
    return smaller;
  }
  __device__ static uint32_t Least(uint32_t a, uint32_t b) {
    return WordOf(__hmin2(PairOf(a), PairOf(b)));
  }
  __device__ static uint32_t LeastOrNan(uint32_t a, uint32_t b) {
    return WordOf(__hmin2_nan(PairOf(a), PairOf(b)));
  }
  __device__ static uint32_t Greatest(uint32_t a, uint32_t b) {
    return WordOf(__hmax2(PairOf(a), PairOf(b)));
  }
  __device__ static uint32_t GreatestOrNan(uint32_t a, uint32_t b) {
    return WordOf(__hmax2_nan(PairOf(a), PairOf(b)));
  }
  __device__ static uint32_t Product(uint32_t a, uint32_t b) {
    return WordOf(__hmul2(PairOf(a), PairOf(b)));
  }
  // All bits of the halves of which it is so.
  __device__ static uint32_t AreLess(uint32_t a, uint32_t b) {
    return __hlt2_mask(PairOf(a), PairOf(b));
  }
  __device__ static uint32_t AreZero(uint32_t a) { return __heq2_mask(PairOf(a), PairOf(0)); }
  // Whether it is so of both.
  __device__ static bool BothLess(uint32_t a, uint32_t b) { return __hblt2(PairOf(a), PairOf(b)); }
  __device__ static bool BothAtLeast(uint32_t a, uint32_t b) {
    return __hbge2(PairOf(a), PairOf(b));
  }
  __device__ static uint32_t Half(uint32_t word, uint32_t k) { return word >> 16 * k & 0xFFFF; }
  __device__ static float Value(uint32_t word, uint32_t k) {
    return ToCompute(T{static_cast<uint16_t>(Half(word, k))});
  }
  // 2^exponent twice. Infinity where the exponent is one more than the largest.
  __device__ static uint32_t Powers(int exponent) {
    return (static_cast<uint32_t>(exponent + kBias) << (kPrecision - 1)) * 0x1'0001u;
  }
};

// Elements that are counted as integers: those below a limit that are multiples of a unit.
template <HalfElement T>
class HalfWindow {
  using Words = HalfWords<T>;

 public:
  static constexpr int kBits = 28;

  __device__ explicit HalfWindow(int unit) : unit_(unit) {}

  __device__ int unit() const { return unit_; }
  // Magnitudes that are taken are less than Limits() and no less than Smallest(), twice each.
  __device__ uint32_t Limits() const {
    return Words::Powers(min(unit_ + kBits, Words::kExponentMax));
  }
  __device__ uint32_t Smallest() const {
    if (Words::kIsFloat16 && unit_ == kFloat16Unit) return 0x1'0001u;
    return Words::Powers(unit_ + Words::kPrecision - 1);
  }
  // What elements are multiplied by to count units, in two steps, twice each.
  __device__ uint32_t FirstScales() const { return Words::Powers(-unit_ - SecondExponent()); }
  __device__ uint32_t SecondScales() const { return Words::Powers(SecondExponent()); }

  // The exponent of the power of two of which all float16 elements are multiples.
  static constexpr int kFloat16Unit = -24;

 private:
  __device__ int SecondExponent() const {
    return Words::kIsFloat16 ? min(-unit_, Words::kBias) : -unit_;
  }

  int unit_;
};

// Elements of two words of each lane, scaled: c[0] and c[1] are those of a, c[2] and c[3] of b. The
// lane's part of the diagonal matrix is `diagonal`. Called by all lanes of a warp.
template <HalfElement T>
__device__ inline void ScaleHalves(uint32_t a, uint32_t b, uint32_t diagonal, float (&c)[4]) {
  if constexpr (std::is_same_v<T, Float16>) {
    asm("mma.sync.aligned.m16n8k8.row.col.f32.f16.f16.f32 {%0, %1, %2, %3}, {%4, %5}, {%6}, "
        "{%7, %7, %7, %7};"
        : "=f"(c[0]), "=f"(c[1]), "=f"(c[2]), "=f"(c[3])
        : "r"(a), "r"(b), "r"(diagonal), "f"(0.0f));
  } else {
    asm("mma.sync.aligned.m16n8k8.row.col.f32.bf16.bf16.f32 {%0, %1, %2, %3}, {%4, %5}, {%6}, "
        "{%7, %7, %7, %7};"
        : "=f"(c[0]), "=f"(c[1]), "=f"(c[2]), "=f"(c[3])
        : "r"(a), "r"(b), "r"(diagonal), "f"(0.0f));
  }
}
// The lane's part of a diagonal matrix of equal numbers.
__device__ inline uint32_t DiagonalOf(uint32_t scales) {
  const uint32_t lane = threadIdx.x % ReduceTuning::kWarpThreads;
  const uint32_t row = lane % 4 * 2;
  const uint32_t column = lane / 4;
  return row == column ? scales & 0xFFFFu : row + 1 == column ? scales & 0xFFFF'0000u : 0;
}

}  // namespace gridfold::kernels::cuda

#endif  // GRIDFOLD_KERNELS_CUDA_REDUCE_COLUMNS_HALF_WINDOWS_CUH_
