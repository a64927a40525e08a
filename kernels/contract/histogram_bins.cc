#include "kernels/contract/histogram_bins.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "absl/strings/str_cat.h"
#include "kernels/contract/histogram_outline.h"
#include "kernels/contract/invalid_field.h"
#include "kernels/numerics/bins/automatic_range.h"
#include "kernels/numerics/bins/layout.h"

namespace gridfold::kernels {

namespace {

constexpr char kEdgesMeet[] = "so many bins between these bounds that two edges are equal";

std::string FieldPath(size_t i, const std::string& member) {
  return absl::StrCat("bins[", i, "].", member);
}

std::string LayoutName(const BinSpec& spec) {
  constexpr const char* kNames[] = {"even", "edges", "logarithmic", "integer"};
  return kNames[spec.index()];
}

// Errors of a pair of bounds, where `layout` is "even" or "logarithmic".
absl::Status ValidateBounds(double lower, double upper, size_t i, const std::string& layout) {
  const auto invalid = [&](const char* member, const char* description) {
    return InvalidField(FieldPath(i, absl::StrCat(layout, ".", member)), description);
  };
  if (!std::isfinite(lower)) return invalid("lower_bound", "must be finite");
  if (!std::isfinite(upper)) return invalid("upper_bound", "must be finite");
  if (!(lower < upper)) return invalid("upper_bound", "must be greater than lower_bound");
  return absl::OkStatus();
}

absl::StatusOr<PlannedBins> PlanEven(const EvenBinsSpec& spec, size_t i) {
  PlannedBins bins{.kind = BinKind::kEven, .bin_count = spec.bin_count};
  if (spec.lower_bound.has_value() != spec.upper_bound.has_value()) {
    return InvalidField(
        FieldPath(i, spec.lower_bound.has_value() ? "even.upper_bound" : "even.lower_bound"),
        "give both bounds or none");
  }
  if (!spec.lower_bound.has_value()) {
    bins.automatic_range = true;
    return bins;
  }
  bins.lower_bound = *spec.lower_bound;
  bins.upper_bound = *spec.upper_bound;
  if (absl::Status status = ValidateBounds(bins.lower_bound, bins.upper_bound, i, "even");
      !status.ok()) {
    return status;
  }
  return bins;
}

absl::StatusOr<PlannedBins> PlanEdges(const EdgeBinsSpec& spec, size_t i) {
  const auto invalid = [i](size_t e, const char* description) {
    return InvalidField(FieldPath(i, absl::StrCat("edges.edges[", e, "]")), description);
  };
  for (size_t e = 0; e < spec.edges.size(); ++e) {
    if (std::isnan(spec.edges[e])) return invalid(e, "is NaN");
    if (e > 0 && spec.edges[e] <= spec.edges[e - 1]) {
      return invalid(e, "not greater than the edge before it");
    }
  }
  return PlannedBins{
      .kind = BinKind::kTable, .bin_count = spec.edges.size() - 1, .edges = spec.edges};
}

absl::StatusOr<PlannedBins> PlanLogarithmic(const LogarithmicBinsSpec& spec, size_t i) {
  if (absl::Status status = ValidateBounds(spec.lower_bound, spec.upper_bound, i, "logarithmic");
      !status.ok()) {
    return status;
  }
  if (spec.lower_bound <= 0) {
    return InvalidField(FieldPath(i, "logarithmic.lower_bound"), "must be greater than 0");
  }
  return PlannedBins{.kind = BinKind::kTable,
                     .bin_count = spec.bin_count,
                     .lower_bound = spec.lower_bound,
                     .upper_bound = spec.upper_bound};
}

// Edges between which the job is looked at: a fraction of a millisecond's.
constexpr uint64_t kEdgesPerLook = 4096;

// Calls visit(e) for the edges from `first` on and before `end`. CANCELLED; the first error.
template <class Visit>
absl::Status ForEdges(uint64_t first, uint64_t end, const std::stop_token& stop, Visit visit) {
  for (uint64_t e = first; e < end; ++e) {
    if (e % kEdgesPerLook == 0 && stop.stop_requested()) {
      return absl::CancelledError("the job was cancelled");
    }
    if (!visit(e)) return absl::InvalidArgumentError(kEdgesMeet);
  }
  return absl::OkStatus();
}

// The geometric progression. Long double where the machine has a wider one, so that almost every
// edge is the nearest double; the end points are exact in any case.
absl::Status ComputeLogarithmicEdges(const std::stop_token& stop, PlannedBins& bins) {
  std::vector<double> edges(bins.bin_count + 1);
  const long double lower = bins.lower_bound;
  const long double log_ratio =
      std::log2(static_cast<long double>(bins.upper_bound)) - std::log2(lower);
  const long double bin_count = static_cast<long double>(bins.bin_count);
  edges.front() = bins.lower_bound;
  edges.back() = bins.upper_bound;
  absl::Status status = ForEdges(1, bins.bin_count, stop, [&](uint64_t e) {
    const long double power = std::exp2(log_ratio * static_cast<long double>(e) / bin_count);
    edges[e] = static_cast<double>(lower * power);
    return edges[e - 1] < edges[e];
  });
  if (!status.ok()) return status;
  if (!(edges[bins.bin_count - 1] < edges.back())) return absl::InvalidArgumentError(kEdgesMeet);
  bins.edges = std::move(edges);
  bins.lower_bound = 0;
  bins.upper_bound = 0;
  return absl::OkStatus();
}

absl::StatusOr<PlannedBins> PlanInteger(const IntegerBinsSpec& spec, size_t i, ElementType type) {
  if (IsFloatingPoint(type)) {
    return InvalidField(FieldPath(i, "integer"),
                        absl::StrCat("not for ", ElementTypeName(type), " samples"));
  }
  const bool is_unsigned = IsUnsigned(type);
  if (spec.first_unsigned_value != 0 && (!is_unsigned || spec.first_value != 0)) {
    return InvalidField(FieldPath(i, "integer.first_unsigned_value"),
                        is_unsigned ? "not together with first_value"
                                    : absl::StrCat("not for ", ElementTypeName(type), " samples"));
  }
  constexpr uint64_t kInt64Max = std::numeric_limits<int64_t>::max();
  const uint64_t most = is_unsigned ? std::numeric_limits<uint64_t>::max() : kInt64Max;
  const uint64_t first = spec.first_unsigned_value != 0 ? spec.first_unsigned_value
                                                        : static_cast<uint64_t>(spec.first_value);
  // Unsigned arithmetic: the distance is right for a negative first value too, but for one to the
  // last uint64, which is more than any number of bins.
  const bool goes_past =
      !(is_unsigned && spec.first_value < 0) && spec.bin_count - 1 > most - first;
  if (goes_past) {
    return InvalidField(
        FieldPath(i, "integer.bin_count"),
        absl::StrCat("the last bin's integer is no ", is_unsigned ? "uint64" : "int64"));
  }
  PlannedBins bins{.kind = BinKind::kInteger, .bin_count = spec.bin_count};
  // The integer of bin 0 has one form.
  if (first > kInt64Max && spec.first_value >= 0) {
    bins.first_unsigned_value = first;
  } else {
    bins.first_value = static_cast<int64_t>(first);
  }
  return bins;
}

}  // namespace

absl::Status CheckEvenEdges(const PlannedBins& bins, const std::stop_token& stop) {
  const BinLayout layout = LayoutOf(bins, nullptr);
  switch (OrderOfEvenEdges(layout)) {
    case EdgeOrder::kMeeting: return absl::InvalidArgumentError(kEdgesMeet);
    case EdgeOrder::kIncreasing: return absl::OkStatus();
    case EdgeOrder::kUnknown: break;
  }
  double previous = EvenEdge(layout, 0);
  return ForEdges(1, layout.bin_count + 1, stop, [&](uint64_t e) {
    const double edge = EvenEdge(layout, e);
    return std::exchange(previous, edge) < edge;
  });
}

bool LacksEdges(const PlannedBins& bins) {
  return bins.kind == BinKind::kTable && bins.edges.empty();
}

absl::Status CompleteBins(size_t i, const std::stop_token& stop, PlannedBins& bins) {
  const bool is_even = bins.kind == BinKind::kEven && !bins.automatic_range;
  absl::Status status;
  if (is_even) status = CheckEvenEdges(bins, stop);
  if (LacksEdges(bins)) status = ComputeLogarithmicEdges(stop, bins);
  if (!absl::IsInvalidArgument(status)) return status;
  return InvalidField(FieldPath(i, is_even ? "even.bin_count" : "logarithmic.bin_count"),
                      status.message());
}

std::string BinCountField(const BinSpec& spec, size_t i) {
  const bool counted_by_edges = std::holds_alternative<EdgeBinsSpec>(spec);
  return absl::StrCat("bins[", i, "].", LayoutName(spec),
                      counted_by_edges ? ".edges" : ".bin_count");
}

absl::StatusOr<uint64_t> BinCountOf(const BinSpec& spec, size_t i) {
  if (const EdgeBinsSpec* edges = std::get_if<EdgeBinsSpec>(&spec)) {
    if (edges->edges.size() < 2) {
      return InvalidField(BinCountField(spec, i), "at least two edges are needed");
    }
    return edges->edges.size() - 1;
  }
  const uint64_t bin_count = std::visit(
      [](const auto& layout) {
        if constexpr (requires { layout.bin_count; }) return layout.bin_count;
        return uint64_t{0};
      },
      spec);
  if (bin_count == 0) return InvalidField(BinCountField(spec, i), "must be at least 1");
  return bin_count;
}

absl::StatusOr<PlannedBins> OutlineBins(const BinSpec& spec, size_t i, ElementType sample_type) {
  if (const auto* even = std::get_if<EvenBinsSpec>(&spec)) return PlanEven(*even, i);
  if (const auto* edges = std::get_if<EdgeBinsSpec>(&spec)) return PlanEdges(*edges, i);
  if (const auto* integer = std::get_if<IntegerBinsSpec>(&spec)) {
    return PlanInteger(*integer, i, sample_type);
  }
  return PlanLogarithmic(std::get<LogarithmicBinsSpec>(spec), i);
}

}  // namespace gridfold::kernels
