#include "kernels/cuda/scan/base/heads.h"

#include "kernels/cuda/device/grid.h"
#include "kernels/cuda/device/zeroed_memory.h"
#include "kernels/cuda/scan/base/heads_kernel.h"
#include "kernels/cuda/scan/base/launching.h"
#include "kernels/numerics/scans/tree.h"

namespace gridfold::kernels::cuda {

namespace {

constexpr uint32_t kHeadThreads = 256;

// Bits for whole tiles, however long their runs.
uint64_t HeadWords(uint64_t element_count) {
  return CeilDivide(element_count, kScanTileSizeMax) * (kScanTileSizeMax / 32);
}

// The bits of a word at multiples of the size.
uint64_t BitsEvery(uint64_t group_size) {
  uint64_t bits = 0;
  for (uint64_t i = 0; i < 64; i += group_size) bits |= uint64_t{1} << i;
  return bits;
}

}  // namespace

uint64_t ScanHeadsScratchBytes(uint64_t element_count, bool has_segments) {
  return has_segments ? ScratchBytes(HeadWords(element_count) * sizeof(uint32_t)) : 0;
}

absl::StatusOr<ScanHeads> PlaceScanHeads(const ScanPlan& plan, const uint64_t* offsets,
                                         bool continues, Scratch& scratch,
                                         const DeviceProperties& properties, cudaStream_t stream) {
  const bool has_segments = plan.grouping.kind == GroupingKind::kSegments;
  if (continues && !has_segments) {
    // The one group began before position 0 and goes on behind the last.
    return ScanHeads{.first_phase = 1, .is_one_group = true};
  }
  if (!has_segments) {
    const uint64_t group_size = plan.grouping.group_size;
    return ScanHeads{.group_size = group_size,
                     .reciprocal = ~uint64_t{0} / group_size,
                     .reciprocal_32 = static_cast<uint32_t>(~uint32_t{0} / group_size),
                     .heads_behind = BitsEvery(group_size),
                     .is_one_group = group_size >= plan.array.element_count};
  }
  const uint64_t word_count = HeadWords(plan.array.element_count);
  const auto words = AllocateZeroed<uint32_t>(scratch, word_count, stream);
  if (!words.ok()) return words.status();
  const uint64_t segment_count = plan.grouping.group_count;
  const absl::Status status =
      Launch(FindSegmentHeadsKernel(), GridStrideShape(segment_count, kHeadThreads, properties),
             stream, offsets, segment_count, plan.array.element_count,
             plan.direction == ScanDirection::kReverse, continues, *words);
  if (!status.ok()) return status;
  return ScanHeads{.bits = reinterpret_cast<const uint16_t*>(*words)};
}

}  // namespace gridfold::kernels::cuda
