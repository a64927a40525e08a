#include "kernels/cuda/order/elements.cuh"

namespace gridfold::kernels::cuda {

namespace {

constexpr uint32_t kThreads = kOrderBlockThreads;
constexpr uint32_t kWarps = kThreads / kWarpLanes;

__device__ uint64_t WarpOfGrid() {
  return uint64_t{blockIdx.x} * kWarps + threadIdx.x / kWarpLanes;
}
__device__ uint64_t WarpsOfGrid() { return uint64_t{gridDim.x} * kWarps; }

__device__ void AddTo(uint64_t* counter, uint64_t value) {
  atomicAdd(reinterpret_cast<unsigned long long*>(counter), static_cast<unsigned long long>(value));
}

template <class Key>
__device__ uint32_t DigitAt(Key key, uint32_t level) {
  constexpr uint32_t kBits = 8 * sizeof(Key);
  return static_cast<uint32_t>(uint64_t{key} >> ShiftAt(kBits, kGridDigitBits, level)) &
         ((1u << WidthAt(kBits, kGridDigitBits, level)) - 1);
}

// Counts the first digits of all keys, and NaNs. Tables are four, which lanes take in turn: keys
// that stand beside each other are often alike.
template <class T>
__global__ void __launch_bounds__(kThreads) CountFirstDigits(const DigitArguments arguments) {
  constexpr uint32_t kTables = 4;
  __shared__ uint32_t counts[kGridDigits * kTables];
  for (uint32_t i = threadIdx.x; i < kGridDigits * kTables; i += kThreads) counts[i] = 0;
  __syncthreads();
  const ElementKeys<T> to_key{arguments.kind};
  uint64_t nans = 0;
  ForEachElement(static_cast<const T*>(arguments.elements), arguments.count, WarpOfGrid(),
                 WarpsOfGrid(), [&](T x, uint64_t, bool is_valid) {
                   if (!is_valid) return;
                   const OrderKey<T> key = to_key(x);
                   nans += IsNanKey<T>(key) ? 1 : 0;
                   atomicAdd(&counts[DigitAt(key, 0) * kTables + threadIdx.x % kTables], 1u);
                 });
  if (nans > 0) AddTo(&arguments.state->nan_count, nans);
  __syncthreads();
  for (uint32_t d = threadIdx.x; d < kGridDigits; d += kThreads) {
    uint64_t sum = 0;
    for (uint32_t table = 0; table < kTables; ++table) sum += counts[d * kTables + table];
    if (sum > 0) AddTo(&arguments.counts[d], sum);
  }
}

// Keys that a warp keeps until they are worth a place in device memory.
template <class Key>
struct WarpKeeper {
  static constexpr uint32_t kRoom = 128;

  Key* buffer;  // Of the warp.
  uint32_t filled = 0;

  // By all lanes of a warp.
  __device__ void Add(Key key, bool is_kept, const DigitArguments& arguments) {
    const uint32_t keeping = __ballot_sync(kAllLanes, is_kept);
    if (keeping == 0) return;
    if (is_kept) buffer[filled + __popc(keeping & LanesBelow())] = key;
    filled += __popc(keeping);
    if (filled > kRoom - kWarpLanes) Flush(arguments);
  }

  __device__ void Flush(const DigitArguments& arguments) {
    __syncwarp();
    unsigned long long place = 0;
    if (LaneId() == 0 && filled > 0) {
      place = atomicAdd(reinterpret_cast<unsigned long long*>(&arguments.state->kept_count),
                        static_cast<unsigned long long>(filled));
    }
    place = __shfl_sync(kAllLanes, place, 0);
    Key* const kept = static_cast<Key*>(arguments.kept);
    for (uint32_t i = LaneId(); i < filled; i += kWarpLanes) kept[place + i] = buffer[i];
    __syncwarp();
    filled = 0;
  }
};

// What a block of CountNextDigits has in shared memory before its tables.
template <class Key>
struct NodeTables {
  uint64_t nodes[kWantedMax];
  uint8_t is_first_digit[kGridDigits];  // Of a node.
  Key kept[kWarps * WarpKeeper<Key>::kRoom];
};

// Counts the digits of a level of the keys that have a node's prefix.
template <class T>
class NextDigits {
 public:
  using Key = OrderKey<T>;

