// What strips of groups of integers (integer_strips.cuh) answer: sums and means, or whatever may be
// asked for of groups with a core set of parts.
#ifndef GRIDFOLD_KERNELS_CUDA_REDUCE_GROUPS_INTEGER_ANSWERS_CUH_
#define GRIDFOLD_KERNELS_CUDA_REDUCE_GROUPS_INTEGER_ANSWERS_CUH_

#include <cstdint>
#include <type_traits>

#include "kernels/cuda/reduce/core/merge.cuh"
#include "kernels/cuda/reduce/groups/integer_moments.cuh"
#include "kernels/cuda/reduce/groups/integer_prefixes.cuh"
#include "kernels/cuda/reduce/plan/kernels.h"
#include "kernels/numerics/arithmetic/integer_quotient.h"
#include "kernels/numerics/arithmetic/rounded_divisor.h"
#include "kernels/numerics/statistics/statistic_value.h"
#include "kernels/types/statistic_set.h"

namespace gridfold::kernels::cuda {

// A lane's group, of which the first element stands at a place of the strip's window.
struct GroupOfLane {
  uint64_t group;
  uint32_t begin;
  uint32_t size;
  bool exists;
};

struct NoExtremes {};

// The mean of a group of up to 64 KiB: sums of elements of up to 32 bits are float64, and are
// rounded once.
template <IntegerElement T, class Wide>
__device__ inline uint64_t MeanSlot(Wide sum, uint32_t size) {
  if (size == 0) return kNanSlot;
  if constexpr (sizeof(T) <= 4) {
    return Slot(static_cast<double>(static_cast<int64_t>(sum)) / static_cast<double>(size));
  } else {
    return Slot(SignedIntegerQuotient(sum, size));
  }
}

// The first group of 64-bit elements whose sum fails: a warp takes groups in increasing order, so
// no other matters.
template <IntegerElement T>
class SumFailures {
 public:
  // Called by all lanes, for a group each.
  __device__ void Note(const Warp& warp, const ReductionParameters& parameters,
                       const GroupOfLane& group, Int128 sum) {
    using Answer = std::conditional_t<std::is_signed_v<T>, int64_t, uint64_t>;
    if (sizeof(T) < 8 || has_failed_ || parameters.rules.wrap) return;
    const uint32_t lanes = warp.ballot(group.exists && !Fits<Answer>(sum));
    if (lanes == 0) return;
    has_failed_ = true;
    if (warp.thread_rank() != static_cast<uint32_t>(__ffs(static_cast<int>(lanes))) - 1) return;
#pragma unroll 1
    for (uint32_t i = 0; i < parameters.statistic_count; ++i) {
      if (parameters.statistics[i] != Statistic::kSum) continue;
      atomicMin(reinterpret_cast<unsigned long long*>(&parameters.failures[parameters.rows[i]]),
                static_cast<unsigned long long>(group.group));
    }
  }

 private:
  bool has_failed_ = false;
};

// Answers what may be asked of groups whose sums are all there is.
template <IntegerElement T>
class SumAnswers {
  using Wide = typename IntegerSums<T>::Wide;

 public:
  __device__ SumAnswers(const ReductionParameters& parameters, const TileWork& work,
                        uint64_t /*origin*/)
      : parameters_(parameters),
        has_divisor_(parameters.offsets == nullptr && parameters.group_size > 0),
        divisor_(work.group_divisor),
        are_means_(parameters.statistics[0] == Statistic::kMean),
        only_values_(parameters.AskForOnly(Statistic::kSum) ||
                             parameters.AskForOnly(Statistic::kMean)
                         ? parameters.slots + parameters.rows[0] * parameters.group_count
                         : nullptr) {}

