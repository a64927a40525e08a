// Where groups start, in the logical order of a scan.
#ifndef GRIDFOLD_KERNELS_CPU_SCAN_HEADS_H_
#define GRIDFOLD_KERNELS_CPU_SCAN_HEADS_H_

#include <cstdint>

#include "kernels/contract/scan.h"

namespace gridfold::kernels::cpu {

// Sets heads[i] to whether a group starts at the logical position begin + i, for i in [0, count).
// The plan's grouping is not kAxis0.
void MarkGroupHeads(const ScanPlan& plan, uint64_t begin, uint64_t count, bool* heads);

}  // namespace gridfold::kernels::cpu

#endif  // GRIDFOLD_KERNELS_CPU_SCAN_HEADS_H_
