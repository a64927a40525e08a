#include "kernels/cuda/bykey/order.h"

#include <algorithm>
#include <bit>
#include <limits>
#include <optional>
#include <utility>

#include "kernels/cuda/bykey/kernels.h"
#include "kernels/cuda/device/grid.h"
#include "kernels/cuda/device/host_bytes.h"
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

// The most runs that may be found: one more than there may be groups, for elements that are in
// none.
uint64_t RunsMax(const KeyedReductionPlan& plan) {
  if (plan.keys.element_count <= plan.group_count_max) return plan.keys.element_count;
  return plan.group_count_max + 1;
}
// Of their numbers, beginnings, and where the last one ends.
uint64_t RunWords(const KeyedReductionPlan& plan) { return 2 * RunsMax(plan) + 1; }

}  // namespace

GroupOrderer::Widths::Widths(const KeyedReductionPlan& plan)
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

GroupOrderer::GroupOrderer(const KeyedReductionPlan& plan, const std::vector<PlannedBins>& bins,
                           const DeviceKeyedInput& input, Scratch& room,
                           const DeviceProperties& properties, cudaStream_t stream,
                           CopyFromDevice copy)
    : plan_(plan),
      bins_(bins),
      input_(input),
      room_(room),
      blocks_max_(BlocksMax(properties)),
      stream_(stream),
      copy_(copy),
      count_(plan.keys.element_count),
      widths_(plan) {}

absl::Status GroupOrderer::Survey() {
  absl::Status status = Allocate();
  if (!status.ok()) return status;
  if (has_keys()) {
    status = SurveyElements(plan_.keys.element_type, input_.keys.front());
    if (status.ok() && plan_.refuses_outside) status = CheckRange();
    return status;
  }
  status = NumberByBin();
  if (status.ok()) status = SurveyElements(number_type(), sides_[0].numbers);
  if (!status.ok()) return status;
  order_.underflow_count = facts_.outcomes[0];
  order_.overflow_count = facts_.outcomes[1];
  order_.nan_count = facts_.outcomes[2];
  return absl::OkStatus();
}

std::optional<KeyInterval> GroupOrderer::interval() const {
  const uint64_t apart = facts_.largest - ~facts_.least_inverted;
  if (!has_keys() || count_ == 0 || apart == ~uint64_t{0}) return std::nullopt;
  const uint64_t sign = KeySignOf(plan_.keys.element_type);
  return KeyInterval{.first_key = ~facts_.least_inverted ^ sign, .key_count = apart + 1};
}

absl::StatusOr<DeviceOrder> GroupOrderer::Order() {
  absl::Status status;
  if (is_in_order() && has_keys()) {
    // Keys that are groups as they stand: of a range, those from its first one on.
    if (plan_.refuses_outside) {
      order_.first = uint64_t{0} - FirstOfRange();
    } else {
      order_.sign = KeySignOf(plan_.keys.element_type);
    }
    status = FindRuns(plan_.keys.element_type, input_.keys.front());
  } else {
    if (has_keys()) status = NumberKeys();
    if (status.ok() && !is_in_order()) status = Sort();
    if (status.ok() && order_.is_sorted) {
      status = SurveyElements(number_type(), sides_[side_].numbers);
    }
    if (status.ok()) status = FindRuns(number_type(), sides_[side_].numbers);
  }
  if (status.ok()) status = FindValues();
  if (!status.ok()) return status;
  return order_;
}

absl::Status GroupOrderer::Allocate() {
  std::byte* facts = nullptr;
  std::byte* counts = nullptr;
  std::byte* runs = nullptr;
  for (const auto& [memory, size_bytes] :
       {std::pair<std::byte**, uint64_t>{&facts, sizeof(KeyFacts)},
        {&counts, (blocks_max_ + 1) * kDigits * sizeof(uint64_t)},
        {&runs, RunWords(plan_) * sizeof(uint64_t)},
        {&sides_[0].numbers, count_ * widths_.number_bytes},
        {&sides_[0].payload, count_ * widths_.payload_bytes},
        {&sides_[1].numbers, count_ * widths_.number_bytes},
        {&sides_[1].payload, count_ * widths_.payload_bytes}}) {
    const absl::StatusOr<std::byte*> allocated = room_.Allocate<std::byte>(size_bytes);
    if (!allocated.ok()) return allocated.status();
    *memory = *allocated;
  }
  device_facts_ = reinterpret_cast<KeyFacts*>(facts);
  counts_ = reinterpret_cast<uint64_t*>(counts);
  totals_ = counts_ + blocks_max_ * kDigits;
  runs_ = reinterpret_cast<uint64_t*>(runs);
  GRIDFOLD_RETURN_IF_CUDA_ERROR(cudaMemsetAsync(device_facts_, 0, sizeof(KeyFacts), stream_));
  return absl::OkStatus();
}

LaunchShape GroupOrderer::OverElements(uint64_t count) const {
  return {.grid = dim3(GridStrideBlocks(count, kKeyThreads, blocks_max_)),
          .block = dim3(kKeyThreads)};
}

