// The bounds of even bins that follow from the samples: one rule for host and device.
//
//   double lower = smallest, upper = largest;      // of the finite samples
//   if (!WidenRange(edges_increase, lower, upper)) // more bins than there are numbers
//
// Samples from 3 to 7 keep these bounds; samples that are all 3 get 2.5 and 3.5, as in NumPy; and
// samples that are all 2^53 get 2^53 - 2 and 2^53 + 2 for two bins, since 2^53 + 0.5 is no double.
#ifndef GRIDFOLD_KERNELS_NUMERICS_BINS_AUTOMATIC_RANGE_H_
#define GRIDFOLD_KERNELS_NUMERICS_BINS_AUTOMATIC_RANGE_H_

#include <cfloat>
#include <cmath>
#include <cstdint>

#include "kernels/numerics/arithmetic/element.h"
#include "kernels/numerics/bins/layout.h"
#include "kernels/types/host_device.h"

namespace gridfold::kernels {

// Whether steps are so wide that no rounding makes two edges meet. In units of the larger bound's
// last place: an edge is off by less than two of them, as its product is by one and its sum by half
// of one; and the last edge, which is exact, is off by less than four from the end of the last
// step, as twice the larger bound is rounded twice. So two edges are a step apart but for eight
// units.
GRIDFOLD_HD inline bool EvenEdgesSurelyIncrease(const BinLayout& layout) {
  const double largest = fmax(fabs(layout.lower), fabs(layout.upper)) * layout.per_unit;
  const double last_place = nextafter(largest, HUGE_VAL) - largest;
  return IsFinite(last_place) && layout.step > 8 * last_place;
}

// What the step of even edges alone shows of whether they increase.
enum class EdgeOrder : uint8_t {
  kIncreasing,
  kMeeting,  // Or so near that a sample's bin would be a long search.
  kUnknown,  // Each pair is to be compared.
};
GRIDFOLD_HD inline EdgeOrder OrderOfEvenEdges(const BinLayout& layout) {
  // The step's inverse is not finite.
  if (!IsFinite(layout.bins_per_unit)) return EdgeOrder::kMeeting;
  return EvenEdgesSurelyIncrease(layout) ? EdgeOrder::kIncreasing : EdgeOrder::kUnknown;
}

// The range where there is no finite sample.
inline constexpr double kEmptyRangeLower = 0;
inline constexpr double kEmptyRangeUpper = 1;

// The least margin to try for a range that is too narrow. One of less than half the distance of
// two numbers, which below a power of two is half of that above, changes no bound.
GRIDFOLD_HD inline double LeastMargin(double lower, double upper) {
  if (lower == upper) return 0.5;
  constexpr int kLowestExponent = -1074;
  const int exponent = ilogb(fmax(fabs(lower), fabs(upper))) - 54;
  return ldexp(1.0, exponent > kLowestExponent ? exponent : kLowestExponent);
}

// Widens the bounds each way by the least power of two with which they are apart and
// edges_increase(lower, upper) holds; not beyond the largest number. False where no margin does.
template <class EdgesIncrease>
GRIDFOLD_HD inline bool WidenRange(EdgesIncrease&& edges_increase, double& lower, double& upper) {
  // Of zeros of both signs whichever comes first is the smallest: the bound is the positive one.
  const double smallest = lower + 0.0;
  const double largest = upper + 0.0;
  lower = smallest;
  upper = largest;
  double margin = LeastMargin(lower, upper);
  while (!(lower < upper && edges_increase(lower, upper))) {
    if (!IsFinite(margin)) return false;
    lower = fmax(smallest - margin, -DBL_MAX);
    upper = fmin(largest + margin, DBL_MAX);
    margin *= 2;
  }
  return true;
}

}  // namespace gridfold::kernels

#endif  // GRIDFOLD_KERNELS_NUMERICS_BINS_AUTOMATIC_RANGE_H_
