#include <algorithm>
#include <optional>

#include "client/load/work/known_answer.h"

namespace gridfold::load {
namespace {

client::BinSpecification BinsOf(const RequestKind& kind, uint64_t bin_count) {
  if (kind.bin_layout == BinLayout::kInteger) {
    return client::IntegerBins{.first_value = kind.value_min, .bin_count = bin_count};
  }
  const auto [low, high] = kind.bin_range.value_or(
      std::pair(static_cast<double>(kind.value_min), static_cast<double>(kind.value_max)));
  return client::EvenBins{.bin_count = bin_count, .lower_bound = low, .upper_bound = high};
}

// Where a value is.
struct Place {
  enum class Side { kBelow, kInside, kAbove };
  Side side = Side::kInside;
  uint64_t bin = 0;
};

// The bins of one dimension.
class Axis {
 public:
  explicit Axis(const client::EvenBins& even) {
    const double low = *even.lower_bound;
    const double high = *even.upper_bound;
    const double step = (high - low) / static_cast<double>(even.bin_count);
    bins_.bin_count = even.bin_count;
    for (uint64_t i = 0; i < even.bin_count; ++i) {
      bins_.edges.push_back(low + static_cast<double>(i) * step);
    }
    bins_.edges.push_back(high);
  }
  explicit Axis(const client::IntegerBins& integers) : first_value_(integers.first_value) {
    bins_.bin_count = integers.bin_count;
  }

  static Axis Of(const client::BinSpecification& bins) {
    const auto* const integers = std::get_if<client::IntegerBins>(&bins);
    return integers != nullptr ? Axis(*integers) : Axis(std::get<client::EvenBins>(bins));
  }

  Place PlaceOf(int64_t value) const {
    if (bins_.edges.empty()) {
      if (value < first_value_) return {Place::Side::kBelow};
      const auto bin = static_cast<uint64_t>(value - first_value_);
      return bin < bins_.bin_count ? Place{.bin = bin} : Place{Place::Side::kAbove};
    }
    const auto number = static_cast<double>(value);
    if (number < bins_.edges.front()) return {Place::Side::kBelow};
    if (number > bins_.edges.back()) return {Place::Side::kAbove};
    const auto above = std::upper_bound(bins_.edges.begin(), bins_.edges.end() - 1, number);
    return {.bin = static_cast<uint64_t>(above - bins_.edges.begin()) - 1};
  }

  const client::ResolvedBins& bins() const { return bins_; }

 private:
  client::ResolvedBins bins_;
  int64_t first_value_ = 0;
};

// By x, and where that is inside by y.
Place PlaceIn(const std::vector<Axis>& axes, const OperationValues& values, uint64_t sample) {
  const Place x = axes[0].PlaceOf(values.elements[sample]);
  if (axes.size() == 1 || x.side != Place::Side::kInside) return x;
  const Place y = axes[1].PlaceOf(values.y_elements[sample]);
  return {y.side, x.bin * axes[1].bins().bin_count + y.bin};
}

}  // namespace

std::vector<client::BinSpecification> BinsOf(const RequestKind& kind) {
  std::vector<client::BinSpecification> bins = {BinsOf(kind, kind.bin_count)};
  if (kind.y_bin_count > 0) bins.push_back(BinsOf(kind, kind.y_bin_count));
  return bins;
}

KnownHistogram ComputeKnownHistogram(const RequestKind& kind, const OperationValues& values) {
  KnownHistogram known;
  std::vector<Axis> axes;
  uint64_t bin_count = 1;
  for (const client::BinSpecification& bins : BinsOf(kind)) {
    axes.push_back(Axis::Of(bins));
    known.bins.push_back(axes.back().bins());
    bin_count *= axes.back().bins().bin_count;
  }
  // Of counts or of weights: either stays below 2^53.
  std::vector<int64_t> sums(bin_count);
  for (uint64_t i = 0; i < values.elements.size(); ++i) {
    if (!values.counts(i)) continue;
    const Place place = PlaceIn(axes, values, i);
    known.underflow_count += place.side == Place::Side::kBelow;
    known.overflow_count += place.side == Place::Side::kAbove;
    if (place.side == Place::Side::kInside)
      sums[place.bin] += kind.is_weighted ? values.weights[i] : 1;
  }
  if (kind.is_weighted) {
    known.weight_sums.assign(sums.begin(), sums.end());
  } else {
    known.counts.assign(sums.begin(), sums.end());
  }
  return known;
}

std::string Difference(const KnownHistogram& known, const client::HistogramResult& result) {
  if (result.channels.size() != 1 || result.bins.size() != known.bins.size()) {
    return "not one channel of as many dimensions";
  }
  for (size_t i = 0; i < known.bins.size(); ++i) {
    if (result.bins[i].bin_count != known.bins[i].bin_count ||
        result.bins[i].edges != known.bins[i].edges) {
      return "the edges are wrong";
    }
  }
  const client::HistogramCounts& channel = result.channels[0];
  if (channel.counts != known.counts) return "the counts are wrong";
  if (channel.weight_sums != known.weight_sums) return "the sums of weights are wrong";
  if (channel.underflow_count != known.underflow_count ||
      channel.overflow_count != known.overflow_count || channel.nan_count != 0) {
    return "the counts outside the bins are wrong";
  }
  return "";
}

}  // namespace gridfold::load
