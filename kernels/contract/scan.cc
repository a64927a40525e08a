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
  return operation == ScanOperation::kMean ? ElementType::kFloat64 : AccumulatorType(type);
}

absl::Status ValidateOutputType(ElementType output, ElementType type, ScanOperation operation) {
  if (operation == ScanOperation::kMean && !IsFloatingPoint(type)) {
    if (output == ElementType::kFloat64) return absl::OkStatus();
    return InvalidField("output_type",
                        absl::StrCat("means of ", ElementTypeName(type), " are float64"));
  }
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

bool IsSumOrMean(ScanOperation operation) {
  return operation == ScanOperation::kSum || operation == ScanOperation::kMean;
}

// What a moving scan of results of this type can be asked for.
absl::Status ValidateMoving(const ScanSpec& spec, ElementType output_type) {
  if (spec.window && !IsSumOrMean(spec.operation)) {
    return InvalidField("window",
                        absl::StrCat("only sums and means have a window, and this scan is "
                                     "a running ",
                                     ScanOperationName(spec.operation)));
  }
  if (spec.window == 0) return InvalidField("window", "a window has at least one element");
  if (!spec.window && spec.operation != ScanOperation::kMean) {
    if (spec.min_count == 0) return absl::OkStatus();
    return InvalidField("min_count", "only of moving sums and of means");
  }
  if (spec.mode == ScanMode::kExclusive) {
    return InvalidField("mode", "a moving result is of its own element too");
  }
  if (spec.window && spec.min_count > *spec.window) {
    return InvalidField(
        "min_count", absl::StrCat("no window of ", *spec.window, " elements has ", spec.min_count));
  }
  if (spec.min_count > 1 && !IsFloatingPoint(output_type)) {
    return InvalidField("min_count", absl::StrCat("results of type ", ElementTypeName(output_type),
                                                  " have no NaN"));
  }
  return absl::OkStatus();
}

// The window of a plan: that of a mean of all elements so far is as long as any array.
uint64_t WindowOf(const ScanSpec& spec) {
  return spec.window.value_or(spec.operation == ScanOperation::kMean ? kScanElementsMax : 0);
}

}  // namespace

const char* ScanOperationName(ScanOperation operation) {
  constexpr const char* kNames[] = {"sum", "product", "min", "max", "mean"};
  return kNames[static_cast<int>(operation)];
}

absl::StatusOr<ScanPlan> PlanScan(const ArrayDescription& array, ScanSpec spec) {
  if (array.element_count > kScanElementsMax) {
    return TooManyElements(array.element_count);
  }
  if (spec.exact && !IsSumOrMean(spec.operation)) {
    return InvalidField("exact",
                        absl::StrCat("only sums and means can be exact, and this scan is a "
                                     "running ",
                                     ScanOperationName(spec.operation)));
  }
  const ElementType output_type =
      spec.output_type.value_or(DefaultOutputType(spec.operation, array.element_type));
  if (absl::Status status = ValidateOutputType(output_type, array.element_type, spec.operation);
      !status.ok()) {
    return status;
  }
  if (absl::Status status = ValidateMoving(spec, output_type); !status.ok()) return status;
  const uint64_t window = WindowOf(spec);
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
                  .exact = spec.exact && IsFloatingPoint(array.element_type) && window == 0,
                  .strategy = std::move(spec.strategy),
                  .window = window,
                  .min_count = spec.min_count};
}

absl::Status CheckScanContinues(const ScanPlan& plan, const ScanCarry& carry) {
  const GroupingKind kind = plan.grouping.kind;
  if (kind != GroupingKind::kWhole && kind != GroupingKind::kSegments) {
    return absl::InternalError("no scan along an axis continues another");
  }
  if (plan.is_moving()) return absl::InternalError("no moving scan continues another");
  const bool is_cut_well = carry.element_count % kScanCarryElements == 0;
  if (!is_cut_well && plan.array.element_count > 0) {
    return absl::InternalError(
        absl::StrCat("a scan cannot continue after ", carry.element_count, " elements"));
  }
  const uint64_t element_count = carry.element_count + plan.array.element_count;
  return element_count > kScanElementsMax ? TooManyElements(element_count) : absl::OkStatus();
}

}  // namespace gridfold::kernels