  // Called by all lanes, for a group each, in increasing order.
  __device__ void Write(const Warp& warp, const GroupOfLane& group, const IntegerSums<T>& sums,
                        const NoExtremes&) {
    const Wide sum = sums.Value();
    failures_.Note(warp, parameters_, group, sum);
    if (!group.exists) return;
    if (only_values_ != nullptr) {
      only_values_[group.group] = are_means_ ? Mean(sum, group.size) : static_cast<uint64_t>(sum);
      return;
    }
#pragma unroll 1
    for (uint32_t i = 0; i < parameters_.statistic_count; ++i) {
      parameters_.slots[parameters_.rows[i] * parameters_.group_count + group.group] =
          Value(parameters_.statistics[i], sum, group.size);
    }
    if (parameters_.states != nullptr) {
      auto& state = static_cast<ReductionState<T, kSumPart>*>(parameters_.states)[group.group];
      state.template Part<kSumPart>().sum = sum;
    }
  }

 private:
  __device__ uint64_t Mean(Wide sum, uint32_t size) const {
    if (!has_divisor_) return MeanSlot<T>(sum, size);
    if constexpr (sizeof(T) == 8) {
      return Slot(divisor_.Quotient(Int128{sum}));
    } else {
      return Slot(divisor_.QuotientOfDouble(static_cast<double>(static_cast<int64_t>(sum))));
    }
  }
  __device__ uint64_t Value(Statistic statistic, Wide sum, uint32_t size) const {
    // Of AnswersOfSums.
    return statistic == Statistic::kSum    ? static_cast<uint64_t>(sum)
           : statistic == Statistic::kMean ? Mean(sum, size)
                                           : size;
  }

  const ReductionParameters& parameters_;
  bool has_divisor_;  // Groups are equal, and have elements.
  RoundedDivisor divisor_;
  bool are_means_;
  uint64_t* only_values_;  // Sums, or means; null where something else is asked for.
  SumFailures<T> failures_;
};

// The extremes of what turns so far have of a group.
template <class T>
struct StripExtremes {
  VectorExtremes<T> extremes{};
  bool has_some = false;

  __device__ void Add(const VectorExtremes<T>& of_turn) {
    if (has_some) {
      extremes.Merge(of_turn);
    } else {
      extremes = of_turn;
    }
    has_some = true;
  }
};

// Values of integers that need no tally, though states keep one for some of them.
GRIDFOLD_HD constexpr StatisticSet AnswersWithoutTally() {
  return {Statistic::kCount,  Statistic::kSum,
          Statistic::kMin,    Statistic::kMax,
          Statistic::kArgmin, Statistic::kArgmax,
          Statistic::kMean,   Statistic::kVariance,
          Statistic::kL2Norm, Statistic::kStandardDeviation};
}

// What of a core set of parts is asked for beside sums and sums of squares.
struct CoreNeeds {
  bool nonzero;
  bool extremes;
  bool places;  // Of the extremes.

  __device__ explicit CoreNeeds(const ReductionParameters& parameters)
      : nonzero(parameters.states != nullptr), extremes(nonzero), places(nonzero) {
#pragma unroll 1
    for (uint32_t i = 0; i < parameters.statistic_count; ++i) {
      const Statistic statistic = parameters.statistics[i];
      nonzero = nonzero || !AnswersWithoutTally().Has(statistic);
      extremes = extremes || (PartsOf(statistic, false, false) & kExtremesPart) != 0;
      places = places || NeedsPlaces(statistic);
    }
  }
};

// A statistic that is made in many steps. Not inlined: it is long.
template <IntegerElement T>
__device__ __noinline__ uint64_t SlowValue(const ReductionParameters& parameters,
                                           Statistic statistic, uint64_t size,
                                           const ReductionState<T, kCorePartSet>& state) {
  uint64_t slot = 0;
  StatisticValue(statistic, state, size, parameters.rules, &slot);
  return slot;
}

// Answers whatever may be asked of groups with a core set of parts.
template <IntegerElement T>
class MomentAnswers {
 public:
  // `origin` is the index of what stands at place 0, modulo 2^64.
  __device__ MomentAnswers(const ReductionParameters& parameters, const TileWork& /*work*/,
                           uint64_t origin)
      : parameters_(parameters), origin_(origin), needs_(parameters) {}

