// HDF5 files, which the program gridfold_hdf5 (client/hdf5) reads.
#ifndef GRIDFOLD_CLIENT_COMMAND_LINE_INPUT_HDF5_INPUT_H_
#define GRIDFOLD_CLIENT_COMMAND_LINE_INPUT_HDF5_INPUT_H_

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "client/command_line/input/byte_source.h"
#include "client/command_line/input/file.h"

namespace gridfold::client {

// A dataset as .npy, or without a path the only one there is. The file is regular; errors of it
// come with the first bytes. INVALID_ARGUMENT where the program is not installed.
absl::StatusOr<std::unique_ptr<ByteSource>> ReadHdf5(const File& file,
                                                     const std::optional<std::string>& path,
                                                     ReadProgress progress);

// The paths of all datasets that have numbers.
absl::StatusOr<std::vector<std::string>> ListHdf5(const File& file);

}  // namespace gridfold::client

#endif  // GRIDFOLD_CLIENT_COMMAND_LINE_INPUT_HDF5_INPUT_H_
