#include "server/compute/truth_check.h"

#include <algorithm>
#include <cstddef>
#include <variant>

#include "absl/status/statusor.h"
#include "kernels/contract/invalid_field.h"

namespace gridfold::server {

namespace {

// A stop is looked for this often.
constexpr size_t kPieceBytes = size_t{4} << 20;

// Bits of all bytes together.
std::byte UnionOf(const std::byte* data, size_t size_bytes) {
  std::byte bits{0};
  for (size_t i = 0; i < size_bytes; ++i) bits |= data[i];
  return bits;
}

absl::StatusOr<bool> HoldsTruths(const kernels::HostSpan& span, const std::stop_token& stop) {
  for (size_t begin = 0; begin < span.size_bytes; begin += kPieceBytes) {
    if (stop.stop_requested()) return absl::CancelledError("the job was cancelled");
    const std::byte bits =
        UnionOf(span.data + begin, std::min(kPieceBytes, span.size_bytes - begin));
    if (bits > std::byte{1}) return false;
  }
  return true;
}

absl::StatusOr<bool> HoldsTruths(const kernels::HostSlices& slices, const std::stop_token& stop) {
  for (const kernels::HostSpan& slice : slices.slices) {
    absl::StatusOr<bool> holds = HoldsTruths(slice, stop);
    if (!holds.ok() || !*holds) return holds;
  }
  return true;
}

// Of memory that only the lane may read.
absl::StatusOr<bool> HoldsTruths(const kernels::ResidentSpan& span, kernels::Lane& lane,
                                 const std::stop_token& stop) {
  if (span.size_bytes == 0) return true;
  kernels::ReductionSpec spec;
  spec.statistics = {kernels::Statistic::kMax};
  const absl::StatusOr<kernels::ReductionPlan> plan = kernels::PlanReduction(
      kernels::ArrayDescription::Vector(kernels::ElementType::kUint8, span.size_bytes), spec);
  if (!plan.ok()) return plan.status();
  kernels::RunStatistics run;
  const absl::StatusOr<kernels::ReductionResult> largest =
      lane.RunReduction(*plan, span, stop, run);
  if (!largest.ok()) return largest.status();
  return largest->columns[0].slots[0] <= 1;
}

absl::Status CheckHolds(const absl::StatusOr<bool>& holds, absl::string_view field) {
  if (!holds.ok()) return holds.status();
  if (*holds) return absl::OkStatus();
  return kernels::InvalidField(field, "an element of type bool is neither 0 nor 1");
}

}  // namespace

absl::Status CheckTruths(const InputArray& array, kernels::Lane& lane,
                         const std::stop_token& stop) {
  if (!array.is_bool) return absl::OkStatus();
  const absl::StatusOr<bool> holds = std::visit(
      [&](const auto& span) {
        if constexpr (requires { HoldsTruths(span, stop); }) {
          return HoldsTruths(span, stop);
        } else {
          return HoldsTruths(span, lane, stop);
        }
      },
      array.data);
  return CheckHolds(holds, array.field);
}

absl::Status CheckTruths(const kernels::HostSlices& elements, absl::string_view field,
                         const std::stop_token& stop) {
  return CheckHolds(HoldsTruths(elements, stop), field);
}

}  // namespace gridfold::server
