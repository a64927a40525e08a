// How a thread takes elements into its state: a batch at a time, 16 bytes of an array in a row.
//
// The parts decide what an element does; here they are only fed with fewer operations. Integer
// parts take a batch's sum, which is exact, and extremes take a batch's best element, which is the
// first to come before all others by ExtremeState::IsBefore. Floating-point sums take each element.
#ifndef GRIDFOLD_KERNELS_CUDA_REDUCE_ACCUMULATE_CUH_
#define GRIDFOLD_KERNELS_CUDA_REDUCE_ACCUMULATE_CUH_

#include <bit>
#include <cstdint>
#include <type_traits>

#include "kernels/cuda/reduce_tuning.h"
#include "kernels/numerics/reduction_state.h"

namespace gridfold::kernels::cuda {

// Elements of a group, in increasing order. Element k has the index `first + k * stride`, where
// first and stride are told beside it.
template <class T, uint32_t kBatchSize>
struct Batch {
  static constexpr uint32_t kSize = kBatchSize;
  T values[kSize];
};

// What one load brings.
template <class T>
using Vector = Batch<T, ReduceTuning::kVectorBytes / sizeof(T)>;

// 64-bit elements have no wider machine integer to be summed in.
template <class T>
concept NarrowInteger = IntegerElement<T> && sizeof(T) < 8;

template <class T>
using NarrowSum = std::conditional_t<std::is_signed_v<T>, int64_t, uint64_t>;

template <class Part, class T, uint32_t kSize>
__device__ inline void AddEach(const Batch<T, kSize>& batch, Part& part) {
#pragma unroll
  for (uint32_t k = 0; k < kSize; ++k) part.Add(batch.values[k], 0);  // Only extremes use indices.
}

template <class T, uint32_t kSize>
__device__ inline void AddBatch(const Batch<T, kSize>& batch, uint64_t, uint32_t,
                                SumState<T>& part) {
  if constexpr (NarrowInteger<T>) {
    NarrowSum<T> sum = 0;
#pragma unroll
    for (uint32_t k = 0; k < kSize; ++k) sum += batch.values[k];
    part.sum += sum;
  } else {
    AddEach(batch, part);
  }
}

template <class T, uint32_t kSize>
__device__ inline void AddBatch(const Batch<T, kSize>& batch, uint64_t, uint32_t,
                                SquaresState<T>& part) {
  if constexpr (NarrowInteger<T> && sizeof(T) < 4) {
    uint64_t sum = 0;
#pragma unroll
    for (uint32_t k = 0; k < kSize; ++k) {
      const uint32_t magnitude = static_cast<uint32_t>(Magnitude(batch.values[k]));
      sum += magnitude * magnitude;
    }
    part.sum += sum;
  } else {
    AddEach(batch, part);
  }
}

template <class T, uint32_t kSize>
__device__ inline void AddBatch(const Batch<T, kSize>& batch, uint64_t, uint32_t,
                                MagnitudesState<T>& part) {
  if constexpr (NarrowInteger<T>) {
    uint64_t sum = 0;
#pragma unroll
    for (uint32_t k = 0; k < kSize; ++k) sum += Magnitude(batch.values[k]);
    part.sum += sum;
  } else {
    AddEach(batch, part);
  }
}

// Requires that every index added before is smaller.
template <class T, uint32_t kSize, bool kIsMax>
__device__ inline void AddBatch(const Batch<T, kSize>& batch, uint64_t index, uint32_t stride,
                                ExtremeState<T, kIsMax>& extreme) {
  using Extreme = ExtremeState<T, kIsMax>;
  ComputeType<T> best = ToCompute(batch.values[0]);
#pragma unroll
  for (uint32_t k = 1; k < kSize; ++k) {
    const ComputeType<T> x = ToCompute(batch.values[k]);
    best = Extreme::IsBefore(x, best) ? x : best;
  }
  // Of equals the first counts, and that is never the later one: most batches end here.
  if (extreme.index != kNoIndex && !Extreme::IsBefore(best, extreme.value)) return;
  uint32_t first = 0;
#pragma unroll
  for (uint32_t k = kSize - 1; k > 0; --k) {
    first = Extreme::IsBefore(best, ToCompute(batch.values[k])) ? first : k;
  }
  if (!Extreme::IsBefore(best, ToCompute(batch.values[0]))) first = 0;
  extreme = {best, index + first * stride};
}

template <class T, uint32_t kSize>
__device__ inline void AddBatch(const Batch<T, kSize>& batch, uint64_t index, uint32_t stride,
                                ExtremesState<T>& part) {
  AddBatch(batch, index, stride, part.min);
  AddBatch(batch, index, stride, part.max);
}

template <class T, uint32_t kSize>
__device__ inline void AddBatch(const Batch<T, kSize>& batch, uint64_t, uint32_t,
                                TallyState<T>& part) {
  uint32_t nonzero = 0;
  uint32_t nan = 0;
  uint32_t infinite = 0;
#pragma unroll
  for (uint32_t k = 0; k < kSize; ++k) {
    const T x = batch.values[k];
    nonzero += ToCompute(x) != ComputeType<T>{0} ? 1 : 0;
    nan += IsNan(x) ? 1 : 0;
    infinite += IsInfinite(x) ? 1 : 0;
  }
  part.Merge({nonzero, nan, infinite});
}

template <class T, uint32_t kSize>
__device__ inline void AddBatch(const Batch<T, kSize>& batch, uint64_t, uint32_t,
                                ProductState<T>& part) {
  AddEach(batch, part);
}
template <class T, uint32_t kSize>
__device__ inline void AddBatch(const Batch<T, kSize>& batch, uint64_t, uint32_t,
                                BitsState<T>& part) {
  AddEach(batch, part);
}

template <class T, uint32_t kSize>
__device__ inline bool HasNan(const Batch<T, kSize>& batch) {
  bool has_nan = false;
#pragma unroll
  for (uint32_t k = 0; k < kSize; ++k) has_nan = has_nan || IsNan(batch.values[k]);
  return has_nan;
}

// Takes a batch, the elements of which have the indices index, index + stride, ... of their group.
// Requires that every index taken before is smaller.
template <class T, uint32_t kSize, uint32_t kParts>
__device__ inline void AddBatch(const Batch<T, kSize>& batch, uint64_t index, uint32_t stride,
                                bool ignore_nan, ReductionState<T, kParts>& state) {
  if (FloatingElement<T> && ignore_nan && HasNan(batch)) {
#pragma unroll 1
    for (uint32_t k = 0; k < kSize; ++k) state.Add(batch.values[k], index + k * stride, true);
    return;
  }
  state.ForEachPart([&](auto& part) { AddBatch(batch, index, stride, part); });
}

// Takes the share of thread `rank` of `threads` in `count` elements, the first of which has index
// `first_index` of its group. The shares of all threads together are all elements; each thread
// takes its own in increasing order.
template <class T, uint32_t kParts>
__device__ inline void AddRange(const T* elements, uint64_t count, uint64_t first_index,
                                uint32_t rank, uint32_t threads, bool ignore_nan,
                                ReductionState<T, kParts>& state) {
  constexpr uint32_t kSize = Vector<T>::kSize;
  constexpr uint32_t kInFlight = ReduceTuning::kVectorsInFlight;
  const uint32_t misaligned =
      static_cast<uint32_t>(reinterpret_cast<uintptr_t>(elements) % ReduceTuning::kVectorBytes);
  uint64_t head = misaligned == 0 ? 0 : (ReduceTuning::kVectorBytes - misaligned) / sizeof(T);
  if (head > count) head = count;
  for (uint64_t i = rank; i < head; i += threads) {
    state.Add(elements[i], first_index + i, ignore_nan);
  }

  const uint4* const vectors = reinterpret_cast<const uint4*>(elements + head);
  const uint64_t vector_count = (count - head) / kSize;
  const uint64_t vector_index = first_index + head;
  uint64_t i = rank;
  for (; i + (kInFlight - 1) * threads < vector_count; i += kInFlight * threads) {
    uint4 raw[kInFlight];
#pragma unroll
    for (uint32_t k = 0; k < kInFlight; ++k) raw[k] = vectors[i + k * threads];
#pragma unroll
    for (uint32_t k = 0; k < kInFlight; ++k) {
      AddBatch(std::bit_cast<Vector<T>>(raw[k]), vector_index + (i + k * threads) * kSize, 1,
               ignore_nan, state);
    }
  }
  for (; i < vector_count; i += threads) {
    AddBatch(std::bit_cast<Vector<T>>(vectors[i]), vector_index + i * kSize, 1, ignore_nan, state);
  }

  for (uint64_t tail = head + vector_count * kSize + rank; tail < count; tail += threads) {
    state.Add(elements[tail], first_index + tail, ignore_nan);
  }
}

}  // namespace gridfold::kernels::cuda

#endif  // GRIDFOLD_KERNELS_CUDA_REDUCE_ACCUMULATE_CUH_
