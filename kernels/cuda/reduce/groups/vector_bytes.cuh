// Vectors whose bytes are not all of one group: others stand in for those that are not.
#ifndef GRIDFOLD_KERNELS_CUDA_REDUCE_GROUPS_VECTOR_BYTES_CUH_
#define GRIDFOLD_KERNELS_CUDA_REDUCE_GROUPS_VECTOR_BYTES_CUH_

#include <bit>
#include <cstdint>
#include <type_traits>

namespace gridfold::kernels::cuda {

// Bits of a word from bit `first` on, which may lie outside of it.
__device__ inline uint32_t BitsFrom(int first) {
  uint32_t bits;
  asm("shl.b32 %0, %1, %2;" : "=r"(bits) : "r"(~0u), "r"(max(first, 0)));
  return bits;
}

// Words of nothing but an element.
template <class T>
__device__ inline uint4 VectorOf(T element) {
  if constexpr (sizeof(T) == 8) {
    const uint2 words = std::bit_cast<uint2>(element);
    return {words.x, words.y, words.x, words.y};
  } else {
    using Bits = std::conditional_t<sizeof(T) == 4, uint32_t,
                                    std::conditional_t<sizeof(T) == 2, uint16_t, uint8_t>>;
    constexpr uint32_t kRepeat = sizeof(T) == 1 ? 0x0101'0101u : sizeof(T) == 2 ? 0x0001'0001u : 1;
    const uint32_t word = std::bit_cast<Bits>(element) * kRepeat;
    return {word, word, word, word};
  }
}

// A vector with `other` in place of what is before `begin` and from byte `end` on; both count from
// the vector's first byte.
__device__ inline uint4 Between(const uint4& vector, int begin, int end, const uint4& other) {
  const auto word_of = [&](uint32_t word, uint32_t other_word, int byte) {
    const uint32_t kept = BitsFrom(8 * (begin - byte)) & ~BitsFrom(8 * (end - byte));
    return (word & kept) | (other_word & ~kept);
  };
  return {word_of(vector.x, other.x, 0), word_of(vector.y, other.y, 4),
          word_of(vector.z, other.z, 8), word_of(vector.w, other.w, 12)};
}

}  // namespace gridfold::kernels::cuda

#endif  // GRIDFOLD_KERNELS_CUDA_REDUCE_GROUPS_VECTOR_BYTES_CUH_
