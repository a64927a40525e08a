#include "kernels/cuda/scan/scan.h"

#include <algorithm>

#include "kernels/cuda/device/grid.h"
#include "kernels/cuda/device/status.h"
#include "kernels/cuda/scan/base/arguments.h"
#include "kernels/cuda/scan/base/launching.h"
#include "kernels/cuda/scan/columns/columns.h"
#include "kernels/cuda/scan/exact/exact.h"
#include "kernels/cuda/scan/magnitude_kernel.h"
#include "kernels/cuda/scan/moving/moving.h"
#include "kernels/cuda/scan/positions/look_back.h"
#include "kernels/numerics/scans/operator.h"

namespace gridfold::kernels::cuda {

namespace {

bool IsByColumns(const ScanPlan& plan) { return plan.grouping.kind == GroupingKind::kAxis0; }

ScanArguments ArgumentsOf(const ScanPlan& plan, const ScanInput& input, const ScanOutput& output) {
  return {.input = input.elements.data,
          .output = output.results.data,
          .overflow_flag = output.overflow_flag,
          .element_count = plan.array.element_count,
          .reverse = plan.direction == ScanDirection::kReverse,
          .exclusive = plan.mode == ScanMode::kExclusive,
          .ignore_nan = plan.nan_policy == NanPolicy::kIgnore,
          .wrap = plan.overflow_policy == OverflowPolicy::kWrap,
          .mirror_bits = MirrorBits(plan.operation, plan.array.element_type),
          .accumulator_output = plan.output_type != plan.array.element_type};
}

}  // namespace

uint64_t ScanScratchBytes(const ScanPlan& plan) {
  if (plan.is_moving()) return MovingScanScratchBytes(plan);
  if (plan.exact) return ExactScanScratchBytes(plan);
  if (IsByColumns(plan)) return ColumnScratchBytes(plan);
  return LookBackScratchBytes(plan.array.element_count,
                              plan.grouping.kind == GroupingKind::kSegments);
}

uint64_t ScanScratchBytesMax(uint64_t input_bytes) {
  // Elements of one byte have the most tiles.
  return std::max({LookBackScratchBytes(input_bytes, true), ColumnScratchBytesMax(input_bytes),
                   ExactScanScratchBytesMax(input_bytes), MovingScanScratchBytesMax(input_bytes)});
}

absl::Status LaunchScan(const ScanPlan& plan, const ScanInput& input, const ScanOutput& output,
                        const DeviceScanCarry& carry, Scratch& scratch,
                        const DeviceProperties& properties, cudaStream_t stream) {
  GRIDFOLD_RETURN_IF_CUDA_ERROR(
      cudaMemsetAsync(output.overflow_flag, 0, sizeof(*output.overflow_flag), stream));
  if (plan.array.element_count == 0) return absl::OkStatus();
  const ScanArguments arguments = ArgumentsOf(plan, input, output);
  if (plan.is_moving()) {
    return LaunchMovingScan(plan, arguments, input.offsets, scratch, properties, stream);
  }
  if (plan.exact) {
    return LaunchExactScan(plan, arguments, input.offsets, carry, scratch, properties, stream);
  }
  return IsByColumns(plan) ? LaunchColumnScan(plan, arguments, scratch, properties, stream)
                           : LaunchLookBackScan(plan, arguments, input.offsets, carry, scratch,
                                                properties, stream);
}

absl::Status LaunchLargestMagnitude(const DeviceSpan& elements, uint64_t* bits,
                                    const DeviceProperties& properties, cudaStream_t stream) {
  constexpr uint32_t kBlockThreads = 256;
  GRIDFOLD_RETURN_IF_CUDA_ERROR(cudaMemsetAsync(bits, 0, sizeof(*bits), stream));
  return Launch(FindLargestMagnitudeKernel(),
                GridStrideShape(elements.element_count, kBlockThreads, properties), stream,
                static_cast<const double*>(elements.data), elements.element_count, bits);
}

const char* ScanStrategy(const ScanPlan& plan) {
  if (plan.is_moving()) return "scan/moving";
  if (plan.exact) return "scan/exact";
  return IsByColumns(plan) ? "scan/axis-0" : "scan/look-back";
}

uint64_t ScanBytesRead(const ScanPlan& plan) {
  const uint64_t passes = plan.is_moving() ? MovingScanPasses(plan)
                          : plan.exact     ? ExactScanPasses(plan)
                                           : 1;
  return plan.array.size_bytes() * passes;
}

}  // namespace gridfold::kernels::cuda
