// The state of a group of float64 elements whose moments are pairs (numerics/sums/pair_moments.h),
// and the values of its statistics (statistic_value.h). What pairs tell of a number is rounded
// once; of which numbers they do not tell enough is noted:
//
//   const PairValues<false> values(state, count);
//   StatisticValue(statistic, values, size, rules, &slot);
//   if (values.lack() != PairsLack::kNothing) ...  // The slot may be wrong.
//
// Host and device; compiled without contraction.
#ifndef GRIDFOLD_KERNELS_NUMERICS_STATISTICS_PAIR_STATE_H_
#define GRIDFOLD_KERNELS_NUMERICS_STATISTICS_PAIR_STATE_H_

#include <cmath>
#include <cstdint>

#include "kernels/numerics/statistics/reduction_state.h"
#include "kernels/numerics/sums/pair_moments.h"
#include "kernels/numerics/sums/pair_sum.h"
#include "kernels/types/host_device.h"

namespace gridfold::kernels {

// What is known of a group. Of elements that are not finite, but for ignored NaNs, nothing is known
// but the sum's error, which is NaN.
struct PairState {
  CheckedPair sum;
  SquaresPair squares;
  double min;
  double max;
  uint32_t min_index;  // Where places are needed.
  uint32_t max_index;
  uint32_t zeros;
  uint32_t nan;
  uint32_t chain;  // Of additions to squares.
  uint32_t has_negative_zero;

  // Where deviations are summed.
  GRIDFOLD_HD DeviationFrame Frame() const {
    return DeviationFrame::Of(min, fmax(fabs(min), fabs(max)));
  }
};

// What is not certain of a group's values: nothing; what deviations from an element may tell; or
// more.
enum class PairsLack : uint8_t { kNothing, kDeviations, kAll };

namespace pair_internal {

// The number rounded once, or noted to be lacking.
GRIDFOLD_HD inline double RoundOrNote(const BoundedNumber& number, PairsLack kind,
                                      PairsLack& lack) {
  double rounded;
  if (!number.Round(rounded) && lack < kind) lack = kind;
  return rounded;
}

}  // namespace pair_internal

// Parts of the state, for StatisticValue.
struct PairSumPart {
  struct Sum {
    BoundedNumber number;
    PairsLack* lack;

    GRIDFOLD_HD double Rounded() const {
      return pair_internal::RoundOrNote(number, PairsLack::kAll, *lack);
    }
    GRIDFOLD_HD double Quotient(uint64_t divisor) const {
      return pair_internal::RoundOrNote(number.DividedBy(static_cast<double>(divisor)),
                                        PairsLack::kAll, *lack);
    }
  };
  Sum sum;
};
template <bool kHasDeviations>
struct PairSquaresPart {
  BoundedNumber number;
  PairsLack* lack;
  // Where there are deviations: they, and the unit of their frame.
  const DeviationPairs* deviations;
  double unit;
};

template <bool kHasDeviations>
GRIDFOLD_HD inline double Root(const PairSquaresPart<kHasDeviations>& squares, uint64_t divisor) {
  const BoundedNumber quotient =
      divisor == 1 ? squares.number : squares.number.DividedBy(static_cast<double>(divisor));
  return pair_internal::RoundOrNote(quotient.Root(), PairsLack::kAll, *squares.lack);
}

namespace pair_internal {

// count * (count - ddof) * divisor, exactly.
GRIDFOLD_HD inline double VarianceDivisor(uint64_t count, uint64_t ddof, uint64_t divisor) {
  return static_cast<double>(count) * static_cast<double>(count - ddof) *
         static_cast<double>(divisor);
}

}  // namespace pair_internal

// The variance, as of other states. Requires at most 2^17 elements, so that the divisor is at most
// 2^51.
GRIDFOLD_HD inline double Variance(const PairSumPart& sum, const PairSquaresPart<false>& squares,
                                   uint64_t count, uint64_t ddof, uint64_t divisor, bool is_root) {
  const BoundedNumber variance =
      SquareDeviations(sum.sum.number, squares.number, static_cast<double>(count))
          .DividedBy(pair_internal::VarianceDivisor(count, ddof, divisor));
  return pair_internal::RoundOrNote(is_root ? variance.Root() : variance, PairsLack::kDeviations,
                                    *squares.lack);
}
GRIDFOLD_HD inline double Variance(const PairSumPart& /*sum*/, const PairSquaresPart<true>& squares,
                                   uint64_t count, uint64_t ddof, uint64_t divisor, bool is_root) {
  const BoundedNumber variance =
      squares.deviations->SquareDeviations(static_cast<double>(count))
          .DividedBy(pair_internal::VarianceDivisor(count, ddof, divisor));
  double rounded;
  if (!RoundScaled(is_root ? variance.Root() : variance, squares.unit, is_root ? 1 : squares.unit,
                   rounded)) {
    *squares.lack = PairsLack::kAll;
  }
  return rounded;
}

// A PairState as StatisticValue takes it, and with it where kHasDeviations those that were lacking.
template <bool kHasDeviations>
class PairValues {
 public:
  using Element = double;
  static constexpr uint32_t kParts = kCorePartSet;

  // The values of `count` elements, without ignored NaNs. Requires some, and no other NaNs. Both
  // references must outlive this.
  GRIDFOLD_HD PairValues(const PairState& state, uint32_t count) requires(!kHasDeviations)
      : PairValues(state, count, nullptr, 1) {}
  GRIDFOLD_HD PairValues(const PairState& state, uint32_t count,
                         const DeviationPairs& deviations) requires(kHasDeviations)
      : PairValues(state, count, &deviations, state.Frame().unit) {}

  template <uint32_t kPart>
  GRIDFOLD_HD auto Part() const {
    if constexpr (kPart == kSumPart) {
      return PairSumPart{{sum_, &lack_}};
    } else if constexpr (kPart == kSquaresPart) {
      return PairSquaresPart<kHasDeviations>{
          state_.squares.Bounded(state_.chain, state_.zeros == count_), &lack_, deviations_, unit_};
    } else if constexpr (kPart == kExtremesPart) {
      return ExtremesState<double>{{state_.min, state_.min_index}, {state_.max, state_.max_index}};
    } else {
      static_assert(kPart == kTallyPart);
      return TallyState<double>{count_ - state_.zeros, state_.nan, 0};  // Of finite elements.
    }
  }

  // What is lacking of all values made so far.
  GRIDFOLD_HD PairsLack lack() const {
    const double error = state_.sum.Error();
    return error == error ? lack_ : PairsLack::kAll;
  }

 private:
  GRIDFOLD_HD PairValues(const PairState& state, uint32_t count, const DeviationPairs* deviations,
                         double unit)
      : state_(state),
        count_(count),
        sum_(BoundedSum(state.sum)),
        deviations_(deviations),
        unit_(unit) {}

  const PairState& state_;
  uint32_t count_;
  BoundedNumber sum_;
  const DeviationPairs* deviations_;
  double unit_;
  mutable PairsLack lack_ = PairsLack::kNothing;
};

}  // namespace gridfold::kernels

#endif  // GRIDFOLD_KERNELS_NUMERICS_STATISTICS_PAIR_STATE_H_
