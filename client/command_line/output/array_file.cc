#include "client/command_line/output/array_file.h"

#include <utility>

#include "absl/status/statusor.h"
#include "absl/strings/match.h"
#include "client/command_line/input/file.h"
#include "client/command_line/input/npy_format.h"

namespace gridfold::client {

absl::Status WriteArrayFile(const std::string& path, ElementType element_type,
                            std::span<const uint64_t> shape, absl::string_view data) {
  std::string header;
  if (path == "-" || absl::EndsWith(path, ".npy")) {
    absl::StatusOr<std::string> npy_header = NpyHeader(element_type, shape);
    if (!npy_header.ok()) return npy_header.status();
    header = *std::move(npy_header);
  }
  return WriteFile(path, {header, data});
}

}  // namespace gridfold::client
