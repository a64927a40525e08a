// Scans down the rows of a matrix: each column is a scan of its own, in chunks of rows as
// numerics/scan_tree.h prescribes.
//
// The matrix is cut into strips of columns. Where they alone keep the threads busy, a strip is done
// in one look; else the totals of its chunks are found first, and the chunks are then done apart.
#ifndef GRIDFOLD_KERNELS_CPU_SCAN_COLUMNS_H_
#define GRIDFOLD_KERNELS_CPU_SCAN_COLUMNS_H_

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <vector>

#include "absl/status/status.h"
#include "kernels/cpu/operations.h"
#include "kernels/cpu/scan_contiguous.h"
#include "kernels/numerics/scan_operator.h"
#include "kernels/numerics/scan_tree.h"
#include "kernels/scan_error.h"

namespace gridfold::kernels {

template <ScanOperation kOperation, class T, class Out>
class ColumnScan {
 public:
  ColumnScan(const ScanPlan& plan, HostSpan input, MutableHostSpan output)
      : plan_(plan),
        rules_(RulesOf(plan)),
        rows_(plan.array.rows),
        columns_(plan.array.columns),
        strips_((columns_ + kStripColumns - 1) / kStripColumns),
        chunks_((rows_ + kScanChunkRows - 1) / kScanChunkRows),
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
  using Operator = ScanOperator<T, kOperation>;
  using Value = typename Operator::Value;

  static constexpr uint64_t kStripColumns = 1024 / sizeof(T);

  // Columns [begin, end) of one chunk of logical rows.
  struct Block {
    uint64_t first_row;
    uint64_t end_row;
    uint64_t first_column;
    uint64_t column_count;
  };

  Block BlockOf(uint64_t strip, uint64_t chunk) const {
    const uint64_t first_row = chunk * kScanChunkRows;
    const uint64_t first_column = strip * kStripColumns;
    return {first_row, std::min<uint64_t>(first_row + kScanChunkRows, rows_), first_column,
            std::min(kStripColumns, columns_ - first_column)};
  }

  // Index of the first element of a logical row in a strip.
  uint64_t ElementOf(uint64_t row, const Block& block) const {
    const bool reverse = plan_.direction == ScanDirection::kReverse;
    return (reverse ? rows_ - 1 - row : row) * columns_ + block.first_column;
  }

  // Joins a row's elements to running[c].
  void AddRow(uint64_t row, const Block& block, Value* running) const {
    const std::byte* elements = input_ + ElementOf(row, block) * sizeof(T);
    for (uint64_t c = 0; c < block.column_count; ++c) {
      running[c] = Operator::Combine(
          running[c], Operator::Lift(LoadUnaligned<T>(elements, c), rules_.ignore_nan));
    }
  }

  void Total(const Block& block, Value* totals) const {
    std::fill_n(totals, block.column_count, Operator::Identity());
    for (uint64_t row = block.first_row; row < block.end_row; ++row) AddRow(row, block, totals);
  }

  // Writes the results of a block with these carries, and leaves the chunk's totals in `running`.
  void Write(const Block& block, const Value* carries, Value* running) {
    std::fill_n(running, block.column_count, Operator::Identity());
    for (uint64_t row = block.first_row; row < block.end_row; ++row) {
      if (!rules_.exclusive) AddRow(row, block, running);
      WriteRow(row, block, carries, running);
      if (rules_.exclusive) AddRow(row, block, running);
    }
  }

  void WriteRow(uint64_t row, const Block& block, const Value* carries, const Value* running) {
    Out results[kStripColumns];
    bool fits = true;
    for (uint64_t c = 0; c < block.column_count; ++c) {
      const Value result = rules_.exclusive && row == 0 ? Operator::EmptyResult()
                                                        : Operator::Combine(carries[c], running[c]);
      fits &= Operator::template Store<Out>(result, rules_.wrap, &results[c]);
    }
    if (!fits) fits_.store(false, std::memory_order_relaxed);
    std::memcpy(output_ + ElementOf(row, block) * sizeof(Out), results,
                block.column_count * sizeof(Out));
  }

  absl::Status RunInOneLook(JobContext& job) {
    return job.workers.ForEach(strips_, job.stop, [&](uint64_t strip) {
      Value carries[kStripColumns];
      Value totals[kStripColumns];
      std::fill_n(carries, kStripColumns, Operator::Identity());
      for (uint64_t chunk = 0; chunk < chunks_ && !job.stop.stop_requested(); ++chunk) {
        const Block block = BlockOf(strip, chunk);
        Write(block, carries, totals);
        for (uint64_t c = 0; c < block.column_count; ++c) {
          carries[c] = Operator::Combine(carries[c], totals[c]);
        }
      }
    });
  }

  absl::Status RunInTwoLooks(JobContext& job) {
    // Of chunk k and column c at k * columns + c: first the chunk's total, then its carry.
    std::vector<Value> carries(chunks_ * columns_);
    const auto for_each_block = [&](auto work) {
      return job.workers.ForEach(strips_ * chunks_, job.stop, [&](uint64_t i) {
        const Block block = BlockOf(i % strips_, i / strips_);
        work(block, &carries[i / strips_ * columns_ + block.first_column]);
      });
    };
    absl::Status status =
        for_each_block([&](const Block& block, Value* totals) { Total(block, totals); });
    if (!status.ok()) return status;
    JoinTotals(carries);
    return for_each_block([&](const Block& block, const Value* block_carries) {
      Value running[kStripColumns];
      Write(block, block_carries, running);
    });
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
