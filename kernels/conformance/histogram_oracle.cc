#include "kernels/conformance/histogram_oracle.h"

#include <algorithm>
#include <cmath>
#include <utility>
#include <variant>

#include "absl/strings/str_cat.h"
#include "gtest/gtest.h"
#include "kernels/conformance/weight_oracle.h"

namespace gridfold::kernels::conformance {

namespace {

enum class Outcome { kInside, kBelow, kAbove, kNan };

struct Located {
  Outcome outcome;
  uint64_t bin = 0;  // Of a sample outside: the bin that it is clamped to.
};

Located LocateInteger(const ExpectedBins& bins, long double x) {
  const __int128 offset = static_cast<__int128>(x) - bins.first_value;
  if (offset < 0) return {Outcome::kBelow, 0};
  if (offset >= static_cast<__int128>(bins.count)) return {Outcome::kAbove, bins.count - 1};
  return {Outcome::kInside, static_cast<uint64_t>(offset)};
}

// All numbers here are exact in long double, so these comparisons are those of real numbers.
Located Locate(const ExpectedBins& bins, long double x) {
  if (std::isnan(x)) return {Outcome::kNan};
  if (bins.is_integer) return LocateInteger(bins, x);
  if (x < bins.edges.front()) return {Outcome::kBelow, 0};
  if (x > bins.edges.back()) return {Outcome::kAbove, bins.count - 1};
  const auto above = std::upper_bound(
      bins.edges.begin(), bins.edges.end(), x,
      [](long double a, double edge) { return a < static_cast<long double>(edge); });
  const auto bin = static_cast<uint64_t>(above - bins.edges.begin() - 1);
  return {Outcome::kInside, std::min(bin, bins.count - 1)};
}

// Counters of one channel, or of both axes together.
struct Expected {
  std::vector<uint64_t> counts;
  std::vector<WeightInBin> weights;
  uint64_t below = 0;
  uint64_t above = 0;
  uint64_t nan = 0;

  explicit Expected(uint64_t bin_count) : counts(bin_count) {}

