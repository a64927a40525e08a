// Vectors of 16 bytes, which every processor has and shuffles in one instruction, in the compiler's
// own terms: arithmetic on them is written with the usual operators.
#ifndef GRIDFOLD_KERNELS_CPU_BASE_VECTOR_H_
#define GRIDFOLD_KERNELS_CPU_BASE_VECTOR_H_

#ifdef __SSE2__
#include <emmintrin.h>
#endif

#include <cstddef>
#include <cstring>
#include <utility>

namespace gridfold::kernels::cpu {

inline constexpr int kVectorBytes = 16;

template <class Word>
inline constexpr int kVectorLanes = kVectorBytes / static_cast<int>(sizeof(Word));

namespace vector_internal {

template <class Word>
struct VectorOf {
  using Type [[gnu::vector_size(kVectorBytes)]] = Word;
};

template <class V, size_t... i>
inline V LastLane(V v, std::index_sequence<i...>) {
  return __builtin_shufflevector(v, v, (i * 0 + sizeof...(i) - 1)...);
}

template <int kLanes, class V, size_t... i>
inline V MovedUp(V v, std::index_sequence<i...>) {
  return __builtin_shufflevector(V{}, v, (i < kLanes ? i : sizeof...(i) + i - kLanes)...);
}

}  // namespace vector_internal

template <class Word>
using Vector = typename vector_internal::VectorOf<Word>::Type;

template <class Word>
inline Vector<Word> LoadVector(const void* source) {
  Vector<Word> v;
  std::memcpy(&v, source, sizeof(v));
  return v;
}

// The last lane in all lanes.
template <class Word>
inline Vector<Word> LastLane(Vector<Word> v) {
  return vector_internal::LastLane(v, std::make_index_sequence<kVectorLanes<Word>>());
}

// Each lane where the one `kLanes` after it was, and 0 in the first ones.
template <class Word, int kLanes>
inline Vector<Word> MovedUp(Vector<Word> v) {
#ifdef __SSE2__
  return reinterpret_cast<Vector<Word>>(
      _mm_slli_si128(reinterpret_cast<__m128i>(v), kLanes * static_cast<int>(sizeof(Word))));
#else
  return vector_internal::MovedUp<kLanes>(v, std::make_index_sequence<kVectorLanes<Word>>());
#endif
}

}  // namespace gridfold::kernels::cpu

#endif  // GRIDFOLD_KERNELS_CPU_BASE_VECTOR_H_
