// Histograms of streams: server/streams/stream_fold.h over kernels/folds/histogram_fold.h.
#include <algorithm>
#include <limits>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "gridfold/v1/compute_service.pb.h"
#include "kernels/contract/histogram_outline.h"
#include "kernels/contract/invalid_field.h"
#include "kernels/folds/histogram_fold.h"
#include "server/base/limits.h"
#include "server/planning/answer_size.h"
#include "server/streams/stream_fold.h"
#include "server/wire/message_codec.h"
#include "server/wire/proto_conversion.h"

namespace gridfold::server {

namespace {

// The arrays of a message, in the order of their fields.
constexpr size_t kSamples = 0;
constexpr size_t kYSamples = 1;
constexpr size_t kWeights = 2;
constexpr std::array<const char*, kStreamArrayCountMax> kFieldNames = {"data", "y_data", "weights"};

class StreamHistogram final : public StreamFold {
 public:
  StreamHistogram(kernels::HistogramPlan outline, const kernels::LaneOptions& lane)
      : outline_(std::move(outline)), lane_(lane) {
    element_bytes_[kSamples] = kernels::ElementSize(outline_.array.element_type);
    if (outline_.two_dimensional) element_bytes_[kYSamples] = element_bytes_[kSamples];
    if (outline_.weight_type)
      element_bytes_[kWeights] = kernels::ElementSize(*outline_.weight_type);
  }

  kernels::ElementType element_type() const override { return outline_.array.element_type; }

  uint64_t state_bytes() const override { return kernels::CounterBytes(outline_); }

  // Each byte is taken for a sample, since a sample has at least one.
  uint64_t AnswerBytesMax(uint64_t stream_bytes) const override {
    kernels::HistogramPlan plan = outline_;
    plan.array.element_count = stream_bytes;
    return AnswerBytes(plan);
  }

  absl::Status CheckExpected(size_t array) const override {
    if (element_bytes_[array] != 0) return absl::OkStatus();
    return kernels::InvalidField(kFieldNames[array], "the request has no such array");
  }

  bool CanRun(const StreamSizes& sizes) const override {
    return SampleCount(sizes) >= outline_.channel_count;
  }

  uint64_t batch_bytes_wanted() const override {
    return std::min(kStreamBatchesPerCounters * state_bytes(), kStreamPendingBytes / 2);
  }

  absl::Status Run(StreamArrays& arrays, kernels::Lane& lane, std::stop_token stop,
                   kernels::RunStatistics& statistics) override {
    if (absl::Status status = MakeFold(stop); !status.ok()) return status;
    while (const kernels::HistogramPlan* const batch =
               fold_->NextBatch(SampleCount(SizesOf(arrays)))) {
      absl::Status status = RunBatch(*batch, arrays, lane, stop, statistics);
      if (!status.ok()) return status;
    }
    return absl::OkStatus();
  }

  absl::StatusOr<StreamAnswer> Finish(const StreamArrays& rest,
                                      const std::stop_token& stop) override {
    const StreamSizes sizes = SizesOf(rest);
    if (absl::Status status = MakeFold(stop); !status.ok()) return status;
    if (absl::Status status = CheckSizes(sizes); !status.ok()) return status;
    absl::StatusOr<kernels::HistogramMerge> merged = fold_->Finish(SampleCount(sizes), stop);
    if (!merged.ok()) return InHeader(merged.status());
    auto response = std::make_unique<v1::HistogramStreamResponse>();
    v1::ComputeHistogramResponse& result = *response->mutable_result();
    FillResponse(merged->result, result);
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

  // Samples of which every array is there.
  uint64_t SampleCount(const StreamSizes& sizes) const {
    uint64_t count = std::numeric_limits<uint64_t>::max();
    for (size_t i = 0; i < sizes.size(); ++i) {
      if (element_bytes_[i] != 0) count = std::min(count, sizes[i] / element_bytes_[i]);
    }
    return count;
  }

  absl::Status RunBatch(const kernels::HistogramPlan& batch, StreamArrays& arrays,
                        kernels::Lane& lane, const std::stop_token& stop,
                        kernels::RunStatistics& statistics) {
    std::array<std::vector<kernels::HostSpan>, kStreamArrayCountMax> pieces;
    std::array<kernels::HostSlices, kStreamArrayCountMax> inputs;
    for (size_t i = 0; i < inputs.size(); ++i) {
      const uint64_t size_bytes = batch.array.element_count * element_bytes_[i];
      pieces[i] = arrays[i].First(size_bytes);
      inputs[i] = {pieces[i], size_bytes};
    }
    kernels::RunStatistics run;
    const absl::StatusOr<kernels::HistogramResult> result = lane.RunHistogram(
        batch, {inputs[kSamples], inputs[kYSamples], inputs[kWeights]}, stop, run);
    statistics.Add(run);
    if (!result.ok()) return InHeader(result.status());
    fold_->Add(*result);
    for (size_t i = 0; i < inputs.size(); ++i) arrays[i].RemoveFirst(inputs[i].size_bytes);
    return absl::OkStatus();
  }

  // All arrays have whole elements, and the same number of them.
  absl::Status CheckSizes(const StreamSizes& sizes) const {
    const uint64_t folded = fold_->plan().array.element_count;
    const auto count = [&](size_t i) { return folded + sizes[i] / element_bytes_[i]; };
    for (size_t i = 0; i < sizes.size(); ++i) {
      if (element_bytes_[i] == 0) continue;
      if (sizes[i] % element_bytes_[i] != 0) {
        return kernels::InvalidField(
            kFieldNames[i],
            absl::StrCat(folded * element_bytes_[i] + sizes[i], " bytes are not a multiple of the ",
                         element_bytes_[i], " bytes of one element"));
      }
      if (count(i) != count(kSamples)) {
        return kernels::InvalidField(
            kFieldNames[i],
            absl::StrCat(count(i), " elements, where `data` has ", count(kSamples)));
      }
    }
    return absl::OkStatus();
  }

  const kernels::HistogramPlan outline_;
  const kernels::LaneOptions lane_;
  std::unique_ptr<kernels::HistogramFold> fold_;  // Once a job has run.
  StreamSizes element_bytes_{};                   // 0 of arrays that the request does not have.
};

}  // namespace

absl::StatusOr<std::unique_ptr<StreamFold>> MakeStreamHistogram(const std::string& header,
                                                                const Limits& limits) {
  v1::ComputeHistogramRequest request;
  if (absl::Status status = DecodeRequest(header, limits, request); !status.ok()) return status;
  absl::StatusOr<kernels::HistogramPlan> plan = PlanStream(request, limits);
  if (!plan.ok()) return InHeader(plan.status());
  return std::make_unique<StreamHistogram>(*std::move(plan), limits.lane());
}

}  // namespace gridfold::server
