#include "server/wire/stream_message.h"

#include <grpcpp/support/proto_buffer_reader.h>

#include <algorithm>
#include <cstdint>
#include <utility>

#include "google/protobuf/io/coded_stream.h"
#include "google/protobuf/wire_format_lite.h"

namespace gridfold::server {

namespace {

using google::protobuf::internal::WireFormatLite;

constexpr int kHeaderField = 1;
constexpr int kFirstArrayField = 2;
constexpr int kElementCountField = 15;

struct Range {
  size_t begin = 0;
  size_t end = 0;
};

// Walks over tags and lengths; of the byte fields it reads nothing.
class FieldFinder {
 public:
  FieldFinder(grpc::ProtoBufferReader& bytes, size_t array_count)
      : input_(&bytes), array_count_(array_count) {}

  // False where the bytes are no message.
  bool Find() {
    while (const uint32_t tag = input_.ReadTag()) {
      if (!TakeField(tag)) return false;
    }
    return input_.ConsumedEntireMessage();
  }

  std::optional<std::string> header;
  std::array<Range, kStreamArrayCountMax> arrays;
  std::optional<uint64_t> element_count;

 private:
  bool TakeField(uint32_t tag) {
    const int field = WireFormatLite::GetTagFieldNumber(tag);
    if (field == kElementCountField &&
        WireFormatLite::GetTagWireType(tag) == WireFormatLite::WIRETYPE_VARINT) {
      return input_.ReadVarint64(&element_count.emplace());
    }
    const bool is_known =
        field >= kHeaderField && field < kFirstArrayField + static_cast<int>(array_count_) &&
        WireFormatLite::GetTagWireType(tag) == WireFormatLite::WIRETYPE_LENGTH_DELIMITED;
    if (!is_known) return WireFormatLite::SkipField(&input_, tag);
    int length = 0;
    if (!input_.ReadVarintSizeAsInt(&length)) return false;
    if (field == kHeaderField) return TakeHeader(length);
    const auto begin = static_cast<size_t>(input_.CurrentPosition());
    arrays[static_cast<size_t>(field - kFirstArrayField)] = {begin,
                                                             begin + static_cast<size_t>(length)};
    return input_.Skip(length);
  }

  bool TakeHeader(int length) {
    if (!header) return input_.ReadString(&header.emplace(), length);
    std::string more;
    if (!input_.ReadString(&more, length)) return false;
    *header += more;
    return true;
  }

  google::protobuf::io::CodedInputStream input_;
  const size_t array_count_;
};

std::vector<grpc::Slice> Cut(const std::vector<grpc::Slice>& slices, const Range& range) {
  std::vector<grpc::Slice> pieces;
  size_t position = 0;
  for (const grpc::Slice& slice : slices) {
    const size_t begin = std::max(position, range.begin);
    const size_t end = std::min(position + slice.size(), range.end);
    if (begin < end) pieces.push_back(slice.sub(begin - position, end - position));
    position += slice.size();
    if (position >= range.end) break;
  }
  return pieces;
}

}  // namespace

absl::StatusOr<StreamMessage> SplitMessage(grpc::ByteBuffer& bytes, size_t array_count) {
  StreamMessage message;
  // An empty message has no bytes at all, which gRPC's reader does not take.
  if (bytes.Length() == 0) return message;
  grpc::ProtoBufferReader reader(&bytes);
  FieldFinder fields(reader, array_count);
  std::vector<grpc::Slice> slices;
  if (!fields.Find() || !bytes.Dump(&slices).ok()) {
    return absl::InvalidArgumentError("the bytes are not a message of the stream");
  }
  message.header = std::move(fields.header);
  message.element_count = fields.element_count;
  for (size_t i = 0; i < array_count; ++i) message.arrays[i] = Cut(slices, fields.arrays[i]);
  return message;
}

}  // namespace gridfold::server
