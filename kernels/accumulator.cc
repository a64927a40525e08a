#include "kernels/accumulator.h"

#include <algorithm>
#include <limits>
#include <utility>

#include "absl/strings/str_cat.h"
#include "kernels/accumulator_bytes.h"
#include "kernels/invalid_field.h"

namespace gridfold::kernels {

namespace {

using Operation = std::variant<ReductionPlan, HistogramPlan>;

absl::StatusOr<Operation> PlanOf(const AccumulatorBody& body, const AccumulatorLimits& limits) {
  if (body.kind == AccumulatorKind::kReduction) {
    absl::StatusOr<ReductionPlan> plan = PlanOfReductionBody(body.bytes, limits.group_count_max);
    if (!plan.ok()) return plan.status();
    return Operation(*std::move(plan));
  }
  absl::StatusOr<HistogramPlan> plan =
      PlanOfHistogramBody(body.bytes, limits.bin_count_max, limits.channel_count_max);
  if (!plan.ok()) return plan.status();
  return Operation(*std::move(plan));
}

// Takes another body into a plan; of the same kind as the bodies before.
absl::Status AddBody(absl::string_view body, MergePlan& plan) {
  if (auto* const histogram = std::get_if<HistogramPlan>(&plan.operation)) {
    const absl::StatusOr<uint64_t> samples = SamplesOfAgreeingBody(plan.bodies.front(), body);
    if (!samples.ok()) return samples.status();
    uint64_t& total = histogram->array.element_count;
    total += std::min(*samples, std::numeric_limits<uint64_t>::max() - total);
  } else if (absl::Status status = CheckReductionBodiesAgree(plan.bodies.front(), body);
             !status.ok()) {
    return status;
  }
  plan.bodies.push_back(body);
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<MergePlan> PlanMerge(std::span<const absl::string_view> accumulators,
                                    const AccumulatorLimits& limits, const std::stop_token& stop) {
  if (accumulators.empty()) return InvalidField("accumulators", "at least one is needed");
  MergePlan plan;
  AccumulatorKind kind{};
  for (size_t i = 0; i < accumulators.size(); ++i) {
    if (stop.stop_requested()) return absl::CancelledError("stopped");
    const absl::StatusOr<AccumulatorBody> body = OpenAccumulator(accumulators[i]);
    if (!body.ok()) return AccumulatorError(i, body.status());
    if (i == 0) {
      absl::StatusOr<Operation> operation = PlanOf(*body, limits);
      if (!operation.ok()) return AccumulatorError(i, operation.status());
      plan.operation = *std::move(operation);
      plan.bodies.push_back(body->bytes);
      kind = body->kind;
      continue;
    }
    if (body->kind != kind) {
      return AccumulatorError(i,
                              absl::InvalidArgumentError("its operation is not the first one's"));
    }
    if (absl::Status status = AddBody(body->bytes, plan); !status.ok())
      return AccumulatorError(i, status);
  }
  return plan;
}

absl::StatusOr<MergedAnswer> RunMerge(const MergePlan& plan, bool partial,
                                      const std::stop_token& stop) {
  if (const auto* reduction = std::get_if<ReductionPlan>(&plan.operation)) {
    absl::StatusOr<ReductionMerge> merge = MergeReductions(*reduction, plan.bodies, partial, stop);
    if (!merge.ok()) return merge.status();
    return MergedAnswer(*std::move(merge));
  }
  absl::StatusOr<HistogramMerge> merge =
      MergeHistograms(std::get<HistogramPlan>(plan.operation), plan.bodies, stop);
  if (!merge.ok()) return merge.status();
  return MergedAnswer(*std::move(merge));
}

}  // namespace gridfold::kernels
