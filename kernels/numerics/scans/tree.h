// The fixed tree of scans: which values are joined with which, in which order. Both engines follow
// it, so floating-point scans have the same bits on both, in every run, with any number of threads.
//
// Positions are logical: 0 is where the scan starts, so a reverse scan's position p is element
// n - 1 - p. `+` below stands for the operator's Combine, or CombineGrouped where the array has
// more than one group; what is missing counts as the identity, which changes no bits.
//
// Whole arrays, rows (axis 1) and segments, and axis 0 of a single column: one scan over all
// positions, in which a group's first position starts afresh.
//   run       kScanItems consecutive positions; running values r(k) = r(k-1) + x(k) in order
//   warp      kScanLanes runs; their last running values are scanned by the doubling network
//             (Hillis, Steele 1986): for d = 1, 2, 4, 8, 16: v(l) = v(l-d) + v(l) for l >= d
//   tile      kScanWarps warps, their totals joined from left to right, w(i) = w(i-1) + total(i-1)
//             with w(0) = the identity
//   base      of run l in warp i: carry(tile) + (w(i) + v(l-1)), with v(-1) the identity
//   result    inclusive: base + r(k); exclusive: base + r(k-1), base itself for the first of a run.
//             Where a group starts in the run at or before k, base is left out.
//   total     of a tile: w(kScanWarps - 1) + total(kScanWarps - 1)
//   carry     of tile t in block b = t / kScanTilesPerBlock: block(b) + u(j - 1), where j is
//             t's place in its block, u the doubling network over the totals of the block's
//             tiles (the network has kScanTilesPerBlock lanes), u(-1) the identity; block(0) is the
//             identity and block(b + 1) = block(b) + u(kScanTilesPerBlock - 1)
//
// Axis 0 of several columns: each is a scan of its own over the logical rows, by a tree of the same
// kind. Columns that are few have more rows in a tile, so that tiles of any matrix have about as
// many elements.
//   run       kScanColumnItems consecutive rows; running values r(k) = r(k-1) + x(k) in order
//   warp      ScanColumnRuns(columns) runs; their last running values by the doubling network
//   tile      kScanColumnWarps warps, their totals joined from left to right, as above
//   base, result, total: as above, with ScanColumnRuns(columns) - 1 for the last run of a warp
//   carry     of tile t in block b = t / kScanTilesPerBlock: block(b) + u(j - 1), where j is t's
//             place in its block, u(j) = u(j - 1) + total(tile j of the block), u(-1) the identity;
//             block(0) is the identity and block(b + 1) = block(b) + u(kScanTilesPerBlock - 1)
//
// An exclusive scan gives EmptyResult() at a group's first position.
//
// The error of floating-point sums. Each result is a tree of rounded additions over the elements
// x_0 ... x_p of its group, so it is the sum of x_i * (1 + e_1) ... (1 + e_k) with one |e| <= 2^-53
// for each addition on the way from x_i to the result (Higham 2002, "Accuracy and Stability of
// Numerical Algorithms", 4.2); those that overflow are made without an upper bound
// (numerics/arithmetic/unbounded_sum.h). With at most d additions on any way the result is off by
// at most
// ((1 + 2^-53)^d - 1) * sum|x_i| <= d * 2^-53 / (1 - d * 2^-53) * sum|x_i|. It remains to count
// them; joining the identity rounds nothing and does not count.
//   - d <= p: each addition on a way joins elements that the way has not met, of which there are p.
//     One after the other, x_0 passes through all p: no order of float64 additions has less in the
//     bound than one that is sequential, and this one has no more.
//   - In a row: at most 15 additions in the run, 5 in the warp's network, 7 over the warps and 5 in
//     the network of the block of tiles, m - 1 over the m blocks that begin after x_0 and up to
//     x_p, then 1 each for carry(tile), base and result; elements of the result's own block pass no
//     m - 1. So d <= 35 + p / 131072, since m <= 1 + p / 131072.
//   - Axis 0 of several columns: at most 63 in the run, 5 in the warp's network, 3 over the warps,
//     31 over the tiles of a block, m - 1 and 3 as in a row. A block has 8192 rows or more, so
//     d <= 105 + p / 8192.
#ifndef GRIDFOLD_KERNELS_NUMERICS_SCANS_TREE_H_
#define GRIDFOLD_KERNELS_NUMERICS_SCANS_TREE_H_

#include <cstdint>

#include "kernels/types/scan_operation.h"

namespace gridfold::kernels {

inline constexpr int kScanItems = 16;
inline constexpr int kScanLanes = 32;
inline constexpr int kScanWarps = 8;
inline constexpr int kScanTileSize = kScanItems * kScanLanes * kScanWarps;
inline constexpr int kScanTilesPerBlock = 32;

inline constexpr int kScanColumnItems = 64;
inline constexpr int kScanColumnWarps = 4;

// Runs of a warp in each column: the greatest power of two for which those of all columns are no
// more than its lanes, or 1. Requires columns > 1.
constexpr int ScanColumnRuns(uint64_t columns) {
  int runs = 1;
  while (2 * runs * columns <= kScanLanes) runs *= 2;
  return runs;
}
constexpr uint64_t ScanColumnTileRows(uint64_t columns) {
  return uint64_t{kScanColumnItems} * ScanColumnRuns(columns) * kScanColumnWarps;
}

static_assert(kScanTileSize * kScanTilesPerBlock == kScanCarryElements,
              "a carry is that into a block of tiles");
static_assert(kScanTilesPerBlock == kScanLanes, "one warp looks back over one block of tiles");

}  // namespace gridfold::kernels

#endif  // GRIDFOLD_KERNELS_NUMERICS_SCANS_TREE_H_