// Chunks of whole tiles, no more than there are blocks at a time.
KeyChunks GroupOrderer::CutChunks() const {
  return {.count = count_,
          .chunk = RoundUp(CeilDivide(std::max<uint64_t>(count_, 1), blocks_max_), kSortTile)};
}

LaunchShape GroupOrderer::OverChunks(const KeyChunks& chunks) {
  const uint64_t blocks = std::max<uint64_t>(CeilDivide(chunks.count, chunks.chunk), 1);
  return {.grid = dim3(static_cast<uint32_t>(blocks)), .block = dim3(kKeyThreads)};
}

absl::Status GroupOrderer::ReadFacts() {
  const MutableHostSpan to{reinterpret_cast<std::byte*>(&facts_), sizeof(facts_)};
  return copy_(device_facts_, std::span(&to, 1));
}

absl::Status GroupOrderer::SurveyElements(ElementType type, const void* elements) {
  const KeyChunks chunks = CutChunks();
  const LaunchShape shape = OverChunks(chunks);
  absl::Status status =
      Launch(FindSurveyKernel(type), shape, stream_, chunks, elements, device_facts_, counts_);
  if (status.ok()) status = ScanLists(1, shape.grid.x, &device_facts_->run_count);
  return status.ok() ? ReadFacts() : status;
}

uint64_t GroupOrderer::FirstOfRange() const {
  return bins_.front().first_value_bits() ^ KeySignOf(plan_.keys.element_type);
}

absl::Status GroupOrderer::CheckRange() {
  if (count_ == 0) return absl::OkStatus();
  const PlannedBins& range = bins_.front();
  const auto value = [&](uint64_t bits) {
    return IsUnsigned(plan_.keys.element_type) ? static_cast<Int128>(bits)
                                               : Int128{static_cast<int64_t>(bits)};
  };
  const uint64_t sign = KeySignOf(plan_.keys.element_type);
  const Int128 first = range.first_unsigned_value != 0
                           ? static_cast<Int128>(range.first_unsigned_value)
                           : Int128{range.first_value};
  const bool is_inside =
      value(~facts_.least_inverted ^ sign) >= first &&
      value(facts_.largest ^ sign) < first + static_cast<Int128>(range.bin_count);
  if (is_inside) return absl::OkStatus();
  absl::Status status = NumberByBin();
  if (status.ok()) status = ReadFacts();
  if (!status.ok()) return status;
  return FirstOutside(~facts_.first_outside_inverted);
}

