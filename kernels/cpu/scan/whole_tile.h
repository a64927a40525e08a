// Scans of whole tiles without a group's start, in vectors: item k of all runs of a warp is one row
// of vectors. The joins are those of numerics/scans/tree.h, in its order.
#ifndef GRIDFOLD_KERNELS_CPU_SCAN_WHOLE_TILE_H_
#define GRIDFOLD_KERNELS_CPU_SCAN_WHOLE_TILE_H_

#include <algorithm>
#include <cstdint>
#include <type_traits>

#include "kernels/cpu/base/instruction_set.h"
#include "kernels/cpu/base/streaming_store.h"
#include "kernels/cpu/base/transpose.h"
#include "kernels/cpu/scan/fit.h"
#include "kernels/cpu/scan/tile.h"
#include "kernels/cpu/scan/whole_product.h"
#include "kernels/numerics/arithmetic/element.h"
#include "kernels/numerics/scans/operator.h"
#include "kernels/numerics/scans/tree.h"

namespace gridfold::kernels::cpu {

namespace whole_tile_internal {

inline constexpr int kWarpItems = kScanItems * kScanLanes;

// Joins the items of each run of a warp one after the other: `running` has the k-th running value
// of run `lane` at k * kScanLanes + lane, or, with kTotalsOnly, the runs' totals.
template <class Operator, bool kTotalsOnly, bool kIgnoreNan, class T>
inline void FoldRuns(const T* elements, uint64_t mirror_bits, typename Operator::Value* running) {
  alignas(64) T items[kWarpItems];
  Transpose<kScanLanes, kScanItems>(elements, items);
  for (int lane = 0; lane < kScanLanes; ++lane) {
    typename Operator::Value value = Operator::Identity();
#pragma GCC unroll 16
    for (int k = 0; k < kScanItems; ++k) {
      value = Operator::Combine(
          value, LiftElement<Operator>(items[k * kScanLanes + lane], kIgnoreNan, mirror_bits));
      if (!kTotalsOnly) running[k * kScanLanes + lane] = value;
    }
    if (kTotalsOnly) running[lane] = value;
  }
}
template <class Operator, bool kTotalsOnly, class T>
inline void FoldRuns(const T* elements, const ScanRules& rules, typename Operator::Value* running) {
  rules.ignore_nan ? FoldRuns<Operator, kTotalsOnly, true>(elements, rules.mirror_bits, running)
                   : FoldRuns<Operator, kTotalsOnly, false>(elements, rules.mirror_bits, running);
}

// The doubling network over the runs' totals.
template <class Operator>
inline void ScanRunTotals(const typename Operator::Value* totals,
                          typename Operator::Value* scanned) {
  using Value = typename Operator::Value;
  alignas(64) Value levels[2][kScanLanes];
  std::copy_n(totals, kScanLanes, levels[0]);
  const auto join = [](int d, const Value* from, Value* to) {
    for (int lane = 0; lane < d; ++lane) to[lane] = from[lane];
    for (int lane = d; lane < kScanLanes; ++lane) {
      to[lane] = Operator::Combine(from[lane - d], from[lane]);
    }
  };
  join(1, levels[0], levels[1]);
  join(2, levels[1], levels[0]);
  join(4, levels[0], levels[1]);
  join(8, levels[1], levels[0]);
  join(16, levels[0], scanned);
  static_assert(kScanLanes == 32);
}

// Writes the results of a warp whose tile comes after `carry`; `before`, what its tile's warps so
// far have come to, takes in its total. Returns whether all results fit.
template <class Operator, class T, class Out>
inline bool WriteWarp(const T* elements, const typename Operator::Value& carry,
                      const ScanRules& rules, typename Operator::Value& before, Out* results) {
  using Value = typename Operator::Value;
  alignas(64) Value running[kWarpItems];
  FoldRuns<Operator, false>(elements, rules, running);
  alignas(64) Value scanned[kScanLanes];
  ScanRunTotals<Operator>(running + kWarpItems - kScanLanes, scanned);
  alignas(64) Value bases[kScanLanes];
  bases[0] = Operator::Combine(carry, before);
  for (int lane = 1; lane < kScanLanes; ++lane) {
    bases[lane] = Operator::Combine(carry, Operator::Combine(before, scanned[lane - 1]));
  }
  before = Operator::Combine(before, scanned[kScanLanes - 1]);

  alignas(64) Out items[kWarpItems];
  using Fit = FitOf<Operator, T>;
  uint64_t misfits = 0;
  const auto store_unseen = [&](const Value& value, Out& result) {
    return StoreResult<Operator>(value, rules.wrap, rules.mirror_bits, &result);
  };
  const auto store = [&](const Value& value, Out& result) {
    const bool fits = store_unseen(value, result);
    misfits |= Fit::BitsOf(value, fits);
  };
  // Exclusive results are those of the item before.
  const int first = rules.exclusive ? 1 : 0;
  if (rules.exclusive) {
    for (int lane = 0; lane < kScanLanes; ++lane) store(bases[lane], items[lane]);
  }
  for (int k = first; k < kScanItems; ++k) {
    const Value* const row = running + (k - first) * kScanLanes;
    const auto write = [&](auto store_one) {
      for (int lane = 0; lane < kScanLanes; ++lane) {
        store_one(Operator::Combine(bases[lane], row[lane]), items[k * kScanLanes + lane]);
      }
    };
    k % Fit::kRowsApart == 0 ? write(store) : write(store_unseen);
  }
  if (rules.stream) {
    Transpose<kScanItems, kScanLanes, true>(items, results);
  } else {
    Transpose<kScanItems, kScanLanes>(items, results);
  }
  return Fit::AllFit(misfits);
}

// Kernels (base/instruction_set.h): the total of a tile,
template <class Operator, class T>
struct TotalKernel {
  using Value = typename Operator::Value;

