// A thread takes its elements of an array here: single ones at the ends, and turns of vectors
// between.
#ifndef GRIDFOLD_KERNELS_CUDA_REDUCE_CORE_ACCUMULATE_CUH_
#define GRIDFOLD_KERNELS_CUDA_REDUCE_CORE_ACCUMULATE_CUH_

#include <bit>
#include <cstdint>
#include <type_traits>

#include "kernels/cuda/reduce/core/batches.cuh"
#include "kernels/cuda/reduce/core/elements.cuh"
#include "kernels/cuda/reduce/core/extreme_turns.cuh"
#include "kernels/cuda/reduce/core/moment_words.cuh"
#include "kernels/cuda/reduce/core/turn_takers.cuh"
#include "kernels/cuda/reduce/core/turns.cuh"
#include "kernels/cuda/reduce/plan/tuning.h"
#include "kernels/cuda/reduce/plan/word_counts.h"
#include "kernels/numerics/statistics/reduction_state.h"

namespace gridfold::kernels::cuda {

// ElementAccumulator that takes turns too. Where a thread takes many, extremes alone are those of
// turns, which are read again.
template <class T, uint32_t kParts, bool kTakesMany = false>
class Accumulator : public ElementAccumulator<T, kParts> {
  using Base = ElementAccumulator<T, kParts>;
  using Base::ignore_nan_;
  using Base::moments_;
  using Base::registers_;

 public:
  using Base::Base;
  using Base::kHasWords;
  using Base::kRegisterParts;
  using typename Base::S;
  static constexpr bool kHasWindow = kHasWords && kHasMomentWindow<T, kParts>;
  // Whether elements may be taken in any order: moments do not mind, and are all there is.
  static constexpr bool kIsOrderFree = kHasWords && kRegisterParts == 0;
  static constexpr bool kHasExtremeTurns = kTakesMany && HasExtremeTurns<T>(kParts);
  static constexpr bool kSumsTurns = kTakesMany && IntegerElement<T> && kParts == kCorePartSet;
  static constexpr bool kSurveysTurns =
      kTakesMany && kHasWords && (kParts & kSquaresPart) != 0 && (kParts & kExtremesPart) != 0;
  // Turns that a thread takes at most: a turn less than words take, for the elements that are not
  // in vectors.
  template <uint32_t kInFlight>
  static constexpr uint32_t kTurnsMax = kHasWords ? WordAdditionsMax<T>(kParts) /
                                                        (kInFlight * kVectorSize<T>)-1
                                                  : ~uint32_t{0};

  // Takes all that a thread loads, but no more than words can take: what a warp leaves for that
  // reason is drawn by others, which have room for it.
  template <uint32_t kInFlight>
  __device__ void AddTurns(const LoadedTurns<T, kInFlight>& loads) {
    [[maybe_unused]] ExtremeTurns<S> extremes;
    using Raw = uint4[kInFlight];
    if constexpr (kSurveysTurns) {
      using Taker = FloatTurnTaker<T, kParts, kInFlight>;
      Taker taker{moments_, registers_, extremes, loads.IsDrawn(), ignore_nan_};
      TakeTurns(loads, kTurnsMax<kInFlight>, taker,
                [&](Raw& raw, const TurnSurvey& survey, uint32_t count, uint32_t turn) {
                  if (count < kInFlight || !taker.TakesSlowly(raw, survey, turn)) {
                    return AddApart(loads, raw, count, turn);
                  }
                  if constexpr (Taker::kTakesSlowlyByTurn) {
                    taker.TakeSlowly(raw, survey);
                  } else {
                    ForEachVector(raw, kInFlight,
                                  [&](const uint4& vector, uint32_t) { taker.TakeSlowly(vector); });
                    taker.EndTurn(turn);
                  }
                });
    } else if constexpr (kSumsTurns) {
      IntegerTurnTaker<T, kParts, kInFlight> taker{registers_, extremes};
      TakeTurns(loads, kTurnsMax<kInFlight>, taker,
                [&](Raw& raw, auto, uint32_t count, uint32_t turn) {
                  AddApart(loads, raw, count, turn);
                });
    } else if constexpr (kHasExtremeTurns) {
      AddExtremeTurns(loads, extremes);
    } else if constexpr (kHasWindow) {
      AddTurnsLoadedAhead(loads, extremes);
    } else {
      AddEachTurn(loads, loads.first_turn);
    }
    if constexpr (kHasExtremeTurns || kSumsTurns || (kHasWords && (kParts & kExtremesPart) != 0)) {
      if (loads.IsDrawn()) {
        NotePlacesOfTurns(loads, extremes);
      } else {
        AddExtremesOfTurns(loads, extremes);
      }
    }
  }

