// A taker says what TakeTurns and TakeFullTurns (turns.cuh) do with the vectors of a turn.
#ifndef GRIDFOLD_KERNELS_CUDA_REDUCE_CORE_TURN_TAKERS_CUH_
#define GRIDFOLD_KERNELS_CUDA_REDUCE_CORE_TURN_TAKERS_CUH_

#include <cstdint>
#include <limits>
#include <type_traits>

#include "kernels/cuda/reduce/core/batches.cuh"
#include "kernels/cuda/reduce/core/extreme_turns.cuh"
#include "kernels/cuda/reduce/core/integer_turns.cuh"
#include "kernels/cuda/reduce/core/moments.cuh"
#include "kernels/cuda/reduce/core/registers.cuh"
#include "kernels/cuda/reduce/core/surveys.cuh"
#include "kernels/cuda/reduce/core/windows.cuh"
#include "kernels/cuda/reduce/plan/tuning.h"

namespace gridfold::kernels::cuda {

// Where a window of floating-point elements and extremes are kept: one look at a turn tells whether
// it is ordinary.
template <class T, uint32_t kParts, uint32_t kInFlight>
struct FloatTurnTaker {
  using S = ComputeType<T>;
  using Raw = uint4[kInFlight];
  static constexpr uint32_t kElements = kInFlight * kVectorSize<T>;
  // A survey of float64 tells no more than whether there may be a new extreme.
  static constexpr bool kHasCoarseExtremes = std::is_same_v<S, double>;
  static constexpr bool kTakesSlowlyByTurn = std::is_same_v<S, double>;  // Not vector by vector.

  MomentAccumulator<T, kParts>& moments;
  RegisterState<T, kParts>& registers;
  ExtremeTurns<S>& extremes;
  bool is_drawn;
  bool ignore_nan;
  bool may_have_extreme = true;
  bool are_negative_zeros = false;
  // Of float64.
  bool is_of_window = false;  // The turn is for TakesAll.
  bool has_not_finite = false;
  bool is_in_window = false;  // TakeSlowly.

  __device__ TurnSurvey Survey(const Raw& raw) {
    const TurnSurvey survey = SurveyOf<T>(raw);
    if constexpr (kHasCoarseExtremes) {
      may_have_extreme = extremes.BoundsOf(is_drawn).MayTake(survey.least, survey.greatest);
      is_of_window = IsForWindow(survey.range);
    }
    return survey;
  }
  __device__ bool TakesAll(const Raw& raw, const TurnSurvey& survey, uint32_t turn) {
    if constexpr (kHasCoarseExtremes) {
      if (!is_of_window) return false;
    } else {
      if (!moments.TakesMoved(survey.range) || !moments.TakesByVector(survey.range)) return false;
    }
    if constexpr (!kHasCoarseExtremes) {
      Note(survey, turn);
    } else {
      NoteTally(survey);
      if (may_have_extreme) {
        extremes.TakeFinite(BestOfTurn<false>(raw), BestOfTurn<true>(raw), turn);
      }
    }
    are_negative_zeros = survey.are_negative_zeros;
    return true;
  }
  __device__ void Take(const uint4& vector) { moments.AddTaken(BatchOf<T>(vector).values); }

  // Whether the turn's vectors, which are all there, may be taken by TakeSlowly, where not
  // TakesAll: those of floats where they are finite.
  __device__ bool TakesSlowly(const Raw& raw, const TurnSurvey& survey, uint32_t turn) {
    if constexpr (kTakesSlowlyByTurn) {
      const bool may_have_nan = IsNan(survey.greatest);
      if (may_have_nan && ignore_nan) return false;
      NoteTally(survey);
      has_not_finite = may_have_nan && HasNotFinite(raw);
      const bool has_nan = has_not_finite && NoteNotFinite(raw);
      if (has_nan) {
        constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
        extremes.Take(kNan, kNan, turn);
      } else if (may_have_extreme) {
        extremes.Take(BestOfTurn<false>(raw), BestOfTurn<true>(raw), turn);
      }
    } else {
      if (survey.range.largest >= MagnitudeBits(std::numeric_limits<float>::infinity())) {
        return false;
      }
      Note(survey, turn);
      is_in_window = moments.Takes(survey.range);
    }
    return true;
  }
  // Leaves nothing of use in `raw`.
  __device__ void TakeSlowly(Raw& raw, const TurnSurvey& survey) {
    if (has_not_finite) DropNotFinite(raw);
    moments.AddToPieces(raw, survey.are_negative_zeros);
  }
  __device__ void TakeSlowly(const uint4& vector) {
    const auto batch = BatchOf<T>(vector);
    if (is_in_window) {
      moments.AddTakenOneByOne(batch.values);
    } else {
      moments.AddWide(batch.values);
    }
  }
  __device__ void EndTurn(uint32_t) { moments.FinishTaken(kElements, are_negative_zeros); }

