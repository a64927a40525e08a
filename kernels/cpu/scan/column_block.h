// Scans of one block of an axis-0 scan: some columns of some rows.
#ifndef GRIDFOLD_KERNELS_CPU_SCAN_COLUMN_BLOCK_H_
#define GRIDFOLD_KERNELS_CPU_SCAN_COLUMN_BLOCK_H_

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <type_traits>

#include "kernels/cpu/scan/carry.h"
#include "kernels/cpu/scan/fit.h"
#include "kernels/cpu/scan/tile.h"
#include "kernels/numerics/arithmetic/element.h"
#include "kernels/numerics/scans/exact_run.h"
#include "kernels/numerics/scans/tree.h"

namespace gridfold::kernels::cpu {

// The logical rows [first_row, first_row + row_count) of a matrix, of its columns [first_column,
// first_column + column_count); those of a tile.
struct ColumnBlock {
  uint64_t first_row;
  uint64_t row_count;
  uint64_t first_column;
  uint64_t column_count;
  int runs_per_warp;  // ScanColumnRuns of the matrix.
};

// What precedes a run in its tile, in each column, as runs come one after the other. The network
// over a warp's runs is evaluated as they come: its inner values are kept. Where a warp has more
// than one run, all columns have no more than kScanLanes.
template <class Operator, uint64_t kColumns>
class ColumnRuns {
 public:
  using Value = typename Operator::Value;

  explicit ColumnRuns(const ColumnBlock& block)
      : columns_(block.column_count), runs_per_warp_(block.runs_per_warp) {
    std::fill_n(warps_, columns_, Operator::Identity());
    std::fill_n(scanned_, columns_, Operator::Identity());
  }

  Value Before(uint64_t c) const { return Operator::Combine(warps_[c], scanned_[c]); }

  void Push(const Value* totals) {
    for (uint64_t c = 0; c < columns_; ++c) scanned_[c] = Scan(totals[c], c);
    if (++lane_ < runs_per_warp_) return;
    lane_ = 0;
    for (uint64_t c = 0; c < columns_; ++c) {
      warps_[c] = Before(c);
      scanned_[c] = Operator::Identity();
    }
  }

 private:
  static constexpr int kLevels = 5;
  static_assert(1 << kLevels == kScanLanes);

  // The network's result for this lane.
  Value Scan(Value v, uint64_t c) {
    for (int level = 0, d = 1; d < runs_per_warp_; ++level, d *= 2) {
      levels_[level][PlaceOf(lane_, c)] = v;
      if (lane_ >= d) v = Operator::Combine(levels_[level][PlaceOf(lane_ - d, c)], v);
    }
    return v;
  }
  uint64_t PlaceOf(int lane, uint64_t c) const {
    return static_cast<uint64_t>(lane) * columns_ + c;
  }

  const uint64_t columns_;
  const int runs_per_warp_;
  int lane_ = 0;
  Value warps_[kColumns];
  Value scanned_[kColumns];
  Value levels_[kLevels][kScanLanes];
};

// The operators of numerics/scans/operator.h, row by row.
template <class ColumnOperator, class T>
class OrderedColumnBlockScan {
 public:
  using Element = T;
  using Operator = ColumnOperator;
  using Carry = Carried<Operator, false>;
  using Chain = ColumnCarryChain<Carry>;
  using Value = typename Operator::Value;
  static constexpr uint64_t kColumns = 1024 / sizeof(T);

  // Rows of a block, in a matrix of so many columns.
  static uint64_t Rows(uint64_t columns) { return ScanColumnTileRows(columns); }

  // Joins all elements to one total for each column. row_at(k) is where row k's elements stand.
  template <class RowAt>
  static void Total(const ColumnBlock& block, const ScanRules& rules, RowAt row_at, Value* totals) {
    ColumnRuns<Operator, kColumns> runs(block);
    ForEachRun(block, [&](uint64_t begin, uint64_t end) {
      std::fill_n(totals, block.column_count, Operator::Identity());
      for (uint64_t k = begin; k < end; ++k) AddRow(row_at(k), block.column_count, rules, totals);
      runs.Push(totals);
    });
    for (uint64_t c = 0; c < block.column_count; ++c) totals[c] = runs.Before(c);
  }

  // Calls store_row(k, results, column_count) for each row, and gives the totals where `totals` is
  // not null. Returns whether all results fit.
  template <class Out, class RowAt, class StoreRow>
  static bool Write(const ColumnBlock& block, const ScanRules& rules, RowAt row_at,
                    StoreRow store_row, const Value* carries, Value* totals) {
    // So few columns that to loop over them takes longer than they do, unless it is known how many.
    const auto write = [&](auto known_count) {
      return WriteColumns<known_count(), Out>(block, rules, row_at, store_row, carries, totals);
    };
    switch (block.column_count) {
      case 1: return write(std::integral_constant<uint64_t, 1>());
      case 2: return write(std::integral_constant<uint64_t, 2>());
      case 3: return write(std::integral_constant<uint64_t, 3>());
      case 4: return write(std::integral_constant<uint64_t, 4>());
      default: return write(std::integral_constant<uint64_t, 0>());
    }
  }

