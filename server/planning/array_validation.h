// From the parts of a request that describe arrays to views for kernels. Thread-safe. Views point
// into the messages and their detached data, which must outlive them, and into resident arrays and
// regions, which their leases keep alive.
#ifndef GRIDFOLD_SERVER_PLANNING_ARRAY_VALIDATION_H_
#define GRIDFOLD_SERVER_PLANNING_ARRAY_VALIDATION_H_

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "gridfold/v1/array.pb.h"
#include "kernels/contract/array.h"
#include "kernels/contract/resident_memory.h"
#include "kernels/contract/shape.h"
#include "kernels/contract/strided_view.h"
#include "kernels/folds/dealt_reduction.h"
#include "server/arrays/array_store.h"
#include "server/base/limits.h"
#include "server/planning/planning_context.h"
#include "server/regions/region_store.h"
#include "server/wire/message_survey.h"

namespace gridfold::server {

// A resident array, or a slice or view of it.
struct ResidentSlice {
  kernels::ShapedArray description;  // Of the slice.
  // Where its elements lie, of which the first one is 0: at least one, and several only where the
  // slice lies on several devices.
  std::vector<ArrayShard> shards;
  uint64_t first_element = 0;  // Of the shards in the array.
  // How the elements stand among those of the shards, where they do not follow one another.
  std::optional<kernels::StridedView> view = std::nullopt;
  ArrayInfo array;  // The array as a whole.
  ArrayLease lease;

  bool is_sharded() const { return shards.size() > 1; }
  // These require that it is not.
  uint32_t engine() const { return shards.front().engine; }
  kernels::MutableResidentSpan span() const { return shards.front().span; }
};

// The shards of the elements of `shards` from `first` on, as those of a slice.
std::vector<ArrayShard> CutShards(const std::vector<ArrayShard>& shards, uint64_t first,
                                  uint64_t count);

struct InputArray {
  kernels::ArrayDescription description;  // As operations on all elements see it.
  kernels::Shape shape;
  kernels::InputSpan data;                // Without a place where the array is sharded.
  std::string field;                      // Path of the source's member that is set.
  std::optional<ResidentSlice> resident;  // Where the array is.
  RegionLease region = nullptr;           // The same of one in a region.
  bool is_bool = false;                   // The elements are truth values.

  kernels::ShapedArray shaped() const { return {description.element_type, shape}; }

  // The engine whose memory the array lies in; none where any engine can use it, or several have
  // parts of it.
  std::optional<uint32_t> engine() const;
  bool is_sharded() const { return resident && resident->is_sharded(); }
  // Whether the elements do not follow one another. They have yet to be copied together then
  // (gathering.h), unless an operation takes them where they are: `data` holds others between them.
  bool is_view() const { return resident && resident->view; }

  // Paths of what says how many elements there are, and of which type.
  std::string count_field() const;
  std::string type_field() const;
};

// From 0 to the number of elements, where the shards end.
kernels::Cuts CutsOf(const std::vector<ArrayShard>& shards);

// `field` is the path of `array` in the request. Errors: INVALID_ARGUMENT, field named, for what is
// no name, or a slice or view that goes past the array's end; NOT_FOUND.
absl::StatusOr<ResidentSlice> ValidateResidentArray(const v1::ResidentArray& array,
                                                    const std::string& field,
                                                    const TenantArrays& arrays);

// The region of this name, which `field` is the path of. Errors: INVALID_ARGUMENT, field named, for
// what is no name; those of RegionStore::Find.
absl::StatusOr<RegionLease> FindRegion(const std::string& name, const std::string& field,
                                       const TenantRegions& regions);

// Bytes of a region from `offset_bytes` on, where `offset_field` is the path of that in the
// request, for `size_bytes` of elements of `type`. Errors (INVALID_ARGUMENT): an offset that is not
// a multiple of the element's size, or so far on that the region ends before the elements do.
absl::StatusOr<kernels::MutableResidentSpan> PlaceInRegion(const StoredRegion& region,
                                                           uint64_t offset_bytes,
                                                           kernels::ElementType type,
                                                           uint64_t size_bytes,
                                                           absl::string_view offset_field);

// `field` is the path of `source` in the request. Errors: those of ValidateResidentArray and
// PlaceInRegion; NOT_FOUND and FAILED_PRECONDITION of regions; and
// INVALID_ARGUMENT, field named, for no source or that of a stream; no or an unknown element type;
// data that is not whole elements; a faulty shape (shape_validation.h) or one of another number of
// elements.
absl::StatusOr<InputArray> ValidateArray(const v1::ArraySource& source, absl::string_view field,
                                         const PlanningContext& context);

// The data that ValidateArray finds where it has been detached from a request.
BulkField DetachableArrayData();

// The array of a stream, whose first extent, which is not known, is 0. Errors (INVALID_ARGUMENT,
// field named): any other source; no or an unknown element type; a faulty row_shape, or one
// together with column_count.
absl::StatusOr<kernels::ShapedArray> ValidateStreamedArray(const v1::ArraySource& source,
                                                           absl::string_view field);

// For streams whose elements are not looked at: INVALID_ARGUMENT where they are bool.
absl::Status RefuseBool(const v1::ArraySource& source, absl::string_view field);

// For streams of elements: INVALID_ARGUMENT with this description where the array has rows.
absl::Status RefuseRows(const v1::ArraySource& source, absl::string_view field,
                        absl::string_view description);

// The mask of a stream, which arrives beside its elements. Errors: INVALID_ARGUMENT, field named.
absl::Status ValidateStreamedMask(const v1::ArraySource& where);

}  // namespace gridfold::server

#endif  // GRIDFOLD_SERVER_PLANNING_ARRAY_VALIDATION_H_