 private:
  __device__ void NoteTally(const TurnSurvey& survey) {
    registers.template Part<kTallyPart>().nonzero += kElements - survey.zeros;
  }
  __device__ void Note(const TurnSurvey& survey, uint32_t turn) {
    NoteTally(survey);
    extremes.TakeFinite(survey.least, survey.greatest, turn);
  }

  // Whether the window takes a turn, and those of at least half of the warp: wide data is taken by
  // all lanes alike.
  __device__ bool IsForWindow(const MagnitudeRange& range) {
    const bool takes = moments.TakesMoved(range);
    if (!is_drawn) return takes;
    const uint32_t lanes = __popc(__ballot_sync(~0u, takes));
    return takes && lanes >= ReduceTuning::kWarpThreads / 2;
  }

  // The survey takes the largest finite elements for NaN too.
  __device__ static bool HasNotFinite(const Raw& raw) {
    uint32_t largest = 0;
#pragma unroll
    for (const uint4& vector : raw) {
      largest = max(largest, max(vector.y & 0x7FFF'FFFFu, vector.w & 0x7FFF'FFFFu));
    }
    return largest >= 0x7FF0'0000u;
  }
  // Returns whether there is a NaN.
  __device__ bool NoteNotFinite(const Raw& raw) {
    auto& tally = registers.template Part<kTallyPart>();
    bool has_nan = false;
#pragma unroll
    for (const uint4& vector : raw) {
      for (const double x : BatchOf<double>(vector).values) {
        if (IsFinite(x)) continue;
        has_nan = has_nan || IsNan(x);
        tally.nan += IsNan(x) ? 1 : 0;
        tally.infinite += IsNan(x) ? 0 : 1;
        moments.NoteNotFinite(x);
      }
    }
    return has_nan;
  }
  __device__ static void DropNotFinite(Raw& raw) {
#pragma unroll
    for (uint4& vector : raw) {
      const auto batch = BatchOf<double>(vector);
      if (!IsFinite(batch.values[0])) vector.x = vector.y = 0;
      if (!IsFinite(batch.values[1])) vector.z = vector.w = 0;
    }
  }
};

// Extremes alone, with TakeFullTurns. Those of a thread's vectors so far: a turn after which they
// are others has brought them.
template <class T>
struct ExtremeTurnTaker {
  ExtremeTurns<ComputeType<T>>& extremes;
  RunningExtreme<T, false> least = {};
  RunningExtreme<T, true> greatest = {};

  __device__ void BeginTurn(uint32_t) const {}
  __device__ void Take(const uint4& vector) {
    least.Add(vector);
    greatest.Add(vector);
  }
  __device__ void EndTurn(uint32_t turn) { extremes.Take(least.Value(), greatest.Value(), turn); }
};

// The taker of float64 looks at upper halves first: in most vectors they say that there is nothing
// new.
template <>
struct ExtremeTurnTaker<double> {
  ExtremeTurns<double>& extremes;
  ExtremeTurns<double>::Bounds bounds = {};
  uint32_t current = 0;

  __device__ void BeginTurn(uint32_t turn) {
    bounds = extremes.BoundsOf(true);
    current = turn;
  }
  __device__ void Take(const uint4& vector) {
    const auto batch = BatchOf<double>(vector);
    const float first = SurveyedPart(batch.values[0]);
    const float second = SurveyedPart(batch.values[1]);
    if (bounds.MayTake(ExtremeOrNan<false>(first, second), ExtremeOrNan<true>(first, second))) {
      extremes.Take(BestOf<false>(batch), BestOf<true>(batch), current);
    }
  }
  __device__ void EndTurn(uint32_t) const {}
};

// Several statistics of integers.
template <class T, uint32_t kParts, uint32_t kInFlight>
struct IntegerTurnTaker {
  using Raw = uint4[kInFlight];
  static_assert(kInFlight * (ReduceTuning::kVectorBytes / 4) <= IntegerTurn<T>::kWordsMax);
  struct NoSurvey {};

  RegisterState<T, kParts>& registers;
  ExtremeTurns<ComputeType<T>>& extremes;
  IntegerTurn<T> taken = {};

  __device__ NoSurvey Survey(const Raw&) const { return {}; }
  __device__ bool TakesAll(const Raw&, NoSurvey, uint32_t) const { return true; }
  __device__ void Take(const uint4& vector) { taken.Add(vector); }
  __device__ void EndTurn(uint32_t turn) {
    taken.AddTo(registers);
    extremes.TakeFinite(taken.least(), taken.greatest(), turn);
    taken = {};
  }
};

}  // namespace gridfold::kernels::cuda

#endif  // GRIDFOLD_KERNELS_CUDA_REDUCE_CORE_TURN_TAKERS_CUH_
