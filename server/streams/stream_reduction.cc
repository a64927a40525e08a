// Reductions of streams: server/streams/stream_fold.h over kernels/folds/reduction_fold.h.
#include <algorithm>
#include <optional>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "gridfold/v1/compute_service.pb.h"
#include "kernels/contract/invalid_field.h"
#include "kernels/contract/lane_limits.h"
#include "kernels/folds/reduction_fold.h"
#include "server/compute/truth_check.h"
#include "server/planning/answer_size.h"
#include "server/streams/stream_fold.h"
#include "server/wire/answer_conversion.h"
#include "server/wire/description_conversion.h"
#include "server/wire/message_codec.h"

namespace gridfold::server {

namespace {

class StreamReduction final : public StreamFold {
 public:
  StreamReduction(PlannedReductionStream planned, std::unique_ptr<kernels::ReductionFold> fold)
      : planned_(std::move(planned)), fold_(std::move(fold)) {}

  kernels::ElementType element_type() const override { return fold_->plan().array.element_type; }

  uint64_t state_bytes() const override {
    const kernels::ReductionPlan& plan = fold_->plan();
    return plan.grouping.group_count * kernels::OutputBytesPerGroup(plan);
  }

  uint64_t AnswerBytesMax(uint64_t stream_bytes) const override {
    return ReductionAnswerBytesMax(fold_->plan(), stream_bytes);
  }

  absl::Status CheckExpected(size_t array) const override {
    return array == 0 ? absl::OkStatus() : UnexpectedArray("where");
  }

  bool CanRun(const StreamSizes& sizes) const override {
    return sizes[0] >= fold_->batch_bytes_min();
  }

  uint64_t batch_bytes_wanted() const override { return 0; }

  absl::Status Run(StreamArrays& arrays, const JobContext& job,
                   kernels::RunStatistics& statistics) override {
    PieceQueue& data = arrays[0];
    while (true) {
      const absl::StatusOr<std::optional<kernels::ReductionPlan>> batch =
          fold_->NextBatch(data.size_bytes());
      if (!batch.ok()) return InHeader(batch.status());
      if (!batch->has_value()) return absl::OkStatus();
      const absl::StatusOr<uint64_t> used =
          fold_->Add(**batch, RunBatch(**batch, planned_.is_bool, data, job, statistics));
      if (!used.ok()) return InHeader(used.status());
      data.RemoveFirst(*used);
    }
  }

  absl::StatusOr<StreamAnswer> Finish(const StreamArrays& rest, const std::stop_token&) override {
    absl::StatusOr<kernels::ReductionMerge> merged = fold_->Finish(rest[0].size_bytes());
    if (!merged.ok()) return InHeader(merged.status());
    return AnswerReduction(planned_, fold_->plan(), *std::move(merged));
  }

 private:
  static absl::StatusOr<kernels::ReductionResult> RunBatch(const kernels::ReductionPlan& batch,
                                                           bool is_bool, const PieceQueue& data,
                                                           const JobContext& job,
                                                           kernels::RunStatistics& statistics) {
    const uint64_t size_bytes = batch.array.size_bytes();
    const std::vector<kernels::HostSpan> pieces = data.First(size_bytes);
    if (is_bool) {
      absl::Status status = CheckTruths(kernels::HostSlices{pieces, size_bytes}, "data", job.stop);
      if (!status.ok()) return status;
    }
    kernels::RunStatistics run;
    absl::StatusOr<kernels::ReductionResult> result =
        job.lane.RunReduction(batch, kernels::HostSlices{pieces, size_bytes}, job.stop, run);
    statistics.Add(run);
    return result;
  }

  PlannedReductionStream planned_;
  const std::unique_ptr<kernels::ReductionFold> fold_;
};

}  // namespace

// As many rows as the bytes can have.
uint64_t ReductionAnswerBytesMax(const kernels::ReductionPlan& plan, uint64_t stream_bytes) {
  if (plan.grouping.kind != kernels::GroupingKind::kAxis1) return AnswerBytes(plan);
  kernels::ReductionPlan rows = plan;
  const uint64_t row_bytes = plan.array.columns * kernels::ElementSize(plan.array.element_type);
  rows.grouping.group_count = stream_bytes / std::max<uint64_t>(row_bytes, 1);
  return AnswerBytes(rows);
}

absl::StatusOr<StreamAnswer> AnswerReduction(PlannedReductionStream& planned,
                                             const kernels::ReductionPlan& plan,
                                             kernels::ReductionMerge merged) {
  const uint64_t element_count = plan.array.element_count;
  if (element_count % planned.row_elements != 0) {
    return kernels::InvalidField(
        "data",
        absl::StrCat(element_count, " elements are not whole rows of ", planned.row_elements));
  }
  if (planned.keeps_first_extent) {
    planned.result_shape.SetExtent(0, element_count / planned.row_elements);
  }
  auto response = std::make_unique<v1::ReduceStreamResponse>();
  v1::ReduceArrayResponse& result = *response->mutable_result();
  FillResponse(plan, merged.result, result, planned.is_bool);
  AddShape(planned.result_shape, *result.mutable_result_shape());
  result.set_accumulator(std::move(merged.accumulator));
  v1::ExecutionStatistics* const execution = result.mutable_execution();
  return StreamAnswer{std::move(response), execution};
}

absl::StatusOr<std::unique_ptr<StreamFold>> MakeStreamReduction(const std::string& header,
                                                                const FoldContext& context) {
  v1::ReduceArrayRequest request;
  const Limits& limits = context.limits;
  if (absl::Status status = DecodeRequest(header, limits, request); !status.ok()) return status;
  absl::StatusOr<PlannedReductionStream> planned = PlanStream(request, limits);
  if (!planned.ok()) return InHeader(planned.status());
  if (planned->has_mask) return MakeStreamSelected(*std::move(planned), context);
  absl::StatusOr<std::unique_ptr<kernels::ReductionFold>> fold =
      kernels::ReductionFold::Make(std::move(planned->fold));
  if (!fold.ok()) return InHeader(fold.status());
  return std::make_unique<StreamReduction>(*std::move(planned), *std::move(fold));
}

}  // namespace gridfold::server
