// The selected elements of a large group, by all blocks, once the last one's key is known.
#include "kernels/cuda/order/last_selected.cuh"
#include "kernels/cuda/order/sort.cuh"

namespace gridfold::kernels::cuda {

namespace {

constexpr uint32_t kThreads = kOrderBlockThreads;
constexpr uint32_t kWarps = kThreads / kWarpLanes;

// The elements of a block, which follow one another.
struct Chunk {
  uint64_t begin;
  uint64_t count;

  __device__ explicit Chunk(uint64_t total) {
    const uint64_t each = (total / gridDim.x / kThreads + 1) * kThreads;
    begin = each * blockIdx.x;
    if (begin > total) begin = total;
    count = total - begin < each ? total - begin : each;
  }
};

template <class T>
__global__ void __launch_bounds__(kThreads) CountEqual(const CollectArguments arguments) {
  __shared__ uint64_t sum;
  const LastSelected<T> last(arguments);
  if (last.is_kept || !last.has_ties()) return;
  if (threadIdx.x == 0) sum = 0;
  __syncthreads();
  const Chunk chunk(arguments.count);
  const ElementKeys<T> to_key{arguments.kind};
  uint64_t own = 0;
  ForEachElement(static_cast<const T*>(arguments.elements) + chunk.begin, chunk.count,
                 threadIdx.x / kWarpLanes, kWarps, [&](T x, uint64_t, bool is_valid) {
                   own += is_valid && to_key(x) == last.key ? 1 : 0;
                 });
  if (own > 0) {
    atomicAdd(reinterpret_cast<unsigned long long*>(&sum), static_cast<unsigned long long>(own));
  }
  __syncthreads();
  if (threadIdx.x == 0) arguments.equal_counts[blockIdx.x] = sum;
}

// How many equal elements stand before each block's. One block, of a thread for each count.
__global__ void ScanEqual(uint64_t* equal_counts, uint32_t block_count) {
  __shared__ uint64_t sums[1024];
  const uint32_t i = threadIdx.x;
  const uint64_t own = i < block_count ? equal_counts[i] : 0;
  sums[i] = own;
  for (uint32_t apart = 1; apart < blockDim.x; apart *= 2) {
    __syncthreads();
    const uint64_t other = i >= apart ? sums[i - apart] : 0;
    __syncthreads();
    sums[i] += other;
  }
  if (i < block_count) equal_counts[i] = sums[i] - own;
}

template <class T>
__global__ void __launch_bounds__(kThreads) CollectTop(const CollectArguments arguments) {
  __shared__ TeamTables<BlockTeam> tables;
  const LastSelected<T> last(arguments);
  if (last.is_kept) return;  // By CollectKept.
  if (IsIgnoredKey<T>(last.key, arguments.kind.ignores_nan)) {
    if (blockIdx.x == 0 && threadIdx.x == 0) {
      atomicMin(reinterpret_cast<unsigned long long*>(arguments.lacking_group),
                static_cast<unsigned long long>(arguments.group));
    }
    return;
  }
  const Chunk chunk(arguments.count);
  const T* const elements = static_cast<const T*>(arguments.elements) + chunk.begin;
  const ElementKeys<T> to_key{arguments.kind};
  const auto place = [&](uint64_t position, T x, uint64_t index) {
    arguments.slots[position] = ElementSlot(x);
    arguments.indices[position] = chunk.begin + index;
  };
  ForEachElement(elements, chunk.count, threadIdx.x / kWarpLanes, kWarps,
                 [&](T x, uint64_t index, bool is_valid) {
                   const OrderKey<T> key = to_key(x);
                   const bool is_taken =
                       is_valid && (key > last.key || (key == last.key && !last.has_ties()));
                   const uint32_t taking = __ballot_sync(kAllLanes, is_taken);
                   if (taking == 0) return;
                   const uint64_t position = TakePlaces(arguments.cursor, taking);
                   if (is_taken) place(position, x, index);
                 });
  if (!last.has_ties()) return;
  uint64_t before = arguments.equal_counts[blockIdx.x];
  for (uint64_t begin = 0; begin < chunk.count && before < last.taken; begin += kThreads) {
    const uint64_t i = begin + threadIdx.x;
    const T x = i < chunk.count ? elements[i] : T{};
    const bool is_equal = i < chunk.count && to_key(x) == last.key;
    const PrefixSum equal = SumBefore<BlockTeam>(is_equal ? 1 : 0, tables);
    const uint64_t order = before + equal.before;
    if (is_equal && order < last.taken) place(last.larger + order, x, i);
    before += equal.total;
  }
}

template <class T>
__global__ void __launch_bounds__(kThreads) SortTop(const SortArguments arguments) {
  extern __shared__ __align__(16) uint64_t sorted[];
  if (*arguments.lacking_group != ~uint64_t{0}) return;  // Then not all were collected.
  uint64_t* const keys = sorted;
  uint64_t* const indices = sorted + arguments.room;
  const T* const elements = static_cast<const T*>(arguments.elements);
  const ElementKeys<T> to_key{arguments.kind};
  for (uint32_t i = threadIdx.x; i < arguments.room; i += kThreads) {
    indices[i] = i < arguments.count ? arguments.indices[i] : ~uint64_t{0};
    keys[i] = i < arguments.count ? to_key(elements[indices[i]]) : 0;
  }
  SortSelected<BlockTeam>(keys, indices, arguments.room);
  for (uint32_t i = threadIdx.x; i < arguments.count; i += kThreads) {
    arguments.slots[i] = ElementSlot(elements[indices[i]]);
    arguments.indices[i] = indices[i];
  }
}

}  // namespace

CollectKernel FindCountEqualKernel(ElementType type) {
  return VisitElementType(
      type, [](auto tag) -> CollectKernel { return CountEqual<typename decltype(tag)::type>; });
}
CollectKernel FindCollectKernel(ElementType type) {
  return VisitElementType(
      type, [](auto tag) -> CollectKernel { return CollectTop<typename decltype(tag)::type>; });
}
SortKernel FindSortKernel(ElementType type) {
  return VisitElementType(
      type, [](auto tag) -> SortKernel { return SortTop<typename decltype(tag)::type>; });
}
void (*FindScanEqualKernel())(uint64_t*, uint32_t) { return ScanEqual; }

}  // namespace gridfold::kernels::cuda
