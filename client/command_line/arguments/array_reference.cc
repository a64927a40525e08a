#include "client/command_line/arguments/array_reference.h"

#include <algorithm>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"
#include "client/command_line/arguments/number_list.h"
#include "client/command_line/input/number_parsing.h"

namespace gridfold::client {
namespace {

absl::StatusOr<ArraySlice> ParseSlice(absl::string_view flag, absl::string_view text) {
  const absl::StatusOr<std::vector<uint64_t>> numbers = ParseNumberList<uint64_t>(flag, text, ':');
  if (!numbers.ok()) return numbers.status();
  if (numbers->size() != 2) {
    return absl::InvalidArgumentError(absl::StrCat(
        flag,
        ": two numbers are needed in brackets, [FIRST:COUNT]; NumPy's indices stand in braces"));
  }
  return ArraySlice{(*numbers)[0], (*numbers)[1]};
}

// Whether the text is a number, or nothing.
bool ParsePart(absl::string_view text, std::optional<int64_t>& part) {
  part = ParseNumber<int64_t>(text);
  return part || absl::StripAsciiWhitespace(text).empty();
}

// Nothing where `text` is no index.
std::optional<BasicIndex> ParseIndex(absl::string_view text) {
  if (absl::StripAsciiWhitespace(text) == "...") return EllipsisIndex{};
  const std::vector<absl::string_view> parts = absl::StrSplit(text, ':');
  if (parts.size() == 1) {
    const std::optional<int64_t> index = ParseNumber<int64_t>(text);
    return index ? std::optional<BasicIndex>(*index) : std::nullopt;
  }
  SliceIndex slice;
  std::optional<int64_t> step;
  if (parts.size() > 3 || !ParsePart(parts[0], slice.begin) || !ParsePart(parts[1], slice.end) ||
      (parts.size() == 3 && !ParsePart(parts[2], step)) || step == 0) {
    return std::nullopt;
  }
  slice.step = step.value_or(1);
  return slice;
}

absl::StatusOr<std::vector<BasicIndex>> ParseIndices(absl::string_view flag,
                                                     absl::string_view text) {
  std::vector<BasicIndex> indices;
  bool has_ellipsis = false;
  for (const absl::string_view part : absl::StrSplit(text, ',')) {
    const std::optional<BasicIndex> index = ParseIndex(part);
    if (!index) {
      return absl::InvalidArgumentError(
          absl::StrCat(flag, ": '", absl::StripAsciiWhitespace(part),
                       "' is no index, such as 3, 10:20, ::-1 or ...; steps are not 0"));
    }
    if (std::holds_alternative<EllipsisIndex>(*index) && std::exchange(has_ellipsis, true)) {
      return absl::InvalidArgumentError(absl::StrCat(flag, ": ... stands once at most"));
    }
    indices.push_back(*index);
  }
  return indices;
}

// As many indices as there are dimensions; those that are left out are all of a dimension.
absl::StatusOr<std::vector<BasicIndex>> Complete(const ArrayReference& reference,
                                                 size_t dimensions) {
  std::vector<BasicIndex> indices = reference.indices;
  auto ellipsis = std::find_if(indices.begin(), indices.end(), [](const BasicIndex& index) {
    return std::holds_alternative<EllipsisIndex>(index);
  });
  if (ellipsis != indices.end()) ellipsis = indices.erase(ellipsis);
  if (indices.size() > dimensions) {
    return absl::InvalidArgumentError(absl::StrCat(reference.flag, ": ", indices.size(),
                                                   " indices are more than the array's ",
                                                   dimensions, " dimensions"));
  }
  indices.insert(ellipsis, dimensions - indices.size(), SliceIndex{});
  return indices;
}

// The first index and how many there are, by the rules of Python's slice.indices.
ArraySlice TakenBy(const SliceIndex& slice, int64_t extent) {
  const bool is_forward = slice.step > 0;
  const int64_t lowest = is_forward ? 0 : -1;
  const auto place = [&](std::optional<int64_t> index, int64_t otherwise) {
    if (!index) return otherwise;
    return std::clamp(*index < 0 ? *index + extent : *index, lowest, lowest + extent);
  };
  const int64_t begin = place(slice.begin, is_forward ? 0 : extent - 1);
  const int64_t end = place(slice.end, is_forward ? extent : -1);
  const int64_t distance = is_forward ? end - begin : begin - end;
  if (distance <= 0) return {0, 0};
  const auto step = static_cast<uint64_t>(slice.step);
  return {.first = static_cast<uint64_t>(begin),
          .count = (static_cast<uint64_t>(distance) - 1) / (is_forward ? step : -step) + 1};
}

// The run of rows that a view is, if it is one.
std::optional<ArraySlice> AsRows(const StridedView& view, const std::vector<uint64_t>& shape) {
  if (shape.empty() || view.dimensions.size() != shape.size()) return std::nullopt;
  for (const ViewDimension& dimension : view.dimensions) {
    const bool is_whole = dimension.count == shape[dimension.axis];
    if (dimension.step != 1 || (dimension.axis > 0 && !is_whole)) return std::nullopt;
  }
  return ArraySlice{view.first[0], view.dimensions[0].count};
}

}  // namespace

absl::StatusOr<ArrayReference> ParseReference(absl::string_view flag, absl::string_view text) {
  const size_t bracket = text.find_first_of("[{");
  ArrayReference reference{.flag = std::string(flag),
                           .text = std::string(text),
                           .name = std::string(text.substr(0, bracket))};
  if (reference.name.empty()) return absl::InvalidArgumentError(absl::StrCat(flag, ": no name"));
  if (bracket == absl::string_view::npos) return reference;
  const bool has_indices = text[bracket] == '{';
  absl::string_view inside = text.substr(bracket + 1);
  if (!absl::ConsumeSuffix(&inside, has_indices ? "}" : "]")) {
    return absl::InvalidArgumentError(
        absl::StrCat(flag, ": '", text, "' does not end with ", has_indices ? "}" : "]"));
  }
  if (has_indices) {
    absl::StatusOr<std::vector<BasicIndex>> indices = ParseIndices(flag, inside);
    if (!indices.ok()) return indices.status();
    reference.indices = *std::move(indices);
  } else {
    const absl::StatusOr<ArraySlice> slice = ParseSlice(flag, inside);
    if (!slice.ok()) return slice.status();
    reference.slice = *slice;
  }
  return reference;
}

absl::StatusOr<ResidentArray> Resolve(const ArrayReference& reference,
                                      const std::vector<uint64_t>& shape) {
  ResidentArray array{.name = reference.name, .slice = reference.slice};
  if (reference.indices.empty()) return array;
  const absl::StatusOr<std::vector<BasicIndex>> indices = Complete(reference, shape.size());
  if (!indices.ok()) return indices.status();
  StridedView view;
  for (size_t axis = 0; axis < shape.size(); ++axis) {
    const auto extent = static_cast<int64_t>(shape[axis]);
    if (const auto* const slice = std::get_if<SliceIndex>(&(*indices)[axis])) {
      const auto [first, count] = TakenBy(*slice, extent);
      view.first.push_back(first);
      view.dimensions.push_back({.axis = static_cast<uint32_t>(axis),
                                 .count = count,
                                 .step = count > 1 ? slice->step : 1});
      continue;
    }
    const int64_t index = std::get<int64_t>((*indices)[axis]);
    if (index < -extent || index >= extent) {
      return absl::InvalidArgumentError(absl::StrCat(reference.flag, ": index ", index,
                                                     " is outside axis ", axis, " of ", extent,
                                                     " elements"));
    }
    view.first.push_back(static_cast<uint64_t>(index < 0 ? index + extent : index));
  }
  // Sharded arrays are read, and scanned in place, by slices only.
  array.slice = AsRows(view, shape);
  if (!array.slice) array.view = std::move(view);
  return array;
}

}  // namespace gridfold::client
