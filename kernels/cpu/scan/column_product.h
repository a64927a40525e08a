// Products with their exponent apart (kScaledProduct) of one block of an axis-0 scan: those of
// OrderedColumnBlockScan with the same joins, in loops over columns that vectorise.
//
// A run's rows are multiplied as plain float64 numbers as long as none of their products leaves the
// window of numerics/arithmetic/scaled_product.h. Where one does, that run and the rest of the
// block are multiplied with their exponents apart.
#ifndef GRIDFOLD_KERNELS_CPU_SCAN_COLUMN_PRODUCT_H_
#define GRIDFOLD_KERNELS_CPU_SCAN_COLUMN_PRODUCT_H_

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <type_traits>

#include "kernels/cpu/base/instruction_set.h"
#include "kernels/cpu/scan/carry.h"
#include "kernels/cpu/scan/column_block.h"
#include "kernels/cpu/scan/tile.h"
#include "kernels/numerics/arithmetic/element.h"
#include "kernels/numerics/arithmetic/product_tree.h"
#include "kernels/numerics/arithmetic/scaled_product.h"
#include "kernels/numerics/scans/operator.h"

namespace gridfold::kernels::cpu {

template <FloatingElement T>
class ProductColumnBlockScan {
 public:
  using Element = T;
  using Operator = ScanOperator<T, ScanOperation::kScaledProduct>;
  using Carry = Carried<Operator, false>;
  using Chain = ColumnCarryChain<Carry>;
  using Value = ScaledProduct;
  static constexpr uint64_t kColumns = 1024 / sizeof(T);

  static uint64_t Rows(uint64_t columns) { return ScanColumnTileRows(columns); }

  // Totals a block, as OrderedColumnBlockScan does.
  template <class RowAt>
  static void Total(const ColumnBlock& block, const ScanRules& rules, RowAt row_at, Value* totals) {
    ColumnRuns<Operator, kColumns> runs(block);
    Running running;
    bool is_apart = false;
    ForEachRun(block, [&](uint64_t begin, uint64_t end) {
      running.Start(block.column_count);
      const auto multiply = [&](auto apart) {
        uint64_t window_bits = 0;
        for (uint64_t k = begin; k < end; ++k) {
          window_bits |= AddRow<apart()>(row_at(k), block, rules, running);
        }
        return !IsOutsideWindow(window_bits);
      };
      RunPlainOrApart(is_apart, block, running, multiply);
      Push(running, block, runs);
    });
    for (uint64_t c = 0; c < block.column_count; ++c) totals[c] = runs.Before(c);
  }

  template <class Out, class RowAt, class StoreRow>
  static bool Write(const ColumnBlock& block, const ScanRules& rules, RowAt row_at,
                    StoreRow store_row, const Value* carries, Value* totals) {
    ColumnRuns<Operator, kColumns> runs(block);
    Running running;
    Bases bases;
    bool is_apart = false;
    ForEachRun(block, [&](uint64_t begin, uint64_t end) {
      const bool serves_plain = bases.Set(carries, runs, block);
      running.Start(block.column_count);
      const auto multiply = [&](auto apart) {
        uint64_t window_bits = 0;
        for (uint64_t k = begin; k < end; ++k) {
          Out results[kColumns];
          if (!rules.exclusive) window_bits |= AddRow<apart()>(row_at(k), block, rules, running);
          if (rules.exclusive && block.first_row + k == 0) {
            std::fill_n(results, block.column_count, RoundTo<Out>(1.0));
          } else {
            WriteRow<apart()>(bases, running, block, results);
          }
          store_row(k, results, block.column_count);
          if (rules.exclusive) window_bits |= AddRow<apart()>(row_at(k), block, rules, running);
        }
        return !IsOutsideWindow(window_bits);
      };
      if (serves_plain) {
        RunPlainOrApart(is_apart, block, running, multiply);
      } else {
        CallForProcessor([&] { return multiply(std::true_type()); });
      }
      if (totals != nullptr || end < block.row_count) Push(running, block, runs);
    });
    if (totals == nullptr) return true;
    for (uint64_t c = 0; c < block.column_count; ++c) totals[c] = runs.Before(c);
    return true;
  }

