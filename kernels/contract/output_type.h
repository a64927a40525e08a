// The floating-point type that the values of reductions are answered in. Engines hand out float64,
// and a value of another type is made of that one, here and nowhere else, so that it does not
// depend on the engine. Pure functions; thread-safe.
#ifndef GRIDFOLD_KERNELS_CONTRACT_OUTPUT_TYPE_H_
#define GRIDFOLD_KERNELS_CONTRACT_OUTPUT_TYPE_H_

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "kernels/types/element_type.h"
#include "kernels/types/statistic.h"

namespace gridfold::kernels {

// Whether values of these statistics can be answered in `output_type`. INVALID_ARGUMENT that names
// "output_type" where it is no floating-point type, or where none of the statistics, of elements of
// `element_type`, has values of ValueKind::kDouble.
absl::Status CheckOutputType(ElementType output_type, const std::vector<Statistic>& statistics,
                             ElementType element_type);

// Values of ValueKind::kDouble, given as their slots, as elements of `output_type`, which must be
// floating-point: each rounded to the nearest, ties to even. A finite one past the type's largest
// becomes infinite, a NaN stays one, and a zero keeps its sign.
std::string RoundSlots(std::span<const uint64_t> slots, ElementType output_type);

}  // namespace gridfold::kernels

#endif  // GRIDFOLD_KERNELS_CONTRACT_OUTPUT_TYPE_H_
