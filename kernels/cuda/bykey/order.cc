#include "kernels/cuda/bykey/order.h"

#include <algorithm>
#include <bit>
#include <limits>
#include <optional>
#include <utility>

#include "kernels/cuda/bykey/kernels.h"
#include "kernels/cuda/device/grid.h"
#include "kernels/cuda/device/launch.h"
#include "kernels/cuda/device/status.h"
#include "kernels/numerics/arithmetic/ordered_key.h"
#include "kernels/numerics/statistics/statistic_value.h"

namespace gridfold::kernels::cuda {

namespace {

// Blocks of a kernel that loops over elements: as many as are resident at a time.
constexpr uint64_t kBlocksPerMultiprocessor = 8;

uint64_t BlocksMax(const DeviceProperties& properties) {
  return static_cast<uint64_t>(properties.multiprocessor_count) * kBlocksPerMultiprocessor;
}

// What of the plan decides which memory the order takes.
struct Widths {
  explicit Widths(const KeyedReductionPlan& plan)
      : value_bytes(ElementSize(plan.reduction.array.element_type)) {
    const bool keys_are_narrow = plan.has_bins() || ElementSize(plan.keys.element_type) <= 4;
    number_bytes = keys_are_narrow ? 4 : 8;
    bool asks_for_places = plan.reduction.return_states;
    for (const Statistic statistic : plan.reduction.statistics) {
      asks_for_places |= NeedsPlaces(statistic);
    }
    carries_values = !asks_for_places && value_bytes >= 4;
    payload_bytes = carries_values ? value_bytes : sizeof(uint32_t);
  }

  uint64_t value_bytes;
  uint64_t number_bytes;  // At most; fewer where the keys' range is small.
  // Whether values are sorted with the numbers, and not places by which values are moved then.
  bool carries_values;
  uint64_t payload_bytes;
};

// The most groups that may be found: one more than there may be, for elements that are in none.
uint64_t RunsMax(const KeyedReductionPlan& plan) {
  if (plan.keys.element_count <= plan.group_count_max) return plan.keys.element_count;
  return plan.group_count_max + 1;
}

class Orderer {
 public:
  Orderer(const KeyedReductionPlan& plan, const std::vector<PlannedBins>& bins,
          const DeviceKeyedInput& input, Scratch& room, const DeviceProperties& properties,
          cudaStream_t stream, CopyFromDevice copy)
      : plan_(plan),
        bins_(bins),
        input_(input),
        room_(room),
        blocks_max_(BlocksMax(properties)),
        stream_(stream),
        copy_(copy),
        count_(plan.keys.element_count),
        widths_(plan) {}

  absl::StatusOr<DeviceOrder> Run() {
    absl::Status status = Allocate();
    if (status.ok()) status = plan_.has_bins() ? NumberByBin() : NumberByKey();
    if (status.ok()) status = Survey();
    if (status.ok() && facts_.has_descent != 0) status = Sort();
    if (status.ok()) status = FindRuns();
    if (status.ok()) status = FindValues();
    if (!status.ok()) return status;
    return std::move(order_);
  }

 private:
  // Numbers and payloads, once before a pass of the sort and once after it.
  struct Side {
    std::byte* numbers = nullptr;
    std::byte* payload = nullptr;
  };

