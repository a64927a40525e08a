// From the extents in a request to a shape. Pure functions; thread-safe.
//
// `prefix` is the path of the message that has the fields `shape` and `zero_dimensional`, with its
// last dot. Errors: INVALID_ARGUMENT, one of these fields named.
#ifndef GRIDFOLD_SERVER_PLANNING_SHAPE_VALIDATION_H_
#define GRIDFOLD_SERVER_PLANNING_SHAPE_VALIDATION_H_

#include <cstdint>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "google/protobuf/repeated_field.h"
#include "kernels/contract/shape.h"

namespace gridfold::server {

using WireExtents = google::protobuf::RepeatedField<uint64_t>;

// An array of this type and shape. Errors: no extents, unless it has no dimensions, and some where
// it has none; more than eight; a size in bytes that does not fit in 62 bits.
absl::StatusOr<kernels::ShapedArray> ValidateShape(kernels::ElementType type,
                                                   const WireExtents& extents,
                                                   bool zero_dimensional, absl::string_view prefix);

// The shape of data of so many elements: of one dimension where there are no extents. Errors: those
// of ValidateShape; another number of elements.
absl::StatusOr<kernels::ShapedArray> ValidateShapeOfData(kernels::ElementType type,
                                                         const WireExtents& extents,
                                                         bool zero_dimensional,
                                                         uint64_t element_count,
                                                         absl::string_view prefix);

// An array of a stream, whose first extent, which is not known, is 0. `field` is the path of
// `row_shape`. Errors: more than seven extents; an extent of 0; rows of too many bytes.
absl::StatusOr<kernels::ShapedArray> ValidateRowShape(kernels::ElementType type,
                                                      const WireExtents& row_extents,
                                                      absl::string_view field);

}  // namespace gridfold::server

#endif  // GRIDFOLD_SERVER_PLANNING_SHAPE_VALIDATION_H_
