#include "kernels/cpu/rearrange/rearrange.h"

#include <algorithm>
#include <cstddef>
#include <cstring>

namespace gridfold::kernels::cpu {

namespace {

// Tiles that a worker copies at a time: some 512 KiB, so that asking for more takes no time.
constexpr uint64_t kTilesTogether = 16;

// Copies the tile's runs in the order of the result, where writes are consecutive. Single units,
// whose size the compiler knows, are moves. `from` is where the result's first element is.
template <uint64_t kUnitBytes>
void CopyTile(const RearrangementTiles& tiles, const RearrangementTile& tile, const std::byte* from,
              std::byte* to) {
  constexpr auto kUnit = static_cast<int64_t>(kUnitBytes);
  const size_t inner = tiles.keeps_neighbours() ? 1 : 0;
  const Rearrangement::Dimension& across = tiles.order.dimensions[inner];
  const Rearrangement::Dimension& along = tiles.order.dimensions[1 - inner];
  for (int64_t y = 0; y < tile.extents[1 - inner]; ++y) {
    const std::byte* source = from + (tile.from + y * along.from_stride) * kUnit;
    std::byte* target = to + (tile.to + y * along.to_stride) * kUnit;
    const int64_t source_step = across.from_stride * kUnit;
    const int64_t target_step = across.to_stride * kUnit;
    for (uint32_t x = 0; x < tile.extents[inner]; ++x) {
      if (tile.run == 1) {  // Speed only: a copy whose size the compiler knows.
        std::memcpy(target, source, kUnitBytes);
      } else {
        std::memcpy(target, source, tile.run * kUnitBytes);
      }
      source += source_step;
      target += target_step;
    }
  }
}

using TileCopy = void (*)(const RearrangementTiles&, const RearrangementTile&, const std::byte*,
                          std::byte*);

TileCopy FindTileCopy(uint32_t unit_bytes) {
  switch (unit_bytes) {
    case 1: return CopyTile<1>;
    case 2: return CopyTile<2>;
    case 4: return CopyTile<4>;
    case 8: return CopyTile<8>;
  }
  return CopyTile<kRearrangementUnitBytesMax>;
}

}  // namespace

absl::Status RearrangeOnCpu(const Rearrangement& order, uint64_t element_bytes,
                            const HostSpan& from, const MutableHostSpan& to, JobContext& job) {
  job.statistics.strategy = "rearrange/tiles";
  job.statistics.bytes_read = to.size_bytes;
  const auto* const first = static_cast<const std::byte*>(FirstOf(order, element_bytes, from.data));
  const RearrangementTiles tiles = CutRearrangement(order, element_bytes, first, to.data);
  const TileCopy copy = FindTileCopy(tiles.unit_bytes);
  const uint64_t turns = (tiles.tile_count + kTilesTogether - 1) / kTilesTogether;
  return job.ForEach(turns, [&](uint64_t turn) {
    const uint64_t end = std::min(tiles.tile_count, (turn + 1) * kTilesTogether);
    for (uint64_t i = turn * kTilesTogether; i < end; ++i) {
      copy(tiles, TileAt(tiles, i), first, to.data);
    }
  });
}

}  // namespace gridfold::kernels::cpu
