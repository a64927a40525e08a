// Statistics of groups of up to kBriefElements, a lane for each group: without the states that
// groups of any size need, which take longer to set up than such groups take to add.
//
// A lane leaves a group open where its answer is not certain to be that of the exact state, because
// of an infinity or NaN, a moment that does not fit, or a rounding too close to call. Who has open
// groups reduces them otherwise.
#ifndef GRIDFOLD_KERNELS_CPU_REDUCE_BRIEF_LANES_H_
#define GRIDFOLD_KERNELS_CPU_REDUCE_BRIEF_LANES_H_

#include <algorithm>
#include <bit>
#include <cmath>
#include <concepts>
#include <cstdint>
#include <type_traits>

#include "kernels/cpu/reduce/anchored_line.h"
#include "kernels/cpu/reduce/brief_extremes.h"
#include "kernels/cpu/reduce/brief_kernels.h"
#include "kernels/cpu/reduce/brief_line.h"
#include "kernels/cpu/reduce/brief_moments.h"
#include "kernels/cpu/reduce/lane_number.h"
#include "kernels/cpu/reduce/line_magnitudes.h"
#include "kernels/cpu/reduce/moment.h"
#include "kernels/cpu/reduce/narrow_block.h"
#include "kernels/cpu/reduce/narrow_line.h"
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

  // `parts` is a subset of kParts. Lane l has a group of sizes[l] elements, from `least_size` to
  // `largest_size`: at least 1, and at most kBriefRows where there will be tiles, or kBriefElements
  // where there will be lines.
  void Reset(uint32_t parts, uint32_t width, const uint32_t* sizes, uint32_t least_size,
             uint32_t largest_size, ExtremesWanted extremes) {
    parts_ = parts;
    width_ = width;
    sizes_ = sizes;
    count_bits_ = std::bit_width(largest_size);
    extremes_.Reset(sizes, least_size, extremes);
    has_lines_ = false;
    ForEachMoment([=]<Moment kMoment>(BriefMoments<S>& moments) { moments.Reset(width); });
    if ((parts & kTallyPart) != 0) std::fill_n(nonzero_, width, Count{0});
    if (NeedsPoison()) std::fill_n(poison_, width, S{0});
    std::fill_n(open_, width, 0);
  }

  // A tile as wide as the lanes, of the groups' elements from `first_row` on. What a tile has
  // beyond a group's size is 0, and -0.0 of floating-point numbers.
  void AddTile(const Tile<S>& tile, uint32_t first_row) {
    if ((parts_ & kMomentParts) != 0) AddMoments(tile, first_row == 0);
    if ((parts_ & kTallyPart) != 0) {
      ForEachElement(tile, [this](uint32_t lane, S x) {
        nonzero_[lane] = static_cast<Count>(nonzero_[lane] + (x != S{0} ? 1 : 0));
      });
    }
    if ((parts_ & kExtremesPart) != 0) extremes_.AddTile(tile, first_row);
    if (NeedsPoison()) {
      // NaN from the first element on that is not finite.
      ForEachElement(tile, [this](uint32_t lane, S x) { poison_[lane] += x - x; });
    }
  }

  // Elements of the group of one lane, from the element with index `first` on: a group's lines come
  // in their order, and no lane has tiles. Not `checked` takes less time, and leaves more groups of
  // floating-point elements open.
  void AddLine(const Line<S>& line, uint32_t first, uint32_t lane, bool checked) {
    has_lines_ = true;
    AddMomentsOfLine(line, lane, checked);
    if ((parts_ & kTallyPart) != 0) {
      line_nonzero_[lane] = (first == 0 ? 0 : line_nonzero_[lane]) + NonzerosOf(line);
    }
    if ((parts_ & kExtremesPart) != 0) {
      if (!extremes_.AddLine(line, first, lane)) open_[lane] = 1;
    } else if constexpr (std::floating_point<S>) {
      if (NeedsPoison() && !IsFiniteLine(line)) open_[lane] = 1;
    }
  }

  // Sets slots[l] to the value of `statistic` of lane l, unless the lane is open.
  void Finish(Statistic statistic, const ValueRules& rules, uint64_t* slots) {
    if (NeedsPoison()) {
      for (uint32_t lane = 0; lane < width_; ++lane) open_[lane] |= IsNan(poison_[lane]) ? 1 : 0;
    }
    switch (statistic) {
      case Statistic::kCount:
        return Fill(slots, [this](uint32_t l) { return uint64_t{sizes_[l]}; });
      case Statistic::kMin:
        return Fill(slots, [this](uint32_t l) { return Slot(extremes_.Least(l)); });
      case Statistic::kMax:
        return Fill(slots, [this](uint32_t l) { return Slot(extremes_.Largest(l)); });
      case Statistic::kArgmin:
        return Fill(slots, [this](uint32_t l) { return extremes_.PlaceOfLeast(l); });
      case Statistic::kArgmax:
        return Fill(slots, [this](uint32_t l) { return extremes_.PlaceOfLargest(l); });
      case Statistic::kNanCount:
      case Statistic::kInfinityCount: return Fill(slots, [](uint32_t) { return uint64_t{0}; });
      case Statistic::kNonzeroCount: return FillNonzeros(slots);
      case Statistic::kAll:
        FillNonzeros(slots);
        return Fill(slots, [=, this](uint32_t l) { return uint64_t{slots[l] == sizes_[l]}; });
      case Statistic::kAny:
        FillNonzeros(slots);
        return Fill(slots, [=](uint32_t l) { return uint64_t{slots[l] != 0}; });
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

  bool is_open(uint32_t lane) const { return open_[lane] != 0; }

 private:
  using Count = TileCount<S>;

  // Speed only: to look at the magnitudes of fewer rows takes longer than it saves.
  static constexpr uint32_t kNarrowRowsMin = 6;

  // Calls f<moment>(moments) for each moment that is asked for.
  template <class F>
  void ForEachMoment(F f) {
    if ((parts_ & kSumPart) != 0) f.template operator()<Moment::kSum>(sum_);
    if ((parts_ & kSquaresPart) != 0) f.template operator()<Moment::kSquares>(squares_);
    if ((parts_ & kMagnitudesPart) != 0) f.template operator()<Moment::kMagnitudes>(magnitudes_);
  }

  // `is_first`: of the first rows.
  void AddMoments(const Tile<S>& tile, bool is_first) {
    if constexpr (std::floating_point<S>) {
      ForEachLaneBlock(tile.width, [&]<uint32_t kLanes>(uint32_t first) {
        Tile<S> block = tile;
        block.data += first * sizeof(S);
        block.width = kLanes;
        AddMomentsOfBlock<kLanes>(block, first, is_first);
      });
    } else {
      ForEachMoment([&]<Moment kMoment>(BriefMoments<S>& moments) {
        moments.template AddTile<kMoment>(tile);
      });
    }
  }

  template <uint32_t kLanes>
  void AddMomentsOfBlock(const Tile<S>& block, uint32_t first, bool is_first) {
    if (kLanes == kBlockLanes && block.rows >= kNarrowRowsMin) {
      const LineMagnitudes<S> magnitudes = MagnitudesOf(block);
      if (HasNarrowBlockSums(magnitudes)) {
        return ForEachMoment([&]<Moment kMoment>(BriefMoments<S>& moments) {
          moments.template AddNarrowBlock<kMoment>(block, magnitudes, first, is_first);
        });
      }
    }
    ForEachMoment([&]<Moment kMoment>(BriefMoments<S>& moments) {
      moments.template AddBlock<kMoment, kLanes>(block, first);
    });
  }

  void AddMomentsOfLine(const Line<S>& line, uint32_t lane, bool checked) {
    if constexpr (std::floating_point<S>) {
      if ((parts_ & kMomentParts) == 0) return;
      const LineMagnitudes<S> magnitudes = LineMagnitudes<S>::Of(line);
      if (magnitudes.AreNarrow() || (!checked && magnitudes.AreOrdinary())) {
        return ForEachMoment([&]<Moment kMoment>(BriefMoments<S>& moments) {
          moments.AddSum(lane, SumOfLine<kMoment>(line, magnitudes));
        });
      }
    }
    ForEachMoment([&]<Moment kMoment>(BriefMoments<S>& moments) {
      moments.template AddLine<kMoment>(line, lane);
    });
  }

  // The sum of a line whose magnitudes are narrow, or ordinary.
  template <Moment kMoment>
  static CheckedPair SumOfLine(const Line<S>& line, const LineMagnitudes<S>& magnitudes) {
    if constexpr (std::same_as<S, float>) {
      if (magnitudes.AreNarrow()) return SumOfNarrowLine<kMoment>(line, magnitudes);
    }
    return SumOfAnchoredLine<kMoment>(line, magnitudes);
  }

  // A moment is not certain either where an element is not finite.
  bool NeedsPoison() const { return std::floating_point<S> && (parts_ & kMomentParts) == 0; }

  void FillNonzeros(uint64_t* slots) {
    if (has_lines_) {
      Fill(slots, [this](uint32_t l) { return uint64_t{line_nonzero_[l]}; });
    } else {
      Fill(slots, [this](uint32_t l) { return uint64_t{nonzero_[l]}; });
    }
  }

  template <class ValueOf>
  void Fill(uint64_t* slots, ValueOf value_of) {
    for (uint32_t lane = 0; lane < width_; ++lane) slots[lane] = value_of(lane);
  }

  // round(lane, value) sets the value and returns whether it is certain.
  template <class Round>
  void FillRounded(uint64_t* slots, Round round) {
    GRIDFOLD_INDEPENDENT_ITERATIONS
    for (uint32_t lane = 0; lane < width_; ++lane) {
      double value = 0;
      open_[lane] |= round(lane, value) ? 0 : 1;
      slots[lane] = std::bit_cast<uint64_t>(value);
    }
  }

  // Rounds the variance; `deviations` is count * squares - sum^2.
  static bool RoundVariance(const LaneNumber& deviations, double count, double ddof, bool is_root,
                            double& value) {
    const LaneNumber variance = deviations.DividedBy(count * (count - ddof));
    return (is_root ? variance.Root() : variance).Round(value) & (count > ddof);
  }

  void FinishMoments(Statistic statistic, const ValueRules& rules, uint64_t* slots) {
    switch (statistic) {
      case Statistic::kSum:
        return FillRounded(slots, [this](uint32_t l, double& value) {
          return LaneNumber::Of(sum_.Sum(l)).Round(value);
        });
      case Statistic::kL1Norm:
        return FillRounded(slots, [this](uint32_t l, double& value) {
          return LaneNumber::Of(magnitudes_.Sum(l)).Round(value);
        });
      case Statistic::kL2Norm:
        return FillRounded(slots, [this](uint32_t l, double& value) {
          return LaneNumber::Of(squares_.Sum(l)).Root().Round(value);
        });
      case Statistic::kMean:
        return FillRounded(slots, [this](uint32_t l, double& value) {
          return LaneNumber::Of(sum_.Sum(l)).DividedBy(SizeOf(l)).Round(value);
        });
      case Statistic::kVariance: return FinishVariances<false>(rules, slots);
      case Statistic::kStandardDeviation: return FinishVariances<true>(rules, slots);
      default: break;  // Finish has written the others.
    }
  }

  template <bool kIsRoot>
  void FinishVariances(const ValueRules& rules, uint64_t* slots) {
    const double ddof = static_cast<double>(rules.delta_degrees_of_freedom);
    FillRounded(slots, [=, this](uint32_t l, double& value) {
      const BoundedNumber deviations = SquareDeviations(sum_.Sum(l), squares_.Sum(l), SizeOf(l));
      return RoundVariance(LaneNumber::Of(deviations), SizeOf(l), ddof, kIsRoot, value);
    });
  }

  double SizeOf(uint32_t lane) const {
    return static_cast<double>(static_cast<int32_t>(sizes_[lane]));
  }

  void FinishIntegerMoments(Statistic statistic, const ValueRules& rules, uint64_t* slots) {
    OpenWhatDoesNotFit();
    if (statistic == Statistic::kSum) {
      return Fill(slots, [this](uint32_t l) { return static_cast<uint64_t>(sum_.Sum(l)); });
    }
    if (IsSmall(statistic)) {
      FinishSmallMoments(statistic, rules, slots);
    } else {
      FinishLargeMoments(statistic, rules, slots);
    }
  }

  void OpenWhatDoesNotFit() {
    ForEachMoment([this]<Moment kMoment>(const BriefMoments<S>& moments) {
      if (moments.template AllFit<kMoment>(width_, count_bits_)) return;
      for (uint32_t lane = 0; lane < width_; ++lane) {
        open_[lane] |= moments.template Fits<kMoment>(lane, count_bits_) ? 0 : 1;
      }
    });
  }

  // Integers of so many bits are float64 numbers, which SmallNumber makes of them.
  static constexpr int kSmallBits = 51;
  static double SmallNumber(int64_t x) {
    constexpr double kOrigin = 0x1.8p52;
    return std::bit_cast<double>(std::bit_cast<uint64_t>(kOrigin) + static_cast<uint64_t>(x)) -
           kOrigin;
  }

  // Whether all integers on the way to a statistic's value are float64 numbers.
  bool IsSmall(Statistic statistic) const {
    const auto is_below = [this](const BriefMoments<S>& moments, int bits) {
      return moments.SumBits(width_) >> bits == 0;
    };
    switch (statistic) {
      case Statistic::kMean: return is_below(sum_, kSmallBits);
      case Statistic::kL1Norm: return is_below(magnitudes_, kSmallBits);
      case Statistic::kL2Norm: return is_below(squares_, kSmallBits);
      // The square of the sum is no larger than count * squares.
      case Statistic::kVariance:
      case Statistic::kStandardDeviation: return is_below(squares_, kSmallBits - count_bits_);
      default: return false;
    }
  }

  // Operations on float64 round once what they have exactly.
  void FinishSmallMoments(Statistic statistic, const ValueRules& rules, uint64_t* slots) {
    const double ddof = static_cast<double>(rules.delta_degrees_of_freedom);
    const auto deviations = [this](uint32_t l) {
      const double sum = SmallNumber(sum_.Sum(l));
      return SizeOf(l) * SmallNumber(squares_.Sum(l)) - sum * sum;
    };
    switch (statistic) {
      case Statistic::kMean:
        return FillRounded(slots, [this](uint32_t l, double& value) {
          value = SmallNumber(sum_.Sum(l)) / SizeOf(l);
          return true;
        });
      case Statistic::kL1Norm:
        return FillRounded(slots, [this](uint32_t l, double& value) {
          value = SmallNumber(magnitudes_.Sum(l));
          return true;
        });
      case Statistic::kL2Norm:
        return FillRounded(slots, [this](uint32_t l, double& value) {
          value = std::sqrt(SmallNumber(squares_.Sum(l)));
          return true;
        });
      case Statistic::kVariance:
        return FillRounded(slots, [=, this](uint32_t l, double& value) {
          value = deviations(l) / (SizeOf(l) * (SizeOf(l) - ddof));
          return SizeOf(l) > ddof;
        });
      case Statistic::kStandardDeviation:
        return FillRounded(slots, [=, this](uint32_t l, double& value) {
          return RoundVariance({deviations(l), 0, 0}, SizeOf(l), ddof, true, value);
        });
      default: break;  // Is never small.
    }
  }

  // An integer below 2^106.
  static LaneNumber Known(Uint128 x) {
    const double high = static_cast<double>(x);
    return {high, static_cast<double>(static_cast<Int128>(x - static_cast<Uint128>(high))), 0};
  }

  void FinishLargeMoments(Statistic statistic, const ValueRules& rules, uint64_t* slots) {
    switch (statistic) {
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
        return FillRounded(slots, [&, this](uint32_t l, double& value) {
          const auto sum = static_cast<Int128>(sum_.Sum(l));
          const auto squares = static_cast<Uint128>(squares_.Sum(l));
          return RoundVariance(Known(squares * sizes_[l] - static_cast<Uint128>(sum * sum)),
                               SizeOf(l), static_cast<double>(rules.delta_degrees_of_freedom),
                               statistic == Statistic::kStandardDeviation, value);
        });
      default: break;  // Finish has written the others.
    }
  }

  uint32_t parts_;
  uint32_t width_;
  const uint32_t* sizes_;
  int count_bits_;  // Of the largest size.
  bool has_lines_;
  BriefMoments<S> sum_;
  BriefMoments<S> squares_;
  BriefMoments<S> magnitudes_;
  BriefExtremes<S> extremes_;
  alignas(kLanesAlignment) Count nonzero_[kBriefLanes];
  uint32_t line_nonzero_[kBriefLanes];  // Of lines, whose counts fit in no byte.
  alignas(kLanesAlignment) S poison_[kBriefLanes];
  // Not bool: words as wide as the values make vectors with them.
  alignas(kLanesAlignment) uint64_t open_[kBriefLanes];
};

}  // namespace gridfold::kernels::cpu

#endif  // GRIDFOLD_KERNELS_CPU_REDUCE_BRIEF_LANES_H_
