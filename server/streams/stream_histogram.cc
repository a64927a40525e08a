// Histograms of streams: server/streams/stream_fold.h over kernels/folds/histogram_fold.h.
#include <algorithm>
#include <array>
#include <string>
#include <utility>

#include "gridfold/v1/compute_service.pb.h"
#include "kernels/contract/histogram_outline.h"
#include "kernels/folds/histogram_fold.h"
#include "kernels/folds/joined.h"
#include "server/base/fixed_limits.h"
#include "server/base/limits.h"
#include "server/compute/truth_check.h"
#include "server/planning/answer_size.h"
#include "server/streams/stream_fold.h"
#include "server/wire/answer_conversion.h"
#include "server/wire/message_codec.h"

namespace gridfold::server {

namespace {

// The arrays of a message, in the order of their fields.
constexpr size_t kSamples = 0;
constexpr size_t kYSamples = 1;
constexpr size_t kWeights = 2;
constexpr size_t kMask = 3;

class StreamHistogram final : public StreamFold {
 public:
  StreamHistogram(PlannedHistogramStream planned, const kernels::LaneOptions& lane)
      : outline_(std::move(planned.outline)), has_mask_(planned.has_mask), lane_(lane) {
    StreamSizes& element_bytes = beside_.element_bytes;
    element_bytes[kSamples] = kernels::ElementSize(outline_.array.element_type);
    if (outline_.two_dimensional) element_bytes[kYSamples] = element_bytes[kSamples];
    if (outline_.weight_type) element_bytes[kWeights] = kernels::ElementSize(*outline_.weight_type);
    if (has_mask_) element_bytes[kMask] = 1;
  }

  kernels::ElementType element_type() const override { return outline_.array.element_type; }

  uint64_t state_bytes() const override { return kernels::CounterBytes(outline_); }

  // Each byte is taken for a sample, since a sample has at least one.
  uint64_t AnswerBytesMax(uint64_t stream_bytes) const override {
    kernels::HistogramPlan plan = outline_;
    plan.array.element_count = stream_bytes;
    return AnswerBytes(plan);
  }

  absl::Status CheckExpected(size_t array) const override { return beside_.CheckExpected(array); }

  bool CanRun(const StreamSizes& sizes) const override {
    return beside_.ElementCount(sizes) >= outline_.channel_count;
  }

  uint64_t batch_bytes_wanted() const override {
    return std::min(kStreamBatchesPerCounters * state_bytes(), kStreamPendingBytes / 2);
  }

  absl::Status Run(StreamArrays& arrays, const JobContext& job,
                   kernels::RunStatistics& statistics) override {
    if (absl::Status status = MakeFold(job.stop); !status.ok()) return status;
    while (const uint64_t samples = beside_.ElementCount(SizesOf(arrays))) {
      absl::StatusOr<uint64_t> taken = has_mask_ ? RunSelected(samples, arrays, job, statistics)
                                                 : RunAll(samples, arrays, job, statistics);
      if (!taken.ok()) return taken.status();
      if (*taken == 0) break;
      taken_ += *taken;
      RemoveElements(beside_.element_bytes, *taken, arrays);
    }
    return absl::OkStatus();
  }

  absl::StatusOr<StreamAnswer> Finish(const StreamArrays& rest,
                                      const std::stop_token& stop) override {
    const StreamSizes sizes = SizesOf(rest);
    if (absl::Status status = MakeFold(stop); !status.ok()) return status;
    if (absl::Status status = beside_.CheckEnd(sizes, taken_); !status.ok()) return status;
    absl::StatusOr<kernels::HistogramMerge> merged =
        fold_->Finish(beside_.ElementCount(sizes), stop);
    if (!merged.ok()) return InHeader(merged.status());
    auto response = std::make_unique<v1::HistogramStreamResponse>();
    v1::ComputeHistogramResponse& result = *response->mutable_result();
    FillResponse(merged->result, /*is_compact=*/false, result);
    result.set_accumulator(std::move(merged->accumulator));
    v1::ExecutionStatistics* const execution = result.mutable_execution();
    return StreamAnswer{std::move(response), execution};
  }

