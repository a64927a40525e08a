#include "server/wire/message_survey.h"

#include <utility>

#include "google/protobuf/io/coded_stream.h"
#include "google/protobuf/wire_format_lite.h"

namespace gridfold::server {

namespace {

using MessageType = google::protobuf::Descriptor;
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
// Of two bytes each: an empty message, a string of an unknown field, and nothing in a group.
static_assert((kFieldBytes + kMessageBytes) / 2 <= kDecodedGrowthMax &&
              (kFieldBytes + kUnknownStringBytes) / 2 <= kDecodedGrowthMax &&
              kFieldBytes / 2 + kGroupGrowth <= kDecodedGrowthMax &&
              kFieldBytes / 2 + kPackedGrowth <= kDecodedGrowthMax);
// Edits of the data and of the lengths around it, and what keeps account of it afterwards.
constexpr uint64_t kBulkFieldBytes = 1536;

// The number of the edit, and a byte more: only arrays of single bytes have data of that size.
std::string MakeMarker(uint32_t number) {
  std::string marker(kBulkMarkerBytes, '\0');
  for (int i = 0; i < 4; ++i) marker[i] = static_cast<char>(number >> (8 * i));
  return marker;
}

// A varint of `width` bytes, whatever the value: as strange as the one that it stands for, so that
// Protobuf takes it, or refuses it, alike.
std::string MakeVarint(uint64_t value, size_t width) {
  std::string varint(width, '\0');
  for (char& byte : varint) {
    byte = static_cast<char>(0x80 | (value & 0x7f));
    value >>= 7;
  }
  varint.back() = static_cast<char>(varint.back() & 0x7f);
  return varint;
}

class Walker {
 public:
  Walker(google::protobuf::io::ZeroCopyInputStream& bytes, uint64_t give_up_above,
         const BulkField& bulk)
      : input_(&bytes), give_up_above_(give_up_above), bulk_(bulk) {}

  // False where the bytes are no message.
  bool WalkMessage(const MessageType& type) {
    while (survey_.decoded_bytes <= give_up_above_) {
      const uint32_t tag = input_.ReadTag();
      if (tag == 0) return input_.ConsumedEntireMessage();
      if (!WalkField(type.FindFieldByNumber(WireFormatLite::GetTagFieldNumber(tag)), tag)) {
        return false;
      }
    }
    return true;
  }

  MessageSurvey Finish() && { return std::move(survey_); }

 private:
  // A length and where it stands.
  struct Length {
    size_t begin;
    size_t end;
    size_t value;
  };

  bool WalkField(const FieldDescriptor* field, uint32_t tag) {
    survey_.decoded_bytes += kFieldBytes;
    switch (WireFormatLite::GetTagWireType(tag)) {
      case WireFormatLite::WIRETYPE_LENGTH_DELIMITED: return WalkDelimited(field);
      case WireFormatLite::WIRETYPE_START_GROUP: {
        const size_t start = Position();
        if (!WireFormatLite::SkipField(&input_, tag)) return false;
        survey_.decoded_bytes += kGroupGrowth * (Position() - start);
        return true;
      }
      default: return WireFormatLite::SkipField(&input_, tag);
    }
  }

  bool WalkDelimited(const FieldDescriptor* field) {
    const size_t begin = Position();
    int value = 0;
    if (!input_.ReadVarintSizeAsInt(&value)) return false;
    const Length length{begin, Position(), static_cast<size_t>(value)};
    if (field != nullptr && field->message_type() != nullptr) {
      return WalkInnerMessage(*field->message_type(), length);
    }
    if (field == nullptr) survey_.decoded_bytes += kUnknownStringBytes;
    const bool packed = field != nullptr && field->is_packable();
    survey_.decoded_bytes += length.value * (packed ? PackedGrowth(*field) : 1);
    if (!input_.Skip(value)) return false;
    if (field != nullptr && field == bulk_.field) LeaveOut(length);
    return true;
  }

  // A message becomes shorter by what is left out of it.
  bool WalkInnerMessage(const MessageType& type, const Length& length) {
    survey_.decoded_bytes += kMessageBytes;
    const size_t edit = survey_.edits.size();
    const size_t left_out_before = bytes_left_out_;
    survey_.edits.push_back({length.begin, length.end, 0, {}});
    const auto limit = input_.PushLimit(static_cast<int>(length.value));
    const bool walked = WalkMessage(type);
    input_.PopLimit(limit);
    const size_t left_out = bytes_left_out_ - left_out_before;
    if (left_out == 0 && survey_.edits.size() == edit + 1) {
      survey_.edits.pop_back();
    } else {
      survey_.edits[edit].replacement =
          MakeVarint(length.value - left_out, length.end - length.begin);
    }
    return walked;
  }

  void LeaveOut(const Length& length) {
    if (length.value < bulk_.bytes_min && length.value != kBulkMarkerBytes) return;
    survey_.decoded_bytes += kBulkFieldBytes;
    survey_.edits.push_back(
        {.begin = length.begin,
         .end = length.end + length.value,
         .bulk_bytes = length.value,
         .replacement =
             MakeVarint(kBulkMarkerBytes, length.end - length.begin) + MakeMarker(bulk_count_++)});
    bytes_left_out_ += length.value - kBulkMarkerBytes;
  }

  static uint64_t PackedGrowth(const FieldDescriptor& field) {
    switch (field.type()) {
      case FieldDescriptor::TYPE_DOUBLE:
      case FieldDescriptor::TYPE_FIXED64:
      case FieldDescriptor::TYPE_SFIXED64: return 1;
      default: return kPackedGrowth;
    }
  }

  size_t Position() const { return static_cast<size_t>(input_.CurrentPosition()); }

  google::protobuf::io::CodedInputStream input_;
  const uint64_t give_up_above_;
  const BulkField bulk_;
  MessageSurvey survey_;
  uint32_t bulk_count_ = 0;
  size_t bytes_left_out_ = 0;
};

}  // namespace

std::optional<MessageSurvey> SurveyMessage(google::protobuf::io::ZeroCopyInputStream& bytes,
                                           const google::protobuf::Descriptor& type,
                                           uint64_t give_up_above, const BulkField& bulk) {
  Walker walker(bytes, give_up_above, bulk);
  if (!walker.WalkMessage(type)) return std::nullopt;
  return std::move(walker).Finish();
}

std::optional<uint32_t> ReadBulkMarker(const std::string& field) {
  if (field.size() != kBulkMarkerBytes) return std::nullopt;
  uint32_t number = 0;
  for (int i = 0; i < 4; ++i) number |= uint32_t{static_cast<uint8_t>(field[i])} << (8 * i);
  return number;
}

}  // namespace gridfold::server
