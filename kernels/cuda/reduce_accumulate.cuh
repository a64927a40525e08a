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

#include "kernels/cuda/reduce_merge.cuh"
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

// The vectors of an array that a thread loads, turn by turn: kInFlight of them in a turn, `apart`
// from each other. The last turn may have fewer. A thread takes every turn, or those that its warp
// draws from a counter of the block, so that warps which the hardware favours take more.
template <class T, uint32_t kInFlight>
struct LoadedTurns {
  static constexpr uint32_t kSize = kVectorSize<T>;
  using Batches = Batch<ComputeType<T>, kSize>[kInFlight];

  const uint4* first;  // Of turn 0.
  const uint4* end;    // Of the array.
  uint64_t first_index;  // Of the first element of *first.
  uint64_t turn_stride;  // Vectors from a turn to the next.
  uint32_t apart;
  uint32_t first_turn = 0;
  uint32_t* counter = nullptr;  // In shared memory: turns drawn so far.
  uint32_t lane = 0;            // With a counter, from which a warp draws as one.

  // Elements from a vector of a turn to the next.
  __device__ uint64_t step() const { return uint64_t{apart} * kSize; }
  __device__ const uint4* Of(uint32_t turn) const { return first + turn * turn_stride; }
  __device__ uint64_t IndexOf(uint32_t turn) const {
    return first_index + turn * turn_stride * kSize;
  }
  // The same for all lanes of a warp that draws.
  __device__ bool HasTurn(uint32_t turn) const { return Of(turn) - lane < end; }
  __device__ uint32_t NextTurn(uint32_t turn) const {
    if (counter == nullptr) return turn + 1;
    uint32_t drawn = 0;
    if (lane == 0) drawn = atomicAdd_block(counter, 1u);
    return __shfl_sync(~0u, drawn, 0);
  }

  // Whether there is a k-th vector in the turn that begins at `at`.
  __device__ bool Has(const uint4* at, uint32_t k) const { return at + uint64_t{k} * apart < end; }
  __device__ bool IsFull(const uint4* at) const { return Has(at, kInFlight - 1); }
  __device__ uint32_t VectorsAt(const uint4* at) const {
    if (IsFull(at)) return kInFlight;
    uint32_t count = 0;
#pragma unroll
    for (uint32_t k = 0; k < kInFlight - 1; ++k) count += Has(at, k) ? 1 : 0;
    return count;
  }
  // Loads what there is of a turn; the rest becomes `padding`.
  __device__ void Load(const uint4* at, const uint4& padding, uint4 (&raw)[kInFlight]) const {
    if (IsFull(at)) {
#pragma unroll
      for (uint32_t k = 0; k < kInFlight; ++k) raw[k] = at[uint64_t{k} * apart];
    } else {
#pragma unroll
      for (uint32_t k = 0; k < kInFlight; ++k) {
        raw[k] = Has(at, k) ? at[uint64_t{k} * apart] : padding;
      }
    }
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
  // Whether elements may be taken in any order: moments do not mind, and are all there is.
  static constexpr bool kIsOrderFree = kHasWords && Base::kParts == 0;

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
    if constexpr (Base::kParts != 0) AddToRegisters(batches, kCount, first_index, step, stride);
  }

