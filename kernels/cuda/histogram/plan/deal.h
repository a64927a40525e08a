// The blocks that count a histogram are dealt out to the parts of its bins here. Plain C++, for
// device code too.
//
// All parts read the same samples, and find them in the L2 cache if none gets far ahead of another.
// So a part that takes longer than the others gets more blocks. Blocks that read the same samples
// are neighbours.
//
// Example: two parts of which the first is busy, in groups of eleven blocks:
//
//   blocks 0-5 count part 0, blocks 6-10 part 1, and all eleven read one range of samples
//   part 0 has six fifths of the blocks of part 1, and both are done at about one time
#ifndef GRIDFOLD_KERNELS_CUDA_HISTOGRAM_PLAN_DEAL_H_
#define GRIDFOLD_KERNELS_CUDA_HISTOGRAM_PLAN_DEAL_H_

#include <cstdint>

#include "kernels/cuda/histogram/plan/block.h"
#include "kernels/types/host_device.h"

namespace gridfold::kernels::cuda {

inline constexpr uint32_t kNoBusyPart = kHistogramPartsMax;

// The part that takes so much longer than the others that it should have more blocks. `weights`: of
// `sample_count` samples, in warps, those of each part that are not counted together with another
// of their warp.
GRIDFOLD_HD inline uint32_t BusyPartOf(const uint32_t* weights, uint32_t part_count,
                                       uint32_t sample_count) {
  // Every part reads and places a sample, which takes as long as this many that are counted.
  constexpr uint32_t kPlacingCost = 3;
  constexpr uint32_t kBusyPercentMin = 115;  // Of what other parts take. Both were measured.
  uint32_t busiest = 0;
  uint32_t total = 0;
  for (uint32_t p = 0; p < part_count; ++p) {
    total += weights[p];
    if (weights[p] > weights[busiest]) busiest = p;
  }
  const uint32_t other_count = part_count - 1;
  const uint32_t placing = kPlacingCost * sample_count;
  const uint32_t others = placing * other_count + (total - weights[busiest]);
  const bool is_busy = (placing + weights[busiest]) * other_count * 100 > others * kBusyPercentMin;
  return is_busy ? busiest : kNoBusyPart;
}

// Where a part is busy, blocks are dealt out in groups, which have one block more of it than of
// each other part: of those, at least and at most so many.
inline constexpr uint32_t kGroupBlocksMin = 5;
inline constexpr uint32_t kGroupBlocksMax = 8;

GRIDFOLD_HD constexpr uint32_t GroupSize(uint32_t part_count, uint32_t blocks_of_other) {
  return part_count * blocks_of_other + 1;
}

// The size of a group with which the fewest blocks are left over.
GRIDFOLD_HD constexpr uint32_t GroupBlocksOfOther(uint32_t block_count, uint32_t part_count) {
  uint32_t best = kGroupBlocksMin;
  for (uint32_t n = best + 1; n <= kGroupBlocksMax && GroupSize(part_count, n) <= block_count;
       ++n) {
    const bool is_better =
        block_count % GroupSize(part_count, n) < block_count % GroupSize(part_count, best);
    if (is_better) best = n;
  }
  return best;
}

// What a block does: its rank among the `block_count` blocks of its part, which share out the
// samples. Those that are left over have a part that is none.
struct DealtBlock {
  uint32_t part;
  uint32_t rank;
  uint32_t block_count;
};

// Requires as many blocks for all parts, if none is busy.
GRIDFOLD_HD constexpr DealtBlock DealBlock(uint32_t block, uint32_t block_count,
                                           uint32_t part_count, uint32_t busy_part) {
  if (busy_part == kNoBusyPart || block_count < GroupSize(part_count, kGroupBlocksMin)) {
    return {block % part_count, block / part_count, block_count / part_count};
  }
  const uint32_t of_other = GroupBlocksOfOther(block_count, part_count);
  const uint32_t group_size = GroupSize(part_count, of_other);
  const uint32_t group_count = block_count / group_size;
  const uint32_t group = block / group_size;
  const uint32_t place = block % group_size;
  if (group == group_count) return {part_count, 0, 1};
  const bool is_last = place + 1 == group_size;
  const uint32_t part = is_last ? busy_part : place % part_count;
  const uint32_t of_part = of_other + (part == busy_part ? 1 : 0);
  // The samples of a group are the same for all parts.
  return {part, group + group_count * (place / part_count), group_count * of_part};
}

}  // namespace gridfold::kernels::cuda

#endif  // GRIDFOLD_KERNELS_CUDA_HISTOGRAM_PLAN_DEAL_H_
