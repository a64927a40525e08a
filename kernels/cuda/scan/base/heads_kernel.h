// The kernel of heads.h. For heads.c* only.
#ifndef GRIDFOLD_KERNELS_CUDA_SCAN_BASE_HEADS_KERNEL_H_
#define GRIDFOLD_KERNELS_CUDA_SCAN_BASE_HEADS_KERNEL_H_

#include <cstdint>

namespace gridfold::kernels::cuda {

// A grid-stride kernel over segments. `offsets` are those of a Grouping, in device memory; `words`
// are 0 and get bit p % 32 of word p / 32 for each position p at which a segment starts; the first
// one does not where it `continues`. Empty segments have none.
using SegmentHeadsKernel = void (*)(const uint64_t* offsets, uint64_t segment_count,
                                    uint64_t element_count, bool reverse, bool continues,
                                    uint32_t* words);
SegmentHeadsKernel FindSegmentHeadsKernel();

}  // namespace gridfold::kernels::cuda

#endif  // GRIDFOLD_KERNELS_CUDA_SCAN_BASE_HEADS_KERNEL_H_
