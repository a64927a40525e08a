#include "kernels/folds/reduction_batch.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <utility>
#include <variant>

#include "absl/status/status.h"
#include "kernels/contract/resident_memory.h"
#include "kernels/contract/segments.h"

namespace gridfold::kernels {

namespace {

using Results = std::vector<absl::StatusOr<ReductionResult>>;

// Whether the elements may show that there is no answer, or take a pass of their own.
bool IsApart(Statistic statistic, const ReductionPlan& plan) {
  const ElementType type = plan.array.element_type;
  return PossibleFailure(statistic, type, plan.nan_policy, plan.overflow_policy) !=
             ValueOutcome::kOk ||
         (statistic == Statistic::kProduct && IsFloatingPoint(type));
}

// 0 where no statistic uses them.
uint32_t DegreesOfFreedomUsed(const ReductionPlan& plan) {
  const bool are_used =
      std::any_of(plan.statistics.begin(), plan.statistics.end(),
                  [](Statistic statistic) { return TraitsOf(statistic).uses_degrees_of_freedom; });
  return are_used ? plan.delta_degrees_of_freedom : 0;
}

// Whether fewer reductions, or one, may do better.
bool ConcernsTheReductions(const absl::Status& status) {
  return absl::IsOutOfRange(status) || absl::IsInvalidArgument(status) ||
         absl::IsResourceExhausted(status);
}

void AppendSlices(const InputSpan& input, std::vector<HostSpan>& slices) {
  if (const auto* const pieces = std::get_if<HostSlices>(&input)) {
    slices.insert(slices.end(), pieces->slices.begin(), pieces->slices.end());
  } else {
    slices.push_back(std::get<HostSpan>(input));
  }
}

class BatchRun {
 public:
  BatchRun(std::span<const BatchedReduction> reductions, Lane& lane, std::stop_token stop,
           RunStatistics& statistics)
      : reductions_(reductions),
        lane_(lane),
        stop_(std::move(stop)),
        statistics_(statistics),
        results_(reductions.size(), absl::StatusOr<ReductionResult>(absl::UnknownError(""))) {}

  absl::Status Run(size_t first, size_t count) {
    if (count == 0) return absl::OkStatus();
    if (count == 1) return RunOne(first);
    const absl::StatusOr<ReductionResult> result = RunTogether(first, count);
    if (result.ok()) {
      for (size_t i = 0; i < count; ++i) Deal(*result, i, first + i);
      return absl::OkStatus();
    }
    if (!ConcernsTheReductions(result.status())) return result.status();
    const size_t half = count / 2;
    absl::Status status = Run(first, half);
    return status.ok() ? Run(first + half, count - half) : status;
  }

  Results Finish() && { return std::move(results_); }

 private:
  absl::Status RunOne(size_t index) {
    const BatchedReduction& reduction = reductions_[index];
    results_[index] = Launch(*reduction.plan, reduction.input);
    const absl::Status& status = results_[index].status();
    return status.ok() || ConcernsTheReductions(status) ? absl::OkStatus() : status;
  }

  absl::StatusOr<ReductionResult> RunTogether(size_t first, size_t count) {
    const std::span<const BatchedReduction> batch = reductions_.subspan(first, count);
    const ReductionPlan& any = *batch[0].plan;
    ReductionPlan plan{.array = {},
                       .statistics = UnionOfStatistics(batch),
                       .grouping = {},
                       .nan_policy = any.nan_policy,
                       .overflow_policy = any.overflow_policy,
                       .delta_degrees_of_freedom = DegreesOfFreedomUsed(any)};
    std::vector<HostSpan> slices;
    slices.reserve(count);
    std::vector<uint64_t> offsets = {0};
    offsets.reserve(count + 1);
    for (const BatchedReduction& reduction : batch) {
      AppendSlices(reduction.input, slices);
      offsets.push_back(offsets.back() + reduction.plan->array.element_count);
    }
    plan.array = ArrayDescription::Vector(any.array.element_type, offsets.back());
    plan.grouping = SegmentsAt(std::move(offsets));
    return Launch(plan, HostSlices{slices, plan.array.size_bytes()});
  }

  absl::StatusOr<ReductionResult> Launch(const ReductionPlan& plan, const InputSpan& input) {
    RunStatistics run;
    absl::StatusOr<ReductionResult> result = lane_.RunReduction(plan, input, stop_, run);
    statistics_.Add(run);
    return result;
  }

  // Also notes where the column of each is.
  std::vector<Statistic> UnionOfStatistics(std::span<const BatchedReduction> batch) {
    StatisticSet wanted;
    for (const BatchedReduction& reduction : batch) {
      for (const Statistic statistic : reduction.plan->statistics) wanted.Add(statistic);
    }
    std::vector<Statistic> statistics;
    for (int i = 0; i < kStatisticCount; ++i) {
      const auto statistic = static_cast<Statistic>(i);
      if (!wanted.Has(statistic)) continue;
      column_of_[i] = statistics.size();
      statistics.push_back(statistic);
    }
    return statistics;
  }

  // Gives the reduction what it asked for of one group.
  void Deal(const ReductionResult& together, size_t group, size_t index) {
    ReductionResult result;
    const std::vector<Statistic>& statistics = reductions_[index].plan->statistics;
    result.columns.reserve(statistics.size());
    for (const Statistic statistic : statistics) {
      const StatisticColumn& column = together.columns[column_of_[static_cast<int>(statistic)]];
      result.columns.push_back({statistic, column.kind, {column.slots[group]}});
    }
    results_[index] = std::move(result);
  }

  const std::span<const BatchedReduction> reductions_;
  Lane& lane_;
  const std::stop_token stop_;
  RunStatistics& statistics_;
  std::array<size_t, kStatisticCount> column_of_{};
  Results results_;
};

}  // namespace

std::optional<ReductionBatchKey> BatchKeyOf(const ReductionPlan& plan) {
  const bool is_alone = plan.return_states || !plan.strategy.empty();
  if (plan.grouping.kind != GroupingKind::kWhole || is_alone) return std::nullopt;
  ReductionBatchKey key{.element_type = plan.array.element_type,
                        .nan_policy = plan.nan_policy,
                        .overflow_policy = plan.overflow_policy,
                        .is_empty = plan.array.element_count == 0,
                        .delta_degrees_of_freedom = DegreesOfFreedomUsed(plan),
                        .statistics_apart = {}};
  for (const Statistic statistic : plan.statistics) {
    if (IsApart(statistic, plan)) key.statistics_apart.Add(statistic);
  }
  return key;
}

absl::StatusOr<std::vector<absl::StatusOr<ReductionResult>>> RunReductionBatch(
    std::span<const BatchedReduction> reductions, Lane& lane, std::stop_token stop,
    RunStatistics& statistics) {
  statistics = RunStatistics{};
  BatchRun run(reductions, lane, std::move(stop), statistics);
  if (absl::Status status = run.Run(0, reductions.size()); !status.ok()) return status;
  return std::move(run).Finish();
}

}  // namespace gridfold::kernels
