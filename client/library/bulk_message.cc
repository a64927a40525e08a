#include "client/library/bulk_message.h"

#include <algorithm>
#include <cstring>
#include <optional>

#include "absl/strings/str_cat.h"

namespace gridfold::client {
namespace {

using Pieces = std::vector<std::span<const uint8_t>>;

constexpr int kVarintBytesMax = 10;

// The encoding's kinds of fields.
enum WireType : uint32_t { kVarint = 0, kFixed64 = 1, kBytes = 2, kFixed32 = 5 };

// Walks over the bytes of a message, which lie in several places.
class Cursor {
 public:
  explicit Cursor(const std::vector<grpc::Slice>& slices) : slices_(slices) { SkipEmpty(); }

  bool AtEnd() const { return slice_ == slices_.size(); }

  // Moves over `count` bytes, and adds them to `pieces`; false where there are not so many.
  bool Take(uint64_t count, Pieces& pieces) {
    while (count > 0) {
      if (AtEnd()) return false;
      const uint64_t here = std::min<uint64_t>(count, slices_[slice_].size() - offset_);
      pieces.emplace_back(slices_[slice_].begin() + offset_, here);
      offset_ += here;
      count -= here;
      SkipEmpty();
    }
    return true;
  }

  // Moves over a varint, whose bytes are added to `raw`.
  std::optional<uint64_t> TakeVarint(std::string& raw) {
    uint64_t value = 0;
    for (int i = 0; i < kVarintBytesMax && !AtEnd(); ++i) {
      const uint8_t byte = slices_[slice_].begin()[offset_++];
      SkipEmpty();
      raw.push_back(static_cast<char>(byte));
      value |= uint64_t{byte & 0x7fu} << (7 * i);
      if (byte < 0x80) return value;
    }
    return std::nullopt;
  }

 private:
  void SkipEmpty() {
    while (slice_ < slices_.size() && offset_ == slices_[slice_].size()) {
      ++slice_;
      offset_ = 0;
    }
  }

  const std::vector<grpc::Slice>& slices_;
  size_t slice_ = 0;
  size_t offset_ = 0;
};

// Moves over one field: its contents become `bulk` where it is the bulk; otherwise the whole field
// is added to `others`.
bool TakeField(Cursor& cursor, uint32_t bulk_field_number, Pieces& bulk, std::string& others) {
  std::string head;
  const std::optional<uint64_t> tag = cursor.TakeVarint(head);
  if (!tag) return false;
  Pieces contents;
  uint64_t size_bytes = 0;
  switch (*tag & 7) {
    case kVarint:
      if (!cursor.TakeVarint(head)) return false;
      break;
    case kFixed64: size_bytes = 8; break;
    case kFixed32: size_bytes = 4; break;
    case kBytes: {
      const std::optional<uint64_t> length = cursor.TakeVarint(head);
      if (!length) return false;
      size_bytes = *length;
      break;
    }
    default: return false;  // Groups, of which no message has any.
  }
  if (!cursor.Take(size_bytes, contents)) return false;
  if (*tag == (uint64_t{bulk_field_number} << 3 | kBytes)) {
    bulk = std::move(contents);
    return true;
  }
  others += head;
  for (const auto& piece : contents) {
    others.append(reinterpret_cast<const char*>(piece.data()), piece.size());
  }
  return true;
}

}  // namespace

void BulkBytes::CopyTo(std::byte* to) const {
  for (const std::span<const uint8_t> piece : pieces_) {
    std::memcpy(to, piece.data(), piece.size());
    to += piece.size();
  }
}

void BulkBytes::AppendTo(std::string& to) const {
  for (const std::span<const uint8_t> piece : pieces_) {
    to.append(reinterpret_cast<const char*>(piece.data()), piece.size());
  }
}

absl::Status ParseBesideBulk(const grpc::ByteBuffer& bytes, uint32_t bulk_field_number,
                             google::protobuf::MessageLite& message, BulkBytes& bulk) {
  bulk = BulkBytes();
  std::string others;
  bool is_message = bytes.Dump(&bulk.slices_).ok();
  for (Cursor cursor(bulk.slices_); is_message && !cursor.AtEnd();) {
    is_message = TakeField(cursor, bulk_field_number, bulk.pieces_, others);
  }
  if (!is_message || !message.ParseFromString(others)) {
    return absl::InternalError(
        absl::StrCat("the server's answer is not a ", message.GetTypeName()));
  }
  for (const auto& piece : bulk.pieces_) bulk.size_bytes_ += piece.size();
  return absl::OkStatus();
}

}  // namespace gridfold::client
