#include "kernels/cuda/scan/base/heads_kernel.h"

namespace gridfold::kernels::cuda {

namespace {

__global__ void MarkSegmentHeads(const uint64_t* offsets, uint64_t segment_count,
                                 uint64_t element_count, bool reverse, bool continues,
                                 uint32_t* words) {
  const uint64_t stride = uint64_t{gridDim.x} * blockDim.x;
  for (uint64_t s = uint64_t{blockIdx.x} * blockDim.x + threadIdx.x; s < segment_count;
       s += stride) {
    const uint64_t begin = offsets[s];
    const uint64_t end = offsets[s + 1];
    if (begin == end) continue;
    const uint64_t head = reverse ? element_count - end : begin;
    if (head == 0 && continues) continue;
    atomicOr(&words[head / 32], 1u << (head % 32));
  }
}

}  // namespace

SegmentHeadsKernel FindSegmentHeadsKernel() { return MarkSegmentHeads; }

}  // namespace gridfold::kernels::cuda
