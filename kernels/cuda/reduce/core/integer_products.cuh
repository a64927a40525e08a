// Sums of integers in several registers, and dot products, have no words in CUDA C++; these
// functions are their instructions.
#ifndef GRIDFOLD_KERNELS_CUDA_REDUCE_CORE_INTEGER_PRODUCTS_CUH_
#define GRIDFOLD_KERNELS_CUDA_REDUCE_CORE_INTEGER_PRODUCTS_CUH_

#include <cstdint>
#include <type_traits>

#include "kernels/numerics/arithmetic/wide_integer.h"

namespace gridfold::kernels::cuda {

// An integer of 96 bits, little end first.
struct Uint96 {
  uint32_t words[3] = {};

  __device__ Uint128 Value() const {
    return Uint128{words[2]} << 64 | uint64_t{words[1]} << 32 | words[0];
  }
  // Adds an integer of 64 bits, by halves.
  __device__ void Add(uint32_t lower, uint32_t upper) {
    asm("add.cc.u32 %0, %0, %3; addc.cc.u32 %1, %1, %4; addc.u32 %2, %2, 0;"
        : "+r"(words[0]), "+r"(words[1]), "+r"(words[2])
        : "r"(lower), "r"(upper));
  }
  // Adds a * b.
  __device__ void AddProduct(uint32_t a, uint32_t b) {
    asm("mad.lo.cc.u32 %0, %3, %4, %0; madc.hi.cc.u32 %1, %3, %4, %1; addc.u32 %2, %2, 0;"
        : "+r"(words[0]), "+r"(words[1]), "+r"(words[2])
        : "r"(a), "r"(b));
  }
};

// 1 or 0. One instruction, for which the compiler takes two.
__device__ inline uint32_t IsNotZero(uint32_t word) {
  uint32_t result;
  asm("min.u32 %0, %1, 1;" : "=r"(result) : "r"(word));
  return result;
}

// sum + the dot product of two 16-bit integers of type T with the lower two bytes, which are
// unsigned, of `bytes`.
template <class T, class Sum>
__device__ inline Sum AddLowerDot(uint32_t pair, uint32_t bytes, Sum sum) {
  if constexpr (std::is_signed_v<T>) {
    asm("dp2a.lo.s32.u32 %0, %1, %2, %0;" : "+r"(sum) : "r"(pair), "r"(bytes));
  } else {
    asm("dp2a.lo.u32.u32 %0, %1, %2, %0;" : "+r"(sum) : "r"(pair), "r"(bytes));
  }
  return sum;
}
// sum + the dot product of two 16-bit integers of type T with the upper two bytes of `bytes`, which
// are signed where T is.
template <class T, class Sum>
__device__ inline Sum AddUpperDot(uint32_t pair, uint32_t bytes, Sum sum) {
  if constexpr (std::is_signed_v<T>) {
    asm("dp2a.hi.s32.s32 %0, %1, %2, %0;" : "+r"(sum) : "r"(pair), "r"(bytes));
  } else {
    asm("dp2a.hi.u32.u32 %0, %1, %2, %0;" : "+r"(sum) : "r"(pair), "r"(bytes));
  }
  return sum;
}

}  // namespace gridfold::kernels::cuda

#endif  // GRIDFOLD_KERNELS_CUDA_REDUCE_CORE_INTEGER_PRODUCTS_CUH_
