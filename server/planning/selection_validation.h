// From `where` and `initial` of a request to what is selected. Thread-safe.
//
// Errors: INVALID_ARGUMENT that names the field at fault; those of ValidateArray.
#ifndef GRIDFOLD_SERVER_PLANNING_SELECTION_VALIDATION_H_
#define GRIDFOLD_SERVER_PLANNING_SELECTION_VALIDATION_H_

#include <cstdint>
#include <optional>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "gridfold/v1/array.pb.h"
#include "gridfold/v1/selection.pb.h"
#include "kernels/contract/rearrangement.h"
#include "kernels/contract/selection.h"
#include "kernels/contract/shape.h"
#include "server/planning/array_validation.h"
#include "server/planning/planning_context.h"

namespace gridfold::server {

// Which elements of an array count. Copies of the mask and of the elements take room beside
// resident arrays.
struct PlannedSelection {
  std::optional<InputArray> mask = std::nullopt;  // None: all elements count.
  kernels::Shape shape;                           // Of the array, over which the mask is spread.
  std::optional<kernels::ElementBytes> initial = std::nullopt;
  // How the array, and the mask, are rearranged before.
  std::optional<kernels::Rearrangement> order = std::nullopt;
  TenantArrays arrays;
  uint32_t engine = 0;  // Where the copies will be: that of the arrays, where they need one.
  uint64_t room_bytes = 0;

  uint64_t element_count() const { return shape.element_count(); }
  // Whether the mask is used where it lies.
  bool has_mask_in_place() const;
};

// The mask of an array, which has yet to be gathered with it (gathering.h). Errors also: an array
// that is no mask, or of another shape.
absl::StatusOr<PlannedSelection> PlanSelection(const v1::ArraySource* where,
                                               const InputArray& array,
                                               const PlanningContext& context);

// The mask of a selection; null where there is none.
inline InputArray* MaskOf(PlannedSelection& selection) {
  return selection.mask ? &*selection.mask : nullptr;
}
inline InputArray* MaskOf(std::optional<PlannedSelection>& selection) {
  return selection ? MaskOf(*selection) : nullptr;
}

// Adds what elements of so many bytes take, `selected_count_max` of them selected, and where.
// Errors: RESOURCE_EXHAUSTED, as of a job larger than a lane, where a tenant may not have so much.
absl::Status PlanRoom(uint64_t element_bytes, uint64_t selected_count_max,
                      std::optional<uint32_t> engine, const PlanningContext& context,
                      PlannedSelection& selection);

// The initial element as one of the array's. Error: it is none.
absl::StatusOr<kernels::ElementBytes> PlanInitial(const v1::Scalar& initial,
                                                  const InputArray& array);

}  // namespace gridfold::server

#endif  // GRIDFOLD_SERVER_PLANNING_SELECTION_VALIDATION_H_
