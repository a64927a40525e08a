#include "gridfold/statistic.h"

#include <array>
#include <cstddef>

namespace gridfold::client {
namespace {

// Empty for a number that is no Statistic.
constexpr absl::string_view NameOf(Statistic statistic) {
  switch (statistic) {
    case Statistic::kCount: return "count";
    case Statistic::kSum: return "sum";
    case Statistic::kProduct: return "product";
    case Statistic::kMin: return "min";
    case Statistic::kMax: return "max";
    case Statistic::kArgmin: return "argmin";
    case Statistic::kArgmax: return "argmax";
    case Statistic::kMean: return "mean";
    case Statistic::kVariance: return "variance";
    case Statistic::kStandardDeviation: return "standard_deviation";
    case Statistic::kL1Norm: return "l1_norm";
    case Statistic::kL2Norm: return "l2_norm";
    case Statistic::kNonzeroCount: return "nonzero_count";
    case Statistic::kNanCount: return "nan_count";
    case Statistic::kInfinityCount: return "infinity_count";
    case Statistic::kAll: return "all";
    case Statistic::kAny: return "any";
    case Statistic::kBitwiseAnd: return "bitwise_and";
    case Statistic::kBitwiseOr: return "bitwise_or";
    case Statistic::kBitwiseXor: return "bitwise_xor";
    case Statistic::kRange: return "range";
    case Statistic::kRootMeanSquare: return "root_mean_square";
    case Statistic::kStandardError: return "standard_error";
  }
  return {};
}

constexpr size_t CountStatistics() {
  size_t count = 0;
  while (!NameOf(static_cast<Statistic>(count + 1)).empty()) ++count;
  return count;
}

constexpr std::array<Statistic, CountStatistics()> MakeAll() {
  std::array<Statistic, CountStatistics()> all = {};
  for (size_t i = 0; i < all.size(); ++i) all[i] = static_cast<Statistic>(i + 1);
  return all;
}

constexpr auto kAll = MakeAll();

}  // namespace

std::span<const Statistic> AllStatistics() { return kAll; }

absl::string_view StatisticName(Statistic statistic) {
  const absl::string_view name = NameOf(statistic);
  return name.empty() ? "unknown" : name;
}

std::optional<Statistic> ParseStatistic(absl::string_view name) {
  for (Statistic statistic : kAll) {
    if (StatisticName(statistic) == name) return statistic;
  }
  return std::nullopt;
}

}  // namespace gridfold::client
