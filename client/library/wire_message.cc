#include "client/library/wire_message.h"

#include <utility>
#include <variant>

#include "client/library/region_conversion.h"
#include "client/library/shared_conversion.h"
#include "gridfold/v1/array.pb.h"
#include "grpcpp/support/slice.h"

namespace gridfold::client {
namespace {

// The wire type of embedded messages and byte strings.
constexpr uint32_t kLengthDelimited = 2;

void AppendVarint(uint64_t value, std::string& out) {
  while (value >= 0x80) {
    out.push_back(static_cast<char>((value & 0x7F) | 0x80));
    value >>= 7;
  }
  out.push_back(static_cast<char>(value));
}

// InlineArray without its `data`.
std::string SerializeArrayHeader(const ArrayView& array) {
  v1::InlineArray header;
  header.set_element_type(static_cast<v1::ElementType>(array.element_type()));
  header.mutable_shape()->Add(array.shape().begin(), array.shape().end());
  header.set_zero_dimensional(array.is_zero_dimensional());
  return header.SerializeAsString();
}

}  // namespace

std::string FieldHeader(uint32_t field_number, uint64_t size_bytes) {
  std::string header;
  AppendVarint(uint64_t{field_number} << 3 | kLengthDelimited, header);
  AppendVarint(size_bytes, header);
  return header;
}

void WireMessage::AppendOwned(std::string bytes) {
  if (bytes.empty()) return;
  size_bytes_ += bytes.size();
  const bool is_last_owned = !pieces_.empty() && pieces_.back().borrowed.empty();
  if (is_last_owned) {  // Speed only: few long pieces are sent faster than many short ones.
    pieces_.back().owned += bytes;
    return;
  }
  pieces_.push_back({.owned = std::move(bytes), .borrowed = {}});
}

void WireMessage::AppendBorrowed(std::span<const std::byte> bytes) {
  if (bytes.empty()) return;
  size_bytes_ += bytes.size();
  pieces_.push_back({.owned = {}, .borrowed = bytes});
}

WireMessage WireMessage::Of(const google::protobuf::MessageLite& message) {
  WireMessage wire;
  wire.AppendFields(message);
  return wire;
}

void WireMessage::AppendFields(const google::protobuf::MessageLite& message) {
  AppendOwned(message.SerializeAsString());
}

void WireMessage::AppendArray(uint32_t field_number, const ArrayInput& array) {
  if (const auto* const view = std::get_if<ArrayView>(&array.source())) {
    AppendInlineArray(field_number, *view);
    return;
  }
  v1::ArraySource source;
  if (const auto* const slice = std::get_if<RegionSlice>(&array.source())) {
    *source.mutable_region_slice() = ToProto(*slice);
  } else {
    *source.mutable_resident_array() = ToProto(std::get<ResidentArray>(array.source()));
  }
  const std::string bytes = source.SerializeAsString();
  AppendOwned(FieldHeader(field_number, bytes.size()) + bytes);
}

void WireMessage::AppendInlineArray(uint32_t field_number, const ArrayView& array) {
  const std::span<const std::byte> data = array.bytes();
  std::string inside = SerializeArrayHeader(array);
  if (!data.empty()) inside += FieldHeader(v1::InlineArray::kDataFieldNumber, data.size());
  const uint64_t inline_array_bytes = inside.size() + data.size();
  const std::string source =
      FieldHeader(v1::ArraySource::kInlineArrayFieldNumber, inline_array_bytes);
  AppendOwned(FieldHeader(field_number, source.size() + inline_array_bytes) + source + inside);
  AppendBorrowed(data);
}

void WireMessage::AppendMessage(uint32_t field_number, WireMessage message) {
  AppendOwned(FieldHeader(field_number, message.size_bytes_));
  for (Piece& piece : message.pieces_) {
    if (piece.borrowed.empty()) {
      AppendOwned(std::move(piece.owned));
    } else {
      AppendBorrowed(piece.borrowed);
    }
  }
}

grpc::ByteBuffer WireMessage::Copy() const {
  std::vector<grpc::Slice> slices;
  for (const Piece& piece : pieces_)
    slices.emplace_back(piece.bytes().data(), piece.bytes().size());
  return grpc::ByteBuffer(slices.data(), slices.size());
}

void WireMessage::AppendBytes(uint32_t field_number, std::span<const std::byte> bytes) {
  AppendOwned(FieldHeader(field_number, bytes.size()));
  AppendBorrowed(bytes);
}

}  // namespace gridfold::client