  absl::Status Allocate() {
    const auto allocate = [&](uint64_t size_bytes, std::byte*& memory) {
      const absl::StatusOr<std::byte*> allocated = room_.Allocate<std::byte>(size_bytes);
      if (allocated.ok()) memory = *allocated;
      return allocated.status();
    };
    std::byte* facts = nullptr;
    std::byte* counts = nullptr;
    std::byte* runs = nullptr;
    for (const auto& [memory, size_bytes] :
         {std::pair<std::byte**, uint64_t>{&facts, sizeof(KeyFacts)},
          {&counts, (blocks_max_ + 1) * kDigits * sizeof(uint64_t)},
          {&runs, 2 * RunsMax(plan_) * sizeof(uint64_t)},
          {&sides_[0].numbers, count_ * widths_.number_bytes},
          {&sides_[0].payload, count_ * widths_.payload_bytes},
          {&sides_[1].numbers, count_ * widths_.number_bytes},
          {&sides_[1].payload, count_ * widths_.payload_bytes}}) {
      if (absl::Status status = allocate(size_bytes, *memory); !status.ok()) return status;
    }
    device_facts_ = reinterpret_cast<KeyFacts*>(facts);
    counts_ = reinterpret_cast<uint64_t*>(counts);
    totals_ = counts_ + blocks_max_ * kDigits;
    runs_ = reinterpret_cast<uint64_t*>(runs);
    GRIDFOLD_RETURN_IF_CUDA_ERROR(cudaMemsetAsync(device_facts_, 0, sizeof(KeyFacts), stream_));
    return absl::OkStatus();
  }

  LaunchShape OverElements(uint64_t count) const {
    return {.grid = dim3(GridStrideBlocks(count, kKeyThreads, blocks_max_)),
            .block = dim3(kKeyThreads)};
  }

  absl::Status ReadFacts() {
    const MutableHostSpan to{reinterpret_cast<std::byte*>(&facts_), sizeof(facts_)};
    return copy_(device_facts_, std::span(&to, 1));
  }

  absl::Status NumberByKey() {
    const ElementType type = plan_.keys.element_type;
    absl::Status status = Launch(FindKeyExtremesKernel(type), OverElements(count_), stream_,
                                 input_.keys.front(), count_, device_facts_);
    if (status.ok()) status = ReadFacts();
    if (!status.ok()) return status;
    first_ = ~facts_.least_inverted;
    sign_ = IsUnsigned(type) ? 0 : kKeySign<int64_t>;
    is_narrow_ = count_ == 0 || facts_.largest - first_ <= std::numeric_limits<uint32_t>::max();
    return Launch(FindNumberKeysKernel(type, is_narrow_), OverElements(count_), stream_,
                  input_.keys.front(), count_, first_, sides_[0].numbers);
  }

  absl::Status NumberByBin() {
    dropped_ = static_cast<uint32_t>(plan_.group_count_max);
    absl::Status status;
    for (size_t axis = 0; axis < plan_.axes.size() && status.ok(); ++axis) {
      const HistogramPlan& of_axis = plan_.axes[axis];
      const KeyAxisArguments arguments{.keys = input_.keys[axis],
                                       .count = count_,
                                       .bins = LayoutOf(bins_[axis], input_.edges[axis]),
                                       .policy = of_axis.out_of_range_policy,
                                       .is_first = axis == 0,
                                       .is_last = axis + 1 == plan_.axes.size(),
                                       .dropped = *dropped_};
      status =
          Launch(FindNumberAxisKernel(of_axis.array.element_type), OverElements(count_), stream_,
                 arguments, reinterpret_cast<uint32_t*>(sides_[0].numbers), device_facts_);
    }
    return status;
  }

  absl::Status Survey() {
    absl::Status status = Launch(FindSurveyKernel(is_narrow_), OverElements(count_), stream_,
                                 sides_[0].numbers, count_, device_facts_);
    if (status.ok()) status = ReadFacts();
    if (!status.ok()) return status;
    order_.underflow_count = facts_.outcomes[0];
    order_.overflow_count = facts_.outcomes[1];
    order_.nan_count = facts_.outcomes[2];
    if (!plan_.refuses_outside || facts_.first_outside_inverted == 0) return absl::OkStatus();
    return FirstOutside(~facts_.first_outside_inverted);
  }

  // The error of a key outside of a range.
  absl::Status FirstOutside(uint64_t index) {
    const uint64_t key_bytes = ElementSize(plan_.keys.element_type);
    std::byte key[sizeof(uint64_t)] = {};
    const MutableHostSpan to{key, key_bytes};
    absl::Status status = copy_(input_.keys.front() + index * key_bytes, std::span(&to, 1));
    if (!status.ok()) return status;
    const uint64_t bits = VisitElementType(plan_.keys.element_type, [&](auto tag) -> uint64_t {
      using T = typename decltype(tag)::type;
      if constexpr (IntegerElement<T>) return KeyBits(LoadUnaligned<T>(key, 0));
      return 0;
    });
    return KeyOutsideRange(plan_, index, bits);
  }

