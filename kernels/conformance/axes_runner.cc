#include "kernels/conformance/axes_runner.h"

#include <algorithm>
#include <cstddef>
#include <stop_token>
#include <utility>

#include "kernels/conformance/reduction_specs.h"
#include "kernels/folds/in_place_reduction.h"

namespace gridfold::kernels::conformance {

AxesRunner::AxesRunner(EngineUnderTest& engine)
    : engine_(engine), pool_(engine.engine().CreateResidentPool(uint64_t{64} << 20).value()) {}

absl::StatusOr<std::unique_ptr<ResidentMemory>> AxesRunner::InOrder(const Rearrangement& order,
                                                                    const TestArray& elements) {
  absl::StatusOr<std::unique_ptr<ResidentMemory>> memory =
      pool_->Allocate(order.element_count() * ElementSize(elements.type()));
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
  return Reduce(PlanAxes({elements.type(), shape}, axes), elements, std::move(spec));
}

absl::StatusOr<ReductionResult> AxesRunner::Reduce(const StridedView& view,
                                                   const TestArray& elements, AxisSet axes,
                                                   ReductionSpec spec, bool keeps_order) {
  return Reduce(PlanViewAxes(elements.type(), view, axes, keeps_order), elements, std::move(spec));
}

absl::StatusOr<ReductionResult> AxesRunner::Reduce(const AxesPlan& groups,
                                                   const TestArray& elements, ReductionSpec spec) {
  spec.grouping = {groups.grouping, {}};
  rearranged_ = groups.rearrangement.has_value();
  ran_in_place_ = false;
  const absl::StatusOr<ReductionPlan> plan = PlanReduction(groups.array, std::move(spec));
  if (!plan.ok()) return plan.status();
  RunStatistics statistics;
  if (!rearranged_) {
    return engine_.lane().RunReduction(*plan, elements.span(), std::stop_token(), statistics);
  }
  const auto input = InOrder(*groups.rearrangement, elements);
  if (!input.ok()) return input.status();
  absl::StatusOr<ReductionResult> result = engine_.lane().RunReduction(
      *plan, ResidentSpan((*input)->span()), std::stop_token(), statistics);
  if (!groups.in_place) return result;
  const auto in_place = ReduceInPlace(*plan, *groups.in_place, elements);
  ran_in_place_ = in_place.has_value();
  if (!ran_in_place_) return result;
  EXPECT_EQ(in_place->status(), result.status());
  if (!result.ok() || !in_place->ok()) return result;
  for (size_t c = 0; c < result->columns.size(); ++c) {
    EXPECT_TRUE(SameSlots((*in_place)->columns[c], result->columns[c]))
        << StatisticName(result->columns[c].statistic);
  }
  return result;
}

std::optional<absl::StatusOr<ReductionResult>> AxesRunner::ReduceInPlace(
    const ReductionPlan& plan, const GroupsInPlace& groups, const TestArray& elements) {
  const auto copy_of = [&](uint64_t size_bytes) { return pool_->Allocate(size_bytes).value(); };
  const auto memory = copy_of(elements.span().size_bytes);
  const absl::Status copied =
      engine_.lane().Copy(elements.span(), memory->span(), std::stop_token());
  EXPECT_TRUE(copied.ok()) << copied;
  const ResidentSpan input(memory->span());
  const InPlaceReduction reduction(plan, groups);
  const std::optional<uint64_t> room_bytes = reduction.RoomBytes(input, engine_.lane());
  if (!room_bytes) return std::nullopt;
  const auto room = *room_bytes > 0 ? copy_of(*room_bytes) : nullptr;
  RunStatistics statistics;
  return reduction.Run(input, room ? room->span() : MutableResidentSpan{}, engine_.lane(),
                       std::stop_token(), statistics);
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
