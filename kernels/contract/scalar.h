// One number or truth value of a request, and what it is as a value or an element of some type.
#ifndef GRIDFOLD_KERNELS_CONTRACT_SCALAR_H_
#define GRIDFOLD_KERNELS_CONTRACT_SCALAR_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <variant>

#include "kernels/types/element_type.h"
#include "kernels/types/statistic.h"

namespace gridfold::kernels {

using Scalar = std::variant<int64_t, uint64_t, double, bool>;

// The 8 bytes of a value of that kind; nothing where the kind does not hold the scalar exactly.
std::optional<uint64_t> SlotOf(const Scalar& scalar, ValueKind kind);

// The bytes of an element of that type, of which the first ElementSize(type) count. Integers hold
// what they hold exactly; floating-point types round to the nearest, ties to even. Nothing for a
// number outside the type.
std::optional<std::array<std::byte, 8>> ElementOf(const Scalar& scalar, ElementType type);

}  // namespace gridfold::kernels

#endif  // GRIDFOLD_KERNELS_CONTRACT_SCALAR_H_
