// Reductions by key of streams: server/streams/stream_fold.h over kernels/folds/keyed_fold.h.
#include <algorithm>
#include <array>
#include <utility>

#include "gridfold/v1/compute_service.pb.h"
#include "kernels/contract/invalid_field.h"
#include "kernels/folds/keyed_fold.h"
#include "server/base/fixed_limits.h"
#include "server/base/limits.h"
#include "server/compute/keyed_run.h"
#include "server/planning/answer_size.h"
#include "server/planning/keyed_validation.h"
#include "server/streams/stream_fold.h"
#include "server/wire/answer_conversion.h"
#include "server/wire/message_codec.h"

namespace gridfold::server {

namespace {

// The arrays of a message, in the order of their fields.
constexpr size_t kKeys = 0;
constexpr size_t kValues = 1;
constexpr size_t kYKeys = 2;

// Keys and values that are at fault came in messages, all other fields in the header.
absl::Status OfStream(const absl::Status& status) {
  const std::string field = kernels::FieldOf(status);
  return field == "keys" || field == "values" ? status : InHeader(status);
}

class StreamKeyed final : public StreamFold {
 public:
  StreamKeyed(PlannedKeyedStream planned, const FoldContext& context)
      : planned_(std::move(planned)), lane_(context.limits.lane()), room_(context.arrays) {
    const kernels::KeyedReductionPlan& plan = planned_.plan;
    StreamSizes& element_bytes = beside_.element_bytes;
    element_bytes[kKeys] = kernels::ElementSize(plan.keys.element_type);
    element_bytes[kValues] = kernels::ElementSize(plan.reduction.array.element_type);
    if (plan.axes.size() > 1) {
      element_bytes[kYKeys] = kernels::ElementSize(plan.axes[1].array.element_type);
    }
  }

  kernels::ElementType element_type() const override { return planned_.plan.keys.element_type; }

  uint64_t state_bytes() const override { return fold_ == nullptr ? 0 : fold_->state_bytes(); }

  // Each byte is taken for a key, since a key has at least one.
  uint64_t AnswerBytesMax(uint64_t stream_bytes) const override {
    kernels::KeyedReductionPlan plan = planned_.plan;
    plan.keys.element_count = stream_bytes;
    return AnswerBytes(plan);
  }

  const char* counted_field() const override { return beside_.fields[kKeys]; }
  absl::Status CheckExpected(size_t array) const override { return beside_.CheckExpected(array); }
  bool CanRun(const StreamSizes& sizes) const override { return beside_.ElementCount(sizes) > 0; }

  uint64_t batch_bytes_wanted() const override {
    return std::min(state_bytes(), kStreamPendingBytes / 2);
  }

  absl::Status Run(StreamArrays& arrays, const JobContext& job,
                   kernels::RunStatistics& statistics) override {
    if (absl::Status status = MakeFold(job.stop); !status.ok()) return status;
    const uint64_t held_bytes = fold_->state_bytes();
    has_grown_ = false;
    while (const kernels::KeyedReductionPlan* const batch =
               fold_->NextBatch(beside_.ElementCount(SizesOf(arrays)))) {
      const FirstElements first(arrays, beside_.element_bytes, batch->keys.element_count);
      const absl::StatusOr<uint64_t> used =
          fold_->Add(RunBatch(*batch, first, job, statistics), first.slices[kKeys]);
      if (!used.ok()) return OfStream(used.status());
      RemoveElements(beside_.element_bytes, *used, arrays);
      has_grown_ = fold_->state_bytes() > held_bytes;
      if (has_grown_) break;
    }
    return absl::OkStatus();
  }

  // New groups of one batch are no more than a lane has room for.
  bool HasMoreToRun() const override { return has_grown_; }

  absl::StatusOr<StreamAnswer> Finish(const StreamArrays& rest,
                                      const std::stop_token& stop) override {
    if (absl::Status status = MakeFold(stop); !status.ok()) return status;
    absl::Status status = beside_.CheckEnd(SizesOf(rest), fold_->plan().keys.element_count);
    if (!status.ok()) return status;
    absl::StatusOr<kernels::KeyedPart> part = fold_->Finish(stop);
    if (!part.ok()) return OfStream(part.status());
    auto response = std::make_unique<v1::ReduceByKeyStreamResponse>();
    v1::ReduceByKeyResponse& result = *response->mutable_result();
    if (!fold_->plan().refuses_outside) FillOutcomes(fold_->outcomes(), result);
    FillResponse(fold_->plan(), part->answer, result);
    result.set_accumulator(std::move(part->accumulator));
    v1::ExecutionStatistics* const execution = result.mutable_execution();
    return StreamAnswer{std::move(response), execution};
  }

 private:
  // Edges are made by the first job: the header comes to a thread that nobody is to hold.
  absl::Status MakeFold(const std::stop_token& stop) {
    if (fold_ != nullptr) return absl::OkStatus();
    kernels::KeyedReductionPlan plan = planned_.plan;
    if (absl::Status status = kernels::CompletePlan(stop, plan); !status.ok()) {
      return InHeader(status);
    }
    fold_ = kernels::KeyedFold::Make({.plan = std::move(plan),
                                      .key_count_max = planned_.key_count_max,
                                      .first_index = planned_.first_index,
                                      .lane = lane_});
    return absl::OkStatus();
  }

  absl::StatusOr<kernels::KeyedReductionResult> RunBatch(const kernels::KeyedReductionPlan& batch,
                                                         const FirstElements& first,
                                                         const JobContext& job,
                                                         kernels::RunStatistics& statistics) {
    kernels::KeyedInput input{.keys = first.slices[kKeys], .values = first.slices[kValues]};
    if (batch.axes.size() > 1) input.further_keys.emplace_back(first.slices[kYKeys]);
    kernels::RunStatistics run;
    absl::StatusOr<kernels::KeyedReductionResult> result =
        RunWithRoom(batch, std::move(input), room_, job.engine, job.lane, job.stop, run);
    statistics.Add(run);
    return result;
  }

  const PlannedKeyedStream planned_;
  const kernels::LaneOptions lane_;
  const TenantArrays room_;
  std::unique_ptr<kernels::KeyedFold> fold_;  // Once a job has run.
  bool has_grown_ = false;                    // In the last Run.
  ArraysBeside beside_{.fields = {"keys", "values", "y_keys"}, .element_bytes = {}};
};

}  // namespace

absl::StatusOr<std::unique_ptr<StreamFold>> MakeStreamKeyed(const std::string& header,
                                                            const FoldContext& context) {
  v1::ReduceByKeyRequest request;
  const Limits& limits = context.limits;
  if (absl::Status status = DecodeRequest(header, limits, request); !status.ok()) return status;
  absl::StatusOr<PlannedKeyedStream> planned = PlanStream(request, limits);
  if (!planned.ok()) return InHeader(planned.status());
  return std::make_unique<StreamKeyed>(*std::move(planned), context);
}

}  // namespace gridfold::server
