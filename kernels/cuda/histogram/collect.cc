// From a histogram on the device to a result on the host.
#include <algorithm>
#include <utility>

#include "kernels/cuda/device/host_bytes.h"
#include "kernels/cuda/histogram/histogram.h"
#include "kernels/cuda/histogram/plan/arguments.h"
#include "kernels/cuda/histogram/plan/extreme_keys.h"

namespace gridfold::kernels::cuda {

namespace {

absl::Status CopyOne(CopyToHost copy, const uint64_t* from, std::vector<uint64_t>& to) {
  if (to.empty()) return absl::OkStatus();
  const MutableHostSpan span = BytesOf(to);
  return copy(from, std::span(&span, 1));
}

// Makes room for `size` values of the channel.
MutableHostSpan Resize(const HistogramPlan& plan, uint64_t size, HistogramCounts& channel) {
  if (plan.weight_type.has_value()) {
    channel.weight_sums.resize(size);
    return BytesOf(channel.weight_sums);
  }
  channel.counts.resize(size);
  return BytesOf(channel.counts);
}

// What stands before the counters, on the host.
struct Head {
  std::vector<ExtremeKeys> keys;  // [bins], where the device resolved automatic ranges.
  std::vector<uint64_t> outcomes;

  Head(const HistogramPlan& plan, const DeviceHistogram& histogram)
      : keys(histogram.range_keys != nullptr ? plan.bins.size() : 0),
        outcomes(uint64_t{plan.channel_count} * kOutcomeCount) {}
};

const uint64_t* HeadOf(const DeviceHistogram& histogram) {
  return histogram.range_keys != nullptr ? histogram.range_keys : histogram.outcomes;
}

absl::Status SetHead(const Head& head, HistogramResult& result) {
  for (size_t c = 0; c < result.channels.size(); ++c) {
    result.channels[c].underflow_count = head.outcomes[c * kOutcomeCount];
    result.channels[c].overflow_count = head.outcomes[c * kOutcomeCount + 1];
    result.channels[c].nan_count = head.outcomes[c * kOutcomeCount + 2];
  }
  for (size_t c = 0; c < head.keys.size(); ++c) {
    if (!result.bins[c].automatic_range) continue;
    const absl::Status status =
        ResolveAutomaticRange(head.keys[c].Smallest(), head.keys[c].Largest(), result.bins[c]);
    if (!status.ok()) return status;
  }
  return absl::OkStatus();
}

// Counters of channel c; of the only one in two dimensions.
uint64_t CounterCount(const HistogramPlan& plan, size_t c) {
  return plan.two_dimensional ? plan.total_bin_count() : plan.bins[c].bin_count;
}

// One copy of everything.
absl::Status CollectAll(const HistogramPlan& plan, const DeviceHistogram& histogram,
                        CopyToHost copy, HistogramResult& result) {
  Head head(plan, histogram);
  std::vector<MutableHostSpan> spans = {BytesOf(head.keys), BytesOf(head.outcomes)};
  for (size_t c = 0; c < result.channels.size(); ++c) {
    spans.push_back(Resize(plan, CounterCount(plan, c), result.channels[c]));
  }
  if (absl::Status status = copy(HeadOf(histogram), spans); !status.ok()) return status;
  return SetHead(head, result);
}

// Deals the listed counters out to the channels they belong to.
absl::Status CollectListed(const HistogramPlan& plan, const DeviceHistogram& histogram,
                           CopyToHost copy, HistogramResult& result) {
  Head head(plan, histogram);
  const MutableHostSpan head_spans[] = {BytesOf(head.keys), BytesOf(head.outcomes)};
  absl::Status status = copy(HeadOf(histogram), head_spans);
  if (status.ok()) status = SetHead(head, result);
  if (!status.ok()) return status;
  std::vector<uint64_t> indices(histogram.value_count);
  status = CopyOne(copy, histogram.indices, indices);
  if (!status.ok()) return status;
  std::vector<MutableHostSpan> spans;
  auto begin = indices.begin();
  uint64_t first_bin = 0;
  for (size_t c = 0; c < result.channels.size(); ++c) {
    const uint64_t next_bin = first_bin + CounterCount(plan, c);
    const auto end = std::lower_bound(begin, indices.end(), next_bin);
    std::vector<uint64_t>& bin_indices = result.channels[c].bin_indices;
    bin_indices.assign(begin, end);
    for (uint64_t& index : bin_indices) index -= first_bin;
    spans.push_back(Resize(plan, bin_indices.size(), result.channels[c]));
    begin = end;
    first_bin = next_bin;
  }
  return indices.empty() ? absl::OkStatus() : copy(histogram.values, spans);
}

}  // namespace

absl::StatusOr<HistogramResult> CollectHistogram(const HistogramPlan& plan,
                                                 DeviceHistogram histogram, CopyToHost copy) {
  HistogramResult result;
  result.channels.resize(plan.channel_count);
  result.bins = std::move(histogram.bins);
  result.weight_states = std::move(histogram.weight_states);
  const bool is_listed = histogram.indices != nullptr;
  const absl::Status status = is_listed ? CollectListed(plan, histogram, copy, result)
                                        : CollectAll(plan, histogram, copy, result);
  if (!status.ok()) return status;
  // A list is already what FinishHistogram makes of all counters; it comes only without quantiles.
  if (!is_listed) FinishHistogram(plan, result);
  return result;
}

}  // namespace gridfold::kernels::cuda
