#include "server/planning/placement.h"

#include <algorithm>
#include <type_traits>
#include <utility>
#include <variant>

#include "kernels/accumulators/accumulator.h"
#include "server/planning/answer_size.h"

namespace gridfold::server {

namespace {

// An operation of a batch that has no plan.
void Place(const absl::Status&, JobWork& work) { work.answer_bytes += kBatchResultBytes; }

// No more than a message, which is checked elsewhere.
void AddAnswer(uint64_t bytes, JobWork& work) {
  work.answer_bytes += std::min(bytes, kMessageBytesCeiling) + kAnswerOverheadBytes;
}

uint64_t ResidentBytes(const kernels::InputSpan& input) {
  return std::holds_alternative<kernels::ResidentSpan>(input) ? kernels::SizeBytes(input) : 0;
}

void Require(std::optional<uint32_t> engine, JobWork& work) {
  if (engine) work.engine = engine;
}

// The copies of a rearrangement, of so many bytes.
void Place(const std::optional<PlannedRearrangement>& rearrangement, uint64_t bytes,
           JobWork& work) {
  if (!rearrangement) return;
  work.engine = rearrangement->engine;
  work.resident_bytes += bytes;
}

// The copies of a selection.
void Place(const std::optional<PlannedSelection>& selection, JobWork& work) {
  if (!selection) return;
  work.engine = selection->engine;
  work.resident_bytes += selection->room_bytes;
}

std::optional<uint32_t> EngineOf(const PlannedSelection& selection) {
  return selection.mask ? selection.mask->engine() : std::nullopt;
}

// An operation on one array whose answer carries the results.
template <class Planned>
void PlaceOne(const Planned& planned, JobWork& work) {
  Require(planned.input.engine(), work);
  work.resident_bytes += ResidentBytes(planned.input.data);
  Place(planned.rearrangement, planned.plan.array.size_bytes(), work);
  AddAnswer(AnswerBytes(planned.plan), work);
}

// The most that the answer to a fold of accumulators of so many bytes takes. Of found keys, whose
// number only the fold tells, each takes at least four bytes of an accumulator.
uint64_t FoldedBytes(kernels::AccumulatedOperation operation, kernels::ElementType output_type,
                     uint64_t folded_bytes) {
  if (auto* const reduction = std::get_if<kernels::ReductionPlan>(&operation)) {
    reduction->output_type = output_type;
    return AnswerBytes(*reduction);
  }
  if (const auto* const histogram = std::get_if<kernels::HistogramPlan>(&operation)) {
    return AnswerBytes(*histogram);
  }
  kernels::KeyedReductionPlan& keyed = std::get<kernels::KeyedMergePlan>(operation).keyed;
  keyed.reduction.output_type = output_type;
  keyed.keys.element_count += folded_bytes / 4;
  return AnswerBytes(keyed);
}

// The answer of what `planned` folds with an accumulator; an error where it is none.
template <class Planned>
void PlaceFold(const Planned& planned, absl::string_view accumulator, uint64_t folded_bytes,
               JobWork& work) {
  auto operation = kernels::MergedOperation(accumulator, AccumulatorLimitsOf(planned.limits));
  const auto output_type = planned.output_type.value_or(kernels::ElementType::kFloat64);
  const uint64_t bytes =
      operation.ok() ? FoldedBytes(*std::move(operation), output_type, folded_bytes) : 0;
  AddAnswer(std::min(bytes, planned.limits.message_bytes_max), work);
}

}  // namespace

std::optional<uint32_t> EngineOf(const PlannedReduction& planned) {
  if (planned.input.engine() || !planned.selection) return planned.input.engine();
  return EngineOf(*planned.selection);
}

std::optional<uint32_t> EngineOf(const PlannedScan& planned) {
  const auto* const result = std::get_if<RegionResult>(&planned.result);
  if (result != nullptr && result->region->engine()) return result->region->engine();
  if (planned.input.engine() || !planned.selection) return planned.input.engine();
  return EngineOf(*planned.selection);
}

std::optional<uint32_t> EngineOf(const PlannedHistogram& planned) { return planned.engine; }

std::optional<uint32_t> EngineOf(const PlannedKeyedReduction& planned) { return planned.engine; }

std::optional<uint32_t> EngineOf(const PlannedOperation& operation) {
  return std::visit(
      [](const auto& planned) -> std::optional<uint32_t> {
        if constexpr (std::is_same_v<decltype(planned), const absl::Status&>) {
          return std::nullopt;
        } else {
          return EngineOf(planned);
        }
      },
      operation);
}

std::optional<uint32_t> PlaceOf(const PlannedScan& planned) {
  const auto* const made = std::get_if<NewArrayResult>(&planned.result);
  return made != nullptr ? made->engine : EngineOf(planned);
}

uint64_t InlineResultBytes(const PlannedScan& planned) {
  return std::holds_alternative<InlineResult>(planned.result) ? planned.plan.output_size_bytes()
                                                              : 0;
}

void Place(const PlannedReduction& planned, JobWork& work) {
  PlaceOne(planned, work);
  Require(EngineOf(planned), work);
  Place(planned.selection, work);
}
void Place(const PlannedQuantiles& planned, JobWork& work) {
  PlaceOne(planned, work);
  if (!planned.weights) return;
  if (!planned.rearrangement) Require(planned.weights->engine(), work);
  work.resident_bytes += ResidentBytes(planned.weights->data);
  Place(planned.rearrangement, planned.weights->description.size_bytes(), work);
}
void Place(const PlannedTop& planned, JobWork& work) { PlaceOne(planned, work); }

void Place(const PlannedPaired& planned, JobWork& work) {
  Require(planned.engine, work);
  work.resident_bytes += ResidentBytes(planned.input.x) + ResidentBytes(planned.input.y) +
                         ResidentBytes(planned.input.weights);
  AddAnswer(AnswerBytes(planned.plan), work);
}

void Place(const PlannedScan& planned, JobWork& work) {
  Require(PlaceOf(planned), work);
  work.resident_bytes += ResidentBytes(planned.input.data);
  Place(planned.rearrangement, planned.plan.array.size_bytes() + planned.plan.output_size_bytes(),
        work);
  Place(planned.selection, work);
  AddAnswer(InlineResultBytes(planned), work);
}

void Place(const PlannedHistogram& planned, JobWork& work) {
  Require(EngineOf(planned), work);
  work.resident_bytes += ResidentBytes(planned.input.array) + ResidentBytes(planned.input.y_array) +
                         ResidentBytes(planned.input.weights);
  Place(planned.selection, work);
  AddAnswer(AnswerBytes(planned.plan), work);
}

void Place(const PlannedKeyedReduction& planned, JobWork& work) {
  work.engine = planned.room_engine;
  work.resident_bytes += ResidentBytes(planned.input.keys) + ResidentBytes(planned.input.values);
  for (const kernels::InputSpan& keys : planned.input.further_keys) {
    work.resident_bytes += ResidentBytes(keys);
  }
  AddAnswer(AnswerBytes(planned.plan), work);
}

void Place(const PlannedMerge& planned, JobWork& work) {
  uint64_t bytes = 0;
  for (const absl::string_view accumulator : planned.accumulators) bytes += accumulator.size();
  PlaceFold(planned,
            planned.accumulators.empty() ? absl::string_view() : planned.accumulators.front(),
            bytes, work);
}

void Place(const PlannedSubtraction& planned, JobWork& work) {
  PlaceFold(planned, planned.minuend, planned.minuend.size(), work);
}

void Place(const PlannedCreation& planned, JobWork& work) {
  work.engine = planned.engine;
  work.resident_bytes += planned.description.size_bytes();
  AddAnswer(0, work);
}

void Place(const PlannedBatch& batch, JobWork& work) {
  for (const PlannedOperation& operation : batch.operations) {
    std::visit([&](const auto& planned) { Place(planned, work); }, operation);
  }
}

// Any lane's thread will do: the engine is chosen where the memory is opened.
void Place(const PlannedRegistration& planned, JobWork& work) {
  work.resident_bytes += planned.region.size_bytes;
  AddAnswer(0, work);
}

}  // namespace gridfold::server
