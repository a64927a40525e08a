// Elements of narrow floating-point types as float64 numbers that are short to write.
#ifndef GRIDFOLD_CLIENT_COMMAND_LINE_OUTPUT_SHORTEST_REAL_H_
#define GRIDFOLD_CLIENT_COMMAND_LINE_OUTPUT_SHORTEST_REAL_H_

#include "gridfold/element_type.h"

namespace gridfold::client {

// The float64 of the decimal number with the fewest digits that, rounded to the element's type, is
// the element: 0.1 of the float32 0.100000001490116. An infinity and a NaN stay what they are, and
// so does every float64.
double ShortestReal(Float16 element);
double ShortestReal(Bfloat16 element);
double ShortestReal(float element);
double ShortestReal(double element);

}  // namespace gridfold::client

#endif  // GRIDFOLD_CLIENT_COMMAND_LINE_OUTPUT_SHORTEST_REAL_H_