// The error of a key outside of a range.
absl::Status GroupOrderer::FirstOutside(uint64_t index) {
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

absl::Status GroupOrderer::NumberKeys() {
  const uint64_t first = plan_.refuses_outside ? FirstOfRange() : ~facts_.least_inverted;
  if (!plan_.refuses_outside) {
    order_.first = first;
    order_.sign = KeySignOf(plan_.keys.element_type);
  }
  facts_.largest -= first;
  is_narrow_ = facts_.largest <= std::numeric_limits<uint32_t>::max();
  return Launch(FindNumberKeysKernel(plan_.keys.element_type, is_narrow_), OverElements(count_),
                stream_, input_.keys.front(), count_, first, sides_[0].numbers);
}

absl::Status GroupOrderer::NumberByBin() {
  absl::Status status;
  for (size_t axis = 0; axis < plan_.axes.size() && status.ok(); ++axis) {
    const HistogramPlan& of_axis = plan_.axes[axis];
    const KeyAxisArguments arguments{.keys = input_.keys[axis],
                                     .count = count_,
                                     .bins = LayoutOf(bins_[axis], input_.edges[axis]),
                                     .policy = of_axis.out_of_range_policy,
                                     .is_first = axis == 0,
                                     .is_last = axis + 1 == plan_.axes.size(),
                                     .dropped = static_cast<uint32_t>(plan_.group_count_max)};
    status = Launch(FindNumberAxisKernel(of_axis.array.element_type), OverElements(count_), stream_,
                    arguments, reinterpret_cast<uint32_t*>(sides_[0].numbers), device_facts_);
  }
  return status;
}

// Numbers differ in no bit below the lowest one in which keys do, since those differ by multiples
// of it, and have none above the largest number's.
absl::Status GroupOrderer::Sort() {
  SortPass pass{.chunks = CutChunks()};
  const int lowest = std::countr_zero(facts_.varying_bits);
  const int bits = std::bit_width(facts_.largest) - lowest;
  const int passes = static_cast<int>(CeilDivide(static_cast<uint64_t>(bits), kDigitBits));
  for (int i = 0; i < passes; ++i) {
    pass.first_bit = static_cast<uint32_t>(lowest + i * bits / passes);
    const auto end_bit = static_cast<uint32_t>(lowest + (i + 1) * bits / passes);
    pass.mask = (1u << (end_bit - pass.first_bit)) - 1;
    if (absl::Status status = SortByDigit(pass); !status.ok()) return status;
  }
  return absl::OkStatus();
}

absl::Status GroupOrderer::SortByDigit(const SortPass& pass) {
  const LaunchShape shape = OverChunks(pass.chunks);
  const Side& from = sides_[side_];
  const Side& to = sides_[1 - side_];
  SortArrays arrays{.numbers = from.numbers,
                    .payload = from.payload,
                    .sorted_numbers = to.numbers,
                    .sorted_payload = to.payload};
  if (!order_.is_sorted) arrays.payload = widths_.carries_values ? input_.values : nullptr;
  absl::Status status =
      Launch(FindCountDigitsKernel(is_narrow_), shape, stream_, pass, from.numbers, counts_);
  if (status.ok()) status = ScanLists(kDigits, shape.grid.x, totals_);
  if (status.ok()) {
    status = Launch(FindSortKernel(is_narrow_, widths_.payload_bytes == 4), shape, stream_, pass,
                    arrays, counts_, totals_);
  }
  side_ = 1 - side_;
  order_.is_sorted = true;
  return status;
}

absl::Status GroupOrderer::ScanLists(uint32_t lists, uint64_t length, uint64_t* totals) {
  return Launch(FindScanCountsKernel(), {.grid = dim3(lists), .block = dim3(kKeyThreads)}, stream_,
                counts_, length, totals);
}

absl::Status GroupOrderer::FindRuns(ElementType type, const void* elements) {
  const KeyChunks chunks = CutChunks();
  const LaunchShape shape = OverChunks(chunks);
  const uint64_t run_count = facts_.run_count;
  // The last run is that of what is in no group.
  order_.group_count = run_count - (facts_.dropped_count > 0 ? 1 : 0);
  if (run_count > RunsMax(plan_) || order_.group_count > plan_.group_count_max) {
    return TooManyKeys(plan_);
  }
  order_.element_count = count_ - facts_.dropped_count;
  uint64_t* const begins = runs_ + run_count;
  order_.numbers = runs_;
  order_.offsets = begins;
  absl::Status status = Launch(FindWriteRunsKernel(type), shape, stream_, chunks,
                               RunArrays{.elements = elements,
                                         .counts = counts_,
                                         .run_count = run_count,
                                         .numbers = runs_,
                                         .begins = begins});
  if (status.ok()) {
    status = Launch(FindLargestRunKernel(), OverElements(order_.group_count), stream_, begins,
                    order_.group_count, device_facts_);
  }
  if (status.ok()) status = ReadFacts();
  order_.largest_group = facts_.largest_run;
  return status;
}

absl::Status GroupOrderer::FindValues() {
  order_.values = input_.values;
  if (!order_.is_sorted) return absl::OkStatus();
  if (widths_.carries_values) {
    order_.values = sides_[side_].payload;
    return absl::OkStatus();
  }
  order_.places = reinterpret_cast<const uint32_t*>(sides_[side_].payload);
  // Numbers and payload before the last pass, which nobody needs, lie together and take as much as
  // the largest values.
  std::byte* const moved = sides_[1 - side_].numbers;
  order_.values = moved;
  const uint64_t kept = order_.element_count;
  return Launch(FindGatherKernel(widths_.value_bytes), OverElements(kept), stream_, input_.values,
                order_.places, kept, moved);
}

uint64_t OrderRoomBytes(const KeyedReductionPlan& plan, const DeviceProperties& properties) {
  const GroupOrderer::Widths widths(plan);
  const uint64_t count = plan.keys.element_count;
  return ScratchBytes(sizeof(KeyFacts)) +
         ScratchBytes((BlocksMax(properties) + 1) * kDigits * sizeof(uint64_t)) +
         ScratchBytes(RunWords(plan) * sizeof(uint64_t)) +
         2 * (ScratchBytes(count * widths.number_bytes) +
              ScratchBytes(count * widths.payload_bytes));
}

absl::Status FetchGroups(const DeviceOrder& order, CopyFromDevice copy,
                         std::vector<uint64_t>& groups, std::vector<uint64_t>& offsets) {
  groups.resize(order.group_count);
  offsets.resize(order.group_count + 1);
  const MutableHostSpan numbers = BytesOf(groups);
  const MutableHostSpan begins = BytesOf(offsets);
  absl::Status status = copy(order.offsets, std::span(&begins, 1));
  if (status.ok() && order.group_count > 0) status = copy(order.numbers, std::span(&numbers, 1));
  for (uint64_t& group : groups) group = (group + order.first) ^ order.sign;
  return status;
}

absl::Status MapPlaces(const DeviceOrder& order, uint64_t* positions, uint64_t count,
                       const DeviceProperties& properties, cudaStream_t stream) {
  const LaunchShape shape{.grid = dim3(GridStrideBlocks(count, kKeyThreads, BlocksMax(properties))),
                          .block = dim3(kKeyThreads)};
  return Launch(FindMapPlacesKernel(), shape, stream, order.places, positions, count);
}

}  // namespace gridfold::kernels::cuda
