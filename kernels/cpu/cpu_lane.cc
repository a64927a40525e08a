#include "kernels/cpu/cpu_lane.h"

#include <chrono>
#include <new>
#include <utility>

#include "kernels/cpu/operations.h"
#include "kernels/lane_limits.h"

namespace gridfold::kernels {

namespace {

class CpuLane final : public Lane {
 public:
  CpuLane(WorkerPool& workers, const LaneOptions& options) : workers_(workers), options_(options) {}

  absl::StatusOr<ReductionResult> RunReduction(const ReductionPlan& plan, HostSpan input,
                                               std::stop_token stop,
                                               RunStatistics& statistics) override {
    if (absl::Status status = CheckReductionFits(options_, plan, input); !status.ok())
      return status;
    return Run<absl::StatusOr<ReductionResult>>(
        stop, statistics, [&](JobContext& job) { return ReduceOnCpu(plan, input, job); });
  }

  absl::Status RunScan(const ScanPlan& plan, HostSpan input, MutableHostSpan output,
                       std::stop_token stop, RunStatistics& statistics) override {
    if (absl::Status status = CheckScanFits(options_, plan, input, output); !status.ok())
      return status;
    return Run<absl::Status>(stop, statistics,
                             [&](JobContext& job) { return ScanOnCpu(plan, input, output, job); });
  }

  absl::StatusOr<HistogramResult> RunHistogram(const HistogramPlan& plan,
                                               const HistogramInput& input, std::stop_token stop,
                                               RunStatistics& statistics) override {
    if (absl::Status status = CheckHistogramFits(options_, plan, input); !status.ok())
      return status;
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
