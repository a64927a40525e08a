// Products with their exponent apart (kScaledProduct) of whole tiles without a group's start, in
// vectors, for whole_tile.h: item k of all runs of a warp is one row of vectors. The joins are
// those of numerics/scans/tree.h, in its order.
//
// Runs are multiplied as plain float64 numbers where none of their products leaves the window of
// numerics/arithmetic/scaled_product.h, and with their exponents apart where one does. What joins
// runs keeps exponents apart in any case: it is a sixteenth of the work. Results are plain
// multiplications again unless they are near the ends of the range.
#ifndef GRIDFOLD_KERNELS_CPU_SCAN_WHOLE_PRODUCT_H_
#define GRIDFOLD_KERNELS_CPU_SCAN_WHOLE_PRODUCT_H_

#include <algorithm>
#include <cstdint>

#include "kernels/cpu/base/transpose.h"
#include "kernels/cpu/scan/tile.h"
#include "kernels/numerics/arithmetic/element.h"
#include "kernels/numerics/arithmetic/product_tree.h"
#include "kernels/numerics/arithmetic/scaled_product.h"
#include "kernels/numerics/scans/operator.h"
#include "kernels/numerics/scans/tree.h"

namespace gridfold::kernels::cpu::whole_product_internal {

inline constexpr int kWarpItems = kScanItems * kScanLanes;

// Values with their exponents apart, side by side.
template <int kCount>
struct Apart {
  alignas(64) double fractions[kCount];
  alignas(64) int64_t exponents[kCount];

