// Statistics of groups of few elements, a lane for each group: without the states that groups of
// any size need, which take longer to set up than a few elements take to add.
//
// A lane leaves a group open where its answer is not certain to be that of the exact state, because
// of an infinity or NaN, a moment that does not fit, or a rounding too close to call. Who has open
// groups reduces them otherwise.
#ifndef GRIDFOLD_KERNELS_CPU_REDUCE_BRIEF_LANES_H_
#define GRIDFOLD_KERNELS_CPU_REDUCE_BRIEF_LANES_H_

#include <algorithm>
#include <bit>
#include <concepts>
#include <cstdint>

#include "kernels/cpu/reduce/brief_moments.h"
#include "kernels/cpu/reduce/tally_lanes.h"
#include "kernels/cpu/reduce/tile.h"
#include "kernels/numerics/arithmetic/integer_quotient.h"
#include "kernels/numerics/statistics/statistic_value.h"

namespace gridfold::kernels::cpu {

// Not initialised by its constructor: Reset first.
template <class S>
class BriefLanes {
 public:
  static constexpr uint32_t kParts =
      kSumPart | kSquaresPart | kMagnitudesPart | kExtremesPart | kTallyPart;

  // `parts` is a subset of kParts. Lane l has a group of sizes[l] elements, from 1 to kBriefRows.
  void Reset(uint32_t parts, uint32_t width, const uint32_t* sizes) {
    parts_ = parts;
    width_ = width;
    sizes_ = sizes;
    least_size_ = *std::min_element(sizes, sizes + width);
    if ((parts & kSumPart) != 0) sum_.Reset(width);
    if ((parts & kSquaresPart) != 0) squares_.Reset(width);
    if ((parts & kMagnitudesPart) != 0) magnitudes_.Reset(width);
    if ((parts & kTallyPart) != 0) std::fill_n(nonzero_, width, Count{0});
    if (NeedsPoison()) std::fill_n(poison_, width, S{0});
    std::fill_n(open_, width, false);
  }

  // A tile as wide as the lanes, of the groups' elements from `first_row` on. What a tile has
  // beyond a group's size is 0, and -0.0 of floating-point numbers.
  void AddTile(const Tile<S>& tile, uint32_t first_row) {
    if ((parts_ & kSumPart) != 0) sum_.template AddTile<Moment::kSum>(tile);
    if ((parts_ & kSquaresPart) != 0) squares_.template AddTile<Moment::kSquares>(tile);
    if ((parts_ & kMagnitudesPart) != 0) magnitudes_.template AddTile<Moment::kMagnitudes>(tile);
    if ((parts_ & kTallyPart) != 0) {
      ForEachElement(tile, [this](uint32_t lane, S x) {
        nonzero_[lane] = static_cast<Count>(nonzero_[lane] + (x != S{0} ? 1 : 0));
      });
    }
    if ((parts_ & kExtremesPart) != 0) AddExtremes(tile, first_row);
    if (NeedsPoison()) {
      // NaN from the first element on that is not finite.
      ForEachElement(tile, [this](uint32_t lane, S x) { poison_[lane] += x - x; });
    }
  }

  // Sets slots[l] to the value of `statistic` of lane l, unless the lane is open.
  void Finish(Statistic statistic, const ValueRules& rules, uint64_t* slots) {
    if (NeedsPoison()) {
      for (uint32_t lane = 0; lane < width_; ++lane) open_[lane] |= IsNan(poison_[lane]);
    }
    switch (statistic) {
      case Statistic::kCount:
        return Fill(slots, [this](uint32_t l) { return uint64_t{sizes_[l]}; });
      case Statistic::kMin: return Fill(slots, [this](uint32_t l) { return Slot(min_[l]); });
      case Statistic::kMax: return Fill(slots, [this](uint32_t l) { return Slot(max_[l]); });
      case Statistic::kArgmin:
        return Fill(slots, [this](uint32_t l) { return uint64_t{argmin_[l]}; });
      case Statistic::kArgmax:
        return Fill(slots, [this](uint32_t l) { return uint64_t{argmax_[l]}; });
      case Statistic::kNanCount:
      case Statistic::kInfinityCount: return Fill(slots, [](uint32_t) { return uint64_t{0}; });
      case Statistic::kNonzeroCount:
        return Fill(slots, [this](uint32_t l) { return uint64_t{nonzero_[l]}; });
      case Statistic::kAll:
        return Fill(slots, [this](uint32_t l) { return uint64_t{nonzero_[l] == sizes_[l]}; });
      case Statistic::kAny:
        return Fill(slots, [this](uint32_t l) { return uint64_t{nonzero_[l] != 0}; });
      case Statistic::kSum:
      case Statistic::kMean:
      case Statistic::kVariance:
      case Statistic::kStandardDeviation:
      case Statistic::kL1Norm:
      case Statistic::kL2Norm: break;
      // Not among BriefStatistics.
      case Statistic::kProduct:
      case Statistic::kBitwiseAnd:
      case Statistic::kBitwiseOr:
      case Statistic::kBitwiseXor:
      case Statistic::kRange:
      case Statistic::kRootMeanSquare:
      case Statistic::kStandardError: return;
    }
    if constexpr (std::floating_point<S>) {
      FinishMoments(statistic, rules, slots);
    } else {
      FinishIntegerMoments(statistic, rules, slots);
    }
  }

