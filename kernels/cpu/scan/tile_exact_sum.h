// Scans of one tile by exact sums of floating-point numbers: numerics/scans/exact_run.h between one
// group's start and the next.
#ifndef GRIDFOLD_KERNELS_CPU_SCAN_TILE_EXACT_SUM_H_
#define GRIDFOLD_KERNELS_CPU_SCAN_TILE_EXACT_SUM_H_

#include "kernels/cpu/scan/carry.h"
#include "kernels/cpu/scan/tile.h"
#include "kernels/numerics/scans/exact_run.h"

namespace gridfold::kernels::cpu {

static_assert(kScanTileSize <= 1 << kExactRunBits, "a tile is one run at most");

template <class T, bool kHasGroups>
class ExactSumTileScan {
 public:
  using Element = T;
  using Operator = ExactSumOperator<T>;
  // Also where there is one group: a sum since its start takes the carry's place.
  using Carry = Carried<Operator, true>;
  using Chain = ExactCarryChain<Carry>;
  static constexpr bool kGrouped = kHasGroups;

  static typename Carry::Type Total(const LogicalTile<T>& tile, const ScanRules& rules) {
    const int first = LastHead<kGrouped>(tile);
    PrefixSum<T> total;
    const int begin = first < 0 ? 0 : first;
    AddRun(tile.elements + begin, tile.count - begin, rules.ignore_nan, total);
    return Carry::Of(total, first >= 0);
  }

  // Writes results as ExactTileScan::Write does, but `total` holds the carry too. Sums always fit.
  template <class Out>
  static bool Write(const LogicalTile<T>& tile, const typename Carry::Type& carry,
                    const ScanRules& rules, Out* results, typename Carry::Type* total) {
    PrefixSum<T> sum = Carry::ValueOf(carry);
    for (int begin = 0; begin < tile.count;) {
      const bool head = IsHead(tile, begin);
      if (head) sum = Operator::Identity();
      int end = begin + 1;
      while (end < tile.count && !IsHead(tile, end)) ++end;
      ScanRun<Out>(tile.elements + begin, end - begin, rules.ignore_nan, rules.exclusive, sum,
                   [&](int i, Out prefix) { results[begin + i] = prefix; });
      if (head && rules.exclusive) results[begin] = RoundOnce<Out>(Operator::EmptyResult());
      begin = end;
    }
    if (total != nullptr) *total = Carry::Of(sum, true);
    return true;
  }

 private:
  static bool IsHead(const LogicalTile<T>& tile, int i) {
    if constexpr (kGrouped) return tile.heads[i];
    return false;
  }
};

}  // namespace gridfold::kernels::cpu

#endif  // GRIDFOLD_KERNELS_CPU_SCAN_TILE_EXACT_SUM_H_
