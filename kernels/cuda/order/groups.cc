#include <algorithm>
#include <bit>

#include "kernels/cuda/device/grid.h"
#include "kernels/cuda/device/launch.h"
#include "kernels/cuda/order/launchers.h"

namespace gridfold::kernels::cuda {

namespace {

// Blocks that share the groups: enough to keep all multiprocessors busy to the end.
constexpr uint64_t kBlocksPerMultiprocessor = 64;

constexpr uint32_t kWarpTeams = kWarpTeamThreads / 32;  // Of a block.

uint32_t GroupBlocks(uint64_t group_count, uint32_t teams, const DeviceProperties& properties) {
  return GridStrideBlocks(
      group_count, teams,
      static_cast<uint64_t>(properties.multiprocessor_count) * kBlocksPerMultiprocessor);
}

struct TeamShape {
  uint32_t teams = 1;          // Of a block.
  uint32_t buffered_keys = 0;  // Of a team.
  LaunchShape launch;
};

// `team_bytes` are those of a team's shared memory beside tables and keys.
TeamShape ShapeOf(ElementType type, uint64_t group_count, uint64_t largest, bool by_warps,
                  uint64_t team_bytes, const DeviceProperties& properties) {
  TeamShape shape;
  const uint32_t threads = by_warps ? kWarpTeamThreads : kOrderBlockThreads;
  shape.teams = by_warps ? kWarpTeams : 1;
  const uint64_t fixed = shape.teams * (TeamTablesBytes(by_warps) + team_bytes);
  const uint64_t room = static_cast<uint64_t>(properties.shared_bytes_per_block_max) - fixed;
  const uint64_t keys = std::min(RoundUp(largest, 16), room / (shape.teams * ElementSize(type)));
  shape.buffered_keys = static_cast<uint32_t>(keys / 16 * 16);
  shape.launch.shared_bytes = fixed + shape.teams * shape.buffered_keys * ElementSize(type);
  shape.launch.block = dim3(threads);
  shape.launch.grid = dim3(GroupBlocks(group_count, shape.teams, properties));
  return shape;
}

}  // namespace

absl::Status LaunchGroupQuantiles(ElementType type, QuantileArguments arguments, uint64_t largest,
                                  const DeviceProperties& properties, cudaStream_t stream) {
  if (largest <= kWarpGroupMax) {
    const LaunchShape rows{
        .grid = dim3(GroupBlocks(arguments.groups.group_count, kWarpTeams, properties)),
        .block = dim3(kWarpTeamThreads)};
    return Launch(FindRowQuantileKernel(type, largest), rows, stream, arguments);
  }
  const TeamShape shape =
      ShapeOf(type, arguments.groups.group_count, largest, /*by_warps=*/false, 0, properties);
  arguments.buffered_keys = shape.buffered_keys;
  return Launch(FindQuantileKernel(type), shape.launch, stream, arguments);
}

absl::Status LaunchGroupTop(ElementType type, TopArguments arguments, uint64_t largest,
                            const DeviceProperties& properties, cudaStream_t stream) {
  arguments.sorted_room =
      arguments.is_sorted
          ? std::bit_ceil(static_cast<uint32_t>(std::max<uint64_t>(arguments.count, 2)))
          : 0;
  const bool by_warps = largest <= kWarpGroupMax && arguments.count <= kWarpSelectedMax;
  const TeamShape shape = ShapeOf(type, arguments.groups.group_count, largest, by_warps,
                                  2 * arguments.sorted_room * sizeof(uint64_t), properties);
  arguments.buffered_keys = shape.buffered_keys;
  return Launch(FindTopKernel(type, by_warps), shape.launch, stream, arguments);
}

}  // namespace gridfold::kernels::cuda
