#include "client/library/histogram_range.h"

#include <cmath>
#include <concepts>
#include <limits>
#include <utility>
#include <variant>
#include <vector>

#include "client/library/array_parts.h"

namespace gridfold::client {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

// The nearest float64 that is no greater than the value, or for `upwards` no smaller.
template <typename T>
double Rounded(T value, bool upwards) {
  const double nearest = static_cast<double>(value);
  if constexpr (std::integral<T> && sizeof(T) == 8) {
    const auto exact = static_cast<__int128>(value);
    if (upwards && static_cast<__int128>(nearest) < exact)
      return std::nextafter(nearest, kInfinity);
    if (!upwards && static_cast<__int128>(nearest) > exact) {
      return std::nextafter(nearest, -kInfinity);
    }
  }
  return nearest;
}

std::vector<double> Bounds(const StatisticValues* values, bool upwards) {
  std::vector<double> bounds;
  if (values == nullptr) return bounds;
  std::visit(
      [&](const auto& list) {
        for (const auto value : list) {
          if constexpr (!std::same_as<std::remove_cv_t<decltype(value)>, bool>) {
            bounds.push_back(Rounded(value, upwards));
          }
        }
      },
      *values);
  return bounds;
}

struct Range {
  double lower = 0;
  double upper = 0;

  bool is_usable() const { return std::isfinite(lower) && std::isfinite(upper) && lower < upper; }
};

// Of each channel; as many as there are.
absl::StatusOr<std::vector<Range>> RangesOf(const ArrayView& array, uint32_t channel_count,
                                            AskForExtremes ask) {
  ReductionOptions options{.statistics = {Statistic::kMin, Statistic::kMax},
                           .nan_policy = NanPolicy::kIgnore};
  const ArrayView flat(array.element_type(), array.bytes().data(), array.element_count());
  if (channel_count > 1) options.grouping = Axis{0};
  const absl::StatusOr<ReductionResult> extremes =
      ask(channel_count > 1 ? flat.WithShape(flat.element_count() / channel_count, channel_count)
                            : flat,
          options);
  if (!extremes.ok()) return extremes.status();
  const std::vector<double> lower = Bounds(extremes->Find(Statistic::kMin), false);
  const std::vector<double> upper = Bounds(extremes->Find(Statistic::kMax), true);
  std::vector<Range> ranges;
  for (size_t i = 0; i < lower.size() && i < upper.size(); ++i) {
    ranges.push_back({lower[i], upper[i]});
  }
  return ranges;
}

}  // namespace

absl::StatusOr<std::optional<HistogramOptions>> WithRange(const ArrayView& array,
                                                          const HistogramOptions& options,
                                                          AskForExtremes ask) {
  const bool is_plane = options.y_array.has_value();
  const size_t bins_count = is_plane ? 2 : options.channel_count;
  if (array.element_count() == 0 || options.channel_count == 0 ||
      (is_plane && options.channel_count != 1) ||
      array.element_count() % options.channel_count != 0 || !HaveEqualCounts(array, options) ||
      (options.bins.size() != 1 && options.bins.size() != bins_count)) {
    return std::nullopt;
  }
  absl::StatusOr<std::vector<Range>> ranges = RangesOf(array, options.channel_count, ask);
  if (ranges.ok() && is_plane) {
    const absl::StatusOr<std::vector<Range>> more = RangesOf(*ViewOf(options.y_array), 1, ask);
    if (!more.ok()) return more.status();
    ranges->insert(ranges->end(), more->begin(), more->end());
  }
  if (!ranges.ok()) return ranges.status();
  if (ranges->size() != bins_count) return std::nullopt;
  HistogramOptions found = options;
  found.bins.clear();
  for (size_t i = 0; i < bins_count; ++i) {
    found.bins.push_back(options.bins[options.bins.size() == 1 ? 0 : i]);
    auto* const even = std::get_if<EvenBins>(&found.bins.back());
    if (even == nullptr || (even->lower_bound && even->upper_bound)) continue;
    if (even->lower_bound || even->upper_bound || !(*ranges)[i].is_usable()) return std::nullopt;
    // The server's bounds have no negative zeros either.
    even->lower_bound = (*ranges)[i].lower + 0.0;
    even->upper_bound = (*ranges)[i].upper + 0.0;
  }
  return found;
}

}  // namespace gridfold::client
