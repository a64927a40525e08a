// Transposes small blocks of elements in vector registers.
#ifndef GRIDFOLD_KERNELS_CPU_BASE_TRANSPOSE_H_
#define GRIDFOLD_KERNELS_CPU_BASE_TRANSPOSE_H_

#include <cstddef>
#include <cstdint>
#include <type_traits>
#include <utility>

#include "kernels/cpu/base/streaming_store.h"
#include "kernels/cpu/base/vector.h"

namespace gridfold::kernels::cpu {

namespace transpose_internal {

template <int kBytes>
using WordOf = std::conditional_t<
    kBytes == 1, uint8_t,
    std::conditional_t<kBytes == 2, uint16_t, std::conditional_t<kBytes == 4, uint32_t, uint64_t>>>;

// a's and b's elements from `kFirst` on, in turns.
template <int kFirst, class V, size_t... i>
inline V Interleave(V a, V b, std::index_sequence<i...>) {
  return __builtin_shufflevector(a, b, (kFirst + i / 2 + (i % 2) * sizeof...(i))...);
}

// An N x N block, N being the elements of a vector, of which row i begins at source_of(i): log2(N)
// perfect shuffles of its rows.
template <bool kStream, class Word, class SourceOf>
inline void TransposeBlock(SourceOf source_of, std::byte* target, size_t target_stride) {
  constexpr int kSize = kVectorLanes<Word>;
  constexpr auto kIndices = std::make_index_sequence<kSize>();
  Vector<Word> rows[kSize];
  for (int i = 0; i < kSize; ++i) rows[i] = LoadVector<Word>(source_of(i));
#pragma GCC unroll 4
  for (int done = 1; done < kSize; done *= 2) {
    Vector<Word> shuffled[kSize];
#pragma GCC unroll 8
    for (int i = 0; i < kSize / 2; ++i) {
      shuffled[2 * i] = Interleave<0>(rows[i], rows[i + kSize / 2], kIndices);
      shuffled[2 * i + 1] = Interleave<kSize / 2>(rows[i], rows[i + kSize / 2], kIndices);
    }
#pragma GCC unroll 16
    for (int i = 0; i < kSize; ++i) rows[i] = shuffled[i];
  }
  for (int i = 0; i < kSize; ++i) StoreVector<kStream>(rows[i], target + i * target_stride);
}

}  // namespace transpose_internal

// Makes of kRows rows of kColumns consecutive elements kColumns rows of kRows. Both are multiples
// of 16; source and target do not overlap. With kStream the target, which is aligned to
// kStreamAlignment, is written past the caches (streaming_store.h).
template <int kRows, int kColumns, bool kStream = false, class T>
inline void Transpose(const T* source, T* target) {
  using namespace transpose_internal;  // NOLINT
  static_assert(kRows % kVectorBytes == 0 && kColumns % kVectorBytes == 0);
  constexpr int kSize = kVectorLanes<T>;
  const auto transpose_block = [=](int r, int c) {
    TransposeBlock<kStream, WordOf<sizeof(T)>>(
        [=](int i) { return source + (r + i) * kColumns + c; },
        reinterpret_cast<std::byte*>(target + c * kRows + r), kRows * sizeof(T));
  };
  // In the order of the side that is not in the caches.
  if constexpr (kStream) {
    for (int c = 0; c < kColumns; c += kSize) {
      for (int r = 0; r < kRows; r += kSize) transpose_block(r, c);
    }
  } else {
    for (int r = 0; r < kRows; r += kSize) {
      for (int c = 0; c < kColumns; c += kSize) transpose_block(r, c);
    }
  }
}

// Makes of as many rows as a vector has elements the same number of columns: element k of row i,
// from source_of(i) on at any byte address, becomes target[k * stride + i], for k below `count`,
// which is a multiple of that number.
template <class T, class SourceOf>
inline void TransposeRows(SourceOf source_of, uint32_t count, T* target, size_t stride) {
  using namespace transpose_internal;  // NOLINT
  constexpr uint32_t kSize = kVectorLanes<WordOf<sizeof(T)>>;
  for (uint32_t k = 0; k < count; k += kSize) {
    TransposeBlock<false, WordOf<sizeof(T)>>([=](int i) { return source_of(i) + k * sizeof(T); },
                                             reinterpret_cast<std::byte*>(target + k * stride),
                                             stride * sizeof(T));
  }
}

}  // namespace gridfold::kernels::cpu

#endif  // GRIDFOLD_KERNELS_CPU_BASE_TRANSPOSE_H_
