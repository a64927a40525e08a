// Zstandard, by libzstd.
#include <zstd.h>

#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "client/command_line/input/decompression.h"

namespace gridfold::client {
namespace {

class ZstdSource : public ByteSource {
 public:
  explicit ZstdSource(std::unique_ptr<ByteSource> source)
      : source_(std::move(source)),
        context_(ZSTD_createDStream(), &ZSTD_freeDStream),
        buffer_(ZSTD_DStreamInSize()) {}

  absl::StatusOr<size_t> Read(std::span<char> buffer) override {
    if (context_ == nullptr) {
      return absl::ResourceExhaustedError("zstd: no memory to decompress it");
    }
    ZSTD_outBuffer output = {buffer.data(), buffer.size(), 0};
    while (output.pos < output.size) {
      if (absl::Status status = Refill(); !status.ok()) return status;
      const size_t written_before = output.pos;
      const bool is_at_end = input_.size == 0;
      if (is_at_end && is_between_frames_) break;
      const size_t result = ZSTD_decompressStream(context_.get(), &output, &input_);
      if (ZSTD_isError(result)) {
        return absl::InvalidArgumentError(absl::StrCat("zstd: the compressed data are damaged (",
                                                       ZSTD_getErrorName(result), ")"));
      }
      is_between_frames_ = result == 0;
      if (is_at_end && output.pos == written_before) {
        return absl::InvalidArgumentError("zstd: the file is cut off inside its compressed data");
      }
    }
    return output.pos;
  }

 private:
  absl::Status Refill() {
    if (input_.pos < input_.size) return absl::OkStatus();
    const absl::StatusOr<size_t> size = source_->Read({buffer_.data(), buffer_.size()});
    if (!size.ok()) return size.status();
    input_ = {buffer_.data(), *size, 0};
    return absl::OkStatus();
  }

  std::unique_ptr<ByteSource> source_;
  const std::unique_ptr<ZSTD_DStream, size_t (*)(ZSTD_DStream*)> context_;
  std::vector<char> buffer_;
  ZSTD_inBuffer input_ = {};
  bool is_between_frames_ = true;
};

}  // namespace

std::unique_ptr<ByteSource> DecompressZstd(std::unique_ptr<ByteSource> source) {
  return std::make_unique<ZstdSource>(std::move(source));
}

}  // namespace gridfold::client
