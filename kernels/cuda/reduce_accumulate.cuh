// How a thread takes elements into its state: a batch at a time, 16 bytes of an array in a row.
//
// The parts decide what an element does; here they are only fed with fewer operations. Integer
// parts take a batch's sum, which is exact, and extremes take a batch's best element, which is the
// first to come before all others by ExtremeState::IsBefore. Moments of floating-point elements are
// kept apart (reduce_moments.cuh).
#ifndef GRIDFOLD_KERNELS_CUDA_REDUCE_ACCUMULATE_CUH_
#define GRIDFOLD_KERNELS_CUDA_REDUCE_ACCUMULATE_CUH_

#include <bit>
#include <cstdint>
#include <limits>
#include <type_traits>

#include "kernels/cuda/reduce_moments.cuh"
#include "kernels/cuda/reduce_tuning.h"
#include "kernels/numerics/reduction_state.h"

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

// What a thread loads turn by turn: kInFlight vectors, a vector of each thread apart.
template <class T, uint32_t kInFlight>
struct LoadedTurns {
  static constexpr uint32_t kSize = kVectorSize<T>;
  using Batches = Batch<ComputeType<T>, kSize>[kInFlight];

  const uint4* first;
  uint32_t threads;
  uint64_t first_index;  // Of the first element of *first.

  __device__ uint64_t step() const { return uint64_t{threads} * kSize; }
  __device__ const uint4* Of(uint32_t turn) const {
    return first + uint64_t{turn} * kInFlight * threads;
  }
  __device__ uint64_t IndexOf(uint32_t turn) const {
    return first_index + uint64_t{turn} * kInFlight * step();
  }
  __device__ void Load(const uint4* at, uint4 (&raw)[kInFlight]) const {
#pragma unroll
    for (uint32_t k = 0; k < kInFlight; ++k) raw[k] = at[uint64_t{k} * threads];
  }
  __device__ static void Convert(const uint4 (&raw)[kInFlight], Batches& batches) {
#pragma unroll
    for (uint32_t k = 0; k < kInFlight; ++k) batches[k] = BatchOf<T>(raw[k]);
  }
};

// The turns that brought the extremes of finite floating-point elements. Which element of the turn
// it was is looked up once, at the end: a warp has some lane with a new extreme in most turns.
template <class S>
struct ExtremeTurns {
  static constexpr uint32_t kNone = ~uint32_t{0};
  S min = std::numeric_limits<S>::infinity();
  S max = -std::numeric_limits<S>::infinity();
  uint32_t min_turn = kNone;
  uint32_t max_turn = kNone;

  template <uint32_t kSize, uint32_t kCount>
  __device__ void Add(const Batch<S, kSize> (&batches)[kCount], uint32_t turn) {
    S least = batches[0].values[0];
    S greatest = least;
#pragma unroll
    for (uint32_t i = 1; i < kSize * kCount; ++i) {
      least = fmin(least, batches[i / kSize].values[i % kSize]);
      greatest = fmax(greatest, batches[i / kSize].values[i % kSize]);
    }
    min_turn = least < min ? turn : min_turn;
    min = fmin(min, least);
    max_turn = greatest > max ? turn : max_turn;
    max = fmax(max, greatest);
  }
};

// The parts that a thread keeps in registers, and what is known of the others besides their words.
template <class T, uint32_t kParts>
struct RegisterState : ReductionState<T, FloatingElement<T> ? kParts & ~kMomentParts : kParts> {
  using Base = ReductionState<T, FloatingElement<T> ? kParts & ~kMomentParts : kParts>;
  static constexpr bool kHasWords = FloatingElement<T> && (kParts & kMomentParts) != 0;
  struct NoFlags {};
  std::conditional_t<kHasWords, MomentFlags, NoFlags> flags;

  // The registers of a state that is complete.
  __device__ static RegisterState Of(const ReductionState<T, kParts>& state) {
    RegisterState registers;
    registers.Assign(state);
    if constexpr (kHasWords) {
      MomentWords<T, kParts>::ForEach([&](auto, uint32_t, auto part) {
        FlagsOf(registers.flags, part) = state.template Part<part()>().sum.flags();
      });
    }
    return registers;
  }

  template <class F>
  __device__ void ForEachPart(F&& f) {
    Base::ForEachPart(f);
    if constexpr (kHasWords) f(flags);
  }
  __device__ void Merge(const RegisterState& other) {
    Base::Merge(other);
    if constexpr (kHasWords) flags.Merge(other.flags);
  }
};

// What a thread keeps of the elements that it takes.
template <class T, uint32_t kParts>
class Accumulator {
 public:
  using S = ComputeType<T>;
  using Registers = RegisterState<T, kParts>;
  using Base = typename Registers::Base;
  static constexpr bool kHasWords = Registers::kHasWords;

