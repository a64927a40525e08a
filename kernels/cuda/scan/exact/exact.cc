#include "kernels/cuda/scan/exact/exact.h"

#include <algorithm>
#include <cstddef>

#include "kernels/cuda/device/grid.h"
#include "kernels/cuda/device/status.h"
#include "kernels/cuda/device/zeroed_memory.h"
#include "kernels/cuda/scan/base/heads.h"
#include "kernels/cuda/scan/exact/kernels.h"

namespace gridfold::kernels::cuda {

namespace {

constexpr uint64_t kWarpThreads = 32;

// The states of a link wait for each other, and so do the links of a chain: the square root of the
// 2^16 tiles of 2^28 elements.
constexpr uint64_t kLinkLength = 256;

uint64_t StateBytes(ElementType type) {
  return VisitFloatingType(
      type, [](auto tag) { return uint64_t{sizeof(ExactState<typename decltype(tag)::type>)}; });
}

bool IsByColumns(const ScanPlan& plan) { return plan.grouping.kind == GroupingKind::kAxis0; }

// States of a chain in a row that stand for no tile: first what precedes the elements, last one
// that takes what precedes those that follow.
constexpr uint64_t kCarryStates = 2;

// The states of a plan, and of their links.
struct ExactSizes {
  uint64_t chain_count;
  uint64_t length;

  static ExactSizes InRow(uint64_t element_count) {
    return {1, CeilDivide(element_count, kScanTileSize) + kCarryStates};
  }
  static ExactSizes ByColumns(uint64_t rows, uint64_t columns) {
    return {columns, CeilDivide(rows, kExactChunkRows)};
  }
  static ExactSizes Of(const ScanPlan& plan) {
    return IsByColumns(plan) ? ByColumns(plan.grouping.group_size, plan.grouping.group_count)
                             : InRow(plan.array.element_count);
  }

  // A chunk that no other follows needs no state; a tile has its span in it.
  uint64_t states(bool by_columns) const {
    return by_columns && length <= 1 ? 0 : chain_count * length;
  }
  uint64_t link_count() const { return CeilDivide(length, kLinkLength); }
  uint64_t links() const { return link_count() > 1 ? chain_count * link_count() : 0; }

  uint64_t ScratchBytesOf(ElementType type, bool by_columns) const {
    return ScratchBytes(states(by_columns) * StateBytes(type)) +
           ScratchBytes(links() * StateBytes(type));
  }
};

ExactScanKernels KernelsOf(ElementType type) {
  return VisitFloatingType(
      type, [](auto tag) { return FindExactScanKernels<typename decltype(tag)::type>(); });
}

// What the steps of one scan have in common.
class ExactScanLaunch {
 public:
  ExactScanLaunch(const ScanPlan& plan, const ScanArguments& arguments,
                  const DeviceProperties& properties, cudaStream_t stream)
      : plan_(plan),
        arguments_(arguments),
        properties_(properties),
        stream_(stream),
        kernels_(KernelsOf(plan.array.element_type)),
        sizes_(ExactSizes::Of(plan)) {}

  absl::Status InRow(const uint64_t* offsets, const DeviceScanCarry& carry, Scratch& scratch) {
    const auto heads = PrepareRow(offsets, carry.continues, scratch);
    if (!heads.ok()) return heads.status();
    if (carry.continues) {
      GRIDFOLD_RETURN_IF_CUDA_ERROR(cudaMemcpyAsync(FirstState(), carry.value, StateSize(),
                                                    cudaMemcpyDeviceToDevice, stream_));
    }
    absl::Status status = LaunchTiles(kernels_.tile_totals, *heads);
    if (status.ok()) status = CarryOver();
    if (status.ok()) status = LaunchTiles(kernels_.tile_results, *heads);
    if (!status.ok() || carry.value == nullptr) return status;
    GRIDFOLD_RETURN_IF_CUDA_ERROR(
        cudaMemcpyAsync(carry.value, LastState(), StateSize(), cudaMemcpyDeviceToDevice, stream_));
    return absl::OkStatus();
  }

  absl::StatusOr<DeviceTotals> Total(Scratch& scratch) {
    const auto heads = PrepareRow(nullptr, true, scratch);
    if (!heads.ok()) return heads.status();
    absl::Status status = LaunchTiles(kernels_.tile_totals, *heads);
    if (status.ok()) status = CarryOver();
    if (!status.ok()) return status;
    return DeviceTotals{LastState(), StateSize()};
  }

  absl::Status ByColumns(Scratch& scratch) {
    if (absl::Status status = TakeStates(scratch); !status.ok()) return status;
    const ExactChunks chunks{.rows = plan_.grouping.group_size,
                             .columns = sizes_.chain_count,
                             .chunk_count = sizes_.length,
                             .states = chains_.states};
    const auto launch = [&](ExactChunkKernel kernel) {
      const uint64_t threads = chunks.chunk_count * chunks.columns;
      return Launch(kernel, GridStrideShape(threads, kExactChunkThreads, properties_), stream_,
                    arguments_, chunks);
    };
    absl::Status status = absl::OkStatus();
    if (sizes_.length > 1) {
      status = launch(kernels_.chunk_totals);
      if (status.ok()) status = CarryOver();
    }
    if (status.ok()) status = launch(kernels_.chunk_results);
    return status;
  }

 private:
  uint64_t StateSize() const { return StateBytes(plan_.array.element_type); }

