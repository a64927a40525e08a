// Statistics of groups of one element, some of them side by side.
#ifndef GRIDFOLD_KERNELS_CPU_REDUCE_BRIEF_SINGLE_H_
#define GRIDFOLD_KERNELS_CPU_REDUCE_BRIEF_SINGLE_H_

#include <bit>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <type_traits>

#include "kernels/cpu/base/independent_iterations.h"
#include "kernels/numerics/arithmetic/element.h"
#include "kernels/numerics/statistics/single_value.h"

namespace gridfold::kernels::cpu {

// Elements at any byte address, each a group.
template <class S>
struct SingleElements {
  const std::byte* data;
  uint32_t count;

  S operator[](uint32_t i) const { return LoadUnaligned<S>(data, i); }

  // Whether groups have answers by FinishSingles: there is nothing special about them.
  bool AreFinite() const {
    if constexpr (std::floating_point<S>) {
      using Bits = std::conditional_t<sizeof(S) == 8, uint64_t, uint32_t>;
      constexpr Bits kInfinity = std::bit_cast<Bits>(std::numeric_limits<S>::infinity());
      Bits special = 0;
      for (uint32_t i = 0; i < count; ++i) {
        special |= (LoadUnaligned<Bits>(data, i) & kInfinity) == kInfinity ? 1 : 0;
      }
      return special == 0;
    }
    return true;
  }
};

// Sets slots[i] to the value of `statistic`, one of BriefStatistics(), of group i. Requires finite
// elements, and no degrees of freedom fewer than they are, where there is a variance.
template <class S>
inline void FinishSingles(const SingleElements<S>& elements, Statistic statistic, uint64_t* slots) {
  VisitSingleValue<S>(statistic, [&](auto slot_of) {
    GRIDFOLD_INDEPENDENT_ITERATIONS
    for (uint32_t i = 0; i < elements.count; ++i) slots[i] = slot_of(elements[i]);
  });
}

}  // namespace gridfold::kernels::cpu

#endif  // GRIDFOLD_KERNELS_CPU_REDUCE_BRIEF_SINGLE_H_
