// Bins of several dimensions: which one a sample is in, found from one coordinate after the other.
//
// Bins are numbered in row-major order. A sample with a NaN among its coordinates is in no bin; one
// outside in several dimensions counts as outside by the first of them.
//
//   AxesPlace place = kFirstAxis;
//   for (axis) place = PlaceOnAxis(place, LocateBin(bins[axis], x[axis]), bin_count[axis], policy);
//   // BinOf(place), OutcomeOf(place)
#ifndef GRIDFOLD_KERNELS_NUMERICS_BINS_AXES_H_
#define GRIDFOLD_KERNELS_NUMERICS_BINS_AXES_H_

#include <cstdint>

#include "kernels/numerics/bins/layout.h"
#include "kernels/types/host_device.h"
#include "kernels/types/policies.h"

namespace gridfold::kernels {

// Dimensions of bins, and bins of all together, at most.
inline constexpr uint64_t kBinAxesMax = 8;
inline constexpr uint64_t kAxesBinsMax = uint64_t{1} << 28;

// The bin of a sample among those of the axes so far, and above it what a Placement calls outcome,
// negated.
using AxesPlace = uint32_t;
inline constexpr uint32_t kAxesBinBits = 30;
inline constexpr AxesPlace kInNoBin = (AxesPlace{1} << kAxesBinBits) - 1;
static_assert(kAxesBinsMax <= kInNoBin && -kNanBin < 4);

// Before the first axis.
inline constexpr AxesPlace kFirstAxis = 0;

GRIDFOLD_HD inline AxesPlace BinOf(AxesPlace place) { return place & kInNoBin; }
GRIDFOLD_HD inline int64_t OutcomeOf(AxesPlace place) {
  return -static_cast<int64_t>(place >> kAxesBinBits);
}

// The place of a sample that was at `before`, and whose coordinate LocateBin has `located` on an
// axis of so many bins. Requires at most kAxesBinsMax bins of all axes together.
GRIDFOLD_HD inline AxesPlace PlaceOnAxis(AxesPlace before, int64_t located, uint64_t bin_count,
                                         OutOfRangePolicy policy) {
  const Placement placement = Place(located, bin_count, policy);
  const int64_t earlier = OutcomeOf(before);
  const int64_t outcome = located == kNanBin || earlier == 0 ? placement.outcome : earlier;
  const bool is_in_none = placement.bin < 0 || BinOf(before) == kInNoBin;
  const AxesPlace bin = is_in_none ? kInNoBin
                                   : BinOf(before) * static_cast<AxesPlace>(bin_count) +
                                         static_cast<AxesPlace>(placement.bin);
  return static_cast<AxesPlace>(-outcome) << kAxesBinBits | bin;
}

}  // namespace gridfold::kernels

#endif  // GRIDFOLD_KERNELS_NUMERICS_BINS_AXES_H_