  ScaledProduct operator[](int i) const { return {fractions[i], exponents[i]}; }
  void Set(int i, const ScaledProduct& value) {
    fractions[i] = value.fraction;
    exponents[i] = value.exponent;
  }
};

// Multiplies the items of each run of a warp one after the other; `items` has the k-th item of run
// `lane` at k * kScanLanes + lane, and `fractions` and `exponents` become its running value there,
// or, with kTotalsOnly, the runs' totals. Returns bits for IsOutsideWindow(), and leaves exponents
// alone, where these are not kept apart.
template <bool kApart, bool kTotalsOnly, bool kIgnoreNan, class T>
inline uint64_t MultiplyRuns(const T* items, double* fractions, int64_t* exponents) {
  uint64_t window_bits = 0;
  for (int lane = 0; lane < kScanLanes; ++lane) {
    ScaledProduct running;
#pragma GCC unroll 16
    for (int k = 0; k < kScanItems; ++k) {
      const double factor = ProductFactor(items[k * kScanLanes + lane], kIgnoreNan);
      if (kApart) {
        // kScanItems of these fractions do not leave the range.
        const ScaledProduct scaled = ScaledProduct::Of(factor).Normalised();
        running.fraction *= scaled.fraction;
        running.exponent += scaled.exponent;
      } else {
        running.fraction *= factor;
        window_bits |= WindowBits(running.fraction);
      }
      if (!kTotalsOnly) fractions[k * kScanLanes + lane] = running.fraction;
      if (!kTotalsOnly && kApart) exponents[k * kScanLanes + lane] = running.exponent;
    }
    if (kTotalsOnly) fractions[lane] = running.fraction;
    if (kTotalsOnly && kApart) exponents[lane] = running.exponent;
  }
  return window_bits;
}

// Multiplies the runs of a warp's elements. Returns whether exponents are kept apart; they are 0
// else.
template <bool kTotalsOnly, class T>
inline bool MultiplyRuns(const T* elements, bool ignore_nan, double* fractions,
                         int64_t* exponents) {
  alignas(64) T items[kWarpItems];
  Transpose<kScanLanes, kScanItems>(elements, items);
  const uint64_t window_bits =
      ignore_nan ? MultiplyRuns<false, kTotalsOnly, true>(items, fractions, exponents)
                 : MultiplyRuns<false, kTotalsOnly, false>(items, fractions, exponents);
  if (!IsOutsideWindow(window_bits)) {
    std::fill_n(exponents, kTotalsOnly ? kScanLanes : kWarpItems, 0);
    return false;
  }
  ignore_nan ? MultiplyRuns<true, kTotalsOnly, true>(items, fractions, exponents)
             : MultiplyRuns<true, kTotalsOnly, false>(items, fractions, exponents);
  return true;
}

template <int kCount>
inline void Normalise(Apart<kCount>& values) {
  for (int i = 0; i < kCount; ++i) values.Set(i, values[i].Normalised());
}

// The doubling network over the totals of a warp's runs. It multiplies up to kScanLanes normalised
// fractions, which do not leave the range.
inline void ScanRunTotals(const double* fractions, const int64_t* exponents,
                          Apart<kScanLanes>& scanned) {
  Apart<kScanLanes> other;
  for (int lane = 0; lane < kScanLanes; ++lane) {
    other.Set(lane, ScaledProduct{fractions[lane], exponents[lane]}.Normalised());
  }
  const auto join = [](int d, const Apart<kScanLanes>& from, Apart<kScanLanes>& to) {
    for (int lane = 0; lane < d; ++lane) to.Set(lane, from[lane]);
    for (int lane = d; lane < kScanLanes; ++lane) {
      to.fractions[lane] = from.fractions[lane - d] * from.fractions[lane];
      to.exponents[lane] = from.exponents[lane - d] + from.exponents[lane];
    }
  };
  join(1, other, scanned);
  join(2, scanned, other);
  join(4, other, scanned);
  join(8, scanned, other);
  join(16, other, scanned);
  static_assert(kScanLanes == 32);
}

// What precedes each run of a warp: carry * (before * scanned of the run before).
inline void BasesOf(const ScaledProduct& carry, const ScaledProduct& before,
                    const Apart<kScanLanes>& scanned, Apart<kScanLanes>& bases) {
  const ScaledProduct first = carry.Normalised();
  const ScaledProduct second = before.Normalised();
  bases.fractions[0] = first.fraction * second.fraction;
  bases.exponents[0] = first.exponent + second.exponent;
  for (int lane = 1; lane < kScanLanes; ++lane) {
    bases.fractions[lane] = first.fraction * (second.fraction * scanned.fractions[lane - 1]);
    bases.exponents[lane] = first.exponent + second.exponent + scanned.exponents[lane - 1];
  }
  Normalise(bases);
}

// Turns bases into plain numbers. Returns whether these serve.
inline bool MakePlain(const Apart<kScanLanes>& bases, double* plain) {
  bool all_serve = true;
  for (int lane = 0; lane < kScanLanes; ++lane) all_serve &= bases[lane].ServesPlain();
  if (!all_serve) return false;
  for (int lane = 0; lane < kScanLanes; ++lane) plain[lane] = bases[lane].Scaled();
  return true;
}

// Writes the results of a warp whose tile comes after `carry`; `before`, what its tile's warps so
// far have come to, takes in its total.
template <class T, class Out>
inline void WriteWarp(const T* elements, const ScaledProduct& carry, const ScanRules& rules,
                      ScaledProduct& before, Out* results) {
  Apart<kWarpItems> running;
  const bool is_apart =
      MultiplyRuns<false>(elements, rules.ignore_nan, running.fractions, running.exponents);
  Apart<kScanLanes> scanned;
  ScanRunTotals(running.fractions + kWarpItems - kScanLanes,
                running.exponents + kWarpItems - kScanLanes, scanned);
  Apart<kScanLanes> bases;
  BasesOf(carry, before, scanned, bases);
  before = before.Times(scanned[kScanLanes - 1]);

  alignas(64) Out items[kWarpItems];
  // Exclusive results are those of the item before.
  const int first = rules.exclusive ? 1 : 0;
  if (rules.exclusive) {
    for (int lane = 0; lane < kScanLanes; ++lane) items[lane] = RoundTo<Out>(bases[lane].Scaled());
  }
  const auto write = [&](auto result_of) {
    for (int k = first; k < kScanItems; ++k) {
      const int row = (k - first) * kScanLanes;
      for (int lane = 0; lane < kScanLanes; ++lane) {
        items[k * kScanLanes + lane] = RoundTo<Out>(result_of(lane, row + lane));
      }
    }
  };
  alignas(64) double plain_bases[kScanLanes];
  if (!is_apart && MakePlain(bases, plain_bases)) {
    write([&](int lane, int i) { return plain_bases[lane] * running.fractions[i]; });
  } else {
    write([&](int lane, int i) {
      return ScaledProduct{bases.fractions[lane] * running.fractions[i],
                           bases.exponents[lane] + running.exponents[i]}
          .Normalised()
          .Scaled();
    });
  }
  if (rules.stream) {
    Transpose<kScanItems, kScanLanes, true>(items, results);
  } else {
    Transpose<kScanItems, kScanLanes>(items, results);
  }
}

// Kernels (base/instruction_set.h): the total of a tile,
template <class T>
struct TotalKernel {
  static void Run(const T* elements, const ScanRules& rules, ScaledProduct* total) {
    Apart<kScanWarps * kScanLanes> totals;
    for (int w = 0; w < kScanWarps; ++w) {
      MultiplyRuns<true>(elements + w * kWarpItems, rules.ignore_nan,
                         totals.fractions + w * kScanLanes, totals.exponents + w * kScanLanes);
    }
    Normalise(totals);
    // A doubling network's last lane joins pairs, then pairs of pairs, and so on.
    for (int pairs = kScanWarps * kScanLanes / 2; pairs >= kScanWarps; pairs /= 2) {
      for (int i = 0; i < pairs; ++i) {
        totals.fractions[i] = totals.fractions[2 * i] * totals.fractions[2 * i + 1];
        totals.exponents[i] = totals.exponents[2 * i] + totals.exponents[2 * i + 1];
      }
    }
    *total = ScaledProduct();
    for (int w = 0; w < kScanWarps; ++w) *total = total->Times(totals[w]);
  }
};

// and its results after `carry`, and its total. They always fit.
template <class T, class Out>
struct ResultsKernel {
  static void Run(const T* elements, const ScaledProduct& carry, const ScanRules& rules,
                  Out* results, ScaledProduct* total, bool* fits) {
    *total = ScaledProduct();
    *fits = true;
    for (int w = 0; w < kScanWarps; ++w) {
      const int first = w * kWarpItems;
      WriteWarp(elements + first, carry, rules, *total, results + first);
    }
  }
};

}  // namespace gridfold::kernels::cpu::whole_product_internal

#endif  // GRIDFOLD_KERNELS_CPU_SCAN_WHOLE_PRODUCT_H_