  // Takes all that a thread loads, but no more than words can take: what a warp leaves for that
  // reason is drawn by others, which have room for it.
  template <uint32_t kInFlight>
  __device__ void AddTurns(const LoadedTurns<T, kInFlight>& loads) {
    constexpr uint32_t kTurnsMax = kHasWords ? ReduceTuning::kAdditionsMax * 3 / 2 /
                                                   (kInFlight * kVectorSize<T>)
                                             : ~uint32_t{0};
    // The next turn's loads are under way while this one is added, where threads are few and have
    // the registers.
    constexpr bool kLoadsAhead = HasWindow();
    uint4 raw[kInFlight];
    [[maybe_unused]] ExtremeTurns<S> extremes;
    uint32_t turn = loads.first_turn;
    if constexpr (kLoadsAhead) {
      if (loads.HasTurn(turn)) loads.Load(loads.Of(turn), Padding(), raw);
    }
#pragma unroll 1
    for (uint32_t taken = 1; loads.HasTurn(turn); ++taken) {
      if constexpr (!kLoadsAhead) loads.Load(loads.Of(turn), Padding(), raw);
      const uint32_t current = turn;
      turn = taken < kTurnsMax ? loads.NextTurn(turn) : kNoTurn;
      if constexpr (kHasWords && !HasWindow()) {
        AddVectors(raw);
      } else {
        typename LoadedTurns<T, kInFlight>::Batches batches;
        loads.Convert(raw, batches);
        if constexpr (kLoadsAhead) {
          if (loads.HasTurn(turn)) loads.Load(loads.Of(turn), Padding(), raw);
        }
        AddTurn(loads, current, batches, extremes);
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

  // Brings moments into the words, which are then read by CloseWords or JoinWords, and returns the
  // rest. What follows is Reset.
  __device__ Registers Close() {
    if constexpr (kHasWords) registers_.flags = moments_.Close();
    return registers_;
  }

 private:
  struct NoMoments {
    __device__ explicit NoMoments(WordColumn) {}
    __device__ void Reset() {}
  };

  static constexpr uint32_t kNoTurn = ~uint32_t{0};
  // What stands for elements that are not there: it adds nothing to any moment.
  __device__ uint4 Padding() const {
    constexpr uint32_t kUpper = HalfElement<T> ? 0x8000'8000u : 0x8000'0000u;
    constexpr uint32_t kLower = sizeof(T) == 8 ? 0 : kUpper;
    constexpr uint32_t kNans = ~uint32_t{0};
    // Of NaNs, which are left out, no sign is noted.
    if (HasWindow() && ignore_nan_) return {kNans, kNans, kNans, kNans};
    return {kLower, kUpper, kLower, kUpper};
  }

  // Words alone.
  template <uint32_t kInFlight>
  __device__ void AddVectors(uint4 (&raw)[kInFlight]) {
    if (ignore_nan_) DropNans(raw);
#pragma unroll
    for (uint32_t k = 0; k < kInFlight; ++k) moments_.AddVector(raw[k]);
  }

  // NaNs become what adds nothing.
  template <uint32_t kInFlight>
  __device__ static void DropNans(uint4 (&raw)[kInFlight]) {
    struct Elements {
      T values[kVectorSize<T>];
    };
    using Bits = std::conditional_t<HalfElement<T>, uint16_t, uint32_t>;
    constexpr T kNegativeZero = std::bit_cast<T>(static_cast<Bits>(1u << (8 * sizeof(T) - 1)));
#pragma unroll
    for (uint32_t k = 0; k < kInFlight; ++k) {
      Elements elements = std::bit_cast<Elements>(raw[k]);
#pragma unroll
      for (T& x : elements.values) x = IsNan(x) ? kNegativeZero : x;
      raw[k] = std::bit_cast<uint4>(elements);
    }
  }

  template <uint32_t kInFlight>
  __device__ void AddTurn(const LoadedTurns<T, kInFlight>& loads, uint32_t turn,
                          const typename LoadedTurns<T, kInFlight>::Batches& batches,
                          ExtremeTurns<S>& extremes) {
    const uint32_t count = loads.VectorsAt(loads.Of(turn));
    if constexpr (kHasWords) {
      const bool are_finite = AddMoments(batches);
      if constexpr (Base::kParts != 0) {
        if (are_finite && count == kInFlight) {
          if constexpr ((kParts & kTallyPart) != 0) {
            AddFinite(batches, 0, 0, 1, registers_.template Part<kTallyPart>());
          }
          if constexpr ((kParts & kExtremesPart) != 0) extremes.Add(batches, turn);
          return;
        }
      }
    }
    if constexpr (Base::kParts != 0) {
      AddToRegisters(batches, count, loads.IndexOf(turn), loads.step(), 1);
    }
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

  // Takes the first `count` of the batches. Loops over batches are unrolled: an index that is known
  // at run time only would send them to memory.
  template <uint32_t kSize, uint32_t kCount>
  __device__ void AddToRegisters(const Batch<S, kSize> (&batches)[kCount], uint32_t count,
                                 uint64_t first_index, uint64_t step, uint32_t stride) {
#pragma unroll
    for (uint32_t b = 0; b < kCount; ++b) {
      if (b >= count) return;
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

  // Where NaNs are ignored.
  __device__ void AddRegisters(S x, uint64_t index) {
    if (!IsNan(x)) {
      registers_.Base::ForEachPart([&](auto& part) { part.Add(x, index); });
    } else if constexpr ((kParts & kTallyPart) != 0) {
      registers_.template Part<kTallyPart>().nan += 1;
    }
  }

  template <uint32_t kInFlight, bool kIsMax>
  __device__ static void AddExtremeOfTurn(const LoadedTurns<T, kInFlight>& loads, uint32_t turn,
                                          ExtremeState<S, kIsMax>& extreme) {
    if (turn == ExtremeTurns<S>::kNone) return;
    uint4 raw[kInFlight];
    typename LoadedTurns<T, kInFlight>::Batches batches;
    loads.Load(loads.Of(turn), {}, raw);  // A full one.
    loads.Convert(raw, batches);
    ExtremeState<S, kIsMax> of_turn;
#pragma unroll
    for (uint32_t b = 0; b < kInFlight; ++b) {
      AddBatch(batches[b], loads.IndexOf(turn) + b * loads.step(), 1, of_turn);
    }
    extreme.Merge(of_turn);  // Other turns may have brought the same value, earlier or later.
  }

  bool ignore_nan_;
  Registers registers_;
  std::conditional_t<kHasWords, MomentAccumulator<T, kParts>, NoMoments> moments_;
};

// Where the vectors of an array begin, and the elements before and after them that are not a vector.
template <class T>
struct VectorRange {
  const uint4* vectors;
  uint64_t count;
  uint64_t head;  // Elements before.
  uint64_t tail;  // Index of the first after.

  __device__ VectorRange(const T* elements, uint64_t element_count) {
    const uint32_t misaligned =
        static_cast<uint32_t>(reinterpret_cast<uintptr_t>(elements) % ReduceTuning::kVectorBytes);
    head = misaligned == 0 ? 0 : (ReduceTuning::kVectorBytes - misaligned) / sizeof(T);
    if (head > element_count) head = element_count;
    vectors = reinterpret_cast<const uint4*>(elements + head);
    count = (element_count - head) / kVectorSize<T>;
    tail = head + count * kVectorSize<T>;
  }
};

// Takes the share of thread `rank` of `threads` in `count` elements, of which the first has index 0
// of its group: its turns of the vectors, as loads(range) gives them, and every threads-th of the
// other elements. Each thread takes its own in increasing order, unless order does not matter.
template <class T, class Accumulator, class Loads>
__device__ inline void AddRange(const T* elements, uint64_t count, uint32_t rank, uint32_t threads,
                                Accumulator& accumulator, Loads loads) {
  const VectorRange<T> range(elements, count);
  const auto add_elements = [&](uint64_t begin, uint64_t end) {
#pragma unroll 1
    for (uint64_t i = begin + rank; i < end; i += threads) accumulator.AddElement(elements[i], i);
  };
  // The loop to be fast in is the last where it can be: less is alive in it.
  add_elements(0, range.head);
  if constexpr (Accumulator::kIsOrderFree) add_elements(range.tail, count);
  accumulator.AddTurns(loads(range));
  if constexpr (!Accumulator::kIsOrderFree) add_elements(range.tail, count);
}

// Turns in which neighbouring threads read neighbouring vectors, thread `rank` of `threads`.
template <uint32_t kInFlight, class T>
__device__ inline LoadedTurns<T, kInFlight> StridedTurns(const VectorRange<T>& range, uint32_t rank,
                                                         uint32_t threads) {
  return {.first = range.vectors + rank,
          .end = range.vectors + range.count,
          .first_index = range.head + uint64_t{rank} * kVectorSize<T>,
          .turn_stride = uint64_t{threads} * kInFlight,
          .apart = threads};
}

// Turns that the warps of a block draw, in which neighbouring lanes read neighbouring vectors: every
// `blocks`-th, of block `block`. The counter holds the number of warps at first.
template <uint32_t kInFlight, class T>
__device__ inline LoadedTurns<T, kInFlight> DrawnTurns(const VectorRange<T>& range,
                                                       const Warp& warp, uint32_t block,
                                                       uint32_t blocks, uint32_t* counter) {
  constexpr uint32_t kVectors = kInFlight * ReduceTuning::kWarpThreads;  // Of a turn of a warp.
  const uint64_t first = uint64_t{block} * kVectors + warp.thread_rank();
  return {.first = range.vectors + first,
          .end = range.vectors + range.count,
          .first_index = range.head + first * kVectorSize<T>,
          .turn_stride = uint64_t{blocks} * kVectors,
          .apart = ReduceTuning::kWarpThreads,
          .first_turn = warp.meta_group_rank(),
          .counter = counter,
          .lane = warp.thread_rank()};
}

}  // namespace gridfold::kernels::cuda

#endif  // GRIDFOLD_KERNELS_CUDA_REDUCE_ACCUMULATE_CUH_
