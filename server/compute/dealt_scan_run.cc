// Scans of sharded arrays.
//
// Rows do not depend on each other, so all devices scan theirs at the same time. So do the shards
// of a scan of the whole array, where the engine finds their totals first; else one follows the
// other.
#include <memory>
#include <mutex>
#include <numeric>
#include <optional>
#include <utility>
#include <variant>
#include <vector>

#include "kernels/folds/dealt_scan.h"
#include "server/compute/dealt_run.h"
#include "server/compute/planned_run.h"
#include "server/planning/placement.h"
#include "server/wire/proto_conversion.h"

namespace gridfold::server {

namespace {

using kernels::GroupingKind;

class DealtScanRun final : public DealtRun<ScanAnswer> {
 public:
  explicit DealtScanRun(const PlannedScan& planned)
      : planned_(planned),
        shards_(planned.input.resident->shards),
        places_(PlacesOf(shards_)),
        by_rows_(planned.plan.grouping.kind == GroupingKind::kAxis1),
        dealt_(planned.plan, CutsOf(shards_)) {}

  JobGroup::Parts Begin(const JobWork& common) override {
    common_ = common;
    // Nothing follows the last shard.
    JobGroup::Parts parts = by_rows_ ? MakeJobs(AllBut(0), &DealtScanRun::ScanRows)
                                     : MakeJobs(AllBut(1), &DealtScanRun::FindTotals);
    common_.answer_bytes = 0;  // The first round takes the room.
    return parts;
  }

  absl::StatusOr<JobGroup::Parts> EndRound(const JobContext& context) override {
    if (!by_rows_) {
      const absl::StatusOr<std::vector<size_t>> next = dealt_.NextParts(context.lane);
      if (!next.ok()) return next.status();
      if (!next->empty()) return MakeJobs(*next, &DealtScanRun::Continue);
    }
    const bool is_in_place = std::holds_alternative<InPlaceResult>(planned_.result);
    if (!is_in_place || std::exchange(is_copied_, true)) return JobGroup::Parts();
    return MakeJobs(AllBut(0), &DealtScanRun::CopyBack);
  }

  absl::StatusOr<ScanAnswer> MakeAnswer(const JobContext&) override {
    ScanAnswer answer{{}, data_ ? *std::move(data_) : ChunkData(0)};
    absl::Status status = Describe(answer.response);
    if (!status.ok()) return status;
    return answer;
  }

 private:
  using RunShard = absl::Status (DealtScanRun::*)(size_t, const JobContext&);

  // All shards but so many of the last ones.
  std::vector<size_t> AllBut(size_t count) const {
    std::vector<size_t> shards(shards_.size() - count);
    std::iota(shards.begin(), shards.end(), size_t{0});
    return shards;
  }

  JobGroup::Parts MakeJobs(const std::vector<size_t>& shards, RunShard run) {
    std::vector<PartPlace> places;
    for (const size_t shard : shards) places.push_back(places_[shard]);
    return MakeParts(common_, places, input_bytes(),
                     [this, run, shards](size_t part, const JobContext& context) {
                       return (this->*run)(shards[part], context);
                     });
  }

  uint64_t input_bytes() const { return kernels::ElementSize(planned_.plan.array.element_type); }
  uint64_t output_bytes() const { return kernels::ElementSize(planned_.plan.output_type); }

  kernels::ScanPlan PlanOfRows(size_t shard) const {
    kernels::ScanPlan plan = planned_.plan;
    const uint64_t rows = shards_[shard].element_count / plan.array.columns;
    plan.array =
        kernels::ArrayDescription::Matrix(plan.array.element_type, rows, plan.array.columns);
    plan.grouping.group_count = rows;
    return plan;
  }

  absl::Status ScanRows(size_t shard, const JobContext& context) {
    const absl::StatusOr<kernels::OutputSpan> output = OutputOf(shard);
    if (!output.ok()) return output.status();
    kernels::RunStatistics run;
    absl::Status status = context.lane.RunScan(
        PlanOfRows(shard), kernels::ResidentSpan(shards_[shard].span), *output, context.stop, run);
    return End(context, run, status);
  }

