// A thread takes a share of a group of contiguous elements that several threads sum: every so
// many-th of its vectors, and of the elements before and after them.
#ifndef GRIDFOLD_KERNELS_CUDA_REDUCE_GROUPS_SHARES_CUH_
#define GRIDFOLD_KERNELS_CUDA_REDUCE_GROUPS_SHARES_CUH_

#include <cstdint>

#include "kernels/cuda/reduce/core/batches.cuh"
#include "kernels/cuda/reduce/core/pairs.cuh"

namespace gridfold::kernels::cuda {

// The vectors, of which kInFlight are taken at a time, in kPieces pieces.
template <class T, uint32_t kInFlight, uint32_t kPieces>
struct VectorShare {
  const uint4* first;  // Of those that are left.
  uint32_t left;       // Of the group, from that one on: 0 where there is none for the thread.
  uint32_t stride;     // The number of threads.

  __device__ bool Has(uint32_t k) const { return k * stride < left; }
  // What is left after a batch.
  __device__ VectorShare Rest() const {
    const uint32_t taken = kInFlight * stride;
    return {first + taken, left > taken ? left - taken : 0, stride};
  }
  // Loads a batch; what there is not becomes elements that add nothing.
  __device__ void Load(uint4 (&raw)[kInFlight]) const {
#pragma unroll
    for (uint32_t k = 0; k < kInFlight; ++k) Load(k, raw[k]);
  }
  // Adds a batch that is in `raw`; that of `next` takes its place, piece after piece.
  __device__ void AddTo(GroupSum<T>& sum, uint4 (&raw)[kInFlight], const VectorShare& next) const {
    constexpr uint32_t kPiece = kInFlight / kPieces;
    [[maybe_unused]] PlainSums<T> plain;
#pragma unroll
    for (uint32_t begin = 0; begin < kInFlight; begin += kPiece) {
      if (begin == 0 || Has(begin)) {  // Short groups have no second piece.
#pragma unroll
        for (uint32_t k = begin; k < begin + kPiece; ++k) {
          if constexpr (kInPairs) {
            sum.Add(BatchOf<T>(raw[k]).values);
          } else {
            plain.Add(raw[k]);
          }
        }
      }
      // Whether it is full or not: lanes that are not would load when the others have added.
#pragma unroll
      for (uint32_t k = begin; k < begin + kPiece; ++k) next.Load(k, raw[k]);
    }
    if constexpr (!kInPairs) {
      constexpr uint32_t kCount = kInFlight * kVectorSize<T>;
      if (!sum.template Take<kCount>(plain.magnitudes.Range(), plain.sums[0] + plain.sums[1])) {
        AddEach(sum.pair);
      }
    }
  }

 private:
  // Whether each element is added to the pair, instead of sums of some.
  static constexpr bool kInPairs = sizeof(T) == sizeof(double);

  __device__ void Load(uint32_t k, uint4& raw) const {
    raw = NegativeZeros<T>();
    if (Has(k)) raw = first[k * stride];
  }

  // The batch again, of elements that a double does not hold the sum of.
  __device__ void AddEach(PairSum& pair) const {
#pragma unroll 1
    for (uint32_t k = 0; k < kInFlight && Has(k); ++k) {
      const auto batch = BatchOf<T>(first[k * stride]);
#pragma unroll
      for (const auto x : batch.values) pair.Add(x);
    }
  }
};

// Both.
template <class T, uint32_t kInFlight, uint32_t kPieces = 2>
struct GroupShare {
  static constexpr uint32_t kSize = kVectorSize<T>;
  const T* elements;  // Of the group.
  uint32_t count;

  // Elements before the vectors, and how many these are, of the group.
  __device__ uint32_t Head() const {
    const uint32_t before =
        static_cast<uint32_t>(reinterpret_cast<uintptr_t>(elements) / sizeof(T)) % kSize;
    return min((kSize - before) % kSize, count);
  }
  __device__ uint32_t VectorCount() const { return (count - Head()) / kSize; }

  // The vectors of thread `rank` of `threads`.
  __device__ VectorShare<T, kInFlight, kPieces> Vectors(uint32_t rank, uint32_t threads) const {
    const uint32_t vectors = VectorCount();
    return {reinterpret_cast<const uint4*>(elements + Head()) + rank,
            vectors > rank ? vectors - rank : 0, threads};
  }
  __device__ void AddEdges(uint32_t rank, uint32_t threads, GroupSum<T>& sum) const {
    constexpr uint32_t kEdges = kSize - 1;  // On either side.
    constexpr ComputeType<T> kNothing = -0.0f;
    const uint32_t head = Head();
    const uint32_t tail = head + VectorCount() * kSize;
    if (head == 0 && tail == count) return;
    ComputeType<T> edges[2 * kEdges];
#pragma unroll
    for (uint32_t i = 0; i < kEdges; ++i) {
      const uint32_t at = rank + i * threads;
      edges[i] = at < head ? ToCompute(elements[at]) : kNothing;
      edges[kEdges + i] = tail + at < count ? ToCompute(elements[tail + at]) : kNothing;
    }
    sum.Add(edges);
  }
};

// The sum of the share of thread `rank` of `threads`.
template <uint32_t kInFlight, uint32_t kPieces, class T>
__device__ inline GroupSum<T> SumOfThread(const T* elements, uint32_t count, uint32_t rank,
                                          uint32_t threads) {
  const GroupShare<T, kInFlight, kPieces> share{elements, count};
  GroupSum<T> sum;
  VectorShare<T, kInFlight, kPieces> vectors = share.Vectors(rank, threads);
  uint4 raw[kInFlight];
  vectors.Load(raw);
#pragma unroll 1
  while (vectors.left > 0) {
    const VectorShare<T, kInFlight, kPieces> rest = vectors.Rest();
    vectors.AddTo(sum, raw, rest);
    vectors = rest;
  }
  share.AddEdges(rank, threads, sum);
  return sum;
}

}  // namespace gridfold::kernels::cuda

#endif  // GRIDFOLD_KERNELS_CUDA_REDUCE_GROUPS_SHARES_CUH_
