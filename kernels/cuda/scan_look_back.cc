#include "kernels/cuda/cuda_status.h"
#include "kernels/cuda/grid.h"
#include "kernels/cuda/scan_heads.h"
#include "kernels/cuda/scan_strategies.h"
#include "kernels/numerics/scan_operator.h"
#include "kernels/numerics/scan_tree.h"

namespace gridfold::kernels::cuda {

namespace {

struct GroupedSlot {
  std::byte bytes[kGroupedValueBytesMax];
};

// How many of each thing the blocks of a look-back scan tell each other.
struct LookBackSizes {
  explicit LookBackSizes(uint64_t element_count)
      : tiles(CeilDivide(element_count, kScanTileSize)),
        blocks(CeilDivide(tiles, kScanTilesPerBlock)),
        carries(blocks + 1) {}

  uint64_t tiles;
  uint64_t blocks;
  uint64_t carries;

  uint64_t slots() const { return tiles + blocks + carries; }
  uint64_t words() const { return 1 + slots(); }  // The ticket, and a flag for each slot.
};

// Takes the memory and enqueues that its words become 0.
absl::StatusOr<LookBackMemory> PrepareLookBack(const LookBackSizes& sizes, Scratch& scratch,
                                               cudaStream_t stream) {
  const auto words = scratch.Allocate<uint32_t>(sizes.words());
  if (!words.ok()) return words.status();
  const auto slots = scratch.Allocate<GroupedSlot>(sizes.slots());
  if (!slots.ok()) return slots.status();
  GRIDFOLD_RETURN_IF_CUDA_ERROR(
      cudaMemsetAsync(*words, 0, sizes.words() * sizeof(uint32_t), stream));
  LookBackMemory memory;
  memory.tile_count = static_cast<uint32_t>(sizes.tiles);
  memory.ticket = *words;
  memory.tile_total_flags = memory.ticket + 1;
  memory.block_total_flags = memory.tile_total_flags + sizes.tiles;
  memory.block_carry_flags = memory.block_total_flags + sizes.blocks;
  memory.tile_totals = *slots;
  memory.block_totals = *slots + sizes.tiles;
  memory.block_carries = *slots + sizes.tiles + sizes.blocks;
  return memory;
}

// Bytes of a total or carry.
uint64_t CarryBytes(const ScanPlan& plan) {
  return VisitScanOperation(plan.operation, [&](auto operation) {
    constexpr ScanOperation kOperation = operation();
    return VisitElementType(plan.array.element_type, [](auto tag) -> uint64_t {
      using Operator = ScanOperator<typename decltype(tag)::type, kOperation>;
      return sizeof(GroupedValue<typename Operator::Value>);
    });
  });
}

}  // namespace

uint64_t LookBackScratchBytes(uint64_t element_count, bool has_segments) {
  const LookBackSizes sizes(element_count);
  return ScratchBytes(sizes.words() * sizeof(uint32_t)) +
         ScratchBytes(sizes.slots() * sizeof(GroupedSlot)) +
         ScanHeadsScratchBytes(element_count, has_segments);
}

absl::Status LaunchLookBackScan(const ScanPlan& plan, const ScanArguments& arguments,
                                const uint64_t* offsets, const DeviceScanCarry& carry,
                                Scratch& scratch, const DeviceProperties& properties,
                                cudaStream_t stream) {
  const LookBackSizes sizes(plan.array.element_count);
  absl::StatusOr<LookBackMemory> memory = PrepareLookBack(sizes, scratch, stream);
  if (!memory.ok()) return memory.status();
  const absl::StatusOr<ScanHeads> heads =
      PlaceScanHeads(plan, offsets, carry.continues, scratch, properties, stream);
  if (!heads.ok()) return heads.status();
  auto* const carries = static_cast<std::byte*>(memory->block_carries);
  const uint64_t carry_bytes = CarryBytes(plan);
  if (carry.continues) {
    memory->has_carry = true;
    GRIDFOLD_RETURN_IF_CUDA_ERROR(
        cudaMemcpyAsync(carries, carry.value, carry_bytes, cudaMemcpyDeviceToDevice, stream));
  }
  // Blocks take tiles until there are none left; more than are resident at once do no harm.
  LaunchShape shape =
      GridStrideShape(uint64_t{memory->tile_count} * kScanThreads, kScanThreads, properties);
  shape.shared_bytes = ScanTileSharedBytes(plan);
  const LookBackScanKernel kernel = VisitScanOperation(plan.operation, [&](auto operation) {
    return FindLookBackScanKernel<operation()>(plan.array.element_type);
  });
  absl::Status status = Launch(kernel, shape, stream, arguments, *heads, *memory);
  const bool leaves_carry = plan.array.element_count % kScanCarryElements == 0;
  if (!status.ok() || carry.value == nullptr || !leaves_carry) return status;
  GRIDFOLD_RETURN_IF_CUDA_ERROR(cudaMemcpyAsync(carry.value, carries + sizes.blocks * carry_bytes,
                                                carry_bytes, cudaMemcpyDeviceToDevice, stream));
  return absl::OkStatus();
}

}  // namespace gridfold::kernels::cuda