  // Chunks of whole tiles, no more than there are blocks at a time.
  SortPass CutChunks() const {
    SortPass pass{.count = count_};
    pass.chunk = RoundUp(CeilDivide(std::max<uint64_t>(count_, 1), blocks_max_), kSortTile);
    return pass;
  }
  static LaunchShape OverChunks(const SortPass& pass) {
    const uint64_t chunks = std::max<uint64_t>(CeilDivide(pass.count, pass.chunk), 1);
    return {.grid = dim3(static_cast<uint32_t>(chunks)), .block = dim3(kKeyThreads)};
  }

  absl::Status Sort() {
    SortPass pass = CutChunks();
    const int lowest = std::countr_zero(facts_.varying_bits);
    const int bits = std::bit_width(facts_.varying_bits) - lowest;
    const int passes = static_cast<int>(CeilDivide(static_cast<uint64_t>(bits), kDigitBits));
    for (int i = 0; i < passes; ++i) {
      pass.first_bit = static_cast<uint32_t>(lowest + i * bits / passes);
      const auto end_bit = static_cast<uint32_t>(lowest + (i + 1) * bits / passes);
      pass.mask = (1u << (end_bit - pass.first_bit)) - 1;
      if (((facts_.varying_bits >> pass.first_bit) & pass.mask) == 0) continue;
      if (absl::Status status = SortByDigit(pass); !status.ok()) return status;
    }
    return absl::OkStatus();
  }

  absl::Status SortByDigit(const SortPass& pass) {
    const LaunchShape shape = OverChunks(pass);
    const Side& from = sides_[side_];
    const Side& to = sides_[1 - side_];
    SortArrays arrays{.numbers = from.numbers,
                      .payload = from.payload,
                      .sorted_numbers = to.numbers,
                      .sorted_payload = to.payload};
    if (!order_.is_sorted) arrays.payload = widths_.carries_values ? input_.values : nullptr;
    absl::Status status =
        Launch(FindCountDigitsKernel(is_narrow_), shape, stream_, pass, from.numbers, counts_);
    if (status.ok()) status = ScanLists(kDigits, shape.grid.x);
    if (status.ok()) {
      status = Launch(FindSortKernel(is_narrow_, widths_.payload_bytes == 4), shape, stream_, pass,
                      arrays, counts_, totals_);
    }
    side_ = 1 - side_;
    order_.is_sorted = true;
    return status;
  }

  absl::Status ScanLists(uint32_t lists, uint64_t length) {
    return Launch(FindScanCountsKernel(), {.grid = dim3(lists), .block = dim3(kKeyThreads)},
                  stream_, counts_, length, totals_);
  }

  absl::Status FindRuns() {
    const SortPass pass = CutChunks();
    const LaunchShape shape = OverChunks(pass);
    const std::byte* const numbers = sides_[side_].numbers;
    absl::Status status =
        Launch(FindCountRunsKernel(is_narrow_), shape, stream_, pass, numbers, counts_);
    if (status.ok()) status = ScanLists(1, shape.grid.x);
    uint64_t run_count = 0;
    if (status.ok()) {
      const MutableHostSpan to{reinterpret_cast<std::byte*>(&run_count), sizeof(run_count)};
      status = copy_(totals_, std::span(&to, 1));
    }
    if (!status.ok()) return status;
    if (run_count > RunsMax(plan_)) return TooManyKeys(plan_);
    uint64_t* const begins = runs_ + run_count;
    status = Launch(FindWriteRunsKernel(is_narrow_), shape, stream_, pass, numbers, counts_, runs_,
                    begins);
    if (status.ok()) status = ReadRuns(run_count);
    if (!status.ok()) return status;
    if (order_.groups.size() > plan_.group_count_max) return TooManyKeys(plan_);
    return absl::OkStatus();
  }

