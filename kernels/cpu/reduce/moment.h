// Which numbers a sum is made of.
#ifndef GRIDFOLD_KERNELS_CPU_REDUCE_MOMENT_H_
#define GRIDFOLD_KERNELS_CPU_REDUCE_MOMENT_H_

#include <cstdint>

namespace gridfold::kernels::cpu {

enum class Moment : uint8_t { kSum, kSquares, kMagnitudes };

// Sums by lanes of elements of type S: of integers in moment_lanes.h, of floating-point numbers in
// exact_lanes.h.
template <class S, Moment kMoment>
class MomentLanes;

}  // namespace gridfold::kernels::cpu

#endif  // GRIDFOLD_KERNELS_CPU_REDUCE_MOMENT_H_
