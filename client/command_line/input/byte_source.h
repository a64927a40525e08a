// Bytes that are read one after the other, wherever they come from.
#ifndef GRIDFOLD_CLIENT_COMMAND_LINE_INPUT_BYTE_SOURCE_H_
#define GRIDFOLD_CLIENT_COMMAND_LINE_INPUT_BYTE_SOURCE_H_

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "client/command_line/input/file.h"

namespace gridfold::client {

// The interface of files, of what decompression makes of them, and of members of archives. Errors
// are of the source and do not name the file.
class ByteSource {
 public:
  virtual ~ByteSource() = default;

  // Reads until `buffer` is full or the source ends; returns how many bytes that are. Fewer than
  // there is room for only at the end.
  virtual absl::StatusOr<size_t> Read(std::span<char> buffer) = 0;

  // How many bytes are left to read, where that is known.
  virtual std::optional<uint64_t> size_bytes() const { return std::nullopt; }

  // What is left to read, and so many bytes before it, where they lie in a file as they are.
  // Nothing where they do not, or cannot be mapped.
  virtual std::shared_ptr<const FileMapping> Map(uint64_t /*bytes_before*/) const {
    return nullptr;
  }
};

// A source whose first bytes can be looked at before they are read.
class PeekedSource : public ByteSource {
 public:
  explicit PeekedSource(std::unique_ptr<ByteSource> source) : source_(std::move(source)) {}

  // The next `size` bytes, or fewer where the source ends. Valid until the next call.
  absl::StatusOr<absl::string_view> Peek(size_t size) {
    if (begun_.size() < size) {
      const size_t held_bytes = begun_.size();
      begun_.resize(size);
      const absl::StatusOr<size_t> more_bytes =
          source_->Read({begun_.data() + held_bytes, size - held_bytes});
      begun_.resize(held_bytes + more_bytes.value_or(0));
      if (!more_bytes.ok()) return more_bytes.status();
    }
    return absl::string_view(begun_).substr(0, size);
  }

  absl::StatusOr<size_t> Read(std::span<char> buffer) override {
    const size_t held_bytes = std::min(begun_.size(), buffer.size());
    std::copy_n(begun_.begin(), held_bytes, buffer.begin());
    begun_.erase(0, held_bytes);
    const absl::StatusOr<size_t> more_bytes = source_->Read(buffer.subspan(held_bytes));
    if (!more_bytes.ok()) return more_bytes.status();
    return held_bytes + *more_bytes;
  }

  std::optional<uint64_t> size_bytes() const override {
    const std::optional<uint64_t> rest = source_->size_bytes();
    return rest ? std::optional(*rest + begun_.size()) : std::nullopt;
  }

  std::shared_ptr<const FileMapping> Map(uint64_t bytes_before) const override {
    return source_->Map(bytes_before + begun_.size());
  }

 private:
  std::unique_ptr<ByteSource> source_;
  std::string begun_;  // Looked at and not read yet.
};

}  // namespace gridfold::client

#endif  // GRIDFOLD_CLIENT_COMMAND_LINE_INPUT_BYTE_SOURCE_H_
