// Scans down the rows of a matrix: each column is a scan of its own, in chunks of rows. Chunks of
// rounded sums are those that numerics/scan_tree.h prescribes.
//
// The matrix is cut into strips of columns. Where they alone keep the threads busy, a strip is done
// in one look; else the totals of its chunks are found first, and the chunks are then done apart.
#ifndef GRIDFOLD_KERNELS_CPU_SCAN_COLUMNS_H_
#define GRIDFOLD_KERNELS_CPU_SCAN_COLUMNS_H_

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <cstring>
#include <vector>

#include "absl/status/status.h"
#include "kernels/cpu/operations.h"
#include "kernels/cpu/scan_column_block.h"
#include "kernels/cpu/scan_contiguous.h"
#include "kernels/scan_error.h"

namespace gridfold::kernels {

// BlockScan is OrderedColumnBlockScan or ExactSumColumnBlockScan.
template <class BlockScan, class Out>
class ColumnScan {
 public:
  ColumnScan(const ScanPlan& plan, HostSpan input, MutableHostSpan output)
      : plan_(plan),
        rules_(RulesOf(plan)),
        rows_(plan.array.rows),
        columns_(plan.array.columns),
        strips_((columns_ + kStripColumns - 1) / kStripColumns),
        chunks_((rows_ + kChunkRows - 1) / kChunkRows),
        input_(input.data),
        output_(output.data) {}

  absl::Status Run(JobContext& job) {
    const uint64_t threads = static_cast<uint64_t>(job.workers.thread_count());
    const bool one_look = threads == 1 || chunks_ <= 1 || strips_ >= 4 * threads;
    job.statistics.bytes_read = (one_look ? 1 : 2) * plan_.array.size_bytes();
    const absl::Status status = one_look ? RunInOneLook(job) : RunInTwoLooks(job);
    if (!status.ok()) return status;
    return fits_.load() ? absl::OkStatus() : ScanOverflowError(plan_);
  }

 private:
  using T = typename BlockScan::Element;
  using Operator = typename BlockScan::Operator;
  using Value = typename Operator::Value;

  static constexpr uint64_t kStripColumns = BlockScan::kColumns;
  static constexpr uint64_t kChunkRows = BlockScan::kRows;

  // A strip of one chunk of logical rows.
  ColumnBlock BlockOf(uint64_t strip, uint64_t chunk) const {
    const uint64_t first_row = chunk * kChunkRows;
    const uint64_t first_column = strip * kStripColumns;
    return {first_row, std::min(kChunkRows, rows_ - first_row), first_column,
            std::min(kStripColumns, columns_ - first_column)};
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

  // Writes the results of a block with these carries, and joins its totals to them.
  void Write(const ColumnBlock& block, Value* carries) {
    const auto store_row = [&](uint64_t k, const Out* results) {
      std::memcpy(output_ + ElementOf(block, k) * sizeof(Out), results,
                  block.column_count * sizeof(Out));
    };
    if (!BlockScan::template Write<Out>(block, rules_, RowsOf(block), store_row, carries)) {
      fits_.store(false, std::memory_order_relaxed);
    }
  }

  absl::Status RunInOneLook(JobContext& job) {
    return job.workers.ForEach(strips_, job.stop, [&](uint64_t strip) {
      Value carries[kStripColumns];
      std::fill_n(carries, kStripColumns, Operator::Identity());
      for (uint64_t chunk = 0; chunk < chunks_ && !job.stop.stop_requested(); ++chunk) {
        Write(BlockOf(strip, chunk), carries);
      }
    });
  }

  absl::Status RunInTwoLooks(JobContext& job) {
    // Of chunk k and column c at k * columns + c: first the chunk's total, then its carry.
    std::vector<Value> carries(chunks_ * columns_);
    const auto for_each_block = [&](auto work) {
      return job.workers.ForEach(strips_ * chunks_, job.stop, [&](uint64_t i) {
        const ColumnBlock block = BlockOf(i % strips_, i / strips_);
        work(block, &carries[i / strips_ * columns_ + block.first_column]);
      });
    };
    absl::Status status =
        for_each_block([&](const ColumnBlock& block, Value* totals) { Total(block, totals); });
    if (!status.ok()) return status;
    JoinTotals(carries);
    return for_each_block(
        [&](const ColumnBlock& block, Value* block_carries) { Write(block, block_carries); });
  }

  void JoinTotals(std::vector<Value>& carries) const {
    std::vector<Value> carry(columns_, Operator::Identity());
    for (uint64_t chunk = 0; chunk < chunks_; ++chunk) {
      for (uint64_t c = 0; c < columns_; ++c) {
        Value& slot = carries[chunk * columns_ + c];
        const Value total = slot;
        slot = carry[c];
        carry[c] = Operator::Combine(carry[c], total);
      }
    }
  }

  const ScanPlan& plan_;
  const ScanRules rules_;
  const uint64_t rows_;
  const uint64_t columns_;
  const uint64_t strips_;
  const uint64_t chunks_;
  const std::byte* const input_;
  std::byte* const output_;
  std::atomic<bool> fits_ = true;
};

}  // namespace gridfold::kernels

#endif  // GRIDFOLD_KERNELS_CPU_SCAN_COLUMNS_H_
