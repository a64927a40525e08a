#include "kernels/contract/lane_limits.h"

#include <initializer_list>
#include <variant>

#include "absl/strings/str_cat.h"
#include "kernels/contract/invalid_field.h"

namespace gridfold::kernels {

namespace {

absl::Status CheckLimit(const char* what, uint64_t wanted, uint64_t limit) {
  if (wanted <= limit) return absl::OkStatus();
  return LargerThanALane(
      absl::StrCat(wanted, " ", what, " are more than the ", limit, " that a lane holds"));
}

absl::Status CheckSize(const char* what, uint64_t size_bytes, uint64_t expected_bytes) {
  if (size_bytes == expected_bytes) return absl::OkStatus();
  return absl::InternalError(absl::StrCat("the ", what, " has ", size_bytes,
                                          " bytes where the plan has ", expected_bytes));
}

absl::Status FirstError(std::initializer_list<absl::Status> statuses) {
  for (const absl::Status& status : statuses) {
    if (!status.ok()) return status;
  }
  return absl::OkStatus();
}

// Bytes of one group's state; room for the largest alignment of it is part of the size.
uint64_t StateBytes(const ReductionPlan& plan) {
  if (!plan.return_states) return 0;
  return VisitElementType(plan.array.element_type, [](auto tag) -> uint64_t {
    return sizeof(FullState<ComputeType<typename decltype(tag)::type>>);
  });
}

// What a lane stages; resident memory is used where it lies.
uint64_t HostBytes(const InputSpan& input) {
  return std::holds_alternative<ResidentSpan>(input) ? 0 : SizeBytes(input);
}
uint64_t HostBytes(const OutputSpan& output) {
  return std::holds_alternative<MutableHostSpan>(output) ? SizeBytes(output) : 0;
}

absl::Status CheckGroupsAndOutput(const LaneOptions& options, uint64_t group_count,
                                  uint64_t output_bytes) {
  return FirstError({CheckLimit("groups", group_count, options.group_count_max),
                     CheckLimit("output bytes", output_bytes, options.output_bytes_max)});
}

}  // namespace

uint64_t OutputBytesPerGroup(const ReductionPlan& plan) {
  return plan.statistics.size() * sizeof(uint64_t) + StateBytes(plan);
}

absl::Status CheckReductionFits(const LaneOptions& options, const ReductionPlan& plan,
                                const InputSpan& input) {
  return FirstError({CheckSize("input", SizeBytes(input), plan.array.span_bytes()),
                     CheckLimit("input bytes", HostBytes(input), options.input_bytes_max),
                     CheckGroupsFit(options, plan)});
}

absl::Status CheckReduceIntoFits(const LaneOptions& options, ReductionPlan plan,
                                 const InputSpan& input) {
  plan.return_states = false;
  return CheckReductionFits(options, plan, input);
}

absl::Status CheckScanFits(const LaneOptions& options, const ScanPlan& plan, const InputSpan& input,
                           const OutputSpan& output) {
  return FirstError({CheckSize("input", SizeBytes(input), plan.array.size_bytes()),
                     CheckSize("output", SizeBytes(output), plan.output_size_bytes()),
                     CheckLimit("input bytes", HostBytes(input), options.input_bytes_max),
                     CheckLimit("groups", plan.grouping.group_count, options.group_count_max),
                     CheckLimit("output bytes", HostBytes(output), options.output_bytes_max)});
}

absl::Status CheckHistogramFits(const LaneOptions& options, const HistogramPlan& plan,
                                const HistogramInput& input) {
  const uint64_t weight_bytes =
      plan.weight_type.has_value() ? plan.array.element_count * ElementSize(*plan.weight_type) : 0;
  return FirstError(
      {CheckSize("input", SizeBytes(input.array), plan.array.size_bytes()),
       CheckSize("second input", SizeBytes(input.y_array),
                 plan.two_dimensional ? plan.array.size_bytes() : 0),
       CheckSize("array of weights", SizeBytes(input.weights), weight_bytes),
       CheckLimit("input bytes",
                  HostBytes(input.array) + HostBytes(input.y_array) + HostBytes(input.weights),
                  options.input_bytes_max),
       CheckLimit("bins", plan.total_bin_count(), options.bin_count_max)});
}

absl::Status CheckKeyedReductionFits(const LaneOptions& options, const KeyedReductionPlan& plan,
                                     const KeyedInput& input) {
  const auto check = [&](const char* what, const InputSpan& span, uint64_t expected_bytes) {
    const uint64_t resident_bytes = SizeBytes(span) - HostBytes(span);
    return FirstError(
        {CheckSize(absl::StrCat("array of ", what).c_str(), SizeBytes(span), expected_bytes),
         CheckLimit(absl::StrCat("bytes of ", what).c_str(), resident_bytes,
                    options.resident_input_bytes_max)});
  };
  absl::Status status =
      FirstError({CheckSize("list of further keys", input.further_keys.size(),
                            plan.has_bins() ? plan.axes.size() - 1 : 0),
                  check("keys", input.keys, plan.keys.size_bytes()),
                  check("values", input.values, plan.reduction.array.size_bytes())});
  uint64_t host_bytes = HostBytes(input.keys) + HostBytes(input.values);
  for (size_t axis = 0; axis < plan.axes.size() && status.ok(); ++axis) {
    const HistogramPlan& of_axis = plan.axes[axis];
    // Only a range is found by a histogram; what holds bins is the answer.
    if (of_axis.needs_range()) {
      status = CheckLimit("bins", of_axis.total_bin_count(), options.bin_count_max);
    }
    if (axis == 0 || !status.ok()) continue;
    status = check("further keys", KeysOfAxis(input, axis), of_axis.array.size_bytes());
    host_bytes += HostBytes(KeysOfAxis(input, axis));
  }
  if (!status.ok()) return status;
  return CheckLimit("input bytes", host_bytes, options.input_bytes_max);
}

absl::Status CheckGroupsFit(const LaneOptions& options, const ReductionPlan& plan) {
  return CheckGroupsAndOutput(options, plan.grouping.group_count,
                              plan.grouping.group_count * OutputBytesPerGroup(plan));
}

absl::Status CheckGroupsFit(const LaneOptions& options, const QuantilePlan& plan) {
  return CheckGroupsAndOutput(options, plan.grouping.group_count,
                              plan.result_slot_count() * sizeof(uint64_t));
}

absl::Status CheckQuantilesFit(const LaneOptions& options, const QuantilePlan& plan,
                               const InputSpan& input) {
  return FirstError({CheckSize("input", SizeBytes(input), plan.array.size_bytes()),
                     CheckLimit("input bytes", HostBytes(input), options.input_bytes_max),
                     CheckGroupsFit(options, plan)});
}

absl::Status CheckTopFits(const LaneOptions& options, const TopPlan& plan, const InputSpan& input) {
  return FirstError({CheckSize("input", SizeBytes(input), plan.array.size_bytes()),
                     CheckLimit("input bytes", HostBytes(input), options.input_bytes_max),
                     CheckGroupsAndOutput(options, plan.grouping.group_count,
                                          plan.result_count() * kTopResultBytes)});
}

absl::Status CheckPairedFits(const LaneOptions& options, const PairedPlan& plan,
                             const PairedInput& input) {
  return FirstError(
      {CheckSize("input", SizeBytes(input.x), plan.x.size_bytes()),
       CheckSize("second input", SizeBytes(input.y), plan.has_y ? plan.x.size_bytes() : 0),
       CheckSize("array of weights", SizeBytes(input.weights), plan.weights_bytes()),
       CheckLimit("input bytes", HostBytes(input.x) + HostBytes(input.y) + HostBytes(input.weights),
                  options.input_bytes_max)});
}

absl::Status CheckRearrangementFits(const LaneOptions& options, const Rearrangement& order,
                                    uint64_t element_bytes, const InputSpan& from,
                                    const OutputSpan& to) {
  return FirstError({CheckSize("input", SizeBytes(from), order.from_count * element_bytes),
                     CheckSize("output", SizeBytes(to), order.element_count() * element_bytes),
                     CheckLimit("input bytes", HostBytes(from), options.input_bytes_max),
                     CheckLimit("output bytes", HostBytes(to), options.output_bytes_max)});
}

absl::Status CheckSelectionFits(const LaneOptions& options, const SelectionPlan& plan,
                                const InputSpan& input, const ResidentSpan& mask,
                                const MutableResidentSpan& scratch,
                                const MutableResidentSpan& selected) {
  const uint64_t group_count = plan.grouping.group_count;
  return FirstError(
      {CheckSize("input", SizeBytes(input), plan.element_count * plan.element_bytes),
       CheckSize("mask", mask.size_bytes, mask.data == nullptr ? 0 : plan.element_count),
       CheckSize("scratch", scratch.size_bytes, plan.scratch_bytes()),
       CheckSize("selection", selected.size_bytes, plan.selected_bytes_max()),
       CheckLimit("input bytes", HostBytes(input), options.input_bytes_max),
       CheckPlacesFit(options, group_count)});
}

absl::Status CheckPlacesFit(const LaneOptions& options, uint64_t place_count) {
  return CheckGroupsAndOutput(options, place_count, place_count * sizeof(uint64_t));
}

absl::Status CheckReplacementFits(const LaneOptions& options, uint64_t element_bytes,
                                  const InputSpan& input, const ResidentSpan& mask,
                                  const MutableResidentSpan& output) {
  const uint64_t size_bytes = mask.size_bytes * element_bytes;
  return FirstError({CheckSize("input", SizeBytes(input), size_bytes),
                     CheckSize("output", output.size_bytes, size_bytes),
                     CheckLimit("input bytes", HostBytes(input), options.input_bytes_max)});
}

absl::Status CheckCopy(const InputSpan& from, const OutputSpan& to) {
  if (SizeBytes(from) == SizeBytes(to)) return absl::OkStatus();
  return absl::InternalError(
      absl::StrCat("a copy of ", SizeBytes(from), " bytes to a place of ", SizeBytes(to)));
}

}  // namespace gridfold::kernels
