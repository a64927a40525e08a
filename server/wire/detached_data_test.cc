// Requests whose data is detached: whatever the bytes and the slices they come in, what is decoded
// and what is detached make the message that Protobuf's own parser makes of the whole.
#include "server/wire/detached_data.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <random>
#include <string>
#include <vector>

#include "google/protobuf/unknown_field_set.h"
#include "gridfold/v1/compute_service.pb.h"
#include "server/planning/array_validation.h"
#include "server/wire/message_codec.h"

namespace gridfold::server {
namespace {

using google::protobuf::FieldDescriptor;
using google::protobuf::Message;

// Small, so that random data is on either side of it.
constexpr size_t kBytesMin = 20;

BulkField TestedData() { return {DetachableArrayData().field, kBytesMin}; }

grpc::ByteBuffer InSlices(const std::string& bytes, std::mt19937_64& random) {
  std::vector<grpc::Slice> slices;
  const size_t slice_bytes_max = 1 + random() % 60;
  for (size_t begin = 0; begin < bytes.size();) {
    const size_t size = std::min<size_t>(random() % (slice_bytes_max + 1), bytes.size() - begin);
    slices.emplace_back(bytes.data() + begin, size);
    begin += size;
  }
  return grpc::ByteBuffer(slices.data(), slices.size());
}

void ForEachInlineArray(Message& message, const std::function<void(v1::InlineArray&)>& visit) {
  if (auto* const array = dynamic_cast<v1::InlineArray*>(&message)) return visit(*array);
  const google::protobuf::Reflection& reflection = *message.GetReflection();
  std::vector<const FieldDescriptor*> fields;
  reflection.ListFields(message, &fields);
  for (const FieldDescriptor* const field : fields) {
    if (field->message_type() == nullptr) continue;
    if (!field->is_repeated()) {
      ForEachInlineArray(*reflection.MutableMessage(&message, field), visit);
      continue;
    }
    for (int i = 0; i < reflection.FieldSize(message, field); ++i) {
      ForEachInlineArray(*reflection.MutableRepeatedMessage(&message, field, i), visit);
    }
  }
}

// Puts the data back; returns how many arrays had lost it. None has where the message is small.
int PutBack(const DetachedData& detached, bool is_small, Message& request) {
  int count = 0;
  ForEachInlineArray(request, [&](v1::InlineArray& array) {
    const std::optional<kernels::HostSlices> data = detached.Find(array.data());
    EXPECT_EQ(data.has_value(), !is_small && array.data().size() == kBulkMarkerBytes);
    EXPECT_LT(array.data().size(), kBytesMin);
    if (!data) return;
    std::string joined;
    for (const kernels::HostSpan& piece : data->slices) {
      joined.append(reinterpret_cast<const char*>(piece.data), piece.size_bytes);
    }
    EXPECT_EQ(joined.size(), data->size_bytes);
    array.set_data(std::move(joined));
    ++count;
  });
  return count;
}

class DetachedDataTest : public testing::Test {
 protected:
  std::string RandomBytes() {
    const size_t sizes[] = {0, 1, kBulkMarkerBytes, kBytesMin - 1, kBytesMin, 130, 300};
    return std::string(sizes[random_() % std::size(sizes)], static_cast<char>(random_()));
  }

  void FillArray(v1::ArraySource& source) {
    if (random_() % 5 == 0) {
      source.mutable_resident_array()->set_name("some array");
      return;
    }
    v1::InlineArray& array = *source.mutable_inline_array();
    array.set_element_type(v1::ELEMENT_TYPE_UINT8);
    if (random_() % 3 == 0) array.add_shape(random_() % 1000);
    if (random_() % 5 != 0) array.set_data(RandomBytes());
  }

  void FillRandom(v1::ReduceArrayRequest& request) {
    FillArray(*request.mutable_array());
    request.add_statistics(v1::STATISTIC_SUM);
    if (random_() % 2 == 0) request.mutable_grouping()->mutable_segments()->add_offsets(300);
  }

  void FillRandom(v1::ScanArrayRequest& request) {
    FillArray(*request.mutable_array());
    request.mutable_destination()->mutable_inline_array();
  }

  void FillRandom(v1::ComputeHistogramRequest& request) {
    FillArray(*request.mutable_array());
    request.add_bins()->mutable_even()->set_bin_count(3);
    if (random_() % 2 == 0) FillArray(*request.mutable_y_array());
    if (random_() % 2 == 0) FillArray(*request.mutable_weights());
  }

  void FillRandom(v1::BatchComputeRequest& request) {
    for (uint64_t i = random_() % 4; i > 0; --i) {
      v1::BatchOperation& operation = *request.add_operations();
      switch (random_() % 4) {
        case 0: FillRandom(*operation.mutable_reduction()); break;
        case 1: FillRandom(*operation.mutable_scan()); break;
        case 2: FillRandom(*operation.mutable_histogram()); break;
        default: break;
      }
    }
  }

  template <class Request>
  std::string Encoded() {
    Request request;
    FillRandom(request);
    if (random_() % 8 == 0) {
      auto& unknown = *request.GetReflection()->MutableUnknownFields(&request);
      unknown.AddLengthDelimited(1000, RandomBytes());
      unknown.AddGroup(1001)->AddLengthDelimited(15, RandomBytes());
    }
    return request.SerializeAsString();
  }

