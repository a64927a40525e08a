// Prefix sums of integers one after the other, in the type of the results. As long as the sums
// before fit, one addition says whether the next one does.
#ifndef GRIDFOLD_KERNELS_CPU_SCAN_RUNNING_SUM_H_
#define GRIDFOLD_KERNELS_CPU_SCAN_RUNNING_SUM_H_

#include <type_traits>

#include "kernels/cpu/scan_tile.h"

namespace gridfold::kernels {

// Whether the sums of all elements but the last fit, and that of all.
struct SumsFit {
  bool before_last;
  bool last;
};

namespace running_sum_internal {

// `running` goes from the sum before the elements to that of all, modulo 2^bits. With kWrap nothing
// is said of what fits.
template <bool kExclusive, bool kWrap, class T, class Out>
inline SumsFit AddElements(const LogicalTile<T>& tile, bool running_fits, Out& running,
                           Out* results) {
  using Bits = std::make_unsigned_t<Out>;
  Out sum = running;
  bool overflowed = !running_fits;
  bool overflowed_before = overflowed;
  for (int i = 0; i < tile.count; ++i) {
    const Out before = sum;
    if constexpr (kWrap) {
      sum = static_cast<Out>(static_cast<Bits>(before) + static_cast<Bits>(tile.elements[i]));
    } else {
      overflowed_before = overflowed;
      overflowed |= __builtin_add_overflow(before, tile.elements[i], &sum);
    }
    results[i] = kExclusive ? before : sum;
  }
  running = sum;
  return {!overflowed_before, !overflowed};
}

}  // namespace running_sum_internal

// Writes the prefix sums of a tile in which no group starts, after `carry`, and gives the sum of
// carry and all elements modulo 2^bits of Out. Returns which sums fit; those that may wrap all do.
template <class T, class Out, class Value>
inline SumsFit WriteRunningSums(const LogicalTile<T>& tile, const Value& carry,
                                const ScanRules& rules, Out* results, Out* sum) {
  using namespace running_sum_internal;  // NOLINT
  *sum = static_cast<Out>(carry);
  if (rules.wrap) {
    return rules.exclusive ? AddElements<true, true>(tile, true, *sum, results)
                           : AddElements<false, true>(tile, true, *sum, results);
  }
  const bool carry_fits = static_cast<Value>(*sum) == carry;
  return rules.exclusive ? AddElements<true, false>(tile, carry_fits, *sum, results)
                         : AddElements<false, false>(tile, carry_fits, *sum, results);
}

}  // namespace gridfold::kernels

#endif  // GRIDFOLD_KERNELS_CPU_SCAN_RUNNING_SUM_H_
