// Masks in ReduceStream and HistogramStream, on one device and on several: answers have the bits of
// one call with the mask, however both are cut; errors name their field.
#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

#include "server/testing/array_service_fixture.h"
#include "server/testing/compute_stream_fixture.h"
#include "server/testing/device_streams_fixture.h"

namespace gridfold::server {
namespace {

class WhereStreamTest : public DeviceStreamsTest {
 protected:
  WhereStreamTest() : DeviceStreamsTest(20261128) {}

  static constexpr size_t kRows = 60;
  static constexpr size_t kColumns = 40;
  static constexpr size_t kCount = kRows * kColumns;

  std::vector<float> RandomValues() {
    std::vector<float> values(kCount);
    for (float& x : values) {
      x = std::ldexp(static_cast<float>(static_cast<int32_t>(random_())),
                     static_cast<int>(random_() % 60) - 60);
      if (random_() % 10 == 0) x = random_() % 2 == 0 ? 0.0F : -0.0F;
    }
    return values;
  }
  // Some elements of each row, column and segment that has any.
  std::string RandomMask(uint64_t one_in) {
    std::string mask(kCount, '\0');
    for (char& byte : mask) byte = random_() % one_in == 0 ? '\1' : '\0';
    for (size_t i = 0; i < kCount; ++i) {
      if (i % kColumns == i / kColumns % kColumns ||
          i % kColumns == (i / kColumns + 7) % kColumns) {
        mask[i] = '\1';
      }
    }
    return mask;
  }

  static v1::ReduceArrayRequest Header() {
    v1::ReduceArrayRequest request;
    *request.mutable_where() = Streamed(v1::ELEMENT_TYPE_BOOL);
    for (const v1::Statistic statistic :
         {v1::STATISTIC_SUM, v1::STATISTIC_MIN, v1::STATISTIC_ARGMAX, v1::STATISTIC_MEAN,
          v1::STATISTIC_COUNT}) {
      request.add_statistics(statistic);
    }
    return request;
  }

  std::vector<v1::ReduceStreamRequest> Messages(const v1::ReduceArrayRequest& header,
                                                const std::string& data, const std::string& mask) {
    std::vector<v1::ReduceStreamRequest> messages(1);
    *messages[0].mutable_request() = header;
    for (const std::string& piece : RandomPieces(data, random_)) {
      messages.emplace_back().set_data(piece);
    }
    const std::vector<std::string> pieces = RandomPieces(mask, random_);
    for (size_t i = 0; i < pieces.size(); ++i) {
      if (messages.size() <= i) messages.emplace_back();
      messages[i].set_where(pieces[i]);
    }
    return messages;
  }

  template <class T>
  void ExpectAsOneCall(v1::ReduceArrayRequest request, v1::ElementType type,
                       const std::vector<T>& values, const std::string& mask, bool is_matrix) {
    v1::ReduceArrayRequest whole = request;
    *whole.mutable_array() = ArrayOf(type, values);
    *whole.mutable_where() =
        ArrayOf(v1::ELEMENT_TYPE_BOOL, std::vector<char>(mask.begin(), mask.end()));
    if (is_matrix) {
      for (v1::ArraySource* const source : {whole.mutable_array(), whole.mutable_where()}) {
        source->mutable_inline_array()->add_shape(kRows);
        source->mutable_inline_array()->add_shape(kColumns);
      }
    }
    grpc::ClientContext context;
    v1::ReduceArrayResponse expected;
    const grpc::Status called = server_.compute().ReduceArray(&context, whole, &expected);
    ASSERT_TRUE(called.ok()) << called.error_message();
    *request.mutable_array() = Streamed(type, is_matrix ? kColumns : 0);
    for (int round = 0; round < 4; ++round) {
      v1::ReduceStreamResponse response;
      const grpc::Status status = Send(server_, Messages(request, BytesOf(values), mask), response);
      ASSERT_TRUE(status.ok()) << status.error_message();
      EXPECT_EQ(WithoutTimes(response.result()), WithoutTimes(expected)) << request.DebugString();
    }
  }

  v1::ComputeHistogramRequest Bins() {
    v1::ComputeHistogramRequest request;
    *request.mutable_array() = Streamed(v1::ELEMENT_TYPE_FLOAT32);
    *request.mutable_where() = Streamed(v1::ELEMENT_TYPE_BOOL);
    v1::EvenBins& even = *request.add_bins()->mutable_even();
    even.set_bin_count(9);
    even.set_lower_bound(-0.5);
    even.set_upper_bound(0.5);
    return request;
  }

