// Messages of streams taken apart: whatever the bytes and the pieces they come in, as Protobuf's
// own parser does; and the queue that keeps the pieces.
#include "server/wire/stream_message.h"

#include <gtest/gtest.h>

#include <cstring>
#include <random>
#include <string>
#include <vector>

#include "gridfold/v1/compute_service.pb.h"
#include "server/wire/piece_queue.h"

namespace gridfold::server {
namespace {

// The bytes in slices that are cut at random.
grpc::ByteBuffer InPieces(const std::string& bytes, std::mt19937_64& random) {
  std::vector<grpc::Slice> slices;
  const size_t piece_bytes_max = 1 + random() % 40;
  for (size_t begin = 0; begin < bytes.size();) {
    const size_t size = std::min<size_t>(random() % (piece_bytes_max + 1), bytes.size() - begin);
    slices.emplace_back(bytes.data() + begin, size);
    begin += size;
  }
  return grpc::ByteBuffer(slices.data(), slices.size());
}

std::string Join(const std::vector<grpc::Slice>& slices) {
  std::string bytes;
  for (const grpc::Slice& slice : slices) {
    bytes.append(reinterpret_cast<const char*>(slice.begin()), slice.size());
  }
  return bytes;
}

v1::HistogramStreamRequest RandomMessage(std::mt19937_64& random) {
  v1::HistogramStreamRequest message;
  const auto bytes = [&] { return std::string(random() % 300, static_cast<char>(random())); };
  if (random() % 2 == 0) {
    message.mutable_request()->set_channel_count(static_cast<uint32_t>(random() % 3));
    message.mutable_request()->add_quantiles(0.5);
  }
  if (random() % 2 == 0) message.set_data(bytes());
  if (random() % 2 == 0) message.set_y_data(bytes());
  if (random() % 2 == 0) message.set_weights(bytes());
  if (random() % 4 == 0) message.set_element_count(random() >> (random() % 64));
  return message;
}

// Repeats, unknown fields, groups, cut ends, flipped bits.
std::string Damage(std::string bytes, std::mt19937_64& random) {
  switch (random() % 6) {
    case 0: return bytes;
    case 1: return bytes + RandomMessage(random).SerializeAsString();
    case 2: return bytes.substr(0, random() % (bytes.size() + 1));
    case 3: {
      v1::ReduceStreamRequest other;
      other.set_data(bytes);
      return other.SerializeAsString() + bytes;
    }
    default: break;
  }
  for (uint64_t i = 1 + random() % 3; i > 0 && !bytes.empty(); --i) {
    bytes[random() % std::min<size_t>(bytes.size(), 12)] = static_cast<char>(random());
  }
  return bytes;
}

TEST(StreamMessageTest, FindsWhatProtobufFinds) {
  std::mt19937_64 random(20261121);
  int accepted = 0;
  int refused = 0;
  int joined = 0;
  for (int round = 0; round < 40'000; ++round) {
    const std::string bytes = Damage(RandomMessage(random).SerializeAsString(), random);
    grpc::ByteBuffer buffer = InPieces(bytes, random);
    const absl::StatusOr<StreamMessage> message = SplitMessage(buffer, 3);
    v1::HistogramStreamRequest expected;
    v1::ComputeHistogramRequest header;
    const bool is_message = expected.ParseFromString(bytes);
    const bool has_header = message.ok() && message->header.has_value();
    const bool found = message.ok() && (!has_header || header.ParseFromString(*message->header));
    ASSERT_GE(found, is_message) << round;
    (is_message ? accepted : refused) += 1;
    // Two damaged headers may make sense when they are joined; Protobuf looks at each.
    joined += found && !is_message ? 1 : 0;
    if (!is_message) continue;
    ASSERT_EQ(has_header, expected.has_request());
    ASSERT_EQ(header.SerializeAsString(), expected.request().SerializeAsString());
    ASSERT_EQ(message->element_count.has_value(), expected.has_element_count());
    ASSERT_EQ(message->element_count.value_or(0), expected.element_count());
    ASSERT_EQ(Join(message->arrays[0]), expected.data());
    ASSERT_EQ(Join(message->arrays[1]), expected.y_data());
    ASSERT_EQ(Join(message->arrays[2]), expected.weights());
  }
  EXPECT_GT(accepted, 5'000);
  EXPECT_GT(refused, 5'000);
  EXPECT_LT(joined, 20);
}

TEST(StreamMessageTest, FieldsThatAMessageDoesNotHaveAreUnknown) {
  v1::HistogramStreamRequest message;
  message.set_data("abc");
  message.set_weights("xyz");
  std::mt19937_64 random(1);
  grpc::ByteBuffer buffer = InPieces(message.SerializeAsString(), random);
  const auto split = SplitMessage(buffer, 1);
  ASSERT_TRUE(split.ok());
  EXPECT_EQ(Join(split->arrays[0]), "abc");
  EXPECT_TRUE(split->arrays[2].empty());
}

TEST(StreamMessageTest, LengthsBeyondTheEnd) {
  std::mt19937_64 random(1);
  for (const std::string& bytes :
       {std::string("\x12\x05"
                    "abcd"),
        std::string("\x12\xff\xff\xff\xff\x0f"),
        std::string("\x12\xff\xff\xff\xff\x07"
                    "a"),
        std::string("\x12"), std::string("\x80"), std::string("\x0a\x80"), std::string("\0", 1),
        std::string("\x13"), std::string("\x17")}) {
    grpc::ByteBuffer buffer = InPieces(bytes, random);
    EXPECT_TRUE(absl::IsInvalidArgument(SplitMessage(buffer, 3).status()));
  }
}

TEST(PieceQueueTest, KeepsTheBytesInOrder) {
  std::mt19937_64 random(7);
  for (int round = 0; round < 50; ++round) {
    std::string expected;
    PieceQueue queue;
    for (int step = 0; step < 200; ++step) {
      PieceQueue more;
      for (uint64_t i = random() % 4; i > 0; --i) {
        const std::string bytes(random() % 5 == 0 ? random() % 20'000 : random() % 5,
                                static_cast<char>(random()));
        more.Append(grpc::Slice(bytes));
        expected += bytes;
      }
      queue.Append(more);
      EXPECT_EQ(more.size_bytes(), 0u);
      ASSERT_EQ(queue.size_bytes(), expected.size());
      const uint64_t first = random() % (expected.size() + 1);
      std::string got;
      for (const kernels::HostSpan& span : queue.First(first)) {
        got.append(reinterpret_cast<const char*>(span.data), span.size_bytes);
      }
      ASSERT_EQ(got, expected.substr(0, first));
      if (random() % 2 == 0) {
        queue.RemoveFirst(first);
        expected.erase(0, first);
      }
    }
  }
}

// A million messages of a byte are not a million pieces.
TEST(PieceQueueTest, SmallPiecesAreJoined) {
  PieceQueue queue;
  for (int i = 0; i < 1'000'000; ++i) queue.Append(grpc::Slice("x", 1));
  EXPECT_EQ(queue.size_bytes(), 1'000'000u);
  EXPECT_LE(queue.First(1'000'000).size(), 20u);
}

}  // namespace
}  // namespace gridfold::server
