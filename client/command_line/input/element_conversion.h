// Elements of one type as the same numbers of another.
#ifndef GRIDFOLD_CLIENT_COMMAND_LINE_INPUT_ELEMENT_CONVERSION_H_
#define GRIDFOLD_CLIENT_COMMAND_LINE_INPUT_ELEMENT_CONVERSION_H_

#include <memory>
#include <string>

#include "client/command_line/input/element_source.h"
#include "gridfold/element_type.h"

namespace gridfold::client {

// The smallest type that holds all numbers of both; where there is none, as for float64 and int64
// or for int64 and uint64, the one that holds most of them.
ElementType CommonType(ElementType first, ElementType second);

// `elements` as the same numbers of `type`. Reading: INVALID_ARGUMENT names the first element that
// is not exact in it, and says `why` it was to be so.
std::unique_ptr<ElementSource> ConvertedTo(ElementType type,
                                           std::unique_ptr<ElementSource> elements,
                                           std::string why);

}  // namespace gridfold::client

#endif  // GRIDFOLD_CLIENT_COMMAND_LINE_INPUT_ELEMENT_CONVERSION_H_
