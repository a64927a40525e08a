// Whole files, read and written.
#ifndef GRIDFOLD_CLIENT_COMMAND_LINE_INPUT_FILE_H_
#define GRIDFOLD_CLIENT_COMMAND_LINE_INPUT_FILE_H_

#include <cstdint>
#include <functional>
#include <initializer_list>
#include <optional>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

namespace gridfold::client {

// Told after each read: how many bytes are here, and of how many where that is known.
using ReadProgress = std::function<void(uint64_t read_bytes, std::optional<uint64_t> total_bytes)>;

// Everything in the file at `path`, or "-" for standard input. NOT_FOUND, PERMISSION_DENIED or
// another error of the system, which names the path; RESOURCE_EXHAUSTED beyond `bytes_max`.
absl::StatusOr<std::string> ReadFile(const std::string& path, uint64_t bytes_max,
                                     const ReadProgress& progress);

// Writes `parts` one after the other to the file at `path`, or "-" for standard output.
absl::Status WriteFile(const std::string& path, std::initializer_list<absl::string_view> parts);

}  // namespace gridfold::client

#endif  // GRIDFOLD_CLIENT_COMMAND_LINE_INPUT_FILE_H_
