// The digits of a large group's keys, counted by all blocks.
#include "kernels/cuda/order/keep.cuh"

namespace gridfold::kernels::cuda {

namespace {

constexpr uint32_t kThreads = kOrderBlockThreads;
constexpr uint32_t kWarps = kThreads / kWarpLanes;

template <class Key>
__device__ uint32_t DigitAt(Key key, uint32_t level) {
  constexpr uint32_t kBits = 8 * sizeof(Key);
  return static_cast<uint32_t>(uint64_t{key} >> ShiftAt(kBits, kGridDigitBits, level)) &
         ((1u << WidthAt(kBits, kGridDigitBits, level)) - 1);
}

// Counts the first digits of all keys, and NaNs. Tables are four, which lanes take in turn: keys
// that stand beside each other are often alike.
template <class T>
class FirstDigits {
 public:
  static constexpr uint32_t kTables = 4;

  __device__ FirstDigits(const DigitArguments& arguments, uint32_t* counts)
      : arguments_(arguments), counts_(counts) {}

  template <class E, class ToKey>
  __device__ void Run(const E* elements, uint64_t count, ToKey to_key) {
    const SharingWarps warps(count);
    if (!warps.has_block()) return;
    for (uint32_t i = threadIdx.x; i < kGridDigits * kTables; i += kThreads) counts_[i] = 0;
    __syncthreads();
    uint64_t nans = 0;
    ForEachElement(elements, count, warps.own(), warps.count(), [&](E x, uint64_t, bool is_valid) {
      if (!is_valid) return;
      const OrderKey<T> key = to_key(x);
      nans += IsNanKey<T>(key) ? 1 : 0;
      atomicAdd(&counts_[DigitAt(key, 0) * kTables + threadIdx.x % kTables], 1u);
    });
    if (nans > 0 && arguments_.counts_nans) AddTo(&arguments_.state->nan_count, nans);
    __syncthreads();
    for (uint32_t d = threadIdx.x; d < kGridDigits; d += kThreads) {
      uint64_t sum = 0;
      for (uint32_t table = 0; table < kTables; ++table) sum += counts_[d * kTables + table];
      if (sum > 0) AddTo(&arguments_.counts[d], sum);
    }
  }

 private:
  const DigitArguments& arguments_;
  uint32_t* const counts_;
};

template <class T>
__global__ void __launch_bounds__(kThreads) CountFirstDigits(const DigitArguments arguments) {
  __shared__ uint32_t counts[kGridDigits * FirstDigits<T>::kTables];
  FirstDigits<T> digits(arguments, counts);
  if (arguments.state->reads_kept != 0) {
    digits.Run(static_cast<const OrderKey<T>*>(arguments.kept), arguments.state->kept_count,
               SameKeys<OrderKey<T>>{});
  } else {
    digits.Run(static_cast<const T*>(arguments.elements), arguments.count,
               ElementKeys<T>{arguments.kind});
  }
}

// What a block of CountNextDigits has in shared memory before its tables.
template <class Key>
struct NodeTables {
  uint64_t nodes[kWantedMax];
  uint8_t is_first_digit[kGridDigits];  // Of a node.
  typename WarpKeeper<Key, false>::Buffer kept[kWarps];
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
    const bool reads_kept = state_.reads_kept != 0;
    const SharingWarps warps(reads_kept ? state_.kept_count : arguments_.count);
    if (node_count_ == 0 || !warps.has_block()) return;
    const uint32_t shared_nodes = min(node_count_, arguments_.shared_nodes);
    for (uint32_t i = threadIdx.x; i < shared_nodes * kGridDigits; i += kThreads) counts_[i] = 0;
    for (uint32_t i = threadIdx.x; i < kGridDigits; i += kThreads) tables_.is_first_digit[i] = 0;
    __syncthreads();
    for (uint32_t i = threadIdx.x; i < node_count_; i += kThreads) {
      tables_.nodes[i] = state_.nodes[i];
      tables_.is_first_digit[DigitAt(static_cast<Key>(state_.nodes[i] << above_), 0)] = 1;
    }
    __syncthreads();
    if (reads_kept) {
      Count(static_cast<const Key*>(arguments_.kept), state_.kept_count, SameKeys<Key>{}, warps,
            false);
    } else {
      Count(static_cast<const T*>(arguments_.elements), arguments_.count,
            ElementKeys<T>{arguments_.kind}, warps, state_.is_keeping != 0);
    }
    __syncthreads();
    for (uint32_t i = threadIdx.x; i < shared_nodes * kGridDigits; i += kThreads) {
      if (counts_[i] > 0) AddTo(&arguments_.counts[i], counts_[i]);
    }
  }

 private:
  static constexpr uint32_t kBits = 8 * sizeof(Key);

  template <class E, class ToKey>
  __device__ void Count(const E* elements, uint64_t count, ToKey to_key, const SharingWarps& warps,
                        bool keeps) {
    WarpKeeper<Key, false> keeper(tables_.kept[threadIdx.x / kWarpLanes],
                                  {static_cast<Key*>(arguments_.kept), nullptr,
                                   arguments_.kept_room, &arguments_.state->kept_count});
    ForEachElement(elements, count, warps.own(), warps.count(), [&](E x, uint64_t, bool is_valid) {
      const Key key = to_key(x);
      const int32_t node = is_valid ? NodeOf(key) : -1;
      if (node >= 0) Add(static_cast<uint32_t>(node), key);
      if (keeps) keeper.Add(key, 0, node >= 0);
    });
    if (keeps) keeper.Flush();
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

}  // namespace gridfold::kernels::cuda
