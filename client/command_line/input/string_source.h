// Bytes in memory as a source, for tests.
#ifndef GRIDFOLD_CLIENT_COMMAND_LINE_INPUT_STRING_SOURCE_H_
#define GRIDFOLD_CLIENT_COMMAND_LINE_INPUT_STRING_SOURCE_H_

#include <algorithm>
#include <string>
#include <utility>

#include "client/command_line/input/byte_source.h"
#include "client/command_line/input/element_source.h"
#include "client/command_line/input/host_array.h"

namespace gridfold::client {

// Says how many bytes are left only where it is told to, as a file does and a pipe does not.
class StringSource : public ByteSource {
 public:
  explicit StringSource(std::string bytes, bool knows_size = false)
      : bytes_(std::move(bytes)), knows_size_(knows_size) {}

  absl::StatusOr<size_t> Read(std::span<char> buffer) override {
    const size_t size = std::min(buffer.size(), bytes_.size() - used_);
    std::copy_n(bytes_.begin() + static_cast<std::ptrdiff_t>(used_), size, buffer.begin());
    used_ += size;
    return size;
  }

  std::optional<uint64_t> size_bytes() const override {
    return knows_size_ ? std::optional<uint64_t>(bytes_.size() - used_) : std::nullopt;
  }

 private:
  const std::string bytes_;
  const bool knows_size_;
  size_t used_ = 0;
};

// All elements, read `step_bytes` at a time.
inline absl::StatusOr<HostArray> ReadElements(ElementSource& elements, size_t step_bytes = 24) {
  HostArray array{.element_type = elements.element_type()};
  std::string step(step_bytes, '\0');
  while (true) {
    const absl::StatusOr<size_t> size = elements.Read({step.data(), step.size()});
    if (!size.ok()) return size.status();
    if (*size == 0) break;
    array.bytes.append(step, 0, *size);
  }
  array.shape = elements.shape().value_or(std::vector<uint64_t>{array.element_count()});
  array.missing_count = elements.missing_count();
  return array;
}

}  // namespace gridfold::client

#endif  // GRIDFOLD_CLIENT_COMMAND_LINE_INPUT_STRING_SOURCE_H_
