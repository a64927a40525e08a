#include "client/load/work/group_quantiles.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "absl/strings/str_cat.h"
#include "client/load/work/known_values.h"

namespace gridfold::load {
namespace {

using client::QuantileMethod;

bool Interpolates(QuantileMethod method) {
  return method == QuantileMethod::kLinear || method == QuantileMethod::kMidpoint ||
         method == QuantileMethod::kMean;
}

// Interpolation as NumPy does it, from the nearer end.
double Between(double lower, double upper, double part) {
  const double distance = upper - lower;
  return part < 0.5 ? lower + distance * part : upper - distance * (1 - part);
}

// Elements are integers, and float64 holds them exactly.
double QuantileOf(const std::vector<int32_t>& sorted, double quantile, QuantileMethod method) {
  const double place = static_cast<double>(sorted.size() - 1) * quantile;
  const auto element = [&](double at) -> double { return sorted[static_cast<size_t>(at)]; };
  const double lower = element(std::floor(place));
  const double upper = element(std::ceil(place));
  switch (method) {
    case QuantileMethod::kLower: return lower;
    case QuantileMethod::kHigher: return upper;
    case QuantileMethod::kNearest: return element(std::nearbyint(place));
    case QuantileMethod::kMidpoint: return Between(lower, upper, 0.5);
    case QuantileMethod::kMean: return (lower + upper) / 2;
    case QuantileMethod::kInvertedCdf:  // Of no scenario.
    case QuantileMethod::kLinear: break;
  }
  return Between(lower, upper, place - std::floor(place));
}

}  // namespace

std::vector<client::StatisticValues> QuantilesOf(const RequestKind& kind, Groups groups) {
  for (std::vector<int32_t>& group : groups) std::sort(group.begin(), group.end());
  std::vector<client::StatisticValues> values;
  for (const double quantile : kind.quantiles) {
    std::vector<double> numbers;
    for (const std::vector<int32_t>& group : groups) {
      numbers.push_back(QuantileOf(group, quantile, kind.quantile_method));
    }
    values.push_back(Interpolates(kind.quantile_method)
                         ? client::StatisticValues(std::move(numbers))
                         : OfElementKind(kind.element_type, numbers));
  }
  return values;
}

std::string QuantileDifference(const std::vector<client::StatisticValues>& known,
                               const std::vector<client::StatisticValues>& values) {
  if (values.size() != known.size()) {
    return absl::StrCat(values.size(), " quantiles, not ", known.size());
  }
  for (size_t i = 0; i < known.size(); ++i) {
    if (!AreSame(values[i], known[i])) return absl::StrCat("quantile ", i, " is wrong");
  }
  return "";
}

}  // namespace gridfold::load
