#include "server/planning/selection_validation.h"

#include <algorithm>
#include <utility>
#include <variant>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "kernels/contract/invalid_field.h"
#include "kernels/contract/scalar.h"
#include "server/wire/proto_conversion.h"

namespace gridfold::server {

namespace {

using kernels::InvalidField;

// Whether the mask has the last dimensions of the array.
bool IsSpreadOver(const kernels::Shape& mask, const kernels::Shape& array) {
  const auto extents = array.extents();
  const auto own = mask.extents();
  return own.size() <= extents.size() &&
         std::equal(own.begin(), own.end(), extents.end() - static_cast<ptrdiff_t>(own.size()));
}

absl::Status CheckMask(const InputArray& mask, const InputArray& array) {
  if (!mask.is_bool) {
    return InvalidField(mask.type_field(),
                        absl::StrCat("a mask is of type bool, not ",
                                     kernels::ElementTypeName(mask.description.element_type)));
  }
  if (!IsSpreadOver(mask.shape, array.shape)) {
    return InvalidField(mask.count_field(),
                        absl::StrCat("[", absl::StrJoin(mask.shape.extents(), ", "),
                                     "] are not the last dimensions of the array's [",
                                     absl::StrJoin(array.shape.extents(), ", "), "]"));
  }
  return absl::OkStatus();
}

}  // namespace

bool PlannedSelection::has_mask_in_place() const {
  return !order && std::holds_alternative<kernels::ResidentSpan>(mask->data) &&
         mask->description.element_count == element_count();
}

absl::StatusOr<PlannedSelection> PlanSelection(const v1::ArraySource* where,
                                               const InputArray& array,
                                               const PlanningContext& context) {
  PlannedSelection selection{.shape = array.shape, .arrays = context.arrays};
  if (where == nullptr) return selection;
  absl::StatusOr<InputArray> mask = ValidateArray(*where, "where", context);
  if (!mask.ok()) return mask.status();
  if (absl::Status status = CheckMask(*mask, array); !status.ok()) return status;
  selection.mask = *std::move(mask);
  return selection;
}

absl::Status PlanRoom(uint64_t element_bytes, uint64_t selected_count_max,
                      std::optional<uint32_t> engine, const PlanningContext& context,
                      PlannedSelection& selection) {
  const uint64_t count = selection.element_count();
  kernels::SelectionPlan plan;
  plan.element_count = count;
  uint64_t bytes = plan.scratch_bytes() + selected_count_max * element_bytes;
  if (selection.order) bytes += count * element_bytes;
  if (selection.mask && !selection.has_mask_in_place()) bytes += (selection.order ? 2 : 1) * count;
  const uint64_t bytes_max =
      std::min(context.limits.resident_bytes_max, context.limits.tenant_bytes_max());
  if (bytes > bytes_max) {
    return kernels::LargerThanALane(
        absl::StrCat("elements that count are copied, which takes ", bytes,
                     " bytes beside resident arrays, more than the ", bytes_max,
                     " that a tenant may have on this server"));
  }
  selection.room_bytes = bytes;
  if (!engine && selection.mask) engine = selection.mask->engine();
  selection.engine = engine ? *engine : context.arrays.EngineWithMostRoom();
  return absl::OkStatus();
}

absl::StatusOr<kernels::ElementBytes> PlanInitial(const v1::Scalar& initial,
                                                  const InputArray& array) {
  constexpr char kField[] = "initial";
  const absl::StatusOr<kernels::Scalar> scalar = FromWire(initial, kField);
  if (!scalar.ok()) return scalar.status();
  const kernels::ElementType type = array.description.element_type;
  const std::optional<kernels::ElementBytes> element = kernels::ElementOf(*scalar, type);
  const bool fits = element.has_value() &&
                    (!array.is_bool || kernels::SlotOf(*scalar, kernels::ValueKind::kBool));
  if (fits) return *element;
  return InvalidField(kField,
                      absl::StrCat("is no element of type ",
                                   array.is_bool ? "bool" : kernels::ElementTypeName(type)));
}

}  // namespace gridfold::server
