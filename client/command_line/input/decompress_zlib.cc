// gzip and deflate, by zlib.
#include <zlib.h>

#include <algorithm>
#include <limits>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "client/command_line/input/decompression.h"

namespace gridfold::client {
namespace {

constexpr size_t kDeflatedBytes = size_t{256} << 10;  // Read at a time.

// What zlib's window parameter says besides the window: gzip's frame, or no frame at all.
constexpr int kGzipWindow = 15 + 16;
constexpr int kBareWindow = -15;

class ZlibSource : public ByteSource {
 public:
  ZlibSource(std::unique_ptr<ByteSource> source, int window, const char* format)
      : source_(std::move(source)), window_(window), format_(format), input_(kDeflatedBytes) {}
  ~ZlibSource() override {
    if (is_open_) inflateEnd(&stream_);
  }

  absl::StatusOr<size_t> Read(std::span<char> buffer) override {
    size_t used = 0;
    while (used < buffer.size() && !is_at_end_) {
      if (absl::Status status = Begin(); !status.ok()) return status;
      if (is_at_end_) break;
      const size_t room = std::min<size_t>(buffer.size() - used, std::numeric_limits<uInt>::max());
      stream_.next_out = reinterpret_cast<Bytef*>(buffer.data() + used);
      stream_.avail_out = static_cast<uInt>(room);
      const int result = inflate(&stream_, Z_NO_FLUSH);
      used += room - stream_.avail_out;
      if (absl::Status status = Judge(result); !status.ok()) return status;
    }
    return used;
  }

 private:
  // Sees to it that there is a member to go on with, and input for it unless the source has ended.
  absl::Status Begin() {
    if (absl::Status status = Refill(); !status.ok()) return status;
    if (is_open_) return absl::OkStatus();
    if (member_count_ > 0) {
      if (absl::Status status = SkipPadding(); !status.ok() || is_at_end_) return status;
    }
    Bytef* const input = stream_.next_in;
    const uInt input_bytes = stream_.avail_in;
    stream_ = {};
    stream_.next_in = input;
    stream_.avail_in = input_bytes;
    if (inflateInit2(&stream_, window_) != Z_OK) {
      return absl::ResourceExhaustedError(absl::StrCat(format_, ": no memory to decompress it"));
    }
    is_open_ = true;
    return absl::OkStatus();
  }

  absl::Status Refill() {
    if (stream_.avail_in > 0) return absl::OkStatus();
    const absl::StatusOr<size_t> size = source_->Read({input_.data(), input_.size()});
    if (!size.ok()) return size.status();
    stream_.next_in = reinterpret_cast<Bytef*>(input_.data());
    stream_.avail_in = static_cast<uInt>(*size);
    return absl::OkStatus();
  }

  // Zeros may follow the last member, and nothing else that is no member.
  absl::Status SkipPadding() {
    bool was_padded = false;
    while (true) {
      while (stream_.avail_in > 0 && *stream_.next_in == 0) {
        was_padded = true;
        ++stream_.next_in;
        --stream_.avail_in;
      }
      if (stream_.avail_in > 0) break;
      if (absl::Status status = Refill(); !status.ok()) return status;
      is_at_end_ = stream_.avail_in == 0;
      if (is_at_end_) return absl::OkStatus();
    }
    if (was_padded || *stream_.next_in != 0x1f) {
      return absl::InvalidArgumentError(
          absl::StrCat(format_, ": something else follows the compressed data"));
    }
    return absl::OkStatus();
  }

  absl::Status Judge(int result) {
    if (result == Z_STREAM_END) {
      inflateEnd(&stream_);
      is_open_ = false;
      ++member_count_;
      is_at_end_ = window_ == kBareWindow;
      return absl::OkStatus();
    }
    if (result == Z_MEM_ERROR) {
      return absl::ResourceExhaustedError(absl::StrCat(format_, ": no memory to decompress it"));
    }
    // There was room, and no progress: the source has ended.
    if (result == Z_BUF_ERROR) {
      return absl::InvalidArgumentError(
          absl::StrCat(format_, ": the file is cut off inside its compressed data"));
    }
    if (result == Z_OK) return absl::OkStatus();
    return absl::InvalidArgumentError(
        absl::StrCat(format_, ": the compressed data are damaged",
                     stream_.msg == nullptr ? "" : absl::StrCat(" (", stream_.msg, ")")));
  }

  std::unique_ptr<ByteSource> source_;
  const int window_;
  const char* const format_;
  std::vector<char> input_;
  z_stream stream_ = {};
  bool is_open_ = false;  // `stream_` is inside a member.
  bool is_at_end_ = false;
  uint64_t member_count_ = 0;  // That have ended.
};

}  // namespace

std::unique_ptr<ByteSource> DecompressGzip(std::unique_ptr<ByteSource> source) {
  return std::make_unique<ZlibSource>(std::move(source), kGzipWindow, "gzip");
}

std::unique_ptr<ByteSource> DecompressDeflate(std::unique_ptr<ByteSource> source) {
  return std::make_unique<ZlibSource>(std::move(source), kBareWindow, "zip");
}

}  // namespace gridfold::client
