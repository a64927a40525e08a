#include "kernels/cuda/scan/positions/look_back.h"

#include <algorithm>
#include <bit>

#include "kernels/cuda/device/grid.h"
#include "kernels/cuda/device/status.h"
#include "kernels/cuda/device/zeroed_memory.h"
#include "kernels/cuda/scan/base/heads.h"
#include "kernels/numerics/scans/tree.h"

namespace gridfold::kernels::cuda {

namespace {

// How many of each thing the blocks of a look-back scan tell each other.
struct LookBackSizes {
  LookBackSizes(uint64_t element_count, uint64_t tile_size)
      : tiles(CeilDivide(element_count, tile_size)),
        blocks(CeilDivide(tiles, kScanTilesPerBlock)) {}

  uint64_t bytes(uint64_t words_per_value) const {
    return (tiles * words_per_value + blocks * kLookBackBlockPitch) * sizeof(LookBackWord);
  }

  uint64_t tiles;
  uint64_t blocks;
};

// Takes the memory and enqueues that its words become 0.
absl::StatusOr<LookBackMemory> PrepareLookBack(const LookBackSizes& sizes, uint64_t value_words,
                                               Scratch& scratch, cudaStream_t stream) {
  const uint64_t bytes = sizes.bytes(value_words);
  const auto words = AllocateZeroed<LookBackWord>(scratch, bytes / sizeof(LookBackWord), stream);
  if (!words.ok()) return words.status();
  LookBackMemory memory;
  memory.tile_count = static_cast<uint32_t>(sizes.tiles);
  // Blocks first: where memory begins a line does.
  memory.block_totals = *words;
  memory.tile_totals = memory.block_totals + sizes.blocks * kLookBackBlockPitch;
  return memory;
}

// No more tiles than leave each block of threads a turn.
uint32_t TurnTiles(const ScanTurnShape& turn, uint64_t tile_count, uint64_t blocks) {
  return static_cast<uint32_t>(
      std::min(std::bit_ceil(CeilDivide(tile_count, blocks)), static_cast<uint64_t>(turn.tiles)));
}

}  // namespace

uint64_t LookBackScratchBytes(uint64_t element_count, bool has_segments) {
  return ScratchBytes(LookBackSizes(element_count, kScanTileSize).bytes(kLookBackWordsMax)) +
         ScratchBytes(ScanCarry::kValueBytesMax) +
         ScanHeadsScratchBytes(element_count, has_segments);
}

absl::Status LaunchLookBackScan(const ScanPlan& plan, const ScanArguments& arguments,
                                const uint64_t* offsets, const DeviceScanCarry& carry,
                                Scratch& scratch, const DeviceProperties& properties,
                                cudaStream_t stream) {
  const LookBackScanKernel kernel = VisitScanOperator(OperatorOf(plan), [&](auto operation) {
    return FindLookBackScanKernel<operation()>(plan.array.element_type,
                                               arguments.accumulator_output);
  });
  const LookBackSizes sizes(plan.array.element_count, kernel.tile_size);
  absl::StatusOr<LookBackMemory> memory =
      PrepareLookBack(sizes, LookBackWordsOf(kernel.value_bytes), scratch, stream);
  if (!memory.ok()) return memory.status();
  const absl::StatusOr<ScanHeads> heads =
      PlaceScanHeads(plan, offsets, carry.continues, scratch, properties, stream);
  if (!heads.ok()) return heads.status();
  if (carry.continues) memory->first_carry = carry.value;
  const bool leaves_carry =
      carry.value != nullptr && plan.array.element_count % kScanCarryElements == 0;
  if (leaves_carry) {
    // Not where the first carry stands: others may still be reading that.
    const auto last_carry = scratch.Allocate<std::byte>(kernel.grouped_bytes);
    if (!last_carry.ok()) return last_carry.status();
    memory->last_carry = *last_carry;
  }
  const auto multiprocessors = static_cast<uint32_t>(properties.multiprocessor_count);
  memory->turn_tiles = TurnTiles(kernel.turn, sizes.tiles, multiprocessors);
  memory->turn_count = static_cast<uint32_t>(CeilDivide(sizes.tiles, memory->turn_tiles));
  memory->turns_kept =
      (static_cast<uint32_t>(properties.shared_bytes_per_block_max) - kernel.result_bytes) /
      kernel.turn_bytes;
  if (memory->turns_kept < 2) {
    return absl::FailedPreconditionError("a scan needs more shared memory than this device has");
  }
  LaunchShape shape;
  shape.grid = dim3(std::min(memory->turn_count, multiprocessors));
  shape.block = dim3(static_cast<uint32_t>(kernel.turn.threads()));
  shape.shared_bytes = kernel.result_bytes + memory->turns_kept * kernel.turn_bytes;
  shape.cooperative = true;  // Blocks wait for each other.
  absl::Status status = Launch(kernel.launch, shape, stream, arguments, *heads, *memory);
  if (!status.ok() || !leaves_carry) return status;
  GRIDFOLD_RETURN_IF_CUDA_ERROR(cudaMemcpyAsync(
      carry.value, memory->last_carry, kernel.grouped_bytes, cudaMemcpyDeviceToDevice, stream));
  return absl::OkStatus();
}

}  // namespace gridfold::kernels::cuda
