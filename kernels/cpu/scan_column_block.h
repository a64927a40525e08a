// Scans of one block of an axis-0 scan: some columns of a chunk of rows.
#ifndef GRIDFOLD_KERNELS_CPU_SCAN_COLUMN_BLOCK_H_
#define GRIDFOLD_KERNELS_CPU_SCAN_COLUMN_BLOCK_H_

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "kernels/cpu/scan_tile.h"
#include "kernels/numerics/element.h"
#include "kernels/numerics/exact_run.h"
#include "kernels/numerics/scan_tree.h"

namespace gridfold::kernels {

// The logical rows [first_row, first_row + row_count) of a matrix, of its columns [first_column,
// first_column + column_count).
struct ColumnBlock {
  uint64_t first_row;
  uint64_t row_count;
  uint64_t first_column;
  uint64_t column_count;
};

// The operators of scan_operator.h, row by row.
template <class ColumnOperator, class T>
class OrderedColumnBlockScan {
 public:
  using Element = T;
  using Operator = ColumnOperator;
  using Value = typename Operator::Value;
  static constexpr uint64_t kRows = kScanChunkRows;
  static constexpr uint64_t kColumns = 1024 / sizeof(T);

  // Joins all elements to one total for each column. row_at(k) is where row k's elements stand.
  template <class RowAt>
  static void Total(const ColumnBlock& block, const ScanRules& rules, RowAt row_at, Value* totals) {
    std::fill_n(totals, block.column_count, Operator::Identity());
    for (uint64_t k = 0; k < block.row_count; ++k) AddRow(row_at(k), block, rules, totals);
  }

  // Calls store_row(k, results) for each row, and joins the totals to the carries. Returns whether
  // all results fit.
  template <class Out, class RowAt, class StoreRow>
  static bool Write(const ColumnBlock& block, const ScanRules& rules, RowAt row_at,
                    StoreRow store_row, Value* carries) {
    Value running[kColumns];
    Out results[kColumns];
    std::fill_n(running, block.column_count, Operator::Identity());
    bool fits = true;
    for (uint64_t k = 0; k < block.row_count; ++k) {
      if (!rules.exclusive) AddRow(row_at(k), block, rules, running);
      const bool is_empty = rules.exclusive && block.first_row + k == 0;
      for (uint64_t c = 0; c < block.column_count; ++c) {
        const Value result =
            is_empty ? Operator::EmptyResult() : Operator::Combine(carries[c], running[c]);
        fits &= Operator::template Store<Out>(result, rules.wrap, &results[c]);
      }
      store_row(k, results);
      if (rules.exclusive) AddRow(row_at(k), block, rules, running);
    }
    for (uint64_t c = 0; c < block.column_count; ++c) {
      carries[c] = Operator::Combine(carries[c], running[c]);
    }
    return fits;
  }

 private:
  static void AddRow(const std::byte* elements, const ColumnBlock& block, const ScanRules& rules,
                     Value* running) {
    for (uint64_t c = 0; c < block.column_count; ++c) {
      running[c] = Operator::Combine(
          running[c], Operator::Lift(LoadUnaligned<T>(elements, c), rules.ignore_nan));
    }
  }
};

// Exact sums of floating-point numbers: the block is transposed, and each column is a run.
template <class T>
class ExactSumColumnBlockScan {
 public:
  using Element = T;
  using Operator = ExactSumOperator<T>;
  using Value = typename Operator::Value;
  static constexpr uint64_t kRows = 512;
  static constexpr uint64_t kColumns = 64 / sizeof(T);  // A cache line of each row.
  static_assert(kRows <= 1 << kExactRunBits);

  template <class RowAt>
  static void Total(const ColumnBlock& block, const ScanRules& rules, RowAt row_at, Value* totals) {
    T columns[kColumns][kRows];
    Transpose(block, row_at, columns);
    for (uint64_t c = 0; c < block.column_count; ++c) {
      totals[c] = Operator::Identity();
      AddRun(columns[c], static_cast<int>(block.row_count), rules.ignore_nan, totals[c]);
    }
  }

  template <class Out, class RowAt, class StoreRow>
  static bool Write(const ColumnBlock& block, const ScanRules& rules, RowAt row_at,
                    StoreRow store_row, Value* carries) {
    T columns[kColumns][kRows];
    Out results[kRows][kColumns];
    Transpose(block, row_at, columns);
    for (uint64_t c = 0; c < block.column_count; ++c) {
      ScanRun<Out>(columns[c], static_cast<int>(block.row_count), rules.ignore_nan, rules.exclusive,
                   carries[c], [&](int k, Out prefix) { results[k][c] = prefix; });
      if (rules.exclusive && block.first_row == 0) {
        results[0][c] = RoundOnce<Out>(Operator::EmptyResult());
      }
    }
    for (uint64_t k = 0; k < block.row_count; ++k) store_row(k, results[k]);
    return true;
  }

 private:
  template <class RowAt>
  static void Transpose(const ColumnBlock& block, RowAt row_at, T (&columns)[kColumns][kRows]) {
    for (uint64_t k = 0; k < block.row_count; ++k) {
      const std::byte* const elements = row_at(k);
      for (uint64_t c = 0; c < block.column_count; ++c) {
        columns[c][k] = LoadUnaligned<T>(elements, c);
      }
    }
  }
};

}  // namespace gridfold::kernels

#endif  // GRIDFOLD_KERNELS_CPU_SCAN_COLUMN_BLOCK_H_