  absl::Status FindTotals(size_t shard, const JobContext& context) {
    kernels::RunStatistics run;
    absl::Status status = dealt_.FindTotals(shard, kernels::ResidentSpan(shards_[shard].span),
                                            context.lane, context.stop, run);
    statistics_.Add(context, run);
    return status;
  }

  absl::Status Continue(size_t shard, const JobContext& context) {
    const absl::StatusOr<kernels::OutputSpan> output = OutputOf(shard);
    if (!output.ok()) return output.status();
    kernels::RunStatistics run;
    absl::Status status = dealt_.RunPart(shard, kernels::ResidentSpan(shards_[shard].span), *output,
                                         context.lane, context.stop, run);
    return End(context, run, status);
  }

  // Not to be stopped: half of it would be neither the input nor the result.
  absl::Status CopyBack(size_t shard, const JobContext& context) {
    return context.lane.Copy(kernels::ResidentSpan(output_->shards()[shard].span),
                             shards_[shard].span, std::stop_token());
  }

  absl::Status End(const JobContext& context, const kernels::RunStatistics& run,
                   const absl::Status& status) {
    statistics_.Add(context, run);
    if (const auto* const result = std::get_if<RegionResult>(&planned_.result)) {
      if (absl::Status used = EndUse(result->region); !used.ok()) return used;
    }
    return status;
  }

  absl::StatusOr<kernels::OutputSpan> OutputOf(size_t shard) {
    const uint64_t offset = shards_[shard].first_element * output_bytes();
    const uint64_t size_bytes = shards_[shard].element_count * output_bytes();
    if (std::holds_alternative<InlineResult>(planned_.result)) {
      return kernels::MutableHostSpan{Data() + offset, size_bytes};
    }
    if (const auto* const result = std::get_if<RegionResult>(&planned_.result)) {
      const kernels::MutableResidentSpan& place = result->place;
      return kernels::MutableResidentSpan{place.data + offset, size_bytes, place.is_mapped};
    }
    if (absl::Status status = Allocate(); !status.ok()) return status;
    return output_->shards()[shard].span;
  }

  // What follows takes memory when the first lane comes.
  std::byte* Data() {
    const std::lock_guard lock(mutex_);
    if (!data_) data_.emplace(InlineResultBytes(planned_));
    return data_->data();
  }

  absl::Status Allocate() {
    const std::lock_guard lock(mutex_);
    if (output_ != nullptr) return absl::OkStatus();
    const kernels::ShapedArray description(planned_.plan.output_type, planned_.input.shape);
    absl::StatusOr<ArrayLease> output = planned_.arrays.AllocateLike(description, shards_);
    if (!output.ok()) return output.status();
    output_ = *std::move(output);
    return absl::OkStatus();
  }

  absl::Status Describe(v1::ScanArrayResponse& response) {
    if (const auto* const made = std::get_if<NewArrayResult>(&planned_.result)) {
      const absl::StatusOr<ArrayInfo> info =
          planned_.arrays.Insert(made->name, made->idle_expiry, std::move(output_));
      if (!info.ok()) return info.status();
      *response.mutable_resident_array() = ToWire(*info);
      return absl::OkStatus();
    }
    if (std::holds_alternative<InPlaceResult>(planned_.result)) {
      planned_.input.resident->lease->MarkUsed();
      *response.mutable_resident_array() = ToWire(planned_.input.resident->array);
      return absl::OkStatus();
    }
    DescribeScanned(planned_, response);
    return absl::OkStatus();
  }

  const PlannedScan& planned_;
  const std::vector<ArrayShard> shards_;
  const std::vector<PartPlace> places_;
  const bool by_rows_;
  kernels::DealtScan dealt_;  // Of a scan of the whole.
  JobWork common_;
  bool is_copied_ = false;
  std::mutex mutex_;
  // Guarded by mutex_ while parts run.
  std::optional<ChunkData> data_;  // An inline result.
  ArrayLease output_;              // One that becomes an array, or replaces one.
};

}  // namespace

absl::StatusOr<std::unique_ptr<DealtRun<ScanAnswer>>> Deal(const PlannedScan& planned,
                                                           const Limits&) {
  if (!planned.input.is_sharded()) return nullptr;
  return std::make_unique<DealtScanRun>(planned);
}

}  // namespace gridfold::server
