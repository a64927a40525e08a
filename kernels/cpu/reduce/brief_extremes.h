// The least and the largest elements of groups of few elements, a lane for each group, and where
// the first of them stand. Of groups whose elements are all finite.
#ifndef GRIDFOLD_KERNELS_CPU_REDUCE_BRIEF_EXTREMES_H_
#define GRIDFOLD_KERNELS_CPU_REDUCE_BRIEF_EXTREMES_H_

#include <bit>
#include <concepts>
#include <cstdint>
#include <type_traits>

#include "kernels/cpu/reduce/brief_kernels.h"
#include "kernels/cpu/reduce/brief_line.h"
#include "kernels/cpu/reduce/brief_moments.h"
#include "kernels/cpu/reduce/tally_lanes.h"
#include "kernels/cpu/reduce/tile.h"

namespace gridfold::kernels::cpu {

// Not initialised by its constructor: Reset first.
template <class S>
class BriefExtremes {
 public:
  // Lane l has a group of sizes[l] elements, at least `least_size`. `sizes` must outlive what is
  // added.
  void Reset(const uint32_t* sizes, uint32_t least_size, ExtremesWanted wanted) {
    sizes_ = sizes;
    least_size_ = least_size;
    wanted_ = wanted;
    has_lines_ = false;
  }

  // The elements of all lanes from `first_row` on, at most kBriefRows in all.
  void AddTile(const Tile<S>& tile, uint32_t first_row) {
    for (uint32_t r = 0; r < tile.rows; ++r) {
      const Tile<S> row = RowOf(tile, r);
      const uint32_t index = first_row + r;
      if (index == 0) {
        Begin(row);
      } else if (index < least_size_) {
        AddRow<false>(row, index);
      } else {
        AddRow<true>(row, index);
      }
    }
  }

  // Elements of the group of one lane, from the one with index `first` on, in their order. Returns
  // whether all are finite.
  bool AddLine(const Line<S>& line, uint32_t first, uint32_t lane) {
    has_lines_ = true;
    const LineExtremes<S> extremes = ExtremesOf(line);
    if (wanted_.least) AddExtreme<false>(line, first, extremes.least, lane, least_);
    if (wanted_.largest) AddExtreme<true>(line, first, extremes.largest, lane, largest_);
    return extremes.are_finite;
  }

  S Least(uint32_t lane) const { return least_.best[lane]; }
  S Largest(uint32_t lane) const { return largest_.best[lane]; }
  uint64_t PlaceOfLeast(uint32_t lane) const { return Place(least_, lane); }
  uint64_t PlaceOfLargest(uint32_t lane) const { return Place(largest_, lane); }

 private:
  // As wide as the elements, for vectors' sake.
  using Index = TileCount<S>;

  struct End {
    alignas(kLanesAlignment) S best[kBriefLanes];
    alignas(kLanesAlignment) Index places[kBriefLanes];
    uint32_t line_places[kBriefLanes];  // Of lines, which may be long.
  };

  void Begin(const Tile<S>& row) {
    ForEachElement(row, [this](uint32_t lane, S x) {
      least_.best[lane] = largest_.best[lane] = x;
      least_.places[lane] = largest_.places[lane] = 0;
    });
  }

  // Adds a row that all groups have, or some of them.
  template <bool kSome>
  void AddRow(const Tile<S>& row, uint32_t index) {
    if (wanted_.least)
      AddRow<kSome>(
          row, index, [](S x, S y) { return x < y; }, least_);
    if (wanted_.largest)
      AddRow<kSome>(
          row, index, [](S x, S y) { return x > y; }, largest_);
  }

  template <bool kSome, class IsBefore>
  void AddRow(const Tile<S>& row, uint32_t index, IsBefore is_before, End& end) {
    const auto add = [&](auto with_places) {
      ForEachElement(row, [=, sizes = sizes_, &end](uint32_t lane, S x) {
        const bool exists = !kSome || index < sizes[lane];
        const bool is_better = exists & is_before(x, end.best[lane]);
        const Index mask = is_better ? static_cast<Index>(-1) : Index{0};
        end.best[lane] = Chosen(mask, x, end.best[lane]);
        if constexpr (with_places()) {
          end.places[lane] = Chosen(mask, static_cast<Index>(index), end.places[lane]);
        }
      });
    };
    wanted_.places ? add(std::true_type()) : add(std::false_type());
  }

  // x where all bits of the mask are set, y where none is. Not by a condition, which compilers make
  // of it stores of single lanes, that take many times longer.
  template <class X>
  static X Chosen(Index mask, X x, X y) {
    const Index bits = (std::bit_cast<Index>(x) & mask) | (std::bit_cast<Index>(y) & ~mask);
    return std::bit_cast<X>(bits);
  }

  LineExtremes<S> ExtremesOf(const Line<S>& line) const {
    if (!wanted_.least) return LineExtremes<S>::template Of<false, true>(line);
    if (!wanted_.largest) return LineExtremes<S>::template Of<true, false>(line);
    return LineExtremes<S>::Of(line);
  }

  // Merges the extreme of a further line, which is the first of those that are equal.
  template <bool kLargest>
  void AddExtreme(const Line<S>& line, uint32_t first, S found, uint32_t lane, End& end) {
    S& best = end.best[lane];
    if (first != 0 && !(kLargest ? found > best : found < best)) return;
    // Of zeros the first one's sign is the answer's.
    if (wanted_.places || (std::floating_point<S> && found == S{0})) {
      const uint32_t index = FirstOf(line, found);
      found = line[index];
      end.line_places[lane] = first + index;
    }
    best = found;
  }

  uint64_t Place(const End& end, uint32_t lane) const {
    return has_lines_ ? uint64_t{end.line_places[lane]} : uint64_t{end.places[lane]};
  }

  const uint32_t* sizes_;
  uint32_t least_size_;
  ExtremesWanted wanted_;
  bool has_lines_;
  End least_;
  End largest_;
};

}  // namespace gridfold::kernels::cpu

#endif  // GRIDFOLD_KERNELS_CPU_REDUCE_BRIEF_EXTREMES_H_
