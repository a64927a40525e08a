// Jobs on large arrays in mapped host memory, in parts that are copied to the device one ahead of
// the kernels. Folds make one answer of the parts, with the bits of one run.
#include <algorithm>
#include <atomic>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "absl/cleanup/cleanup.h"
#include "kernels/cuda/device/status.h"
#include "kernels/cuda/lane/lane.h"
#include "kernels/folds/histogram_fold.h"
#include "kernels/folds/reduction_parts.h"

namespace gridfold::kernels::cuda {

namespace {

static_assert(kCopiedBytesMin > kWholeGroupBytesMax + kInputArrayCountMax * kArrayAlignmentBytes);

const std::byte* DataOf(const InputSpan& input) { return std::get<ResidentSpan>(input).data; }

// The strategy stays that of the first part: the last may be so small that other kernels suit it.
void AddPart(const RunStatistics& part, RunStatistics& statistics) {
  const bool is_first = statistics.strategy.empty();
  const std::string strategy = is_first ? part.strategy : statistics.strategy;
  const uint32_t cluster_size = is_first ? part.cluster_size : statistics.cluster_size;
  statistics.Add(part);
  statistics.strategy = strategy;
  statistics.cluster_size = cluster_size;
}

}  // namespace

std::span<std::byte> CudaLane::PartPlaces() const {
  return {memory_.input.data(), std::min(memory_.input.size_bytes(), 2 * kPartBytesMax)};
}

bool CudaLane::ReducesInParts(const ReductionPlan& plan, const InputSpan& input) const {
  if (!plan.strategy.empty()) return false;
  const uint64_t part_bytes = PartPlaces().size() / 2;
  if (part_bytes < kCopiedBytesMin || SizeBytes(input) <= part_bytes) return false;
  const uint64_t state_bytes_max =
      std::min(part_bytes / kPartBytesPerStateByte, options_.output_bytes_max);
  if (!CanReduceInParts(plan, state_bytes_max)) return false;
  return IsLargeAndMapped(input);
}

absl::StatusOr<ReductionResult> CudaLane::ReduceInParts(const ReductionPlan& plan,
                                                        const InputSpan& input,
                                                        const std::stop_token& stop,
                                                        RunStatistics& statistics) {
  statistics = RunStatistics{};
  const absl::StatusOr<std::unique_ptr<ReductionFold>> fold = MakePartsFold(plan, options_);
  if (!fold.ok()) return fold.status();
  const PartArray array{DataOf(input), ElementSize(plan.array.element_type)};

  const auto run_batch = [&](const ReductionPlan& batch, const Part& part,
                             uint64_t used_bytes) -> absl::StatusOr<ReductionResult> {
    const ResidentSpan elements{part.arrays[0] + used_bytes, batch.array.size_bytes()};
    ReductionResult result = MakeReductionResult(batch);
    const absl::Status status = RunPart(part, statistics, [&](RunStatistics& run) {
      const auto stage = [&] { return StageReductionInput(batch, elements, stop); };
      return Reduce(batch, stage, stop, run, result);
    });
    if (!status.ok()) return status;
    return result;
  };
  const absl::Status status = ForEachPart(
      std::span(&array, 1), plan.array.element_count,
      [&](uint64_t begin, uint64_t elements_max) {
        return PartElements(plan, begin, elements_max);
      },
      [&](const Part& part) -> absl::Status {
        const uint64_t size_bytes = part.element_count * array.element_bytes;
        for (uint64_t used_bytes = 0; used_bytes < size_bytes;) {
          const absl::StatusOr<std::optional<ReductionPlan>> batch =
              (*fold)->NextBatch(size_bytes - used_bytes);
          if (!batch.ok()) return batch.status();
          if (!batch->has_value()) return absl::InternalError("a part was cut inside a group");
          const absl::StatusOr<uint64_t> taken =
              (*fold)->Add(**batch, run_batch(**batch, part, used_bytes));
          if (!taken.ok()) return taken.status();
          used_bytes += *taken;
        }
        return absl::OkStatus();
      });
  if (!status.ok()) return status;
  absl::StatusOr<ReductionMerge> answer = (*fold)->Finish(0);
  if (!answer.ok()) return answer.status();
  return std::move(answer->result);
}

bool CudaLane::CountsInParts(const HistogramPlan& plan, const HistogramInput& input) const {
  if (!plan.strategy.empty()) return false;
  const InputSpan* const inputs[] = {&input.array, &input.y_array, &input.weights};
  const uint64_t part_bytes = PartPlaces().size() / 2;
  uint64_t size_bytes = 0;
  for (const InputSpan* const array : inputs) size_bytes += SizeBytes(*array);
  if (part_bytes < kCopiedBytesMin || size_bytes <= part_bytes) return false;
  // Only all samples together tell a range.
  if (plan.needs_range() || CounterBytes(plan) > part_bytes / kPartBytesPerStateByte) return false;
  for (const InputSpan* const array : inputs) {
    if (SizeBytes(*array) > 0 && !IsLargeAndMapped(*array)) return false;
  }
  return true;
}

absl::StatusOr<HistogramResult> CudaLane::CountInParts(const HistogramPlan& plan,
                                                       const HistogramInput& input,
                                                       const std::stop_token& stop,
                                                       RunStatistics& statistics) {
  statistics = RunStatistics{};
  HistogramPlan no_samples = plan;
  no_samples.array = ArrayDescription::Vector(plan.array.element_type, 0);
  const absl::StatusOr<std::unique_ptr<HistogramFold>> fold =
      HistogramFold::Make(std::move(no_samples), options_);
  if (!fold.ok()) return fold.status();
  const uint64_t element_bytes = ElementSize(plan.array.element_type);
  std::vector<PartArray> arrays = {{DataOf(input.array), element_bytes}};
  if (plan.two_dimensional) arrays.push_back({DataOf(input.y_array), element_bytes});
  if (plan.weight_type) arrays.push_back({DataOf(input.weights), ElementSize(*plan.weight_type)});

  const absl::Status status = ForEachPart(
      arrays, plan.array.element_count,
      [&](uint64_t begin, uint64_t elements_max) {
        return std::min(elements_max - elements_max % plan.channel_count,
                        plan.array.element_count - begin);
      },
      [&](const Part& part) -> absl::Status {
        const HistogramPlan* const batch = (*fold)->NextBatch(part.element_count);
        if (batch == nullptr || batch->array.element_count != part.element_count) {
          return absl::InternalError("a part of samples is no batch");
        }
        const auto elements = [&](size_t i) {
          return ResidentSpan{part.arrays[i], part.element_count * arrays[i].element_bytes};
        };
        HistogramInput part_input{.array = elements(0), .y_array = {}, .weights = {}};
        if (plan.two_dimensional) part_input.y_array = elements(1);
        if (plan.weight_type) part_input.weights = elements(arrays.size() - 1);
        HistogramResult result;
        const absl::Status counted = RunPart(part, statistics, [&](RunStatistics& run) {
          return Histogram(*batch, part_input, stop, run, result);
        });
        if (counted.ok()) (*fold)->Add(result);
        return counted;
      });
  if (!status.ok()) return status;
  return std::move(**fold).TakeResult();
}

absl::Status CudaLane::RunPart(const Part& part, RunStatistics& statistics,
                               absl::FunctionRef<absl::Status(RunStatistics&)> operation) {
  RunStatistics run;
  const absl::Status status = Run(run, [&] {
    absl::Status copied = timer_.Mark(JobTimer::Point::kStagingBegins, stream_.get());
    if (copied.ok()) copied = part_copier_.Await(part, stream_.get());
    return copied.ok() ? operation(run) : copied;
  });
  AddPart(run, statistics);
  return status;
}

absl::Status CudaLane::ForEachPart(std::span<const PartArray> arrays, uint64_t element_count,
                                   absl::FunctionRef<uint64_t(uint64_t, uint64_t)> elements_of,
                                   absl::FunctionRef<absl::Status(const Part&)> run) {
  // The first copy begins before the first part runs.
  absl::Status status = SelectDevice();
  absl::Cleanup settle = [this] { SettleCopies().IgnoreError(); };
  if (status.ok()) {
    status = part_copier_.ForEachPart(arrays, element_count, PartPlaces(), elements_of, run);
  }
  std::move(settle).Cancel();
  const absl::Status idle = SettleCopies();
  if (status.ok()) status = idle;
  if (IsDeviceLost(status)) healthy_.store(false, std::memory_order_relaxed);
  return status;
}

absl::Status CudaLane::SettleCopies() {
  absl::Status idle = part_copier_.Synchronize();
  if (!idle.ok()) healthy_.store(false, std::memory_order_relaxed);
  return idle;
}

}  // namespace gridfold::kernels::cuda