  void ExpectError(const std::vector<v1::ReduceStreamRequest>& messages, const std::string& field,
                   const std::string& text = "") {
    ExpectStreamError<v1::ReduceStreamResponse>(messages, field, text);
  }
};

INSTANTIATE_TEST_SUITE_P(Devices, WhereStreamTest, testing::Values(1, 3));

TEST_P(WhereStreamTest, ReductionsHaveTheBitsOfOneCall) {
  const std::vector<float> values = RandomValues();
  for (const uint64_t one_in : {2, 30}) {
    const std::string mask = RandomMask(one_in);
    v1::ReduceArrayRequest whole = Header();
    ExpectAsOneCall(whole, v1::ELEMENT_TYPE_FLOAT32, values, mask, false);
    whole.set_first_index(3'000'000'000'000);
    ExpectAsOneCall(whole, v1::ELEMENT_TYPE_FLOAT32, values, mask, true);
    for (const int32_t axis : {0, 1}) {
      v1::ReduceArrayRequest axes = Header();
      axes.mutable_grouping()->set_axis(axis);
      axes.set_nan_policy(v1::NAN_POLICY_IGNORE);
      ExpectAsOneCall(axes, v1::ELEMENT_TYPE_FLOAT32, values, mask, true);
    }
    // Segments, some of which are empty.
    v1::ReduceArrayRequest segments = Header();
    segments.clear_statistics();
    segments.add_statistics(v1::STATISTIC_SUM);
    segments.add_statistics(v1::STATISTIC_L1_NORM);
    for (const uint64_t offset :
         {size_t{0}, size_t{0}, size_t{5}, size_t{900}, size_t{900}, kCount, kCount}) {
      segments.mutable_grouping()->mutable_segments()->add_offsets(offset);
    }
    ExpectAsOneCall(segments, v1::ELEMENT_TYPE_FLOAT32, values, mask, false);
  }
}

TEST_P(WhereStreamTest, BoolElementsAndMasksOfNothing) {
  std::vector<char> truths(kCount);
  for (char& truth : truths) truth = static_cast<char>(random_() % 2);
  v1::ReduceArrayRequest request;
  *request.mutable_where() = Streamed(v1::ELEMENT_TYPE_BOOL);
  request.add_statistics(v1::STATISTIC_ANY);
  request.add_statistics(v1::STATISTIC_SUM);
  request.add_statistics(v1::STATISTIC_ALL);
  request.mutable_grouping()->set_axis(1);
  ExpectAsOneCall(request, v1::ELEMENT_TYPE_BOOL, truths, std::string(kCount, '\0'), true);
  ExpectAsOneCall(request, v1::ELEMENT_TYPE_BOOL, truths, RandomMask(5), true);
}

TEST_P(WhereStreamTest, SumsAreThoseOfTheElementsThatCount) {
  std::vector<int32_t> values(kCount);
  std::vector<int64_t> expected(kColumns);
  const std::string mask = RandomMask(3);
  for (size_t i = 0; i < kCount; ++i) {
    values[i] = static_cast<int32_t>(random_());
    if (mask[i] != 0) expected[i % kColumns] += values[i];
  }
  v1::ReduceArrayRequest request = Header();
  request.mutable_grouping()->set_axis(0);
  *request.mutable_array() = Streamed(v1::ELEMENT_TYPE_INT32, kColumns);
  v1::ReduceStreamResponse response;
  const grpc::Status status = Send(server_, Messages(request, BytesOf(values), mask), response);
  ASSERT_TRUE(status.ok()) << status.error_message();
  const auto& sums = response.result().results(0).values().int64_values().values();
  EXPECT_EQ(std::vector<int64_t>(sums.begin(), sums.end()), expected);
}

TEST_P(WhereStreamTest, HistogramsHaveTheBitsOfOneCall) {
  const std::vector<float> samples = RandomValues();
  const std::vector<float> y_samples = RandomValues();
  std::vector<double> weights;
  for (const float x : RandomValues()) weights.push_back(x);
  const std::string mask = RandomMask(3);
  for (const bool two_dimensional : {false, true}) {
    for (const bool weighted : {false, true}) {
      v1::ComputeHistogramRequest header = Bins();
      if (two_dimensional) *header.mutable_y_array() = Streamed(v1::ELEMENT_TYPE_FLOAT32);
      if (weighted) *header.mutable_weights() = Streamed(v1::ELEMENT_TYPE_FLOAT64);
      header.set_return_accumulator(true);
      v1::ComputeHistogramRequest whole = header;
      *whole.mutable_array() = ArrayOf(v1::ELEMENT_TYPE_FLOAT32, samples);
      if (two_dimensional) *whole.mutable_y_array() = ArrayOf(v1::ELEMENT_TYPE_FLOAT32, y_samples);
      if (weighted) *whole.mutable_weights() = ArrayOf(v1::ELEMENT_TYPE_FLOAT64, weights);
      *whole.mutable_where() =
          ArrayOf(v1::ELEMENT_TYPE_BOOL, std::vector<char>(mask.begin(), mask.end()));
      grpc::ClientContext context;
      v1::ComputeHistogramResponse expected;
      const grpc::Status called = server_.compute().ComputeHistogram(&context, whole, &expected);
      ASSERT_TRUE(called.ok()) << called.error_message();
      std::vector<v1::HistogramStreamRequest> messages(1);
      *messages[0].mutable_request() = header;
      for (const std::string& piece : RandomPieces(BytesOf(samples), random_)) {
        messages.emplace_back().set_data(piece);
      }
      const auto beside = [&](const std::string& bytes, auto set) {
        const std::vector<std::string> pieces = RandomPieces(bytes, random_);
        for (size_t i = 0; i < pieces.size(); ++i) {
          if (messages.size() <= i) messages.emplace_back();
          set(messages[i], pieces[i]);
        }
      };
      beside(mask, [](auto& message, const std::string& piece) { message.set_where(piece); });
      if (two_dimensional) {
        beside(BytesOf(y_samples),
               [](auto& message, const std::string& p) { message.set_y_data(p); });
      }
      if (weighted) {
        beside(BytesOf(weights),
               [](auto& message, const std::string& p) { message.set_weights(p); });
      }
      v1::HistogramStreamResponse response;
      const grpc::Status status = Send(server_, messages, response);
      ASSERT_TRUE(status.ok()) << status.error_message();
      EXPECT_EQ(WithoutTimes(response.result()), WithoutTimes(expected));
    }
  }
}

TEST_P(WhereStreamTest, ErrorsNameTheirField) {
  const std::string data = BytesOf(RandomValues());
  v1::ReduceArrayRequest header = Header();
  *header.mutable_array() = Streamed(v1::ELEMENT_TYPE_FLOAT32);
  const auto one = [&](const v1::ReduceArrayRequest& request, const std::string& mask) {
    std::vector<v1::ReduceStreamRequest> messages(1);
    *messages[0].mutable_request() = request;
    messages[0].set_data(data);
    messages[0].set_where(mask);
    return messages;
  };
  const std::string mask(kCount, '\1');
  ExpectError(one(header, mask.substr(1)), "where", "2399 elements, where `data` has 2400");
  ExpectError(one(header, mask + mask), "where");
  ExpectError(one(header, mask.substr(1) + '\2'), "where", "neither 0 nor 1");
  v1::ReduceArrayRequest faulty = header;
  *faulty.mutable_where() = Streamed(v1::ELEMENT_TYPE_UINT8);
  ExpectError(one(faulty, mask), "request.where.streamed_array.element_type");
  *faulty.mutable_where() = Streamed(v1::ELEMENT_TYPE_BOOL, 5);
  ExpectError(one(faulty, mask), "request.where.streamed_array.column_count");
  *faulty.mutable_where() = ArrayOf(v1::ELEMENT_TYPE_BOOL, std::vector<char>{1});
  ExpectError(one(faulty, mask), "request.where");
  faulty.clear_where();
  ExpectError(one(faulty, mask), "where", "no such array");
  faulty = header;
  faulty.set_return_accumulator(true);
  ExpectError(one(faulty, mask), "request.return_accumulator");
  // No element counts, of which there is no smallest.
  ExpectError(one(header, std::string(kCount, '\0')), "request.statistics[1]");
  v1::ReduceArrayRequest segments = header;
  for (const uint64_t offset : {0, 2000}) {
    segments.mutable_grouping()->mutable_segments()->add_offsets(offset);
  }
  ExpectError(one(segments, mask), "request.grouping.segments.offsets[1]");

  std::vector<v1::HistogramStreamRequest> messages(1);
  *messages[0].mutable_request() = Bins();
  messages[0].set_data(data);
  messages[0].set_where(mask.substr(2));
  v1::HistogramStreamResponse response;
  ExpectInvalidField(Send(server_, messages, response), "where");
  messages[0].mutable_request()->set_channel_count(2);
  ExpectInvalidField(Send(server_, messages, response), "request.where");
  messages[0].mutable_request()->clear_channel_count();
  messages[0].mutable_request()->clear_where();
  ExpectInvalidField(Send(server_, messages, response), "where");
}

}  // namespace
}  // namespace gridfold::server
