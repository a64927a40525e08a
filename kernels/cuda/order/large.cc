#include <algorithm>
#include <bit>

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
constexpr uint64_t kKeptBytes = uint64_t{4} << 20;
constexpr uint32_t kScanThreads = 1024;           // Of the kernel that scans counts of blocks.
constexpr uint64_t kBlocksPerMultiprocessor = 4;  // As many threads as it holds.

}  // namespace

uint64_t LargeGroups::ScratchBytesMax() {
  return ScratchBytes(sizeof(DigitState)) + ScratchBytes(kWantedMax * kTableBytes) +
         ScratchBytes(kKeptBytes) + ScratchBytes((kScanThreads + 1) * sizeof(uint64_t));
}

absl::StatusOr<LargeGroups> LargeGroups::Create(ElementType type, uint32_t wanted_max,
                                                std::span<std::byte> spare, Scratch& scratch,
                                                const DeviceProperties& properties,
                                                cudaStream_t stream) {
  LargeGroups groups;
  groups.type_ = type;
  groups.properties_ = properties;
  groups.stream_ = stream;
  groups.node_room_ = wanted_max;
  DigitArguments& digits = groups.digits_;
  const absl::StatusOr<DigitState*> state = scratch.Allocate<DigitState>(1);
  if (!state.ok()) return state.status();
  digits.state = *state;
  const absl::StatusOr<uint64_t*> counts = scratch.Allocate<uint64_t>(wanted_max * kGridDigits);
  if (!counts.ok()) return counts.status();
  digits.counts = *counts;
  digits.shared_nodes = std::min(wanted_max, kSharedNodesMax);
  const absl::StatusOr<uint64_t*> equal_counts = scratch.Allocate<uint64_t>(kScanThreads + 1);
  if (!equal_counts.ok()) return equal_counts.status();
  groups.equal_counts_ = *equal_counts;
  if (spare.size() < kKeptBytes) {
    const absl::StatusOr<std::byte*> kept = scratch.Allocate<std::byte>(kKeptBytes);
    if (!kept.ok()) return kept.status();
    spare = {*kept, kKeptBytes};
  }
  digits.kept = spare.data();
  digits.kept_room = spare.size() / ElementSize(type);
  return groups;
}

uint32_t LargeGroups::Blocks(uint64_t blocks_per_multiprocessor) const {
  const uint64_t blocks =
      static_cast<uint64_t>(properties_.multiprocessor_count) * blocks_per_multiprocessor;
  return static_cast<uint32_t>(std::min<uint64_t>(blocks, kScanThreads));
}

absl::Status LargeGroups::Clear(uint32_t tables) {
  GRIDFOLD_RETURN_IF_CUDA_ERROR(cudaMemsetAsync(digits_.counts, 0, tables * kTableBytes, stream_));
  return absl::OkStatus();
}

absl::Status LargeGroups::CountFirst(const void* elements, uint64_t count, KeyKind kind) {
  GRIDFOLD_RETURN_IF_CUDA_ERROR(cudaMemsetAsync(digits_.state, 0, sizeof(DigitState), stream_));
  if (absl::Status status = Clear(1); !status.ok()) return status;
  digits_.elements = elements;
  digits_.count = count;
  digits_.kind = kind;
  digits_.level = 0;
  return Launch(FindDigitKernel(type_, /*is_first=*/true),
                {.grid = dim3(Blocks(kBlocksPerMultiprocessor)), .block = dim3(kOrderBlockThreads)},
                stream_, digits_);
}

absl::Status LargeGroups::FindKeys() {
  const auto key_bits = static_cast<uint32_t>(8 * ElementSize(type_));
  const uint64_t shared_bytes =
      NextDigitsBytes(type_) + digits_.shared_nodes * kGridDigits * sizeof(uint32_t);
  const uint64_t resident =
      static_cast<uint64_t>(properties_.shared_bytes_per_multiprocessor) / (shared_bytes + 1024);
  const LaunchShape next{
      .grid = dim3(Blocks(std::clamp<uint64_t>(resident, 1, kBlocksPerMultiprocessor))),
      .block = dim3(kOrderBlockThreads),
      .shared_bytes = shared_bytes};
  const uint32_t level_count = LevelCount(key_bits, kGridDigitBits);
  for (digits_.level = 0; digits_.level < level_count; ++digits_.level) {
    if (digits_.level > 0) {
      absl::Status status = Clear(node_room_);
      if (status.ok()) {
        status = Launch(FindDigitKernel(type_, /*is_first=*/false), next, stream_, digits_);
      }
      if (!status.ok()) return status;
    }
    const DescendArguments descend{.state = digits_.state,
                                   .counts = digits_.counts,
                                   .shift = ShiftAt(key_bits, kGridDigitBits, digits_.level),
                                   .width = WidthAt(key_bits, kGridDigitBits, digits_.level),
                                   .kept_room = digits_.kept_room};
    absl::Status status =
        Launch(FindDescendKernel(), {.block = dim3(kOrderBlockThreads)}, stream_, descend);
    if (!status.ok()) return status;
  }
  return absl::OkStatus();
}

absl::Status LargeGroups::LaunchQuantiles(const void* elements, const TargetsArguments& targets) {
  absl::Status status = CountFirst(elements, targets.ranks.count, KeyKind{});
  if (!status.ok()) return status;
  TargetsArguments arguments = targets;
  arguments.ranks.state = digits_.state;
  status = Launch(FindRanksKernel(), {.block = dim3(kWantedMax)}, stream_, arguments.ranks);
  if (status.ok()) status = FindKeys();
  if (!status.ok()) return status;
  return Launch(FindTargetsKernel(type_), {.block = dim3(kQuantilesMax)}, stream_, arguments);
}

absl::Status LargeGroups::LaunchTop(const CollectArguments& collect, bool is_sorted) {
  absl::Status status = CountFirst(collect.elements, collect.count, collect.kind);
  if (status.ok()) {
    status = Launch(FindRankKernel(), {}, stream_, digits_.state, collect.count - collect.selected);
  }
  if (status.ok()) status = FindKeys();
  if (!status.ok()) return status;
  CollectArguments arguments = collect;
  arguments.state = digits_.state;
  arguments.equal_counts = equal_counts_;
  arguments.cursor = equal_counts_ + kScanThreads;
  GRIDFOLD_RETURN_IF_CUDA_ERROR(
      cudaMemsetAsync(equal_counts_, 0, (kScanThreads + 1) * sizeof(uint64_t), stream_));
  const LaunchShape shape{.grid = dim3(Blocks(kBlocksPerMultiprocessor)),
                          .block = dim3(kOrderBlockThreads)};
  status = Launch(FindCountEqualKernel(type_), shape, stream_, arguments);
  if (status.ok()) {
    status = Launch(FindScanEqualKernel(), {.block = dim3(kScanThreads)}, stream_, equal_counts_,
                    shape.grid.x);
  }
  if (status.ok()) status = Launch(FindCollectKernel(type_), shape, stream_, arguments);
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

}  // namespace gridfold::kernels::cuda
