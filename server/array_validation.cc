#include "server/array_validation.h"

#include <cstdint>
#include <string>

#include "absl/strings/str_cat.h"
#include "kernels/invalid_field.h"
#include "server/proto_conversion.h"

namespace gridfold::server {

namespace {

using kernels::ArrayDescription;
using kernels::GroupingKind;
using kernels::InvalidField;

// Whether rows * columns == count, where the product may not fit in 64 bits.
bool ProductIs(uint64_t rows, uint64_t columns, uint64_t count) {
  uint64_t product = 0;
  return !__builtin_mul_overflow(rows, columns, &product) && product == count;
}

absl::StatusOr<ArrayDescription> DescribeShape(const v1::InlineArray& array,
                                               kernels::ElementType type, uint64_t element_count,
                                               const std::string& field) {
  switch (array.shape_size()) {
    case 0: return ArrayDescription::Vector(type, element_count);
    case 1:
      if (array.shape(0) == element_count) return ArrayDescription::Vector(type, element_count);
      return InvalidField(field, absl::StrCat("[", array.shape(0), "] is not the ", element_count,
                                              " elements of the data"));
    case 2:
      if (ProductIs(array.shape(0), array.shape(1), element_count)) {
        return ArrayDescription::Matrix(type, array.shape(0), array.shape(1));
      }
      return InvalidField(field,
                          absl::StrCat("[", array.shape(0), ", ", array.shape(1), "] is not the ",
                                       element_count, " elements of the data"));
    default:
      return InvalidField(
          field, absl::StrCat(array.shape_size(), " extents, where an array has at most 2"));
  }
}

absl::Status ValidateGroupCount(absl::string_view field, uint64_t group_count,
                                const Limits& limits) {
  if (group_count <= limits.group_count_max) return absl::OkStatus();
  return InvalidField(field, absl::StrCat(group_count, " groups are more than the ",
                                          limits.group_count_max, " that this server allows"));
}

absl::StatusOr<kernels::GroupingSpec> ValidateAxis(uint32_t axis, const ArrayDescription& array,
                                                   const Limits& limits) {
  constexpr char kField[] = "grouping.axis";
  if (axis > 1) return InvalidField(kField, absl::StrCat("must be 0 or 1, not ", axis));
  const uint64_t group_count = axis == 0 ? array.columns : array.rows;
  if (absl::Status status = ValidateGroupCount(kField, group_count, limits); !status.ok()) {
    return status;
  }
  return kernels::GroupingSpec{axis == 0 ? GroupingKind::kAxis0 : GroupingKind::kAxis1, {}};
}

absl::StatusOr<kernels::GroupingSpec> ValidateSegments(const v1::Segments& segments,
                                                       const Limits& limits) {
  const auto offset_count = static_cast<uint64_t>(segments.offsets_size());
  if (offset_count > 0) {
    absl::Status status = ValidateGroupCount("grouping.segments.offsets", offset_count - 1, limits);
    if (!status.ok()) return status;
  }
  return kernels::GroupingSpec{GroupingKind::kSegments,
                               {segments.offsets().begin(), segments.offsets().end()}};
}

}  // namespace

absl::StatusOr<InputArray> ValidateArray(const v1::ArraySource& source, absl::string_view field) {
  if (!source.has_inline_array()) return InvalidField(field, "no array is given");
  const v1::InlineArray& array = source.inline_array();
  const std::string path = absl::StrCat(field, ".inline_array");
  const absl::StatusOr<kernels::ElementType> type =
      FromWire(array.element_type(), absl::StrCat(path, ".element_type"));
  if (!type.ok()) return type.status();
  const size_t element_size = kernels::ElementSize(*type);
  if (array.data().size() % element_size != 0) {
    return InvalidField(
        absl::StrCat(path, ".data"),
        absl::StrCat(array.data().size(), " bytes are not a multiple of the ", element_size,
                     " bytes of one ", kernels::ElementTypeName(*type)));
  }
  const absl::StatusOr<ArrayDescription> description =
      DescribeShape(array, *type, array.data().size() / element_size, absl::StrCat(path, ".shape"));
  if (!description.ok()) return description.status();
  return InputArray{*description,
                    {reinterpret_cast<const std::byte*>(array.data().data()), array.data().size()}};
}

absl::StatusOr<kernels::GroupingSpec> ValidateGrouping(const v1::Grouping& grouping,
                                                       const ArrayDescription& array,
                                                       const Limits& limits) {
  switch (grouping.kind_case()) {
    case v1::Grouping::kAxis: return ValidateAxis(grouping.axis(), array, limits);
    case v1::Grouping::kSegments: return ValidateSegments(grouping.segments(), limits);
    case v1::Grouping::KIND_NOT_SET: break;
  }
  return kernels::GroupingSpec{};
}

}  // namespace gridfold::server
