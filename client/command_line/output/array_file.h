// Arrays written to files.
#ifndef GRIDFOLD_CLIENT_COMMAND_LINE_OUTPUT_ARRAY_FILE_H_
#define GRIDFOLD_CLIENT_COMMAND_LINE_OUTPUT_ARRAY_FILE_H_

#include <cstdint>
#include <span>
#include <string>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "gridfold/element_type.h"

namespace gridfold::client {

// Writes .npy where the path says so or is "-", standard output; else the bare elements, which are
// the bytes of `data`. Errors: those of NpyHeader and WriteFile.
absl::Status WriteArrayFile(const std::string& path, ElementType element_type,
                            std::span<const uint64_t> shape, absl::string_view data);

}  // namespace gridfold::client

#endif  // GRIDFOLD_CLIENT_COMMAND_LINE_OUTPUT_ARRAY_FILE_H_
