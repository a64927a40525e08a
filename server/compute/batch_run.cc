#include "server/compute/batch_run.h"

#include <algorithm>
#include <cstddef>
#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "kernels/folds/reduction_batch.h"
#include "server/compute/keyed_run.h"
#include "server/compute/planned_run.h"
#include "server/planning/placement.h"
#include "server/wire/rpc_status.h"

namespace gridfold::server {

namespace {

// A reduction that may share a launch.
struct SharedReduction {
  kernels::ReductionBatchKey key;
  size_t index;  // In the batch.
};

class BatchRunner {
 public:
  BatchRunner(const PlannedBatch& batch, std::vector<bool> left_out, kernels::Lane& lane,
              std::stop_token stop, kernels::RunStatistics& statistics,
              v1::BatchComputeResponse& response)
      : operations_(batch.operations),
        is_done_(std::move(left_out)),
        lane_(lane),
        stop_(std::move(stop)),
        statistics_(statistics),
        response_(response) {}

  absl::Status Run() {
    absl::Status status = RunSharedReductions();
    for (size_t i = 0; status.ok() && i < operations_.size(); ++i) {
      if (!is_done_[i]) status = RunAlone(operations_[i], ResultOf(i));
    }
    return status;
  }

 private:
  v1::BatchResult& ResultOf(size_t index) {
    return *response_.mutable_results(static_cast<int>(index));
  }

  absl::Status RunSharedReductions() {
    std::vector<SharedReduction> shared;
    for (size_t i = 0; i < operations_.size(); ++i) {
      const auto* const planned = std::get_if<PlannedReduction>(&operations_[i]);
      if (planned == nullptr || is_done_[i]) continue;
      const auto key = LaunchKeyOf(*planned, kernels::kBatchedArrayBytesMax);
      if (key) shared.push_back({*key, i});
    }
    std::stable_sort(shared.begin(), shared.end(),
                     [](const auto& a, const auto& b) { return a.key < b.key; });
    for (auto begin = shared.begin(); begin != shared.end();) {
      const auto end = std::find_if(begin, shared.end(),
                                    [&](const auto& other) { return other.key != begin->key; });
      if (absl::Status status = RunTogether({begin, end}); !status.ok()) return status;
      begin = end;
    }
    return absl::OkStatus();
  }

  absl::Status RunTogether(const std::vector<SharedReduction>& shared) {
    std::vector<kernels::BatchedReduction> reductions;
    reductions.reserve(shared.size());
    for (const SharedReduction& reduction : shared) {
      const auto& planned = std::get<PlannedReduction>(operations_[reduction.index]);
      reductions.push_back({&planned.plan, planned.input.data});
    }
    kernels::RunStatistics run;
    auto results = kernels::RunReductionBatch(reductions, lane_, stop_, run);
    statistics_.Add(run);
    if (!results.ok()) return results.status();
    for (size_t i = 0; i < shared.size(); ++i) {
      const size_t index = shared[i].index;
      FillResult(std::get<PlannedReduction>(operations_[index]), (*results)[i], ResultOf(index));
      is_done_[index] = true;
    }
    return absl::OkStatus();
  }

  static void FillResult(const PlannedReduction& planned,
                         absl::StatusOr<kernels::ReductionResult>& reduced,
                         v1::BatchResult& result) {
    if (!reduced.ok()) return FillRpcStatus(reduced.status(), *result.mutable_error());
    kernels::ShiftIndices(planned.first_index, *reduced);
    FillAnswer(planned, *reduced, *result.mutable_reduction());
  }

  absl::Status RunAlone(const PlannedOperation& operation, v1::BatchResult& result) {
    if (stop_.stop_requested()) return absl::CancelledError("the job was cancelled");
    const absl::Status status =
        std::visit([&](const auto& planned) { return RunOne(planned, result); }, operation);
    if (status.ok() || ConcernsTheBatch(status)) return status;
    FillRpcStatus(status, *result.mutable_error());
    return absl::OkStatus();
  }

