// The wanted keys of a large group: which they are, the way from digit to digit, and what they
// answer.
#include "kernels/cuda/order/wanted.cuh"

namespace gridfold::kernels::cuda {

namespace {

constexpr uint32_t kThreads = kWantedMax;
constexpr uint32_t kWarps = kThreads / kWarpLanes;

// Those at the places that the targets need. One block.
__global__ void __launch_bounds__(kThreads) FindRanks(const RanksArguments arguments) {
  DigitState& state = *arguments.state;
  const uint64_t numbers = arguments.count - state.nan_count;
  const bool is_nan = state.nan_count > 0 && !arguments.ignores_nan;
  const uint32_t t = threadIdx.x / 2;
  uint64_t rank = kNoRank;
  if (t < arguments.target_count && !is_nan && HasPlace(arguments.targets[t], numbers)) {
    const QuantilePlace place = PlaceOf(arguments.targets[t], numbers, arguments.method);
    rank = threadIdx.x % 2 == 0 ? place.lower : place.upper;
  }
  WantRanks(state, rank);
}

__global__ void WantRank(DigitState* state, uint64_t rank) {
  state->wanted[0] = {.rank = rank, .left = rank};
  state->wanted_count = 1;
}

// Adds the digit of the key to what is known of it. By a warp.
__device__ void FindDigit(WantedKey& wanted, const DescendArguments& arguments) {
  const uint64_t* const counts = arguments.counts + uint64_t{wanted.node} * kGridDigits;
  const uint32_t lane = LaneId();
  const uint32_t each = (1u << arguments.width) / kWarpLanes;
  uint64_t own = 0;
#pragma unroll 16  // So many loads under way.
  for (uint32_t i = 0; i < each; ++i) own += counts[lane * each + i];
  uint64_t before = own;
  for (uint32_t apart = 1; apart < kWarpLanes; apart *= 2) {
    const uint64_t other = __shfl_up_sync(kAllLanes, before, apart);
    if (lane >= apart) before += other;
  }
  before -= own;
  const uint64_t left = wanted.left;
  __syncwarp();  // Before one lane changes it.
  if (before <= left && left - before < own) {
    uint32_t digit = lane * each;
    while (left - before >= counts[digit]) before += counts[digit++];
    wanted.left = left - before;
    wanted.equal = counts[digit];
    wanted.key |= uint64_t{digit} << arguments.shift;
  }
}

// Moves each wanted key to the node of its next digit. One block.
__global__ void __launch_bounds__(kThreads) Descend(const DescendArguments arguments) {
  __shared__ unsigned long long key_count;
  DigitState& state = *arguments.state;
  if (threadIdx.x == 0) key_count = 0;
  for (uint32_t w = threadIdx.x / kWarpLanes; w < state.wanted_count; w += kWarps) {
    if (state.wanted[w].is_known == 0) FindDigit(state.wanted[w], arguments);
  }
  __syncthreads();
  const uint32_t w = threadIdx.x;
  const bool is_wanted = w < state.wanted_count;
  const uint64_t prefix = is_wanted ? state.wanted[w].key >> arguments.shift : 0;
  const bool is_new = is_wanted && (w == 0 || state.wanted[w - 1].key >> arguments.shift != prefix);
  const BlockCount nodes = CountInBlock(is_new);
  if (is_new) {
    state.nodes[nodes.before] = prefix;
    atomicAdd(&key_count, static_cast<unsigned long long>(state.wanted[w].equal));
  }
  if (is_wanted) state.wanted[w].node = nodes.before + (is_new ? 1 : 0) - 1;
  __syncthreads();
  if (threadIdx.x != 0) return;
  state.node_count = nodes.total;
  if (state.is_keeping != 0) {
    state.is_keeping = 0;
    state.reads_kept = 1;
  } else if (state.reads_kept == 0 && key_count <= arguments.kept_room) {
    state.is_keeping = 1;
  }
}

// One block, of which a thread takes a target.
template <class T>
__global__ void WriteTargets(const TargetsArguments arguments) {
  const RanksArguments& ranks = arguments.ranks;
  const DigitState& state = *ranks.state;
  const uint64_t numbers = ranks.count - state.nan_count;
  const bool is_nan = state.nan_count > 0 && !ranks.ignores_nan;
  const uint32_t t = threadIdx.x;
  if (t >= ranks.target_count) return;
  uint64_t slot = kNanSlot;
  if (!is_nan && HasPlace(ranks.targets[t], numbers)) {
    const QuantilePlace place = PlaceOf(ranks.targets[t], numbers, ranks.method);
    slot = TargetSlot<T>(ranks.targets[t], place.weight, ranks.method,
                         static_cast<OrderKey<T>>(WantedAt(state, place.lower).key),
                         static_cast<OrderKey<T>>(WantedAt(state, place.upper).key));
  }
  arguments.slots[t * arguments.slot_stride] = slot;
}

}  // namespace

TargetsKernel FindTargetsKernel(ElementType type) {
  return VisitElementType(
      type, [](auto tag) -> TargetsKernel { return WriteTargets<typename decltype(tag)::type>; });
}
void (*FindRanksKernel())(RanksArguments) { return FindRanks; }
void (*FindRankKernel())(DigitState*, uint64_t) { return WantRank; }
void (*FindDescendKernel())(DescendArguments) { return Descend; }

}  // namespace gridfold::kernels::cuda