 private:
  // Write for kKnownCount columns, or any number where that is 0.
  template <uint64_t kKnownCount, class Out, class RowAt, class StoreRow>
  static bool WriteColumns(const ColumnBlock& block, const ScanRules& rules, RowAt row_at,
                           StoreRow store_row, const Value* carries, Value* totals) {
    constexpr uint64_t kRoom = kKnownCount != 0 ? kKnownCount : kColumns;
    const uint64_t column_count = kKnownCount != 0 ? kKnownCount : block.column_count;
    Value base[kRoom];
    Value running[kRoom];
    Out results[kRoom];
    ColumnRuns<Operator, kColumns> runs(block);
    using Fit = FitOf<Operator, T>;
    uint64_t misfits = 0;
    ForEachRun(block, [&](uint64_t begin, uint64_t end) {
      for (uint64_t c = 0; c < column_count; ++c) {
        base[c] = Operator::Combine(carries[c], runs.Before(c));
        running[c] = Operator::Identity();
      }
      for (uint64_t k = begin; k < end; ++k) {
        if (!rules.exclusive) AddRow(row_at(k), column_count, rules, running);
        const bool is_empty = rules.exclusive && block.first_row + k == 0;
        const auto write = [&](auto look) {
          for (uint64_t c = 0; c < column_count; ++c) {
            const Value result =
                is_empty ? Operator::EmptyResult() : Operator::Combine(base[c], running[c]);
            const bool fits =
                StoreResult<Operator>(result, rules.wrap, rules.mirror_bits, &results[c]);
            if (look()) misfits |= Fit::BitsOf(result, fits);
          }
        };
        k % Fit::kRowsApart == 0 ? write(std::true_type()) : write(std::false_type());
        store_row(k, results, column_count);
        if (rules.exclusive) AddRow(row_at(k), column_count, rules, running);
      }
      if (totals != nullptr || end < block.row_count) runs.Push(running);
    });
    if (totals == nullptr) return Fit::AllFit(misfits);
    for (uint64_t c = 0; c < column_count; ++c) totals[c] = runs.Before(c);
    return Fit::AllFit(misfits);
  }

  // Calls visit(begin, end) for the rows of each run.
  template <class Visit>
  static void ForEachRun(const ColumnBlock& block, Visit visit) {
    for (uint64_t begin = 0; begin < block.row_count; begin += kScanColumnItems) {
      visit(begin, std::min(begin + kScanColumnItems, block.row_count));
    }
  }

  static void AddRow(const std::byte* elements, uint64_t column_count, const ScanRules& rules,
                     Value* running) {
    for (uint64_t c = 0; c < column_count; ++c) {
      running[c] =
          Operator::Combine(running[c], LiftElement<Operator>(LoadUnaligned<T>(elements, c),
                                                              rules.ignore_nan, rules.mirror_bits));
    }
  }
};

// Exact sums of floating-point numbers: the block is transposed, and each column is a run.
template <class T>
class ExactSumColumnBlockScan {
 public:
  using Element = T;
  using Operator = ExactSumOperator<T>;
  // A block's total may take its carry's place; see ExactSumTileScan.
  using Carry = Carried<Operator, true>;
  using Chain = ExactCarryChain<Carry>;
  using Value = typename Carry::Type;
  static constexpr uint64_t kRows = 512;
  static constexpr uint64_t kColumns = 64 / sizeof(T);  // A cache line of each row.
  static_assert(kRows <= 1 << kExactRunBits);

  static uint64_t Rows(uint64_t) { return kRows; }

  template <class RowAt>
  static void Total(const ColumnBlock& block, const ScanRules& rules, RowAt row_at, Value* totals) {
    T columns[kColumns][kRows];
    Transpose(block, row_at, columns);
    for (uint64_t c = 0; c < block.column_count; ++c) {
      totals[c] = Carry::Identity();
      AddRun(columns[c], static_cast<int>(block.row_count), rules.ignore_nan, totals[c].value);
    }
  }

  template <class Out, class RowAt, class StoreRow>
  static bool Write(const ColumnBlock& block, const ScanRules& rules, RowAt row_at,
                    StoreRow store_row, const Value* carries, Value* totals) {
    T columns[kColumns][kRows];
    Out results[kRows][kColumns];
    Transpose(block, row_at, columns);
    for (uint64_t c = 0; c < block.column_count; ++c) {
      Value sum = {carries[c].value, true};
      ScanRun<Out>(columns[c], static_cast<int>(block.row_count), rules.ignore_nan, rules.exclusive,
                   sum.value, [&](int k, Out prefix) { results[k][c] = prefix; });
      if (totals != nullptr) totals[c] = sum;
      if (rules.exclusive && block.first_row == 0) {
        results[0][c] = RoundOnce<Out>(Operator::EmptyResult());
      }
    }
    for (uint64_t k = 0; k < block.row_count; ++k) store_row(k, results[k], block.column_count);
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

}  // namespace gridfold::kernels::cpu

#endif  // GRIDFOLD_KERNELS_CPU_SCAN_COLUMN_BLOCK_H_
