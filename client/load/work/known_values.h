// Values of answers, of the kinds in which the server gives them.
#ifndef GRIDFOLD_CLIENT_LOAD_WORK_KNOWN_VALUES_H_
#define GRIDFOLD_CLIENT_LOAD_WORK_KNOWN_VALUES_H_

#include <algorithm>
#include <cstdint>
#include <string>
#include <type_traits>
#include <variant>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "gridfold/element_type.h"
#include "gridfold/reduction.h"

namespace gridfold::load {

// Values of "element kind", which hold the numbers.
template <typename Number>
client::StatisticValues OfElementKind(client::ElementType type,
                                      const std::vector<Number>& numbers) {
  if (type >= client::ElementType::kFloat16) {
    return std::vector<double>(numbers.begin(), numbers.end());
  }
  if (type >= client::ElementType::kUint8) {
    return std::vector<uint64_t>(numbers.begin(), numbers.end());
  }
  return std::vector<int64_t>(numbers.begin(), numbers.end());
}

// Whether values are of the same kind, and equal or both NaN.
inline bool AreSame(const client::StatisticValues& left, const client::StatisticValues& right) {
  if (left.index() != right.index()) return false;
  return std::visit(
      [&](const auto& values) {
        const auto& others = std::get<std::decay_t<decltype(values)>>(right);
        return std::equal(values.begin(), values.end(), others.begin(), others.end(),
                          [](auto a, auto b) { return a == b || (a != a && b != b); });
      },
      left);
}

// What is wrong with the shape of values; empty where nothing is.
inline std::string ShapeDifference(const std::vector<uint64_t>& known,
                                   const std::vector<uint64_t>& shape) {
  if (shape == known) return "";
  return absl::StrCat("the shape is [", absl::StrJoin(shape, ", "), "], not [",
                      absl::StrJoin(known, ", "), "]");
}

// The first entry of statistics that is not as it must be, by what `name` calls its statistic;
// empty where all are.
template <typename Entry, typename Name>
std::string EntryDifference(const std::vector<Entry>& known, const std::vector<Entry>& entries,
                            Name name) {
  if (entries.size() != known.size()) {
    return absl::StrCat(entries.size(), " statistics, not ", known.size());
  }
  for (size_t i = 0; i < known.size(); ++i) {
    if (entries[i].statistic != known[i].statistic ||
        !AreSame(entries[i].values, known[i].values)) {
      return absl::StrCat(std::string(name(known[i].statistic)), " is wrong");
    }
  }
  return "";
}

}  // namespace gridfold::load

#endif  // GRIDFOLD_CLIENT_LOAD_WORK_KNOWN_VALUES_H_
