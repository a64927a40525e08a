// Elements of .npy and raw files.
#ifndef GRIDFOLD_CLIENT_COMMAND_LINE_INPUT_BINARY_ELEMENTS_H_
#define GRIDFOLD_CLIENT_COMMAND_LINE_INPUT_BINARY_ELEMENTS_H_

#include <cstdint>
#include <memory>
#include <optional>

#include "absl/status/statusor.h"
#include "client/command_line/input/byte_source.h"
#include "client/command_line/input/element_source.h"

namespace gridfold::client {

// Bytes that are the elements, and nothing else. Reading: INVALID_ARGUMENT where the last element
// is not whole.
std::unique_ptr<ElementSource> ReadRaw(std::unique_ptr<PeekedSource> content, ElementType type);

// A .npy file. Big-endian elements are turned round as they are read; a matrix in Fortran order is
// held in memory as a whole, up to `held_bytes_max`, beyond which it is refused with
// RESOURCE_EXHAUSTED. INVALID_ARGUMENT says what is wrong with the file, also that its elements are
// not of `wanted_type`; reading, that it holds less or more than its header promises.
absl::StatusOr<std::unique_ptr<ElementSource>> ReadNpy(std::unique_ptr<PeekedSource> content,
                                                       std::optional<ElementType> wanted_type,
                                                       uint64_t held_bytes_max);

}  // namespace gridfold::client

#endif  // GRIDFOLD_CLIENT_COMMAND_LINE_INPUT_BINARY_ELEMENTS_H_
