// Scans of one tile whose operator is exactly associative: integers, minima and maxima. The order
// in which values are joined does not matter, so they are joined one after the other.
#ifndef GRIDFOLD_KERNELS_CPU_SCAN_TILE_EXACT_H_
#define GRIDFOLD_KERNELS_CPU_SCAN_TILE_EXACT_H_

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <type_traits>

#include "kernels/cpu/base/instruction_set.h"
#include "kernels/cpu/scan/carry.h"
#include "kernels/cpu/scan/running_sum.h"
#include "kernels/cpu/scan/tile.h"
#include "kernels/cpu/scan/whole_tile.h"

namespace gridfold::kernels::cpu {

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
    const int first = LastHead<kGrouped>(tile);
    if constexpr (kIsIntegerSum) {
      if (sizeof(T) <= 4 || rules.wrap) {
        typename TotalKernel::Total total;
        RunForProcessor<TotalKernel>(PartOf(tile, std::max(first, 0), tile.count), &total);
        return Carry::Of(total, first >= 0);
      }
    }
    if constexpr (kWholeTilesInVectors) {
      if (IsWholeTile<kGrouped>(tile)) return Carry::Of(WholeTile::Total(tile, rules), false);
    }
    Value total = Operator::Identity();
    for (int i = first < 0 ? 0 : first; i < tile.count; ++i) {
      total = Operator::Combine(
          total, LiftElement<Operator>(tile.elements[i], rules.ignore_nan, rules.mirror_bits));
    }
    return Carry::Of(total, first >= 0);
  }

  // Writes tile.count results, and the tile's total where `total` is not null; returns false where
  // a result does not fit.
  template <class Out>
  static bool Write(const LogicalTile<T>& tile, const typename Carry::Type& carry,
                    const ScanRules& rules, Out* results, typename Carry::Type* total) {
    if constexpr (kIsIntegerSum) {
      if (HasNoHead<kGrouped>(tile)) return WriteSums(tile, carry, rules, results, total);
      if (HasFewHeads(tile)) {
        if (total != nullptr) *total = Total(tile, rules);
        return WriteSumsOfGroups(tile, carry, rules, results);
      }
    }
    if constexpr (kWholeTilesInVectors) {
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
      running = Operator::Combine(
          running, LiftElement<Operator>(tile.elements[i], rules.ignore_nan, rules.mirror_bits));
      const Value& result = rules.exclusive ? (head ? Operator::EmptyResult() : before) : running;
      fits &= StoreResult<Operator>(result, rules.wrap, rules.mirror_bits, &results[i]);
    }
    return fits;
  }

 private:
  using WholeTile = WholeTileScan<Operator, T>;
  static constexpr bool kIsIntegerSum =
      std::is_same_v<Operator, ScanOperator<T, ScanOperation::kSum>>;
  static constexpr bool kWholeTilesInVectors = WholeTile::kInVectors && !kIsIntegerSum;

  // Totals of a sum of integers are modulo 2^64, or in as many bits as take any tile.
  struct TotalKernel {
    using Total = std::conditional_t<(sizeof(T) > 2),
                                     std::conditional_t<std::is_signed_v<T>, int64_t, uint64_t>,
                                     std::conditional_t<std::is_signed_v<T>, int32_t, uint32_t>>;
    using Bits = std::make_unsigned_t<Total>;
    static_assert(kScanTileSize <= 1 << 16);

    static void Run(const LogicalTile<T>& tile, Total* total) {
      Bits sum = 0;
      for (int i = 0; i < tile.count; ++i) sum += static_cast<Bits>(tile.elements[i]);
      *total = static_cast<Total>(sum);
    }
  };

  static LogicalTile<T> PartOf(const LogicalTile<T>& tile, int begin, int end) {
    return {tile.elements + begin, tile.heads + begin, end - begin};
  }

  // Whether groups are so long that each is worth its call.
  static bool HasFewHeads(const LogicalTile<T>& tile) {
    constexpr int kElementsMin = 16;
    int heads = 0;
    for (int i = 0; i < tile.count; ++i) heads += tile.heads[i] ? 1 : 0;
    return heads * kElementsMin <= tile.count;
  }

  // Sums of integers of a tile in which groups start, one group after the other.
  template <class Out>
  [[gnu::noinline]] static bool WriteSumsOfGroups(const LogicalTile<T>& tile,
                                                  const typename Carry::Type& carry,
                                                  const ScanRules& rules, Out* results) {
    ScanRules group_rules = rules;
    group_rules.stream = false;  // They start at any address.
    bool fits = true;
    for (int begin = 0; begin < tile.count;) {
      const auto* const head = static_cast<const bool*>(
          std::memchr(tile.heads + begin + 1, true, static_cast<size_t>(tile.count - begin - 1)));
      const int end = head == nullptr ? tile.count : static_cast<int>(head - tile.heads);
      const typename Carry::Type before = tile.heads[begin] ? Carry::Identity() : carry;
      fits &= WriteSums(PartOf(tile, begin, end), before, group_rules, results + begin, nullptr);
      begin = end;
    }
    return fits;
  }

  // Sums of integers where no group starts. Not inlined: with two copies of this the compiler
  // leaves calls in the loops of other scans.
  template <class Out>
  [[gnu::noinline]] static bool WriteSums(const LogicalTile<T>& tile,
                                          const typename Carry::Type& carry, const ScanRules& rules,
                                          Out* results, typename Carry::Type* total) {
    const Value before = Carry::ValueOf(carry);
    Out sum;
    const SumsFit fit = WriteRunningSums(tile, before, rules, results, &sum);
    if (total != nullptr) {
      *total = fit.last ? Carry::Of(static_cast<Value>(sum) - before, false) : Total(tile, rules);
    }
    return rules.exclusive ? fit.before_last : fit.last;
  }
};

}  // namespace gridfold::kernels::cpu

#endif  // GRIDFOLD_KERNELS_CPU_SCAN_TILE_EXACT_H_
