// NumPy's .npy files, versions 1 to 3 of the format.
//
// https://numpy.org/doc/stable/reference/generated/numpy.lib.format.html
#ifndef GRIDFOLD_CLIENT_COMMAND_LINE_INPUT_NPY_FORMAT_H_
#define GRIDFOLD_CLIENT_COMMAND_LINE_INPUT_NPY_FORMAT_H_

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "client/command_line/input/host_array.h"

namespace gridfold::client {

// Whether a file that begins with `bytes` claims to be .npy.
bool IsNpy(absl::string_view bytes);

// What precedes the elements of a file.
struct NpyPreamble {
  ElementType element_type = ElementType::kFloat64;
  std::vector<uint64_t> shape;  // One or two entries.
  size_t size_bytes = 0;        // Of the preamble: the elements follow.
};

// Of the file that begins with `bytes`. Errors: as ParseNpy, but for the number of elements.
absl::StatusOr<NpyPreamble> ParseNpyPreamble(absl::string_view bytes);

// Whether so many bytes of elements are what the preamble promises; INVALID_ARGUMENT.
absl::Status CheckNpyElements(const NpyPreamble& preamble, uint64_t element_bytes);

// The array of a whole file. INVALID_ARGUMENT says what is wrong: a malformed or cut off file, an
// element type that gridfold does not have, Fortran order, big-endian elements, or more than two
// dimensions. A zero-dimensional array becomes one element.
absl::StatusOr<HostArray> ParseNpy(std::string file);

// What precedes the elements in a file of this type and shape. INVALID_ARGUMENT for bfloat16, which
// the format does not have.
absl::StatusOr<std::string> NpyHeader(ElementType element_type, std::span<const uint64_t> shape);

}  // namespace gridfold::client

#endif  // GRIDFOLD_CLIENT_COMMAND_LINE_INPUT_NPY_FORMAT_H_
