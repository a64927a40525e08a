#include "client/command_line/report/table_cells.h"

#include <algorithm>
#include <cstddef>
#include <limits>
#include <type_traits>
#include <utility>
#include <variant>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "client/command_line/input/element_dispatch.h"
#include "client/command_line/output/number_format.h"
#include "client/command_line/report/reduction_report.h"

namespace gridfold::client {
namespace {

std::string WithoutCommas(const std::string& text) {
  return absl::StrReplaceAll(text, {{",", ""}});
}

std::string EdgeText(const ResolvedBins& bins, absl::int128 first_value, uint64_t bin,
                     bool is_upper) {
  if (!bins.edges.empty()) return FormatReal(bins.edges[bin + (is_upper ? 1 : 0)]);
  const absl::int128 integer = first_value + bin;
  return integer < 0 ? absl::StrCat(static_cast<int64_t>(integer))
                     : absl::StrCat(static_cast<uint64_t>(integer));
}

}  // namespace

std::string TextOf(const StatisticValues& values, uint64_t group) {
  return WithoutCommas(FormatValue(values, group));
}

std::string TextOf(const ArrayView& array, uint64_t index) {
  return WithoutCommas(FormatElement(array, index));
}

std::vector<std::string> InputCells(const InputDescription& input) {
  return {input.source, input.column};
}

std::vector<std::string> HeadingWith(std::span<const uint64_t> shape) {
  std::vector<std::string> heading = {"source", "column"};
  for (size_t d = 0; d < shape.size(); ++d) heading.push_back(absl::StrCat("index_", d));
  return heading;
}

std::vector<std::string> RowWith(const InputDescription& input, std::span<const uint64_t> shape,
                                 uint64_t index) {
  std::vector<std::string> row = InputCells(input);
  row.resize(row.size() + shape.size());
  for (size_t d = 0; d < shape.size(); index /= shape[shape.size() - ++d]) {
    row[row.size() - 1 - d] = absl::StrCat(index % shape[shape.size() - 1 - d]);
  }
  return row;
}

void AddNames(const std::vector<ReductionResult::Entry>& entries,
              std::vector<std::string>& heading) {
  for (const ReductionResult::Entry& entry : entries) {
    heading.emplace_back(StatisticName(entry.statistic));
  }
}

void AddEntries(const std::vector<ReductionResult::Entry>& entries, uint64_t group,
                std::vector<std::string>& row) {
  for (const ReductionResult::Entry& entry : entries) {
    row.push_back(HasValue(entry, group) ? WithoutCommas(FormatValue(entry, group)) : "");
  }
}

void AddEdges(const ResolvedBins& bins, absl::int128 first_value, uint64_t bin,
              std::vector<std::string>& row) {
  for (const bool is_upper : {false, true}) {
    row.push_back(EdgeText(bins, first_value, bin, is_upper));
  }
}

HostArray ToArray(const StatisticValues& values, std::vector<uint64_t> shape) {
  HostArray array = {.shape = std::move(shape)};
  std::visit(
      [&](const auto& list) {
        using T = typename std::decay_t<decltype(list)>::value_type;
        if constexpr (std::is_same_v<T, bool>) {
          array.element_type = ElementType::kUint8;
          for (const bool value : list) array.bytes.push_back(value ? 1 : 0);
        } else {
          array.element_type = std::is_same_v<T, double>    ? ElementType::kFloat64
                               : std::is_same_v<T, int64_t> ? ElementType::kInt64
                                                            : ElementType::kUint64;
          array.bytes.assign(reinterpret_cast<const char*>(list.data()), list.size() * sizeof(T));
        }
      },
      values);
  return array;
}

namespace {

std::string NanOf(ElementType type) {
  return DispatchElementType(type, [](auto tag) {
    using T = typename decltype(tag)::Type;
    T nan{};
    if constexpr (std::is_floating_point_v<T>) nan = std::numeric_limits<T>::quiet_NaN();
    if constexpr (std::is_same_v<T, Float16>) nan.bits = 0x7E00;
    if constexpr (std::is_same_v<T, Bfloat16>) nan.bits = 0x7FC0;
    return std::string(reinterpret_cast<const char*>(&nan), sizeof(T));
  });
}

// Values that are packed in a narrower type; NaN where a group has none.
HostArray ToTypedArray(const ReductionResult::Entry& entry, std::vector<uint64_t> shape) {
  HostArray array = {
      .element_type = entry.output_type, .shape = std::move(shape), .bytes = entry.data};
  const std::string nan = NanOf(entry.output_type);
  for (uint64_t group = 0; group < entry.has_value.size(); ++group) {
    if (!HasValue(entry, group)) array.bytes.replace(group * nan.size(), nan.size(), nan);
  }
  return array;
}

}  // namespace

absl::StatusOr<HostArray> ToArray(const std::vector<ReductionResult::Entry>& entries,
                                  std::vector<uint64_t> shape) {
  if (entries.size() != 1) {
    return absl::InvalidArgumentError(absl::StrCat("--output: .npy holds one array, and these are ",
                                                   entries.size(),
                                                   " statistics; ask for one by --stat"));
  }
  const ReductionResult::Entry& entry = entries[0];
  if (entry.output_type != ElementType::kFloat64) return ToTypedArray(entry, std::move(shape));
  const bool lacks_values =
      std::find(entry.has_value.begin(), entry.has_value.end(), false) != entry.has_value.end();
  if (!lacks_values) return ToArray(entry.values, std::move(shape));
  const auto* const given = std::get_if<std::vector<double>>(&entry.values);
  if (given == nullptr) {
    return absl::InvalidArgumentError(absl::StrCat(
        "--output: .npy has no place for a value that a group does not have (",
        StatisticName(entry.statistic), "); give --empty a value, or ask for another form"));
  }
  std::vector<double> values = *given;
  for (uint64_t group = 0; group < values.size(); ++group) {
    if (!HasValue(entry, group)) values[group] = std::numeric_limits<double>::quiet_NaN();
  }
  return ToArray(StatisticValues(std::move(values)), std::move(shape));
}

}  // namespace gridfold::client
