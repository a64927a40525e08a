#include "kernels/contract/scan.h"

#include <utility>

#include "absl/strings/str_cat.h"
#include "kernels/contract/invalid_field.h"
#include "kernels/contract/reduction.h"

namespace gridfold::kernels {

namespace {

bool IsExtreme(ScanOperation operation) {
  return operation == ScanOperation::kMin || operation == ScanOperation::kMax;
}

ElementType DefaultOutputType(ScanOperation operation, ElementType type) {
  if (IsExtreme(operation) || IsFloatingPoint(type)) return type;
  return AccumulatorType(type);
}

absl::Status ValidateOutputType(ElementType output, ElementType type, ScanOperation operation) {
  if (output == type) return absl::OkStatus();
  if (IsExtreme(operation)) {
    return InvalidField("output_type",
                        absl::StrCat("a running ", ScanOperationName(operation),
                                     " has the array's own type, ", ElementTypeName(type)));
  }
  if (output == AccumulatorType(type)) return absl::OkStatus();
  return InvalidField("output_type",
                      absl::StrCat(ElementTypeName(output), " is neither the array's own type, ",
                                   ElementTypeName(type), ", nor its accumulator type, ",
                                   ElementTypeName(AccumulatorType(type))));
}

absl::Status TooManyElements(uint64_t element_count) {
  return InvalidField("array", absl::StrCat(element_count, " elements are more than the ",
                                            kScanElementsMax, " that a scan takes"));
}

}  // namespace

const char* ScanOperationName(ScanOperation operation) {
  constexpr const char* kNames[] = {"sum", "product", "min", "max"};
  return kNames[static_cast<int>(operation)];
}

absl::StatusOr<ScanPlan> PlanScan(const ArrayDescription& array, ScanSpec spec) {
  if (array.element_count > kScanElementsMax) {
    return TooManyElements(array.element_count);
  }
  if (spec.exact && spec.operation != ScanOperation::kSum) {
    return InvalidField("exact", absl::StrCat("only sums can be exact, and this scan is a running ",
                                              ScanOperationName(spec.operation)));
  }
  const ElementType output_type =
      spec.output_type.value_or(DefaultOutputType(spec.operation, array.element_type));
  if (absl::Status status = ValidateOutputType(output_type, array.element_type, spec.operation);
      !status.ok()) {
    return status;
  }
  absl::StatusOr<Grouping> grouping = PlanGrouping(array, std::move(spec.grouping));
  if (!grouping.ok()) return grouping.status();
  // A single column is an array of positions in a row, and is scanned by their tree.
  if (grouping->kind == GroupingKind::kAxis0 && grouping->group_count == 1) {
    grouping->kind = GroupingKind::kWhole;
  }
  return ScanPlan{.array = array,
                  .operation = spec.operation,
                  .mode = spec.mode,
                  .direction = spec.direction,
                  .grouping = *std::move(grouping),
                  .output_type = output_type,
                  .nan_policy = spec.nan_policy,
                  .overflow_policy = spec.overflow_policy,
                  .exact = spec.exact && IsFloatingPoint(array.element_type),
                  .strategy = std::move(spec.strategy)};
}

absl::Status CheckScanContinues(const ScanPlan& plan, const ScanCarry& carry) {
  const GroupingKind kind = plan.grouping.kind;
  if (kind != GroupingKind::kWhole && kind != GroupingKind::kSegments) {
    return absl::InternalError("no scan along an axis continues another");
  }
  const bool is_cut_well = carry.element_count % kScanCarryElements == 0;
  if (!is_cut_well && plan.array.element_count > 0) {
    return absl::InternalError(
        absl::StrCat("a scan cannot continue after ", carry.element_count, " elements"));
  }
  const uint64_t element_count = carry.element_count + plan.array.element_count;
  return element_count > kScanElementsMax ? TooManyElements(element_count) : absl::OkStatus();
}

}  // namespace gridfold::kernels
