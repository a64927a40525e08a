#include "client/core/run.h"

#include <limits>
#include <memory>

#include "client/core/conversion.h"
#include "client/core/handles.h"
#include "client/core/last_error.h"
#include "kernels/cpu/lane/engine.h"
#include "kernels/folds/weighted_quantiles.h"

namespace gridfold::core {

namespace {

// A lane of the CPU engine holds nothing, so each call has its own.
absl::StatusOr<std::unique_ptr<kernels::Lane>> LaneOf(gridfold_engine& engine) {
  constexpr uint64_t kAnySize = std::numeric_limits<uint64_t>::max();
  return engine.engine->CreateLane({.input_bytes_max = kAnySize,
                                    .output_bytes_max = kAnySize,
                                    .bin_count_max = GRIDFOLD_BINS_MAX,
                                    .group_count_max = GRIDFOLD_GROUPS_MAX});
}

}  // namespace

absl::StatusOr<kernels::ReductionResult> Run(gridfold_engine& engine,
                                             const kernels::ReductionPlan& plan,
                                             const gridfold_array& array, uint64_t first_index) {
  const auto lane = LaneOf(engine);
  if (!lane.ok()) return lane.status();
  kernels::RunStatistics statistics;
  absl::StatusOr<kernels::ReductionResult> result =
      (*lane)->RunReduction(plan, SpanOf(&array, plan.array.size_bytes()), {}, statistics);
  if (result.ok()) kernels::ShiftIndices(first_index, *result);
  return result;
}

absl::Status Run(gridfold_engine& engine, const kernels::ScanPlan& plan,
                 const gridfold_array& array, kernels::MutableHostSpan output) {
  const auto lane = LaneOf(engine);
  if (!lane.ok()) return lane.status();
  kernels::RunStatistics statistics;
  return (*lane)->RunScan(plan, SpanOf(&array, plan.array.size_bytes()), output, {}, statistics);
}

absl::StatusOr<kernels::QuantileResult> Run(gridfold_engine& engine,
                                            const kernels::QuantilePlan& plan,
                                            const gridfold_array& array) {
  const auto lane = LaneOf(engine);
  if (!lane.ok()) return lane.status();
  kernels::RunStatistics statistics;
  return (*lane)->RunQuantiles(plan, SpanOf(&array, plan.array.size_bytes()), {}, statistics);
}

absl::StatusOr<kernels::QuantileResult> Run(gridfold_engine& engine,
                                            const kernels::WeightedQuantilePlan& plan,
                                            const gridfold_array& array,
                                            const gridfold_array& weights) {
  const auto lane = LaneOf(engine);
  if (!lane.ok()) return lane.status();
  const kernels::ArrayDescription& elements = plan.elements.array;
  const uint64_t weight_bytes = elements.element_count * kernels::ElementSize(plan.weight_type);
  kernels::RunStatistics statistics;
  return kernels::FindWeightedQuantiles(plan, SpanOf(&array, elements.size_bytes()),
                                        SpanOf(&weights, weight_bytes), **lane, {}, statistics);
}

absl::StatusOr<kernels::TopResult> Run(gridfold_engine& engine, const kernels::TopPlan& plan,
                                       const gridfold_array& array) {
  const auto lane = LaneOf(engine);
  if (!lane.ok()) return lane.status();
  kernels::RunStatistics statistics;
  return (*lane)->RunTop(plan, SpanOf(&array, plan.array.size_bytes()), {}, statistics);
}

absl::StatusOr<kernels::PairedSums> Run(gridfold_engine& engine, const kernels::PairedPlan& plan,
                                        const gridfold_columns& columns) {
  const auto lane = LaneOf(engine);
  if (!lane.ok()) return lane.status();
  kernels::RunStatistics statistics;
  return (*lane)->RunPaired(plan,
                            {.x = SpanOf(columns.x, plan.x.size_bytes()),
                             .y = SpanOf(columns.y, plan.x.size_bytes()),
                             .weights = SpanOf(columns.weights, plan.weights_bytes())},
                            {}, statistics);
}

absl::StatusOr<kernels::HistogramResult> Run(gridfold_engine& engine,
                                             const kernels::HistogramPlan& plan,
                                             const gridfold_samples& samples) {
  const auto lane = LaneOf(engine);
  if (!lane.ok()) return lane.status();
  const uint64_t weight_bytes =
      plan.weight_type.has_value()
          ? plan.array.element_count * kernels::ElementSize(*plan.weight_type)
          : 0;
  const uint64_t size_bytes = plan.array.size_bytes();
  kernels::RunStatistics statistics;
  return (*lane)->RunHistogram(plan,
                               {SpanOf(samples.x, size_bytes), SpanOf(samples.y, size_bytes),
                                SpanOf(samples.weights, weight_bytes)},
                               {}, statistics);
}

absl::StatusOr<kernels::KeyedReductionResult> Run(gridfold_engine& engine,
                                                  const kernels::KeyedReductionPlan& plan,
                                                  const KeyedArrays& arrays, uint64_t first_index) {
  const auto lane = LaneOf(engine);
  if (!lane.ok()) return lane.status();
  kernels::KeyedInput input{
      .keys = SpanOf(arrays.keys.front().array, plan.keys.size_bytes()),
      .values = SpanOf(arrays.values.array, plan.reduction.array.size_bytes())};
  for (size_t axis = 1; axis < plan.axes.size(); ++axis) {
    input.further_keys.emplace_back(
        SpanOf(arrays.keys[axis].array, plan.axes[axis].array.size_bytes()));
  }
  kernels::RunStatistics statistics;
  absl::StatusOr<kernels::KeyedReductionResult> result =
      (*lane)->RunKeyedReduction(plan, input, {}, statistics);
  if (result.ok()) kernels::ShiftIndices(first_index, result->reduction);
  return result;
}

}  // namespace gridfold::core

gridfold_status gridfold_engine_create(int32_t threads, gridfold_engine** engine) {
  using namespace gridfold;  // NOLINT
  return core::Guarded([&]() -> absl::Status {
    if (absl::Status status = core::RequireArgument(engine, "engine"); !status.ok()) return status;
    auto created = kernels::cpu::CreateCpuEngine(threads);
    if (!created.ok()) return created.status();
    *engine = new gridfold_engine{*std::move(created)};
    return absl::OkStatus();
  });
}

void gridfold_engine_free(gridfold_engine* engine) { delete engine; }
