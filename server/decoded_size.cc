#include "server/decoded_size.h"

#include "google/protobuf/io/coded_stream.h"
#include "google/protobuf/wire_format_lite.h"

namespace gridfold::server {

namespace {

using google::protobuf::Descriptor;
using google::protobuf::FieldDescriptor;
using google::protobuf::internal::WireFormatLite;

// A message object with its allocation and the pointer to it; the largest of ours is smaller.
constexpr uint64_t kMessageBytes = 160;
// One value of a repeated field, or a field that is kept because it is unknown.
constexpr uint64_t kFieldBytes = 32;
// Bytes that are kept because their field is unknown: a string object with its allocation.
constexpr uint64_t kUnknownStringBytes = 64;
// Packed values: at least one byte on the wire, at most eight in memory, in a buffer that grows by
// doubling.
constexpr uint64_t kPackedGrowth = 16;
// An empty unknown group takes two bytes on the wire and an object in memory.
constexpr uint64_t kGroupGrowth = 64;

class Walker {
 public:
  Walker(google::protobuf::io::ZeroCopyInputStream& bytes, uint64_t give_up_above)
      : input_(&bytes), give_up_above_(give_up_above) {}

  // False where the bytes are no message.
  bool WalkMessage(const Descriptor& type) {
    while (total_ <= give_up_above_) {
      const uint32_t tag = input_.ReadTag();
      if (tag == 0) return input_.ConsumedEntireMessage();
      if (!WalkField(type.FindFieldByNumber(WireFormatLite::GetTagFieldNumber(tag)), tag)) {
        return false;
      }
    }
    return true;
  }

  uint64_t total() const { return total_; }

 private:
  bool WalkField(const FieldDescriptor* field, uint32_t tag) {
    total_ += kFieldBytes;
    switch (WireFormatLite::GetTagWireType(tag)) {
      case WireFormatLite::WIRETYPE_LENGTH_DELIMITED: return WalkDelimited(field);
      case WireFormatLite::WIRETYPE_START_GROUP: {
        const int start = input_.CurrentPosition();
        if (!WireFormatLite::SkipField(&input_, tag)) return false;
        total_ += kGroupGrowth * static_cast<uint64_t>(input_.CurrentPosition() - start);
        return true;
      }
      default: return WireFormatLite::SkipField(&input_, tag);
    }
  }

  bool WalkDelimited(const FieldDescriptor* field) {
    int length = 0;
    if (!input_.ReadVarintSizeAsInt(&length)) return false;
    if (field != nullptr && field->message_type() != nullptr) {
      total_ += kMessageBytes;
      const auto limit = input_.PushLimit(length);
      const bool walked = WalkMessage(*field->message_type());
      input_.PopLimit(limit);
      return walked;
    }
    if (field == nullptr) total_ += kUnknownStringBytes;
    const bool packed = field != nullptr && field->is_packable();
    total_ += static_cast<uint64_t>(length) * (packed ? PackedGrowth(*field) : 1);
    return input_.Skip(length);
  }

  static uint64_t PackedGrowth(const FieldDescriptor& field) {
    switch (field.type()) {
      case FieldDescriptor::TYPE_DOUBLE:
      case FieldDescriptor::TYPE_FIXED64:
      case FieldDescriptor::TYPE_SFIXED64: return 1;
      default: return kPackedGrowth;
    }
  }

  google::protobuf::io::CodedInputStream input_;
  const uint64_t give_up_above_;
  uint64_t total_ = 0;
};

}  // namespace

std::optional<uint64_t> DecodedSizeBound(google::protobuf::io::ZeroCopyInputStream& bytes,
                                         const google::protobuf::Descriptor& type,
                                         uint64_t give_up_above) {
  Walker walker(bytes, give_up_above);
  if (!walker.WalkMessage(type)) return std::nullopt;
  return walker.total();
}

}  // namespace gridfold::server
