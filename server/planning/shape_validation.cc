#include "server/planning/shape_validation.h"

#include <algorithm>
#include <limits>
#include <span>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "kernels/contract/invalid_field.h"

namespace gridfold::server {

namespace {

using kernels::InvalidField;
using kernels::kDimensionsMax;
using kernels::Shape;
using kernels::ShapedArray;

absl::Status TooManyExtents(int count, absl::string_view field) {
  return InvalidField(field,
                      absl::StrCat(count, " extents, where an array has at most ", kDimensionsMax));
}

// The extents, of which there are at most eight, and none of an array without dimensions.
absl::StatusOr<Shape> ReadExtents(const WireExtents& extents, bool zero_dimensional,
                                  absl::string_view prefix) {
  if (zero_dimensional && !extents.empty()) {
    return InvalidField(absl::StrCat(prefix, "zero_dimensional"),
                        "an array without dimensions has no extents");
  }
  if (extents.size() > kDimensionsMax) {
    return TooManyExtents(extents.size(), absl::StrCat(prefix, "shape"));
  }
  return Shape(std::span(extents.data(), static_cast<size_t>(extents.size())));
}

absl::Status CheckSize(const ShapedArray& array, absl::string_view field) {
  // Far from the end of 64 bits, so that sums of sizes are too.
  constexpr uint64_t kBytesMax = std::numeric_limits<int64_t>::max() / 2;
  if (array.element_count() <= kBytesMax / kernels::ElementSize(array.element_type)) {
    return absl::OkStatus();
  }
  return InvalidField(field, "the size of the array does not fit in 64 bits");
}

}  // namespace

absl::StatusOr<ShapedArray> ValidateShape(kernels::ElementType type, const WireExtents& extents,
                                          bool zero_dimensional, absl::string_view prefix) {
  const absl::StatusOr<Shape> shape = ReadExtents(extents, zero_dimensional, prefix);
  if (!shape.ok()) return shape.status();
  const std::string field = absl::StrCat(prefix, "shape");
  if (extents.empty() && !zero_dimensional) {
    return InvalidField(field, absl::StrCat("0 extents, where an array has 1 to ", kDimensionsMax,
                                            " unless it is zero_dimensional"));
  }
  ShapedArray array(type, *shape);
  if (absl::Status status = CheckSize(array, field); !status.ok()) return status;
  return array;
}

absl::StatusOr<ShapedArray> ValidateShapeOfData(kernels::ElementType type,
                                                const WireExtents& extents, bool zero_dimensional,
                                                uint64_t element_count, absl::string_view prefix) {
  absl::StatusOr<Shape> shape = ReadExtents(extents, zero_dimensional, prefix);
  if (!shape.ok()) return shape.status();
  if (extents.empty() && !zero_dimensional) shape->Append(element_count);
  if (shape->element_count() == element_count) return ShapedArray(type, *shape);
  return InvalidField(absl::StrCat(prefix, zero_dimensional ? "zero_dimensional" : "shape"),
                      absl::StrCat("[", absl::StrJoin(extents, ", "), "] is not the ",
                                   element_count, " elements of the data"));
}

absl::StatusOr<ShapedArray> ValidateRowShape(kernels::ElementType type,
                                             const WireExtents& row_extents,
                                             absl::string_view field) {
  if (row_extents.size() >= kDimensionsMax) return TooManyExtents(row_extents.size() + 1, field);
  if (std::find(row_extents.begin(), row_extents.end(), 0) != row_extents.end()) {
    return InvalidField(field, "rows without elements cannot be told apart");
  }
  Shape shape{1};
  for (const uint64_t extent : row_extents) shape.Append(extent);
  if (absl::Status status = CheckSize({type, shape}, field); !status.ok()) return status;
  Shape unknown{0};
  for (const uint64_t extent : row_extents) unknown.Append(extent);
  return ShapedArray(type, unknown);
}

}  // namespace gridfold::server
