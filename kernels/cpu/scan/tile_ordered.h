// Scans of one tile whose operator rounds: floating-point sums and products, joined along the tree
// of numerics/scans/tree.h.
#ifndef GRIDFOLD_KERNELS_CPU_SCAN_TILE_ORDERED_H_
#define GRIDFOLD_KERNELS_CPU_SCAN_TILE_ORDERED_H_

#include <algorithm>
#include <cstdint>

#include "kernels/cpu/scan/carry.h"
#include "kernels/cpu/scan/fit.h"
#include "kernels/cpu/scan/tile.h"
#include "kernels/cpu/scan/whole_tile.h"

namespace gridfold::kernels::cpu {

template <class TileOperator, class T, bool kHasGroups>
class OrderedTileScan {
 public:
  using Element = T;
  using Operator = TileOperator;
  using Carry = Carried<Operator, kHasGroups>;
  using Chain = CarryChain<Carry>;
  using Value = typename Operator::Value;
  using CarryType = typename Carry::Type;
  static constexpr bool kGrouped = kHasGroups;

  static CarryType Total(const LogicalTile<T>& tile, const ScanRules& rules) {
    if constexpr (WholeTile::kInVectors) {
      if (IsWholeTile<kGrouped>(tile)) return Carry::Of(WholeTile::Total(tile, rules), false);
    }
    CarryType runs[kRuns];
    for (int q = 0; q < kRuns; ++q) runs[q] = TotalOfRun(tile, q, rules);
    return ScanRuns(runs);
  }

  template <class Out>
  static bool Write(const LogicalTile<T>& tile, const CarryType& carry, const ScanRules& rules,
                    Out* results, CarryType* total) {
    if constexpr (WholeTile::kInVectors) {
      if (IsWholeTile<kGrouped>(tile)) {
        return WholeTile::template Write<Carry>(tile, carry, rules, results, total);
      }
    }
    CarryType runs[kRuns];
    Value running[kScanTileSize];
    for (int q = 0; q < kRuns; ++q) runs[q] = RunningValues(tile, q, rules, running);
    const CarryType tile_total = ScanRuns(runs);
    if (total != nullptr) *total = tile_total;
    bool fits = true;
    for (int q = 0; q * kScanItems < tile.count; ++q) {
      const CarryType base = Carry::Join(carry, q == 0 ? Carry::Identity() : runs[q - 1]);
      fits &= WriteRun(tile, q, base, rules, running, results);
    }
    return fits;
  }

 private:
  using WholeTile = WholeTileScan<Operator, T>;
  static constexpr int kRuns = kScanLanes * kScanWarps;

  static bool IsHead(const LogicalTile<T>& tile, int i) {
    if constexpr (kGrouped) return tile.heads[i];
    return false;
  }

  // Joins the values of run q in order, and calls visit(i, running value) for each.
  template <class Visit>
  static CarryType FoldRun(const LogicalTile<T>& tile, int q, const ScanRules& rules, Visit visit) {
    const int end = std::min((q + 1) * kScanItems, tile.count);
    Value value = Operator::Identity();
    bool starts_group = false;
    for (int i = q * kScanItems; i < end; ++i) {
      const bool head = IsHead(tile, i);
      if (head) value = Operator::Identity();
      starts_group |= head;
      value = Operator::Combine(
          value, LiftElement<Operator>(tile.elements[i], rules.ignore_nan, rules.mirror_bits));
      visit(i, value);
    }
    return Carry::Of(value, starts_group);
  }

  static CarryType TotalOfRun(const LogicalTile<T>& tile, int q, const ScanRules& rules) {
    return FoldRun(tile, q, rules, [](int, const Value&) {});
  }

  static CarryType RunningValues(const LogicalTile<T>& tile, int q, const ScanRules& rules,
                                 Value* running) {
    return FoldRun(tile, q, rules, [&](int i, const Value& value) { running[i] = value; });
  }

  // Turns the totals of runs into what run q and all before it in the tile come to; returns the
  // tile's total.
  static CarryType ScanRuns(CarryType* runs) {
    CarryType warp = Carry::Identity();
    for (int w = 0; w < kScanWarps; ++w) {
      CarryType* lanes = runs + w * kScanLanes;
      ScanLanes<Carry>(lanes);
      const CarryType total = lanes[kScanLanes - 1];
      for (int lane = 0; lane < kScanLanes; ++lane) lanes[lane] = Carry::Join(warp, lanes[lane]);
      warp = Carry::Join(warp, total);
    }
    return warp;
  }

  // Returns whether all results fit.
  template <class Out>
  static bool WriteRun(const LogicalTile<T>& tile, int q, const CarryType& base,
                       const ScanRules& rules, const Value* running, Out* results) {
    const int begin = q * kScanItems;
    const int end = std::min(begin + kScanItems, tile.count);
    using Fit = FitOf<Operator, T>;
    uint64_t misfits = 0;
    const auto store = [&](int i, const Value& value) {
      const bool fits = StoreResult<Operator>(value, rules.wrap, rules.mirror_bits, &results[i]);
      misfits |= Fit::BitsOf(value, fits);
    };
    bool group_starts_here = false;  // At or before i, in this run.
    for (int i = begin; i < end; ++i) {
      const bool head = IsHead(tile, i);
      group_starts_here |= head;
      if (rules.exclusive && head) {
        store(i, Operator::EmptyResult());
      } else if (rules.exclusive && i == begin) {
        store(i, Carry::ValueOf(base));
      } else {
        const Value& value = running[rules.exclusive ? i - 1 : i];
        store(i, group_starts_here ? value : Operator::Combine(Carry::ValueOf(base), value));
      }
    }
    return Fit::AllFit(misfits);
  }
};

}  // namespace gridfold::kernels::cpu

#endif  // GRIDFOLD_KERNELS_CPU_SCAN_TILE_ORDERED_H_
