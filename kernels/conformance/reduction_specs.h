// Pieces of reduction requests that several tests use.
#ifndef GRIDFOLD_KERNELS_CONFORMANCE_REDUCTION_SPECS_H_
#define GRIDFOLD_KERNELS_CONFORMANCE_REDUCTION_SPECS_H_

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <utility>
#include <vector>

#include "kernels/contract/reduction.h"

namespace gridfold::kernels::conformance {

inline ReductionSpec SpecOf(std::vector<Statistic> statistics) {
  ReductionSpec spec;
  spec.statistics = std::move(statistics);
  return spec;
}

// Every statistic that the array's type has; without those that need elements where there may be
// none.
inline ReductionSpec SpecOfAll(const ArrayDescription& array, bool may_be_empty) {
  ReductionSpec spec;
  for (int s = 0; s < kStatisticCount; ++s) {
    const auto statistic = static_cast<Statistic>(s);
    if (!IsDefinedFor(statistic, array.element_type)) continue;
    if (may_be_empty && TraitsOf(statistic).needs_elements) continue;
    spec.statistics.push_back(statistic);
  }
  return spec;
}
inline ReductionSpec SpecOfAll(const ArrayDescription& array) {
  return SpecOfAll(array, array.element_count == 0);
}

// Leaves out argmin and argmax, which are an error where every element is an ignored NaN.
inline void RemoveIndices(ReductionSpec& spec) {
  std::erase_if(spec.statistics, [](Statistic s) { return TraitsOf(s).is_index; });
}

inline std::vector<NanPolicy> NanPoliciesFor(ElementType type) {
  if (!IsFloatingPoint(type)) return {NanPolicy::kPropagate};
  return {NanPolicy::kPropagate, NanPolicy::kIgnore};
}

// The same values, bit for bit; any NaN is as good as any other.
inline bool SameSlots(const StatisticColumn& a, const StatisticColumn& b) {
  return std::equal(
      a.slots.begin(), a.slots.end(), b.slots.begin(), b.slots.end(), [&](uint64_t x, uint64_t y) {
        return x == y || (a.kind == ValueKind::kDouble && std::isnan(std::bit_cast<double>(x)) &&
                          std::isnan(std::bit_cast<double>(y)));
      });
}

}  // namespace gridfold::kernels::conformance

#endif  // GRIDFOLD_KERNELS_CONFORMANCE_REDUCTION_SPECS_H_
