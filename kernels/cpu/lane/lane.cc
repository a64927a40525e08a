#include "kernels/cpu/lane/lane.h"

#include <algorithm>
#include <array>
#include <chrono>
#include <cstring>
#include <memory>
#include <new>
#include <span>
#include <utility>
#include <variant>
#include <vector>

#include "kernels/contract/lane_limits.h"
#include "kernels/cpu/base/job_context.h"
#include "kernels/cpu/bykey/keyed_reduction.h"
#include "kernels/cpu/histogram/histogram.h"
#include "kernels/cpu/lane/work_cost.h"
#include "kernels/cpu/order/quantiles.h"
#include "kernels/cpu/order/top.h"
#include "kernels/cpu/paired/paired.h"
#include "kernels/cpu/rearrange/rearrange.h"
#include "kernels/cpu/reduce/reduce.h"
#include "kernels/cpu/reduce/resident_states.h"
#include "kernels/cpu/scan/scan.h"
#include "kernels/cpu/select/select.h"
#include "kernels/memory/host_resident_pool.h"
#include "kernels/numerics/bins/axes.h"

namespace gridfold::kernels::cpu {

namespace {

// Copies look for a stop this often.
constexpr uint64_t kCopiedBytesMax = uint64_t{4} << 20;

MutableHostSpan HostSpanOf(const OutputSpan& output) {
  return std::visit(
      [](const auto& span) {
        return MutableHostSpan{span.data, span.size_bytes};
      },
      output);
}

HostSpan HostSpanOf(const ResidentSpan& span) { return {span.data, span.size_bytes}; }

// Counters that a selection has in its scratch.
std::span<uint64_t> CountersOf(const MutableResidentSpan& scratch) {
  return {reinterpret_cast<uint64_t*>(scratch.data), scratch.size_bytes / sizeof(uint64_t)};
}
std::span<const uint64_t> CountersOf(const ResidentSpan& scratch) {
  return {reinterpret_cast<const uint64_t*>(scratch.data), scratch.size_bytes / sizeof(uint64_t)};
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

// Memory for joined inputs that a lane keeps from job to job; what a larger one takes goes with it.
constexpr uint64_t kKeptBytesMax = uint64_t{16} << 20;

// Makes inputs that come in pieces whole.
class InputJoiner {
 public:
  // Copies what is in pieces; a span in one stays where it is. Valid until the next call.
  template <size_t kCount>
  std::array<HostSpan, kCount> Join(const std::array<InputSpan, kCount>& inputs) {
    uint64_t size_bytes = 0;
    for (const InputSpan& input : inputs) size_bytes += CopiedBytes(input);
    Reserve(size_bytes);
    std::array<HostSpan, kCount> joined;
    std::byte* place = memory_.get();
    for (size_t i = 0; i < inputs.size(); ++i) {
      const bool is_copied = CopiedBytes(inputs[i]) > 0;
      if (is_copied) joined[i].data = place;
      ForEachHostSpan(inputs[i], [&](const HostSpan& span) {
        joined[i].size_bytes += span.size_bytes;
        if (!is_copied) {
          joined[i].data = span.data;
        } else if (span.size_bytes > 0) {
          std::memcpy(std::exchange(place, place + span.size_bytes), span.data, span.size_bytes);
        }
      });
    }
    return joined;
  }
  HostSpan Join(const InputSpan& input) { return Join(std::array{input})[0]; }

  // What was joined is not needed any more.
  void Release() {
    if (capacity_bytes_ > kKeptBytesMax) Resize(0);
  }

 private:
  void Reserve(uint64_t size_bytes) {
    if (size_bytes > capacity_bytes_) Resize(size_bytes);
  }

  void Resize(uint64_t size_bytes) {
    capacity_bytes_ = 0;
    memory_.reset();
    memory_ = std::make_unique_for_overwrite<std::byte[]>(size_bytes);
    capacity_bytes_ = size_bytes;
  }

  static uint64_t CopiedBytes(const InputSpan& input) {
    const auto* const slices = std::get_if<HostSlices>(&input);
    return slices != nullptr && slices->slices.size() > 1 ? slices->size_bytes : 0;
  }

  std::unique_ptr<std::byte[]> memory_;
  uint64_t capacity_bytes_ = 0;
};

class CpuLane final : public Lane {
 public:
  CpuLane(WorkerPool& workers, const LaneOptions& options) : workers_(workers), options_(options) {}

  absl::StatusOr<ReductionResult> RunReduction(const ReductionPlan& plan, InputSpan input,
                                               std::stop_token stop,
                                               RunStatistics& statistics) override {
    if (absl::Status status = CheckReductionFits(options_, plan, input); !status.ok())
      return status;
    return Run<absl::StatusOr<ReductionResult>>(plan, stop, statistics, [&](JobContext& job) {
      return ReduceOnCpu(plan, joiner_.Join(input), job);
    });
  }

  uint64_t ResidentStateBytes(const ReductionPlan& plan) const override {
    return StateBytesOnCpu(plan);
  }

  absl::Status ReduceInto(const ReductionPlan& plan, InputSpan input, MutableResidentSpan states,
                          std::stop_token stop, RunStatistics& statistics) override {
    absl::Status status = CheckReduceIntoFits(options_, plan, input);
    if (!status.ok()) return status;
    const absl::StatusOr<ReductionResult> result = Run<absl::StatusOr<ReductionResult>>(
        plan, std::move(stop), statistics,
        [&](JobContext& job) { return ReduceOnCpu(plan, joiner_.Join(input), job); });
    if (!result.ok()) return result.status();
    KeepStatesOnCpu(result->states, states);
    return absl::OkStatus();
  }

  absl::StatusOr<ReductionResult> MergeStates(const ReductionPlan& plan, uint64_t first_state,
                                              std::span<const ResidentStates> parts,
                                              std::stop_token stop) override {
    if (absl::Status status = CheckGroupsFit(options_, plan); !status.ok()) return status;
    RunStatistics unused;
    return Run<absl::StatusOr<ReductionResult>>(
        plan, std::move(stop), unused,
        [&](JobContext& job) { return MergeStatesOnCpu(plan, first_state, parts, job); });
  }

  bool ReducesInPlace(const ReductionPlan& plan, ResidentSpan input) const override {
    return CheckReduceIntoFits(options_, plan, input).ok() && ReducesInPlaceOnCpu(plan);
  }

  absl::StatusOr<ReductionResult> MergeStateGrid(const ReductionPlan& plan, const StateGrid& grid,
                                                 MutableResidentSpan states, std::stop_token stop,
                                                 RunStatistics& statistics) override {
    if (absl::Status status = CheckGroupsFit(options_, plan); !status.ok()) return status;
    return Run<absl::StatusOr<ReductionResult>>(
        plan, std::move(stop), statistics,
        [&](JobContext& job) { return MergeStateGridOnCpu(plan, grid, states, job); });
  }

  absl::Status RunScan(const ScanPlan& plan, InputSpan input, OutputSpan output,
                       std::stop_token stop, RunStatistics& statistics) override {
    if (absl::Status status = CheckScanFits(options_, plan, input, output); !status.ok())
      return status;
    return Scan(plan, input, output, nullptr, std::move(stop), statistics);
  }

  absl::Status ContinueScan(const ScanPlan& plan, InputSpan input, OutputSpan output,
                            ScanCarry& carry, std::stop_token stop,
                            RunStatistics& statistics) override {
    absl::Status status = CheckScanFits(options_, plan, input, output);
    if (status.ok()) status = CheckScanContinues(plan, carry);
    if (!status.ok()) return status;
    return Scan(plan, input, output, &carry, std::move(stop), statistics);
  }

  absl::StatusOr<ScanTotals> FindScanTotals(const ScanPlan& plan, InputSpan input,
                                            std::stop_token stop,
                                            RunStatistics& statistics) override {
    return Run<absl::StatusOr<ScanTotals>>(plan, std::move(stop), statistics, [&](JobContext& job) {
      return FindScanTotalsOnCpu(plan, joiner_.Join(input), job);
    });
  }

  void CarryOver(const ScanPlan& plan, const ScanTotals& totals, ScanCarry& carry) override {
    CarryOverOnCpu(plan, totals, carry);
  }

  absl::StatusOr<HistogramResult> RunHistogram(const HistogramPlan& plan,
                                               const HistogramInput& input, std::stop_token stop,
                                               RunStatistics& statistics) override {
    if (absl::Status status = CheckHistogramFits(options_, plan, input); !status.ok())
      return status;
    return Run<absl::StatusOr<HistogramResult>>(plan, stop, statistics, [&](JobContext& job) {
      const auto [array, y_array, weights] =
          joiner_.Join(std::array{input.array, input.y_array, input.weights});
      return HistogramOnCpu(plan, {.array = array, .y_array = y_array, .weights = weights}, job);
    });
  }

  absl::Status AddWords(ResidentSpan from, MutableResidentSpan to, std::stop_token stop) override {
    if (stop.stop_requested()) return absl::CancelledError("the job was cancelled");
    const auto* const added = reinterpret_cast<const uint64_t*>(from.data);
    auto* const words = reinterpret_cast<uint64_t*>(to.data);
    for (uint64_t i = 0; i < to.size_bytes / sizeof(uint64_t); ++i) words[i] += added[i];
    return absl::OkStatus();
  }

  absl::StatusOr<KeyedReductionResult> RunKeyedReduction(const KeyedReductionPlan& plan,
                                                         const KeyedInput& input,
                                                         std::stop_token stop,
                                                         RunStatistics& statistics) override {
    if (absl::Status status = CheckKeyedReductionFits(options_, plan, input); !status.ok())
      return status;
    return Run<absl::StatusOr<KeyedReductionResult>>(plan, stop, statistics, [&](JobContext& job) {
      std::array<InputSpan, kBinAxesMax + 1> arrays = {input.values, input.keys};
      std::copy(input.further_keys.begin(), input.further_keys.end(), arrays.begin() + 2);
      const auto joined = joiner_.Join(arrays);
      const std::span keys(joined.begin() + 1, input.further_keys.size() + 1);
      return ReduceByKeyOnCpu(plan, keys, joined.front(), options_, job);
    });
  }

  absl::StatusOr<QuantileResult> RunQuantiles(const QuantilePlan& plan, InputSpan input,
                                              std::stop_token stop,
                                              RunStatistics& statistics) override {
    if (absl::Status status = CheckQuantilesFit(options_, plan, input); !status.ok()) return status;
    return Run<absl::StatusOr<QuantileResult>>(plan, stop, statistics, [&](JobContext& job) {
      return QuantilesOnCpu(plan, joiner_.Join(input), job);
    });
  }

  absl::StatusOr<TopResult> RunTop(const TopPlan& plan, InputSpan input, std::stop_token stop,
                                   RunStatistics& statistics) override {
    if (absl::Status status = CheckTopFits(options_, plan, input); !status.ok()) return status;
    return Run<absl::StatusOr<TopResult>>(plan, stop, statistics, [&](JobContext& job) {
      return TopOnCpu(plan, joiner_.Join(input), job);
    });
  }

  absl::StatusOr<PairedSums> RunPaired(const PairedPlan& plan, const PairedInput& input,
                                       std::stop_token stop, RunStatistics& statistics) override {
    if (absl::Status status = CheckPairedFits(options_, plan, input); !status.ok()) return status;
    return Run<absl::StatusOr<PairedSums>>(plan, stop, statistics, [&](JobContext& job) {
      const auto [x, y, weights] = joiner_.Join(std::array{input.x, input.y, input.weights});
      return SumPairedOnCpu(plan, x, y, weights, job);
    });
  }

  absl::Status Rearrange(const Rearrangement& order, uint64_t element_bytes, InputSpan from,
                         OutputSpan to, std::stop_token stop, RunStatistics& statistics) override {
    absl::Status status = CheckRearrangementFits(options_, order, element_bytes, from, to);
    if (!status.ok()) return status;
    return Run<absl::Status>(order, std::move(stop), statistics, [&](JobContext& job) {
      return RearrangeOnCpu(order, element_bytes, joiner_.Join(from), HostSpanOf(to), job);
    });
  }

  absl::StatusOr<std::vector<uint64_t>> Select(const SelectionPlan& plan, InputSpan input,
                                               ResidentSpan mask, MutableResidentSpan scratch,
                                               MutableResidentSpan selected, std::stop_token stop,
                                               RunStatistics& statistics) override {
    absl::Status status = CheckSelectionFits(options_, plan, input, mask, scratch, selected);
    if (!status.ok()) return status;
    return Run<absl::StatusOr<std::vector<uint64_t>>>(
        plan, std::move(stop), statistics, [&](JobContext& job) {
          return SelectOnCpu(plan, joiner_.Join(input), HostSpanOf(mask), CountersOf(scratch),
                             selected.data, job);
        });
  }

  absl::Status FindSelected(ResidentSpan mask, ResidentSpan scratch, std::span<uint64_t> places,
                            std::stop_token stop, RunStatistics& statistics) override {
    absl::Status status = CheckPlacesFit(options_, places.size());
    if (!status.ok()) return status;
    // Each place is looked for in one tile.
    SelectionPlan work;
    work.element_count = places.size() * kSelectionTile;
    return Run<absl::Status>(work, std::move(stop), statistics, [&](JobContext& job) {
      return FindSelectedOnCpu(HostSpanOf(mask), CountersOf(scratch), places, job);
    });
  }

  absl::Status Replace(uint64_t element_bytes, const ElementBytes& replacement, InputSpan input,
                       ResidentSpan mask, MutableResidentSpan output, std::stop_token stop,
                       RunStatistics& statistics) override {
    absl::Status status = CheckReplacementFits(options_, element_bytes, input, mask, output);
    if (!status.ok()) return status;
    SelectionPlan work;
    work.element_count = mask.size_bytes;
    return Run<absl::Status>(work, std::move(stop), statistics, [&](JobContext& job) {
      return ReplaceOnCpu(element_bytes, replacement, joiner_.Join(input), HostSpanOf(mask),
                          output.data, job);
    });
  }

  absl::Status Copy(InputSpan from, OutputSpan to, std::stop_token stop) override {
    if (absl::Status status = CheckCopy(from, to); !status.ok()) return status;
    std::byte* place = HostSpanOf(to).data;
    absl::Status status;
    ForEachHostSpan(from, [&](const HostSpan& source) {
      if (!status.ok()) return;
      status = InPieces(source.size_bytes, stop, [&](uint64_t offset, uint64_t size_bytes) {
        std::memcpy(place + offset, source.data + offset, size_bytes);
      });
      place += source.size_bytes;
    });
    return status;
  }

  absl::Status Clear(MutableResidentSpan span, std::stop_token stop) override {
    return InPieces(span.size_bytes, stop, [&](uint64_t offset, uint64_t size_bytes) {
      std::memset(span.data + offset, 0, size_bytes);
    });
  }

 private:
  absl::Status Scan(const ScanPlan& plan, const InputSpan& input, const OutputSpan& output,
                    ScanCarry* carry, std::stop_token stop, RunStatistics& statistics) {
    return Run<absl::Status>(plan, std::move(stop), statistics, [&](JobContext& job) {
      return ScanOnCpu(plan, joiner_.Join(input), HostSpanOf(output), carry, job);
    });
  }

  template <class Result, class Plan, class Operation>
  Result Run(const Plan& plan, std::stop_token stop, RunStatistics& statistics,
             Operation&& operation) {
    statistics = RunStatistics{};
    const int threads = ThreadsWorthWaking(WorkNanoseconds(plan), workers_.thread_count());
    JobContext job{workers_, threads, std::move(stop), statistics};
    const auto start = std::chrono::steady_clock::now();
    Result result = [&]() -> Result {
      try {
        return operation(job);
      } catch (const std::bad_alloc&) {
        return absl::ResourceExhaustedError("not enough memory for the job");
      }
    }();
    statistics.kernel_time = std::chrono::steady_clock::now() - start;
    joiner_.Release();
    return result;
  }

  WorkerPool& workers_;
  const LaneOptions options_;
  InputJoiner joiner_;
};

}  // namespace

std::unique_ptr<Lane> CreateCpuLane(WorkerPool& workers, const LaneOptions& options) {
  return std::make_unique<CpuLane>(workers, options);
}

}  // namespace gridfold::kernels::cpu
