// The fixed tree of scans: which values are joined with which, in which order. Both engines follow
// it, so floating-point scans have the same bits on both, in every run, with any number of threads.
//
// Positions are logical: 0 is where the scan starts, so a reverse scan's position p is element
// n - 1 - p. `+` below stands for the operator's Combine, or CombineGrouped where the array has
// more than one group; what is missing counts as the identity, which changes no bits.
//
// Whole arrays, rows (axis 1) and segments: one scan over all positions, in which a group's first
// position starts afresh.
//   run       kScanItems consecutive positions; running values r(k) = r(k-1) + x(k) in order
//   warp      kScanLanes runs; their last running values are scanned by the doubling network
//             (Hillis, Steele 1986): for d = 1, 2, 4, 8, 16: v(l) = v(l-d) + v(l) for l >= d
//   tile      kScanWarps warps, their totals joined from left to right, w(i) = w(i-1) + total(i-1)
//             with w(0) = the identity
//   base      of run l in warp i: carry(tile) + (w(i) + v(l-1)), with v(-1) the identity
//   result    inclusive: base + r(k); exclusive: base + r(k-1), base itself for the first of a run.
//             Where a group starts in the run at or before k, base is left out.
//   total     of a tile: w(kScanWarps - 1) + total(kScanWarps - 1)
//   carry     of tile t in block b = t / kScanTilesPerBlock: block(b) + u(j - 1), where j is t's
//   place
//             in its block, u the doubling network over the totals of the block's tiles (the
//             network has kScanTilesPerBlock lanes), u(-1) the identity; block(0) is the identity
//             and block(b + 1) = block(b) + u(kScanTilesPerBlock - 1)
//
// Axis 0: each column is a scan of its own over the logical rows.
//   chunk     kScanChunkRows consecutive rows; running values r(k) = r(k-1) + x(k)
//   carry     carry(0) = the identity, carry(c + 1) = carry(c) + (last running value of chunk c)
//   result    inclusive: carry + r(k); exclusive: carry + r(k-1), carry itself for a chunk's first
//   row
//
// An exclusive scan gives EmptyResult() at a group's first position.
#ifndef GRIDFOLD_KERNELS_NUMERICS_SCAN_TREE_H_
#define GRIDFOLD_KERNELS_NUMERICS_SCAN_TREE_H_

#include <cstdint>

namespace gridfold::kernels {

inline constexpr int kScanItems = 16;
inline constexpr int kScanLanes = 32;
inline constexpr int kScanWarps = 8;
inline constexpr int kScanTileSize = kScanItems * kScanLanes * kScanWarps;
inline constexpr int kScanTilesPerBlock = 32;
inline constexpr int kScanChunkRows = 256;

static_assert(kScanTilesPerBlock == kScanLanes, "one warp looks back over one block of tiles");

}  // namespace gridfold::kernels

#endif  // GRIDFOLD_KERNELS_NUMERICS_SCAN_TREE_H_
