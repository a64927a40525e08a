// What is done to a histogram once its samples are known: ranges, edges, quantiles, sparse form.
#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "absl/strings/str_cat.h"
#include "kernels/contract/histogram.h"
#include "kernels/contract/histogram_bins.h"
#include "kernels/contract/invalid_field.h"
#include "kernels/numerics/bins/automatic_range.h"

namespace gridfold::kernels {

namespace {

constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

// The value at `fraction` of the way through a bin. A bin that is open to infinity has no middle:
// its finite edge is the nearest that can be said.
double Interpolate(double lower, double upper, double fraction) {
  if (std::isinf(lower)) return std::isinf(upper) ? kNan : upper;
  if (std::isinf(upper)) return lower;
  return std::lerp(lower, upper, std::min(fraction, 1.0));
}

template <class T>
void KeepNonZero(std::vector<T>& values, std::vector<uint64_t>& bin_indices) {
  std::vector<T> kept;
  for (uint64_t i = 0; i < values.size(); ++i) {
    if (values[i] == T{0}) continue;
    kept.push_back(values[i]);
    bin_indices.push_back(i);
  }
  values = std::move(kept);
}

}  // namespace

absl::Status ResolveAutomaticRange(std::optional<double> smallest, std::optional<double> largest,
                                   PlannedBins& bins) {
  bins.automatic_range = false;
  bins.smallest_sample = smallest;
  bins.largest_sample = largest;
  bins.lower_bound = smallest.value_or(kEmptyRangeLower);
  bins.upper_bound = largest.value_or(kEmptyRangeUpper);
  const auto edges_increase = [&bins](double lower, double upper) {
    PlannedBins tried = {.bin_count = bins.bin_count, .lower_bound = lower, .upper_bound = upper};
    return CheckEvenEdges(tried, std::stop_token()).ok();
  };
  if (!WidenRange(edges_increase, bins.lower_bound, bins.upper_bound)) {
    return InvalidField("bins", "more bins than there are numbers for their edges");
  }
  return absl::OkStatus();
}

BinLayout LayoutOf(const PlannedBins& bins, const double* edges) {
  switch (bins.kind) {
    case BinKind::kTable: return BinLayout::Table(edges, bins.bin_count);
    case BinKind::kInteger:
      return BinLayout::Integer(bins.first_value, bins.bin_count, bins.first_unsigned_value);
    case BinKind::kEven: break;
  }
  return BinLayout::Even(bins.lower_bound, bins.upper_bound, bins.bin_count);
}

std::vector<double> EdgesOf(const PlannedBins& bins) {
  switch (bins.kind) {
    case BinKind::kTable: return bins.edges;
    case BinKind::kInteger: return {};
    case BinKind::kEven: break;
  }
  const BinLayout layout = LayoutOf(bins, nullptr);
  std::vector<double> edges(bins.bin_count + 1);
  for (uint64_t i = 0; i < edges.size(); ++i) edges[i] = EvenEdge(layout, i);
  return edges;
}

std::vector<double> QuantilesOfCounts(const std::vector<uint64_t>& counts,
                                      const std::vector<double>& edges,
                                      const std::vector<double>& quantiles) {
  std::vector<double> cumulative(counts.size());
  uint64_t total = 0;
  for (size_t i = 0; i < counts.size(); ++i) {
    total += counts[i];
    cumulative[i] = static_cast<double>(total);
  }
  std::vector<double> values;
  values.reserve(quantiles.size());
  for (const double quantile : quantiles) {
    if (total == 0) {
      values.push_back(kNan);
      continue;
    }
    // The first bin with a sample that is at least as far as the rank.
    const double rank = quantile * static_cast<double>(total);
    size_t bin = std::lower_bound(cumulative.begin(), cumulative.end(), rank) - cumulative.begin();
    while (counts[bin] == 0) ++bin;
    const double below = bin == 0 ? 0 : cumulative[bin - 1];
    const double fraction = (rank - below) / static_cast<double>(counts[bin]);
    values.push_back(Interpolate(edges[bin], edges[bin + 1], fraction));
  }
  return values;
}

void FinishHistogram(const HistogramPlan& plan, HistogramResult& result) {
  for (size_t c = 0; c < result.channels.size(); ++c) {
    HistogramCounts& channel = result.channels[c];
    if (!plan.quantiles.empty()) {
      channel.quantile_values =
          QuantilesOfCounts(channel.counts, EdgesOf(result.bins[c]), plan.quantiles);
    }
    if (!plan.sparse) continue;
    if (plan.weight_type.has_value()) {
      KeepNonZero(channel.weight_sums, channel.bin_indices);
    } else {
      KeepNonZero(channel.counts, channel.bin_indices);
    }
  }
}

}  // namespace gridfold::kernels
