// Answers whose bulk is left in place: what the generated class makes of the same bytes.
#include "client/library/bulk_message.h"

#include <algorithm>
#include <random>
#include <string>
#include <vector>

#include "gridfold/v1/array_service.pb.h"
#include "gtest/gtest.h"

namespace gridfold::client {
namespace {

// The bytes in slices of `slice_bytes`, with an empty one before each.
grpc::ByteBuffer InSlices(const std::string& bytes, size_t slice_bytes) {
  std::vector<grpc::Slice> slices;
  for (size_t begin = 0; begin < bytes.size(); begin += slice_bytes) {
    slices.emplace_back();
    slices.emplace_back(bytes.substr(begin, slice_bytes));
  }
  return {slices.data(), slices.size()};
}

struct Answer {
  bool is_message = false;
  std::string others;
  std::string bulk;

  bool operator==(const Answer&) const = default;
};

Answer Parsed(const grpc::ByteBuffer& bytes) {
  v1::ReadArrayResponse message;
  BulkBytes bulk;
  Answer answer;
  answer.is_message =
      ParseBesideBulk(bytes, v1::ReadArrayResponse::kDataFieldNumber, message, bulk).ok();
  if (!answer.is_message) return answer;
  EXPECT_TRUE(message.data().empty());
  answer.others = message.SerializeAsString();
  answer.bulk.resize(bulk.size_bytes());
  bulk.CopyTo(reinterpret_cast<std::byte*>(answer.bulk.data()));
  std::string appended = "before";
  bulk.AppendTo(appended);
  EXPECT_EQ(appended, "before" + answer.bulk);
  return answer;
}

Answer Expected(const std::string& bytes) {
  v1::ReadArrayResponse message;
  Answer answer;
  answer.is_message = message.ParseFromString(bytes);
  if (!answer.is_message) return answer;
  answer.bulk = message.data();
  message.clear_data();
  answer.others = message.SerializeAsString();
  return answer;
}

v1::ReadArrayResponse Message(size_t bulk_bytes) {
  v1::ReadArrayResponse message;
  message.mutable_array()->set_name("a name");
  message.mutable_array()->add_shape(300);
  message.set_first_element(uint64_t{1} << 40);
  for (size_t i = 0; i < bulk_bytes; ++i) message.mutable_data()->push_back(static_cast<char>(i));
  return message;
}

TEST(BulkMessageTest, BulkIsLeftOutAndTheRestParsed) {
  for (const size_t bulk_bytes : {0u, 1u, 127u, 128u, 20'000u}) {
    const std::string bytes = Message(bulk_bytes).SerializeAsString();
    for (const size_t slice_bytes : {1u, 2u, 7u, 1'000u, 100'000u}) {
      EXPECT_EQ(Parsed(InSlices(bytes, slice_bytes)), Expected(bytes))
          << bulk_bytes << " in slices of " << slice_bytes;
    }
  }
}

TEST(BulkMessageTest, OfSeveralTheLastCounts) {
  const std::string bytes = Message(100).SerializeAsString() + Message(30).SerializeAsString();
  EXPECT_EQ(Parsed(InSlices(bytes, 9)), Expected(bytes));
  EXPECT_EQ(Parsed(InSlices(bytes, 9)).bulk.size(), 30u);
}

TEST(BulkMessageTest, AnEmptyMessageHasNoBulk) { EXPECT_EQ(Parsed(InSlices("", 1)), Expected("")); }

TEST(BulkMessageTest, AFieldCutShortIsNoMessage) {
  const std::string bytes = Message(40).SerializeAsString();
  int refused = 0;
  for (size_t size = 0; size < bytes.size(); ++size) {
    const Answer answer = Parsed(InSlices(bytes.substr(0, size), 5));
    EXPECT_EQ(answer, Expected(bytes.substr(0, size))) << size;
    refused += answer.is_message ? 0 : 1;
  }
  EXPECT_GT(refused, 40);
}

TEST(BulkMessageTest, BytesOfAHostileServerAreJudgedAsTheClassJudgesThem) {
  std::mt19937 random(1);
  const std::string whole = Message(20).SerializeAsString();
  int taken = 0;
  for (int i = 0; i < 20'000; ++i) {
    std::string bytes = whole;
    for (int change = 0; change < 2; ++change) bytes[random() % bytes.size()] ^= 1 << random() % 8;
    const Answer expected = Expected(bytes);
    const Answer answer = Parsed(InSlices(bytes, 1 + random() % 50));
    // The class takes some that this refuses, such as groups, of which no message has any.
    if (!answer.is_message) continue;
    EXPECT_EQ(answer, expected);
    ++taken;
  }
  EXPECT_GT(taken, 1'000);
}

}  // namespace
}  // namespace gridfold::client
