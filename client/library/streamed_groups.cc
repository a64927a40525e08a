#include "client/library/streamed_groups.h"

#include <cstddef>
#include <optional>
#include <span>
#include <variant>
#include <vector>

namespace gridfold::client {
namespace {

// For each dimension whether it is reduced; nothing where an axis is none of them, or comes twice.
std::optional<std::vector<bool>> ReducedDimensions(const Grouping& grouping, size_t count) {
  if (std::holds_alternative<WholeArray>(grouping)) return std::vector<bool>(count, true);
  std::vector<int64_t> axes;
  if (const auto* const axis = std::get_if<Axis>(&grouping)) axes = {int64_t{axis->axis}};
  if (const auto* const several = std::get_if<Axes>(&grouping)) {
    axes.assign(several->axes.begin(), several->axes.end());
  }
  const auto dimensions = static_cast<int64_t>(count);
  std::vector<bool> is_reduced(count);
  for (const int64_t axis : axes) {
    if (axis < -dimensions || axis >= dimensions) return std::nullopt;
    const auto place = static_cast<size_t>(axis < 0 ? axis + dimensions : axis);
    if (is_reduced[place]) return std::nullopt;
    is_reduced[place] = true;
  }
  return is_reduced;
}

// Dimensions of an array without a shape: one.
size_t DimensionCount(const ArrayView& array) {
  return array.shape().empty() ? 1 : array.shape().size();
}

}  // namespace

StreamedArray ToStreamed(const ArrayView& array) {
  const std::span<const uint64_t> shape = array.shape();
  StreamedArray streamed{.element_type = array.element_type()};
  if (shape.size() == 2) streamed.column_count = shape[1];
  if (shape.size() > 2) streamed.row_shape.assign(shape.begin() + 1, shape.end());
  return streamed;
}

bool CanStreamGroups(const ArrayView& array, const ReductionOptions& options) {
  const std::span<const uint64_t> shape = array.shape();
  if (array.is_zero_dimensional()) return false;
  if (shape.size() > 1 && array.element_count() == 0) return false;
  if (std::holds_alternative<Segments>(options.grouping)) {
    return shape.size() < 2 && !options.keep_dimensions;
  }
  const auto is_reduced = ReducedDimensions(options.grouping, DimensionCount(array));
  if (!is_reduced) return false;
  int changes = 0;
  bool last = is_reduced->front();
  for (size_t d = 1; d < shape.size(); ++d) {
    if (shape[d] == 1) continue;
    changes += (*is_reduced)[d] != last ? 1 : 0;
    last = (*is_reduced)[d];
  }
  return changes <= 1;
}

uint64_t GroupsAcrossRows(const ArrayView& array, const Grouping& grouping) {
  if (std::holds_alternative<Segments>(grouping)) return 0;
  const auto is_reduced = ReducedDimensions(grouping, DimensionCount(array));
  if (!is_reduced || !is_reduced->front()) return 0;
  uint64_t groups = 1;
  for (size_t d = 1; d < array.shape().size(); ++d) {
    if (!(*is_reduced)[d]) groups *= array.shape()[d];
  }
  return groups;
}

}  // namespace gridfold::client
