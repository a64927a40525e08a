// One access reads or writes the values of neighbouring columns.
#ifndef GRIDFOLD_KERNELS_CUDA_SCAN_COLUMNS_VECTOR_CUH_
#define GRIDFOLD_KERNELS_CUDA_SCAN_COLUMNS_VECTOR_CUH_

#include <cstdint>
#include <cstring>

#include "kernels/cuda/scan/base/tile.cuh"

namespace gridfold::kernels::cuda {

template <class V, int kCount>
struct alignas(sizeof(V) * kCount) ColumnVector {
  V items[kCount];
};

// Where neighbouring lanes' items do not begin as vectors do: how many of the items in the vector
// of a lane's first one are of the lane before. The same in all lanes of a warp; row by row.
template <int kCount>
class VectorShift {
 public:
  template <class V>
  __device__ VectorShift(const V* first, int64_t pitch)
      : items_(static_cast<uint32_t>(reinterpret_cast<uintptr_t>(first) / sizeof(V))),
        pitch_(static_cast<uint32_t>(pitch)) {}

  __device__ uint32_t get() const { return items_ % kCount; }
  __device__ void Advance() { items_ += pitch_; }

 private:
  uint32_t items_;  // And a multiple of kCount.
  uint32_t pitch_;
};

// A vector as the words that registers hold.
template <class V, int kCount>
struct VectorWords {
  static constexpr int kBytes = sizeof(V) * kCount;
  static constexpr int kWords = kBytes < 4 ? 1 : kBytes / 4;
  static_assert(kBytes <= 4 || kBytes % 4 == 0);

  __device__ explicit VectorWords(const ColumnVector<V, kCount>& vector) {
    memcpy(words, &vector, kBytes);
  }
  __device__ ColumnVector<V, kCount> Vector() const {
    ColumnVector<V, kCount> vector;
    memcpy(&vector, words, kBytes);
    return vector;
  }

  uint32_t words[kWords] = {};
};

// kCount items from place `begin` on, below kCount, of two vectors one behind the other.
template <class V, int kCount>
__device__ VectorWords<V, kCount> ItemsFrom(const VectorWords<V, kCount>& low,
                                            const VectorWords<V, kCount>& high, uint32_t begin) {
  using Words = VectorWords<V, kCount>;
  constexpr int kWords = Words::kWords;
  const uint32_t byte = begin * sizeof(V);
  Words result = low;
  if constexpr (Words::kBytes < 4) {
    result.words[0] = (low.words[0] | high.words[0] << (8 * Words::kBytes)) >> (8 * byte);
  } else {
    uint32_t both[2 * kWords];
#pragma unroll
    for (int i = 0; i < kWords; ++i) {
      both[i] = low.words[i];
      both[kWords + i] = high.words[i];
    }
#pragma unroll
    for (int step = kWords / 2; step > 0; step /= 2) {
#pragma unroll
      for (int i = 0; i + step < 2 * kWords && i < kWords + step; ++i) {
        both[i] = (byte / 4 & step) != 0 ? both[i + step] : both[i];
      }
    }
#pragma unroll
    for (int i = 0; i < kWords; ++i) {
      result.words[i] =
          sizeof(V) < 4 ? __funnelshift_r(both[i], both[i + 1], 8 * (byte % 4)) : both[i];
    }
  }
  return result;
}

// The lane's items, from its vector and the next lane's. The last lane's are not all its own.
template <class V, int kCount>
__device__ ColumnVector<V, kCount> ItemsOfVectors(const Warp& warp,
                                                  const ColumnVector<V, kCount>& vector,
                                                  uint32_t shift) {
  const VectorWords<V, kCount> own(vector);
  VectorWords<V, kCount> next = own;
#pragma unroll
  for (uint32_t& word : next.words) word = warp.shfl_down(word, 1);
  return ItemsFrom(own, next, shift).Vector();
}

// The inverse: the lane's vector, from the items of the lane before and its own.
template <class V, int kCount>
__device__ ColumnVector<V, kCount> VectorOfItems(const Warp& warp,
                                                 const ColumnVector<V, kCount>& items,
                                                 uint32_t shift) {
  const VectorWords<V, kCount> own(items);
  VectorWords<V, kCount> before = own;
#pragma unroll
  for (uint32_t& word : before.words) {
    const uint32_t previous = warp.shfl_up(word, 1);
    if (shift != 0) word = previous;
  }
  return ItemsFrom(before, own, (kCount - shift) % kCount).Vector();
}

}  // namespace gridfold::kernels::cuda

#endif  // GRIDFOLD_KERNELS_CUDA_SCAN_COLUMNS_VECTOR_CUH_
