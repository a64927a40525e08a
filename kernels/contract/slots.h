// Memory for the values of an answer.
#ifndef GRIDFOLD_KERNELS_CONTRACT_SLOTS_H_
#define GRIDFOLD_KERNELS_CONTRACT_SLOTS_H_

#include <cstdint>
#include <vector>

namespace gridfold::kernels {

// So many slots, all 0; many of them on huge pages, where the system has some. To map a page of 4
// KiB takes several times as long as to write one.
std::vector<uint64_t> EmptySlots(uint64_t count);

}  // namespace gridfold::kernels

#endif  // GRIDFOLD_KERNELS_CONTRACT_SLOTS_H_
