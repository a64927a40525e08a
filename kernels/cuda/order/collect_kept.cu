// The selected elements of a large group whose keys were kept, with the elements' indices.
#include "kernels/cuda/order/last_selected.cuh"
#include "kernels/cuda/order/sort.cuh"

namespace gridfold::kernels::cuda {

namespace {

constexpr uint32_t kThreads = kOrderBlockThreads;

template <class T>
class KeptCollector {
 public:
  struct Shared {
    uint64_t keys[kKeptTiesMax];
    uint64_t indices[kKeptTiesMax];
    bool is_last_block;
  };

  __device__ KeptCollector(const CollectKeptArguments& arguments, Shared& shared)
      : arguments_(arguments), shared_(shared), last_(arguments.collect) {}

  __device__ void Run() {
    const uint64_t count = arguments_.collect.state->kept_count;
    const SharingWarps warps(count);
    if (!last_.is_kept || !warps.has_block()) return;
    KeptTies& ties = *arguments_.ties;
    const auto* const keys = static_cast<const OrderKey<T>*>(arguments_.kept);
    ForEachElement(keys, count, warps.own(), warps.count(),
                   [&](OrderKey<T> key, uint64_t i, bool is_valid) {
                     const bool is_larger = is_valid && key > last_.key;
                     const uint32_t larger = __ballot_sync(kAllLanes, is_larger);
                     if (larger != 0) {
                       const uint64_t position = TakePlaces(&ties.larger, larger);
                       if (is_larger) Place(position, arguments_.kept_indices[i]);
                     }
                     const bool is_equal = is_valid && key == last_.key;
                     const uint32_t equal = __ballot_sync(kAllLanes, is_equal);
                     if (equal != 0) {
                       const uint64_t position = TakePlaces(&ties.count, equal);
                       if (is_equal) ties.indices[position] = arguments_.kept_indices[i];
                     }
                   });
    if (IsLastBlock(static_cast<uint32_t>(warps.count() / (kThreads / kWarpLanes)))) TakeTies();
  }

 private:
  __device__ void Place(uint64_t position, uint64_t index) const {
    const T* const elements = static_cast<const T*>(arguments_.collect.elements);
    arguments_.collect.slots[position] = ElementSlot(elements[index]);
    arguments_.collect.indices[position] = index;
  }

  // Whether all others have finished, so that their ties can be read.
  __device__ bool IsLastBlock(uint32_t block_count) {
    __threadfence();
    __syncthreads();
    if (threadIdx.x == 0) {
      shared_.is_last_block = atomicAdd(&arguments_.ties->finished_blocks, 1u) == block_count - 1;
    }
    __syncthreads();
    __threadfence();
    return shared_.is_last_block;
  }

  // Of the equal elements those that come first.
  __device__ void TakeTies() {
    const auto equal = static_cast<uint32_t>(last_.equal);
    uint32_t room = 1;
    while (room < equal) room *= 2;
    for (uint32_t i = threadIdx.x; i < room; i += kThreads) {
      shared_.keys[i] = 0;
      shared_.indices[i] = i < equal ? __ldcg(&arguments_.ties->indices[i]) : ~uint64_t{0};
    }
    SortSelected<BlockTeam>(shared_.keys, shared_.indices, room);
    for (uint32_t i = threadIdx.x; i < last_.taken; i += kThreads) {
      Place(last_.larger + i, shared_.indices[i]);
    }
  }

  const CollectKeptArguments& arguments_;
  Shared& shared_;
  const LastSelected<T> last_;
};

template <class T>
__global__ void __launch_bounds__(kThreads) CollectKept(const CollectKeptArguments arguments) {
  __shared__ typename KeptCollector<T>::Shared shared;
  KeptCollector<T>(arguments, shared).Run();
}

}  // namespace

void (*FindCollectKeptKernel(ElementType type))(CollectKeptArguments) {
  return VisitElementType(type, [](auto tag) -> void (*)(CollectKeptArguments) {
    using T = typename decltype(tag)::type;
    if constexpr (sizeof(T) >= 4) return CollectKept<T>;
    return nullptr;
  });
}

}  // namespace gridfold::kernels::cuda
