#include "server/answer_size.h"

#include <algorithm>
#include <cstdint>
#include <limits>

#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "kernels/histogram_accumulator.h"
#include "kernels/invalid_field.h"
#include "kernels/reduction_accumulator.h"

namespace gridfold::server {

namespace {

// Every count, sum, index, edge and quantile takes 8 bytes.
constexpr uint64_t kValueBytes = 8;

uint64_t SaturatingMultiply(uint64_t a, uint64_t b) {
  uint64_t product = 0;
  return __builtin_mul_overflow(a, b, &product) ? std::numeric_limits<uint64_t>::max() : product;
}

uint64_t SaturatingAdd(uint64_t a, uint64_t b) {
  uint64_t sum = 0;
  return __builtin_add_overflow(a, b, &sum) ? std::numeric_limits<uint64_t>::max() : sum;
}

absl::Status CheckBytes(absl::string_view field, uint64_t bytes, const Limits& limits) {
  if (bytes <= limits.message_bytes_max - kAnswerOverheadBytes) return absl::OkStatus();
  return kernels::InvalidField(
      field, absl::StrCat("the answer would take ", bytes, " bytes, more than the ",
                          limits.message_bytes_max, " bytes of the largest message"));
}

// Sparse answers list at most one bin for each sample, with its index.
uint64_t CountBytes(const kernels::HistogramPlan& plan) {
  const uint64_t dense = plan.total_bin_count() * kValueBytes;
  if (!plan.sparse) return dense;
  return 2 * std::min(dense, SaturatingMultiply(plan.array.element_count, kValueBytes));
}

uint64_t EdgeBytes(const kernels::HistogramPlan& plan) {
  uint64_t bytes = 0;
  for (const kernels::PlannedBins& bins : plan.bins) {
    if (bins.kind != kernels::BinKind::kInteger) bytes += (bins.bin_count + 1) * kValueBytes;
  }
  return bytes;
}

}  // namespace

uint64_t AnsweredGroupsMax(const kernels::ReductionPlan& plan, const Limits& limits) {
  kernels::ReductionPlan group = plan;
  group.grouping = {.kind = kernels::GroupingKind::kAxis1, .group_count = 1, .offsets = {}};
  uint64_t group_bytes = group.result_slot_count() * kValueBytes;
  if (plan.return_states) group_bytes += kernels::ReductionAccumulatorBytesMax(group);
  const uint64_t room_bytes = limits.message_bytes_max - kAnswerOverheadBytes;
  return std::min(limits.group_count_max, room_bytes / group_bytes);
}

absl::Status CheckAnswerSize(const kernels::ReductionPlan& plan, const Limits& limits) {
  const uint64_t value_bytes = SaturatingMultiply(plan.result_slot_count(), kValueBytes);
  if (absl::Status status = CheckBytes("grouping", value_bytes, limits); !status.ok()) {
    return status;
  }
  if (!plan.return_states) return absl::OkStatus();
  return CheckBytes("return_accumulator",
                    SaturatingAdd(value_bytes, kernels::ReductionAccumulatorBytesMax(plan)),
                    limits);
}

absl::Status CheckAnswerSize(const kernels::ScanPlan& plan, const Limits& limits) {
  return CheckBytes("destination", plan.output_size_bytes(), limits);
}

absl::Status CheckAnswerSize(const kernels::HistogramPlan& plan, const Limits& limits) {
  const uint64_t quantile_bytes = SaturatingMultiply(
      SaturatingMultiply(plan.quantiles.size(), kValueBytes), plan.channel_count);
  if (absl::Status status = CheckBytes("quantiles", quantile_bytes, limits); !status.ok()) {
    return status;
  }
  const uint64_t answer_bytes = CountBytes(plan) + EdgeBytes(plan) + quantile_bytes +
                                plan.channel_count * kChannelOverheadBytes;
  if (absl::Status status = CheckBytes("bins", answer_bytes, limits); !status.ok()) return status;
  if (!plan.return_states) return absl::OkStatus();
  return CheckBytes("return_accumulator",
                    SaturatingAdd(answer_bytes, kernels::HistogramAccumulatorBytesMax(plan)),
                    limits);
}

}  // namespace gridfold::server
