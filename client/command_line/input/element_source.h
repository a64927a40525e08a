// The elements of an array, read one after the other, whatever format they come from.
#ifndef GRIDFOLD_CLIENT_COMMAND_LINE_INPUT_ELEMENT_SOURCE_H_
#define GRIDFOLD_CLIENT_COMMAND_LINE_INPUT_ELEMENT_SOURCE_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "absl/status/statusor.h"
#include "client/command_line/input/file.h"
#include "gridfold/element_type.h"

namespace gridfold::client {

// Elements of one type in row-major order and little-endian. Errors do not name the file.
class ElementSource {
 public:
  virtual ~ElementSource() = default;

  virtual ElementType element_type() const = 0;

  // The array's shape, of any number of dimensions, where the format says it before the elements.
  virtual std::optional<std::vector<uint64_t>> shape() const { return std::nullopt; }

  // Fills `buffer` with as many elements as there is room for, which must be one at least; returns
  // their bytes. Fewer than there is room for only at the end.
  virtual absl::StatusOr<size_t> Read(std::span<char> buffer) = 0;

  // All elements, before any is read, where they lie in a file as Read would give them; nothing
  // where they do not.
  virtual std::shared_ptr<const FileMapping> Map() const { return nullptr; }

  // Of the elements that were read: how many stand for no value, and are NaN.
  virtual uint64_t missing_count() const { return 0; }
};

}  // namespace gridfold::client

#endif  // GRIDFOLD_CLIENT_COMMAND_LINE_INPUT_ELEMENT_SOURCE_H_
