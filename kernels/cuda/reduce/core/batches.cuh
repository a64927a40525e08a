// The parts of a state take elements a batch at a time, 16 bytes of an array in a row.
//
// The parts decide what an element does; here they are only fed with fewer operations. Integer
// parts take a batch's sum, which is exact, and extremes take a batch's best element, which is the
// first to come before all others by ExtremeState::IsBefore. Moments of floating-point elements are
// kept apart (moments.cuh).
//
// Example, a sum and a minimum of int32, a batch 5 -2 9 4 from index 8 on:
//
//   sum += 16; the batch's best is -2 at index 9, compared once with the minimum so far
#ifndef GRIDFOLD_KERNELS_CUDA_REDUCE_CORE_BATCHES_CUH_
#define GRIDFOLD_KERNELS_CUDA_REDUCE_CORE_BATCHES_CUH_

#include <bit>
#include <cstdint>
#include <type_traits>

#include "kernels/cuda/reduce/plan/tuning.h"
#include "kernels/numerics/statistics/reduction_state.h"

namespace gridfold::kernels::cuda {

// Elements of a group in increasing order, in their compute type. Element k has the index
// `first + k * stride`, where first and stride are told beside it.
template <class S, uint32_t kBatchSize>
struct Batch {
  static constexpr uint32_t kSize = kBatchSize;
  S values[kSize];
};

template <class T>
inline constexpr uint32_t kVectorSize = ReduceTuning::kVectorBytes / sizeof(T);

// What one load brings.
template <class T>
__device__ inline Batch<ComputeType<T>, kVectorSize<T>> BatchOf(const uint4& raw) {
  struct Elements {
    T values[kVectorSize<T>];
  };
  const Elements elements = std::bit_cast<Elements>(raw);
  Batch<ComputeType<T>, kVectorSize<T>> batch;
#pragma unroll
  for (uint32_t k = 0; k < kVectorSize<T>; ++k) batch.values[k] = ToCompute(elements.values[k]);
  return batch;
}

// Calls f(vector, k) for the first `count` vectors, with the code for one. Leaves nothing in `raw`
// that is of use: vectors move to where the first was, since registers have no index.
template <uint32_t kCount, class F>
__device__ inline void ForEachVector(uint4 (&raw)[kCount], uint32_t count, F f) {
#pragma unroll 1
  for (uint32_t k = 0; k < count; ++k) {
    f(raw[0], k);
#pragma unroll
    for (uint32_t i = 0; i + 1 < kCount; ++i) raw[i] = raw[i + 1];
  }
}

// 64-bit elements have no wider machine integer to be summed in.
template <class T>
concept NarrowInteger = IntegerElement<T> && sizeof(T) < 8;

template <class T>
using NarrowSum = std::conditional_t<std::is_signed_v<T>, int64_t, uint64_t>;

// 8-bit integers that fill whole words, of which four are multiplied and added at a time.
template <class T, uint32_t kSize>
concept ByteVector = IntegerElement<T> && sizeof(T) == 1 && kSize % 4 == 0;

// The sum over the batch of each element times that of factors(word), which gives four for four.
// It fits: a batch has at most 16 elements.
template <class T, uint32_t kSize, class Factors>
__device__ inline auto DotProduct(const Batch<T, kSize>& batch, Factors factors) {
  struct Words {
    uint32_t words[kSize / 4];
  };
  static_assert(kSize <= 16);
  const Words words = std::bit_cast<Words>(batch);
  std::conditional_t<std::is_signed_v<T>, int32_t, uint32_t> sum = 0;
#pragma unroll
  for (const uint32_t word : words.words) {
    if constexpr (std::is_signed_v<T>) {
      sum = __dp4a(static_cast<int32_t>(word), static_cast<int32_t>(factors(word)), sum);
    } else {
      sum = __dp4a(word, factors(word), sum);
    }
  }
  return sum;
}

template <class Part, class T, uint32_t kSize>
__device__ inline void AddEach(const Batch<T, kSize>& batch, Part& part) {
#pragma unroll
  for (uint32_t k = 0; k < kSize; ++k) part.Add(batch.values[k], 0);  // Only extremes use indices.
}

template <class T, uint32_t kSize>
__device__ inline void AddBatch(const Batch<T, kSize>& batch, uint64_t, uint32_t,
                                SumState<T>& part) {
  if constexpr (ByteVector<T, kSize>) {
    part.sum += DotProduct(batch, [](uint32_t) { return 0x0101'0101u; });
  } else if constexpr (NarrowInteger<T>) {
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
  if constexpr (ByteVector<T, kSize>) {
    part.sum += static_cast<uint32_t>(DotProduct(batch, [](uint32_t word) { return word; }));
  } else if constexpr (NarrowInteger<T> && sizeof(T) < 4) {
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

// The smaller or the larger of two floats; a NaN where one is.
template <bool kIsMax>
__device__ inline float ExtremeOrNan(float a, float b) {
  float extreme;
  if constexpr (kIsMax) {
    asm("max.NaN.f32 %0, %1, %2;" : "=f"(extreme) : "f"(a), "f"(b));
  } else {
    asm("min.NaN.f32 %0, %1, %2;" : "=f"(extreme) : "f"(a), "f"(b));
  }
  return extreme;
}

// The more extreme of each two halves.
template <bool kIsMax, class T>
__device__ inline uint32_t ExtremeHalves(uint32_t a, uint32_t b) {
  if constexpr (std::is_signed_v<T>) return kIsMax ? __vmaxs2(a, b) : __vmins2(a, b);
  return kIsMax ? __vmaxu2(a, b) : __vminu2(a, b);
}

// The most extreme of a batch of bytes, which are the upper bytes of 16-bit numbers, two of which
// are compared at a time.
template <bool kIsMax, class T, uint32_t kSize>
__device__ inline T BestOf(const Batch<T, kSize>& batch) requires(ByteVector<T, kSize>) {
  struct Words {
    uint32_t words[kSize / 4];
  };
  const Words words = std::bit_cast<Words>(batch);
  uint32_t best = words.words[0];
#pragma unroll
  for (uint32_t k = 0; k < kSize / 4; ++k) {
    if (k > 0) best = ExtremeHalves<kIsMax, T>(best, words.words[k]);
    best = ExtremeHalves<kIsMax, T>(best, words.words[k] << 8);
  }
  best = ExtremeHalves<kIsMax, T>(best, best << 16);
  return static_cast<T>(best >> 24);
}

// An element's value before which no other of the batch comes; of zeros, either.
template <bool kIsMax, class S, uint32_t kSize>
__device__ inline S BestOf(const Batch<S, kSize>& batch) {
  using Extreme = ExtremeState<S, kIsMax>;
  S best = batch.values[0];
#pragma unroll
  for (uint32_t k = 1; k < kSize; ++k) {
    const S x = batch.values[k];
    if constexpr (std::is_same_v<S, float>) {
      best = ExtremeOrNan<kIsMax>(best, x);
    } else {
      best = Extreme::IsBefore(x, best) ? x : best;
    }
  }
  return best;
}

// Requires that every index added before is smaller.
template <class T, uint32_t kSize, bool kIsMax>
__device__ inline void AddBatch(const Batch<T, kSize>& batch, uint64_t index, uint32_t stride,
                                ExtremeState<T, kIsMax>& extreme) {
  using Extreme = ExtremeState<T, kIsMax>;
  const T best = BestOf<kIsMax>(batch);
  // The first of equal elements counts, and that is never the later one: most batches end here.
  if (extreme.index != kNoIndex && !Extreme::IsBefore(best, extreme.value)) return;
  // The last one looked at is the first of those that are as good as the best. Of zeros, which are
  // equal, it says which it is.
  uint32_t first = 0;
  T value = best;
#pragma unroll
  for (uint32_t k = kSize; k-- > 0;) {
    if (Extreme::IsBefore(best, batch.values[k])) continue;
    first = k;
    if constexpr (FloatingElement<T>) value = batch.values[k];
  }
  extreme = {value, index + first * stride};
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

// Extremes and tallies of `kCount` batches of floating-point elements none of which is NaN or
// infinite. The first element of batch b has the index first_index + b * step.
template <class S, uint32_t kSize, uint32_t kCount, bool kIsMax>
__device__ inline void AddFinite(const Batch<S, kSize> (&batches)[kCount], uint64_t first_index,
                                 uint64_t step, uint32_t stride, ExtremeState<S, kIsMax>& extreme) {
  S best = batches[0].values[0];
#pragma unroll
  for (uint32_t b = 0; b < kCount; ++b) {
#pragma unroll
    for (uint32_t k = 0; k < kSize; ++k) {
      best = kIsMax ? fmax(best, batches[b].values[k]) : fmin(best, batches[b].values[k]);
    }
  }
  // Of equals the first counts, and that is never the later one: most batches end here.
  const bool improves = kIsMax ? best > extreme.value : best < extreme.value;
  if (extreme.index != kNoIndex && !improves) return;
#pragma unroll
  for (uint32_t b = 0; b < kCount; ++b) {
    AddBatch(batches[b], first_index + b * step, stride, extreme);
  }
}

template <class S, uint32_t kSize, uint32_t kCount>
__device__ inline void AddFinite(const Batch<S, kSize> (&batches)[kCount], uint64_t first_index,
                                 uint64_t step, uint32_t stride, ExtremesState<S>& part) {
  AddFinite(batches, first_index, step, stride, part.min);
  AddFinite(batches, first_index, step, stride, part.max);
}

template <class S, uint32_t kSize, uint32_t kCount>
__device__ inline void AddFinite(const Batch<S, kSize> (&batches)[kCount], uint64_t, uint64_t,
                                 uint32_t, TallyState<S>& part) {
  uint32_t nonzero = 0;
#pragma unroll
  for (uint32_t b = 0; b < kCount; ++b) {
#pragma unroll
    for (uint32_t k = 0; k < kSize; ++k) nonzero += batches[b].values[k] != 0 ? 1 : 0;
  }
  part.nonzero += nonzero;
}

}  // namespace gridfold::kernels::cuda

#endif  // GRIDFOLD_KERNELS_CUDA_REDUCE_CORE_BATCHES_CUH_
