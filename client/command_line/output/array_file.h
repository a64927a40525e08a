// Arrays written to files.
#ifndef GRIDFOLD_CLIENT_COMMAND_LINE_OUTPUT_ARRAY_FILE_H_
#define GRIDFOLD_CLIENT_COMMAND_LINE_OUTPUT_ARRAY_FILE_H_

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "client/command_line/output/output_file.h"
#include "gridfold/element_type.h"

namespace gridfold::client {

// Whether what is written to the path is .npy, which begins with the shape.
bool HasHeader(absl::string_view path);

// Writes .npy where the path says so or is "-", standard output; else the bare elements, which are
// the bytes of `data`. Errors: those of NpyHeader and WriteFile.
absl::Status WriteArrayFile(const std::string& path, ElementType element_type,
                            std::span<const uint64_t> shape, absl::string_view data);

// The same, piece by piece.
class ArrayFileWriter {
 public:
  explicit ArrayFileWriter(std::string path) : path_(std::move(path)) {}

  // Writes the next elements. The first call opens the file, as OutputFile does; its `shape` is
  // that of all elements, INVALID_ARGUMENT where .npy is written and there is none.
  absl::Status Write(ElementType element_type, const std::optional<std::vector<uint64_t>>& shape,
                     absl::string_view data);

  // Once, last; without it there is no file. INVALID_ARGUMENT where .npy is written and its header
  // promises other elements than there were.
  absl::Status Commit();

 private:
  absl::Status Open(ElementType element_type, const std::optional<std::vector<uint64_t>>& shape);

  const std::string path_;
  std::optional<OutputFile> file_;
  std::optional<uint64_t> promised_bytes_;  // By the header.
  uint64_t written_bytes_ = 0;
};

}  // namespace gridfold::client

#endif  // GRIDFOLD_CLIENT_COMMAND_LINE_OUTPUT_ARRAY_FILE_H_
