// Sizes of a MulticastRing (multicast_ring.cuh). Plain C++.
#ifndef GRIDFOLD_KERNELS_CUDA_DEVICE_MULTICAST_RING_H_
#define GRIDFOLD_KERNELS_CUDA_DEVICE_MULTICAST_RING_H_

#include <cstdint>

namespace gridfold::kernels::cuda {

// A vector of 16 bytes for each thread of a block of 1,024 but those of one warp. Clusters of 2, 4,
// 8 and 16 blocks share a tile evenly.
inline constexpr uint32_t kMulticastTileVectors = 1024 - 32;

// Tiles in flight. Fewer than the least do not hide the way from device memory.
inline constexpr uint32_t kMulticastStagesMin = 3;
inline constexpr uint32_t kMulticastStagesMax = 8;

// Bytes of both barriers and the counter of every stage; tiles begin at a multiple of 128 bytes
// behind them.
inline constexpr uint32_t kMulticastBarrierBytes = 256;
static_assert(kMulticastStagesMax * (2 * sizeof(uint64_t) + sizeof(uint32_t)) <=
              kMulticastBarrierBytes);

constexpr uint32_t MulticastRingBytes(uint32_t stage_count) {
  return kMulticastBarrierBytes + stage_count * kMulticastTileVectors * 16;
}

}  // namespace gridfold::kernels::cuda

#endif  // GRIDFOLD_KERNELS_CUDA_DEVICE_MULTICAST_RING_H_
