// A set of statistics. A value; for host and device, so that a kernel that answers some statistics
// in a way of its own says once which:
//
//   GRIDFOLD_HD constexpr StatisticSet AnswersOfSums() {
//     return {Statistic::kCount, Statistic::kSum, Statistic::kMean};
//   }
//   if (!AnswersOfSums().HasAll(wanted)) ...  // By a kernel that answers all.
#ifndef GRIDFOLD_KERNELS_TYPES_STATISTIC_SET_H_
#define GRIDFOLD_KERNELS_TYPES_STATISTIC_SET_H_

#include <compare>
#include <concepts>
#include <cstdint>

#include "kernels/types/host_device.h"
#include "kernels/types/statistic.h"

namespace gridfold::kernels {

class StatisticSet {
 public:
  template <std::same_as<Statistic>... Statistics>
  GRIDFOLD_HD constexpr StatisticSet(Statistics... statistics) {
    (Add(statistics), ...);
  }

  GRIDFOLD_HD constexpr void Add(Statistic statistic) { bits_ |= BitOf(statistic); }
  GRIDFOLD_HD constexpr bool Has(Statistic statistic) const {
    return (bits_ & BitOf(statistic)) != 0;
  }
  GRIDFOLD_HD constexpr bool HasAll(StatisticSet others) const {
    return (others.bits_ & ~bits_) == 0;
  }
  GRIDFOLD_HD constexpr bool HasAny(StatisticSet others) const {
    return (others.bits_ & bits_) != 0;
  }
  friend auto operator<=>(StatisticSet, StatisticSet) = default;

 private:
  static_assert(kStatisticCount <= 64);
  GRIDFOLD_HD static constexpr uint64_t BitOf(Statistic statistic) {
    return uint64_t{1} << static_cast<int>(statistic);
  }

  uint64_t bits_ = 0;
};

}  // namespace gridfold::kernels

#endif  // GRIDFOLD_KERNELS_TYPES_STATISTIC_SET_H_