  absl::Status RunOne(const absl::Status& error, v1::BatchResult&) { return error; }

  template <class Planned>
  absl::Status RunOne(const Planned& planned, v1::BatchResult& result) {
    kernels::RunStatistics run;
    auto answer = server::RunPlanned(planned, lane_, stop_, run);
    statistics_.Add(run);
    if (!answer.ok()) return answer.status();
    Give(*std::move(answer), result);
    return absl::OkStatus();
  }

  // A scan writes where the message keeps its bytes.
  absl::Status RunOne(const PlannedScan& planned, v1::BatchResult& result) {
    std::string data(InlineResultBytes(planned), '\0');
    kernels::RunStatistics run;
    auto answer = server::RunPlanned(
        planned, {reinterpret_cast<std::byte*>(data.data()), data.size()}, lane_, stop_, run);
    statistics_.Add(run);
    if (!answer.ok()) return answer.status();
    if (answer->has_inline_array()) answer->mutable_inline_array()->set_data(std::move(data));
    Give(*std::move(answer), result);
    return absl::OkStatus();
  }

  const std::vector<PlannedOperation>& operations_;
  std::vector<bool> is_done_;
  kernels::Lane& lane_;
  const std::stop_token stop_;
  kernels::RunStatistics& statistics_;
  v1::BatchComputeResponse& response_;
};

}  // namespace

std::optional<kernels::ReductionBatchKey> LaunchKeyOf(const PlannedReduction& planned,
                                                      uint64_t array_bytes_max) {
  if (planned.tolerant || planned.selection || planned.input.is_bool || planned.input.resident ||
      planned.input.region != nullptr || planned.plan.array.size_bytes() > array_bytes_max) {
    return std::nullopt;
  }
  return kernels::BatchKeyOf(planned.plan);
}

bool ConcernsTheBatch(const absl::Status& status) {
  return absl::IsCancelled(status) || absl::IsInternal(status);
}

void Give(v1::ReduceArrayResponse answer, v1::BatchResult& result) {
  result.set_allocated_reduction(new v1::ReduceArrayResponse(std::move(answer)));
}

void Give(v1::ScanArrayResponse answer, v1::BatchResult& result) {
  result.set_allocated_scan(new v1::ScanArrayResponse(std::move(answer)));
}

void Give(v1::ComputeHistogramResponse answer, v1::BatchResult& result) {
  result.set_allocated_histogram(new v1::ComputeHistogramResponse(std::move(answer)));
}

void Give(v1::ReduceByKeyResponse answer, v1::BatchResult& result) {
  result.set_allocated_keyed_reduction(new v1::ReduceByKeyResponse(std::move(answer)));
}

void AddResults(const PlannedBatch& batch, v1::BatchComputeResponse& response) {
  response.mutable_results()->Reserve(static_cast<int>(batch.operations.size()));
  for (size_t i = 0; i < batch.operations.size(); ++i) response.add_results();
}

absl::Status RunOperations(const PlannedBatch& batch, std::vector<bool> left_out,
                           kernels::Lane& lane, std::stop_token stop,
                           kernels::RunStatistics& statistics, v1::BatchComputeResponse& response) {
  return BatchRunner(batch, std::move(left_out), lane, std::move(stop), statistics, response).Run();
}

absl::StatusOr<ArenaMessage<v1::BatchComputeResponse>> RunPlanned(
    const PlannedBatch& batch, kernels::Lane& lane, std::stop_token stop,
    kernels::RunStatistics& statistics) {
  ArenaMessage<v1::BatchComputeResponse> response;
  AddResults(batch, response);
  const absl::Status status = RunOperations(batch, std::vector<bool>(batch.operations.size()), lane,
                                            std::move(stop), statistics, response);
  statistics.strategy = "batch";
  if (!status.ok()) return status;
  return response;
}

}  // namespace gridfold::server
