// Arrays from files of any of the formats, whole.
#ifndef GRIDFOLD_CLIENT_COMMAND_LINE_INPUT_LOAD_ARRAY_H_
#define GRIDFOLD_CLIENT_COMMAND_LINE_INPUT_LOAD_ARRAY_H_

#include <cstdint>
#include <vector>

#include "absl/status/statusor.h"
#include "client/command_line/input/file.h"
#include "client/command_line/input/host_array.h"
#include "client/command_line/input/input_options.h"

namespace gridfold::client {

// Reads the array whole. Errors: those of ArrayStream, and RESOURCE_EXHAUSTED for one that no
// request carries.
absl::StatusOr<HostArray> LoadArray(const InputOptions& options, const ReadProgress& progress);

// The numbers of an array of integers as segment offsets: INVALID_ARGUMENT for negative ones and
// for floating-point types.
absl::StatusOr<std::vector<uint64_t>> ToOffsets(const HostArray& array);

}  // namespace gridfold::client

#endif  // GRIDFOLD_CLIENT_COMMAND_LINE_INPUT_LOAD_ARRAY_H_