  // Of a chain in a row: what precedes the elements, and what precedes those that follow.
  std::byte* FirstState() const { return static_cast<std::byte*>(chains_.states); }
  std::byte* LastState() const { return FirstState() + (sizes_.length - 1) * StateSize(); }

  // Takes the memory for a scan in a row, whose first group may have begun before.
  absl::StatusOr<ScanHeads> PrepareRow(const uint64_t* offsets, bool continues, Scratch& scratch) {
    if (absl::Status status = TakeStates(scratch); !status.ok()) return status;
    return PlaceScanHeads(plan_, offsets, continues, scratch, properties_, stream_);
  }

  absl::Status LaunchTiles(ExactTileKernel kernel, const ScanHeads& heads) {
    const ExactTiles tiles{sizes_.length - kCarryStates, FirstState() + StateSize()};
    LaunchShape shape = GridStrideShape(tiles.tile_count * kScanThreads, kScanThreads, properties_);
    shape.shared_bytes = ScanTileSharedBytes(plan_);
    return Launch(kernel, shape, stream_, arguments_, heads, tiles);
  }

  // States that are empty, and whose padding, which is copied with them, is 0.
  absl::Status TakeStates(Scratch& scratch) {
    const auto take = [&](uint64_t count, void*& memory) -> absl::Status {
      if (count == 0) return absl::OkStatus();
      const auto bytes = AllocateZeroed<std::byte>(scratch, count * StateSize(), stream_);
      if (!bytes.ok()) return bytes.status();
      memory = *bytes;
      return absl::OkStatus();
    };
    chains_ = {
        .chain_count = sizes_.chain_count, .length = sizes_.length, .link_length = kLinkLength};
    absl::Status status = take(sizes_.states(IsByColumns(plan_)), chains_.states);
    if (status.ok()) status = take(sizes_.links(), chains_.links);
    return status;
  }

  // Turns the states' totals into carries: link by link, once the links' own carries are known.
  absl::Status CarryOver() {
    if (chains_.links != nullptr) {
      const ExactChains links{.chain_count = chains_.chain_count,
                              .length = sizes_.link_count(),
                              .link_length = sizes_.link_count(),
                              .states = chains_.links};
      absl::Status status = LaunchCarry(kernels_.link_totals, chains_);
      if (status.ok()) status = LaunchCarry(kernels_.carries, links);
      if (!status.ok()) return status;
    }
    return LaunchCarry(kernels_.carries, chains_);
  }

  absl::Status LaunchCarry(ExactCarryKernel kernel, const ExactChains& chains) {
    const uint64_t warps = chains.chain_count * CeilDivide(chains.length, chains.link_length);
    return Launch(kernel, GridStrideShape(warps * kWarpThreads, kExactCarryThreads, properties_),
                  stream_, chains);
  }

  const ScanPlan& plan_;
  const ScanArguments& arguments_;
  const DeviceProperties& properties_;
  const cudaStream_t stream_;
  const ExactScanKernels kernels_;
  const ExactSizes sizes_;
  ExactChains chains_;
};

}  // namespace

uint64_t ExactScanPasses(const ScanPlan& plan) {
  return IsByColumns(plan) && ExactSizes::Of(plan).length <= 1 ? 1 : 2;
}

uint64_t ExactScanScratchBytes(const ScanPlan& plan) {
  const bool has_segments = plan.grouping.kind == GroupingKind::kSegments;
  return ExactSizes::Of(plan).ScratchBytesOf(plan.array.element_type, IsByColumns(plan)) +
         ScanHeadsScratchBytes(plan.array.element_count, has_segments);
}

uint64_t ExactScanScratchBytesMax(uint64_t input_bytes) {
  uint64_t most = 0;
  for (const ElementType type : {ElementType::kFloat16, ElementType::kBfloat16,
                                 ElementType::kFloat32, ElementType::kFloat64}) {
    const uint64_t count = input_bytes / ElementSize(type);
    const uint64_t in_row =
        ExactSizes::InRow(count).ScratchBytesOf(type, false) + ScanHeadsScratchBytes(count, true);
    // Columns one row longer than a chunk have the most chunks for their elements: one more chunk
    // for each of them than the elements fill. Those with links have 1 / kLinkLength more.
    const uint64_t chunks = count / kExactChunkRows + CeilDivide(count, kExactChunkRows + 1) + 1;
    const uint64_t links = chunks / kLinkLength * 2 + 2;
    const uint64_t by_columns =
        ScratchBytes(chunks * StateBytes(type)) + ScratchBytes(links * StateBytes(type));
    most = std::max({most, in_row, by_columns});
  }
  return most;
}

absl::Status LaunchExactScan(const ScanPlan& plan, const ScanArguments& arguments,
                             const uint64_t* offsets, const DeviceScanCarry& carry,
                             Scratch& scratch, const DeviceProperties& properties,
                             cudaStream_t stream) {
  ExactScanLaunch launch(plan, arguments, properties, stream);
  return IsByColumns(plan) ? launch.ByColumns(scratch) : launch.InRow(offsets, carry, scratch);
}

absl::StatusOr<DeviceTotals> LaunchExactTotal(const ScanPlan& plan, const ScanArguments& arguments,
                                              Scratch& scratch, const DeviceProperties& properties,
                                              cudaStream_t stream) {
  return ExactScanLaunch(plan, arguments, properties, stream).Total(scratch);
}

}  // namespace gridfold::kernels::cuda