 private:
  // A turn that is not ordinary.
  template <uint32_t kInFlight>
  __device__ void AddApart(const LoadedTurns<T, kInFlight>& loads, uint4 (&raw)[kInFlight],
                           uint32_t count, uint32_t turn) {
    ForEachVector(raw, count, [&](const uint4& vector, uint32_t k) {
      const Batch<S, kVectorSize<T>> batches[1] = {BatchOf<T>(vector)};
      this->Add(batches, loads.IndexOf(turn) + k * loads.step(), 0, 1);
    });
  }

  template <uint32_t kInFlight>
  __device__ void AddEachTurn(const LoadedTurns<T, kInFlight>& loads, uint32_t turn) {
    uint4 raw[kInFlight];
#pragma unroll 1
    for (uint32_t taken = 1; loads.HasTurn(turn); ++taken) {
      loads.Load(loads.Of(turn), Padding(), raw);
      const uint32_t current = turn;
      turn = taken < kTurnsMax<kInFlight> ? loads.NextTurn(turn) : kNoTurn;
      if constexpr (kHasExtremeTurns) {
        AddApart(loads, raw, loads.VectorsAt(loads.Of(current)), current);
      } else if constexpr (!kHasWords) {
        AddLoaded(loads, current, raw);
      } else {
        AddVectors(raw);
      }
    }
  }

  // Adds turns loaded ahead, for threads with a window: these are few and have the registers for
  // loads that are under way while a turn is added. The turn after those is drawn by then, so that
  // no loads wait for a draw.
  template <uint32_t kInFlight>
  __device__ void AddTurnsLoadedAhead(const LoadedTurns<T, kInFlight>& loads,
                                      ExtremeTurns<S>& extremes) {
    static_assert(kTurnsMax<kInFlight> > 1);
    uint4 raw[kInFlight];
    uint32_t turn = loads.first_turn;
    if (!loads.HasTurn(turn)) return;
    loads.Load(loads.Of(turn), Padding(), raw);
    uint32_t next = loads.NextTurn(turn);
#pragma unroll 1
    for (uint32_t taken = 1; loads.HasTurn(turn); ++taken) {
      typename LoadedTurns<T, kInFlight>::Batches batches;
      loads.Convert(raw, batches);
      if (loads.HasTurn(next)) loads.Load(loads.Of(next), Padding(), raw);
      const uint32_t after = taken + 1 < kTurnsMax<kInFlight> ? loads.NextTurn(next) : kNoTurn;
      AddTurn(loads, turn, batches, extremes);
      turn = next;
      next = after;
    }
  }