  __device__ NextDigits(const DigitArguments& arguments, unsigned char* memory)
      : arguments_(arguments),
        state_(*arguments.state),
        tables_(*reinterpret_cast<NodeTables<Key>*>(memory)),
        counts_(reinterpret_cast<uint32_t*>(memory + sizeof(NodeTables<Key>))),
        node_count_(state_.node_count),
        above_(ShiftAt(kBits, kGridDigitBits, arguments.level) +
               WidthAt(kBits, kGridDigitBits, arguments.level)) {}

  __device__ void Run() {
    if (node_count_ == 0) return;
    const uint32_t shared_nodes = min(node_count_, arguments_.shared_nodes);
    for (uint32_t i = threadIdx.x; i < shared_nodes * kGridDigits; i += kThreads) counts_[i] = 0;
    for (uint32_t i = threadIdx.x; i < kGridDigits; i += kThreads) tables_.is_first_digit[i] = 0;
    __syncthreads();
    for (uint32_t i = threadIdx.x; i < node_count_; i += kThreads) {
      tables_.nodes[i] = state_.nodes[i];
      tables_.is_first_digit[DigitAt(static_cast<Key>(state_.nodes[i] << above_), 0)] = 1;
    }
    __syncthreads();
    if (state_.reads_kept != 0) {
      Count(static_cast<const Key*>(arguments_.kept), state_.kept_count, SameKeys<Key>{}, false);
    } else {
      Count(static_cast<const T*>(arguments_.elements), arguments_.count,
            ElementKeys<T>{arguments_.kind}, state_.is_keeping != 0);
    }
    __syncthreads();
    for (uint32_t i = threadIdx.x; i < shared_nodes * kGridDigits; i += kThreads) {
      if (counts_[i] > 0) AddTo(&arguments_.counts[i], counts_[i]);
    }
  }

 private:
  static constexpr uint32_t kBits = 8 * sizeof(Key);

  template <class E, class ToKey>
  __device__ void Count(const E* elements, uint64_t count, ToKey to_key, bool keeps) {
    WarpKeeper<Key> keeper{tables_.kept + threadIdx.x / kWarpLanes * WarpKeeper<Key>::kRoom};
    ForEachElement(elements, count, WarpOfGrid(), WarpsOfGrid(), [&](E x, uint64_t, bool is_valid) {
      const Key key = to_key(x);
      const int32_t node = is_valid ? NodeOf(key) : -1;
      if (node >= 0) Add(static_cast<uint32_t>(node), key);
      if (keeps) keeper.Add(key, node >= 0, arguments_);
    });
    if (keeps) keeper.Flush(arguments_);
  }

  __device__ int32_t NodeOf(Key key) const {
    if (tables_.is_first_digit[DigitAt(key, 0)] == 0) return -1;
    const uint64_t prefix = uint64_t{key} >> above_;
    uint32_t first = 0;
    for (uint32_t size = node_count_; size > 1;) {
      const uint32_t half = size / 2;
      if (tables_.nodes[first + half] <= prefix) first += half;
      size -= half;
    }
    return tables_.nodes[first] == prefix ? static_cast<int32_t>(first) : -1;
  }

  __device__ void Add(uint32_t node, Key key) {
    const uint32_t place = node * kGridDigits + DigitAt(key, arguments_.level);
    if (node < arguments_.shared_nodes) {
      atomicAdd(&counts_[place], 1u);
    } else {
      AddTo(&arguments_.counts[place], 1);
    }
  }