  static void Run(const T* elements, const ScanRules& rules, Value* total) {
    alignas(64) Value totals[kScanWarps * kScanLanes];
    for (int w = 0; w < kScanWarps; ++w) {
      FoldRuns<Operator, true>(elements + w * kWarpItems, rules, totals + w * kScanLanes);
    }
    // A doubling network's last lane joins pairs, then pairs of pairs, and so on.
    for (int pairs = kScanWarps * kScanLanes / 2; pairs >= kScanWarps; pairs /= 2) {
      for (int i = 0; i < pairs; ++i) {
        totals[i] = Operator::Combine(totals[2 * i], totals[2 * i + 1]);
      }
    }
    *total = Operator::Identity();
    for (int w = 0; w < kScanWarps; ++w) *total = Operator::Combine(*total, totals[w]);
  }
};

// and its results after `carry`, its total, and whether all results fit.
template <class Operator, class T, class Out>
struct ResultsKernel {
  using Value = typename Operator::Value;

  static void Run(const T* elements, const Value& carry, const ScanRules& rules, Out* results,
                  Value* total, bool* fits) {
    *total = Operator::Identity();
    *fits = true;
    for (int w = 0; w < kScanWarps; ++w) {
      const int first = w * kWarpItems;
      *fits &= WriteWarp<Operator>(elements + first, carry, rules, *total, results + first);
    }
  }
};

}  // namespace whole_tile_internal

// For tiles that are whole (IsWholeTile).
template <class Operator, class T>
class WholeTileScan {
 public:
  using Value = typename Operator::Value;
  static constexpr bool kIsScaled = std::is_same_v<Value, ScaledProduct>;

  // Whether there are vectors of the values that are carried. What halves take is their conversion.
  static constexpr bool kInVectors =
      (kIsScaled || (std::is_arithmetic_v<Value> && sizeof(Value) <= 8)) && !HalfElement<T>;

  static Value Total(const LogicalTile<T>& tile, const ScanRules& rules) {
    Value total;
    using Kernel = std::conditional_t<kIsScaled, whole_product_internal::TotalKernel<T>,
                                      whole_tile_internal::TotalKernel<Operator, T>>;
    Run<Kernel>(tile.elements, rules, &total);
    return total;
  }

  // Writes results as ExactTileScan::Write does.
  template <class Carry, class Out>
  static bool Write(const LogicalTile<T>& tile, const typename Carry::Type& carry,
                    const ScanRules& rules, Out* results, typename Carry::Type* total) {
    Value tile_total;
    bool fits;
    using Kernel = std::conditional_t<kIsScaled, whole_product_internal::ResultsKernel<T, Out>,
                                      whole_tile_internal::ResultsKernel<Operator, T, Out>>;
    Run<Kernel>(tile.elements, Carry::ValueOf(carry), rules, results, &tile_total, &fits);
    if (rules.stream) FinishStreaming();
    if (total != nullptr) *total = Carry::Of(tile_total, false);
    return fits;
  }

 private:
  // Vectors of integers gain less than a tenth from what newer processors add, and take long to
  // compile. So do copies in all scans that call this, one for each tile.
  template <class Kernel, class... Arguments>
  [[gnu::noinline]] static void Run(const Arguments&... arguments) {
    if constexpr (FloatingElement<T>) {
      RunForProcessor<Kernel>(arguments...);
    } else {
      Kernel::Run(arguments...);
    }
  }
};

}  // namespace gridfold::kernels::cpu

#endif  // GRIDFOLD_KERNELS_CPU_SCAN_WHOLE_TILE_H_