  // `words` are the thread's own.
  __device__ Accumulator(WordColumn words, bool ignore_nan)
      : ignore_nan_(ignore_nan), moments_(words) {}

  // Forgets everything.
  __device__ void Reset() {
    registers_ = Registers();
    moments_.Reset();
  }

  // Takes batches that were loaded together: one look for all of them tells whether they are
  // ordinary. Element k of batch b has the index first_index + b * step + k * stride of its group.
  // Requires that every index taken before is smaller.
  template <uint32_t kSize, uint32_t kCount>
  __device__ void Add(const Batch<S, kSize> (&batches)[kCount], uint64_t first_index, uint64_t step,
                      uint32_t stride) {
    if constexpr (kHasWords) {
      if (AddMoments(batches)) {
        if constexpr (Base::kParts != 0) AddFiniteToRegisters(batches, first_index, step, stride);
        return;
      }
    }
    if constexpr (Base::kParts != 0) AddToRegisters(batches, first_index, step, stride);
  }

  // Takes `turns` turns of loads.
  template <uint32_t kInFlight>
  __device__ void AddTurns(const LoadedTurns<T, kInFlight>& loads, uint32_t turns) {
    if (turns == 0) return;
    // The next turn's loads are under way while this one is added, where threads are few and have
    // the registers.
    constexpr bool kLoadsAhead = HasWindow();
    uint4 raw[kInFlight];
    [[maybe_unused]] ExtremeTurns<S> extremes;
    const uint4* at = loads.first;
    if constexpr (kLoadsAhead) loads.Load(at, raw);
#pragma unroll 1
    for (uint32_t turn = 0; turn < turns; ++turn) {
      if constexpr (!kLoadsAhead) loads.Load(at, raw);
      at += uint64_t{kInFlight} * loads.threads;
      if constexpr (HalfElement<T> && kParts == kSumPart) {
        if (!ignore_nan_) {
#pragma unroll
          for (uint32_t k = 0; k < kInFlight; ++k) AddHalves(raw[k]);
          continue;
        }
      }
      typename LoadedTurns<T, kInFlight>::Batches batches;
      loads.Convert(raw, batches);
      if constexpr (kLoadsAhead) {
        if (turn + 1 < turns) loads.Load(at, raw);
      }
      if constexpr (kHasWords) {
        if (AddMoments(batches)) {
          if constexpr ((kParts & kTallyPart) != 0) {
            AddFinite(batches, 0, 0, 1, registers_.template Part<kTallyPart>());
          }
          if constexpr ((kParts & kExtremesPart) != 0) extremes.Add(batches, turn);
          continue;
        }
      }
      if constexpr (Base::kParts != 0) {
        AddToRegisters(batches, loads.IndexOf(turn), loads.step(), 1);
      }
    }
    if constexpr (kHasWords && (kParts & kExtremesPart) != 0) {
      auto& part = registers_.template Part<kExtremesPart>();
      AddExtremeOfTurn(loads, extremes.min_turn, part.min);
      AddExtremeOfTurn(loads, extremes.max_turn, part.max);
    }
  }

  __device__ void AddElement(T x, uint64_t index) {
    const Batch<S, 1> batches[1] = {{{ToCompute(x)}}};
    Add(batches, index, 0, 1);
  }

  // Brings moments into the words and returns the rest. What follows is Reset.
  __device__ Registers Close() {
    if constexpr (kHasWords) registers_.flags = moments_.Close();
    return registers_;
  }

 private:
  struct NoMoments {
    __device__ explicit NoMoments(WordColumn) {}
    __device__ void Reset() {}
  };

  // Sums of 16-bit elements alone.
  __device__ void AddHalves(const uint4& raw) {
    if (moments_.AddPacked(raw)) return;
    const Batch<S, kVectorSize<T>> batches[1] = {BatchOf<T>(raw)};
    AddMoments(batches);
  }

  static constexpr bool HasWindow() {
    if constexpr (kHasWords) {
      return MomentWords<T, kParts>::kHasWindow;
    } else {
      return false;
    }
  }

  // Adds to the moments; returns whether the elements are known to be finite.
  template <uint32_t kSize, uint32_t kCount>
  __device__ bool AddMoments(const Batch<S, kSize> (&batches)[kCount]) {
    static_assert(kSize * kCount <= ReduceTuning::kGroupElementsMax);
    S values[kCount][kSize];
#pragma unroll
    for (uint32_t i = 0; i < kSize * kCount; ++i) {
      values[i / kSize][i % kSize] = batches[i / kSize].values[i % kSize];
    }
    if (ignore_nan_) {
      bool has_nan = false;
      bool has_number = false;
#pragma unroll
      for (uint32_t i = 0; i < kSize * kCount; ++i) {
        S& x = values[i / kSize][i % kSize];
        has_nan = has_nan || IsNan(x);
        has_number = has_number || !IsNan(x);
        if (IsNan(x)) x = S{-0.0};  // Adds nothing to any moment.
      }
      if (!has_number) return false;
      return moments_.Add(values) && !has_nan;
    }
    return moments_.Add(values);
  }