  const DigitArguments& arguments_;
  const DigitState& state_;
  NodeTables<Key>& tables_;
  uint32_t* const counts_;
  const uint32_t node_count_;
  const uint32_t above_;
};

template <class T>
__global__ void __launch_bounds__(kThreads) CountNextDigits(const DigitArguments arguments) {
  extern __shared__ __align__(16) unsigned char memory[];
  NextDigits<T>(arguments, memory).Run();
}

// The places that the targets need, sorted, each once. One block.
__global__ void __launch_bounds__(kWantedMax) FindRanks(const RanksArguments arguments) {
  constexpr uint64_t kNone = ~uint64_t{0};
  __shared__ uint64_t ranks[kWantedMax];
  DigitState& state = *arguments.state;
  const uint64_t numbers = arguments.count - state.nan_count;
  const bool is_nan = state.nan_count > 0 && !arguments.ignores_nan;
  const uint32_t t = threadIdx.x / 2;
  uint64_t rank = kNone;
  if (t < arguments.target_count && !is_nan && HasPlace(arguments.targets[t], numbers)) {
    const QuantilePlace place = PlaceOf(arguments.targets[t], numbers, arguments.method);
    rank = threadIdx.x % 2 == 0 ? place.lower : place.upper;
  }
  ranks[threadIdx.x] = rank;
  for (uint32_t width = 2; width <= kWantedMax; width *= 2) {
    for (uint32_t apart = width / 2; apart > 0; apart /= 2) {
      __syncthreads();
      const uint32_t other = threadIdx.x ^ apart;
      if (other <= threadIdx.x) continue;
      const bool ascends = (threadIdx.x & width) == 0;
      if ((ranks[threadIdx.x] > ranks[other]) == ascends) {
        const uint64_t rank_here = ranks[threadIdx.x];
        ranks[threadIdx.x] = ranks[other];
        ranks[other] = rank_here;
      }
    }
  }
  __syncthreads();
  if (threadIdx.x != 0) return;
  uint32_t count = 0;
  for (uint32_t i = 0; i < kWantedMax && ranks[i] != kNone; ++i) {
    if (i > 0 && ranks[i] == ranks[i - 1]) continue;
    state.wanted[count++] = {.rank = ranks[i], .left = ranks[i]};
  }
  state.wanted_count = count;
}

__global__ void WantRank(DigitState* state, uint64_t rank) {
  state->wanted[0] = {.rank = rank, .left = rank};
  state->wanted_count = 1;
}

// Moves each wanted key to the node of its next digit. One block, of which a warp takes one key.
__global__ void __launch_bounds__(kThreads) Descend(const DescendArguments arguments) {
  DigitState& state = *arguments.state;
  const uint32_t lane = LaneId();
  for (uint32_t w = threadIdx.x / kWarpLanes; w < state.wanted_count; w += kWarps) {
    WantedKey& wanted = state.wanted[w];
    const uint64_t* const counts = arguments.counts + uint64_t{wanted.node} * kGridDigits;
    const uint32_t each = (1u << arguments.width) / kWarpLanes;
    uint64_t own = 0;
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
  __syncthreads();
  if (threadIdx.x != 0) return;
  uint32_t node_count = 0;
  uint64_t key_count = 0;
  for (uint32_t w = 0; w < state.wanted_count; ++w) {
    WantedKey& wanted = state.wanted[w];
    const uint64_t prefix = wanted.key >> arguments.shift;
    if (node_count == 0 || state.nodes[node_count - 1] != prefix) {
      state.nodes[node_count++] = prefix;
      key_count += wanted.equal;
    }
    wanted.node = node_count - 1;
  }
  state.node_count = node_count;
  if (state.is_keeping != 0) {
    state.is_keeping = 0;
    state.reads_kept = 1;
  } else if (state.reads_kept == 0 && key_count <= arguments.kept_room) {
    state.is_keeping = 1;
  }
}

__device__ uint64_t KeyAtRank(const DigitState& state, uint64_t rank) {
  uint32_t first = 0;
  for (uint32_t size = state.wanted_count; size > 1;) {
    const uint32_t half = size / 2;
    if (state.wanted[first + half].rank <= rank) first += half;
    size -= half;
  }
  return state.wanted[first].key;
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
                         static_cast<OrderKey<T>>(KeyAtRank(state, place.lower)),
                         static_cast<OrderKey<T>>(KeyAtRank(state, place.upper)));
  }
  arguments.slots[t * arguments.slot_stride] = slot;
}

}  // namespace

DigitKernel FindDigitKernel(ElementType type, bool is_first) {
  return VisitElementType(type, [is_first](auto tag) -> DigitKernel {
    using T = typename decltype(tag)::type;
    return is_first ? CountFirstDigits<T> : CountNextDigits<T>;
  });
}

uint64_t NextDigitsBytes(ElementType type) {
  return VisitElementType(
      type, [](auto tag) { return sizeof(NodeTables<OrderKey<typename decltype(tag)::type>>); });
}

TargetsKernel FindTargetsKernel(ElementType type) {
  return VisitElementType(
      type, [](auto tag) -> TargetsKernel { return WriteTargets<typename decltype(tag)::type>; });
}

void (*FindRanksKernel())(RanksArguments) { return FindRanks; }
void (*FindRankKernel())(DigitState*, uint64_t) { return WantRank; }
void (*FindDescendKernel())(DescendArguments) { return Descend; }

}  // namespace gridfold::kernels::cuda
