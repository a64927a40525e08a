// LaneLayout has the sizes of a lane's device memory, as sums of what jobs within the lane's limits
// need. Plain C++.
#ifndef GRIDFOLD_KERNELS_CUDA_LANE_LAYOUT_H_
#define GRIDFOLD_KERNELS_CUDA_LANE_LAYOUT_H_

#include <cstdint>

#include "kernels/contract/engine.h"
#include "kernels/cuda/device/properties.h"
#include "kernels/numerics/bins/axes.h"

namespace gridfold::kernels::cuda {

// The arrays of a job start at multiples of this in the lane's memory.
inline constexpr uint64_t kArrayAlignmentBytes = 256;
// The most arrays that a job has: the coordinates of bins, and values.
inline constexpr uint64_t kInputArrayCountMax = kBinAxesMax + 1;
// A flag and the carry's value stand before the results of a scan; behind the slots of a reduction
// stand its failures.
inline constexpr uint64_t kScanCarryOffset = alignof(ScanCarry);
inline constexpr uint64_t kOutputHeadBytes = 2 * kArrayAlignmentBytes;
static_assert(kScanCarryOffset + ScanCarry::kValueBytesMax <= kOutputHeadBytes);

struct LaneLayout {
  uint64_t input_bytes = 0;    // All input arrays of a job, one after the other.
  uint64_t offsets_bytes = 0;  // Of segments.
  uint64_t output_bytes = 0;   // kOutputHeadBytes, then results.
  uint64_t scratch_bytes = 0;
};

LaneLayout LaneLayoutOf(const LaneOptions& options, const DeviceProperties& properties);

}  // namespace gridfold::kernels::cuda

#endif  // GRIDFOLD_KERNELS_CUDA_LANE_LAYOUT_H_
