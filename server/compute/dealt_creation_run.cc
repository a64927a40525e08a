// New sharded arrays, whose devices clear their own shards.
#include <memory>
#include <utility>

#include "server/compute/dealt_run.h"
#include "server/wire/description_conversion.h"

namespace gridfold::server {

namespace {

class DealtCreationRun final : public DealtRun<v1::CreateArrayResponse> {
 public:
  DealtCreationRun(const PlannedCreation& planned, ArrayLease array)
      : planned_(planned), array_(std::move(array)) {}

  JobGroup::Parts Begin(const JobWork& common) override {
    return MakeParts(common, PlacesOf(array_->shards()),
                     kernels::ElementSize(planned_.description.element_type),
                     [this](size_t shard, const JobContext& context) {
                       statistics_.Add(context, {.strategy = "create"});
                       return context.lane.Clear(array_->shards()[shard].span, context.stop);
                     });
  }

  absl::StatusOr<JobGroup::Parts> EndRound(const JobContext&) override { return JobGroup::Parts(); }

  absl::StatusOr<v1::CreateArrayResponse> MakeAnswer(const JobContext&) override {
    const absl::StatusOr<ArrayInfo> info =
        planned_.arrays.Insert(planned_.name, planned_.idle_expiry, std::move(array_));
    if (!info.ok()) return info.status();
    v1::CreateArrayResponse response;
    *response.mutable_array() = ToWire(*info);
    return response;
  }

 private:
  const PlannedCreation& planned_;
  ArrayLease array_;
};

}  // namespace

absl::StatusOr<std::unique_ptr<DealtRun<v1::CreateArrayResponse>>> Deal(
    const PlannedCreation& planned, const Limits&) {
  if (!planned.is_sharded) return nullptr;
  absl::StatusOr<ArrayLease> array = planned.arrays.AllocateSharded(planned.description);
  if (!array.ok()) return array.status();
  return std::make_unique<DealtCreationRun>(planned, *std::move(array));
}

}  // namespace gridfold::server
