// Requests on sharded arrays of which no part can be computed by itself.
//
// In the first round each device copies its shard to the one that computes. In the second, that one
// runs the request as if the array had always been there. Results in place go back in a third.
#include <memory>
#include <mutex>
#include <optional>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

#include "server/compute/dealt_run.h"
#include "server/compute/planned_run.h"

namespace gridfold::server {

namespace {

bool IsInPlace(const PlannedScan& planned) {
  return std::holds_alternative<InPlaceResult>(planned.result);
}
template <class Planned>
bool IsInPlace(const Planned&) {
  return false;
}

// What is made of the results stays on the device.
void PlaceResult(uint32_t engine, PlannedScan& planned) {
  if (auto* const made = std::get_if<NewArrayResult>(&planned.result)) made->engine = engine;
}
template <class Planned>
void PlaceResult(uint32_t, Planned&) {}

template <class Planned, class Response>
class GatheredRun final : public DealtRun<Response> {
 public:
  explicit GatheredRun(const Planned& planned)
      : planned_(planned), shards_(planned.input.resident->shards) {}

  JobGroup::Parts Begin(const JobWork& common) override {
    common_ = common;
    return OfShards(
        [this](size_t shard, const JobContext& context) { return Bring(shards_[shard], context); });
  }

  absl::StatusOr<JobGroup::Parts> EndRound(const JobContext&) override {
    common_.answer_bytes = 0;  // The first round has taken the room.
    if (!answer_) {
      const PartPlace whole{engine(), 0, planned_.input.description.element_count};
      return MakeParts(common_, {whole}, element_bytes(),
                       [this](size_t, const JobContext& context) { return Run(context); });
    }
    if (!IsInPlace(planned_) || std::exchange(puts_back_, true)) return JobGroup::Parts();
    return OfShards([this](size_t shard, const JobContext& context) {
      return PutBack(shards_[shard], context);
    });
  }

  absl::StatusOr<Response> MakeAnswer(const JobContext&) override { return *std::move(answer_); }

 private:
  uint32_t engine() const { return planned_.gather->engine; }
  uint64_t element_bytes() const {
    return kernels::ElementSize(planned_.input.description.element_type);
  }

  JobGroup::Parts OfShards(
      const std::function<absl::Status(size_t, const JobContext&)>& run) const {
    return MakeParts(common_, PlacesOf(shards_), element_bytes(), run);
  }

  // The shard's place in the copy.
  kernels::MutableResidentSpan PlaceOf(const ArrayShard& shard) const {
    return {copy_->span().data + shard.first_element * element_bytes(), shard.span.size_bytes};
  }

  absl::Status Bring(const ArrayShard& shard, const JobContext& context) {
    if (absl::Status status = Allocate(); !status.ok()) return status;
    this->statistics_.Add(context, {.strategy = "gather", .bytes_read = shard.span.size_bytes});
    return context.lane.Copy(kernels::ResidentSpan(shard.span), PlaceOf(shard), context.stop);
  }

  absl::Status Allocate() {
    const std::lock_guard lock(mutex_);
    if (copy_ != nullptr) return absl::OkStatus();
    const kernels::ArrayDescription& array = planned_.input.description;
    absl::StatusOr<ArrayLease> copy = planned_.gather->arrays.Allocate(
        kernels::ArrayDescription::Vector(array.element_type, array.element_count), engine());
    if (!copy.ok()) return copy.status();
    copy_ = *std::move(copy);
    return absl::OkStatus();
  }

  absl::Status Run(const JobContext& context) {
    Planned planned = planned_;
    const kernels::MutableResidentSpan span{copy_->span().data,
                                            planned.input.description.size_bytes()};
    planned.input.data = kernels::ResidentSpan(span);
    planned.input.resident->shards = {{engine(), 0, planned.input.description.element_count, span}};
    PlaceResult(engine(), planned);
    kernels::RunStatistics run;
    absl::StatusOr<Response> answer = RunPlanned(planned, context.lane, context.stop, run);
    this->statistics_.Add(context, run);
    if (!answer.ok()) return answer.status();
    answer_ = *std::move(answer);
    return absl::OkStatus();
  }

  // Not to be stopped: half of it would be neither the input nor the result.
  absl::Status PutBack(const ArrayShard& shard, const JobContext& context) {
    return context.lane.Copy(kernels::ResidentSpan(PlaceOf(shard)), shard.span, std::stop_token());
  }

  const Planned& planned_;
  const std::vector<ArrayShard> shards_;
  JobWork common_;
  std::mutex mutex_;
  ArrayLease copy_;  // Guarded by mutex_ in the first round.
  std::optional<Response> answer_;
  bool puts_back_ = false;
};

}  // namespace

std::unique_ptr<DealtRun<v1::ReduceArrayResponse>> Gather(const PlannedReduction& planned) {
  return std::make_unique<GatheredRun<PlannedReduction, v1::ReduceArrayResponse>>(planned);
}

std::unique_ptr<DealtRun<ScanAnswer>> Gather(const PlannedScan& planned) {
  return std::make_unique<GatheredRun<PlannedScan, ScanAnswer>>(planned);
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
