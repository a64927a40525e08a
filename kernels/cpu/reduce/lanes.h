// All parts of a ReductionState by lanes, fed tile by tile.
#ifndef GRIDFOLD_KERNELS_CPU_REDUCE_LANES_H_
#define GRIDFOLD_KERNELS_CPU_REDUCE_LANES_H_

#include <concepts>
#include <cstdint>

#include "kernels/cpu/reduce/exact_lanes.h"
#include "kernels/cpu/reduce/moment_lanes.h"
#include "kernels/cpu/reduce/tally_lanes.h"
#include "kernels/cpu/reduce/tile.h"
#include "kernels/cpu/reduce/tile_extremes.h"
#include "kernels/cpu/reduce/tile_survey.h"
#include "kernels/numerics/statistics/reduction_state.h"

namespace gridfold::kernels::cpu {

// The state of a group whose elements are of type S. Which of its parts are filled is known at run
// time only: the elements are looked at tile by tile, so a part that is left out costs nothing.
template <class S>
using GroupState = ReductionState<S, kFullPartSet<S>>;

// Not initialised by its constructor, since it is large and mostly unused: Reset first.
template <class S>
class ReduceLanes {
 public:
  // `parts` is a set of bits of numerics/statistics/reduction_state.h.
  void Reset(uint32_t parts, bool ignore_nan, uint32_t width) {
    parts_ = parts;
    ignore_nan_ = ignore_nan;
    width_ = width;
    ForEachLanePart(*this, [&](auto, auto& lanes) { lanes.Reset(width); });
  }

  // A tile no wider than the lanes. Extremes, which need the elements' indices, go straight into
  // the `states` of the map's columns, and so do exact sums at times.
  void AddTile(const Tile<S>& tile, const ColumnMap& map, GroupState<S>* states) {
    if constexpr (std::floating_point<S>) {
      if ((parts_ & kMomentParts) != 0) AddMoments(tile, map.columns, states);
    }
    ForEachLanePart(*this, [&](auto part, auto& lanes) {
      if constexpr (!IsExactSum(part())) lanes.AddTile(tile, ignore_nan_);
    });
    if ((parts_ & kExtremesPart) != 0) {
      AddExtremes(tile, map, ignore_nan_, [&](uint32_t column) -> ExtremesState<S>& {
        return states[column].template Part<kExtremesPart>();
      });
    }
  }

  // Merges lane l into states[l % columns]. Afterwards the lanes can only be Reset.
  void MergeInto(uint32_t columns, GroupState<S>* states) {
    ForEachLanePart(*this, [&](auto part, auto& lanes) {
      if constexpr (IsExactSum(part())) {
        lanes.MergeInto(columns, SumOf<part()>(states));
      } else {
        FoldLanes(width_, columns,
                  [&](uint32_t into, uint32_t from) { lanes.JoinLane(into, from); });
        for (uint32_t column = 0; column < columns; ++column) {
          lanes.MergeLane(column, states[column].template Part<part()>());
        }
      }
    });
  }

 private:
  static constexpr uint32_t kMomentParts = kSumPart | kSquaresPart | kMagnitudesPart;
  static constexpr bool IsExactSum(uint32_t part) {
    return std::floating_point<S> && (part & kMomentParts) != 0;
  }
  // The exact sum of a column's part.
  template <uint32_t kPart>
  static auto SumOf(GroupState<S>* states) {
    return [states](uint32_t column) -> auto& { return states[column].template Part<kPart>().sum; };
  }

  void AddMoments(const Tile<S>& tile, uint32_t columns, GroupState<S>* states) {
    bool wanted = false;
    ForEachLanePart(*this, [&](auto part, auto& lanes) {
      if constexpr (IsExactSum(part())) wanted |= !lanes.is_nan();
    });
    if (!wanted) return;
    const TileSurvey<S> survey = Survey(tile);
    ForEachLanePart(*this, [&](auto part, auto& lanes) {
      if constexpr (IsExactSum(part())) {
        lanes.AddTile(tile, survey, ignore_nan_, columns, SumOf<part()>(states));
      }
    });
  }

  // Calls f(PartSet<part>{}, lanes) for each requested part.
  template <class Self, class F>
  static void ForEachLanePart(Self& self, F f) {
    const uint32_t parts = self.parts_;
    if ((parts & kSumPart) != 0) f(PartSet<kSumPart>{}, self.sum_);
    if ((parts & kSquaresPart) != 0) f(PartSet<kSquaresPart>{}, self.squares_);
    if ((parts & kMagnitudesPart) != 0) f(PartSet<kMagnitudesPart>{}, self.magnitudes_);
    if ((parts & kTallyPart) != 0) f(PartSet<kTallyPart>{}, self.tally_);
    if constexpr (std::integral<S>) {
      if ((parts & kBitsPart) != 0) f(PartSet<kBitsPart>{}, self.bits_);
      if ((parts & kProductPart) != 0) f(PartSet<kProductPart>{}, self.product_);
    }
  }

  uint32_t parts_;
  bool ignore_nan_;
  uint32_t width_;
  MomentLanes<S, Moment::kSum> sum_;
  MomentLanes<S, Moment::kSquares> squares_;
  MomentLanes<S, Moment::kMagnitudes> magnitudes_;
  TallyLanes<S> tally_;
  BitsLanes<S> bits_;
  ProductLanes<S> product_;
};

}  // namespace gridfold::kernels::cpu

#endif  // GRIDFOLD_KERNELS_CPU_REDUCE_LANES_H_
