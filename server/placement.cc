#include "server/placement.h"

#include <variant>

namespace gridfold::server {

namespace {

// An operation of a batch that has no plan.
void Place(const absl::Status&, JobWork&) {}

uint64_t ResidentBytes(const kernels::InputSpan& input) {
  return std::holds_alternative<kernels::ResidentSpan>(input) ? kernels::SizeBytes(input) : 0;
}

void PlaceInput(const InputArray& input, JobWork& work) {
  if (input.engine()) work.engine = input.engine();
  work.resident_bytes += ResidentBytes(input.data);
}

}  // namespace

void Place(const PlannedReduction& planned, JobWork& work) { PlaceInput(planned.input, work); }

void Place(const PlannedScan& planned, JobWork& work) {
  PlaceInput(planned.input, work);
  const auto* const made = std::get_if<NewArrayResult>(&planned.result);
  if (made != nullptr) work.engine = made->engine;
  const auto* const region = std::get_if<RegionResult>(&planned.result);
  if (region != nullptr && region->region->engine()) work.engine = region->region->engine();
}

void Place(const PlannedHistogram& planned, JobWork& work) {
  work.engine = planned.engine;
  work.resident_bytes += ResidentBytes(planned.input.array) + ResidentBytes(planned.input.y_array) +
                         ResidentBytes(planned.input.weights);
}

void Place(const PlannedMerge&, JobWork&) {}

void Place(const PlannedCreation& planned, JobWork& work) {
  work.engine = planned.engine;
  work.resident_bytes += planned.description.size_bytes();
}

void Place(const PlannedBatch& batch, JobWork& work) {
  for (const PlannedOperation& operation : batch.operations) {
    std::visit([&](const auto& planned) { Place(planned, work); }, operation);
  }
}

// Any lane's thread will do: the engine is chosen where the memory is opened.
void Place(const PlannedRegistration& planned, JobWork& work) {
  work.resident_bytes += planned.region.size_bytes;
}

}  // namespace gridfold::server