  // What stands for elements that are not there: it adds nothing to any moment.
  __device__ uint4 Padding() const {
    constexpr uint32_t kUpper = HalfElement<T> ? 0x8000'8000u : 0x8000'0000u;
    constexpr uint32_t kLower = sizeof(T) == 8 ? 0 : kUpper;
    constexpr uint32_t kNans = ~uint32_t{0};
    // No sign is noted of NaNs, which are left out.
    if (kHasWindow && ignore_nan_) return {kNans, kNans, kNans, kNans};
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

  // Without words. A vector after the other, so that few elements are alive at a time.
  template <uint32_t kInFlight>
  __device__ void AddLoaded(const LoadedTurns<T, kInFlight>& loads, uint32_t turn,
                            const uint4 (&raw)[kInFlight]) {
    const uint32_t count = loads.VectorsAt(loads.Of(turn));
    const uint64_t index = loads.IndexOf(turn);
#pragma unroll
    for (uint32_t k = 0; k < kInFlight; ++k) {
      if (k >= count) return;
      const Batch<S, kVectorSize<T>> batches[1] = {BatchOf<T>(raw[k])};
      this->AddToRegisters(batches, 1, index + k * loads.step(), 0, 1);
    }
  }

  // Extremes alone.
  template <uint32_t kInFlight>
  __device__ void AddExtremeTurns(const LoadedTurns<T, kInFlight>& loads,
                                  ExtremeTurns<S>& extremes) {
    uint32_t turn = loads.first_turn;
    if (loads.IsDrawn() && !ignore_nan_) {
      ExtremeTurnTaker<T> taker{extremes};
      turn = TakeFullTurns(loads, taker);
    }
    AddEachTurn(loads, turn);
  }

  // Adds a turn, for threads with a window.
  template <uint32_t kInFlight>
  __device__ void AddTurn(const LoadedTurns<T, kInFlight>& loads, uint32_t turn,
                          const typename LoadedTurns<T, kInFlight>::Batches& batches,
                          ExtremeTurns<S>& extremes) {
    const KnownOfElements known = this->AddMoments(batches);
    if constexpr (kRegisterParts != 0) {
      const uint32_t count = loads.VectorsAt(loads.Of(turn));
      if (known.are_finite && count == kInFlight) {
        if constexpr ((kParts & kTallyPart) != 0) {
          auto& tally = registers_.template Part<kTallyPart>();
          if (known.are_not_zero) {
            tally.nonzero += kInFlight * kVectorSize<T>;
          } else {
            AddFinite(batches, 0, 0, 1, tally);
          }
        }
        if constexpr ((kParts & kExtremesPart) != 0) AddFiniteExtremes(batches, turn, extremes);
      } else {
        this->AddToRegisters(batches, count, loads.IndexOf(turn), loads.step(), 1);
      }
    }
  }

  template <uint32_t kSize, uint32_t kCount>
  __device__ static void AddFiniteExtremes(const Batch<S, kSize> (&batches)[kCount], uint32_t turn,
                                           ExtremeTurns<S>& extremes) {
    S least = batches[0].values[0];
    S greatest = least;
#pragma unroll
    for (uint32_t i = 1; i < kSize * kCount; ++i) {
      least = fmin(least, batches[i / kSize].values[i % kSize]);
      greatest = fmax(greatest, batches[i / kSize].values[i % kSize]);
    }
    extremes.TakeFinite(least, greatest, turn);
  }

  // The warp's turns that brought the extremes: where these stand in them is for TurnsOfGroup.
  template <uint32_t kInFlight>
  __device__ void NotePlacesOfTurns(const LoadedTurns<T, kInFlight>& loads,
                                    const ExtremeTurns<S>& extremes) {
    auto& part = registers_.template Part<kExtremesPart>();
    const auto note = [&](auto& extreme, S value, uint32_t turn) {
      if (turn != ExtremeTurns<S>::kNone) extreme.Merge({value, loads.WarpIndexOf(turn)});
    };
    note(part.min, extremes.min, extremes.min_turn);
    note(part.max, extremes.max, extremes.max_turn);
  }

  // The turns that brought the extremes are read again; the second is under way by then.
  template <uint32_t kInFlight>
  __device__ void AddExtremesOfTurns(const LoadedTurns<T, kInFlight>& loads,
                                     const ExtremeTurns<S>& extremes) {
    auto& part = registers_.template Part<kExtremesPart>();
    if (extremes.max_turn != ExtremeTurns<S>::kNone) loads.Prefetch(loads.Of(extremes.max_turn));
    AddExtremeOfTurn(loads, extremes.min_turn, part.min);
    AddExtremeOfTurn(loads, extremes.max_turn, part.max);
  }

  template <uint32_t kInFlight, bool kIsMax>
  __device__ static void AddExtremeOfTurn(const LoadedTurns<T, kInFlight>& loads, uint32_t turn,
                                          ExtremeState<S, kIsMax>& extreme) {
    if (turn == ExtremeTurns<S>::kNone) return;
    uint4 raw[kInFlight];
    loads.LoadFull(loads.Of(turn), raw);
    ExtremeState<S, kIsMax> of_turn;
    ForEachVector(raw, kInFlight, [&](const uint4& vector, uint32_t k) {
      AddBatch(BatchOf<T>(vector), loads.IndexOf(turn) + k * loads.step(), 1, of_turn);
    });
    extreme.Merge(of_turn);  // Other turns may have brought the same value, earlier or later.
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

}  // namespace gridfold::kernels::cuda

#endif  // GRIDFOLD_KERNELS_CUDA_REDUCE_CORE_ACCUMULATE_CUH_