  template <uint32_t kSize, uint32_t kCount>
  __device__ void AddFiniteToRegisters(const Batch<S, kSize> (&batches)[kCount],
                                       uint64_t first_index, uint64_t step, uint32_t stride) {
    registers_.Base::ForEachPart(
        [&](auto& part) { AddFinite(batches, first_index, step, stride, part); });
  }

  // Loops over batches are unrolled: an index that is known at run time only would send them to
  // memory.
  template <uint32_t kSize, uint32_t kCount>
  __device__ void AddToRegisters(const Batch<S, kSize> (&batches)[kCount], uint64_t first_index,
                                 uint64_t step, uint32_t stride) {
#pragma unroll
    for (uint32_t b = 0; b < kCount; ++b) {
      const uint64_t index = first_index + b * step;
      if (FloatingElement<T> && ignore_nan_ && HasNan(batches[b])) {
#pragma unroll
        for (uint32_t k = 0; k < kSize; ++k) {
          AddRegisters(batches[b].values[k], index + k * stride);
        }
      } else {
        registers_.Base::ForEachPart(
            [&](auto& part) { AddBatch(batches[b], index, stride, part); });
      }
    }
  }

  template <uint32_t kInFlight, bool kIsMax>
  __device__ static void AddExtremeOfTurn(const LoadedTurns<T, kInFlight>& loads, uint32_t turn,
                                          ExtremeState<S, kIsMax>& extreme) {
    if (turn == ExtremeTurns<S>::kNone) return;
    uint4 raw[kInFlight];
    typename LoadedTurns<T, kInFlight>::Batches batches;
    loads.Load(loads.Of(turn), raw);
    loads.Convert(raw, batches);
    ExtremeState<S, kIsMax> of_turn;
#pragma unroll
    for (uint32_t b = 0; b < kInFlight; ++b) {
      AddBatch(batches[b], loads.IndexOf(turn) + b * loads.step(), 1, of_turn);
    }
    extreme.Merge(of_turn);  // Other turns may have brought the same value, earlier or later.
  }

  // Where NaNs are ignored.
  __device__ void AddRegisters(S x, uint64_t index) {
    if (!IsNan(x)) {
      registers_.Base::ForEachPart([&](auto& part) { part.Add(x, index); });
    } else if constexpr ((kParts & kTallyPart) != 0) {
      registers_.template Part<kTallyPart>().nan += 1;
    }
  }

  bool ignore_nan_;
  Registers registers_;
  std::conditional_t<kHasWords, MomentAccumulator<T, kParts>, NoMoments> moments_;
};

// Takes the share of thread `rank` of `threads` in `count` elements, of which the first has index 0
// of its group. The shares of all threads together are all elements; each thread takes its own in
// increasing order. kInFlight loads of 16 bytes are under way at once.
template <uint32_t kInFlight, class T, class Accumulator>
__device__ inline void AddRange(const T* elements, uint64_t count, uint32_t rank, uint32_t threads,
                                Accumulator& accumulator) {
  constexpr uint32_t kSize = kVectorSize<T>;
  const uint32_t misaligned =
      static_cast<uint32_t>(reinterpret_cast<uintptr_t>(elements) % ReduceTuning::kVectorBytes);
  uint64_t head = misaligned == 0 ? 0 : (ReduceTuning::kVectorBytes - misaligned) / sizeof(T);
  if (head > count) head = count;
#pragma unroll 1
  for (uint64_t i = rank; i < head; i += threads) accumulator.AddElement(elements[i], i);

  // Turns in which every thread has all its loads: the loop to be fast in keeps little alive.
  const uint4* const vectors = reinterpret_cast<const uint4*>(elements + head);
  const uint64_t vector_count = (count - head) / kSize;
  const uint32_t turns = static_cast<uint32_t>(vector_count / (kInFlight * uint64_t{threads}));
  const LoadedTurns<T, kInFlight> loads{vectors + rank, threads, head + uint64_t{rank} * kSize};
  accumulator.AddTurns(loads, turns);

  uint64_t i = uint64_t{turns} * kInFlight * threads + rank;
#pragma unroll 1
  for (; i < vector_count; i += threads) {
    const Batch<ComputeType<T>, kSize> batches[1] = {BatchOf<T>(vectors[i])};
    accumulator.Add(batches, head + i * kSize, 0, 1);
  }
#pragma unroll 1
  for (uint64_t tail = head + vector_count * kSize + rank; tail < count; tail += threads) {
    accumulator.AddElement(elements[tail], tail);
  }
}

}  // namespace gridfold::kernels::cuda

#endif  // GRIDFOLD_KERNELS_CUDA_REDUCE_ACCUMULATE_CUH_