  bool is_open(uint32_t lane) const { return open_[lane]; }

 private:
  using Count = TileCount<S>;

  // A moment is not certain either where an element is not finite.
  bool NeedsPoison() const { return std::floating_point<S> && (parts_ & kMomentParts) == 0; }

  void AddExtremes(const Tile<S>& tile, uint32_t first_row) {
    for (uint32_t r = 0; r < tile.rows; ++r) {
      const std::byte* const row = tile.data + r * tile.stride_bytes;
      const uint32_t index = first_row + r;
      if (index == 0) {
        for (uint32_t lane = 0; lane < width_; ++lane) {
          min_[lane] = max_[lane] = LoadUnaligned<S>(row, lane);
          argmin_[lane] = argmax_[lane] = 0;
        }
        continue;
      }
      if (index < least_size_) {
        AddExtremesOfRow<false>(row, index);
      } else {
        AddExtremesOfRow<true>(row, index);
      }
    }
  }

  // Adds a row that all groups have, or some of them.
  template <bool kSome>
  void AddExtremesOfRow(const std::byte* row, uint32_t index) {
    const Count place = static_cast<Count>(index);
    GRIDFOLD_INDEPENDENT_ITERATIONS
    for (uint32_t lane = 0; lane < width_; ++lane) {
      const S x = LoadUnaligned<S>(row, lane);
      const bool exists = !kSome || index < sizes_[lane];
      const bool is_less = exists & (x < min_[lane]);
      const bool is_more = exists & (x > max_[lane]);
      min_[lane] = is_less ? x : min_[lane];
      max_[lane] = is_more ? x : max_[lane];
      argmin_[lane] = is_less ? place : argmin_[lane];
      argmax_[lane] = is_more ? place : argmax_[lane];
    }
  }

  template <class ValueOf>
  void Fill(uint64_t* slots, ValueOf value_of) {
    for (uint32_t lane = 0; lane < width_; ++lane) slots[lane] = value_of(lane);
  }

  // round(lane, value) sets the value and returns whether it is certain.
  template <class Round>
  void FillRounded(uint64_t* slots, Round round) {
    for (uint32_t lane = 0; lane < width_; ++lane) {
      double value = 0;
      open_[lane] |= !round(lane, value);
      slots[lane] = std::bit_cast<uint64_t>(value);
    }
  }

  // Rounds the variance; `deviations` is count * squares - sum^2.
  static bool RoundVariance(const BoundedNumber& deviations, uint32_t count, uint32_t ddof,
                            bool is_root, double& value) {
    if (count <= ddof) return false;
    const double divisor = static_cast<double>(count) * static_cast<double>(count - ddof);
    const BoundedNumber variance = deviations.DividedBy(divisor);
    return (is_root ? variance.Root() : variance).Round(value);
  }

