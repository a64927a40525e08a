// Histograms on several lanes.
#include <memory>
#include <mutex>
#include <optional>
#include <utility>
#include <vector>

#include "kernels/contract/input_part.h"
#include "kernels/folds/dealt_histogram.h"
#include "server/compute/dealt_run.h"
#include "server/compute/planned_run.h"

namespace gridfold::server {

namespace {

uint64_t SampleBytes(const kernels::HistogramPlan& plan) {
  uint64_t bytes = kernels::ElementSize(plan.array.element_type);
  if (plan.two_dimensional) bytes *= 2;
  if (plan.weight_type) bytes += kernels::ElementSize(*plan.weight_type);
  return bytes;
}

// The part of one of the arrays that a lane reads.
class ArrayPart {
 public:
  ArrayPart(const kernels::InputSpan& array, const std::vector<ArrayShard>& shards, size_t part,
            const PartPlace& place, uint64_t element_bytes) {
    if (kernels::SizeBytes(array) == 0) return;
    if (!shards.empty()) {
      span_ = kernels::ResidentSpan(shards[part].span);
      return;
    }
    cut_.emplace(array, place.first_element * element_bytes, place.element_count * element_bytes);
    span_ = cut_->span();
  }

  const kernels::InputSpan& span() const { return span_; }

 private:
  std::optional<kernels::InputPart> cut_;
  kernels::InputSpan span_;
};

class DealtHistogramRun final : public DealtRun<v1::ComputeHistogramResponse> {
 public:
  DealtHistogramRun(const PlannedHistogram& planned, std::vector<PartPlace> places)
      : planned_(planned),
        places_(std::move(places)),
        dealt_(PlanForLane(planned.plan), CutsOf(places_)),
        finds_ranges_(dealt_.needs_ranges()) {}

  JobGroup::Parts Begin(const JobWork& common) override {
    common_ = common;
    return MakeRound();
  }

  absl::StatusOr<JobGroup::Parts> EndRound(const JobContext& context) override {
    if (!finds_ranges_) return JobGroup::Parts();
    kernels::RunStatistics run;
    absl::Status status = dealt_.EndRanges(context.lane, context.stop, run);
    if (!status.ok()) return status;
    finds_ranges_ = false;
    common_.answer_bytes = 0;  // The first round has taken the room.
    return MakeRound();
  }

  absl::StatusOr<v1::ComputeHistogramResponse> MakeAnswer(const JobContext& context) override {
    kernels::RunStatistics run;
    const absl::StatusOr<kernels::HistogramResult> result =
        dealt_.Finish(context.lane, context.stop, run, context.engine);
    kernels::HistogramPlan plan = planned_.plan;
    plan.bins = dealt_.plan().bins;
    return server::MakeAnswer(plan, planned_.is_compact, result, context.stop);
  }

 private:
  JobGroup::Parts MakeRound() {
    return MakeParts(
        common_, places_, SampleBytes(planned_.plan),
        [this](size_t part, const JobContext& context) { return RunPart(part, context); });
  }

  absl::Status RunPart(size_t part, const JobContext& context) {
    const kernels::HistogramPlan& plan = planned_.plan;
    const auto cut = [&](const kernels::InputSpan& array, const std::vector<ArrayShard>& shards,
                         kernels::ElementType type) {
      return ArrayPart(array, shards, part, places_[part], kernels::ElementSize(type));
    };
    const ArrayPart samples =
        cut(planned_.input.array, planned_.shards.array, plan.array.element_type);
    const ArrayPart y_samples =
        cut(planned_.input.y_array, planned_.shards.y_array, plan.array.element_type);
    const ArrayPart weights = cut(planned_.input.weights, planned_.shards.weights,
                                  plan.weight_type.value_or(plan.array.element_type));
    const kernels::HistogramInput input{samples.span(), y_samples.span(), weights.span()};
    kernels::RunStatistics run;
    const absl::Status status =
        finds_ranges_
            ? dealt_.FindRanges(part, input, context.lane, context.stop, run)
            : dealt_.RunPart(part, input, context.lane, context.stop, run, RoomFor(context.engine));
    statistics_.Add(context, run);
    for (const RegionLease& region : planned_.regions) {
      if (absl::Status used = EndUse(region); !used.ok()) return used;
    }
    return status;
  }

  // Where a part's counters stay; none where they are few, or the tenant has no room for them: then
  // the host adds them.
  std::optional<kernels::CounterRoom> RoomFor(uint32_t engine) {
    const kernels::HistogramPlan& plan = planned_.plan;
    const uint64_t words = kernels::CounterWordBytes(plan) / sizeof(uint64_t);
    const bool is_worth_it = places_.size() > 1 && kernels::DealtHistogram::CanHaveRoom(plan) &&
                             kernels::CounterBytes(plan) >= kCombinedBytesMin;
    if (!is_worth_it) return std::nullopt;
    absl::StatusOr<ArrayLease> room = planned_.arrays.Allocate(
        kernels::ArrayDescription::Vector(kernels::ElementType::kUint64, words), engine);
    if (!room.ok()) return std::nullopt;
    const std::lock_guard lock(mutex_);
    rooms_.push_back(*std::move(room));
    return kernels::CounterRoom{engine, rooms_.back()->span()};
  }

  const PlannedHistogram& planned_;
  const std::vector<PartPlace> places_;
  std::mutex mutex_;
  std::vector<ArrayLease> rooms_;  // Guarded by mutex_.
  kernels::DealtHistogram dealt_;
  bool finds_ranges_;  // In this round.
  JobWork common_;
};

// Where parts of what any engine can read begin; none where one lane runs them all.
std::vector<PartPlace> PlacesOfParts(const PlannedHistogram& planned, const Limits& limits) {
  const kernels::HistogramPlan& plan = planned.plan;
  const uint64_t size_bytes = plan.array.element_count * SampleBytes(plan);
  const bool is_worth_it = limits.dealt_bytes_min > 0 && size_bytes >= limits.dealt_bytes_min &&
                           kernels::CounterBytes(plan) <= size_bytes / kDealtBytesPerStateByte;
  if (!is_worth_it || limits.engine_count < 2 || planned.engine || planned.selection ||
      planned.rule || !planned.truths.empty()) {
    return {};
  }
  std::vector<PartPlace> places = EqualPlaces(plan.array.element_count, plan.channel_count, limits);
  return places.size() > 1 ? places : std::vector<PartPlace>();
}

}  // namespace

absl::StatusOr<std::unique_ptr<DealtRun<v1::ComputeHistogramResponse>>> Deal(
    const PlannedHistogram& planned, const Limits& limits) {
  if (planned.gather) return Gather(planned);
  const std::vector<ArrayShard>& shards = planned.shards.any();
  std::vector<PartPlace> places =
      shards.empty() ? PlacesOfParts(planned, limits) : PlacesOf(shards);
  if (places.empty()) return nullptr;
  return std::make_unique<DealtHistogramRun>(planned, std::move(places));
}

}  // namespace gridfold::server
