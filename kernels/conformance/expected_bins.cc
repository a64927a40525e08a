#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <variant>

#include "kernels/conformance/histogram_oracle.h"

namespace gridfold::kernels::conformance {

namespace {

// The nearest double on the other side of a sample, where no double equals it.
double RoundedDown(long double x) {
  const auto nearest = static_cast<double>(x);
  return nearest > x ? std::nextafter(nearest, -HUGE_VAL) : nearest;
}
double RoundedUp(long double x) {
  const auto nearest = static_cast<double>(x);
  return nearest < x ? std::nextafter(nearest, HUGE_VAL) : nearest;
}

struct Range {
  double lower;
  double upper;
};

// The samples' range, with bounds that no sample is outside of.
Range SamplesRange(const TestArray& samples, uint64_t first, uint64_t stride) {
  long double smallest = HUGE_VALL;
  long double largest = -HUGE_VALL;
  for (uint64_t i = first; i < samples.size(); i += stride) {
    const long double x = samples[i];
    if (!std::isfinite(x)) continue;
    smallest = std::min(smallest, x);
    largest = std::max(largest, x);
  }
  if (smallest > largest) return {0, 1};
  return {RoundedDown(smallest) + 0.0, RoundedUp(largest) + 0.0};
}

// NumPy's linspace; of halves where the range would overflow.
std::vector<double> EvenEdges(Range range, uint64_t count) {
  if (std::isinf(range.upper - range.lower)) {
    std::vector<double> halves = EvenEdges({range.lower / 2, range.upper / 2}, count);
    for (double& edge : halves) edge *= 2;
    return halves;
  }
  const double step = (range.upper - range.lower) / static_cast<double>(count);
  std::vector<double> edges;
  for (uint64_t i = 0; i < count; ++i) {
    // Two roundings: the build forbids to contract them into one.
    const double offset = static_cast<double>(i) * step;
    edges.push_back(offset + range.lower);
  }
  edges.push_back(range.upper);
  return edges;
}

bool AreBins(const std::vector<double>& edges) {
  const bool increase =
      std::adjacent_find(edges.begin(), edges.end(), std::greater_equal<>()) == edges.end();
  return increase && std::isfinite(static_cast<double>(edges.size() - 1) /
                                   (edges.back() / 2 - edges.front() / 2) / 2);
}

// Every power of two is tried, from the smallest on, until all edges differ.
std::vector<double> AutomaticEdges(Range range, uint64_t count) {
  std::vector<double> edges = EvenEdges(range, count);
  constexpr double kMost = std::numeric_limits<double>::max();
  double margin = range.lower == range.upper ? 0.5 : std::numeric_limits<double>::denorm_min();
  for (; !AreBins(edges) && std::isfinite(margin); margin *= 2) {
    edges = EvenEdges(
        {std::max(range.lower - margin, -kMost), std::min(range.upper + margin, kMost)}, count);
  }
  return edges;
}

std::vector<double> LogarithmicEdges(const LogarithmicBinsSpec& spec) {
  const auto count = static_cast<long double>(spec.bin_count);
  std::vector<double> edges = {spec.lower_bound};
  for (uint64_t i = 1; i < spec.bin_count; ++i) {
    const long double part = static_cast<long double>(i) / count;
    edges.push_back(
        static_cast<double>(std::pow(static_cast<long double>(spec.lower_bound), 1 - part) *
                            std::pow(static_cast<long double>(spec.upper_bound), part)));
  }
  edges.push_back(spec.upper_bound);
  return edges;
}

}  // namespace

ExpectedBins ExpectBins(const BinSpec& spec, const TestArray& samples, uint64_t first,
                        uint64_t stride) {
  ExpectedBins bins;
  if (const auto* even = std::get_if<EvenBinsSpec>(&spec)) {
    bins.edges = even->lower_bound.has_value()
                     ? EvenEdges({*even->lower_bound, *even->upper_bound}, even->bin_count)
                     : AutomaticEdges(SamplesRange(samples, first, stride), even->bin_count);
  } else if (const auto* given = std::get_if<EdgeBinsSpec>(&spec)) {
    bins.edges = given->edges;
  } else if (const auto* logarithmic = std::get_if<LogarithmicBinsSpec>(&spec)) {
    bins.edges = LogarithmicEdges(*logarithmic);
  } else {
    const auto& integer = std::get<IntegerBinsSpec>(spec);
    bins.is_integer = true;
    bins.first_value = integer.first_value;
    if (integer.first_unsigned_value != 0) bins.first_value = integer.first_unsigned_value;
    bins.count = integer.bin_count;
    return bins;
  }
  bins.count = bins.edges.size() - 1;
  return bins;
}

}  // namespace gridfold::kernels::conformance