  void FinishMoments(Statistic statistic, const ValueRules& rules, uint64_t* slots) {
    const uint32_t ddof = rules.delta_degrees_of_freedom;
    const bool is_root = statistic == Statistic::kStandardDeviation;
    const auto round_pair = [](const CheckedPair& sum, double& value) {
      return sum.Round(sum.Error(), value);
    };
    switch (statistic) {
      case Statistic::kSum:
        return FillRounded(slots, [=, this](uint32_t l, double& value) {
          return round_pair(sum_.Pair(l), value);
        });
      case Statistic::kL1Norm:
        return FillRounded(slots, [=, this](uint32_t l, double& value) {
          return round_pair(magnitudes_.Pair(l), value);
        });
      case Statistic::kL2Norm:
        return FillRounded(slots, [this](uint32_t l, double& value) {
          return squares_.Sum(l).Root().Round(value);
        });
      case Statistic::kMean:
        return FillRounded(slots, [this](uint32_t l, double& value) {
          const CheckedPair sum = sum_.Pair(l);
          return MeanDivisor(sizes_[l]).Divide(sum.pair(), value, sum.Error());
        });
      case Statistic::kVariance:
      case Statistic::kStandardDeviation:
        return FillRounded(slots, [=, this](uint32_t l, double& value) {
          return RoundVariance(SquareDeviations(sum_.Sum(l), squares_.Sum(l), sizes_[l]), sizes_[l],
                               ddof, is_root, value);
        });
      default: break;  // Finish has written the others.
    }
  }

  // An integer below 2^106.
  static BoundedNumber Known(Uint128 x) {
    const double high = static_cast<double>(x);
    return {high, static_cast<double>(static_cast<Int128>(x - static_cast<Uint128>(high))), 0};
  }

  void FinishIntegerMoments(Statistic statistic, const ValueRules& rules, uint64_t* slots) {
    const auto fits = [this](uint32_t l) {
      return ((parts_ & kSumPart) == 0 || sum_.template Fits<Moment::kSum>(l)) &&
             ((parts_ & kSquaresPart) == 0 || squares_.template Fits<Moment::kSquares>(l)) &&
             ((parts_ & kMagnitudesPart) == 0 || magnitudes_.template Fits<Moment::kMagnitudes>(l));
    };
    const uint32_t ddof = rules.delta_degrees_of_freedom;
    for (uint32_t lane = 0; lane < width_; ++lane) open_[lane] |= !fits(lane);
    switch (statistic) {
      case Statistic::kSum:
        return Fill(slots, [this](uint32_t l) { return static_cast<uint64_t>(sum_.Sum(l)); });
      case Statistic::kL1Norm:
        return Fill(slots,
                    [this](uint32_t l) { return Slot(static_cast<double>(magnitudes_.Sum(l))); });
      case Statistic::kL2Norm:
        return FillRounded(slots, [this](uint32_t l, double& value) {
          return Known(static_cast<Uint128>(squares_.Sum(l))).Root().Round(value);
        });
      case Statistic::kMean:
        return Fill(slots, [this](uint32_t l) {
          return Slot(SignedIntegerQuotient(sum_.Sum(l), sizes_[l]));
        });
      case Statistic::kVariance:
      case Statistic::kStandardDeviation:
        return FillRounded(slots, [=, this](uint32_t l, double& value) {
          const auto sum = static_cast<Int128>(sum_.Sum(l));
          const auto squares = static_cast<Uint128>(squares_.Sum(l));
          return RoundVariance(Known(squares * sizes_[l] - static_cast<Uint128>(sum * sum)),
                               sizes_[l], ddof, statistic == Statistic::kStandardDeviation, value);
        });
      default: break;  // Finish has written the others.
    }
  }

  uint32_t parts_;
  uint32_t width_;
  const uint32_t* sizes_;
  uint32_t least_size_;
  BriefMoments<S> sum_;
  BriefMoments<S> squares_;
  BriefMoments<S> magnitudes_;
  alignas(kLanesAlignment) S min_[kBriefLanes];
  alignas(kLanesAlignment) S max_[kBriefLanes];
  alignas(kLanesAlignment) Count argmin_[kBriefLanes];
  alignas(kLanesAlignment) Count argmax_[kBriefLanes];
  alignas(kLanesAlignment) Count nonzero_[kBriefLanes];
  alignas(kLanesAlignment) S poison_[kBriefLanes];
  bool open_[kBriefLanes];
};

}  // namespace gridfold::kernels::cpu

#endif  // GRIDFOLD_KERNELS_CPU_REDUCE_BRIEF_LANES_H_
