#include "kernels/cpu/cpu_lane.h"

#include <algorithm>
#include <chrono>
#include <cstring>
#include <new>
#include <utility>
#include <variant>

#include "kernels/cpu/operations.h"
#include "kernels/lane_limits.h"

namespace gridfold::kernels {

namespace {

// Copies look for a stop this often.
constexpr uint64_t kCopiedBytesMax = uint64_t{4} << 20;

// Resident memory of this engine is host memory.
HostSpan HostSpanOf(const InputSpan& input) {
  return std::visit([](const auto& span) { return HostSpan{span.data, span.size_bytes}; }, input);
}
MutableHostSpan HostSpanOf(const OutputSpan& output) {
  return std::visit(
      [](const auto& span) {
        return MutableHostSpan{span.data, span.size_bytes};
      },
      output);
}

// Calls `step` with the offset and size of one piece of `size_bytes` after the other.
template <class Step>
absl::Status InPieces(uint64_t size_bytes, const std::stop_token& stop, Step step) {
  for (uint64_t offset = 0; offset < size_bytes; offset += kCopiedBytesMax) {
    if (stop.stop_requested()) return absl::CancelledError("the job was cancelled");
    step(offset, std::min(kCopiedBytesMax, size_bytes - offset));
  }
  return absl::OkStatus();
}

class CpuLane final : public Lane {
 public:
  CpuLane(WorkerPool& workers, const LaneOptions& options) : workers_(workers), options_(options) {}

  absl::StatusOr<ReductionResult> RunReduction(const ReductionPlan& plan, InputSpan input,
                                               std::stop_token stop,
                                               RunStatistics& statistics) override {
    if (absl::Status status = CheckReductionFits(options_, plan, input); !status.ok())
      return status;
    return Run<absl::StatusOr<ReductionResult>>(stop, statistics, [&](JobContext& job) {
      return ReduceOnCpu(plan, HostSpanOf(input), job);
    });
  }

  absl::Status RunScan(const ScanPlan& plan, InputSpan input, OutputSpan output,
                       std::stop_token stop, RunStatistics& statistics) override {
    if (absl::Status status = CheckScanFits(options_, plan, input, output); !status.ok())
      return status;
    return Run<absl::Status>(stop, statistics, [&](JobContext& job) {
      return ScanOnCpu(plan, HostSpanOf(input), HostSpanOf(output), job);
    });
  }

  absl::StatusOr<HistogramResult> RunHistogram(const HistogramPlan& plan,
                                               const HistogramInput& input, std::stop_token stop,
                                               RunStatistics& statistics) override {
    if (absl::Status status = CheckHistogramFits(options_, plan, input); !status.ok())
      return status;
    return Run<absl::StatusOr<HistogramResult>>(stop, statistics, [&](JobContext& job) {
      return HistogramOnCpu(plan,
                            {.array = HostSpanOf(input.array),
                             .y_array = HostSpanOf(input.y_array),
                             .weights = HostSpanOf(input.weights)},
                            job);
    });
  }

  absl::Status Copy(InputSpan from, OutputSpan to, std::stop_token stop) override {
    if (absl::Status status = CheckCopy(from, to); !status.ok()) return status;
    const HostSpan source = HostSpanOf(from);
    const MutableHostSpan target = HostSpanOf(to);
    return InPieces(source.size_bytes, stop, [&](uint64_t offset, uint64_t size_bytes) {
      std::memcpy(target.data + offset, source.data + offset, size_bytes);
    });
  }

  absl::Status Clear(MutableResidentSpan span, std::stop_token stop) override {
    return InPieces(span.size_bytes, stop, [&](uint64_t offset, uint64_t size_bytes) {
      std::memset(span.data + offset, 0, size_bytes);
    });
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
