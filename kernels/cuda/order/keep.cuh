// How warps keep some of the keys that they see in device memory.
#ifndef GRIDFOLD_KERNELS_CUDA_ORDER_KEEP_CUH_
#define GRIDFOLD_KERNELS_CUDA_ORDER_KEEP_CUH_

#include <cstdint>

#include "kernels/cuda/order/elements.cuh"

namespace gridfold::kernels::cuda {

// Room for keys, and for their elements' indices where those are kept too.
template <class Key>
struct KeptRoom {
  Key* keys;
  uint64_t* indices;
  uint64_t room;
  uint64_t* count;  // Keys that were to be kept, also where there was no room.
};

// Keys that a warp has in shared memory until they are worth a place in device memory.
template <class Key, bool kHasIndices>
class WarpKeeper {
 public:
  static constexpr uint32_t kRoom = 128;
  struct Buffer {
    uint64_t indices[kHasIndices ? kRoom : 1];
    Key keys[kRoom];
  };

  __device__ WarpKeeper(Buffer& buffer, const KeptRoom<Key>& kept) : buffer_(buffer), kept_(kept) {}

  // By all lanes of a warp.
  __device__ void Add(Key key, uint64_t index, bool is_kept) {
    const uint32_t keeping = __ballot_sync(kAllLanes, is_kept);
    if (keeping == 0) return;
    if (is_kept) {
      const uint32_t place = filled_ + __popc(keeping & LanesBelow());
      buffer_.keys[place] = key;
      if constexpr (kHasIndices) buffer_.indices[place] = index;
    }
    filled_ += __popc(keeping);
    if (filled_ > kRoom - kWarpLanes) Flush();
  }

  __device__ void Flush() {
    __syncwarp();
    unsigned long long place = 0;
    if (LaneId() == 0 && filled_ > 0) {
      place = atomicAdd(reinterpret_cast<unsigned long long*>(kept_.count),
                        static_cast<unsigned long long>(filled_));
    }
    place = __shfl_sync(kAllLanes, place, 0);
    if (place + filled_ <= kept_.room) {
      for (uint32_t i = LaneId(); i < filled_; i += kWarpLanes) {
        kept_.keys[place + i] = buffer_.keys[i];
        if constexpr (kHasIndices) kept_.indices[place + i] = buffer_.indices[i];
      }
    }
    __syncwarp();
    filled_ = 0;
  }

 private:
  Buffer& buffer_;
  const KeptRoom<Key> kept_;
  uint32_t filled_ = 0;
};

}  // namespace gridfold::kernels::cuda

#endif  // GRIDFOLD_KERNELS_CUDA_ORDER_KEEP_CUH_
