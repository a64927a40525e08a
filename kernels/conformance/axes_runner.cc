#include "kernels/conformance/axes_runner.h"

#include <algorithm>
#include <cstddef>
#include <stop_token>
#include <utility>

namespace gridfold::kernels::conformance {

AxesRunner::AxesRunner(EngineUnderTest& engine)
    : engine_(engine), pool_(engine.engine().CreateResidentPool(uint64_t{64} << 20).value()) {}

absl::StatusOr<std::unique_ptr<ResidentMemory>> AxesRunner::InOrder(const Rearrangement& order,
                                                                    const TestArray& elements) {
  absl::StatusOr<std::unique_ptr<ResidentMemory>> memory =
      pool_->Allocate(elements.span().size_bytes);
  if (!memory.ok()) return memory;
  RunStatistics statistics;
  absl::Status status =
      engine_.lane().Rearrange(order, ElementSize(elements.type()), elements.span(),
                               (*memory)->span(), std::stop_token(), statistics);
  if (!status.ok()) return status;
  return memory;
}

absl::StatusOr<ReductionResult> AxesRunner::Reduce(const kernels::Shape& shape,
                                                   const TestArray& elements, AxisSet axes,
                                                   ReductionSpec spec) {
  const AxesPlan groups = PlanAxes({elements.type(), shape}, axes);
  spec.grouping = {groups.grouping, {}};
  rearranged_ = groups.rearrangement.has_value();
  const absl::StatusOr<ReductionPlan> plan = PlanReduction(groups.array, std::move(spec));
  if (!plan.ok()) return plan.status();
  RunStatistics statistics;
  if (!rearranged_) {
    return engine_.lane().RunReduction(*plan, elements.span(), std::stop_token(), statistics);
  }
  const auto input = InOrder(*groups.rearrangement, elements);
  if (!input.ok()) return input.status();
  return engine_.lane().RunReduction(*plan, ResidentSpan((*input)->span()), std::stop_token(),
                                     statistics);
}

absl::StatusOr<QuantileResult> AxesRunner::Quantiles(const kernels::Shape& shape,
                                                     const TestArray& elements, AxisSet axes,
                                                     QuantileSpec spec) {
  const AxesPlan groups = PlanContiguousAxes({elements.type(), shape}, axes);
  spec.grouping = {groups.grouping, {}};
  rearranged_ = groups.rearrangement.has_value();
  const absl::StatusOr<QuantilePlan> plan = PlanQuantiles(groups.array, std::move(spec));
  if (!plan.ok()) return plan.status();
  RunStatistics statistics;
  if (!rearranged_) {
    return engine_.lane().RunQuantiles(*plan, elements.span(), std::stop_token(), statistics);
  }
  const auto input = InOrder(*groups.rearrangement, elements);
  if (!input.ok()) return input.status();
  return engine_.lane().RunQuantiles(*plan, ResidentSpan((*input)->span()), std::stop_token(),
                                     statistics);
}

absl::StatusOr<TestArray> AxesRunner::Scan(const kernels::Shape& shape, const TestArray& elements,
                                           int axis, ScanSpec spec) {
  const AxesPlan groups = PlanAxes({elements.type(), shape}, AxisBit(axis));
  spec.grouping = {groups.grouping, {}};
  rearranged_ = groups.rearrangement.has_value();
  const absl::StatusOr<ScanPlan> plan = PlanScan(groups.array, std::move(spec));
  if (!plan.ok()) return plan.status();
  TestArray results(ArrayDescription::Vector(plan->output_type, elements.size()), 1);
  std::fill_n(results.mutable_data(), plan->output_size_bytes(), std::byte{0xCD});
  RunStatistics statistics;
  absl::Status status;
  if (!rearranged_) {
    status = engine_.lane().RunScan(*plan, elements.span(), results.mutable_span(),
                                    std::stop_token(), statistics);
  } else {
    const auto input = InOrder(*groups.rearrangement, elements);
    if (!input.ok()) return input.status();
    const auto output = pool_->Allocate(plan->output_size_bytes());
    if (!output.ok()) return output.status();
    const MutableResidentSpan output_span = (*output)->span();
    status = engine_.lane().RunScan(*plan, ResidentSpan((*input)->span()), output_span,
                                    std::stop_token(), statistics);
    if (!status.ok()) return status;
    status = engine_.lane().Rearrange(groups.rearrangement->Inverse(),
                                      ElementSize(plan->output_type), ResidentSpan(output_span),
                                      results.mutable_span(), std::stop_token(), statistics);
  }
  EXPECT_TRUE(results.SurroundingsAreIntact());
  if (!status.ok()) return status;
  return results;
}

}  // namespace gridfold::kernels::conformance