  absl::Status ReadRuns(uint64_t run_count) {
    order_.groups.resize(run_count);
    order_.offsets.resize(run_count + 1);
    order_.offsets.back() = count_;
    const MutableHostSpan to[] = {
        {reinterpret_cast<std::byte*>(order_.groups.data()), run_count * sizeof(uint64_t)},
        {reinterpret_cast<std::byte*>(order_.offsets.data()), run_count * sizeof(uint64_t)}};
    if (run_count > 0) {
      if (absl::Status status = copy_(runs_, to); !status.ok()) return status;
    }
    // The last run may be of what is in no group.
    if (dropped_ && !order_.groups.empty() && order_.groups.back() == *dropped_) {
      order_.groups.pop_back();
      order_.offsets.pop_back();
    }
    for (uint64_t& group : order_.groups) group = (group + first_) ^ sign_;
    return absl::OkStatus();
  }

  absl::Status FindValues() {
    order_.values = input_.values;
    if (!order_.is_sorted) return absl::OkStatus();
    if (widths_.carries_values) {
      order_.values = sides_[side_].payload;
      return absl::OkStatus();
    }
    order_.places = reinterpret_cast<const uint32_t*>(sides_[side_].payload);
    // Numbers and payload before the last pass, which nobody needs, lie together and take as much
    // as the largest values.
    std::byte* const moved = sides_[1 - side_].numbers;
    order_.values = moved;
    const uint64_t kept = order_.offsets.back();
    return Launch(FindGatherKernel(widths_.value_bytes), OverElements(kept), stream_, input_.values,
                  order_.places, kept, moved);
  }

  const KeyedReductionPlan& plan_;
  const std::vector<PlannedBins>& bins_;
  const DeviceKeyedInput& input_;
  Scratch& room_;
  const uint64_t blocks_max_;
  const cudaStream_t stream_;
  const CopyFromDevice copy_;
  const uint64_t count_;
  const Widths widths_;

  KeyFacts* device_facts_ = nullptr;
  uint64_t* counts_ = nullptr;
  uint64_t* totals_ = nullptr;
  uint64_t* runs_ = nullptr;
  Side sides_[2];
  int side_ = 0;  // That has the numbers, and once sorted the payload.

  KeyFacts facts_;
  bool is_narrow_ = true;
  uint64_t first_ = 0;  // The group of a number is (number + first_) ^ sign_.
  uint64_t sign_ = 0;
  std::optional<uint32_t> dropped_;
  DeviceOrder order_;
};

}  // namespace

uint64_t OrderRoomBytes(const KeyedReductionPlan& plan, const DeviceProperties& properties) {
  const Widths widths(plan);
  const uint64_t count = plan.keys.element_count;
  return ScratchBytes(sizeof(KeyFacts)) +
         ScratchBytes((BlocksMax(properties) + 1) * kDigits * sizeof(uint64_t)) +
         ScratchBytes(2 * RunsMax(plan) * sizeof(uint64_t)) +
         2 * (ScratchBytes(count * widths.number_bytes) +
              ScratchBytes(count * widths.payload_bytes));
}

absl::StatusOr<DeviceOrder> OrderByGroup(const KeyedReductionPlan& plan,
                                         const std::vector<PlannedBins>& bins,
                                         const DeviceKeyedInput& input, Scratch& room,
                                         const DeviceProperties& properties, cudaStream_t stream,
                                         CopyFromDevice copy) {
  return Orderer(plan, bins, input, room, properties, stream, copy).Run();
}

absl::Status MapPlaces(const DeviceOrder& order, uint64_t* positions, uint64_t count,
                       const DeviceProperties& properties, cudaStream_t stream) {
  const LaunchShape shape{.grid = dim3(GridStrideBlocks(count, kKeyThreads, BlocksMax(properties))),
                          .block = dim3(kKeyThreads)};
  return Launch(FindMapPlacesKernel(), shape, stream, order.places, positions, count);
}

}  // namespace gridfold::kernels::cuda
