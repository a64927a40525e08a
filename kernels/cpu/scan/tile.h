// What scans of one tile are given.
#ifndef GRIDFOLD_KERNELS_CPU_SCAN_TILE_H_
#define GRIDFOLD_KERNELS_CPU_SCAN_TILE_H_

#include <cstdint>
#include <cstring>

#include "kernels/numerics/scans/tree.h"

namespace gridfold::kernels::cpu {

// Elements of a tile in logical order. `heads` says where groups start; used by grouped scans only.
template <class T>
struct LogicalTile {
  const T* elements;
  const bool* heads;
  int count;
};

// How results are written.
struct ScanRules {
  bool exclusive = false;
  bool ignore_nan = false;
  bool wrap = false;
  // Past the caches (base/streaming_store.h): all tiles of sums of integers, whole ones of other
  // scans. Results are aligned to what that needs.
  bool stream = false;
  uint64_t mirror_bits = 0;  // Of numerics/scans/operator.h.
};

// Whether no group starts in the tile.
template <bool kGrouped, class T>
bool HasNoHead(const LogicalTile<T>& tile) {
  return !kGrouped || std::memchr(tile.heads, true, tile.count) == nullptr;
}

// The last place of a tile at which a group starts; -1 where there is none.
template <bool kGrouped, class T>
int LastHead(const LogicalTile<T>& tile) {
  if (HasNoHead<kGrouped>(tile)) return -1;
  int i = tile.count - 1;
  while (!tile.heads[i]) --i;
  return i;
}

// Whether the tile has all elements that a tile can have, and no group starts in it.
template <bool kGrouped, class T>
bool IsWholeTile(const LogicalTile<T>& tile) {
  return tile.count == kScanTileSize && HasNoHead<kGrouped>(tile);
}

}  // namespace gridfold::kernels::cpu

#endif  // GRIDFOLD_KERNELS_CPU_SCAN_TILE_H_
