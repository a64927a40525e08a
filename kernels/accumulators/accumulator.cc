#include "kernels/accumulators/accumulator.h"

#include <algorithm>
#include <limits>
#include <utility>

#include "absl/strings/str_cat.h"
#include "kernels/accumulators/bytes.h"
#include "kernels/contract/invalid_field.h"

namespace gridfold::kernels {

namespace {

// Sets the plan's operation to what the body answers.
absl::Status SetOperation(const AccumulatorBody& body, const AccumulatorLimits& limits,
                          MergePlan& plan) {
  if (body.kind == AccumulatorKind::kReduction) {
    absl::StatusOr<ReductionPlan> reduction =
        PlanOfReductionBody(body.bytes, limits.group_count_max);
    if (!reduction.ok()) return reduction.status();
    plan.operation.emplace<ReductionPlan>(*std::move(reduction));
    return absl::OkStatus();
  }
  if (body.kind == AccumulatorKind::kKeyedReduction) {
    absl::StatusOr<KeyedMergePlan> keyed = PlanOfKeyedBody(body.bytes, limits.group_count_max);
    if (!keyed.ok()) return keyed.status();
    plan.operation.emplace<KeyedMergePlan>(*std::move(keyed));
    return absl::OkStatus();
  }
  absl::StatusOr<HistogramPlan> histogram =
      PlanOfHistogramBody(body.bytes, limits.bin_count_max, limits.channel_count_max);
  if (!histogram.ok()) return histogram.status();
  plan.operation.emplace<HistogramPlan>(*std::move(histogram));
  return absl::OkStatus();
}

// Takes another body into a plan; of the same kind as the bodies before.
absl::Status AddBody(absl::string_view body, MergePlan& plan) {
  if (auto* const histogram = std::get_if<HistogramPlan>(&plan.operation)) {
    const absl::StatusOr<uint64_t> samples = SamplesOfAgreeingBody(plan.bodies.front(), body);
    if (!samples.ok()) return samples.status();
    uint64_t& total = histogram->array.element_count;
    if (plan.combination == Combination::kMerge) {
      total += std::min(*samples, std::numeric_limits<uint64_t>::max() - total);
    } else {
      total -= std::min(*samples, total);
    }
  } else {
    const absl::Status status = std::holds_alternative<KeyedMergePlan>(plan.operation)
                                    ? CheckKeyedBodiesAgree(plan.bodies.front(), body)
                                    : CheckReductionBodiesAgree(plan.bodies.front(), body);
    if (!status.ok()) return status;
  }
  plan.bodies.push_back(body);
  return absl::OkStatus();
}

// The plan of at least one accumulator.
absl::StatusOr<MergePlan> PlanFold(Combination combination,
                                   std::span<const absl::string_view> accumulators,
                                   const AccumulatorLimits& limits, const std::stop_token& stop) {
  const auto error = [&](size_t i, const absl::Status& status) {
    return AccumulatorError(combination, i, status);
  };
  if (stop.stop_requested()) return absl::CancelledError("stopped");
  const absl::StatusOr<AccumulatorBody> first = OpenAccumulator(accumulators[0]);
  if (!first.ok()) return error(0, first.status());
  MergePlan plan{.combination = combination, .operation = {}, .bodies = {}};
  if (absl::Status status = SetOperation(*first, limits, plan); !status.ok()) {
    return error(0, status);
  }
  plan.bodies.push_back(first->bytes);
  for (size_t i = 1; i < accumulators.size(); ++i) {
    if (stop.stop_requested()) return absl::CancelledError("stopped");
    const absl::StatusOr<AccumulatorBody> body = OpenAccumulator(accumulators[i]);
    if (!body.ok()) return error(i, body.status());
    if (body->kind != first->kind) {
      return error(i, absl::InvalidArgumentError("its operation is not the first one's"));
    }
    if (absl::Status status = AddBody(body->bytes, plan); !status.ok()) return error(i, status);
  }
  return plan;
}

}  // namespace

absl::StatusOr<MergePlan> PlanMerge(std::span<const absl::string_view> accumulators,
                                    const AccumulatorLimits& limits, const std::stop_token& stop) {
  if (accumulators.empty()) return InvalidField("accumulators", "at least one is needed");
  return PlanFold(Combination::kMerge, accumulators, limits, stop);
}

absl::StatusOr<MergePlan> PlanSubtraction(absl::string_view minuend,
                                          std::span<const absl::string_view> subtrahends,
                                          const AccumulatorLimits& limits,
                                          const std::stop_token& stop) {
  if (subtrahends.empty()) return InvalidField("subtrahends", "at least one is needed");
  std::vector<absl::string_view> accumulators = {minuend};
  accumulators.insert(accumulators.end(), subtrahends.begin(), subtrahends.end());
  absl::StatusOr<MergePlan> plan = PlanFold(Combination::kSubtract, accumulators, limits, stop);
  if (!plan.ok()) return plan;
  if (const auto* const reduction = std::get_if<ReductionPlan>(&plan->operation)) {
    absl::Status status = CheckCanBeSubtracted(*reduction);
    if (!status.ok()) return AccumulatorError(Combination::kSubtract, 0, status);
  }
  if (std::holds_alternative<KeyedMergePlan>(plan->operation)) {
    return InvalidField("minuend", "accumulators of found keys cannot be taken out of each other");
  }
  return plan;
}

absl::StatusOr<AccumulatedOperation> MergedOperation(absl::string_view accumulator,
                                                     const AccumulatorLimits& limits) {
  const absl::StatusOr<AccumulatorBody> body = OpenAccumulator(accumulator);
  if (!body.ok()) return body.status();
  MergePlan plan;
  if (absl::Status status = SetOperation(*body, limits, plan); !status.ok()) return status;
  return std::move(plan.operation);
}

absl::StatusOr<MergedAnswer> RunMerge(const MergePlan& plan, bool partial,
                                      const std::stop_token& stop) {
  if (const auto* reduction = std::get_if<ReductionPlan>(&plan.operation)) {
    absl::StatusOr<ReductionMerge> merge =
        FoldReductions(plan.combination, *reduction, plan.bodies, partial, stop);
    if (!merge.ok()) return merge.status();
    return MergedAnswer(*std::move(merge));
  }
  if (const auto* keyed = std::get_if<KeyedMergePlan>(&plan.operation)) {
    absl::StatusOr<KeyedMerge> merge = MergeKeyed(*keyed, plan.bodies, partial, stop);
    if (!merge.ok()) return merge.status();
    return MergedAnswer(*std::move(merge));
  }
  absl::StatusOr<HistogramMerge> merge =
      FoldHistograms(plan.combination, std::get<HistogramPlan>(plan.operation), plan.bodies, stop);
  if (!merge.ok()) return merge.status();
  return MergedAnswer(*std::move(merge));
}

}  // namespace gridfold::kernels
