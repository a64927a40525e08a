#include "server/placement.h"

#include <variant>

namespace gridfold::server {

namespace {

// An operation of a batch that has no plan.
void Place(const absl::Status&, JobWork&) {}

void PlaceInput(const InputArray& input, JobWork& work) {
  if (!input.resident) return;
  work.engine = input.resident->lease->engine();
  work.resident_bytes += input.resident->span.size_bytes;
}

uint64_t ResidentBytes(const kernels::InputSpan& input) {
  return std::holds_alternative<kernels::ResidentSpan>(input) ? kernels::SizeBytes(input) : 0;
}

}  // namespace

void Place(const PlannedReduction& planned, JobWork& work) { PlaceInput(planned.input, work); }

void Place(const PlannedScan& planned, JobWork& work) {
  PlaceInput(planned.input, work);
  const auto* const made = std::get_if<NewArrayResult>(&planned.result);
  if (made != nullptr) work.engine = made->engine;
}

void Place(const PlannedHistogram& planned, JobWork& work) {
  if (!planned.leases.empty()) work.engine = planned.leases.front()->engine();
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

}  // namespace gridfold::server
