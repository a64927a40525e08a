// Requests whose arrays no device has all of, or that have views with gaps (planning/gathering.h).
//
// In the first round each device copies what it has to the one that computes. In the second, that
// one copies the elements of views together, and runs the request as if the arrays had always been
// there. Results in place go back in a third. Where no array lies elsewhere the second round is the
// first one.
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <utility>
#include <variant>
#include <vector>

#include "server/compute/dealt_run.h"
#include "server/compute/keyed_run.h"
#include "server/compute/paired_run.h"
#include "server/compute/planned_run.h"

namespace gridfold::server {

namespace {

using Places = std::vector<kernels::InputSpan*>;

// Where a plan has the addresses of its arrays, in the order in which they were gathered; null
// where it has no such array.
kernels::InputSpan* MaskIn(std::optional<PlannedSelection>& selection) {
  InputArray* const mask = MaskOf(selection);
  return mask == nullptr ? nullptr : &mask->data;
}
Places PlacesIn(PlannedReduction& planned) {
  return {&planned.input.data, MaskIn(planned.selection)};
}
Places PlacesIn(PlannedScan& planned) { return {&planned.input.data, MaskIn(planned.selection)}; }
Places PlacesIn(PlannedHistogram& planned) {
  return {&planned.input.array, &planned.input.y_array, &planned.input.weights,
          MaskIn(planned.selection)};
}
Places PlacesIn(PlannedKeyedReduction& planned) {
  Places places = {&planned.input.keys};
  for (kernels::InputSpan& keys : planned.input.further_keys) places.push_back(&keys);
  places.push_back(&planned.input.values);
  return places;
}
Places PlacesIn(PlannedPaired& planned) {
  return {&planned.input.x, &planned.input.y, &planned.input.weights};
}
Places PlacesIn(PlannedQuantiles& planned) {
  return {&planned.input.data, planned.weights ? &planned.weights->data : nullptr};
}
Places PlacesIn(PlannedTop& planned) { return {&planned.input.data}; }

// What plans say of an array beside its address.
void Describe(const std::string& field, kernels::MutableResidentSpan copy, PlannedScan& planned) {
  if (field == planned.input.field) planned.input.resident->shards.front().span = copy;
}
void Describe(const std::string& field, kernels::MutableResidentSpan copy,
              PlannedHistogram& planned) {
  for (InputArray& truth : planned.truths) {
    if (truth.field == field) truth.data = kernels::ResidentSpan(copy);
  }
}
template <class Planned>
void Describe(const std::string&, kernels::MutableResidentSpan, Planned&) {}

// The array that the results of a scan go back to, if that is a copy.
const GatheredArray* ResultIn(const PlannedScan& planned) {
  const std::vector<GatheredArray>& gathered = planned.gather->gathered;
  if (!std::holds_alternative<InPlaceResult>(planned.result) || gathered.empty()) return nullptr;
  return gathered.front().field == planned.input.field ? &gathered.front() : nullptr;
}
template <class Planned>
const GatheredArray* ResultIn(const Planned&) {
  return nullptr;
}

template <class Planned, class Response>
class GatheredRun final : public DealtRun<Response> {
 public:
  explicit GatheredRun(const Planned& planned)
      : planned_(planned), gather_(*planned.gather), copies_(gather_.gathered.size()) {}

  JobGroup::Parts Begin(const JobWork& common) override {
    common_ = common;
    if (gather_.gathered.empty()) return RunParts();
    common_.answer_bytes = 0;  // The first round takes the room.
    JobGroup::Parts parts;
    JobWork work = common;
    for (size_t i = 0; i < copies_.size(); ++i) {
      const auto bring = [this, i](const ArrayShard& shard, const JobContext& context) {
        return Bring(i, shard, context);
      };
      for (JobWork& part : PartsOf(gather_.gathered[i], work, bring)) {
        parts.push_back(std::move(part));
      }
      // What arrived in the message waits with the first array's parts.
      work.payload_bytes = 0;
      work.answer_bytes = 0;
    }
    return parts;
  }

  absl::StatusOr<JobGroup::Parts> EndRound(const JobContext&) override {
    if (!answer_) return RunParts();
    const GatheredArray* const result = ResultIn(planned_);
    if (result == nullptr || std::exchange(puts_back_, true)) return JobGroup::Parts();
    return PartsOf(*result, common_, [this](const ArrayShard& shard, const JobContext& context) {
      return PutBack(shard, context);
    });
  }

  absl::StatusOr<Response> MakeAnswer(const JobContext&) override {
    copies_.clear();  // A batch keeps this run until its call has ended.
    return *std::move(answer_);
  }

 private:
  using OfShard = std::function<absl::Status(const ArrayShard&, const JobContext&)>;

  static uint64_t ElementBytes(const GatheredArray& one) {
    return kernels::ElementSize(one.array.element_type);
  }
  // The only part of the round that runs the request.
  JobGroup::Parts RunParts() {
    return MakeParts(common_, {PartPlace{gather_.engine, 0, gather_.copied_bytes()}}, 1,
                     [this](size_t, const JobContext& context) { return Run(context); });
  }

  static JobGroup::Parts PartsOf(const GatheredArray& one, const JobWork& common,
                                 const OfShard& run) {
    return MakeParts(common, PlacesOf(one.shards), ElementBytes(one),
                     [&one, run](size_t shard, const JobContext& context) {
                       return run(one.shards[shard], context);
                     });
  }

