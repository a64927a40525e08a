// Reductions of the elements of streams that a mask selects: server/streams/stream_fold.h over
// kernels/folds/selected_fold.h.
#include <array>
#include <utility>

#include "kernels/contract/invalid_field.h"
#include "kernels/folds/selected_fold.h"
#include "server/compute/keyed_run.h"
#include "server/compute/truth_check.h"
#include "server/streams/stream_fold.h"

namespace gridfold::server {

namespace {

// The arrays of a message, in the order of their fields.
constexpr size_t kElements = 0;
constexpr size_t kSelection = 1;

class StreamSelected final : public StreamFold {
 public:
  StreamSelected(PlannedReductionStream planned, std::unique_ptr<kernels::SelectedFold> fold,
                 TenantArrays arrays)
      : planned_(std::move(planned)), fold_(std::move(fold)), room_(std::move(arrays)) {
    beside_.element_bytes[kElements] = kernels::ElementSize(element_type());
    beside_.element_bytes[kSelection] = 1;
  }

  kernels::ElementType element_type() const override { return fold_->plan().array.element_type; }
  uint64_t state_bytes() const override { return fold_->state_bytes(); }
  uint64_t AnswerBytesMax(uint64_t stream_bytes) const override {
    return ReductionAnswerBytesMax(fold_->plan(), stream_bytes);
  }
  absl::Status CheckExpected(size_t array) const override { return beside_.CheckExpected(array); }
  bool CanRun(const StreamSizes& sizes) const override { return beside_.ElementCount(sizes) > 0; }
  uint64_t batch_bytes_wanted() const override { return 0; }

  absl::Status Run(StreamArrays& arrays, const JobContext& job,
                   kernels::RunStatistics& statistics) override {
    while (true) {
      const absl::StatusOr<uint64_t> count =
          fold_->NextBatch(beside_.ElementCount(SizesOf(arrays)));
      if (!count.ok()) return InHeader(count.status());
      if (*count == 0) return absl::OkStatus();
      const FirstElements first(arrays, beside_.element_bytes, *count);
      if (absl::Status status = CheckBools(first, job.stop); !status.ok()) return status;
      fold_->Select(first.slices[kElements], first.slices[kSelection]);
      const absl::StatusOr<uint64_t> used = fold_->Add(RunBatch(job, statistics));
      if (!used.ok()) return InHeader(used.status());
      RemoveElements(beside_.element_bytes, *used, arrays);
      taken_ += *used;
    }
  }

  absl::StatusOr<StreamAnswer> Finish(const StreamArrays& rest, const std::stop_token&) override {
    const StreamSizes sizes = SizesOf(rest);
    if (absl::Status status = beside_.CheckEnd(sizes, taken_); !status.ok()) return status;
    absl::StatusOr<kernels::ReductionMerge> merged = fold_->Finish(sizes[kElements]);
    if (!merged.ok()) return InHeader(merged.status());
    return AnswerReduction(planned_, fold_->plan(), *std::move(merged));
  }

 private:
  absl::Status CheckBools(const FirstElements& first, const std::stop_token& stop) const {
    absl::Status status = CheckTruths(first.slices[kSelection], "where", stop);
    if (!status.ok() || !planned_.is_bool) return status;
    return CheckTruths(first.slices[kElements], "data", stop);
  }

  absl::StatusOr<kernels::KeyedReductionResult> RunBatch(const JobContext& job,
                                                         kernels::RunStatistics& statistics) {
    kernels::RunStatistics run;
    absl::StatusOr<kernels::KeyedReductionResult> result = RunWithRoom(
        fold_->plan_of_batch(), fold_->input(), room_, job.engine, job.lane, job.stop, run);
    statistics.Add(run);
    return result;
  }

  PlannedReductionStream planned_;
  const std::unique_ptr<kernels::SelectedFold> fold_;
  const TenantArrays room_;
  ArraysBeside beside_{.fields = {"data", "where"}, .element_bytes = {}};
  uint64_t taken_ = 0;  // Elements, whether they count or not.
};

}  // namespace

absl::StatusOr<std::unique_ptr<StreamFold>> MakeStreamSelected(PlannedReductionStream planned,
                                                               const FoldContext& context) {
  absl::StatusOr<std::unique_ptr<kernels::SelectedFold>> fold =
      kernels::SelectedFold::Make(std::move(planned.fold));
  if (!fold.ok()) return InHeader(fold.status());
  return std::make_unique<StreamSelected>(std::move(planned), *std::move(fold), context.arrays);
}

}  // namespace gridfold::server
