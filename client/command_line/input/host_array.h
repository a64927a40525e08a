// An array in memory, as it was read from a file.
#ifndef GRIDFOLD_CLIENT_COMMAND_LINE_INPUT_HOST_ARRAY_H_
#define GRIDFOLD_CLIENT_COMMAND_LINE_INPUT_HOST_ARRAY_H_

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "gridfold/array_view.h"

namespace gridfold::client {

// Owns its bytes. The product of the extents of `shape` is the number of elements.
struct HostArray {
  ElementType element_type = ElementType::kFloat64;
  std::vector<uint64_t> shape = {};
  std::string bytes = {};
  uint64_t missing_count = 0;  // Elements that are NaN because the file has no value for them.

  uint64_t element_count() const { return bytes.size() / ElementSizeBytes(element_type); }

  ArrayView view() const {
    const ArrayView elements(element_type, bytes.data(), element_count());
    return shape.size() == 1 ? elements : elements.WithShape(shape);
  }
};

}  // namespace gridfold::client

#endif  // GRIDFOLD_CLIENT_COMMAND_LINE_INPUT_HOST_ARRAY_H_
