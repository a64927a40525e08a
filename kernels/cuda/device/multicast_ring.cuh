// A multicast ring brings tiles of an array to all blocks of a cluster: each block copies its share
// of a tile into the shared memory of all of them, so that a tile leaves L2 once for the whole
// cluster. Several tiles are on their way at a time.
//
// Bulk copies with multicast, which signal a barrier in every block that they reach (PTX ISA,
// cp.async.bulk and mbarrier). Compute capability 9.0.
#ifndef GRIDFOLD_KERNELS_CUDA_DEVICE_MULTICAST_RING_CUH_
#define GRIDFOLD_KERNELS_CUDA_DEVICE_MULTICAST_RING_CUH_

#include <cooperative_groups.h>

#include <cstdint>
#include <cuda/ptx>

#include "kernels/cuda/device/multicast_ring.h"
#include "kernels/cuda/device/shared_address.cuh"

namespace gridfold::kernels::cuda {

// One warp of a block copies, all others take, each thread a vector of 16 bytes of every tile.
// Tiles are taken in the order in which they are copied, and all blocks of the cluster copy the
// same ones.
class MulticastRing {
 public:
  static constexpr uint32_t kTakingWarps = kMulticastTileVectors / 32;

  // `memory`: MulticastRingBytes(stage_count) of shared memory, at the same place in all blocks.
  // All threads of the cluster construct it, then call Begin.
  __device__ MulticastRing(unsigned char* memory, uint32_t stage_count)
      : full_(reinterpret_cast<uint64_t*>(memory)),
        empty_(full_ + kMulticastStagesMax),
        taken_(reinterpret_cast<uint32_t*>(empty_ + kMulticastStagesMax)),
        tiles_(reinterpret_cast<uint4*>(memory + kMulticastBarrierBytes)),
        stage_count_(stage_count) {
    const auto cluster = cooperative_groups::this_cluster();
    block_count_ = cluster.num_blocks();
    block_rank_ = cluster.block_rank();
    empty_of_peer_ = cluster.map_shared_rank(empty_, Lane() % block_count_);
    if (threadIdx.x != 0) return;
    for (uint32_t s = 0; s < stage_count; ++s) {
      ::cuda::ptx::mbarrier_init(&full_[s], 1);
      ::cuda::ptx::mbarrier_init(&empty_[s], block_count_);
      taken_[s] = 0;
    }
    ::cuda::ptx::fence_mbarrier_init(::cuda::ptx::sem_release, ::cuda::ptx::scope_cluster);
  }

  // All threads of the cluster: from here on peers' barriers may be signalled.
  __device__ static void Begin() { cooperative_groups::this_cluster().sync(); }
  // All threads of the cluster, at the end: peers may signal barriers of this block until then.
  __device__ static void End() { cooperative_groups::this_cluster().sync(); }

  __device__ static bool IsCopyingWarp() { return threadIdx.x / 32 == kTakingWarps; }

  // Enqueues the next tile. Called by one thread of the copying warp. `tile` is the same in all
  // blocks, and a multiple of 16. Waits until all blocks have taken what was in the tile's place.
  __device__ void Copy(const uint4* tile) {
    Wait(::cuda::ptx::scope_cluster, &empty_[stage_], phase_ ^ 1);
    ::cuda::ptx::mbarrier_arrive_expect_tx(::cuda::ptx::sem_release, ::cuda::ptx::scope_cta,
                                           ::cuda::ptx::space_shared, &full_[stage_],
                                           kMulticastTileVectors * 16);
    const uint32_t share = kMulticastTileVectors / block_count_;
    const uint32_t first = share * block_rank_;
    CopyToAll(tiles_ + stage_ * kMulticastTileVectors + first, tile + first, share * 16);
    Advance();
  }

  // This thread's vector of the next tile. Called by all threads of the other warps.
  __device__ uint4 Take() {
    // What a copy brings into this block's memory needs no wider scope than the block: that of the
    // cluster would drop the L1 cache for every tile.
    Wait(::cuda::ptx::scope_cta, &full_[stage_], phase_);
    const uint4 vector = tiles_[stage_ * kMulticastTileVectors + threadIdx.x];
    __syncwarp();
    if (IsTakenByAll() && Lane() < block_count_) {
      ::cuda::ptx::mbarrier_arrive(::cuda::ptx::sem_release, ::cuda::ptx::scope_cluster,
                                   ::cuda::ptx::space_cluster, empty_of_peer_ + stage_);
    }
    Advance();
    return vector;
  }

 private:
  __device__ static uint32_t Lane() { return threadIdx.x % 32; }

  // Whether this warp, which has taken its vectors of the tile, was the last to do so. Called by
  // all its lanes. The last speaks for its block, since what peers are told crosses the network
  // between multiprocessors.
  __device__ bool IsTakenByAll() const {
    uint32_t taken_before = 0;
    if (Lane() == 0) {
      __threadfence_block();
      taken_before = atomicInc_block(&taken_[stage_], kTakingWarps - 1);  // From the last to 0.
      __threadfence_block();
    }
    return __shfl_sync(~0u, taken_before, 0) == kTakingWarps - 1;
  }

  // A barrier that nobody has arrived at yet counts as one whose phase 1 is over.
  template <class Scope>
  __device__ static void Wait(Scope scope, uint64_t* barrier, uint32_t phase) {
    while (
        !::cuda::ptx::mbarrier_try_wait_parity(::cuda::ptx::sem_acquire, scope, barrier, phase)) {
    }
  }

  __device__ void CopyToAll(uint4* to, const uint4* from, uint32_t bytes) const {
    const uint16_t all_blocks = static_cast<uint16_t>((1u << block_count_) - 1);
    asm volatile(
        "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes.multicast::cluster "
        "[%0], [%1], %2, [%3], %4;" ::"r"(SharedAddress(to)),
        "l"(__cvta_generic_to_global(from)), "r"(bytes), "r"(SharedAddress(&full_[stage_])),
        "h"(all_blocks)
        : "memory");
  }

  __device__ void Advance() {
    if (++stage_ < stage_count_) return;
    stage_ = 0;
    phase_ ^= 1;
  }

  uint64_t* const full_;   // [stage]: completes when the tile is there.
  uint64_t* const empty_;  // [stage]: completes when all blocks of the cluster have taken it.
  uint64_t* empty_of_peer_;
  uint32_t* const taken_;  // [stage]: warps of this block that have taken the tile.
  uint4* const tiles_;
  const uint32_t stage_count_;
  uint32_t block_count_;
  uint32_t block_rank_;
  uint32_t stage_ = 0;  // Of the next tile, and how often the ring went round, modulo 2.
  uint32_t phase_ = 0;
};

}  // namespace gridfold::kernels::cuda

#endif  // GRIDFOLD_KERNELS_CUDA_DEVICE_MULTICAST_RING_CUH_
