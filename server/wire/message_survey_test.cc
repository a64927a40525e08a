// The bound holds for what Protobuf really allocates, and is found without allocating it.
#include "server/wire/message_survey.h"

#include <gtest/gtest.h>

#include <string>

#include "google/protobuf/io/zero_copy_stream_impl_lite.h"
#include "gridfold/v1/compute_service.pb.h"

namespace gridfold::server {
namespace {

constexpr uint64_t kLarge = uint64_t{1} << 40;

std::optional<uint64_t> Bound(const std::string& bytes, const google::protobuf::Descriptor& type,
                              uint64_t give_up_above = kLarge) {
  google::protobuf::io::ArrayInputStream stream(bytes.data(), static_cast<int>(bytes.size()));
  const std::optional<MessageSurvey> survey = SurveyMessage(stream, type, give_up_above);
  if (!survey) return std::nullopt;
  EXPECT_TRUE(survey->edits.empty()) << "no bulk field was named";
  return survey->decoded_bytes;
}

template <class Message>
std::optional<uint64_t> BoundAs(const std::string& bytes, uint64_t give_up_above = kLarge) {
  return Bound(bytes, *Message::descriptor(), give_up_above);
}

// What is decoded takes no more than the bound says, which is no more than `factor` times that.
template <class Message>
void ExpectCovers(const std::string& bytes, uint64_t factor) {
  Message message;
  ASSERT_TRUE(message.ParseFromString(bytes));
  const std::optional<uint64_t> bound = BoundAs<Message>(bytes);
  ASSERT_TRUE(bound.has_value());
  EXPECT_GE(*bound + sizeof(Message), message.SpaceUsedLong());
  EXPECT_LE(*bound, message.SpaceUsedLong() * factor + 1000);
  EXPECT_LE(*bound, bytes.size() * kDecodedGrowthMax);
}

std::string Repeat(const std::string& piece, int count) {
  std::string bytes;
  for (int i = 0; i < count; ++i) bytes += piece;
  return bytes;
}

TEST(MessageSurveyTest, DataCountsOnce) {
  v1::ReduceArrayRequest request;
  request.mutable_array()->mutable_inline_array()->mutable_data()->assign(1'000'000, 'x');
  ExpectCovers<v1::ReduceArrayRequest>(request.SerializeAsString(), 2);
}

TEST(MessageSurveyTest, SmallFieldsCountAsTheyAreInMemory) {
  v1::ReduceArrayRequest offsets;
  for (int i = 0; i < 100'000; ++i) {
    offsets.mutable_grouping()->mutable_segments()->add_offsets(1);
  }
  ExpectCovers<v1::ReduceArrayRequest>(offsets.SerializeAsString(), 4);
  // Empty bin specifications, empty even bins, and fields that are not known.
  ExpectCovers<v1::ComputeHistogramRequest>(Repeat(std::string("\x12\x00", 2), 10'000), 8);
  ExpectCovers<v1::ComputeHistogramRequest>(Repeat(std::string("\x12\x02\x0A\x00", 4), 10'000), 8);
  ExpectCovers<v1::ComputeHistogramRequest>(Repeat(std::string("\x98\x06\x01", 3), 10'000), 8);
  ExpectCovers<v1::ComputeHistogramRequest>(Repeat(std::string("\x9B\x06\x9C\x06", 4), 10'000), 12);
  ExpectCovers<v1::ComputeHistogramRequest>(Repeat(std::string("\x9A\x06\x00", 3), 10'000), 8);
}

TEST(MessageSurveyTest, GivesUpAboveTheLimit) {
  const std::string bytes = Repeat(std::string("\x12\x00", 2), 1'000'000) + "\xFF";
  const std::optional<uint64_t> bound = BoundAs<v1::ComputeHistogramRequest>(bytes, 1000);
  ASSERT_TRUE(bound.has_value());
  EXPECT_GT(*bound, 1000u);
  EXPECT_LT(*bound, 2000u);
}

TEST(MessageSurveyTest, BytesThatAreNoMessage) {
  EXPECT_FALSE(BoundAs<v1::ReduceArrayRequest>("\xFF").has_value());
  EXPECT_FALSE(BoundAs<v1::ReduceArrayRequest>(std::string("\x0A\x05\x00", 3)).has_value());
  EXPECT_FALSE(BoundAs<v1::ReduceArrayRequest>("\x0A\xFF\xFF\xFF\xFF\x0F").has_value());
  EXPECT_EQ(BoundAs<v1::ReduceArrayRequest>(""), 0u);
}

}  // namespace
}  // namespace gridfold::server
