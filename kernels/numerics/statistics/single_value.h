// Statistics of groups of one element, which is what nearly all of them are. Host and device.
//
//   VisitSingleValue<S>(statistic, [&](auto slot_of) { slots[group] = slot_of(element); });
#ifndef GRIDFOLD_KERNELS_NUMERICS_STATISTICS_SINGLE_VALUE_H_
#define GRIDFOLD_KERNELS_NUMERICS_STATISTICS_SINGLE_VALUE_H_

#include <cmath>
#include <concepts>
#include <cstdint>
#include <utility>

#include "kernels/numerics/arithmetic/element.h"
#include "kernels/numerics/statistics/statistic_value.h"
#include "kernels/types/host_device.h"
#include "kernels/types/statistic.h"
#include "kernels/types/statistic_set.h"

namespace gridfold::kernels {

// Those that VisitSingleValue knows.
GRIDFOLD_HD constexpr StatisticSet SingleStatistics() {
  using enum Statistic;
  return {kCount,  kSum,    kMin,          kMax,           kArgmin,
          kArgmax, kMean,   kVariance,     kStandardError, kStandardDeviation,
          kL1Norm, kL2Norm, kNonzeroCount, kNanCount,      kInfinityCount,
          kAll,    kAny,    kRange,        kRootMeanSquare};
}

// Calls use(slot_of) once, where slot_of(x) is the value of `statistic`, one of SingleStatistics(),
// of a group of nothing but x. Requires that x is finite, and no degrees of freedom that are taken
// from it where there is a variance.
template <class S, class F>
GRIDFOLD_HD inline void VisitSingleValue(Statistic statistic, F&& use) {
  switch (statistic) {
    case Statistic::kSum:
      if constexpr (std::floating_point<S>) {
        return use([](S x) { return Slot(static_cast<double>(x)); });
      } else {
        return use([](S x) { return static_cast<uint64_t>(static_cast<int64_t>(x)); });
      }
    case Statistic::kMin:
    case Statistic::kMax: return use([](S x) { return Slot(x); });
    case Statistic::kMean: return use([](S x) { return Slot(static_cast<double>(x)); });
    case Statistic::kL1Norm:
    // The root of a square is rounded but once.
    case Statistic::kL2Norm:
    case Statistic::kRootMeanSquare:
      return use([](S x) {
        if constexpr (std::floating_point<S>) {
          return Slot(fabs(static_cast<double>(x)));
        } else {
          return Slot(static_cast<double>(Magnitude(x)));
        }
      });
    case Statistic::kCount: return use([](S) { return uint64_t{1}; });
    case Statistic::kNonzeroCount:
    case Statistic::kAll:
    case Statistic::kAny: return use([](S x) { return uint64_t{x != S{0} ? 1u : 0u}; });
    case Statistic::kArgmin:
    case Statistic::kArgmax:
    case Statistic::kNanCount:
    case Statistic::kInfinityCount:
    case Statistic::kVariance:
    case Statistic::kStandardDeviation:
    case Statistic::kStandardError:
    case Statistic::kRange: return use([](S) { return uint64_t{0}; });
    // Not among SingleStatistics.
    case Statistic::kProduct:
    case Statistic::kBitwiseAnd:
    case Statistic::kBitwiseOr:
    case Statistic::kBitwiseXor: return;
  }
}

}  // namespace gridfold::kernels

#endif  // GRIDFOLD_KERNELS_NUMERICS_STATISTICS_SINGLE_VALUE_H_
