// Statistics of groups of one element, which is what nearly all of them are.
#ifndef GRIDFOLD_KERNELS_CPU_REDUCE_BRIEF_SINGLE_H_
#define GRIDFOLD_KERNELS_CPU_REDUCE_BRIEF_SINGLE_H_

#include <bit>
#include <cmath>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <type_traits>

#include "kernels/cpu/base/independent_iterations.h"
#include "kernels/numerics/arithmetic/element.h"
#include "kernels/numerics/statistics/statistic_value.h"

namespace gridfold::kernels::cpu {

// Elements at any byte address, each a group.
template <class S>
struct SingleElements {
  const std::byte* data;
  uint32_t count;

  S operator[](uint32_t i) const { return LoadUnaligned<S>(data, i); }

  // Whether groups have answers by the function below: there is nothing special about them.
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
  const auto fill = [&](auto slot_of) {
    GRIDFOLD_INDEPENDENT_ITERATIONS
    for (uint32_t i = 0; i < elements.count; ++i) slots[i] = slot_of(elements[i]);
  };
  const auto fill_double = [&](auto value_of) {
    fill([=](S x) { return std::bit_cast<uint64_t>(value_of(x)); });
  };
  switch (statistic) {
    case Statistic::kSum:
      if constexpr (std::floating_point<S>) {
        return fill_double([](S x) { return static_cast<double>(x); });
      }
      return fill([](S x) { return static_cast<uint64_t>(static_cast<int64_t>(x)); });
    case Statistic::kMin:
    case Statistic::kMax:
      if constexpr (std::floating_point<S>) {
        return fill_double([](S x) { return static_cast<double>(x); });
      }
      return fill([](S x) { return Slot(x); });
    case Statistic::kMean: return fill_double([](S x) { return static_cast<double>(x); });
    case Statistic::kL1Norm:
    // The root of a square is rounded but once.
    case Statistic::kL2Norm:
      return fill_double([](S x) {
        if constexpr (std::floating_point<S>) {
          return std::fabs(static_cast<double>(x));
        } else {
          return static_cast<double>(Magnitude(x));
        }
      });
    case Statistic::kCount: return fill([](S) { return uint64_t{1}; });
    case Statistic::kNonzeroCount:
    case Statistic::kAll:
    case Statistic::kAny: return fill([](S x) { return uint64_t{x != S{0} ? 1u : 0u}; });
    case Statistic::kArgmin:
    case Statistic::kArgmax:
    case Statistic::kNanCount:
    case Statistic::kInfinityCount:
    case Statistic::kVariance:
    case Statistic::kStandardDeviation: return fill([](S) { return uint64_t{0}; });
    // Not among BriefStatistics.
    case Statistic::kProduct:
    case Statistic::kBitwiseAnd:
    case Statistic::kBitwiseOr:
    case Statistic::kBitwiseXor:
    case Statistic::kRange:
    case Statistic::kRootMeanSquare:
    case Statistic::kStandardError: return;
  }
}

}  // namespace gridfold::kernels::cpu

#endif  // GRIDFOLD_KERNELS_CPU_REDUCE_BRIEF_SINGLE_H_