  __device__ void Write(const Warp& warp, const GroupOfLane& group,
                        const IntegerMoments<T>& moments, const StripExtremes<T>& of_group) {
    const VectorExtremes<T>& extremes = of_group.extremes;
    failures_.Note(warp, parameters_, group, IntegerSums<T>{moments.sum}.Value());
    if (!group.exists) return;
    const Places places = PlacesOf(group, extremes);
#pragma unroll 1
    for (uint32_t i = 0; i < parameters_.statistic_count; ++i) {
      parameters_.slots[parameters_.rows[i] * parameters_.group_count + group.group] =
          Value(parameters_.statistics[i], group.size, moments, extremes, places);
    }
    if (parameters_.states != nullptr) {
      static_cast<ReductionState<T, kCorePartSet>*>(parameters_.states)[group.group] =
          StateOf(moments, extremes, places);
    }
  }

 private:
  struct Places {
    uint64_t least;
    uint64_t greatest;
  };

  __device__ uint64_t Value(Statistic statistic, uint32_t size, const IntegerMoments<T>& moments,
                            const VectorExtremes<T>& extremes, const Places& places) const {
    const auto sum = IntegerSums<T>{moments.sum}.Value();
    switch (statistic) {
      case Statistic::kCount: return size;
      case Statistic::kSum: return static_cast<uint64_t>(sum);
      case Statistic::kMin: return Slot(extremes.least);
      case Statistic::kMax: return Slot(extremes.greatest);
      case Statistic::kArgmin: return places.least;
      case Statistic::kArgmax: return places.greatest;
      case Statistic::kMean: return MeanSlot<T>(sum, size);
      case Statistic::kNonzeroCount: return moments.nonzero;
      case Statistic::kAll: return moments.nonzero == size ? 1 : 0;
      case Statistic::kAny: return moments.nonzero != 0 ? 1 : 0;
      case Statistic::kVariance:
        if constexpr (sizeof(T) <= 4) {
          const uint32_t ddof = parameters_.rules.delta_degrees_of_freedom;
          using Squares = std::conditional_t<sizeof(T) <= 2, uint64_t, Uint128>;
          return size <= ddof ? kNanSlot
                              : Slot(IntegerVariance(sum, Squares{moments.squares}, size, ddof));
        }
        break;
    }
    // Any other.
    return SlowValue(parameters_, statistic, size, StateOf(moments, extremes, places));
  }
  __device__ static ReductionState<T, kCorePartSet> StateOf(const IntegerMoments<T>& moments,
                                                            const VectorExtremes<T>& extremes,
                                                            const Places& places) {
    ReductionState<T, kCorePartSet> state;
    moments.AssignTo(state);
    auto& part = state.template Part<kExtremesPart>();
    part.min = {extremes.least, places.least};
    part.max = {extremes.greatest, places.greatest};
    return state;
  }

  __device__ Places PlacesOf(const GroupOfLane& group, const VectorExtremes<T>& extremes) const {
    if (!needs_.places || group.size == 0) return {kNoIndex, kNoIndex};
    return {IndexOf(group, extremes.least, extremes.least_vector),
            IndexOf(group, extremes.greatest, extremes.greatest_vector)};
  }
  // The index of the first element of a vector that is `value`; the vector has such an element.
  __device__ uint64_t IndexOf(const GroupOfLane& group, T value, uint32_t vector) const {
    const T* const elements = static_cast<const T*>(parameters_.elements) + origin_;
    uint32_t place = max(vector * kVectorSize<T>, group.begin);
    while (elements[place] != value) ++place;
    return place - group.begin;
  }

  const ReductionParameters& parameters_;
  uint64_t origin_;
  CoreNeeds needs_;
  SumFailures<T> failures_;
};

}  // namespace gridfold::kernels::cuda

#endif  // GRIDFOLD_KERNELS_CUDA_REDUCE_GROUPS_INTEGER_ANSWERS_CUH_
