// How a thread takes elements into its state: 16 bytes at a time where it can.
//
// The parts decide what an element does; here they are only fed with fewer operations. Integer parts
// take a vector's sum, which is exact, and extremes take a vector's best element, which is the first
// to come before all others by ExtremeState::IsBefore. Floating-point sums take each element.
#ifndef GRIDFOLD_KERNELS_CUDA_REDUCE_ACCUMULATE_CUH_
#define GRIDFOLD_KERNELS_CUDA_REDUCE_ACCUMULATE_CUH_

#include <bit>
#include <cstdint>
#include <type_traits>

#include "kernels/cuda/reduce_tuning.h"
#include "kernels/numerics/reduction_state.h"

namespace gridfold::kernels::cuda {

template <class T>
struct alignas(ReduceTuning::kVectorBytes) Vector {
  static constexpr uint32_t kSize = ReduceTuning::kVectorBytes / sizeof(T);
  T values[kSize];
};

// 64-bit elements have no wider machine integer to be summed in.
template <class T>
concept NarrowInteger = IntegerElement<T> && sizeof(T) < 8;

template <class T>
using NarrowSum = std::conditional_t<std::is_signed_v<T>, int64_t, uint64_t>;

template <class Part, class T>
__device__ inline void AddEach(const Vector<T>& vector, uint64_t index, Part& part) {
#pragma unroll
  for (uint32_t k = 0; k < Vector<T>::kSize; ++k) part.Add(vector.values[k], index + k);
}

template <class T>
__device__ inline void AddVector(const Vector<T>& vector, uint64_t index, SumState<T>& part) {
  if constexpr (NarrowInteger<T>) {
    NarrowSum<T> sum = 0;
#pragma unroll
    for (uint32_t k = 0; k < Vector<T>::kSize; ++k) sum += vector.values[k];
    part.sum += sum;
  } else {
    AddEach(vector, index, part);
  }
}

template <class T>
__device__ inline void AddVector(const Vector<T>& vector, uint64_t index, SquaresState<T>& part) {
  if constexpr (NarrowInteger<T> && sizeof(T) < 4) {
    uint64_t sum = 0;
#pragma unroll
    for (uint32_t k = 0; k < Vector<T>::kSize; ++k) {
      const uint32_t magnitude = static_cast<uint32_t>(Magnitude(vector.values[k]));
      sum += magnitude * magnitude;
    }
    part.sum += sum;
  } else {
    AddEach(vector, index, part);
  }
}

template <class T>
__device__ inline void AddVector(const Vector<T>& vector, uint64_t index, MagnitudesState<T>& part) {
  if constexpr (NarrowInteger<T>) {
    uint64_t sum = 0;
#pragma unroll
    for (uint32_t k = 0; k < Vector<T>::kSize; ++k) sum += Magnitude(vector.values[k]);
    part.sum += sum;
  } else {
    AddEach(vector, index, part);
  }
}

// Requires that every index added before is smaller.
template <class T, bool kIsMax>
__device__ inline void AddVector(const Vector<T>& vector, uint64_t index,
                                 ExtremeState<T, kIsMax>& extreme) {
  using Extreme = ExtremeState<T, kIsMax>;
  ComputeType<T> best = ToCompute(vector.values[0]);
#pragma unroll
  for (uint32_t k = 1; k < Vector<T>::kSize; ++k) {
    const ComputeType<T> x = ToCompute(vector.values[k]);
    best = Extreme::IsBefore(x, best) ? x : best;
  }
  // Of equals the first counts, and that is never the later one: most vectors end here.
  if (extreme.index != kNoIndex && !Extreme::IsBefore(best, extreme.value)) return;
  uint32_t first = 0;
#pragma unroll
  for (uint32_t k = Vector<T>::kSize - 1; k > 0; --k) {
    first = Extreme::IsBefore(best, ToCompute(vector.values[k])) ? first : k;
  }
  if (!Extreme::IsBefore(best, ToCompute(vector.values[0]))) first = 0;
  extreme = {best, index + first};
}

template <class T>
__device__ inline void AddVector(const Vector<T>& vector, uint64_t index, ExtremesState<T>& part) {
  AddVector(vector, index, part.min);
  AddVector(vector, index, part.max);
}

template <class T>
__device__ inline void AddVector(const Vector<T>& vector, uint64_t, TallyState<T>& part) {
  uint32_t nonzero = 0;
  uint32_t nan = 0;
  uint32_t infinite = 0;
#pragma unroll
  for (uint32_t k = 0; k < Vector<T>::kSize; ++k) {
    const T x = vector.values[k];
    nonzero += ToCompute(x) != ComputeType<T>{0} ? 1 : 0;
    nan += IsNan(x) ? 1 : 0;
    infinite += IsInfinite(x) ? 1 : 0;
  }
  part.Merge({nonzero, nan, infinite});
}

template <class T>
__device__ inline void AddVector(const Vector<T>& vector, uint64_t index, ProductState<T>& part) {
  AddEach(vector, index, part);
}
template <class T>
__device__ inline void AddVector(const Vector<T>& vector, uint64_t index, BitsState<T>& part) {
  AddEach(vector, index, part);
}

template <class T>
__device__ inline bool HasNan(const Vector<T>& vector) {
  bool has_nan = false;
#pragma unroll
  for (uint32_t k = 0; k < Vector<T>::kSize; ++k) has_nan = has_nan || IsNan(vector.values[k]);
  return has_nan;
}

// Takes the elements of a vector, the first of which has index `index` of its group. Requires that
// every index taken before is smaller.
template <class T, uint32_t kParts>
__device__ inline void AddVector(const Vector<T>& vector, uint64_t index, bool ignore_nan,
                                 ReductionState<T, kParts>& state) {
  if (FloatingElement<T> && ignore_nan && HasNan(vector)) {
#pragma unroll 1
    for (uint32_t k = 0; k < Vector<T>::kSize; ++k) state.Add(vector.values[k], index + k, true);
    return;
  }
  state.ForEachPart([&](auto& part) { AddVector(vector, index, part); });
}

// Takes the share of thread `rank` of `threads` in `count` elements, the first of which has index
// `first_index` of its group. The shares of all threads together are all elements; each thread takes
// its own in increasing order.
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
      AddVector(std::bit_cast<Vector<T>>(raw[k]), vector_index + (i + k * threads) * kSize,
                ignore_nan, state);
    }
  }
  for (; i < vector_count; i += threads) {
    AddVector(std::bit_cast<Vector<T>>(vectors[i]), vector_index + i * kSize, ignore_nan, state);
  }

  for (uint64_t tail = head + vector_count * kSize + rank; tail < count; tail += threads) {
    state.Add(elements[tail], first_index + tail, ignore_nan);
  }
}

}  // namespace gridfold::kernels::cuda

#endif  // GRIDFOLD_KERNELS_CUDA_REDUCE_ACCUMULATE_CUH_
