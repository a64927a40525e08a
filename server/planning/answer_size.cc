#include "server/planning/answer_size.h"

#include <algorithm>
#include <cstdint>
#include <limits>

#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "kernels/accumulators/histogram_accumulator.h"
#include "kernels/accumulators/reduction_accumulator.h"
#include "kernels/contract/histogram_outline.h"
#include "kernels/contract/invalid_field.h"
#include "kernels/contract/shape.h"

namespace gridfold::server {

namespace {

// Every count, sum, index, edge and quantile takes 8 bytes, but for floating-point values of
// statistics where another output type than float64 is asked for.
constexpr uint64_t kValueBytes = 8;

// Whether values are counted as an answer has them, or as they are held before they are rounded to
// the output type.
enum class Form : uint8_t { kSent, kHeld };

uint64_t SaturatingAdd(uint64_t a, uint64_t b) {
  uint64_t sum = 0;
  return __builtin_add_overflow(a, b, &sum) ? std::numeric_limits<uint64_t>::max() : sum;
}

absl::Status CheckBytes(absl::string_view field, uint64_t bytes, const Limits& limits) {
  const uint64_t room = limits.message_bytes_max - kAnswerOverheadBytes;
  if (bytes <= room) return absl::OkStatus();
  return kernels::AboveLimit(
      field, absl::StrCat("the answer would take ", bytes, " bytes, more than the ", room,
                          " that a message has room for"));
}

// Lanes and folds have as much room for values as a message.
absl::Status CheckHeldBytes(absl::string_view field, uint64_t bytes, const Limits& limits) {
  if (bytes <= limits.message_bytes_max) return absl::OkStatus();
  return kernels::AboveLimit(
      field, absl::StrCat("the values would take ", bytes,
                          " bytes before they are rounded to the output type, more than the ",
                          limits.message_bytes_max, " that there is room for"));
}

// The bytes that the values of all statistics take for one group.
uint64_t GroupValueBytes(const kernels::ReductionPlan& plan, Form form) {
  uint64_t bytes = 0;
  for (const kernels::Statistic statistic : plan.statistics) {
    const bool is_rounded =
        form == Form::kSent &&
        kernels::ValueKindOf(statistic, plan.array.element_type) == kernels::ValueKind::kDouble;
    bytes += is_rounded ? kernels::ElementSize(plan.output_type) : kValueBytes;
  }
  return bytes;
}

// Sparse answers list at most one bin for each sample, with its index.
uint64_t CountBytes(const kernels::HistogramPlan& plan) {
  const uint64_t dense = plan.total_bin_count() * kValueBytes;
  if (!plan.sparse) return dense;
  return 2 * std::min(dense, kernels::SaturatingProduct(plan.array.element_count, kValueBytes));
}

uint64_t EdgeBytes(const kernels::HistogramPlan& plan) {
  uint64_t bytes = 0;
  for (const kernels::PlannedBins& bins : plan.bins) {
    if (bins.kind == kernels::BinKind::kInteger) continue;
    bytes += (bins.bin_count + 1) * kValueBytes * kernels::UsesOfBins(plan);
  }
  return bytes;
}

uint64_t ValueBytes(const kernels::ReductionPlan& plan, Form form) {
  return kernels::SaturatingProduct(GroupValueBytes(plan, form), plan.grouping.group_count);
}

uint64_t Bytes(const kernels::ReductionPlan& plan, Form form) {
  const uint64_t value_bytes = ValueBytes(plan, form);
  if (!plan.return_states) return value_bytes;
  return SaturatingAdd(value_bytes, kernels::ReductionAccumulatorBytesMax(plan));
}

uint64_t QuantileBytes(const kernels::HistogramPlan& plan) {
  return kernels::SaturatingProduct(kernels::SaturatingProduct(plan.quantiles.size(), kValueBytes),
                                    plan.channel_count);
}

uint64_t ValueBytes(const kernels::HistogramPlan& plan) {
  return SaturatingAdd(
      CountBytes(plan) + EdgeBytes(plan) + plan.channel_count * kChannelOverheadBytes,
      QuantileBytes(plan));
}

}  // namespace

uint64_t AnsweredGroupsMax(const kernels::ReductionPlan& plan, const Limits& limits) {
  kernels::ReductionPlan group = plan;
  group.grouping = {.kind = kernels::GroupingKind::kAxis1, .group_count = 1, .offsets = {}};
  const uint64_t room_bytes = limits.message_bytes_max - kAnswerOverheadBytes;
  return std::min(limits.group_count_max, room_bytes / HeldAnswerBytes(group));
}

uint64_t AnswerBytes(const kernels::ReductionPlan& plan) { return Bytes(plan, Form::kSent); }

uint64_t HeldAnswerBytes(const kernels::ReductionPlan& plan) { return Bytes(plan, Form::kHeld); }

namespace {

// The bytes that each group of a keyed reduction takes in an answer: its values, number of elements
// and key; of found keys, of which no message says how many there are, also in the accumulator.
uint64_t KeyedGroupBytes(const kernels::KeyedReductionPlan& plan, Form form) {
  const uint64_t value_bytes =
      GroupValueBytes(plan.reduction, form) +
      (plan.quantiles.targets.size() + (plan.has_bins() ? 1 : 2)) * kValueBytes;
  if (plan.has_bins() || !plan.reduction.return_states) return value_bytes;
  kernels::ReductionPlan group = plan.reduction;
  group.grouping = {.kind = kernels::GroupingKind::kAxis1, .group_count = 1, .offsets = {}};
  return value_bytes + kernels::ReductionAccumulatorBytesMax(group);
}

uint64_t KeyedValueBytes(const kernels::KeyedReductionPlan& plan, Form form) {
  uint64_t edge_bytes = 0;
  for (const kernels::HistogramPlan& axis : plan.axes) edge_bytes += EdgeBytes(axis);
  return SaturatingAdd(
      kernels::SaturatingProduct(plan.group_count_max, KeyedGroupBytes(plan, form)), edge_bytes);
}

}  // namespace

kernels::AccumulatorLimits AccumulatorLimitsOf(const Limits& limits) {
  return {limits.group_count_max, limits.bin_count_max, kChannelCountMax};
}

void BoundFoundKeys(const Limits& limits, kernels::KeyedReductionPlan& plan) {
  if (plan.has_bins()) return;
  const uint64_t room_bytes = limits.message_bytes_max - kAnswerOverheadBytes;
  plan.group_count_max =
      std::min(plan.group_count_max, room_bytes / KeyedGroupBytes(plan, Form::kHeld));
}

uint64_t AnswerBytes(const kernels::KeyedReductionPlan& plan) {
  if (!plan.has_bins()) {
    return kernels::SaturatingProduct(std::min(plan.group_count_max, plan.keys.element_count),
                                      KeyedGroupBytes(plan, Form::kSent));
  }
  const uint64_t value_bytes = KeyedValueBytes(plan, Form::kSent);
  if (!plan.reduction.return_states) return value_bytes;
  kernels::ReductionPlan groups = plan.reduction;
  groups.grouping = {
      .kind = kernels::GroupingKind::kAxis1, .group_count = plan.group_count_max, .offsets = {}};
  return SaturatingAdd(value_bytes, kernels::ReductionAccumulatorBytesMax(groups));
}

absl::Status CheckAnswerSize(const kernels::KeyedReductionPlan& plan, const Limits& limits) {
  if (!plan.has_bins()) return absl::OkStatus();
  const char* const field = plan.refuses_outside ? "range.key_count" : "bins.bins";
  absl::Status status = CheckBytes(field, KeyedValueBytes(plan, Form::kSent), limits);
  if (status.ok()) {
    status = CheckHeldBytes(field, KeyedValueBytes(plan, Form::kHeld), limits);
  }
  if (!status.ok()) return status;
  return CheckBytes("return_accumulator", AnswerBytes(plan), limits);
}

uint64_t AnswerBytes(const kernels::ScanPlan& plan) { return plan.output_size_bytes(); }

uint64_t AnswerBytes(const kernels::HistogramPlan& plan) {
  if (!plan.return_states) return ValueBytes(plan);
  return SaturatingAdd(ValueBytes(plan), kernels::HistogramAccumulatorBytesMax(plan));
}

uint64_t AnswerBytes(const kernels::QuantilePlan& plan) {
  return kernels::SaturatingProduct(plan.result_slot_count(), kValueBytes);
}

uint64_t AnswerBytes(const kernels::TopPlan& plan) {
  return kernels::SaturatingProduct(plan.result_count(), kernels::kTopResultBytes);
}

uint64_t AnswerBytes(const kernels::PairedPlan& plan) {
  uint64_t value_count = 0;
  for (const kernels::PairedStatistic statistic : plan.statistics) {
    value_count += plan.ValueCount(statistic);
  }
  return value_count * kValueBytes;
}

absl::Status CheckAnswerSize(const kernels::ReductionPlan& plan, const Limits& limits) {
  absl::Status status = CheckBytes("grouping", ValueBytes(plan, Form::kSent), limits);
  if (status.ok()) status = CheckHeldBytes("grouping", ValueBytes(plan, Form::kHeld), limits);
  if (!status.ok()) return status;
  return CheckBytes("return_accumulator", AnswerBytes(plan), limits);
}

absl::Status CheckAnswerSize(const kernels::ScanPlan& plan, const Limits& limits) {
  return CheckBytes("destination", AnswerBytes(plan), limits);
}

absl::Status CheckAnswerSize(const kernels::HistogramPlan& plan, const Limits& limits) {
  if (absl::Status status = CheckBytes("quantiles", QuantileBytes(plan), limits); !status.ok()) {
    return status;
  }
  if (absl::Status status = CheckBytes("bins", ValueBytes(plan), limits); !status.ok()) {
    return status;
  }
  return CheckBytes("return_accumulator", AnswerBytes(plan), limits);
}

absl::Status CheckAnswerSize(const kernels::QuantilePlan& plan, const Limits& limits) {
  return CheckBytes("quantiles", AnswerBytes(plan), limits);
}

absl::Status CheckAnswerSize(const kernels::TopPlan& plan, const Limits& limits) {
  return CheckBytes("count", AnswerBytes(plan), limits);
}

absl::Status CheckAnswerSize(const kernels::PairedPlan& plan, const Limits& limits) {
  return CheckBytes("statistics", AnswerBytes(plan), limits);
}

uint64_t ScanBatchBytesMin(const kernels::ScanPlan& plan) {
  return kernels::kScanCarryElements * std::max(kernels::ElementSize(plan.array.element_type),
                                                kernels::ElementSize(plan.output_type));
}

}  // namespace gridfold::server
