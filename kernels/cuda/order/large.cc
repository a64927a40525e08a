#include <algorithm>
#include <bit>
#include <cstddef>
#include <limits>

#include "kernels/contract/quantiles.h"
#include "kernels/cuda/device/grid.h"
#include "kernels/cuda/device/launch.h"
#include "kernels/cuda/device/status.h"
#include "kernels/cuda/order/launchers.h"

namespace gridfold::kernels::cuda {

namespace {

static_assert(kWantedMax == 2 * kQuantilesMax);

constexpr uint64_t kTableBytes = kGridDigits * sizeof(uint64_t);
// Kept keys where no other memory is spare.
constexpr uint64_t kKeptBytesMin = uint64_t{4} << 20;
constexpr uint32_t kScanThreads = 1024;           // Of the kernel that scans counts of blocks.
constexpr uint64_t kBlocksPerMultiprocessor = 4;  // As many threads as it holds.

uint64_t RoomForKeys(ElementType type, uint64_t kept_bytes) {
  return kept_bytes / ElementSize(type);
}
// Keys with indices: an even number, so that these are aligned behind the keys.
uint64_t RoomForPairs(ElementType type, uint64_t kept_bytes) {
  return kept_bytes / (ElementSize(type) + sizeof(uint64_t)) / 2 * 2;
}
// Of a group, whose elements are read again where more are to be kept.
uint64_t KeptMax(uint64_t count, uint64_t room) { return std::min(count / 4, room); }

// 0: no sample.
uint32_t SampleLog2Of(ElementType type, uint64_t count, uint64_t kept_bytes) {
  if (ElementSize(type) < 4 || count < kSampledElementsMin || count > kSampledElementsMax) return 0;
  const uint32_t size_log2 = SampleLog2(count, RoomForKeys(type, kept_bytes));
  return size_log2 < kSampleLog2Min ? 0 : size_log2;
}

}  // namespace

uint64_t KeptBytes(uint64_t spare_bytes) { return std::max(spare_bytes, kKeptBytesMin); }

uint32_t QuantileSampleLog2(ElementType type, uint64_t count, uint32_t target_count,
                            uint64_t kept_bytes) {
  const uint32_t size_log2 = SampleLog2Of(type, count, kept_bytes);
  if (size_log2 == 0 || target_count > kSampledTargetsMax) return 0;
  const uint64_t kept_max = KeptMax(count, RoomForKeys(type, kept_bytes));
  return KeysBetweenBounds(target_count, count, size_log2) <= kept_max ? size_log2 : 0;
}

uint32_t TopSampleLog2(ElementType type, uint64_t count, uint64_t selected, uint64_t kept_bytes) {
  const uint32_t size_log2 = SampleLog2Of(type, count, kept_bytes);
  if (size_log2 == 0) return 0;
  const uint64_t kept_max = KeptMax(count, RoomForPairs(type, kept_bytes));
  return KeysOfTop(selected, count, size_log2) <= kept_max ? size_log2 : 0;
}

uint64_t LargeGroups::ScratchBytesMax() {
  return ScratchBytes(sizeof(DigitState)) + ScratchBytes(sizeof(KeyRegions)) +
         ScratchBytes(kWantedMax * kTableBytes) +
         ScratchBytes((kScanThreads + 1) * sizeof(uint64_t)) + ScratchBytes(sizeof(KeptTies)) +
         ScratchBytes(kKeptBytesMin);
}

absl::StatusOr<LargeGroups> LargeGroups::Create(ElementType type, uint32_t wanted_max,
                                                std::span<std::byte> spare, Scratch& scratch,
                                                const DeviceProperties& properties,
                                                cudaStream_t stream) {
  LargeGroups groups;
  groups.type_ = type;
  groups.properties_ = properties;
  groups.stream_ = stream;
  groups.level_count_ = LevelCount(groups.key_bits(), kGridDigitBits);
  groups.node_room_ = wanted_max;
  groups.has_tables_of_levels_ = groups.level_count_ * wanted_max <= kWantedMax;
  DigitArguments& digits = groups.digits_;
  const absl::StatusOr<DigitState*> state = scratch.Allocate<DigitState>(1);
  if (!state.ok()) return state.status();
  digits.state = *state;
  const absl::StatusOr<KeyRegions*> regions = scratch.Allocate<KeyRegions>(1);
  if (!regions.ok()) return regions.status();
  groups.regions_ = *regions;
  const absl::StatusOr<uint64_t*> counts =
      scratch.Allocate<uint64_t>(groups.table_count() * kGridDigits);
  if (!counts.ok()) return counts.status();
  groups.tables_ = *counts;
  digits.shared_nodes = std::min(wanted_max, kSharedNodesMax);
  const absl::StatusOr<uint64_t*> equal_counts = scratch.Allocate<uint64_t>(kScanThreads + 1);
  if (!equal_counts.ok()) return equal_counts.status();
  groups.equal_counts_ = *equal_counts;
  const absl::StatusOr<KeptTies*> ties = scratch.Allocate<KeptTies>(1);
  if (!ties.ok()) return ties.status();
  groups.ties_ = *ties;
  if (spare.size() < kKeptBytesMin) {
    const absl::StatusOr<std::byte*> kept = scratch.Allocate<std::byte>(kKeptBytesMin);
    if (!kept.ok()) return kept.status();
    spare = {*kept, kKeptBytesMin};
  }
  groups.kept_ = spare;
  digits.kept = spare.data();
  digits.kept_room = RoomForKeys(type, spare.size());
  return groups;
}

uint32_t LargeGroups::Blocks(uint64_t blocks_per_multiprocessor) const {
  const uint64_t blocks =
      static_cast<uint64_t>(properties_.multiprocessor_count) * blocks_per_multiprocessor;
  return static_cast<uint32_t>(std::min<uint64_t>(blocks, kScanThreads));
}

LaunchShape LargeGroups::AllBlocks() const {
  return {.grid = dim3(Blocks(kBlocksPerMultiprocessor)), .block = dim3(kOrderBlockThreads)};
}

absl::Status LargeGroups::Clear(uint64_t* tables, uint64_t count) {
  GRIDFOLD_RETURN_IF_CUDA_ERROR(cudaMemsetAsync(tables, 0, count * kTableBytes, stream_));
  return absl::OkStatus();
}

absl::Status LargeGroups::Begin(const void* elements, uint64_t count, KeyKind kind) {
  GRIDFOLD_RETURN_IF_CUDA_ERROR(cudaMemsetAsync(digits_.state, 0, sizeof(DigitState), stream_));
  digits_.elements = elements;
  digits_.count = count;
  digits_.kind = kind;
  return absl::OkStatus();
}

absl::Status LargeGroups::CountFirst(bool counts_nans) {
  absl::Status status = Clear(tables_, has_tables_of_levels_ ? table_count() : 1);
  if (!status.ok()) return status;
  digits_.level = 0;
  digits_.counts = tables_;
  digits_.counts_nans = counts_nans;
  return Launch(FindDigitKernel(type_, /*is_first=*/true), AllBlocks(), stream_, digits_);
}

absl::Status LargeGroups::FindKeys() {
  const uint64_t shared_bytes =
      NextDigitsBytes(type_) + digits_.shared_nodes * kGridDigits * sizeof(uint32_t);
  const uint64_t resident =
      static_cast<uint64_t>(properties_.shared_bytes_per_multiprocessor) / (shared_bytes + 1024);
  const LaunchShape next{
      .grid = dim3(Blocks(std::clamp<uint64_t>(resident, 1, kBlocksPerMultiprocessor))),
      .block = dim3(kOrderBlockThreads),
      .shared_bytes = shared_bytes};
  for (digits_.level = 0; digits_.level < level_count_; ++digits_.level) {
    absl::Status status;
    if (digits_.level > 0) {
      if (has_tables_of_levels_) {
        digits_.counts += uint64_t{node_room_} * kGridDigits;
      } else {
        status = Clear(tables_, node_room_);
      }
      if (status.ok()) {
        status = Launch(FindDigitKernel(type_, /*is_first=*/false), next, stream_, digits_);
      }
      if (!status.ok()) return status;
    }
    const DescendArguments descend{.state = digits_.state,
                                   .counts = digits_.counts,
                                   .shift = ShiftAt(key_bits(), kGridDigitBits, digits_.level),
                                   .width = WidthAt(key_bits(), kGridDigitBits, digits_.level),
                                   .kept_room = digits_.kept_room};
    status = Launch(FindDescendKernel(), {.block = dim3(kWantedMax)}, stream_, descend);
    if (!status.ok()) return status;
  }
  return absl::OkStatus();
}

// Bounds of the sample's keys, and what lies between them.
absl::Status LargeGroups::Narrow(BoundsArguments bounds, const KeepArguments& keep, KeepForm form) {
  const SampleArguments sample{.elements = digits_.elements,
                               .count = digits_.count,
                               .kind = digits_.kind,
                               .size_log2 = bounds.size_log2,
                               .state = digits_.state,
                               .kept = digits_.kept};
  bounds.state = digits_.state;
  bounds.regions = regions_;
  bounds.count = digits_.count;
  bounds.key_max = keep.key_max;
  bounds.has_nan_keys = keep.has_nan_keys;
  absl::Status status = Launch(FindGatherSampleKernel(type_), AllBlocks(), stream_, sample);
  if (status.ok()) status = CountFirst(/*counts_nans=*/true);
  if (status.ok()) {
    status = Launch(FindWantBoundsKernel(), {.block = dim3(kWantedMax)}, stream_, bounds);
  }
  if (status.ok()) status = FindKeys();
  if (status.ok()) {
    status = Launch(FindMakeRegionsKernel(), {.block = dim3(kRegionsMax)}, stream_, bounds);
  }
  if (!status.ok()) return status;
  return Launch(FindKeepKernel(type_, form), AllBlocks(), stream_, keep);
}

KeepArguments LargeGroups::Keep(bool has_indices) const {
  const uint64_t room = has_indices ? RoomForPairs(type_, kept_.size()) : digits_.kept_room;
  const uint64_t key_max = std::numeric_limits<uint64_t>::max() >> (64 - key_bits());
  return {.elements = digits_.elements,
          .count = digits_.count,
          .kind = digits_.kind,
          .key_max = key_max,
          .has_nan_keys = !has_indices && IsFloatingPoint(type_),
          .state = digits_.state,
          .regions = regions_,
          .kept = kept_.data(),
          .kept_indices =
              has_indices ? reinterpret_cast<uint64_t*>(kept_.data() + room * ElementSize(type_))
                          : nullptr,
          .kept_room = KeptMax(digits_.count, room)};
}

// Wanted ranks become places among the kept keys, whose digits are counted then.
absl::Status LargeGroups::PlaceWanted(const KeepArguments& keep) {
  absl::Status status = Launch(FindPlaceWantedKernel(), {.block = dim3(kWantedMax)}, stream_, keep);
  return status.ok() ? CountFirst(/*counts_nans=*/false) : status;
}

absl::Status LargeGroups::LaunchQuantiles(const void* elements, const TargetsArguments& targets) {
  const RanksArguments& ranks = targets.ranks;
  const uint32_t size_log2 =
      QuantileSampleLog2(type_, ranks.count, ranks.target_count, kept_.size());
  absl::Status status = Begin(elements, ranks.count, KeyKind{});
  if (!status.ok()) return status;
  const KeepArguments keep = Keep(/*has_indices=*/false);
  if (size_log2 == 0) {
    status = CountFirst(/*counts_nans=*/true);
  } else {
    status = Narrow(
        {.size_log2 = size_log2, .targets = ranks.targets, .target_count = ranks.target_count},
        keep, ranks.target_count == 1 ? KeepForm::kOneTarget : KeepForm::kTargets);
  }
  if (!status.ok()) return status;
  TargetsArguments arguments = targets;
  arguments.ranks.state = digits_.state;
  status = Launch(FindRanksKernel(), {.block = dim3(kWantedMax)}, stream_, arguments.ranks);
  if (status.ok() && size_log2 != 0) status = PlaceWanted(keep);
  if (status.ok()) status = FindKeys();
  if (!status.ok()) return status;
  return Launch(FindTargetsKernel(type_), {.block = dim3(kQuantilesMax)}, stream_, arguments);
}

absl::Status LargeGroups::LaunchTop(const CollectArguments& collect, bool is_sorted) {
  const uint32_t size_log2 = TopSampleLog2(type_, collect.count, collect.selected, kept_.size());
  absl::Status status = Begin(collect.elements, collect.count, collect.kind);
  if (!status.ok()) return status;
  const KeepArguments keep = Keep(/*has_indices=*/true);
  if (size_log2 == 0) {
    status = CountFirst(/*counts_nans=*/true);
  } else {
    status = Narrow({.size_log2 = size_log2, .selected = collect.selected}, keep, KeepForm::kTop);
  }
  if (status.ok()) {
    status = Launch(FindRankKernel(), {}, stream_, digits_.state, collect.count - collect.selected);
  }
  if (status.ok() && size_log2 != 0) status = PlaceWanted(keep);
  if (status.ok()) status = FindKeys();
  if (!status.ok()) return status;
  CollectArguments arguments = collect;
  arguments.state = digits_.state;
  arguments.equal_counts = equal_counts_;
  arguments.cursor = equal_counts_ + kScanThreads;
  if (size_log2 != 0) status = CollectKept(arguments, keep);
  if (status.ok()) status = CollectFromAll(arguments);
  if (!status.ok() || !is_sorted) return status;
  const auto count = static_cast<uint32_t>(collect.selected);
  const SortArguments sort{.kind = collect.kind,
                           .count = count,
                           .room = std::bit_ceil(std::max(count, 2u)),
                           .elements = collect.elements,
                           .slots = collect.slots,
                           .indices = collect.indices,
                           .lacking_group = collect.lacking_group};
  return Launch(
      FindSortKernel(type_),
      {.block = dim3(kOrderBlockThreads), .shared_bytes = 2 * sort.room * sizeof(uint64_t)},
      stream_, sort);
}

// Collects the selected elements from the kept ones, where these are all of them and of what is
// equal to the last.
absl::Status LargeGroups::CollectKept(const CollectArguments& arguments,
                                      const KeepArguments& keep) {
  GRIDFOLD_RETURN_IF_CUDA_ERROR(cudaMemsetAsync(ties_, 0, offsetof(KeptTies, indices), stream_));
  return Launch(
      FindCollectKeptKernel(type_), AllBlocks(), stream_,
      {.collect = arguments, .kept = keep.kept, .kept_indices = keep.kept_indices, .ties = ties_});
}

// Collects the selected elements from all elements, where not all of them were kept.
absl::Status LargeGroups::CollectFromAll(const CollectArguments& arguments) {
  GRIDFOLD_RETURN_IF_CUDA_ERROR(
      cudaMemsetAsync(equal_counts_, 0, (kScanThreads + 1) * sizeof(uint64_t), stream_));
  const LaunchShape shape = AllBlocks();
  absl::Status status = Launch(FindCountEqualKernel(type_), shape, stream_, arguments);
  if (status.ok()) {
    status = Launch(FindScanEqualKernel(), {.block = dim3(kScanThreads)}, stream_, equal_counts_,
                    shape.grid.x);
  }
  if (status.ok()) status = Launch(FindCollectKernel(type_), shape, stream_, arguments);
  return status;
}

}  // namespace gridfold::kernels::cuda
