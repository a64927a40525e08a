#include <algorithm>
#include <atomic>
#include <bit>
#include <cmath>
#include <cstring>

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

// What precedes the array, in either form: kUnboundedSum's begins as kSum's does, and its exponent
// is 0 where both have the same value.
UnboundedSum SumBefore(const ScanCarry* carry) {
  UnboundedSum before = UnboundedSum::Of(0);
  if (carry != nullptr && carry->element_count > 0) {
    std::memcpy(&before, carry->value.data(), sizeof(before));
  }
  return before;
}

// Sets whether sums of these elements, with what precedes them, may be too large on the way.
absl::Status LookForLargeNumbers(const ScanPlan& plan, HostSpan input, const UnboundedSum& before,
                                 JobContext& job, bool* may_pass) {
  constexpr uint64_t kBlockElements = 1 << 16;
  const uint64_t count = plan.array.element_count;
  std::atomic<uint64_t> largest = 0;  // Bits of a magnitude, which are in its order.
  const absl::Status status =
      job.workers.ForEach((count + kBlockElements - 1) / kBlockElements, job.stop, [&](uint64_t i) {
        const uint64_t begin = i * kBlockElements;
        const double in_block = LargestMagnitude(input.data + begin * sizeof(double),
                                                 std::min(kBlockElements, count - begin));
        const auto bits = std::bit_cast<uint64_t>(in_block);
        uint64_t seen = largest.load();
        while (bits > seen && !largest.compare_exchange_weak(seen, bits)) {
        }
      });
  const double carried = IsFinite(before.fraction) ? std::fabs(before.fraction) : 0;
  const double magnitude = std::max(std::bit_cast<double>(largest.load()), carried);
  *may_pass = SumsMayPassTheLargest(magnitude, count);
  return status;
}

}  // namespace

namespace scan_internal {

absl::Status RunDoubleSum(const ScanPlan& plan, HostSpan input, MutableHostSpan output,
                          ScanCarry* carry, JobContext& job) {
  const UnboundedSum before = SumBefore(carry);
  bool is_too_large = before.exponent != 0;
  if (!is_too_large) {
    const absl::Status status = VisitScan<ScanOperation::kSum, double, double>(
        plan, input, output, carry, [&](auto&& scan) {
          absl::Status run = scan.Run(job);
          if (run.ok() && !scan.fits()) {
            run = LookForLargeNumbers(plan, input, before, job, &is_too_large);
          }
          if (run.ok() && !is_too_large) scan.LeaveCarry();
          return run;
        });
    if (!status.ok() || !is_too_large) return status;
  }
  return RunScan<ScanOperation::kUnboundedSum, double, double>(plan, input, output, carry, job);
}

}  // namespace scan_internal

template absl::Status RunScanOperation<ScanOperation::kSum>(const ScanPlan&, HostSpan,
                                                            MutableHostSpan, ScanCarry*,
                                                            JobContext&);

}  // namespace gridfold::kernels::cpu
