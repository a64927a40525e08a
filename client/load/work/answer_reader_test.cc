// Results of scans that do not come with the answer: what is not written, or not all there, is
// wrong.

#include "client/load/work/answer_reader.h"

#include <gtest/gtest.h>

#include <cstring>
#include <memory>
#include <string>
#include <vector>

#include "gridfold/v1/array_service.pb.h"
#include "gridfold/v1/compute_service.pb.h"

namespace gridfold::load {
namespace {

constexpr int64_t kSums[] = {1, 3, 6, 10};

grpc::ByteBuffer ToByteBuffer(const google::protobuf::MessageLite& message) {
  const grpc::Slice slice(message.SerializeAsString());
  return grpc::ByteBuffer(&slice, 1);
}

PreparedRequest SumsTo(ResultDestination destination) {
  const RequestKind kind{.operation = OperationKind::kScan,
                         .destination = destination,
                         .element_type = client::ElementType::kInt32};
  PreparedRequest request{.kind = kind, .method = "", .messages = {}};
  request.known.push_back(
      std::make_shared<const KnownAnswer>(ComputeKnownAnswer(kind, {.elements = {1, 2, 3, 4}})));
  return request;
}

std::string DifferenceOf(AnswerReader& reader) {
  const absl::StatusOr<Answer> answer = reader.Finish();
  return answer.ok() ? answer->difference : std::string(answer.status().message());
}

class SharedResultsTest : public ::testing::Test {
 protected:
  SharedResultsTest() { std::memcpy(bytes_.data(), kSums, sizeof(kSums)); }

  // Of an answer by which the results are at `offset_bytes`; `write` is what the server does.
  template <typename Write>
  std::string Difference(uint64_t offset_bytes, uint64_t element_count, Write write) {
    AnswerReader reader(request_, /*verify=*/true, &place_);
    write();
    v1::ScanArrayResponse response;
    v1::RegionSlice& slice = *response.mutable_region_slice();
    slice.set_name("region");
    slice.set_offset_bytes(offset_bytes);
    slice.set_element_type(v1::ELEMENT_TYPE_INT64);
    slice.add_shape(element_count);
    grpc::ByteBuffer message = ToByteBuffer(response);
    reader.Add(message);
    return DifferenceOf(reader);
  }

  void WriteAll() { std::memcpy(bytes_.data(), kSums, sizeof(kSums)); }

  const PreparedRequest request_ = SumsTo(ResultDestination::kShared);
  std::vector<std::byte> bytes_ = std::vector<std::byte>(256);
  ResultPlace place_{
      .destination = {.name = "region", .offset_bytes = 512}, .bytes = bytes_, .wire_field = {}};
};

TEST_F(SharedResultsTest, AreRightWhereAllHasBeenWritten) {
  EXPECT_EQ(Difference(512, 4, [&] { WriteAll(); }), "");
}

TEST_F(SharedResultsTest, OfTheCallBeforeDoNotPassForThisOnes) {
  EXPECT_EQ(Difference(512, 4, [] {}), "result 0 is wrong");
  EXPECT_EQ(Difference(512, 4, [&] { std::memcpy(bytes_.data(), kSums, sizeof(kSums) - 1); }),
            "result 3 is wrong");
}

TEST_F(SharedResultsTest, ElsewhereOrOfAnotherNumberAreWrong) {
  EXPECT_NE(Difference(0, 4, [&] { WriteAll(); }), "");
  EXPECT_NE(Difference(512, 3, [&] { WriteAll(); }), "");
}

TEST_F(SharedResultsTest, AreNotLookedAtWhereAFailedCallMayStillWrite) {
  place_.is_settled = false;
  AnswerReader reader(request_, /*verify=*/true, &place_);
  EXPECT_EQ(std::memcmp(bytes_.data(), kSums, sizeof(kSums)), 0);
  v1::ScanArrayResponse response;
  response.mutable_region_slice()->set_element_type(v1::ELEMENT_TYPE_INT64);
  grpc::ByteBuffer message = ToByteBuffer(response);
  reader.Add(message);
  const absl::StatusOr<Answer> answer = reader.Finish();
  ASSERT_TRUE(answer.ok()) << answer.status();
  EXPECT_FALSE(answer->is_verified);
}

// The results of a scan into an array of which `count` elements come back in two messages.
std::string ResidentDifference(size_t count, bool names_array = true) {
  const PreparedRequest request = SumsTo(ResultDestination::kResident);
  AnswerReader reader(request, /*verify=*/true, nullptr);
  v1::ScanArrayResponse response;
  if (names_array) {
    v1::ArrayDescription& array = *response.mutable_resident_array();
    array.set_name("sums");
    array.set_element_type(v1::ELEMENT_TYPE_INT64);
    array.add_shape(4);
  } else {
    response.mutable_inline_array()->set_element_type(v1::ELEMENT_TYPE_INT64);
  }
  grpc::ByteBuffer message = ToByteBuffer(response);
  reader.Add(message);
  EXPECT_EQ(reader.result_array(), names_array ? "sums" : "");
  for (const auto& [first, end] : {std::pair<size_t, size_t>(0, 2), {2, count}}) {
    v1::ReadArrayResponse content;
    content.set_first_element(first);
    content.set_data(kSums + first, (end - first) * sizeof(int64_t));
    grpc::ByteBuffer piece = ToByteBuffer(content);
    reader.AddArrayContent(piece);
  }
  return DifferenceOf(reader);
}

TEST(ResidentResultsTest, AreRightWhereAllCameBack) { EXPECT_EQ(ResidentDifference(4), ""); }

TEST(ResidentResultsTest, AreWrongWhereSomeOrTheArrayIsMissing) {
  EXPECT_EQ(ResidentDifference(3), "24 bytes of results");
  EXPECT_NE(ResidentDifference(4, /*names_array=*/false), "");
}

}  // namespace
}  // namespace gridfold::load
