#include "server/compute/planned_run.h"

#include <cstddef>
#include <optional>
#include <string>
#include <utility>
#include <variant>

#include "kernels/accumulators/accumulator.h"
#include "kernels/contract/histogram_outline.h"
#include "server/compute/bin_rule_run.h"
#include "server/compute/rearranged_run.h"
#include "server/compute/selected_run.h"
#include "server/compute/tolerant_run.h"
#include "server/compute/truth_check.h"
#include "server/planning/placement.h"
#include "server/wire/answer_conversion.h"
#include "server/wire/description_conversion.h"
#include "server/wire/proto_conversion.h"

namespace gridfold::server {

namespace {

// Whether a scan of truth values gives such.
bool HasBoolResults(const PlannedScan& planned) {
  return planned.input.is_bool && planned.plan.output_type == kernels::ElementType::kUint8;
}

// Of a region that the mask lies in.
absl::Status EndUse(const std::optional<PlannedSelection>& selection) {
  if (!selection || !selection->mask) return absl::OkStatus();
  return server::EndUse(selection->mask->region);
}

absl::StatusOr<v1::ScanArrayResponse> ScanInline(const PlannedScan& planned,
                                                 kernels::MutableHostSpan data, kernels::Lane& lane,
                                                 std::stop_token stop,
                                                 kernels::RunStatistics& statistics) {
  v1::ScanArrayResponse response;
  DescribeScanned(planned, response);
  absl::Status status = ScanInOrder(planned, data, lane, stop, statistics);
  if (!status.ok()) return status;
  return response;
}

absl::StatusOr<v1::ScanArrayResponse> ScanToRegion(const PlannedScan& planned, kernels::Lane& lane,
                                                   std::stop_token stop,
                                                   kernels::RunStatistics& statistics) {
  const auto& result = std::get<RegionResult>(planned.result);
  absl::Status status = ScanInOrder(planned, result.place, lane, stop, statistics);
  if (!status.ok()) return status;
  v1::ScanArrayResponse response;
  DescribeScanned(planned, response);
  return response;
}

// Engines do not scan over their input, so a result in place is copied there when it is complete.
absl::StatusOr<v1::ScanArrayResponse> ScanToArray(const PlannedScan& planned, kernels::Lane& lane,
                                                  const std::stop_token& stop,
                                                  kernels::RunStatistics& statistics) {
  kernels::ShapedArray description(planned.plan.output_type, planned.input.shape);
  description.is_bool = HasBoolResults(planned);
  const auto* const made = std::get_if<NewArrayResult>(&planned.result);
  absl::StatusOr<ArrayLease> output = planned.arrays.Allocate(
      description, made != nullptr ? made->engine : planned.input.resident->engine());
  if (!output.ok()) return output.status();
  const kernels::MutableResidentSpan results = (*output)->span();
  absl::Status status = ScanInOrder(planned, results, lane, stop, statistics);
  if (!status.ok()) return status;
  v1::ScanArrayResponse response;
  if (made != nullptr) {
    const absl::StatusOr<ArrayInfo> info =
        planned.arrays.Insert(made->name, made->idle_expiry, *std::move(output));
    if (!info.ok()) return info.status();
    *response.mutable_resident_array() = ToWire(*info);
    return response;
  }
  const ResidentSlice& slice = *planned.input.resident;
  // Not to be stopped: half of it would be neither the input nor the result.
  status = lane.Copy(kernels::ResidentSpan(results), slice.span(), std::stop_token());
  if (!status.ok()) return status;
  slice.lease->MarkUsed();
  *response.mutable_resident_array() = ToWire(slice.array);
  return response;
}

absl::StatusOr<v1::ReduceArrayResponse> Run(const PlannedReduction& planned, kernels::Lane& lane,
                                            const std::stop_token& stop,
                                            kernels::RunStatistics& statistics) {
  if (absl::Status status = CheckTruths(planned.input, lane, stop); !status.ok()) return status;
  if (planned.tolerant || planned.selection) return RunTolerantly(planned, lane, stop, statistics);
  return MakeAnswer(
      planned, ReduceInOrder(planned, PlanForLane(planned.plan), lane, stop, statistics), stop);
}

absl::StatusOr<v1::ScanArrayResponse> Run(const PlannedScan& planned, kernels::MutableHostSpan data,
                                          kernels::Lane& lane, std::stop_token stop,
                                          kernels::RunStatistics& statistics) {
  if (absl::Status status = CheckTruths(planned.input, lane, stop); !status.ok()) return status;
  if (std::holds_alternative<InlineResult>(planned.result)) {
    return ScanInline(planned, data, lane, std::move(stop), statistics);
  }
  if (std::holds_alternative<RegionResult>(planned.result)) {
    return ScanToRegion(planned, lane, std::move(stop), statistics);
  }
  return ScanToArray(planned, lane, stop, statistics);
}

absl::StatusOr<v1::ComputeHistogramResponse> Run(const PlannedHistogram& planned,
                                                 kernels::Lane& lane, const std::stop_token& stop,
                                                 kernels::RunStatistics& statistics) {
  kernels::HistogramPlan plan = planned.plan;
  if (!planned.rule) {
    if (absl::Status status = kernels::CompletePlan(stop, plan); !status.ok()) return status;
  }
  for (const InputArray& array : planned.truths) {
    if (absl::Status status = CheckTruths(array, lane, stop); !status.ok()) return status;
  }
  SelectedSamples samples{planned.input, {}};
  if (planned.selection) {
    absl::StatusOr<SelectedSamples> selected = SelectSamples(planned, lane, stop, plan, statistics);
    if (!selected.ok()) return selected.status();
    samples = *std::move(selected);
  }
  if (planned.rule) {
    absl::Status status = ApplyRule(planned, samples.input.array, lane, stop, plan, statistics);
    if (!status.ok()) return status;
  }
  kernels::RunStatistics run;
  const absl::StatusOr<kernels::HistogramResult> result =
      lane.RunHistogram(PlanForLane(plan), samples.input, stop, run);
  statistics.Add(run);
  return MakeAnswer(plan, planned.is_compact, result, stop);
}

}  // namespace

kernels::ReductionPlan PlanForLane(const kernels::ReductionPlan& plan) {
  return plan.return_states ? kernels::PlanStates(plan) : plan;
}

kernels::HistogramPlan PlanForLane(const kernels::HistogramPlan& plan) {
  return plan.return_states ? kernels::PlanStates(plan) : plan;
}

absl::StatusOr<v1::ReduceArrayResponse> MakeAnswer(const PlannedReduction& planned,
                                                   absl::StatusOr<kernels::ReductionResult> result,
                                                   const std::stop_token& stop) {
  if (!result.ok()) return result.status();
  if (!planned.plan.return_states) return MakeResponse(planned, *std::move(result));
  kernels::ShiftIndices(planned.first_index, *result);
  absl::StatusOr<kernels::ReductionMerge> part =
      kernels::MakeReductionPart(planned.plan, result->states, stop);
  if (!part.ok()) return part.status();
  v1::ReduceArrayResponse response;
  FillAnswer(planned, part->result, response);
  response.set_accumulator(std::move(part->accumulator));
  return response;
}

absl::StatusOr<v1::ComputeHistogramResponse> MakeAnswer(
    const kernels::HistogramPlan& plan, bool is_compact,
    const absl::StatusOr<kernels::HistogramResult>& result, const std::stop_token& stop) {
  if (!result.ok()) return result.status();
  v1::ComputeHistogramResponse response;
  if (!plan.return_states) {
    FillResponse(*result, is_compact, response);
    return response;
  }
  absl::StatusOr<kernels::HistogramMerge> part = kernels::MakeHistogramPart(plan, *result, stop);
  if (!part.ok()) return part.status();
  FillResponse(part->result, is_compact, response);
  response.set_accumulator(std::move(part->accumulator));
  return response;
}

absl::Status EndUse(const RegionLease& region) {
  return region == nullptr ? absl::OkStatus() : region->EndUse();
}

absl::StatusOr<v1::ReduceArrayResponse> RunPlanned(const PlannedReduction& planned,
                                                   kernels::Lane& lane, std::stop_token stop,
                                                   kernels::RunStatistics& statistics) {
  absl::StatusOr<v1::ReduceArrayResponse> response =
      Run(planned, lane, std::move(stop), statistics);
  if (absl::Status status = EndUse(planned.input.region); !status.ok()) return status;
  if (absl::Status status = EndUse(planned.selection); !status.ok()) return status;
  return response;
}

void FillAnswer(const PlannedReduction& planned, const kernels::ReductionResult& result,
                v1::ReduceArrayResponse& response) {
  FillResponse(planned.plan, result, response, planned.input.is_bool);
  AddShape(planned.result_shape, *response.mutable_result_shape());
}

v1::ReduceArrayResponse MakeResponse(const PlannedReduction& planned,
                                     kernels::ReductionResult result) {
  kernels::ShiftIndices(planned.first_index, result);
  v1::ReduceArrayResponse response;
  FillAnswer(planned, result, response);
  return response;
}

void DescribeScanned(const PlannedScan& planned, v1::ScanArrayResponse& response) {
  const auto describe = [&](auto& array) {
    array.set_element_type(ToWire(planned.plan.output_type, HasBoolResults(planned)));
    AddShape(planned.input.shape, *array.mutable_shape());
    array.set_zero_dimensional(planned.input.shape.dimension_count() == 0);
  };
  const auto* const result = std::get_if<RegionResult>(&planned.result);
  if (result == nullptr) {
    describe(*response.mutable_inline_array());
    return;
  }
  v1::RegionSlice& slice = *response.mutable_region_slice();
  slice.set_name(result->name);
  slice.set_offset_bytes(result->offset_bytes);
  describe(slice);
}

absl::StatusOr<v1::ScanArrayResponse> RunPlanned(const PlannedScan& planned,
                                                 kernels::MutableHostSpan data, kernels::Lane& lane,
                                                 std::stop_token stop,
                                                 kernels::RunStatistics& statistics) {
  absl::StatusOr<v1::ScanArrayResponse> response =
      Run(planned, data, lane, std::move(stop), statistics);
  if (absl::Status status = EndUse(planned.input.region); !status.ok()) return status;
  if (absl::Status status = EndUse(planned.selection); !status.ok()) return status;
  if (const auto* const result = std::get_if<RegionResult>(&planned.result)) {
    if (absl::Status status = EndUse(result->region); !status.ok()) return status;
  }
  return response;
}

absl::StatusOr<ScanAnswer> RunPlanned(const PlannedScan& planned, kernels::Lane& lane,
                                      std::stop_token stop, kernels::RunStatistics& statistics) {
  ChunkData data(InlineResultBytes(planned));
  absl::StatusOr<v1::ScanArrayResponse> response =
      RunPlanned(planned, {data.data(), data.size_bytes()}, lane, std::move(stop), statistics);
  if (!response.ok()) return response.status();
  return ScanAnswer{*std::move(response), std::move(data)};
}

absl::StatusOr<v1::ComputeHistogramResponse> RunPlanned(const PlannedHistogram& planned,
                                                        kernels::Lane& lane, std::stop_token stop,
                                                        kernels::RunStatistics& statistics) {
  absl::StatusOr<v1::ComputeHistogramResponse> response =
      Run(planned, lane, std::move(stop), statistics);
  for (const RegionLease& region : planned.regions) {
    if (absl::Status status = EndUse(region); !status.ok()) return status;
  }
  return response;
}

absl::StatusOr<v1::ComputeQuantilesResponse> RunPlanned(const PlannedQuantiles& planned,
                                                        kernels::Lane& lane, std::stop_token stop,
                                                        kernels::RunStatistics& statistics) {
  const absl::StatusOr<kernels::QuantileResult> result =
      QuantilesInOrder(planned, lane, stop, statistics);
  if (absl::Status status = EndUse(planned.input.region); !status.ok()) return status;
  if (planned.weights) {
    if (absl::Status status = EndUse(planned.weights->region); !status.ok()) return status;
  }
  if (!result.ok()) return result.status();
  v1::ComputeQuantilesResponse response;
  FillResponse(planned.plan, *result, response);
  AddShape(planned.result_shape, *response.mutable_result_shape());
  return response;
}

absl::StatusOr<v1::SelectTopResponse> RunPlanned(const PlannedTop& planned, kernels::Lane& lane,
                                                 std::stop_token stop,
                                                 kernels::RunStatistics& statistics) {
  const absl::StatusOr<kernels::TopResult> result = TopInOrder(planned, lane, stop, statistics);
  if (absl::Status status = EndUse(planned.input.region); !status.ok()) return status;
  if (!result.ok()) return result.status();
  v1::SelectTopResponse response;
  FillResponse(planned.plan, *result, response);
  AddShape(planned.group_shape, *response.mutable_result_shape());
  response.add_result_shape(planned.plan.count);
  return response;
}

absl::StatusOr<v1::CreateArrayResponse> RunPlanned(const PlannedCreation& planned,
                                                   kernels::Lane& lane, std::stop_token stop,
                                                   kernels::RunStatistics& statistics) {
  statistics.strategy = "create";
  absl::StatusOr<ArrayLease> array = planned.arrays.Allocate(planned.description, planned.engine);
  if (!array.ok()) return array.status();
  // The memory may have held another tenant's elements.
  if (absl::Status status = lane.Clear((*array)->span(), std::move(stop)); !status.ok()) {
    return status;
  }
  const absl::StatusOr<ArrayInfo> info =
      planned.arrays.Insert(planned.name, planned.idle_expiry, *std::move(array));
  if (!info.ok()) return info.status();
  v1::CreateArrayResponse response;
  *response.mutable_array() = ToWire(*info);
  return response;
}

absl::StatusOr<v1::RegisterRegionResponse> RunPlanned(const PlannedRegistration& planned,
                                                      kernels::Lane&, std::stop_token,
                                                      kernels::RunStatistics& statistics) {
  statistics.strategy = "register";
  const absl::StatusOr<RegionInfo> info = planned.regions.Register(planned.region);
  if (!info.ok()) return info.status();
  v1::RegisterRegionResponse response;
  *response.mutable_region() = ToWire(*info);
  return response;
}

}  // namespace gridfold::server
