// Scans down the rows of a matrix: each column is a scan of its own, in tiles of rows. Tiles of
// rounded sums are those that numerics/scans/tree.h prescribes.
//
// The matrix is cut into strips of columns. If these alone keep the threads busy, a strip is
// scanned in one pass; else the totals of its tiles are computed first, and then the tiles
// independently.
#ifndef GRIDFOLD_KERNELS_CPU_SCAN_COLUMNS_H_
#define GRIDFOLD_KERNELS_CPU_SCAN_COLUMNS_H_

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <cstring>
#include <vector>

#include "absl/status/status.h"
#include "kernels/contract/scan_error.h"
#include "kernels/cpu/base/job_context.h"
#include "kernels/cpu/scan/column_block.h"
#include "kernels/cpu/scan/contiguous.h"

namespace gridfold::kernels::cpu {

// BlockScan is OrderedColumnBlockScan or ExactSumColumnBlockScan.
template <class BlockScan, class Out>
class ColumnScan {
 public:
  ColumnScan(const ScanPlan& plan, HostSpan input, MutableHostSpan output)
      : plan_(plan),
        rules_(RulesOf(plan)),
        rows_(plan.array.rows),
        columns_(plan.array.columns),
        tile_rows_(columns_ == 0 ? 1 : BlockScan::Rows(columns_)),
        runs_per_warp_(columns_ == 0 ? 1 : ScanColumnRuns(columns_)),
        strips_((columns_ + kStripColumns - 1) / kStripColumns),
        tiles_((rows_ + tile_rows_ - 1) / tile_rows_),
        input_(input.data),
        output_(output.data) {}

  // Writes the results.
  absl::Status Run(JobContext& job) {
    const uint64_t threads = static_cast<uint64_t>(job.threads);
    const bool one_look = threads == 1 || tiles_ <= 1 || strips_ >= 4 * threads;
    job.statistics.bytes_read = (one_look ? 1 : 2) * plan_.array.size_bytes();
    return one_look ? RunInOneLook(job) : RunInTwoLooks(job);
  }
  // Members that ContiguousScan has too. Matrices are not scanned in parts.
  bool fits() const { return fits_.load(); }
  void LeaveCarry() const {}

 private:
  using T = typename BlockScan::Element;
  using Chain = typename BlockScan::Chain;
  using Value = typename BlockScan::Value;

  static constexpr uint64_t kStripColumns = BlockScan::kColumns;

  // A strip of one tile of logical rows.
  ColumnBlock BlockOf(uint64_t strip, uint64_t tile) const {
    const uint64_t first_row = tile * tile_rows_;
    const uint64_t first_column = strip * kStripColumns;
    return {first_row, std::min(tile_rows_, rows_ - first_row), first_column,
            std::min(kStripColumns, columns_ - first_column), runs_per_warp_};
  }

  // Index of the first element of a block's row k.
  uint64_t ElementOf(const ColumnBlock& block, uint64_t k) const {
    const uint64_t row = block.first_row + k;
    const bool reverse = plan_.direction == ScanDirection::kReverse;
    return (reverse ? rows_ - 1 - row : row) * columns_ + block.first_column;
  }

  auto RowsOf(const ColumnBlock& block) const {
    return [this, &block](uint64_t k) { return input_ + ElementOf(block, k) * sizeof(T); };
  }

  void Total(const ColumnBlock& block, Value* totals) const {
    BlockScan::Total(block, rules_, RowsOf(block), totals);
  }

  // Writes the results of a block with these carries, and gives its totals where that is not null.
  void Write(const ColumnBlock& block, const Value* carries, Value* totals) {
    const auto store_row = [&](uint64_t k, const Out* results, uint64_t column_count) {
      std::memcpy(output_ + ElementOf(block, k) * sizeof(Out), results, column_count * sizeof(Out));
    };
    if (!BlockScan::template Write<Out>(block, rules_, RowsOf(block), store_row, carries, totals)) {
      fits_.store(false, std::memory_order_relaxed);
    }
  }

  absl::Status RunInOneLook(JobContext& job) {
    return job.ForEach(strips_, [&](uint64_t strip) {
      Chain chains[kStripColumns];
      Value carries[kStripColumns];
      Value totals[kStripColumns];
      for (uint64_t tile = 0; tile < tiles_ && !job.stop.stop_requested(); ++tile) {
        const ColumnBlock block = BlockOf(strip, tile);
        const bool is_last = tile + 1 == tiles_;
        for (uint64_t c = 0; c < block.column_count; ++c) carries[c] = chains[c].Next();
        Write(block, carries, is_last ? nullptr : totals);
        if (is_last) break;
        for (uint64_t c = 0; c < block.column_count; ++c) chains[c].Push(totals[c]);
      }
    });
  }

  absl::Status RunInTwoLooks(JobContext& job) {
    // Of tile t and column c at t * columns + c: first the tile's total, then its carry.
    std::vector<Value> carries(tiles_ * columns_);
    const auto for_each_block = [&](auto work) {
      return job.ForEach(strips_ * tiles_, [&](uint64_t i) {
        const ColumnBlock block = BlockOf(i % strips_, i / strips_);
        work(block, &carries[i / strips_ * columns_ + block.first_column]);
      });
    };
    absl::Status status =
        for_each_block([&](const ColumnBlock& block, Value* totals) { Total(block, totals); });
    if (!status.ok()) return status;
    CarryOver(carries);
    return for_each_block([&](const ColumnBlock& block, Value* block_carries) {
      Write(block, block_carries, nullptr);
    });
  }

  // Turns the tiles' totals into their carries.
  void CarryOver(std::vector<Value>& carries) const {
    std::vector<Chain> chains(columns_);
    for (uint64_t tile = 0; tile < tiles_; ++tile) {
      for (uint64_t c = 0; c < columns_; ++c) {
        Value& slot = carries[tile * columns_ + c];
        const Value total = slot;
        slot = chains[c].Next();
        chains[c].Push(total);
      }
    }
  }

  const ScanPlan& plan_;
  const ScanRules rules_;
  const uint64_t rows_;
  const uint64_t columns_;
  const uint64_t tile_rows_;
  const int runs_per_warp_;
  const uint64_t strips_;
  const uint64_t tiles_;
  const std::byte* const input_;
  std::byte* const output_;
  std::atomic<bool> fits_ = true;
};

}  // namespace gridfold::kernels::cpu

#endif  // GRIDFOLD_KERNELS_CPU_SCAN_COLUMNS_H_
