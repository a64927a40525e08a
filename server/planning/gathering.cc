#include "server/planning/gathering.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "kernels/contract/invalid_field.h"

namespace gridfold::server {

namespace {

// The engine that device memory in regions requires of the request.
absl::Status RequireThatOfRegions(absl::Span<InputArray* const> inputs,
                                  std::optional<uint32_t>& engine) {
  for (const InputArray* const input : inputs) {
    if (input == nullptr || input->region == nullptr) continue;
    absl::Status status = RequireEngine(input->field, input->engine(), engine);
    if (!status.ok()) return status;
  }
  return absl::OkStatus();
}

// The engine of the largest array that one device has; of equals, that of the first.
std::optional<uint32_t> EngineOfLargest(absl::Span<InputArray* const> inputs) {
  const InputArray* largest = nullptr;
  for (const InputArray* const input : inputs) {
    if (input == nullptr || !input->engine()) continue;
    const bool is_larger =
        largest == nullptr || input->description.size_bytes() > largest->description.size_bytes();
    if (is_larger) largest = input;
  }
  return largest == nullptr ? std::nullopt : largest->engine();
}

bool LiesElsewhere(const InputArray& input, uint32_t engine) {
  return input.resident && (input.is_sharded() || input.resident->engine() != engine);
}

// Makes the input one of so many elements on `engine`, and returns where they were.
std::vector<ArrayShard> Replace(InputArray& input, uint64_t element_count, uint32_t engine) {
  const uint64_t size_bytes = element_count * kernels::ElementSize(input.description.element_type);
  std::vector<ArrayShard> shards = {{engine, 0, element_count, {nullptr, size_bytes}}};
  std::swap(input.resident->shards, shards);
  input.data = kernels::ResidentSpan(input.resident->span());
  return shards;
}

// Records where the elements are, and makes the input one on `engine`.
void Move(InputArray& input, size_t place, PlannedGather& gather) {
  const ArrayShard& last = input.resident->shards.back();
  const kernels::ArrayDescription array = kernels::ArrayDescription::Vector(
      input.description.element_type, last.first_element + last.element_count);
  std::vector<ArrayShard> there = Replace(input, array.element_count, gather.engine);
  if (array.element_count == 0) return;
  gather.gathered.push_back({place, input.field, array, std::move(there)});
}

// Records how the view's elements stand, and makes the input one without gaps.
void Pack(InputArray& input, size_t place, PlannedGather& gather) {
  const kernels::ResidentSpan from = input.resident->span();
  const kernels::Rearrangement order = kernels::PlanRearrangement(*input.resident->view);
  const kernels::ArrayDescription array = kernels::ArrayDescription::Vector(
      input.description.element_type, input.description.element_count);
  Replace(input, array.element_count, gather.engine);
  input.resident->view.reset();
  gather.packed.push_back({place, input.field, array, order, from});
}

absl::Status CheckRoom(const PlannedGather& gather, const Limits& limits) {
  const uint64_t size_bytes = gather.copied_bytes();
  const uint64_t room_bytes_max = std::min(limits.resident_bytes_max, limits.tenant_bytes_max());
  if (size_bytes <= room_bytes_max) return absl::OkStatus();
  return kernels::LargerThanALane(absl::StrCat(
      "the operation needs its arrays on one device and without gaps, with copies of ", size_bytes,
      " bytes, more than the ", room_bytes_max, " that a tenant may have there"));
}

}  // namespace

uint64_t PlannedGather::copied_bytes() const {
  uint64_t size_bytes = 0;
  for (const GatheredArray& one : gathered) size_bytes += one.array.size_bytes();
  for (const PackedView& one : packed) size_bytes += one.array.size_bytes();
  return size_bytes;
}

absl::Status Gather(absl::Span<InputArray* const> inputs, std::optional<uint32_t> required,
                    const PlanningContext& context, std::optional<PlannedGather>& gather) {
  absl::Status status = RequireThatOfRegions(inputs, required);
  if (!status.ok()) return status;
  if (!required) required = EngineOfLargest(inputs);
  PlannedGather planned{
      context.arrays, required ? *required : context.arrays.EngineWithMostRoom(), {}, {}};
  for (size_t place = 0; place < inputs.size(); ++place) {
    InputArray* const input = inputs[place];
    if (input == nullptr) continue;
    if (LiesElsewhere(*input, planned.engine)) Move(*input, place, planned);
    if (input->is_view()) Pack(*input, place, planned);
  }
  status = CheckRoom(planned, context.limits);
  if (status.ok() && planned.copied_bytes() > 0) gather = std::move(planned);
  return status;
}

absl::Status RequireEngine(absl::string_view field, std::optional<uint32_t> needed,
                           std::optional<uint32_t>& engine) {
  if (!needed) return absl::OkStatus();
  if (!engine) engine = needed;
  if (*needed == *engine) return absl::OkStatus();
  return kernels::InvalidField(
      field, absl::StrCat("lies on device ", *needed,
                          ", and further memory that another process shares on device ", *engine));
}

std::optional<uint32_t> EngineOf(absl::Span<InputArray* const> inputs) {
  for (const InputArray* const input : inputs) {
    if (input != nullptr && input->engine()) return input->engine();
  }
  return std::nullopt;
}

}  // namespace gridfold::server
