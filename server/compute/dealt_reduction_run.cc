// Reductions on several lanes.
#include <cstdint>
#include <memory>
#include <mutex>
#include <utility>
#include <variant>
#include <vector>

#include "kernels/contract/input_part.h"
#include "kernels/folds/dealt_reduction.h"
#include "server/compute/dealt_run.h"
#include "server/compute/planned_run.h"

namespace gridfold::server {

namespace {

// Room on the devices that have shards for the states of their parts. Thread-safe.
class StateRooms {
 public:
  StateRooms(const PlannedReduction& planned, const std::vector<PartPlace>& places,
             const Limits& limits)
      : planned_(planned),
        places_(places),
        plan_(PlanForLane(planned.plan)),
        lanes_hold_states_(kernels::DealtStateBytes(plan_) <= limits.lane().output_bytes_max) {}

  // Takes room for all parts, whoever asks first; a part's span is empty where lanes hold its
  // states, or the host merges what are few. Errors: those of ArrayStore, where lanes cannot.
  absl::StatusOr<kernels::MutableResidentSpan> RoomFor(size_t part, const JobContext& context) {
    const std::lock_guard lock(mutex_);
    if (!std::exchange(has_asked_, true)) status_ = Take(context);
    if (!status_.ok()) return status_;
    return rooms_.empty() ? kernels::MutableResidentSpan() : rooms_[part]->span();
  }

 private:
  absl::Status Take(const JobContext& context) {
    if (!planned_.state_arrays || !kernels::DealtReduction::CanHaveRoom(plan_)) {
      return absl::OkStatus();
    }
    const uint64_t room_bytes = kernels::DealtReduction::RoomBytes(plan_, context.lane);
    if (room_bytes < kCombinedStateBytesMin) return absl::OkStatus();
    for (const PartPlace& place : places_) {
      absl::StatusOr<ArrayLease> room = planned_.state_arrays->Allocate(
          kernels::ArrayDescription::Vector(kernels::ElementType::kUint8, room_bytes),
          place.engine);
      if (!room.ok()) {
        rooms_.clear();
        return lanes_hold_states_ ? absl::OkStatus() : room.status();
      }
      rooms_.push_back(*std::move(room));
    }
    return absl::OkStatus();
  }

  const PlannedReduction& planned_;
  const std::vector<PartPlace>& places_;
  const kernels::ReductionPlan plan_;
  const bool lanes_hold_states_;
  std::mutex mutex_;
  // Guarded by mutex_.
  bool has_asked_ = false;
  absl::Status status_;
  std::vector<ArrayLease> rooms_;  // Of all parts, or of none.
};

class DealtReductionRun final : public DealtRun<v1::ReduceArrayResponse> {
 public:
  DealtReductionRun(const PlannedReduction& planned, std::vector<PartPlace> places,
                    const Limits& limits)
      : planned_(planned),
        places_(std::move(places)),
        lane_count_(limits.lane_count_of_all()),
        rooms_(planned, places_, limits),
        dealt_(PlanForLane(planned.plan), CutsOf(places_)) {}

  JobGroup::Parts Begin(const JobWork& common) override {
    common_ = common;
    return MakeParts(
        common, places_, element_bytes(),
        [this](size_t part, const JobContext& context) { return RunPart(part, context); });
  }

  // Where there are many groups, the lanes merge their states together; of states that stayed with
  // the devices, each of these merges a slice.
  absl::StatusOr<JobGroup::Parts> EndRound(const JobContext&) override {
    if (std::exchange(merges_, true)) return JobGroup::Parts();
    const size_t slice_count = dealt_.BeginMerge(lane_count_);
    std::vector<PartPlace> slices;
    for (size_t slice = 0; slice < slice_count; ++slice) {
      slices.push_back({.engine = places_[slice % places_.size()].engine,
                        .element_count = planned_.plan.grouping.group_count / slice_count});
    }
    common_.answer_bytes = 0;  // The first round has taken the room.
    return MakeParts(common_, slices, element_bytes(),
                     [this](size_t slice, const JobContext& context) {
                       return dealt_.MergeSlice(slice, context.lane, context.stop);
                     });
  }

  absl::StatusOr<v1::ReduceArrayResponse> MakeAnswer(const JobContext& context) override {
    return server::MakeAnswer(planned_, dealt_.Finish(context.lane), context.stop);
  }

 private:
  uint64_t element_bytes() const { return kernels::ElementSize(planned_.plan.array.element_type); }

  absl::Status RunPart(size_t part, const JobContext& context) {
    kernels::RunStatistics run;
    const absl::Status status =
        planned_.input.is_sharded() ? RunShard(part, context, run) : RunCut(part, context, run);
    statistics_.Add(context, run);
    if (absl::Status used = EndUse(planned_.input.region); !used.ok()) return used;
    return status;
  }

  absl::Status RunShard(size_t part, const JobContext& context, kernels::RunStatistics& run) {
    const kernels::ResidentSpan elements(planned_.input.resident->shards[part].span);
    const absl::StatusOr<kernels::MutableResidentSpan> room = rooms_.RoomFor(part, context);
    if (!room.ok()) return room.status();
    if (room->size_bytes == 0) {
      return dealt_.RunPart(part, elements, context.lane, context.stop, run);
    }
    return dealt_.RunPartInto(part, elements, *room, context.lane, context.stop, run);
  }

  absl::Status RunCut(size_t part, const JobContext& context, kernels::RunStatistics& run) {
    const PartPlace& place = places_[part];
    const kernels::InputPart elements(planned_.input.data, place.first_element * element_bytes(),
                                      place.element_count * element_bytes());
    return dealt_.RunPart(part, elements.span(), context.lane, context.stop, run);
  }

  const PlannedReduction& planned_;
  const std::vector<PartPlace> places_;
  const uint32_t lane_count_;
  StateRooms rooms_;  // Longer than what is in it.
  kernels::DealtReduction dealt_;
  JobWork common_;
  bool merges_ = false;
};

// Where parts of what any engine can read begin; none where one lane runs them all.
std::vector<PartPlace> PlacesOfParts(const PlannedReduction& planned, const Limits& limits) {
  const kernels::ReductionPlan& plan = planned.plan;
  const uint64_t size_bytes = plan.array.size_bytes();
  const bool is_worth_it =
      limits.dealt_bytes_min > 0 && size_bytes >= limits.dealt_bytes_min &&
      kernels::DealtStateBytes(PlanForLane(plan)) <= size_bytes / kDealtBytesPerStateByte;
  const bool is_free = !planned.input.engine() && !planned.rearrangement && !planned.tolerant &&
                       !planned.selection && !planned.input.is_bool;
  if (!is_worth_it || limits.engine_count < 2 || !is_free) return {};
  const uint64_t unit = plan.array.is_matrix ? plan.array.columns : 1;
  std::vector<PartPlace> places = EqualPlaces(plan.array.element_count, unit, limits);
  const bool can_be_cut =
      places.size() > 1 && kernels::DealtReduction::Check(plan, CutsOf(places)).ok();
  return can_be_cut ? places : std::vector<PartPlace>();
}

}  // namespace

absl::StatusOr<std::unique_ptr<DealtRun<v1::ReduceArrayResponse>>> Deal(
    const PlannedReduction& planned, const Limits& limits) {
  if (planned.gather) return Gather(planned);
  std::vector<PartPlace> places = planned.input.is_sharded()
                                      ? PlacesOf(planned.input.resident->shards)
                                      : PlacesOfParts(planned, limits);
  if (places.empty()) return nullptr;
  return std::make_unique<DealtReductionRun>(planned, std::move(places), limits);
}

}  // namespace gridfold::server
