// Many operations in one call, for arrays so small that a call costs more than the operation.
//
//   Batch batch;
//   const BatchTicket<ReductionResult> sum =
//       batch.ReduceArray(samples, {.statistics = {Statistic::kSum}});
//   const BatchTicket<ScanResult> sums = batch.ScanArray(other_samples, {});
//   absl::StatusOr<BatchResult> result = client.BatchCompute(batch);
//   if (!result.ok()) return result.status();
//   const absl::StatusOr<ReductionResult>& reduced = result->Of(sum);
#ifndef GRIDFOLD_CLIENT_GRIDFOLD_BATCH_H_
#define GRIDFOLD_CLIENT_GRIDFOLD_BATCH_H_

#include <cstddef>
#include <span>
#include <utility>
#include <variant>
#include <vector>

#include "absl/status/statusor.h"
#include "gridfold/array_input.h"
#include "gridfold/execution_statistics.h"
#include "gridfold/histogram.h"
#include "gridfold/keyed_reduction.h"
#include "gridfold/reduction.h"
#include "gridfold/scan.h"

namespace gridfold::client {

// Stands for one operation of a batch, by its index.
template <typename Result>
struct BatchTicket {
  size_t index = 0;
};

// The operations of a call. They are independent: none sees an array that another one creates or
// changes. Holds no elements: the caller's arrays must outlive the call. Not thread-safe while it
// is built; can be sent any number of times.
class Batch {
 public:
  struct Reduction {
    ArrayInput array;
    ReductionOptions options;
  };
  struct Scan {
    ArrayInput array;
    ScanOptions options;
  };
  struct Histogram {
    ArrayInput array;
    HistogramOptions options;
  };
  struct KeyedReduction {
    ArrayInput keys;
    ArrayInput values;
    KeyedReductionOptions options;
  };
  using Operation = std::variant<Reduction, Scan, Histogram, KeyedReduction>;

  // As the methods of Client.
  BatchTicket<ReductionResult> ReduceArray(const ArrayInput& array, ReductionOptions options) {
    operations_.push_back(Reduction{array, std::move(options)});
    return {operations_.size() - 1};
  }
  BatchTicket<ScanResult> ScanArray(const ArrayInput& array, ScanOptions options) {
    operations_.push_back(Scan{array, std::move(options)});
    return {operations_.size() - 1};
  }
  BatchTicket<HistogramResult> ComputeHistogram(const ArrayInput& array, HistogramOptions options) {
    operations_.push_back(Histogram{array, std::move(options)});
    return {operations_.size() - 1};
  }

  BatchTicket<KeyedReductionResult> ReduceByKey(const ArrayInput& keys, const ArrayInput& values,
                                                KeyedReductionOptions options) {
    operations_.push_back(KeyedReduction{keys, values, std::move(options)});
    return {operations_.size() - 1};
  }

  std::span<const Operation> operations() const { return operations_; }

 private:
  std::vector<Operation> operations_;
};

// The outcome of each operation.
class BatchResult {
 public:
  using Entry = std::variant<absl::StatusOr<ReductionResult>, absl::StatusOr<ScanResult>,
                             absl::StatusOr<HistogramResult>, absl::StatusOr<KeyedReductionResult>>;

  // One entry for each operation, of its kind.
  BatchResult(std::vector<Entry> entries, ExecutionStatistics execution)
      : entries_(std::move(entries)), execution_(std::move(execution)) {}

  // The answer or the error of an operation of that batch; the answer's `execution` is empty.
  template <typename Result>
  const absl::StatusOr<Result>& Of(BatchTicket<Result> ticket) const {
    return std::get<absl::StatusOr<Result>>(entries_.at(ticket.index));
  }

  // In the operations' order.
  std::span<const Entry> entries() const { return entries_; }

  // Of all operations together.
  const ExecutionStatistics& execution() const { return execution_; }

 private:
  std::vector<Entry> entries_;
  ExecutionStatistics execution_;
};

}  // namespace gridfold::client

#endif  // GRIDFOLD_CLIENT_GRIDFOLD_BATCH_H_
