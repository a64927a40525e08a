#include "server/planning/array_validation.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "kernels/contract/invalid_field.h"
#include "server/base/identifier.h"
#include "server/planning/shape_validation.h"
#include "server/wire/proto_conversion.h"

namespace gridfold::server {

namespace {

using kernels::InvalidField;
using kernels::ShapedArray;

absl::StatusOr<InputArray> ValidateRegionSlice(const v1::RegionSlice& slice, std::string path,
                                               const TenantRegions& regions) {
  absl::StatusOr<RegionLease> region =
      FindRegion(slice.name(), absl::StrCat(path, ".name"), regions);
  if (!region.ok()) return region.status();
  const absl::StatusOr<kernels::ElementType> type =
      FromWire(slice.element_type(), absl::StrCat(path, ".element_type"));
  if (!type.ok()) return type.status();
  const absl::StatusOr<ShapedArray> array =
      ValidateShape(*type, slice.shape(), slice.zero_dimensional(), absl::StrCat(path, "."));
  if (!array.ok()) return array.status();
  const absl::StatusOr<kernels::MutableResidentSpan> place =
      PlaceInRegion(**region, slice.offset_bytes(), *type, array->size_bytes(),
                    absl::StrCat(path, ".offset_bytes"));
  if (!place.ok()) return place.status();
  return InputArray{
      array->description(), array->shape,       kernels::ResidentSpan(*place), std::move(path),
      std::nullopt,         *std::move(region), IsBool(slice.element_type())};
}

kernels::InputSpan DataOf(const v1::InlineArray& array, const DetachedData* detached) {
  if (detached != nullptr) {
    if (const auto data = detached->Find(array.data())) return *data;
  }
  return kernels::HostSpan{reinterpret_cast<const std::byte*>(array.data().data()),
                           array.data().size()};
}

absl::StatusOr<InputArray> ValidateInlineArray(const v1::InlineArray& array, std::string path,
                                               const DetachedData* detached) {
  const absl::StatusOr<kernels::ElementType> type =
      FromWire(array.element_type(), absl::StrCat(path, ".element_type"));
  if (!type.ok()) return type.status();
  const kernels::InputSpan data = DataOf(array, detached);
  const uint64_t size_bytes = kernels::SizeBytes(data);
  const size_t element_size = kernels::ElementSize(*type);
  if (size_bytes % element_size != 0) {
    return InvalidField(absl::StrCat(path, ".data"),
                        absl::StrCat(size_bytes, " bytes are not a multiple of the ", element_size,
                                     " bytes of one ", kernels::ElementTypeName(*type)));
  }
  const absl::StatusOr<ShapedArray> shaped =
      ValidateShapeOfData(*type, array.shape(), array.zero_dimensional(), size_bytes / element_size,
                          absl::StrCat(path, "."));
  if (!shaped.ok()) return shaped.status();
  return InputArray{
      shaped->description(),       shaped->shape, data, std::move(path), std::nullopt, nullptr,
      IsBool(array.element_type())};
}

// Makes of a whole array the slice that `cut` says.
absl::Status Cut(const v1::ArraySlice& cut, const std::string& field, ResidentSlice& slice) {
  ShapedArray& array = slice.description;
  const int dimensions = array.shape.dimension_count();
  if (dimensions == 0) return InvalidField(field, "the array has no dimensions");
  const uint64_t extent = array.shape[0];
  const char* const unit = dimensions == 1 ? " elements" : " rows";
  if (cut.first() > extent) {
    return InvalidField(absl::StrCat(field, ".first"),
                        absl::StrCat(cut.first(), " is past the ", extent, unit, " of the array"));
  }
  if (cut.count() > extent - cut.first()) {
    return InvalidField(absl::StrCat(field, ".count"),
                        absl::StrCat(cut.count(), unit, " from ", cut.first(),
                                     " on are more than the array's ", extent));
  }
  kernels::Shape shape{cut.first()};
  for (const uint64_t row_extent : array.shape.extents().subspan(1)) shape.Append(row_extent);
  slice.first_element = shape.element_count();
  shape.SetExtent(0, cut.count());
  array.shape = shape;
  slice.shards = CutShards(slice.shards, slice.first_element, array.element_count());
  return absl::OkStatus();
}

// The dimension of the view that goes along an axis of this extent from `first` on.
absl::StatusOr<kernels::StridedDimension> TakeDimension(const v1::ViewDimension& dimension,
                                                        const std::string& field, uint64_t extent,
                                                        uint64_t first, int64_t stride) {
  const int64_t step = dimension.step() == 0 ? 1 : dimension.step();
  const uint64_t count = dimension.count();
  if (count == 0) return kernels::StridedDimension{0, 0};
  if (first >= extent) return kernels::StridedDimension{count, 0};  // Which is told as a fault.
  // 64 bits wrap: of the least step there is, too.
  const uint64_t distance = step < 0 ? -static_cast<uint64_t>(step) : static_cast<uint64_t>(step);
  const uint64_t room = step < 0 ? first : extent - 1 - first;
  if (count - 1 > room / distance) {
    return InvalidField(absl::StrCat(field, ".count"),
                        absl::StrCat(count, " indices from ", first, " on in steps of ", step,
                                     " are not all among the axis' ", extent));
  }
  return kernels::StridedDimension{count, count == 1 ? 0 : step * stride};
}

// The view of an array of this shape.
absl::StatusOr<kernels::StridedView> ReadView(const v1::StridedView& from, const std::string& field,
                                              const kernels::Shape& shape) {
  const int axis_count = shape.dimension_count();
  if (from.first_size() != axis_count) {
    return InvalidField(absl::StrCat(field, ".first"),
                        absl::StrCat(from.first_size(), " entries, where the array has ",
                                     axis_count, " dimensions"));
  }
  const kernels::StridedView whole = kernels::WholeView(shape);
  kernels::StridedView view;
  std::array<std::optional<uint64_t>, kernels::kDimensionsMax> counts;  // Along each axis.
  for (int i = 0; i < from.dimensions_size(); ++i) {
    const v1::ViewDimension& dimension = from.dimensions(i);
    const std::string path = absl::StrCat(field, ".dimensions[", i, "]");
    if (dimension.axis() >= static_cast<uint32_t>(axis_count)) {
      return InvalidField(absl::StrCat(path, ".axis"),
                          absl::StrCat("there is no axis ", dimension.axis(), " of an array of ",
                                       axis_count, " dimensions"));
    }
    const auto axis = static_cast<int>(dimension.axis());
    std::optional<uint64_t>& count = counts[dimension.axis()];
    if (count) {
      return InvalidField(absl::StrCat(path, ".axis"),
                          absl::StrCat("axis ", axis, " is named twice"));
    }
    count = dimension.count();
    const absl::StatusOr<kernels::StridedDimension> taken = TakeDimension(
        dimension, path, shape[axis], from.first(axis), whole.dimensions[dimension.axis()].stride);
    if (!taken.ok()) return taken.status();
    view.dimensions.push_back(*taken);
  }
  for (int axis = 0; axis < axis_count; ++axis) {
    // Behind the last index no element can be, but nothing can begin there.
    const bool is_empty = counts[static_cast<size_t>(axis)] == uint64_t{0};
    const uint64_t end = shape[axis] + (is_empty ? 1 : 0);
    if (from.first(axis) >= end) {
      return InvalidField(
          absl::StrCat(field, ".first[", axis, "]"),
          absl::StrCat(from.first(axis), " is past the ", shape[axis], " indices of the axis"));
    }
    view.first += from.first(axis) *
                  static_cast<uint64_t>(whole.dimensions[static_cast<size_t>(axis)].stride);
  }
  return view;
}

// Makes of a whole array the view that `from` says: of the shards those elements that it lies in.
absl::Status TakeView(const v1::StridedView& from, const std::string& field, ResidentSlice& slice) {
  absl::StatusOr<kernels::StridedView> view = ReadView(from, field, slice.description.shape);
  if (!view.ok()) return view.status();
  const kernels::ElementRange range = kernels::RangeOf(*view);
  slice.description.shape = kernels::ShapeOf(*view);
  slice.shards = CutShards(slice.shards, range.first, range.count);
  slice.first_element = range.first;
  if (kernels::IsContiguous(*view)) return absl::OkStatus();
  view->first -= range.first;
  slice.view = *std::move(view);
  return absl::OkStatus();
}

}  // namespace

std::vector<ArrayShard> CutShards(const std::vector<ArrayShard>& shards, uint64_t first,
                                  uint64_t count) {
  std::vector<ArrayShard> cut;
  for (const ArrayShard& shard : shards) {
    const uint64_t begin = std::max(first, shard.first_element);
    const uint64_t end = std::min(first + count, shard.first_element + shard.element_count);
    if (begin >= end) continue;
    const uint64_t element_bytes = shard.span.size_bytes / shard.element_count;
    cut.push_back({.engine = shard.engine,
                   .first_element = begin - first,
                   .element_count = end - begin,
                   .span = {shard.span.data + (begin - shard.first_element) * element_bytes,
                            (end - begin) * element_bytes}});
  }
  // No elements lie anywhere.
  if (cut.empty()) cut.push_back({.engine = shards.front().engine});
  return cut;
}

kernels::Cuts CutsOf(const std::vector<ArrayShard>& shards) {
  kernels::Cuts cuts = {0};
  for (const ArrayShard& shard : shards) cuts.push_back(shard.first_element + shard.element_count);
  return cuts;
}

std::optional<uint32_t> InputArray::engine() const {
  if (resident) return is_sharded() ? std::nullopt : std::optional(resident->engine());
  return region != nullptr ? region->engine() : std::nullopt;
}

std::string InputArray::count_field() const {
  if (resident) return field;
  return absl::StrCat(field, region != nullptr ? ".shape" : ".data");
}

std::string InputArray::type_field() const {
  return resident ? field : absl::StrCat(field, ".element_type");
}

absl::StatusOr<RegionLease> FindRegion(const std::string& name, const std::string& field,
                                       const TenantRegions& regions) {
  if (absl::Status status = regions.CheckAllowed(); !status.ok()) return status;
  if (absl::Status status = ValidateArrayName(name, field); !status.ok()) return status;
  return regions.Find(name);
}

absl::StatusOr<kernels::MutableResidentSpan> PlaceInRegion(const StoredRegion& region,
                                                           uint64_t offset_bytes,
                                                           kernels::ElementType type,
                                                           uint64_t size_bytes,
                                                           absl::string_view offset_field) {
  if (offset_bytes % kernels::ElementSize(type) != 0) {
    return InvalidField(offset_field, absl::StrCat(offset_bytes, " is not a multiple of the ",
                                                   kernels::ElementSize(type), " bytes of one ",
                                                   kernels::ElementTypeName(type)));
  }
  const kernels::MutableResidentSpan whole = region.span();
  if (offset_bytes > whole.size_bytes || size_bytes > whole.size_bytes - offset_bytes) {
    return InvalidField(offset_field,
                        absl::StrCat(size_bytes, " bytes from ", offset_bytes,
                                     " on are not all among the region's ", whole.size_bytes));
  }
  return kernels::MutableResidentSpan{whole.data + offset_bytes, size_bytes, whole.is_mapped};
}

absl::StatusOr<ResidentSlice> ValidateResidentArray(const v1::ResidentArray& array,
                                                    const std::string& field,
                                                    const TenantArrays& arrays) {
  if (absl::Status status = ValidateArrayName(array.name(), absl::StrCat(field, ".name"));
      !status.ok()) {
    return status;
  }
  absl::StatusOr<FoundArray> found = arrays.Find(array.name());
  if (!found.ok()) return found.status();
  ResidentSlice slice{.description = found->info.description,
                      .shards = found->lease->shards(),
                      .first_element = 0,
                      .array = std::move(found->info),
                      .lease = std::move(found->lease)};
  if (array.has_slice() && array.has_view()) {
    return InvalidField(absl::StrCat(field, ".view"), "not together with slice");
  }
  if (array.has_view()) {
    absl::Status status = TakeView(array.view(), absl::StrCat(field, ".view"), slice);
    if (!status.ok()) return status;
  }
  if (array.has_slice()) {
    absl::Status status = Cut(array.slice(), absl::StrCat(field, ".slice"), slice);
    if (!status.ok()) return status;
  }
  return slice;
}

absl::StatusOr<InputArray> ValidateArray(const v1::ArraySource& source, absl::string_view field,
                                         const PlanningContext& context) {
  switch (source.source_case()) {
    case v1::ArraySource::kInlineArray:
      return ValidateInlineArray(source.inline_array(), absl::StrCat(field, ".inline_array"),
                                 context.detached);
    case v1::ArraySource::kResidentArray: {
      std::string path = absl::StrCat(field, ".resident_array");
      absl::StatusOr<ResidentSlice> slice =
          ValidateResidentArray(source.resident_array(), path, context.arrays);
      if (!slice.ok()) return slice.status();
      const kernels::ResidentSpan data =
          slice->is_sharded() ? kernels::ResidentSpan{nullptr, slice->description.size_bytes()}
                              : kernels::ResidentSpan(slice->span());
      const kernels::ShapedArray array = slice->description;
      return InputArray{array.description(), array.shape, data,         std::move(path),
                        *std::move(slice),   nullptr,     array.is_bool};
    }
    case v1::ArraySource::kRegionSlice:
      return ValidateRegionSlice(source.region_slice(), absl::StrCat(field, ".region_slice"),
                                 context.regions);
    case v1::ArraySource::kStreamedArray:
      return InvalidField(absl::StrCat(field, ".streamed_array"), "this call is not a stream");
    case v1::ArraySource::SOURCE_NOT_SET: break;
  }
  return InvalidField(field, "no array is given");
}

BulkField DetachableArrayData() {
  return {v1::InlineArray::descriptor()->FindFieldByNumber(v1::InlineArray::kDataFieldNumber),
          kDetachedBytesMin};
}

absl::StatusOr<ShapedArray> ValidateStreamedArray(const v1::ArraySource& source,
                                                  absl::string_view field) {
  if (!source.has_streamed_array()) {
    return InvalidField(field, "the array of a stream must be a streamed_array");
  }
  const v1::StreamedArray& array = source.streamed_array();
  const std::string path = absl::StrCat(field, ".streamed_array");
  const absl::StatusOr<kernels::ElementType> type =
      FromWire(array.element_type(), absl::StrCat(path, ".element_type"));
  if (!type.ok()) return type.status();
  const bool is_bool = IsBool(array.element_type());
  if (array.column_count() == 0) {
    absl::StatusOr<ShapedArray> rows =
        ValidateRowShape(*type, array.row_shape(), absl::StrCat(path, ".row_shape"));
    if (rows.ok()) rows->is_bool = is_bool;
    return rows;
  }
  if (!array.row_shape().empty()) {
    return InvalidField(absl::StrCat(path, ".row_shape"), "not together with column_count");
  }
  ShapedArray matrix(*type, kernels::Shape{0, array.column_count()});
  matrix.is_bool = is_bool;
  return matrix;
}

absl::Status RefuseBool(const v1::ArraySource& source, absl::string_view field) {
  if (!IsBool(source.streamed_array().element_type())) return absl::OkStatus();
  return InvalidField(absl::StrCat(field, ".streamed_array.element_type"),
                      "only reductions take a stream of bool: send uint8");
}

absl::Status RefuseRows(const v1::ArraySource& source, absl::string_view field,
                        absl::string_view description) {
  const v1::StreamedArray& array = source.streamed_array();
  if (array.column_count() == 0 && array.row_shape().empty()) return absl::OkStatus();
  return InvalidField(absl::StrCat(field, ".streamed_array.",
                                   array.column_count() != 0 ? "column_count" : "row_shape"),
                      description);
}

absl::Status ValidateStreamedMask(const v1::ArraySource& where) {
  constexpr char kField[] = "where";
  const absl::StatusOr<ShapedArray> mask = ValidateStreamedArray(where, kField);
  if (!mask.ok()) return mask.status();
  if (!mask->is_bool) {
    return InvalidField(
        absl::StrCat(kField, ".streamed_array.element_type"),
        absl::StrCat("a mask is of type bool, not ", kernels::ElementTypeName(mask->element_type)));
  }
  return RefuseRows(where, kField, "a streamed mask has one byte for each element, and no rows");
}

}  // namespace gridfold::server
