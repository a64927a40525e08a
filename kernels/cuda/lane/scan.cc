#include "kernels/cuda/scan/scan.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <span>
#include <variant>
#include <vector>

#include "kernels/contract/scan_error.h"
#include "kernels/contract/strategy_error.h"
#include "kernels/cuda/lane/lane.h"
#include "kernels/cuda/lane/wide_form_carry.h"
#include "kernels/cuda/scan/totals.h"
#include "kernels/numerics/arithmetic/unbounded_sum.h"
#include "kernels/numerics/scans/operator.h"

namespace gridfold::kernels::cuda {

namespace {

using WideSum = ScanOperator<double, ScanOperation::kUnboundedSum>;
using WideProduct = ScanOperator<double, ScanOperation::kScaledProduct>;  // Of any element type.

bool HasWideForm(const ScanPlan& plan, ScanOperation operation) {
  return plan.operation == operation && !plan.exact && !plan.is_moving() &&
         VisitElementType(plan.array.element_type, [&](auto tag) {
           using T = typename decltype(tag)::type;
           return operation == ScanOperation::kSum ? kHasWideForm<T, ScanOperation::kSum>
                                                   : kHasWideForm<T, ScanOperation::kProduct>;
         });
}

}  // namespace

absl::Status CudaLane::Scan(const ScanPlan& plan, const InputSpan& input, const OutputSpan& output,
                            ScanCarry* carry, const std::stop_token& stop,
                            RunStatistics& statistics) {
  std::byte* const head = memory_.output.data();
  const char* const strategy = ScanStrategy(plan);
  absl::Status named = CheckOnlyStrategy(plan.strategy, strategy);
  if (!named.ok()) return named;
  statistics.strategy = strategy;
  statistics.bytes_read = ScanBytesRead(plan);
  const auto* const resident = std::get_if<MutableResidentSpan>(&output);
  const bool writes_over_bus = resident != nullptr && IsLargeAndMapped(ResidentSpan(*resident));
  // Results that go over the bus overlap an input that comes over it, but not one that came before.
  const absl::StatusOr<const std::byte*> elements =
      StageIn(input, plan.grouping, writes_over_bus ? 0 : memory_.input.size_bytes(), stop);
  if (!elements.ok()) return elements.status();

  std::byte* const results = resident != nullptr ? resident->data : head + kOutputHeadBytes;
  const ScanInput device_input{{*elements, plan.array.element_count},
                               reinterpret_cast<const uint64_t*>(memory_.offsets.data())};
  const ScanOutput device_output{{results, plan.array.element_count},
                                 reinterpret_cast<uint32_t*>(head)};
  const absl::StatusOr<bool> fits =
      HasWideForm(plan, ScanOperation::kSum)
          ? ScanPlainFirst<WideSum>(plan, device_input, device_output, carry, stop)
      : HasWideForm(plan, ScanOperation::kProduct)
          ? ScanPlainFirst<WideProduct>(plan, device_input, device_output, carry, stop)
          : ScanStaged(plan, device_input, device_output, carry, stop);
  if (!fits.ok()) return fits.status();
  if (!*fits) return ScanOverflowError(plan);
  if (carry != nullptr) carry->element_count += plan.array.element_count;
  if (resident != nullptr) return absl::OkStatus();
  const auto& host = std::get<MutableHostSpan>(output);
  return staging_.CopyOut(results, std::span(&host, 1), stop, stream_.get());
}

absl::StatusOr<bool> CudaLane::ScanStaged(const ScanPlan& plan, const ScanInput& input,
                                          const ScanOutput& output, ScanCarry* carry,
                                          const std::stop_token& stop) {
  std::byte* const head = memory_.output.data();
  DeviceScanCarry device_carry;
  if (carry != nullptr) {
    device_carry = {head + kScanCarryOffset, carry->element_count > 0};
    const HostSpan value{carry->value.data(), carry->value.size()};
    absl::Status status = CopyIn(std::span(&value, 1), device_carry.value, stop);
    if (!status.ok()) return status;
  }
  Scratch scratch = NewScratch();
  absl::Status status =
      LaunchScan(plan, input, output, device_carry, scratch, properties_, stream_.get());
  if (status.ok()) status = timer_.Mark(JobTimer::Point::kKernelsEnd, stream_.get());
  if (!status.ok()) return status;

  // The flag first: results that do not fit need not be copied.
  std::array<uint32_t, kScanCarryOffset / sizeof(uint32_t)> overflow{};
  const std::span<std::byte> flag_bytes = std::as_writable_bytes(std::span(overflow));
  std::vector<MutableHostSpan> spans = {{flag_bytes.data(), flag_bytes.size()}};
  if (carry != nullptr) spans.push_back({carry->value.data(), carry->value.size()});
  status = staging_.CopyOut(head, spans, stop, stream_.get());
  if (!status.ok()) return status;
  if (carry != nullptr) ClearPadding(plan, *carry);
  return overflow[0] == 0;
}

template <class Wide>
absl::StatusOr<bool> CudaLane::ScanPlainFirst(const ScanPlan& plan, const ScanInput& input,
                                              const ScanOutput& output, ScanCarry* carry,
                                              const std::stop_token& stop) {
  using Carry = WideFormCarry<Wide>;
  const bool continues = carry != nullptr && carry->element_count > 0;
  const Carry before = continues ? Carry(*carry) : Carry();
  if (Wide::IsPlain(before.value())) {
    if (carry != nullptr) before.Store(false, *carry);
    const absl::StatusOr<bool> fits = ScanStaged(plan, input, output, carry, stop);
    if (!fits.ok()) return fits;
    const bool holds = carry == nullptr || Wide::Plain::Holds(Carry(*carry).value().Rounded());
    if (*fits && holds) return true;
    const absl::StatusOr<bool> needs = NeedsWideForm(input.elements, before.value(), stop);
    if (!needs.ok() || !*needs) return needs.ok() ? true : needs;
  }
  if (carry != nullptr) before.Store(true, *carry);
  ScanPlan wide = plan;
  wide.operation = Wide::Plain::kWideForm;
  return ScanStaged(wide, input, output, carry, stop);
}

absl::StatusOr<bool> CudaLane::NeedsWideForm(const DeviceSpan& elements, const UnboundedSum& before,
                                             const std::stop_token& stop) {
  const absl::StatusOr<double> largest = LargestMagnitude(elements, stop);
  if (!largest.ok()) return largest.status();
  const double carried = IsFinite(before.fraction) ? std::fabs(before.fraction) : 0;
  return SumsMayPassTheLargest(std::max(*largest, carried), elements.element_count);
}

absl::StatusOr<bool> CudaLane::NeedsWideForm(const DeviceSpan&, const ScaledProduct&,
                                             const std::stop_token&) {
  return true;
}

absl::StatusOr<double> CudaLane::LargestMagnitude(const DeviceSpan& elements,
                                                  const std::stop_token& stop) {
  // Behind the flag.
  static_assert(2 * sizeof(uint64_t) <= kScanCarryOffset);
  std::byte* const place = memory_.output.data() + sizeof(uint64_t);
  const absl::Status status = LaunchLargestMagnitude(elements, reinterpret_cast<uint64_t*>(place),
                                                     properties_, stream_.get());
  if (!status.ok()) return status;
  uint64_t bits = 0;
  const MutableHostSpan span{reinterpret_cast<std::byte*>(&bits), sizeof(bits)};
  const absl::Status copied = staging_.CopyOut(place, std::span(&span, 1), stop, stream_.get());
  if (!copied.ok()) return copied;
  return std::bit_cast<double>(bits);
}

}  // namespace gridfold::kernels::cuda
