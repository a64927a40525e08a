#include "kernels/contract/bin_rule.h"

#include <algorithm>
#include <cmath>
#include <numbers>

namespace gridfold::kernels {

namespace {

double WidthOfSturges(const SampleSummary& samples, double count) {
  return (samples.largest - samples.smallest) / (std::log2(count) + 1.0);
}

double WidthOfFreedmanAndDiaconis(const SampleSummary& samples, double count) {
  return 2.0 * (samples.upper_quartile - samples.lower_quartile) / std::pow(count, 1.0 / 3);
}

// 0 where the samples do not differ.
double WidthByRule(BinRule rule, const SampleSummary& samples) {
  const auto count = static_cast<double>(samples.count);
  const double range = samples.largest - samples.smallest;
  switch (rule) {
    case BinRule::kAuto: {
      const double sturges = WidthOfSturges(samples, count);
      const double width = WidthOfFreedmanAndDiaconis(samples, count);
      return width == 0 ? sturges : std::min(width, sturges);
    }
    case BinRule::kFreedmanDiaconis: return WidthOfFreedmanAndDiaconis(samples, count);
    case BinRule::kScott:
      return std::pow(24.0 * std::sqrt(std::numbers::pi) / count, 1.0 / 3) *
             samples.standard_deviation;
    case BinRule::kRice: return range / (2.0 * std::pow(count, 1.0 / 3));
    case BinRule::kSturges: return WidthOfSturges(samples, count);
    case BinRule::kSqrt: return range / std::sqrt(count);
  }
  return 0;
}

}  // namespace

double BinCountByRule(BinRule rule, const SampleSummary& samples, double lower, double upper) {
  if (samples.count == 0) return 1;
  const double width = WidthByRule(rule, samples);
  if (width == 0) return 1;
  const double count = std::ceil((upper - lower) / width);
  // Not a number: both are past the largest float64.
  return count >= 1 ? count : 1;
}

}  // namespace gridfold::kernels
