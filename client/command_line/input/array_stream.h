// An array in a file or on standard input, of any format and size, read piece by piece.
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
#include "client/command_line/input/element_source.h"
#include "client/command_line/input/file.h"
#include "client/command_line/input/input_options.h"

namespace gridfold::client {

// Every input of the command line comes this way: compressed files, archives, .npy, raw elements
// and CSV. Memory is bounded, whatever the file holds: elements that have to be held (a matrix in
// Fortran order, CSV values whose type is not given) are refused beyond a bound. Not thread-safe.
//
//   auto stream = ArrayStream::Open({.path = "delay.npy"});
//   for (auto piece = (*stream)->Next(buffer); piece.ok() && !piece->empty(); ...) Use(*piece);
class ArrayStream {
 public:
  // Opens the file, recognises what it is and reads as much as its element type takes to know.
  // Errors name the file: those of the system, and INVALID_ARGUMENT for one that makes no sense.
  static absl::StatusOr<std::unique_ptr<ArrayStream>> Open(const InputOptions& options,
                                                           const ReadProgress& progress = nullptr);

  // Of the elements that Next gives, and of those in the file: they differ after ConvertTo.
  ElementType element_type() const { return elements_->element_type(); }
  ElementType file_element_type() const { return file_element_type_; }

  // Has Next give the same numbers as elements of `type`; INVALID_ARGUMENT there for the first one
  // that is not exact, which says `why` it was to be. Before anything is read.
  void ConvertTo(ElementType type, std::string why);

  // 0: one dimension.
  uint64_t column_count() const { return matrix_shape_.empty() ? 0 : matrix_shape_[1]; }

  // Bytes of all elements, where that is known before they are read.
  std::optional<uint64_t> size_bytes() const { return size_bytes_; }

  // The shape of so many bytes of elements; of those that were read so far.
  std::vector<uint64_t> ShapeOf(uint64_t size_bytes) const;
  std::vector<uint64_t> shape() const;

  // The next elements, as many whole ones as there is room for, which must be one at least; fewer
  // only at the end, and none after it. Errors name the file: also one that does not hold what its
  // header, or the options' shape, says.
  absl::StatusOr<std::span<const std::byte>> Next(std::span<char> buffer);

  // All elements, before any is read, where they lie in a file as Next would give them: they count
  // as read then. Nothing where they do not, or their number is not known beforehand.
  std::shared_ptr<const FileMapping> Map();

  // Of the elements that were read so far: how many stand for missing values, and are NaN.
  uint64_t missing_count() const { return elements_->missing_count(); }

 private:
  ArrayStream(const InputOptions& options, std::unique_ptr<ElementSource> elements)
      : options_(options),
        elements_(std::move(elements)),
        file_element_type_(elements_->element_type()) {}

  absl::Status Begin();
  absl::Status CheckShape(uint64_t element_count) const;

  const InputOptions options_;
  std::unique_ptr<ElementSource> elements_;
  const ElementType file_element_type_;
  std::vector<uint64_t> matrix_shape_;  // Of the options or the file; empty: one dimension.
  std::optional<uint64_t> size_bytes_;
  uint64_t read_bytes_ = 0;
};

}  // namespace gridfold::client

#endif  // GRIDFOLD_CLIENT_COMMAND_LINE_INPUT_ARRAY_STREAM_H_
