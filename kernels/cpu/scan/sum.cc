#include <algorithm>
#include <atomic>
#include <bit>
#include <cmath>

#include "kernels/cpu/scan/operation.inc.h"
#include "kernels/numerics/arithmetic/unbounded_sum.h"

namespace gridfold::kernels::cpu {

namespace {

// The largest finite magnitude among some elements.
double LargestMagnitude(const std::byte* elements, uint64_t count) {
  constexpr uint64_t kMagnitude = ~uint64_t{0} >> 1;
  double largest = 0;
  for (uint64_t i = 0; i < count; ++i) {
    const auto bits = std::bit_cast<uint64_t>(LoadUnaligned<double>(elements, i)) & kMagnitude;
    const auto magnitude = std::bit_cast<double>(bits);
    const bool is_larger = IsFinite(magnitude) & (magnitude > largest);
    largest = is_larger ? magnitude : largest;
  }
  return largest;
}

// The largest finite magnitude in an array.
absl::Status FindLargestMagnitude(const ScanPlan& plan, HostSpan input, JobContext& job,
                                  double* magnitude) {
  constexpr uint64_t kBlockElements = 1 << 16;
  const uint64_t count = plan.array.element_count;
  std::atomic<uint64_t> largest = 0;  // Bits of a magnitude, which are in its order.
  const absl::Status status =
      job.ForEach((count + kBlockElements - 1) / kBlockElements, [&](uint64_t i) {
        const uint64_t begin = i * kBlockElements;
        const double in_block = LargestMagnitude(input.data + begin * sizeof(double),
                                                 std::min(kBlockElements, count - begin));
        const auto bits = std::bit_cast<uint64_t>(in_block);
        uint64_t seen = largest.load();
        while (bits > seen && !largest.compare_exchange_weak(seen, bits)) {
        }
      });
  *magnitude = std::bit_cast<double>(largest.load());
  return status;
}

}  // namespace

namespace scan_internal {

// Whether sums of these elements, with what precedes them, may be too large on the way.
absl::Status NeedsWideForm(const ScanPlan& plan, HostSpan input, const UnboundedSum& before,
                           JobContext& job, bool* needs) {
  double magnitude = 0;
  const absl::Status status = FindLargestMagnitude(plan, input, job, &magnitude);
  if (IsFinite(before.fraction)) magnitude = std::max(magnitude, std::fabs(before.fraction));
  *needs = SumsMayPassTheLargest(magnitude, plan.array.element_count);
  return status;
}

}  // namespace scan_internal

template absl::Status FindTotals<ScanOperation::kSum>(const ScanPlan&, HostSpan, JobContext&,
                                                      ScanTotals&);
template void CarryOver<ScanOperation::kSum>(const ScanPlan&, const ScanTotals&, ScanCarry&);
template absl::Status RunScanOperation<ScanOperation::kSum>(const ScanPlan&, HostSpan,
                                                            MutableHostSpan, ScanCarry*,
                                                            JobContext&);

}  // namespace gridfold::kernels::cpu
