// The values of a group's statistics are made of pairs (numerics/sums/pair_moments.h), where they
// are certain.
#ifndef GRIDFOLD_KERNELS_CUDA_REDUCE_GROUPS_PAIR_VALUES_CUH_
#define GRIDFOLD_KERNELS_CUDA_REDUCE_GROUPS_PAIR_VALUES_CUH_

#include <cstdint>

#include "kernels/cuda/reduce/plan/kernels.h"
#include "kernels/numerics/statistics/statistic_value.h"
#include "kernels/numerics/sums/pair_moments.h"

namespace gridfold::kernels::cuda {

// What is known of a group.
struct PairState {
  CheckedPair sum;
  SquaresPair squares;
  double min;
  double max;
  uint32_t min_index;  // Where they are asked for.
  uint32_t max_index;
  uint32_t zeros;
  uint32_t nan;
  uint32_t chain;  // Of additions to squares.
  uint32_t has_negative_zero;

  __device__ DeviationFrame Frame() const {
    return DeviationFrame::Of(min, fmax(fabs(min), fabs(max)));
  }
};

// What is not certain of a group's values.
enum class PairsLack : uint8_t { kNothing, kDeviations, kAll };

__device__ inline bool IsOfDeviations(Statistic statistic) {
  return statistic == Statistic::kVariance || statistic == Statistic::kStandardDeviation;
}
__device__ inline double DeviationDivisor(const ReductionParameters& parameters, double count) {
  return count * (count - static_cast<double>(parameters.rules.delta_degrees_of_freedom));
}

// Writes what is asked for of a group, as StatisticValue has it.
__device__ inline PairsLack WritePairValues(const ReductionParameters& parameters, uint64_t group,
                                            uint32_t size, const PairState& state) {
  const uint32_t count = size - state.nan;
  // Words know more about infinities, and about NaN that is not ignored.
  if (count == 0 || (state.nan != 0 && !parameters.rules.ignore_nan)) return PairsLack::kAll;
  const double n = static_cast<double>(count);
  const BoundedNumber sum = BoundedSum(state.sum);
  PairsLack lack = PairsLack::kNothing;
#pragma unroll 1
  for (uint32_t i = 0; i < parameters.statistic_count; ++i) {
    const Statistic statistic = parameters.statistics[i];
    uint64_t& slot = parameters.slots[parameters.rows[i] * parameters.group_count + group];
    BoundedNumber number = sum;
    switch (statistic) {
      case Statistic::kSum: break;
      case Statistic::kMean: number = sum.DividedBy(n); break;
      case Statistic::kL2Norm:
      case Statistic::kVariance:
      case Statistic::kStandardDeviation:
        number = state.squares.Bounded(state.chain, state.zeros == count);
        if (statistic != Statistic::kL2Norm) {
          if (count <= parameters.rules.delta_degrees_of_freedom) {
            slot = kNanSlot;
            continue;
          }
          number = SquareDeviations(sum, number, n).DividedBy(DeviationDivisor(parameters, n));
        }
        if (statistic != Statistic::kVariance) number = number.Root();
        break;
      case Statistic::kMin: slot = Slot(state.min); continue;
      case Statistic::kMax: slot = Slot(state.max); continue;
      case Statistic::kArgmin: slot = state.min_index; continue;
      case Statistic::kArgmax: slot = state.max_index; continue;
      case Statistic::kCount: slot = count; continue;
      case Statistic::kNonzeroCount: slot = count - state.zeros; continue;
      case Statistic::kNanCount: slot = state.nan; continue;
      case Statistic::kAll: slot = state.zeros == 0 ? 1 : 0; continue;
      case Statistic::kAny: slot = state.zeros != count ? 1 : 0; continue;
      default: slot = 0; continue;  // No infinities.
    }
    double value;
    if (number.Round(value)) {
      slot = Slot(value);
    } else if (!IsOfDeviations(statistic)) {
      return PairsLack::kAll;
    } else {
      lack = PairsLack::kDeviations;
    }
  }
  // An infinity makes the sum's error NaN, but others may have been asked for.
  return state.sum.Error() == state.sum.Error() ? lack : PairsLack::kAll;
}

// Writes what was lacking; returns whether that is certain.
__device__ inline bool WriteDeviationValues(const ReductionParameters& parameters, uint64_t group,
                                            uint32_t count, const DeviationPairs& pairs,
                                            const DeviationFrame& frame) {
  const double n = static_cast<double>(count);
  const BoundedNumber variance =
      pairs.SquareDeviations(n).DividedBy(DeviationDivisor(parameters, n));
  bool is_certain = true;
#pragma unroll 1
  for (uint32_t i = 0; i < parameters.statistic_count; ++i) {
    const Statistic statistic = parameters.statistics[i];
    if (!IsOfDeviations(statistic)) continue;
    const bool is_root = statistic == Statistic::kStandardDeviation;
    double value;
    is_certain = RoundScaled(is_root ? variance.Root() : variance, frame.unit,
                             is_root ? 1 : frame.unit, value) &&
                 is_certain;
    parameters.slots[parameters.rows[i] * parameters.group_count + group] = Slot(value);
  }
  return is_certain;
}

}  // namespace gridfold::kernels::cuda

#endif  // GRIDFOLD_KERNELS_CUDA_REDUCE_GROUPS_PAIR_VALUES_CUH_
