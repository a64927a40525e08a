// How much memory a message will take once it is decoded, and where its bulk data is, found by one
// walk over its bytes without decoding them: two bytes on the wire may cost fifty in memory, and a
// request must not take more than it was admitted with. Pure; thread-safe.
//
// Bulk data, the bytes of one field at any depth, need not be copied into the decoded message. The
// survey says which bytes to leave out, and what to put in their place, so that Protobuf's own
// parser makes the same message of the rest, with a marker of a few bytes for what was left out.
// Repeated fields and invalid messages have the same effect as without the survey.
#ifndef GRIDFOLD_SERVER_WIRE_MESSAGE_SURVEY_H_
#define GRIDFOLD_SERVER_WIRE_MESSAGE_SURVEY_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "google/protobuf/descriptor.h"
#include "google/protobuf/io/zero_copy_stream.h"

namespace gridfold::server {

// The most that a byte of a message takes in memory where no bulk data is left out.
inline constexpr uint64_t kDecodedGrowthMax = 96;

// Size of the marker that stands for bulk data.
inline constexpr size_t kBulkMarkerBytes = 5;

// Which data to leave out: that of the bytes field `field`, where it has at least `bytes_min`,
// which is at least kBulkMarkerBytes.
struct BulkField {
  const google::protobuf::FieldDescriptor* field = nullptr;  // Null: none.
  size_t bytes_min = kBulkMarkerBytes;
};

// Bytes [begin, end) of a message, and what to put in their place. The last `bulk_bytes` of them
// are bulk data.
struct WireEdit {
  size_t begin = 0;
  size_t end = 0;
  size_t bulk_bytes = 0;
  std::string replacement;
};

struct MessageSurvey {
  // An upper bound, with the bulk data; larger than `give_up_above` as soon as it exceeds that.
  uint64_t decoded_bytes = 0;
  // In the order of the bytes. Complete unless the survey gave up.
  std::vector<WireEdit> edits;
};

// Nothing where the bytes are not a message of `type`, whose messages must not be recursive.
std::optional<MessageSurvey> SurveyMessage(google::protobuf::io::ZeroCopyInputStream& bytes,
                                           const google::protobuf::Descriptor& type,
                                           uint64_t give_up_above, const BulkField& bulk = {});

// Which of the edits with bulk data, counted from 0, the field of a decoded message stands for.
// Nothing where the field has its bytes itself: data of a marker's size is always left out.
std::optional<uint32_t> ReadBulkMarker(const std::string& field);

}  // namespace gridfold::server

#endif  // GRIDFOLD_SERVER_WIRE_MESSAGE_SURVEY_H_
