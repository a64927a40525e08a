#include "gridfold/statistic.h"

#include <array>
#include <cstddef>

namespace gridfold::client {
namespace {

constexpr std::array<absl::string_view, 20> kNames = {
    "count",   "sum",     "product",       "min",        "max",
    "argmin",  "argmax",  "mean",          "variance",   "standard_deviation",
    "l1_norm", "l2_norm", "nonzero_count", "nan_count",  "infinity_count",
    "all",     "any",     "bitwise_and",   "bitwise_or", "bitwise_xor",
};

constexpr std::array<Statistic, kNames.size()> MakeAll() {
  std::array<Statistic, kNames.size()> all = {};
  for (size_t i = 0; i < all.size(); ++i) all[i] = static_cast<Statistic>(i + 1);
  return all;
}

constexpr std::array<Statistic, kNames.size()> kAll = MakeAll();
static_assert(kAll.front() == Statistic::kCount && kAll.back() == Statistic::kBitwiseXor);

}  // namespace

std::span<const Statistic> AllStatistics() { return kAll; }

absl::string_view StatisticName(Statistic statistic) {
  const size_t index = static_cast<size_t>(statistic) - 1;  // 0 wraps around, out of range.
  return index < kNames.size() ? kNames[index] : "unknown";
}

std::optional<Statistic> ParseStatistic(absl::string_view name) {
  for (Statistic statistic : kAll) {
    if (StatisticName(statistic) == name) return statistic;
  }
  return std::nullopt;
}

}  // namespace gridfold::client
