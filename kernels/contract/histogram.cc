#include "kernels/contract/histogram.h"

#include <limits>
#include <utility>

#include "absl/strings/str_cat.h"
#include "kernels/contract/histogram_bins.h"
#include "kernels/contract/histogram_outline.h"
#include "kernels/contract/invalid_field.h"
#include "kernels/contract/shape.h"

namespace gridfold::kernels {

namespace {

constexpr uint64_t kUint64Max = std::numeric_limits<uint64_t>::max();

uint64_t SaturatingSum(uint64_t a, uint64_t b) {
  uint64_t sum = 0;
  return __builtin_add_overflow(a, b, &sum) ? kUint64Max : sum;
}

// How many PlannedBins the plan has.
size_t PlannedBinsCount(const HistogramSpec& spec) {
  return spec.two_dimensional ? 2 : spec.channel_count;
}

absl::Status ValidateShape(const ArrayDescription& array, const HistogramSpec& spec) {
  if (spec.channel_count == 0) return InvalidField("channel_count", "must be at least 1");
  if (spec.two_dimensional && spec.channel_count != 1) {
    return InvalidField("channel_count", "must be 1 in two dimensions");
  }
  if (array.element_count % spec.channel_count != 0) {
    return InvalidField("channel_count", absl::StrCat(array.element_count,
                                                      " elements are not a "
                                                      "multiple of ",
                                                      spec.channel_count));
  }
  if (spec.bins.empty()) return InvalidField("bins", "at least one entry is needed");
  const size_t planned = PlannedBinsCount(spec);
  if (spec.bins.size() != 1 && spec.bins.size() != planned) {
    return InvalidField(
        "bins",
        absl::StrCat(spec.bins.size(), " entries, where ",
                     planned == 1 ? "one is" : absl::StrCat("1 or ", planned, " are"), " needed"));
  }
  return absl::OkStatus();
}

// Bounds the counters of all channels before anything is allocated for them. The first entry that
// leads past the bound is named.
absl::Status ValidateTotalBinCount(const HistogramSpec& spec, uint64_t bin_count_max) {
  const size_t planned = PlannedBinsCount(spec);
  const size_t uses_of_each = spec.bins.size() == 1 ? planned : 1;
  uint64_t total = spec.two_dimensional ? 1 : 0;
  for (size_t i = 0; i < spec.bins.size(); ++i) {
    const absl::StatusOr<uint64_t> bin_count = BinCountOf(spec.bins[i], i);
    if (!bin_count.ok()) return bin_count.status();
    if (spec.two_dimensional) {
      for (size_t use = 0; use < uses_of_each; ++use) total = SaturatingProduct(total, *bin_count);
    } else {
      total = SaturatingSum(total, SaturatingProduct(*bin_count, uses_of_each));
    }
    if (total > bin_count_max) {
      return AboveLimit(
          BinCountField(spec.bins[i], i),
          absl::StrCat("more than the ", bin_count_max, " bins that a histogram may have in all"));
    }
  }
  return absl::OkStatus();
}

absl::Status ValidateQuantiles(const HistogramSpec& spec) {
  if (spec.quantiles.empty()) return absl::OkStatus();
  if (spec.weight_type.has_value()) return InvalidField("quantiles", "not with weights");
  if (spec.two_dimensional) return InvalidField("quantiles", "not in two dimensions");
  for (const BinSpec& bins : spec.bins) {
    if (std::holds_alternative<IntegerBinsSpec>(bins)) {
      return InvalidField("quantiles", "not with integer bins");
    }
  }
  for (size_t q = 0; q < spec.quantiles.size(); ++q) {
    // Written so that NaN is refused too.
    if (!(spec.quantiles[q] >= 0 && spec.quantiles[q] <= 1)) {
      return InvalidField(absl::StrCat("quantiles[", q, "]"), "must lie in [0, 1]");
    }
  }
  return absl::OkStatus();
}

absl::StatusOr<std::vector<PlannedBins>> OutlineAllBins(const HistogramSpec& spec,
                                                        ElementType type) {
  std::vector<PlannedBins> planned;
  planned.reserve(spec.bins.size());
  for (size_t i = 0; i < spec.bins.size(); ++i) {
    absl::StatusOr<PlannedBins> bins = OutlineBins(spec.bins[i], i, type);
    if (!bins.ok()) return bins.status();
    planned.push_back(*std::move(bins));
  }
  return planned;
}

}  // namespace

uint64_t UsesOfBins(const HistogramPlan& plan) {
  const uint64_t needed = plan.two_dimensional ? 2 : plan.channel_count;
  return plan.bins.size() == 1 ? needed : 1;
}

// Of outlines too.
uint64_t HistogramPlan::total_bin_count() const {
  uint64_t total = two_dimensional ? 1 : 0;
  const uint64_t uses = UsesOfBins(*this);
  for (const PlannedBins& b : bins) {
    if (two_dimensional) {
      for (uint64_t use = 0; use < uses; ++use) total *= b.bin_count;
    } else {
      total += b.bin_count * uses;
    }
  }
  return total;
}

bool HistogramPlan::needs_range() const {
  for (const PlannedBins& b : bins) {
    if (b.automatic_range) return true;
  }
  return false;
}

absl::StatusOr<HistogramPlan> OutlineHistogram(const ArrayDescription& array, HistogramSpec spec,
                                               uint64_t bin_count_max) {
  for (const absl::Status& status : {ValidateShape(array, spec), ValidateQuantiles(spec)}) {
    if (!status.ok()) return status;
  }
  if (absl::Status status = ValidateTotalBinCount(spec, bin_count_max); !status.ok()) return status;
  absl::StatusOr<std::vector<PlannedBins>> bins = OutlineAllBins(spec, array.element_type);
  if (!bins.ok()) return bins.status();
  return HistogramPlan{.array = array,
                       .bins = *std::move(bins),
                       .channel_count = spec.channel_count,
                       .two_dimensional = spec.two_dimensional,
                       .weight_type = spec.weight_type,
                       .out_of_range_policy = spec.out_of_range_policy,
                       .sparse = spec.sparse,
                       .quantiles = std::move(spec.quantiles),
                       .return_states = spec.return_states,
                       .strategy = std::move(spec.strategy)};
}

absl::Status CompletePlan(const std::stop_token& stop, HistogramPlan& plan) {
  for (size_t i = 0; i < plan.bins.size(); ++i) {
    if (absl::Status status = CompleteBins(i, stop, plan.bins[i]); !status.ok()) return status;
  }
  if (plan.bins.size() == 1) plan.bins.resize(UsesOfBins(plan), PlannedBins(plan.bins.front()));
  return absl::OkStatus();
}

absl::StatusOr<HistogramPlan> PlanHistogram(const ArrayDescription& array, HistogramSpec spec,
                                            uint64_t bin_count_max) {
  absl::StatusOr<HistogramPlan> plan = OutlineHistogram(array, std::move(spec), bin_count_max);
  if (!plan.ok()) return plan;
  if (absl::Status status = CompletePlan(std::stop_token(), *plan); !status.ok()) return status;
  return plan;
}

}  // namespace gridfold::kernels
