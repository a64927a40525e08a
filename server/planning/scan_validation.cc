// Plans scans: PlanRequest and PlanStream of their requests.
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "kernels/contract/invalid_field.h"
#include "server/planning/answer_size.h"
#include "server/planning/array_request_validation.h"
#include "server/planning/array_validation.h"
#include "server/planning/axes_validation.h"
#include "server/planning/placement.h"
#include "server/planning/request_validation.h"
#include "server/planning/validation_steps.h"
#include "server/wire/proto_conversion.h"

namespace gridfold::server {

namespace {

using kernels::InvalidField;

// Everything that the request says of the operation but for the groups.
absl::Status ConvertSpec(const v1::ScanArrayRequest& request, kernels::ScanSpec& spec) {
  spec.exact = request.exact();
  if (request.has_window()) spec.window = request.window();
  spec.min_count = request.min_count();
  return FirstError(
      ConvertStrategy(request, spec.strategy),
      Assign(FromWire(request.operation(), "operation"), spec.operation),
      Assign(FromWire(request.mode(), "mode"), spec.mode),
      Assign(FromWire(request.direction(), "direction"), spec.direction),
      ConvertOutputType(request, spec.output_type),
      Assign(FromWire(request.nan_policy(), "nan_policy"), spec.nan_policy),
      Assign(FromWire(request.overflow_policy(), "overflow_policy"), spec.overflow_policy));
}

// Sums and products of truth values are uint64, means float64, minima and maxima such values.
absl::Status CheckTypeOfTruths(const v1::ScanArrayRequest& request, const kernels::ScanSpec& spec) {
  if (spec.operation == kernels::ScanOperation::kMean) return absl::OkStatus();  // As of integers.
  const bool is_extreme = spec.operation == kernels::ScanOperation::kMin ||
                          spec.operation == kernels::ScanOperation::kMax;
  const bool fits = is_extreme ? IsBool(request.output_type())
                               : spec.output_type == kernels::ElementType::kUint64;
  if (fits || !spec.output_type) return absl::OkStatus();
  return InvalidField("output_type", is_extreme ? "minima and maxima of bool are bool"
                                                : "sums and products of bool are uint64");
}

// Whether it is known how many elements of a window count, where that matters.
absl::Status CheckSelectedCount(const kernels::ScanPlan& plan) {
  const bool counts = plan.operation == kernels::ScanOperation::kMean || plan.min_count > 0;
  const bool leaves_out = kernels::IsFloatingPoint(plan.array.element_type) &&
                          plan.nan_policy == kernels::NanPolicy::kIgnore;
  if (!counts || leaves_out) return absl::OkStatus();
  return InvalidField(
      "where",
      "means and a min_count go with one only of floating-point elements whose NaNs "
      "are ignored");
}

// The elements of `planned.input` that count.
absl::Status PlanSelected(const v1::ScanArrayRequest& request, const PlanningContext& context,
                          PlannedScan& planned) {
  if (absl::Status status = CheckSelectedCount(planned.plan); !status.ok()) return status;
  return Assign(PlanSelection(&request.where(), planned.input, context), planned.selection);
}

// Where the scan runs, and has its arrays: on one device, unless those that have shards of the
// input scan them. No engine hands out the carries of columns or what a window holds, or writes to
// another one's memory.
absl::Status PlanPlace(const v1::ScanArrayRequest& request, const PlannedGroups& groups,
                       const PlanningContext& context, PlannedScan& planned) {
  const auto* const region = std::get_if<RegionResult>(&planned.result);
  const std::optional<uint32_t> required = region ? region->region->engine() : std::nullopt;
  const bool is_by_columns = planned.plan.grouping.kind == kernels::GroupingKind::kAxis0;
  const bool is_dealt = planned.input.is_sharded() && !planned.input.is_view() &&
                        !planned.selection && !required && !groups.rearrangement &&
                        !is_by_columns && !planned.plan.is_moving();
  if (is_dealt) return RefuseStrategy(request, "a sharded array");
  InputArray* const inputs[] = {&planned.input, MaskOf(planned.selection)};
  absl::Status status = Gather(inputs, required, context, planned.gather);
  auto* const made = std::get_if<NewArrayResult>(&planned.result);
  if (made != nullptr) made->engine = EngineOf(inputs).value_or(made->engine);
  return status;
}

// What scans can be asked for, but not in a stream.
absl::Status CheckStreamedScan(const v1::ScanArrayRequest& request, const kernels::ScanSpec& spec) {
  if (request.has_where()) {
    if (absl::Status status = ValidateStreamedMask(request.where()); !status.ok()) return status;
  }
  if (request.has_window()) return InvalidField("window", "not in streams");
  if (spec.operation == kernels::ScanOperation::kMean) {
    return InvalidField("operation", "no means in streams");
  }
  absl::Status rows = RefuseRows(request.array(), "array", "a stream is scanned as a whole");
  if (!rows.ok()) return rows;
  if (absl::Status status = RefuseBool(request.array(), "array"); !status.ok()) return status;
  if (request.grouping().kind_case() != v1::Grouping::KIND_NOT_SET) {
    return InvalidField("grouping", "a stream is scanned as a whole");
  }
  if (spec.direction == kernels::ScanDirection::kReverse) {
    return InvalidField("direction", "a stream is scanned as it arrives, forward");
  }
  if (!request.has_destination() || request.destination().has_inline_array()) {
    return absl::OkStatus();
  }
  return InvalidField("destination", "the results of a stream are its messages");
}

// Whether the parts after which a scan can continue fit in a job, and their results in a message.
absl::Status CheckScanBatch(const PlannedScanStream& planned, const Limits& limits) {
  const uint64_t batch_bytes =
      ScanBatchBytesMin(planned.plan) + (planned.has_mask ? kernels::kScanCarryElements : 0);
  if (batch_bytes + kAnswerOverheadBytes <= limits.message_bytes_max) return absl::OkStatus();
  return kernels::AboveLimit(
      "array.streamed_array",
      absl::StrCat("a batch takes ", batch_bytes, " bytes, and messages have at most ",
                   limits.message_bytes_max));
}

absl::StatusOr<NewArrayResult> ConvertNewArray(const v1::ResidentDestination& destination,
                                               const PlanningContext& context) {
  const absl::StatusOr<std::chrono::nanoseconds> idle_expiry = ValidateNewArray(
      destination.name(), destination.has_idle_expiry() ? &destination.idle_expiry() : nullptr,
      "destination.resident_array.", context.arrays);
  if (!idle_expiry.ok()) return idle_expiry.status();
  return NewArrayResult{destination.name(), *idle_expiry, context.arrays.EngineWithMostRoom()};
}

absl::StatusOr<RegionResult> ConvertRegion(const v1::RegionDestination& destination,
                                           const InputArray& array, const kernels::ScanPlan& plan,
                                           const PlanningContext& context) {
  constexpr char kOffsetField[] = "destination.region.offset_bytes";
  absl::StatusOr<RegionLease> region =
      FindRegion(destination.name(), "destination.region.name", context.regions);
  if (!region.ok()) return region.status();
  const absl::StatusOr<kernels::MutableResidentSpan> place =
      PlaceInRegion(**region, destination.offset_bytes(), plan.output_type,
                    plan.output_size_bytes(), kOffsetField);
  if (!place.ok()) return place.status();
  if (array.region != nullptr &&
      (*region)->Overlaps(*place, *array.region, std::get<kernels::ResidentSpan>(array.data))) {
    return InvalidField(kOffsetField, "the results would overlap the input");
  }
  return RegionResult{destination.name(), destination.offset_bytes(), *place, *std::move(region)};
}

// `type_is_kept` says whether the results are of the array's own type.
absl::Status ConvertDestination(const v1::ScanArrayRequest& request, const InputArray& array,
                                bool type_is_kept, const PlanningContext& context,
                                PlannedScan& planned) {
  if (!request.has_destination()) return absl::OkStatus();
  const v1::ScanDestination& destination = request.destination();
  switch (destination.destination_case()) {
    case v1::ScanDestination::kInlineArray: return absl::OkStatus();
    case v1::ScanDestination::kResidentArray: {
      absl::StatusOr<NewArrayResult> result =
          ConvertNewArray(destination.resident_array(), context);
      if (!result.ok()) return result.status();
      planned.result = *std::move(result);
      return absl::OkStatus();
    }
    case v1::ScanDestination::kInPlace:
      if (!array.resident) {
        return InvalidField("destination.in_place", "the input is not a resident array");
      }
      if (request.array().resident_array().has_view()) {
        return InvalidField("array.resident_array.view",
                            "results in place take an array or a slice of it, and no view");
      }
      if (!type_is_kept) {
        return InvalidField("output_type",
                            absl::StrCat("results in place have the array's own type, ",
                                         kernels::ElementTypeName(array.description.element_type)));
      }
      planned.result = InPlaceResult{};
      return absl::OkStatus();
    case v1::ScanDestination::kRegion: {
      absl::StatusOr<RegionResult> result =
          ConvertRegion(destination.region(), array, planned.plan, context);
      if (!result.ok()) return result.status();
      planned.result = *std::move(result);
      return absl::OkStatus();
    }
    case v1::ScanDestination::DESTINATION_NOT_SET: break;
  }
  return InvalidField("destination", "no destination is given");
}

}  // namespace

absl::StatusOr<PlannedScan> PlanRequest(const v1::ScanArrayRequest& request,
                                        const PlanningContext& context) {
  const Limits& limits = context.limits;
  absl::StatusOr<InputArray> array = ValidateArray(request.array(), "array", context);
  if (!array.ok()) return array.status();
  kernels::ScanSpec spec;
  PlannedGroups groups;
  const absl::Status converted =
      FirstError(ConvertSpec(request, spec),
                 Assign(PlanScannedGroups(request.grouping(), array->shaped(), limits), groups));
  if (!converted.ok()) return converted;
  if (array->is_bool) {
    if (absl::Status status = CheckTypeOfTruths(request, spec); !status.ok()) return status;
  }
  spec.grouping = std::move(groups.grouping);
  absl::StatusOr<kernels::ScanPlan> plan = kernels::PlanScan(groups.array, std::move(spec));
  if (!plan.ok()) return plan.status();
  PlannedScan planned{*std::move(plan), {},           std::nullopt,
                      std::nullopt,     std::nullopt, InlineResult{},
                      context.arrays};
  const bool type_is_kept = planned.plan.output_type == array->description.element_type;
  absl::Status status = ConvertDestination(request, *array, type_is_kept, context, planned);
  if (status.ok() && std::holds_alternative<InlineResult>(planned.result)) {
    status = CheckAnswerSize(planned.plan, limits);
  }
  if (!status.ok()) return status;
  planned.input = *std::move(array);
  if (request.has_where()) status = PlanSelected(request, context, planned);
  if (status.ok()) status = PlanPlace(request, groups, context, planned);
  std::optional<uint32_t> engine = PlaceOf(planned);
  if (status.ok() && planned.selection) {
    status = PlanRoom(kernels::ElementSize(planned.plan.array.element_type),
                      planned.input.description.element_count, engine, context, *planned.selection);
    engine = planned.selection->engine;
  }
  if (!status.ok()) return status;
  if (!groups.rearrangement) return planned;
  // The input in another order, and its results.
  const uint64_t room_bytes = planned.plan.array.size_bytes() + planned.plan.output_size_bytes();
  status = Assign(PlanRearrangement(*groups.rearrangement, room_bytes, engine, context),
                  planned.rearrangement);
  if (!status.ok()) return status;
  return planned;
}

absl::StatusOr<PlannedScanStream> PlanStream(const v1::ScanArrayRequest& request,
                                             const Limits& limits) {
  const absl::StatusOr<kernels::ShapedArray> array =
      ValidateStreamedArray(request.array(), "array");
  if (!array.ok()) return array.status();
  kernels::ScanSpec spec;
  if (absl::Status status = ConvertSpec(request, spec); !status.ok()) return status;
  const absl::Status streamed =
      FirstError(CheckStreamedScan(request, spec), RefuseStrategy(request, "a stream"));
  if (!streamed.ok()) return streamed;
  absl::StatusOr<kernels::ScanPlan> plan = kernels::PlanScan(array->description(), std::move(spec));
  if (!plan.ok()) return plan.status();
  PlannedScanStream planned{*std::move(plan), request.has_where()};
  if (absl::Status status = CheckScanBatch(planned, limits); !status.ok()) return status;
  return planned;
}

}  // namespace gridfold::server
