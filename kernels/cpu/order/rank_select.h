// Elements by their rank, of keys in memory.
#ifndef GRIDFOLD_KERNELS_CPU_ORDER_RANK_SELECT_H_
#define GRIDFOLD_KERNELS_CPU_ORDER_RANK_SELECT_H_

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "kernels/contract/quantiles.h"
#include "kernels/numerics/order/quantile.h"
#include "kernels/numerics/statistics/statistic_value.h"

namespace gridfold::kernels::cpu {

// Brings to each of these places, which increase and are all below keys.size(), the key that stands
// there when all are sorted.
template <class Key>
void SelectRanks(std::span<Key> keys, std::span<const uint64_t> ranks, uint64_t first_rank = 0) {
  if (ranks.empty()) return;
  const size_t middle = ranks.size() / 2;
  const uint64_t place = ranks[middle] - first_rank;
  std::nth_element(keys.begin(), keys.begin() + static_cast<ptrdiff_t>(place), keys.end());
  SelectRanks(keys.first(place), ranks.first(middle), first_rank);
  SelectRanks(keys.subspan(place + 1), ranks.subspan(middle + 1), first_rank + place + 1);
}

// The places that the targets of a group of so many numbers need, sorted, each once.
inline std::vector<uint64_t> RanksOf(const QuantilePlan& plan, uint64_t number_count) {
  std::vector<uint64_t> ranks;
  for (const QuantileTarget& target : plan.targets) {
    if (!HasPlace(target, number_count)) continue;
    const QuantilePlace place = PlaceOf(target, number_count, plan.method);
    ranks.push_back(place.lower);
    ranks.push_back(place.upper);
  }
  std::sort(ranks.begin(), ranks.end());
  ranks.erase(std::unique(ranks.begin(), ranks.end()), ranks.end());
  return ranks;
}

// Whether a NaN decides all values of a group with so many.
inline bool IsAllNan(const QuantilePlan& plan, uint64_t nan_count) {
  return nan_count > 0 && plan.nan_policy == NanPolicy::kPropagate;
}

// Writes the values of group `group`, of which so many elements are numbers. `key_at` gives the key
// at a rank of RanksOf.
template <class T, class KeyAt>
void WriteTargets(const QuantilePlan& plan, uint64_t group, uint64_t number_count, bool is_nan,
                  KeyAt key_at, std::vector<uint64_t>& slots) {
  for (size_t t = 0; t < plan.targets.size(); ++t) {
    const QuantileTarget& target = plan.targets[t];
    uint64_t& slot = slots[t * plan.grouping.group_count + group];
    if (is_nan || !HasPlace(target, number_count)) {
      slot = kNanSlot;
      continue;
    }
    const QuantilePlace place = PlaceOf(target, number_count, plan.method);
    slot =
        TargetSlot<T>(target, place.weight, plan.method, key_at(place.lower), key_at(place.upper));
  }
}

}  // namespace gridfold::kernels::cpu

#endif  // GRIDFOLD_KERNELS_CPU_ORDER_RANK_SELECT_H_
