// NumPy's .npy files, versions 1 to 3 of the format.
//
// https://numpy.org/doc/stable/reference/generated/numpy.lib.format.html
#ifndef GRIDFOLD_CLIENT_COMMAND_LINE_INPUT_NPY_FORMAT_H_
#define GRIDFOLD_CLIENT_COMMAND_LINE_INPUT_NPY_FORMAT_H_

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "gridfold/element_type.h"

namespace gridfold::client {

// Whether a file that begins with `bytes` claims to be .npy.
bool IsNpy(absl::string_view bytes);

// What precedes the elements of a file, and how they lie.
struct NpyPreamble {
  ElementType element_type = ElementType::kFloat64;
  std::vector<uint64_t> shape;   // Of any number of dimensions; none is one element.
  bool is_big_endian = false;    // Never of elements of one byte.
  bool is_column_major = false;  // Fortran order, where it differs from C order.
  size_t size_bytes = 0;         // Of the preamble: the elements follow.
};

// How long the preamble of the file is that begins with `bytes`, 16 of them or all that there are.
// INVALID_ARGUMENT for what is no .npy, and for more than 1 MiB.
absl::StatusOr<size_t> NpyPreambleBytes(absl::string_view bytes);

// Of the file that begins with `bytes`, NpyPreambleBytes of them. bool elements are taken as uint8;
// those of two bytes of which the file says nothing else, as bfloat16 where `wanted_type` says so.
// INVALID_ARGUMENT says what is wrong: a malformed or cut off header, or elements that gridfold
// does not have, with what to do about them.
absl::StatusOr<NpyPreamble> ParseNpyPreamble(absl::string_view bytes,
                                             std::optional<ElementType> wanted_type);

// INVALID_ARGUMENT: not the bytes of elements that the preamble promises follow it, but `what`.
absl::Status WrongNpyElements(const NpyPreamble& preamble, absl::string_view what);

// The elements' bytes; nothing where they are more than 2^64.
std::optional<uint64_t> NpyElementBytes(const NpyPreamble& preamble);

// What precedes the elements in a file of this type and shape. INVALID_ARGUMENT for bfloat16, which
// the format does not have.
absl::StatusOr<std::string> NpyHeader(ElementType element_type, std::span<const uint64_t> shape);

}  // namespace gridfold::client

#endif  // GRIDFOLD_CLIENT_COMMAND_LINE_INPUT_NPY_FORMAT_H_
