#include "client/load/work/shape_rules.h"

#include <algorithm>
#include <set>
#include <vector>

#include "absl/strings/str_cat.h"
#include "client/load/work/array_shape.h"
#include "client/load/work/wrong_field.h"
#include "gridfold/array_view.h"

namespace gridfold::load {
namespace {

constexpr uint64_t kColumnCountOfRelationsMax = 64;

// The field that says how many dimensions the operation is about.
std::string ShapeField(const RequestKind& kind, const std::string& path) {
  if (kind.view) return path + ".view";
  return path + (kind.row_shape.empty() ? ".columns" : ".row_shape");
}

// The elements of a group along axes, of an array of so many.
uint64_t GroupElements(const RequestKind& kind, uint64_t element_count) {
  const Extents shape = ShapeOf(kind, element_count);
  const std::vector<bool> is_reduced = ReducedAxes(kind, shape.size());
  uint64_t count = 1;
  for (size_t axis = 0; axis < shape.size(); ++axis) count *= is_reduced[axis] ? shape[axis] : 1;
  return count;
}

bool HasViews(OperationKind operation) {
  return operation != OperationKind::kKeyedReduction && operation != OperationKind::kRelation;
}

bool HasMasks(OperationKind operation) {
  return operation == OperationKind::kReduce || operation == OperationKind::kScan ||
         operation == OperationKind::kHistogram;
}

// The elements from `first` on, along an axis of `extent`.
absl::Status ValidateDimension(const ScenarioView::Dimension& dimension, uint64_t first,
                               uint64_t extent, const std::string& path) {
  const auto& [axis, count, step] = dimension;
  if (step == 0) return WrongField(path + ".step", "must not be 0");
  const uint64_t count_max = CountFrom(first, extent, step);
  if (!count || (*count >= 1 && *count <= count_max)) return absl::OkStatus();
  return WrongField(path + ".count", absl::StrCat("must be from 1 to ", count_max, ", the indices ",
                                                  "from ", first, " on in steps of ", step));
}

absl::Status ValidateViewedAxes(const ScenarioView& view, size_t axis_count,
                                const std::string& path) {
  if (view.dimensions.empty()) return WrongField(path + ".dimensions", "must not be empty");
  std::set<uint32_t> axes;
  for (size_t i = 0; i < view.dimensions.size(); ++i) {
    const uint32_t axis = view.dimensions[i].axis;
    const std::string field = absl::StrCat(path, ".dimensions[", i, "].axis");
    if (axis >= axis_count) {
      return WrongField(field, absl::StrCat("there is no axis ", axis, " of ", axis_count));
    }
    if (!axes.insert(axis).second) {
      return WrongField(field, absl::StrCat("axis ", axis, " is named twice"));
    }
  }
  return absl::OkStatus();
}

absl::Status ValidateFirst(const ScenarioView& view, const Extents& whole,
                           const std::string& path) {
  if (view.first.empty()) return absl::OkStatus();
  if (view.first.size() != whole.size()) {
    return WrongField(path, absl::StrCat("must be one index for each of ", whole.size(), " axes"));
  }
  for (size_t axis = 0; axis < whole.size(); ++axis) {
    if (view.first[axis] < whole[axis]) continue;
    return WrongField(path, absl::StrCat(view.first[axis], " is past the ", whole[axis],
                                         " indices of axis ", axis));
  }
  return absl::OkStatus();
}

absl::Status ValidateAxisNumbers(const std::vector<int32_t>& axes, size_t dimension_count,
                                 const std::string& path) {
  const auto end = static_cast<int64_t>(dimension_count);
  std::set<int64_t> known;
  for (const int64_t axis : axes) {
    if (axis < -end || axis >= end) {
      return WrongField(path, absl::StrCat("there is no axis ", axis, " of ", dimension_count));
    }
    if (!known.insert(axis < 0 ? axis + end : axis).second) {
      return WrongField(path, absl::StrCat("axis ", axis, " is named twice"));
    }
  }
  return absl::OkStatus();
}

// Whether a stream can reduce these axes row by row: the first ones, or the last ones.
bool IsOfStreams(const std::vector<bool>& is_reduced) {
  return std::is_sorted(is_reduced.begin(), is_reduced.end()) ||
         std::is_sorted(is_reduced.rbegin(), is_reduced.rend());
}

// Why the operation has no groups along axes or of segments; empty where it has.
const char* WhyNoGroups(OperationKind operation) {
  switch (operation) {
    case OperationKind::kHistogram: return "histograms have no groups";
    case OperationKind::kKeyedReduction: return "the groups are those of the keys";
    case OperationKind::kRelation: return "relations have no groups";
    case OperationKind::kReduce:
    case OperationKind::kScan:
    case OperationKind::kQuantiles:
    case OperationKind::kTop: break;
  }
  return "";
}

absl::Status ValidateSegments(const RequestKind& kind, const std::string& path) {
  if (DimensionCount(kind) != 1) {
    return WrongField(ShapeField(kind, path), "segments have one dimension");
  }
  if (kind.segment_elements < 1 || kind.segment_elements > kElementCountMax) {
    return WrongField(path + ".segment_elements", "must be from 1 to 2^34");
  }
  if (kind.transport == ArrayTransport::kStream && kind.operation != OperationKind::kReduce) {
    return WrongField(path + ".group_by", "streamed scans have no groups");
  }
  return absl::OkStatus();
}

absl::Status ValidateKeptDimensions(const RequestKind& kind, const std::string& path) {
  if (!kind.keep_dimensions) return absl::OkStatus();
  const std::string field = path + ".keep_dimensions";
  if (kind.operation != OperationKind::kReduce && kind.operation != OperationKind::kQuantiles) {
    return WrongField(field, "only reductions and quantiles can keep them");
  }
  if (kind.group_by == GroupBy::kSegments) return WrongField(field, "segments have none to keep");
  return absl::OkStatus();
}

}  // namespace

absl::Status ValidateRows(const RequestKind& kind, const std::string& path) {
  if (kind.operation == OperationKind::kRelation &&
      kind.column_count > kColumnCountOfRelationsMax) {
    return WrongField(
        path + ".columns",
        absl::StrCat("relations are those of ", kColumnCountOfRelationsMax, " columns at most"));
  }
  if (kind.row_shape.empty()) return absl::OkStatus();
  const std::string field = path + ".row_shape";
  if (kind.column_count > 0) return WrongField(field, "not together with columns");
  if (kind.operation == OperationKind::kRelation) return WrongField(field, "say columns");
  if (kind.row_shape.size() >= client::kDimensionsMax) {
    return WrongField(field, absl::StrCat("must be ", client::kDimensionsMax - 1,
                                          " extents at most, beside the first one"));
  }
  uint64_t room = kElementCountMax;
  for (const uint64_t extent : kind.row_shape) {
    if (extent < 1 || extent > room) {
      return WrongField(field, "must be extents from 1 on, of 2^34 elements together at most");
    }
    room /= extent;
  }
  return absl::OkStatus();
}

absl::Status ValidateElements(const RequestKind& kind, const std::string& path) {
  const std::string field = path + ".elements";
  std::vector<uint64_t> counts = kind.elements.choices;
  if (kind.elements.log_uniform) {
    const auto [low, high] = *kind.elements.log_uniform;
    if (low > high) return WrongField(field, "the first bound is above the second");
    counts = {low, high};
  }
  if (counts.empty()) return WrongField(field, "must not be empty");
  const uint64_t row_elements = RowElements(kind);
  const char* const row = kind.row_shape.empty() ? "columns" : "the elements of row_shape";
  for (const uint64_t count : counts) {
    if (count < 1 || count > kElementCountMax) return WrongField(field, "must be from 1 to 2^34");
    // Drawn counts are cut to whole rows, but need one.
    if (kind.elements.log_uniform) {
      if (count < row_elements) return WrongField(field, absl::StrCat("must be at least ", row));
    } else if (count % row_elements != 0) {
      return WrongField(field, absl::StrCat("must be a multiple of ", row));
    }
  }
  return absl::OkStatus();
}

// Larger arrays are only longer along their first axis, so that what is inside the smallest one is
// inside each.
absl::Status ValidateView(const RequestKind& kind, const std::string& path) {
  if (!kind.view) return absl::OkStatus();
  const std::string field = path + ".view";
  if (!HasViews(kind.operation)) {
    return WrongField(field, absl::StrCat("not of operation ", OperationName(kind.operation)));
  }
  if (kind.transport != ArrayTransport::kResident) {
    return WrongField(field, "only resident arrays have one");
  }
  const Extents whole = WholeShape(kind, ElementCountMin(kind));
  absl::Status status = ValidateViewedAxes(*kind.view, whole.size(), field);
  if (status.ok()) status = ValidateFirst(*kind.view, whole, field + ".first");
  if (!status.ok()) return status;
  const std::vector<uint64_t> first = FirstIndices(*kind.view, whole);
  for (size_t i = 0; status.ok() && i < kind.view->dimensions.size(); ++i) {
    const ScenarioView::Dimension& dimension = kind.view->dimensions[i];
    status = ValidateDimension(dimension, first[dimension.axis], whole[dimension.axis],
                               absl::StrCat(field, ".dimensions[", i, "]"));
  }
  return status;
}

absl::Status ValidateGroups(const RequestKind& kind, const std::string& path) {
  const std::string why = WhyNoGroups(kind.operation);
  const bool is_by_axis = kind.group_by == GroupBy::kRows || kind.group_by == GroupBy::kColumns;
  if (kind.group_by != GroupBy::kAll && !why.empty()) return WrongField(path + ".group_by", why);
  if (kind.group_by == GroupBy::kSegments) return ValidateSegments(kind, path);
  if (is_by_axis && DimensionCount(kind) != 2) {
    return WrongField(path + ".group_by", "needs columns, and so two dimensions");
  }
  if (kind.transport == ArrayTransport::kStream && kind.operation != OperationKind::kReduce &&
      DimensionCount(kind) != 1) {
    return WrongField(ShapeField(kind, path), "streams of scans and histograms have one dimension");
  }
  return absl::OkStatus();
}

absl::Status ValidateAxes(const RequestKind& kind, const std::string& path) {
  absl::Status kept = ValidateKeptDimensions(kind, path);
  if (!kept.ok() || !kind.axes) return kept;
  const std::string field = path + ".axes";
  const std::string why = WhyNoGroups(kind.operation);
  if (!why.empty()) return WrongField(field, why);
  if (kind.group_by != GroupBy::kAll) return WrongField(field, "not together with group_by");
  absl::Status status = ValidateAxisNumbers(*kind.axes, DimensionCount(kind), field);
  if (!status.ok()) return status;
  if (kind.operation == OperationKind::kScan && kind.axes->size() != 1) {
    return WrongField(field, "scans run along one");
  }
  if (kind.transport == ArrayTransport::kStream &&
      !IsOfStreams(ReducedAxes(kind, DimensionCount(kind)))) {
    return WrongField(field, "of a stream, which brings row by row, must be the first or the last");
  }
  return absl::OkStatus();
}

absl::Status ValidateMask(const RequestKind& kind, const std::string& path) {
  if (!kind.where) return absl::OkStatus();
  const std::string field = path + ".where";
  if (!HasMasks(kind.operation)) {
    return WrongField(field, "only reductions, scans and histograms have one");
  }
  if (!(kind.where->part > 0 && kind.where->part <= 1)) {
    return WrongField(field, "must be above 0, and 1 at most");
  }
  if (!kind.where->dimension_count) return absl::OkStatus();
  if (kind.transport == ArrayTransport::kStream) {
    return WrongField(field + ".dimensions", "the mask of a stream has those of the array");
  }
  if (*kind.where->dimension_count < 1 || *kind.where->dimension_count > DimensionCount(kind)) {
    return WrongField(
        field + ".dimensions",
        absl::StrCat("must be from 1 to ", DimensionCount(kind), ", those of the array"));
  }
  return absl::OkStatus();
}

uint64_t ElementCountMin(const RequestKind& kind) {
  const ElementCounts& elements = kind.elements;
  if (!elements.log_uniform) {
    return *std::min_element(elements.choices.begin(), elements.choices.end());
  }
  const uint64_t count = elements.log_uniform->first;
  return count - count % RowElements(kind);
}

uint64_t ElementCountMax(const RequestKind& kind) {
  const ElementCounts& elements = kind.elements;
  if (elements.log_uniform) return elements.log_uniform->second;
  return *std::max_element(elements.choices.begin(), elements.choices.end());
}

uint64_t OperationElementsMax(const RequestKind& kind) {
  return ProductOf(ShapeOf(kind, ElementCountMax(kind)));
}

uint64_t GroupElementsMin(const RequestKind& kind) {
  if (kind.group_by == GroupBy::kSegments) return 1;
  return GroupElements(kind, ElementCountMin(kind));
}

uint64_t GroupElementsMax(const RequestKind& kind) {
  if (kind.group_by == GroupBy::kSegments) {
    return std::min(OperationElementsMax(kind), 2 * kind.segment_elements - 1);
  }
  return GroupElements(kind, ElementCountMax(kind));
}

}  // namespace gridfold::load
