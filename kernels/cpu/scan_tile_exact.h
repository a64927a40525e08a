// Scans of one tile whose operator is exactly associative: integers, minima and maxima. The order
// in which values are joined does not matter, so they are joined one after the other.
#ifndef GRIDFOLD_KERNELS_CPU_SCAN_TILE_EXACT_H_
#define GRIDFOLD_KERNELS_CPU_SCAN_TILE_EXACT_H_

#include "kernels/cpu/scan_carry.h"
#include "kernels/cpu/scan_tile.h"
#include "kernels/cpu/scan_whole_tile.h"

namespace gridfold::kernels {

template <class TileOperator, class T, bool kHasGroups>
class ExactTileScan {
 public:
  using Element = T;
  using Operator = TileOperator;
  using Carry = Carried<Operator, kHasGroups>;
  using Chain = ExactCarryChain<Carry>;
  using Value = typename Operator::Value;
  static constexpr bool kGrouped = kHasGroups;

  static typename Carry::Type Total(const LogicalTile<T>& tile, const ScanRules& rules) {
    if constexpr (WholeTile::kInVectors) {
      if (IsWholeTile<kGrouped>(tile)) return Carry::Of(WholeTile::Total(tile, rules), false);
    }
    const int first = LastHead<kGrouped>(tile);
    Value total = Operator::Identity();
    for (int i = first < 0 ? 0 : first; i < tile.count; ++i) {
      total = Operator::Combine(total, Operator::Lift(tile.elements[i], rules.ignore_nan));
    }
    return Carry::Of(total, first >= 0);
  }

  // Writes tile.count results, and the tile's total where `total` is not null; returns false where
  // a result does not fit.
  template <class Out>
  static bool Write(const LogicalTile<T>& tile, const typename Carry::Type& carry,
                    const ScanRules& rules, Out* results, typename Carry::Type* total) {
    if constexpr (WholeTile::kInVectors) {
      if (IsWholeTile<kGrouped>(tile)) {
        return WholeTile::template Write<Carry>(tile, carry, rules, results, total);
      }
    }
    if (total != nullptr) *total = Total(tile, rules);
    Value running = Carry::ValueOf(carry);
    bool fits = true;
    for (int i = 0; i < tile.count; ++i) {
      bool head = false;
      if constexpr (kGrouped) head = tile.heads[i];
      if (head) running = Operator::Identity();
      const Value before = running;
      running = Operator::Combine(running, Operator::Lift(tile.elements[i], rules.ignore_nan));
      const Value& result = rules.exclusive ? (head ? Operator::EmptyResult() : before) : running;
      fits &= Operator::template Store<Out>(result, rules.wrap, &results[i]);
    }
    return fits;
  }

 private:
  using WholeTile = WholeTileScan<Operator, T>;
};

}  // namespace gridfold::kernels

#endif  // GRIDFOLD_KERNELS_CPU_SCAN_TILE_EXACT_H_
