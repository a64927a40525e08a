#include "kernels/cuda/lane/layout.h"

#include <algorithm>

#include "kernels/cuda/device/grid.h"
#include "kernels/cuda/histogram/histogram.h"
#include "kernels/cuda/order/order.h"
#include "kernels/cuda/paired/paired.h"
#include "kernels/cuda/reduce/reduce.h"
#include "kernels/cuda/scan/scan.h"

namespace gridfold::kernels::cuda {

LaneLayout LaneLayoutOf(const LaneOptions& options, const DeviceProperties& properties) {
  LaneLayout layout;
  // Whole units, of which an array that may be copied here leaves whole ones to those behind it.
  layout.input_bytes = RoundUp(options.input_bytes_max, kArrayAlignmentBytes) +
                       kInputArrayCountMax * kArrayAlignmentBytes;
  layout.offsets_bytes = (options.group_count_max + 1) * sizeof(uint64_t);
  layout.output_bytes =
      kOutputHeadBytes + options.output_bytes_max + (kStatisticCount + 1) * sizeof(uint64_t);
  const uint64_t array_bytes_max =
      std::max(options.input_bytes_max, options.resident_input_bytes_max);
  // A lane runs one job at a time.
  layout.scratch_bytes = std::max(
      {ReductionScratchBytesMax(array_bytes_max, options.group_count_max, properties),
       ScanScratchBytesMax(array_bytes_max), HistogramScratchBytesMax(options.bin_count_max),
       OrderScratchBytesMax(), PairedScratchBytesMax()});
  return layout;
}

}  // namespace gridfold::kernels::cuda
