// The states of a reduction's groups as engines hand them out: what
// numerics/statistics/reduction_state.h keeps of the elements, before anything is rounded. They can
// be merged with those of other elements.
#ifndef GRIDFOLD_KERNELS_CONTRACT_REDUCTION_STATES_H_
#define GRIDFOLD_KERNELS_CONTRACT_REDUCTION_STATES_H_

#include <cstdint>
#include <variant>
#include <vector>

#include "kernels/numerics/statistics/reduction_state.h"

namespace gridfold::kernels {

template <class S>
using GroupStates = std::vector<FullState<S>>;

// One state for each group, of the compute type of the elements (numerics/arithmetic/element.h);
// only the parts that the plan's statistics need are filled, the others are identities. Indices
// count from the start of the group. Nothing where no states were asked for.
using ReductionStates =
    std::variant<std::monostate, GroupStates<int8_t>, GroupStates<int16_t>, GroupStates<int32_t>,
                 GroupStates<int64_t>, GroupStates<uint8_t>, GroupStates<uint16_t>,
                 GroupStates<uint32_t>, GroupStates<uint64_t>, GroupStates<float>,
                 GroupStates<double>>;

}  // namespace gridfold::kernels

#endif  // GRIDFOLD_KERNELS_CONTRACT_REDUCTION_STATES_H_
