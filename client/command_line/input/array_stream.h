// An array in a file or on standard input, of any size, read piece by piece.
#ifndef GRIDFOLD_CLIENT_COMMAND_LINE_INPUT_ARRAY_STREAM_H_
#define GRIDFOLD_CLIENT_COMMAND_LINE_INPUT_ARRAY_STREAM_H_

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "client/command_line/input/file.h"
#include "client/command_line/input/load_array.h"
#include "client/command_line/input/npy_format.h"

namespace gridfold::client {

// .npy, or raw elements of a type that the options give; the columns are those of the file, or of
// the options' shape. Errors name the file, as those of LoadArray.
class ArrayStream {
 public:
  // INVALID_ARGUMENT also for CSV, which cannot be cut anywhere.
  static absl::StatusOr<std::unique_ptr<ArrayStream>> Open(const InputOptions& options);

  ElementType element_type() const { return element_type_; }
  uint64_t column_count() const { return column_count_; }  // 0: one dimension.

  // Bytes of all elements, where that is known before they are read.
  std::optional<uint64_t> size_bytes() const { return size_bytes_; }

  // The shape of so many bytes of elements; of those that were read so far.
  std::vector<uint64_t> ShapeOf(uint64_t size_bytes) const;
  std::vector<uint64_t> shape() const;

  // The next bytes, as many as there is room for but at the end; none after it. Errors: also a
  // file that does not hold what its header, or the options' shape, says.
  absl::StatusOr<std::span<const std::byte>> Next(std::span<char> buffer);

 private:
  ArrayStream(File file, const InputOptions& options) : file_(std::move(file)), options_(options) {}

  absl::Status ReadBeginning();
  absl::Status Begin();
  absl::Status BeginRaw();
  absl::Status BeginNpy();
  absl::Status CheckEnd() const;

  File file_;
  const InputOptions options_;
  ElementType element_type_ = ElementType::kFloat64;
  uint64_t column_count_ = 0;
  std::optional<uint64_t> size_bytes_;
  std::optional<NpyPreamble> preamble_;
  std::string begun_;  // Elements that were read with what precedes them.
  uint64_t read_bytes_ = 0;
};

}  // namespace gridfold::client

#endif  // GRIDFOLD_CLIENT_COMMAND_LINE_INPUT_ARRAY_STREAM_H_
