// The dictionary in the header of a .npy file: a Python literal.
#ifndef GRIDFOLD_CLIENT_COMMAND_LINE_INPUT_NPY_HEADER_H_
#define GRIDFOLD_CLIENT_COMMAND_LINE_INPUT_NPY_HEADER_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

namespace gridfold::client {

struct NpyDictionary {
  std::string descr;  // For example "<f4". A structured type's description is refused.
  bool fortran_order = false;
  std::vector<uint64_t> shape;
};

// Parses for example "{'descr': '<f4', 'fortran_order': False, 'shape': (3, 4), }". Each of the
// three keys must be there once, and no other.
absl::StatusOr<NpyDictionary> ParseNpyDictionary(absl::string_view text);

}  // namespace gridfold::client

#endif  // GRIDFOLD_CLIENT_COMMAND_LINE_INPUT_NPY_HEADER_H_
