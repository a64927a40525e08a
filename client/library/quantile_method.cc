// The names of quantile methods.
#include <algorithm>
#include <array>

#include "gridfold/quantiles.h"

namespace gridfold::client {
namespace {

constexpr std::array kAll = {QuantileMethod::kLinear,     QuantileMethod::kLower,
                             QuantileMethod::kHigher,     QuantileMethod::kNearest,
                             QuantileMethod::kMidpoint,   QuantileMethod::kMean,
                             QuantileMethod::kInvertedCdf};
// The last one needs weights.
static_assert(kAll.back() == QuantileMethod::kInvertedCdf);

}  // namespace

std::span<const QuantileMethod> AllQuantileMethods() { return kAll; }

std::span<const QuantileMethod> UnweightedQuantileMethods() {
  return AllQuantileMethods().first(kAll.size() - 1);
}

absl::string_view QuantileMethodName(QuantileMethod method) {
  switch (method) {
    case QuantileMethod::kLinear: return "linear";
    case QuantileMethod::kLower: return "lower";
    case QuantileMethod::kHigher: return "higher";
    case QuantileMethod::kNearest: return "nearest";
    case QuantileMethod::kMidpoint: return "midpoint";
    case QuantileMethod::kMean: return "mean";
    case QuantileMethod::kInvertedCdf: return "inverted_cdf";
  }
  return "unknown";
}

std::optional<QuantileMethod> ParseQuantileMethod(absl::string_view name) {
  const auto* const method = std::find_if(kAll.begin(), kAll.end(), [name](QuantileMethod known) {
    return QuantileMethodName(known) == name;
  });
  if (method == kAll.end()) return std::nullopt;
  return *method;
}

}  // namespace gridfold::client