  // A length-delimited field whose length takes more bytes than it needs.
  static std::string Overlong(int number, const std::string& value, int width) {
    std::string field(1, static_cast<char>(number << 3 | 2));
    for (int i = 0; i < width; ++i) {
      const auto bits = static_cast<char>(i < 5 ? value.size() >> (7 * i) & 0x7f : 0);
      field.push_back(static_cast<char>(i + 1 < width ? bits | 0x80 : bits));
    }
    return field + value;
  }

  // Several messages in one, cut ends, overlong lengths, changed bytes.
  template <class Request>
  std::string Damaged() {
    std::string bytes = Encoded<Request>();
    switch (random_() % 8) {
      case 0: return bytes;
      case 1: return bytes + Encoded<Request>();
      case 2: return bytes.substr(0, random_() % (bytes.size() + 1));
      case 3: {
        const auto width = [&] { return static_cast<int>(2 + random_() % 6); };
        const std::string array =
            Overlong(v1::InlineArray::kDataFieldNumber, RandomBytes() + "abc", width()) +
            Overlong(v1::InlineArray::kDataFieldNumber, RandomBytes(), width());
        return bytes + Overlong(1, Overlong(1, array, width()), width());
      }
      case 4: return bytes + bytes.substr(0, random_() % (bytes.size() + 1));
      default: break;
    }
    for (uint64_t i = 1 + random_() % 3; i > 0 && !bytes.empty(); --i) {
      bytes[random_() % std::min<size_t>(bytes.size(), 40)] = static_cast<char>(random_());
    }
    return bytes;
  }

  template <class Request>
  void Compare(int rounds) {
    int accepted = 0;
    int refused = 0;
    int detached_count = 0;
    for (int round = 0; round < rounds; ++round) {
      const std::string bytes = Damaged<Request>();
      SCOPED_TRACE(testing::PrintToString(bytes));
      Request expected;
      const bool is_message = expected.ParseFromString(bytes);
      grpc::ByteBuffer buffer = InSlices(bytes, random_);
      Request request;
      DetachedData detached;
      const absl::Status status = DecodeRequest(buffer, Limits{}, request, detached, TestedData());
      ASSERT_EQ(status.ok(), is_message) << status;
      (is_message ? accepted : refused) += 1;
      if (!is_message) {
        ASSERT_EQ(status.message(), "the bytes are not a message " + request.GetTypeName());
        continue;
      }
      ASSERT_EQ(buffer.Length(), 0u);
      detached_count += PutBack(detached, bytes.size() < kBytesMin, request);
      ASSERT_EQ(request.SerializeAsString(), expected.SerializeAsString());
    }
    EXPECT_GT(accepted, rounds / 4);
    EXPECT_GT(refused, rounds / 10);
    EXPECT_GT(detached_count, rounds / 8);
  }

  std::mt19937_64 random_{20261122};
};

TEST_F(DetachedDataTest, Reductions) { Compare<v1::ReduceArrayRequest>(20'000); }
TEST_F(DetachedDataTest, Scans) { Compare<v1::ScanArrayRequest>(20'000); }
TEST_F(DetachedDataTest, Histograms) { Compare<v1::ComputeHistogramRequest>(20'000); }
TEST_F(DetachedDataTest, Batches) { Compare<v1::BatchComputeRequest>(20'000); }

TEST_F(DetachedDataTest, LargeDataStaysWhereItIs) {
  v1::ReduceArrayRequest request;
  request.mutable_array()->mutable_inline_array()->set_data(std::string(kDetachedBytesMin, 'x'));
  const std::string bytes = request.SerializeAsString();
  const grpc::Slice slice(bytes);
  grpc::ByteBuffer buffer(&slice, 1);
  DetachedData detached;
  ASSERT_TRUE(DecodeRequest(buffer, Limits{}, request, detached, DetachableArrayData()).ok());
  const auto data = detached.Find(request.array().inline_array().data());
  ASSERT_TRUE(data.has_value());
  ASSERT_EQ(data->slices.size(), 1u);
  EXPECT_EQ(data->slices[0].data,
            reinterpret_cast<const std::byte*>(slice.end() - kDetachedBytesMin));
}

// As many as there may be take no more memory than is counted.
TEST_F(DetachedDataTest, ManySmallArraysAreCounted) {
  v1::BatchComputeRequest request;
  for (int i = 0; i < 2'000; ++i) {
    v1::ArraySource& array = *request.add_operations()->mutable_reduction()->mutable_array();
    array.mutable_inline_array()->set_data("abcde");
  }
  const std::string bytes = request.SerializeAsString();
  Limits limits;
  limits.message_bytes_max = 1 * kMiB;
  grpc::ByteBuffer buffer = InSlices(bytes, random_);
  DetachedData detached;
  v1::BatchComputeRequest decoded;
  const absl::Status status =
      DecodeRequest(buffer, limits, decoded, detached, DetachableArrayData());
  EXPECT_TRUE(absl::IsInvalidArgument(status)) << status;
}

}  // namespace
}  // namespace gridfold::server