 private:
  // Edges and counters are made by the first job: the header comes to a thread that nobody is to
  // hold.
  absl::Status MakeFold(const std::stop_token& stop) {
    if (fold_ != nullptr) return absl::OkStatus();
    kernels::HistogramPlan plan = outline_;
    if (absl::Status status = kernels::CompletePlan(stop, plan); !status.ok()) {
      return InHeader(status);
    }
    absl::StatusOr<std::unique_ptr<kernels::HistogramFold>> fold =
        kernels::HistogramFold::Make(std::move(plan), lane_);
    if (!fold.ok()) return InHeader(fold.status());
    fold_ = *std::move(fold);
    return absl::OkStatus();
  }

  // Returns how many samples it has taken of those that are there.
  absl::StatusOr<uint64_t> RunAll(uint64_t samples, const StreamArrays& arrays,
                                  const JobContext& job, kernels::RunStatistics& statistics) {
    const kernels::HistogramPlan* const batch = fold_->NextBatch(samples);
    if (batch == nullptr) return 0;
    const uint64_t count = batch->array.element_count;
    const FirstElements first(arrays, beside_.element_bytes, count);
    absl::Status status =
        RunBatch(*batch, {first.slices[kSamples], first.slices[kYSamples], first.slices[kWeights]},
                 job, statistics);
    if (!status.ok()) return status;
    return count;
  }

  // As RunAll, but only samples that the mask selects are counted; these are copied.
  absl::StatusOr<uint64_t> RunSelected(uint64_t samples, const StreamArrays& arrays,
                                       const JobContext& job, kernels::RunStatistics& statistics) {
    const uint64_t count = std::min(samples, kSelectedElementsMax);
    const FirstElements first(arrays, beside_.element_bytes, count);
    const kernels::HostSlices& mask = first.slices[kMask];
    if (absl::Status status = CheckTruths(mask, "where", job.stop); !status.ok()) return status;
    std::array<std::string, kMask> selected;
    for (size_t i = 0; i < selected.size(); ++i) {
      selected[i] = kernels::Selected(first.slices[i], mask, beside_.element_bytes[i]);
    }
    std::array<kernels::HostSpan, kMask> rest;
    for (size_t i = 0; i < rest.size(); ++i) {
      rest[i] = {reinterpret_cast<const std::byte*>(selected[i].data()), selected[i].size()};
    }
    while (const kernels::HistogramPlan* const batch =
               fold_->NextBatch(rest[kSamples].size_bytes / beside_.element_bytes[kSamples])) {
      std::array<kernels::HostSpan, kMask> input;
      for (size_t i = 0; i < input.size(); ++i) {
        const size_t size_bytes = batch->array.element_count * beside_.element_bytes[i];
        input[i] = {rest[i].data, size_bytes};
        rest[i] = {rest[i].data + size_bytes, rest[i].size_bytes - size_bytes};
      }
      absl::Status status =
          RunBatch(*batch, {input[kSamples], input[kYSamples], input[kWeights]}, job, statistics);
      if (!status.ok()) return status;
    }
    return count;
  }

  absl::Status RunBatch(const kernels::HistogramPlan& batch, const kernels::HistogramInput& input,
                        const JobContext& job, kernels::RunStatistics& statistics) {
    kernels::RunStatistics run;
    absl::StatusOr<kernels::HistogramResult> result =
        job.lane.RunHistogram(batch, input, job.stop, run);
    statistics.Add(run);
    if (!result.ok()) return InHeader(result.status());
    fold_->Add(*std::move(result));
    return absl::OkStatus();
  }

  const kernels::HistogramPlan outline_;
  const bool has_mask_;
  const kernels::LaneOptions lane_;
  std::unique_ptr<kernels::HistogramFold> fold_;  // Once a job has run.
  ArraysBeside beside_{.fields = {"data", "y_data", "weights", "where"}, .element_bytes = {}};
  uint64_t taken_ = 0;  // Samples, whether they count or not.
};

}  // namespace

absl::StatusOr<std::unique_ptr<StreamFold>> MakeStreamHistogram(const std::string& header,
                                                                const FoldContext& context) {
  v1::ComputeHistogramRequest request;
  const Limits& limits = context.limits;
  if (absl::Status status = DecodeRequest(header, limits, request); !status.ok()) return status;
  absl::StatusOr<PlannedHistogramStream> planned = PlanStream(request, limits);
  if (!planned.ok()) return InHeader(planned.status());
  return std::make_unique<StreamHistogram>(*std::move(planned), limits.lane());
}

}  // namespace gridfold::server
