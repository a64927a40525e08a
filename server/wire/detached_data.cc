#include "server/wire/detached_data.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <utility>

#include "absl/strings/string_view.h"

namespace gridfold::server {

namespace {

// A stream of bytes in pieces.
class PieceStream final : public google::protobuf::io::ZeroCopyInputStream {
 public:
  explicit PieceStream(std::vector<absl::string_view> pieces) : pieces_(std::move(pieces)) {}

  bool Next(const void** data, int* size) override {
    if (next_ == pieces_.size()) return false;
    const absl::string_view piece = pieces_[next_++].substr(offset_);
    offset_ = 0;
    position_ += static_cast<int64_t>(piece.size());
    *data = piece.data();
    *size = static_cast<int>(piece.size());
    return true;
  }

  void BackUp(int count) override {
    offset_ = pieces_[--next_].size() - static_cast<size_t>(count);
    position_ -= count;
  }

  bool Skip(int count) override {
    const void* data = nullptr;
    int size = 0;
    while (count > 0 && Next(&data, &size)) {
      if (size > count) BackUp(size - count);
      count -= std::min(count, size);
    }
    return count == 0;
  }

  int64_t ByteCount() const override { return position_; }

 private:
  const std::vector<absl::string_view> pieces_;
  size_t next_ = 0;
  size_t offset_ = 0;  // Into the next piece.
  int64_t position_ = 0;
};

// Goes once over the bytes of slices.
class SliceReader {
 public:
  explicit SliceReader(const std::vector<grpc::Slice>& slices) : slices_(slices) {}

  size_t position() const { return position_; }

  // Calls visit(slice, begin, end) with the parts of slices that the bytes up to `end` are. There
  // are so many.
  template <class Visit>
  void ReadUntil(size_t end, Visit visit) {
    while (position_ < end) {
      const grpc::Slice& slice = slices_[next_];
      const size_t count = std::min(slice.size() - offset_, end - position_);
      if (count > 0) visit(slice, offset_, offset_ + count);
      position_ += count;
      offset_ += count;
      if (offset_ == slice.size()) {
        ++next_;
        offset_ = 0;
      }
    }
  }

 private:
  const std::vector<grpc::Slice>& slices_;
  size_t next_ = 0;
  size_t offset_ = 0;  // Into the next slice.
  size_t position_ = 0;
};

size_t TotalSize(const std::vector<grpc::Slice>& slices) {
  size_t size = 0;
  for (const grpc::Slice& slice : slices) size += slice.size();
  return size;
}

}  // namespace

void DetachedData::Add(PieceQueue data) {
  Array& array = arrays_.emplace_back();
  array.data = std::move(data);
  array.pieces = array.data.First(array.data.size_bytes());
}

std::optional<kernels::HostSlices> DetachedData::Find(const std::string& field) const {
  const std::optional<uint32_t> number = ReadBulkMarker(field);
  if (!number || *number >= arrays_.size()) return std::nullopt;
  const Array& array = arrays_[*number];
  return kernels::HostSlices{array.pieces, array.data.size_bytes()};
}

std::unique_ptr<google::protobuf::io::ZeroCopyInputStream> Detach(
    const std::vector<grpc::Slice>& slices, const std::vector<WireEdit>& edits,
    DetachedData& detached) {
  std::vector<absl::string_view> rest;
  SliceReader reader(slices);
  const auto keep = [&](const grpc::Slice& slice, size_t begin, size_t end) {
    rest.emplace_back(reinterpret_cast<const char*>(slice.begin()) + begin, end - begin);
  };
  for (const WireEdit& edit : edits) {
    reader.ReadUntil(edit.begin, keep);
    rest.push_back(edit.replacement);
    reader.ReadUntil(edit.end - edit.bulk_bytes, [](const auto&...) {});
    if (edit.bulk_bytes == 0) continue;
    PieceQueue data;
    reader.ReadUntil(edit.end, [&](const grpc::Slice& slice, size_t begin, size_t end) {
      data.Append(slice.sub(begin, end));
    });
    detached.Add(std::move(data));
  }
  reader.ReadUntil(TotalSize(slices), keep);
  return std::make_unique<PieceStream>(std::move(rest));
}

}  // namespace gridfold::server