  // The bin counts only if `in_bin`.
  void Take(Outcome outcome, bool in_bin, uint64_t bin, long double weight) {
    below += outcome == Outcome::kBelow ? 1 : 0;
    above += outcome == Outcome::kAbove ? 1 : 0;
    nan += outcome == Outcome::kNan ? 1 : 0;
    if (!in_bin) return;
    ++counts[bin];
    weights.push_back({bin, weight});
  }
};

long double WeightOf(const HistogramArrays& arrays, uint64_t i) {
  return arrays.weights == nullptr ? 1 : (*arrays.weights)[i];
}

Expected CountChannel(const HistogramArrays& arrays, const HistogramSpec& spec, uint64_t channel,
                      const ExpectedBins& bins) {
  Expected expected(bins.count);
  const bool clamp = spec.out_of_range_policy == OutOfRangePolicy::kClamp;
  for (uint64_t i = channel; i < arrays.samples->size(); i += spec.channel_count) {
    const Located at = Locate(bins, (*arrays.samples)[i]);
    const bool in_bin = at.outcome == Outcome::kInside || (clamp && at.outcome != Outcome::kNan);
    expected.Take(at.outcome, in_bin, at.bin, WeightOf(arrays, i));
  }
  return expected;
}

Expected CountPairs(const HistogramArrays& arrays, const HistogramSpec& spec,
                    const ExpectedBins& x_bins, const ExpectedBins& y_bins) {
  Expected expected(x_bins.count * y_bins.count);
  const bool clamp = spec.out_of_range_policy == OutOfRangePolicy::kClamp;
  for (uint64_t i = 0; i < arrays.samples->size(); ++i) {
    const Located x = Locate(x_bins, (*arrays.samples)[i]);
    const Located y = Locate(y_bins, (*arrays.y_samples)[i]);
    // A NaN in either goes before all else, then x, then y.
    Outcome outcome = x.outcome == Outcome::kInside ? y.outcome : x.outcome;
    if (y.outcome == Outcome::kNan) outcome = Outcome::kNan;
    const bool in_bin = outcome == Outcome::kInside || (clamp && outcome != Outcome::kNan);
    expected.Take(outcome, in_bin, x.bin * y_bins.count + y.bin, WeightOf(arrays, i));
  }
  return expected;
}

void CheckBins(const ExpectedBins& expected, const PlannedBins& actual, bool logarithmic) {
  EXPECT_FALSE(actual.automatic_range);
  ASSERT_EQ(actual.bin_count, expected.count);
  const std::vector<double> edges = EdgesOf(actual);
  ASSERT_EQ(edges.size(), expected.edges.size());
  for (size_t e = 0; e < edges.size(); ++e) {
    // Edges of a geometric progression are rounded; all others are given or have a formula.
    const double slack = logarithmic ? std::fabs(expected.edges[e]) * 0x1p-52 : 0;
    const bool same = edges[e] == expected.edges[e];
    EXPECT_TRUE(same || std::fabs(edges[e] - expected.edges[e]) <= slack)
        << "edge " << e << " is " << edges[e] << ", expected " << expected.edges[e];
  }
}

// Puts the values of a sparse answer back where they belong.
template <class T>
std::vector<T> Spread(const std::vector<T>& values, const std::vector<uint64_t>& indices,
                      uint64_t bin_count) {
  std::vector<T> dense(bin_count, T{0});
  EXPECT_EQ(values.size(), indices.size());
  for (size_t i = 0; i < std::min(values.size(), indices.size()); ++i) {
    EXPECT_TRUE(i == 0 || indices[i - 1] < indices[i]) << "bin indices do not increase at " << i;
    EXPECT_NE(values[i], T{0}) << "listed bin " << indices[i];
    if (indices[i] < bin_count) dense[indices[i]] = values[i];
    EXPECT_LT(indices[i], bin_count);
  }
  return dense;
}

void CheckCounts(const Expected& expected, const HistogramCounts& actual, bool sparse) {
  EXPECT_TRUE(actual.weight_sums.empty());
  const std::vector<uint64_t> counts =
      sparse ? Spread(actual.counts, actual.bin_indices, expected.counts.size()) : actual.counts;
  ASSERT_EQ(counts.size(), expected.counts.size());
  for (size_t b = 0; b < counts.size(); ++b) {
    ASSERT_EQ(counts[b], expected.counts[b]) << "bin " << b;
  }
}

// The states follow those of the channels before.
void CheckWeights(Expected expected, const HistogramSpec& spec, const HistogramCounts& actual,
                  const HistogramWeightStates& states, uint64_t first_state) {
  EXPECT_TRUE(actual.counts.empty());
  const uint64_t bin_count = expected.counts.size();
  const std::vector<double> sums =
      spec.sparse ? Spread(actual.weight_sums, actual.bin_indices, bin_count) : actual.weight_sums;
  ASSERT_EQ(sums.size(), bin_count);
  uint64_t next = 0;
  const auto check = [&](uint64_t bin, const ExpectedWeightSum& sum) {
    ExpectSameBits(sums[bin], sum.Rounded(), bin);
    if (spec.return_states) CheckWeightState(states, first_state + bin, *spec.weight_type, sum);
  };
  ForEachWeightSum(std::move(expected.weights), [&](uint64_t bin, const ExpectedWeightSum& sum) {
    for (; next < bin && !testing::Test::HasFailure(); ++next) check(next, {});
    if (!testing::Test::HasFailure()) check(next++, sum);
  });
  for (; next < bin_count && !testing::Test::HasFailure(); ++next) check(next, {});
}

// The value below which a part of the counted samples lie, each bin's being spread evenly in it.
long double Quantile(const std::vector<uint64_t>& counts, const std::vector<double>& edges,
                     double part) {
  uint64_t total = 0;
  for (const uint64_t count : counts) total += count;
  const double rank = part * static_cast<double>(total);
  uint64_t before = 0;
  for (size_t b = 0; b < counts.size(); ++b) {
    if (counts[b] != 0 && static_cast<double>(before + counts[b]) >= rank) {
      const long double within = (rank - before) / static_cast<long double>(counts[b]);
      return edges[b] + (static_cast<long double>(edges[b + 1]) - edges[b]) * within;
    }
    before += counts[b];
  }
  return NAN;
}

void CheckQuantiles(const Expected& expected, const ExpectedBins& bins, const HistogramSpec& spec,
                    const HistogramCounts& actual) {
  ASSERT_EQ(actual.quantile_values.size(), spec.quantiles.size());
  for (size_t q = 0; q < spec.quantiles.size(); ++q) {
    const long double value = Quantile(expected.counts, bins.edges, spec.quantiles[q]);
    const double got = actual.quantile_values[q];
    if (std::isnan(value)) {
      EXPECT_TRUE(std::isnan(got)) << spec.quantiles[q];
      continue;
    }
    const double reach = std::max(std::fabs(bins.edges.front()), std::fabs(bins.edges.back()));
    EXPECT_NEAR(got, static_cast<double>(value), reach * 1e-14) << "quantile " << spec.quantiles[q];
  }
}

bool Increases(const std::vector<double>& edges) {
  return std::adjacent_find(edges.begin(), edges.end(), std::greater_equal<>()) == edges.end();
}

// Bins of every channel, or of both axes.
std::vector<ExpectedBins> ExpectAllBins(const HistogramArrays& arrays, const HistogramSpec& spec) {
  std::vector<ExpectedBins> bins;
  for (uint32_t c = 0; c < (spec.two_dimensional ? 2 : spec.channel_count); ++c) {
    const BinSpec& own = spec.bins[spec.bins.size() == 1 ? 0 : c];
    bins.push_back(spec.two_dimensional
                       ? ExpectBins(own, c == 0 ? *arrays.samples : *arrays.y_samples, 0, 1)
                       : ExpectBins(own, *arrays.samples, c, spec.channel_count));
  }
  return bins;
}

void CheckChannel(const Expected& expected, const HistogramSpec& spec,
                  const HistogramResult& result, size_t channel, uint64_t first_bin) {
  const HistogramCounts& actual = result.channels[channel];
  EXPECT_EQ(actual.underflow_count, expected.below);
  EXPECT_EQ(actual.overflow_count, expected.above);
  EXPECT_EQ(actual.nan_count, expected.nan);
  EXPECT_TRUE(spec.sparse || actual.bin_indices.empty());
  if (spec.weight_type.has_value()) {
    CheckWeights(expected, spec, actual, result.weight_states, first_bin);
  } else {
    CheckCounts(expected, actual, spec.sparse);
  }
}

}  // namespace

void CheckHistogram(const HistogramArrays& arrays, const HistogramSpec& spec,
                    const absl::StatusOr<HistogramResult>& result) {
  SCOPED_TRACE(absl::StrCat("histogram of ", Describe(arrays.samples->description()), ", ",
                            spec.channel_count, " channels, 2-D ", spec.two_dimensional));
  std::vector<ExpectedBins> bins = ExpectAllBins(arrays, spec);
  for (const ExpectedBins& own : bins) {
    if (Increases(own.edges)) continue;
    EXPECT_EQ(result.status().code(), absl::StatusCode::kInvalidArgument) << result.status();
    return;
  }
  ASSERT_TRUE(result.ok()) << result.status();
  EXPECT_EQ(std::holds_alternative<std::monostate>(result->weight_states),
            !(spec.return_states && spec.weight_type.has_value()));
  ASSERT_EQ(result->bins.size(), bins.size());
  ASSERT_EQ(result->channels.size(), spec.two_dimensional ? 1 : bins.size());
  for (size_t c = 0; c < bins.size(); ++c) {
    SCOPED_TRACE(absl::StrCat("channel or axis ", c));
    const BinSpec& own = spec.bins[spec.bins.size() == 1 ? 0 : c];
    const bool logarithmic = std::holds_alternative<LogarithmicBinsSpec>(own);
    ASSERT_NO_FATAL_FAILURE(CheckBins(bins[c], result->bins[c], logarithmic));
    // Membership is by the edges that the answer holds, not by nearly the same ones.
    if (logarithmic) bins[c].edges = EdgesOf(result->bins[c]);
  }
  if (spec.two_dimensional) {
    CheckChannel(CountPairs(arrays, spec, bins[0], bins[1]), spec, *result, 0, 0);
    return;
  }
  uint64_t first_bin = 0;
  for (size_t c = 0; c < bins.size(); ++c) {
    SCOPED_TRACE(absl::StrCat("channel ", c));
    const Expected expected = CountChannel(arrays, spec, c, bins[c]);
    CheckChannel(expected, spec, *result, c, first_bin);
    first_bin += bins[c].count;
    CheckQuantiles(expected, bins[c], spec, result->channels[c]);
  }
}

}  // namespace gridfold::kernels::conformance
