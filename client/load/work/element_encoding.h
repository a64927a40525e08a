// Numbers as the elements of any type, rounded once. Written without the server's arithmetic, which
// it checks.
#ifndef GRIDFOLD_CLIENT_LOAD_WORK_ELEMENT_ENCODING_H_
#define GRIDFOLD_CLIENT_LOAD_WORK_ELEMENT_ENCODING_H_

#include <cstdint>
#include <span>
#include <string>

#include "gridfold/element_type.h"

namespace gridfold::load {

// To the nearest, ties to even; beyond the largest number infinity. For 0 and numbers of at least
// 1, which are normal in either format.
uint16_t ToFloat16Bits(double value);
uint16_t ToBfloat16Bits(double value);

// A number as one of a floating-point type, whichever it is: to the nearest, ties to even; beyond
// the largest number an infinity.
double RoundedToType(client::ElementType type, double value);

// The elements as they lie in memory. Integer types must hold the values; floating-point types
// round them.
std::string EncodeElements(client::ElementType type, std::span<const int32_t> values);
std::string EncodeElements(client::ElementType type, std::span<const int64_t> values);

}  // namespace gridfold::load

#endif  // GRIDFOLD_CLIENT_LOAD_WORK_ELEMENT_ENCODING_H_
