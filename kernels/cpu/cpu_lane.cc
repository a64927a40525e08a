#include "kernels/cpu/cpu_lane.h"

#include <chrono>
#include <new>
#include <utility>

#include "absl/strings/str_cat.h"
#include "kernels/cpu/operations.h"

namespace gridfold::kernels {

namespace {

absl::Status CheckLimit(const char* what, uint64_t wanted, uint64_t limit) {
  if (wanted <= limit) return absl::OkStatus();
  return absl::ResourceExhaustedError(
      absl::StrCat(wanted, " ", what, " are more than the ", limit, " that a lane holds"));
}

absl::Status CheckSize(const char* what, uint64_t size_bytes, uint64_t expected_bytes) {
  if (size_bytes == expected_bytes) return absl::OkStatus();
  return absl::InternalError(absl::StrCat("the ", what, " has ", size_bytes,
                                          " bytes where the plan has ", expected_bytes));
}

class CpuLane final : public Lane {
 public:
  CpuLane(WorkerPool& workers, const LaneOptions& options) : workers_(workers), options_(options) {}

  absl::StatusOr<ReductionResult> RunReduction(const ReductionPlan& plan, HostSpan input,
                                               std::stop_token stop,
                                               RunStatistics& statistics) override {
    for (const absl::Status& status :
         {CheckSize("input", input.size_bytes, plan.array.size_bytes()),
          CheckLimit("input bytes", input.size_bytes, options_.input_bytes_max),
          CheckLimit("groups", plan.grouping.group_count, options_.group_count_max),
          CheckLimit("output bytes", plan.result_slot_count() * sizeof(uint64_t),
                     options_.output_bytes_max)}) {
      if (!status.ok()) return status;
    }
    return Run<absl::StatusOr<ReductionResult>>(
        stop, statistics, [&](JobContext& job) { return ReduceOnCpu(plan, input, job); });
  }

  absl::Status RunScan(const ScanPlan& plan, HostSpan input, MutableHostSpan output,
                       std::stop_token stop, RunStatistics& statistics) override {
    for (const absl::Status& status :
         {CheckSize("input", input.size_bytes, plan.array.size_bytes()),
          CheckSize("output", output.size_bytes, plan.output_size_bytes()),
          CheckLimit("input bytes", input.size_bytes, options_.input_bytes_max),
          CheckLimit("groups", plan.grouping.group_count, options_.group_count_max),
          CheckLimit("output bytes", output.size_bytes, options_.output_bytes_max)}) {
      if (!status.ok()) return status;
    }
    return Run<absl::Status>(stop, statistics,
                             [&](JobContext& job) { return ScanOnCpu(plan, input, output, job); });
  }

  absl::StatusOr<HistogramResult> RunHistogram(const HistogramPlan& plan,
                                               const HistogramInput& input, std::stop_token stop,
                                               RunStatistics& statistics) override {
    const uint64_t samples = plan.array.element_count;
    const uint64_t weight_bytes =
        plan.weight_type.has_value() ? samples * ElementSize(*plan.weight_type) : 0;
    for (const absl::Status& status :
         {CheckSize("input", input.array.size_bytes, plan.array.size_bytes()),
          CheckSize("second input", input.y_array.size_bytes,
                    plan.two_dimensional ? plan.array.size_bytes() : 0),
          CheckSize("array of weights", input.weights.size_bytes, weight_bytes),
          CheckLimit("input bytes",
                     input.array.size_bytes + input.y_array.size_bytes + input.weights.size_bytes,
                     options_.input_bytes_max),
          CheckLimit("bins", plan.total_bin_count(), options_.bin_count_max)}) {
      if (!status.ok()) return status;
    }
    return Run<absl::StatusOr<HistogramResult>>(
        stop, statistics, [&](JobContext& job) { return HistogramOnCpu(plan, input, job); });
  }

 private:
  template <class Result, class Operation>
  Result Run(std::stop_token stop, RunStatistics& statistics, Operation&& operation) {
    statistics = RunStatistics{};
    JobContext job{workers_, std::move(stop), statistics};
    const auto start = std::chrono::steady_clock::now();
    Result result = [&]() -> Result {
      try {
        return operation(job);
      } catch (const std::bad_alloc&) {
        return absl::ResourceExhaustedError("not enough memory for the job");
      }
    }();
    statistics.kernel_time = std::chrono::steady_clock::now() - start;
    return result;
  }

  WorkerPool& workers_;
  const LaneOptions options_;
};

}  // namespace

std::unique_ptr<Lane> CreateCpuLane(WorkerPool& workers, const LaneOptions& options) {
  return std::make_unique<CpuLane>(workers, options);
}

}  // namespace gridfold::kernels