  // The shard's place in the copy.
  kernels::MutableResidentSpan PlaceOf(size_t i, const ArrayShard& shard) const {
    return {copies_[i]->span().data + shard.first_element * ElementBytes(gather_.gathered[i]),
            shard.span.size_bytes};
  }

  absl::Status Bring(size_t i, const ArrayShard& shard, const JobContext& context) {
    if (absl::Status status = Allocate(i); !status.ok()) return status;
    kernels::RunStatistics brought;
    brought.bytes_read = shard.span.size_bytes;
    this->statistics_.Add(context, brought);
    return context.lane.Copy(kernels::ResidentSpan(shard.span), PlaceOf(i, shard), context.stop);
  }

  absl::Status Allocate(size_t i) {
    const std::lock_guard lock(mutex_);
    if (copies_[i] != nullptr) return absl::OkStatus();
    absl::StatusOr<ArrayLease> copy =
        gather_.arrays.Allocate(gather_.gathered[i].array, gather_.engine);
    if (!copy.ok()) return copy.status();
    copies_[i] = *std::move(copy);
    return absl::OkStatus();
  }

  absl::Status Run(const JobContext& context) {
    Planned planned = planned_;
    const Places places = PlacesIn(planned);
    for (size_t i = 0; i < copies_.size(); ++i) {
      const GatheredArray& one = gather_.gathered[i];
      const kernels::MutableResidentSpan copy{copies_[i]->span().data, one.array.size_bytes()};
      *places[one.place] = kernels::ResidentSpan(copy);
      Describe(one.field, copy, planned);
    }
    std::vector<ArrayLease> packed;
    for (const PackedView& one : gather_.packed) {
      absl::StatusOr<ArrayLease> copy = Pack(one, *places[one.place], context);
      if (!copy.ok()) return copy.status();
      *places[one.place] = kernels::ResidentSpan((*copy)->span());
      Describe(one.field, (*copy)->span(), planned);
      packed.push_back(*std::move(copy));
    }
    kernels::RunStatistics run;
    absl::StatusOr<Response> answer = RunPlanned(planned, context.lane, context.stop, run);
    this->statistics_.Add(context, run);
    if (!answer.ok()) return answer.status();
    answer_ = *std::move(answer);
    return absl::OkStatus();
  }

  // The view's elements without gaps; `gathered` has its array where that was brought here.
  absl::StatusOr<ArrayLease> Pack(const PackedView& one, const kernels::InputSpan& gathered,
                                  const JobContext& context) {
    absl::StatusOr<ArrayLease> copy = gather_.arrays.Allocate(one.array, gather_.engine);
    if (!copy.ok()) return copy;
    const kernels::InputSpan from = one.from.data != nullptr ? one.from : gathered;
    kernels::RunStatistics run;
    absl::Status status =
        context.lane.Rearrange(one.order, kernels::ElementSize(one.array.element_type), from,
                               (*copy)->span(), context.stop, run);
    if (!status.ok()) return status;
    this->statistics_.Add(context, run);
    return copy;
  }

  // Not to be stopped: half of it would be neither the input nor the result.
  absl::Status PutBack(const ArrayShard& shard, const JobContext& context) {
    return context.lane.Copy(kernels::ResidentSpan(PlaceOf(0, shard)), shard.span,
                             std::stop_token());
  }

  const Planned& planned_;
  const PlannedGather& gather_;
  JobWork common_;
  std::mutex mutex_;
  std::vector<ArrayLease> copies_;  // Guarded by mutex_ in the first round.
  std::optional<Response> answer_;
  bool puts_back_ = false;
};

}  // namespace

std::unique_ptr<DealtRun<v1::ReduceArrayResponse>> Gather(const PlannedReduction& planned) {
  return std::make_unique<GatheredRun<PlannedReduction, v1::ReduceArrayResponse>>(planned);
}
std::unique_ptr<DealtRun<v1::ComputeHistogramResponse>> Gather(const PlannedHistogram& planned) {
  return std::make_unique<GatheredRun<PlannedHistogram, v1::ComputeHistogramResponse>>(planned);
}
std::unique_ptr<DealtRun<ScanAnswer>> Gather(const PlannedScan& planned) {
  return std::make_unique<GatheredRun<PlannedScan, ScanAnswer>>(planned);
}

absl::StatusOr<std::unique_ptr<DealtRun<v1::ReduceByKeyResponse>>> Deal(
    const PlannedKeyedReduction& planned, const Limits&) {
  if (!planned.gather) return nullptr;
  return std::make_unique<GatheredRun<PlannedKeyedReduction, v1::ReduceByKeyResponse>>(planned);
}

absl::StatusOr<std::unique_ptr<DealtRun<v1::RelateArraysResponse>>> Deal(
    const PlannedPaired& planned, const Limits&) {
  if (!planned.gather) return nullptr;
  return std::make_unique<GatheredRun<PlannedPaired, v1::RelateArraysResponse>>(planned);
}

absl::StatusOr<std::unique_ptr<DealtRun<v1::ComputeQuantilesResponse>>> Deal(
    const PlannedQuantiles& planned, const Limits&) {
  if (!planned.gather) return nullptr;
  return std::make_unique<GatheredRun<PlannedQuantiles, v1::ComputeQuantilesResponse>>(planned);
}

absl::StatusOr<std::unique_ptr<DealtRun<v1::SelectTopResponse>>> Deal(const PlannedTop& planned,
                                                                      const Limits&) {
  if (!planned.gather) return nullptr;
  return std::make_unique<GatheredRun<PlannedTop, v1::SelectTopResponse>>(planned);
}

}  // namespace gridfold::server