 private:
  // The products of a run's rows so far. Exponents are 0 where they are not kept apart.
  struct Running {
    double fractions[kColumns];
    int64_t exponents[kColumns];

    void Start(uint64_t columns) {
      std::fill_n(fractions, columns, 1.0);
      std::fill_n(exponents, columns, 0);
    }
  };

  // What precedes a run in each column, normalised, and as plain numbers.
  struct Bases {
    double fractions[kColumns];
    int64_t exponents[kColumns];
    double plain[kColumns];

    // Returns whether plain numbers serve.
    bool Set(const Value* carries, const ColumnRuns<Operator, kColumns>& runs,
             const ColumnBlock& block) {
      bool all_serve = true;
      for (uint64_t c = 0; c < block.column_count; ++c) {
        const Value base = Operator::Combine(carries[c], runs.Before(c)).Normalised();
        fractions[c] = base.fraction;
        exponents[c] = base.exponent;
        plain[c] = base.Scaled();
        all_serve &= base.ServesPlain();
      }
      return all_serve;
    }
  };

  template <class Visit>
  static void ForEachRun(const ColumnBlock& block, Visit visit) {
    for (uint64_t begin = 0; begin < block.row_count; begin += kScanColumnItems) {
      visit(begin, std::min(begin + kScanColumnItems, block.row_count));
    }
  }

  // A kernel (base/instruction_set.h).
  struct CallKernel {
    template <class F>
    static void Run(const F& f, bool* result) {
      *result = f();
    }
  };
  template <class F>
  static bool CallForProcessor(const F& f) {
    bool result;
    RunForProcessor<CallKernel>(f, &result);
    return result;
  }

  // Calls multiply(apart), which returns whether plain numbers served, with std::false_type until
  // it says that they did not.
  template <class Multiply>
  static void RunPlainOrApart(bool& is_apart, const ColumnBlock& block, Running& running,
                              const Multiply& multiply) {
    const auto plain = [&] { return multiply(std::false_type()); };
    if (!is_apart && CallForProcessor(plain)) return;
    is_apart = true;
    running.Start(block.column_count);
    CallForProcessor([&] { return multiply(std::true_type()); });
  }

  static void Push(const Running& running, const ColumnBlock& block,
                   ColumnRuns<Operator, kColumns>& runs) {
    Value totals[kColumns];
    for (uint64_t c = 0; c < block.column_count; ++c) {
      totals[c] = {running.fractions[c], running.exponents[c]};
    }
    runs.Push(totals);
  }

  // Returns bits for IsOutsideWindow() where exponents are not kept apart.
  template <bool kApart>
  static uint64_t AddRow(const std::byte* elements, const ColumnBlock& block,
                         const ScanRules& rules, Running& running) {
    uint64_t window_bits = 0;
    for (uint64_t c = 0; c < block.column_count; ++c) {
      const double factor = ProductFactor(LoadUnaligned<T>(elements, c), rules.ignore_nan);
      if constexpr (kApart) {
        // kScanColumnItems of these fractions do not leave the range.
        const ScaledProduct scaled = ScaledProduct::Of(factor).Normalised();
        running.fractions[c] *= scaled.fraction;
        running.exponents[c] += scaled.exponent;
      } else {
        running.fractions[c] *= factor;
        window_bits |= WindowBits(running.fractions[c]);
      }
    }
    return window_bits;
  }

  template <bool kApart, class Out>
  static void WriteRow(const Bases& bases, const Running& running, const ColumnBlock& block,
                       Out* results) {
    for (uint64_t c = 0; c < block.column_count; ++c) {
      if constexpr (kApart) {
        const ScaledProduct result{bases.fractions[c] * running.fractions[c],
                                   bases.exponents[c] + running.exponents[c]};
        results[c] = RoundTo<Out>(result.Normalised().Scaled());
      } else {
        results[c] = RoundTo<Out>(bases.plain[c] * running.fractions[c]);
      }
    }
  }
};

}  // namespace gridfold::kernels::cpu

#endif  // GRIDFOLD_KERNELS_CPU_SCAN_COLUMN_PRODUCT_H_
