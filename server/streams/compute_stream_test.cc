// ReduceStream and HistogramStream over a real socket: answers have the bits of one call, however
// an array is cut; errors name their field.
#include <gtest/gtest.h>

#include <cmath>
#include <string>
#include <utility>
#include <vector>

#include "server/testing/array_service_fixture.h"
#include "server/testing/compute_stream_fixture.h"
#include "server/testing/stream_caller.h"

namespace gridfold::server {
namespace {

class ComputeStreamTest : public ComputeStreamFixture {
 protected:
  static v1::ReduceArrayRequest Statistics() {
    v1::ReduceArrayRequest request;
    for (const v1::Statistic statistic :
         {v1::STATISTIC_SUM, v1::STATISTIC_VARIANCE, v1::STATISTIC_ARGMIN, v1::STATISTIC_ARGMAX,
          v1::STATISTIC_COUNT, v1::STATISTIC_L1_NORM}) {
      request.add_statistics(statistic);
    }
    return request;
  }

  // Reduces the values in a call and, cut at random, in streams.
  void ExpectStreamsAsOneCall(v1::ReduceArrayRequest request, const std::vector<float>& values,
                              uint64_t columns) {
    *request.mutable_array() = ArrayOf(v1::ELEMENT_TYPE_FLOAT32, values);
    if (columns > 0) {
      request.mutable_array()->mutable_inline_array()->add_shape(values.size() / columns);
      request.mutable_array()->mutable_inline_array()->add_shape(columns);
    }
    grpc::ClientContext context;
    v1::ReduceArrayResponse expected;
    const grpc::Status called = server_.compute().ReduceArray(&context, request, &expected);
    ASSERT_TRUE(called.ok()) << called.error_message();
    expected.clear_execution();
    *request.mutable_array() = Streamed(v1::ELEMENT_TYPE_FLOAT32, columns);
    for (int round = 0; round < 10; ++round) {
      v1::ReduceStreamResponse response;
      const grpc::Status status =
          Send(server_, Messages(request, RandomPieces(BytesOf(values), random_)), response);
      ASSERT_TRUE(status.ok()) << status.error_message();
      EXPECT_EQ(response.result().execution().engine(), "cpu");
      EXPECT_GE(response.result().execution().bytes_read(), values.size() * sizeof(float));
      response.mutable_result()->clear_execution();
      EXPECT_EQ(response.result().SerializeAsString(), expected.SerializeAsString());
    }
  }

  grpc::Status StatusOf(const v1::ReduceArrayRequest& request,
                        const std::vector<std::string>& pieces = {}) {
    v1::ReduceStreamResponse response;
    return Send(server_, Messages(request, pieces), response);
  }
  grpc::Status StatusOf(const v1::ComputeHistogramRequest& request) {
    v1::HistogramStreamRequest message;
    *message.mutable_request() = request;
    v1::HistogramStreamResponse response;
    return Send(server_, {message}, response);
  }
  void ExpectFieldError(const v1::ReduceArrayRequest& request, const std::string& field,
                        const std::vector<std::string>& pieces = {}) {
    ExpectInvalidField(StatusOf(request, pieces), field);
  }
  void ExpectFieldError(const v1::ComputeHistogramRequest& request, const std::string& field) {
    ExpectInvalidField(StatusOf(request), field);
  }

  static v1::ComputeHistogramRequest Counts() {
    v1::ComputeHistogramRequest request;
    *request.mutable_array() = Streamed(v1::ELEMENT_TYPE_FLOAT32);
    v1::EvenBins& even = *request.add_bins()->mutable_even();
    even.set_bin_count(50);
    even.set_lower_bound(-1);
    even.set_upper_bound(1);
    return request;
  }
};

// Rows of several dimensions, as long as the groups need no more than one row after the other.
TEST_F(ComputeStreamTest, RowsOfSeveralDimensions) {
  const std::vector<float> values = RandomFloats(70 * 60);
  for (const std::vector<int32_t>& axes :
       std::vector<std::vector<int32_t>>{{0}, {0, 1}, {1, 2}, {-1}, {0, 1, 2}}) {
    v1::ReduceArrayRequest request = Statistics();
    request.set_keep_dimensions(axes.size() == 2);
    request.mutable_grouping()->mutable_axes()->mutable_axes()->Add(axes.begin(), axes.end());
    *request.mutable_array() = ArrayOf(v1::ELEMENT_TYPE_FLOAT32, values);
    for (const uint64_t extent : {70, 6, 10}) {
      request.mutable_array()->mutable_inline_array()->add_shape(extent);
    }
    grpc::ClientContext context;
    v1::ReduceArrayResponse expected;
    ASSERT_TRUE(server_.compute().ReduceArray(&context, request, &expected).ok());
    expected.clear_execution();
    *request.mutable_array() = Streamed(v1::ELEMENT_TYPE_FLOAT32);
    request.mutable_array()->mutable_streamed_array()->add_row_shape(6);
    request.mutable_array()->mutable_streamed_array()->add_row_shape(10);
    v1::ReduceStreamResponse response;
    const grpc::Status status =
        Send(server_, Messages(request, RandomPieces(BytesOf(values), random_)), response);
    ASSERT_TRUE(status.ok()) << status.error_message();
    response.mutable_result()->clear_execution();
    EXPECT_EQ(response.result().SerializeAsString(), expected.SerializeAsString());
    // A row of ten elements is whole, but not one of sixty.
    ExpectFieldError(request, "data",
                     {BytesOf(std::vector<float>(values.begin(), values.begin() + 70))});
  }
  v1::ReduceArrayRequest request = Statistics();
  *request.mutable_array() = Streamed(v1::ELEMENT_TYPE_FLOAT32);
  request.mutable_array()->mutable_streamed_array()->add_row_shape(6);
  request.mutable_array()->mutable_streamed_array()->add_row_shape(10);
  request.mutable_grouping()->set_axis(1);
  ExpectFieldError(request, "request.grouping.axis");
}

TEST_F(ComputeStreamTest, ReductionsHaveTheBitsOfOneCall) {
  const std::vector<float> values = RandomFloats(7 * 3000);
  for (const bool part : {false, true}) {
    v1::ReduceArrayRequest request = Statistics();
    request.set_return_accumulator(part);
    request.set_first_index(10);
    ExpectStreamsAsOneCall(request, values, 0);
    for (const uint32_t axis : {0, 1}) {
      request.mutable_grouping()->set_axis(axis);
      ExpectStreamsAsOneCall(request, values, part && axis == 1 ? 700 : 7);
    }
    auto& offsets = *request.mutable_grouping()->mutable_segments()->mutable_offsets();
    for (const uint64_t offset : {0, 3, 4, 5000, 20'999, 21'000}) offsets.Add(offset);
    ExpectStreamsAsOneCall(request, values, 0);
  }
}

TEST_F(ComputeStreamTest, PiecesOfAByteAndOneOfAll) {
  const std::vector<float> values = RandomFloats(2000);
  const std::string bytes = BytesOf(values);
  const v1::ReduceArrayRequest request = SumOf(v1::ELEMENT_TYPE_FLOAT32);
  v1::ReduceStreamRequest at_once;
  *at_once.mutable_request() = request;
  at_once.set_data(bytes);
  v1::ReduceStreamResponse expected;
  ASSERT_TRUE(Send(server_, {at_once}, expected).ok());
  std::vector<std::string> pieces;
  for (const char byte : bytes) pieces.emplace_back(1, byte);
  v1::ReduceStreamResponse response;
  ASSERT_TRUE(Send(server_, Messages(request, pieces), response).ok());
  EXPECT_EQ(response.result().results(0).SerializeAsString(),
            expected.result().results(0).SerializeAsString());
}

TEST_F(ComputeStreamTest, HistogramsHaveTheBitsOfOneCall) {
  const std::vector<float> x = RandomFloats(20'000);
  const std::vector<float> y = RandomFloats(20'000);
  std::vector<double> weights(20'000);
  for (double& w : weights) w = std::ldexp(static_cast<double>(random_() % 1000), -20);
  for (const bool two_dimensional : {false, true}) {
    for (const bool weighted : {false, true}) {
      v1::ComputeHistogramRequest request = Counts();
      *request.mutable_array() = ArrayOf(v1::ELEMENT_TYPE_FLOAT32, x);
      if (two_dimensional) *request.mutable_y_array() = ArrayOf(v1::ELEMENT_TYPE_FLOAT32, y);
      if (weighted) *request.mutable_weights() = ArrayOf(v1::ELEMENT_TYPE_FLOAT64, weights);
      request.set_return_accumulator(two_dimensional != weighted);
      if (!two_dimensional && !weighted) request.add_quantiles(0.3);
      grpc::ClientContext context;
      v1::ComputeHistogramResponse expected;
      ASSERT_TRUE(server_.compute().ComputeHistogram(&context, request, &expected).ok());
      expected.clear_execution();
      *request.mutable_array() = Streamed(v1::ELEMENT_TYPE_FLOAT32);
      if (two_dimensional) *request.mutable_y_array() = Streamed(v1::ELEMENT_TYPE_FLOAT32);
      if (weighted) *request.mutable_weights() = Streamed(v1::ELEMENT_TYPE_FLOAT64);
      for (int round = 0; round < 10; ++round) {
        std::vector<v1::HistogramStreamRequest> messages(1);
        *messages[0].mutable_request() = request;
        std::vector<std::string> pieces[3] = {RandomPieces(BytesOf(x), random_), {}, {}};
        if (two_dimensional) pieces[1] = RandomPieces(BytesOf(y), random_);
        if (weighted) pieces[2] = RandomPieces(BytesOf(weights), random_);
        for (size_t i = 0; i < 50; ++i) {
          v1::HistogramStreamRequest& message = messages.emplace_back();
          if (i < pieces[0].size()) message.set_data(pieces[0][i]);
          for (const auto& rest : {std::pair(1, i), std::pair(2, i)}) {
            const auto& of = pieces[rest.first];
            if (i >= of.size()) continue;
            (rest.first == 1 ? *message.mutable_y_data() : *message.mutable_weights()) = of[i];
          }
        }
        for (size_t i = 50; i < pieces[0].size(); ++i) {
          messages.emplace_back().set_data(pieces[0][i]);
        }
        for (size_t i = 50; i < pieces[1].size(); ++i) {
          messages.emplace_back().set_y_data(pieces[1][i]);
        }
        for (size_t i = 50; i < pieces[2].size(); ++i) {
          messages.emplace_back().set_weights(pieces[2][i]);
        }
        v1::HistogramStreamResponse response;
        const grpc::Status status = Send(server_, messages, response);
        ASSERT_TRUE(status.ok()) << status.error_message();
        response.mutable_result()->clear_execution();
        EXPECT_EQ(response.result().SerializeAsString(), expected.SerializeAsString());
      }
    }
  }
}

TEST_F(ComputeStreamTest, AnArrayLargerThanAnyMessage) {
  // Of 24 MiB, where a message has 1 MiB.
  const std::string piece = BytesOf(std::vector<int32_t>(200'000, 3));
  v1::ReduceStreamResponse response;
  const std::vector<std::string> pieces(30, piece);
  ASSERT_TRUE(Send(server_, Messages(SumOf(v1::ELEMENT_TYPE_INT32), pieces), response).ok());
  EXPECT_EQ(response.result().results(0).values().int64_values().values(0), 30 * 200'000 * 3);
}

TEST_F(ComputeStreamTest, TheRequestComesFirstAndOnce) {
  v1::ReduceStreamResponse response;
  ExpectInvalidField(Send(server_, std::vector<v1::ReduceStreamRequest>(), response), "request");
  ExpectInvalidField(Send(server_, std::vector<v1::ReduceStreamRequest>(2), response), "request");
  const auto messages = Messages(SumOf(v1::ELEMENT_TYPE_INT8), {});
  ExpectInvalidField(Send(server_, {messages[0], messages[0]}, response), "request");
  EXPECT_TRUE(Send(server_, messages, response).ok());
  EXPECT_EQ(response.result().results(0).values().int64_values().values(0), 0);
}

TEST_F(ComputeStreamTest, WhatStreamsRefuse) {
  ExpectFieldError(v1::ReduceArrayRequest(), "request.array");
  v1::ReduceArrayRequest reduction = SmallReduction();
  ExpectFieldError(reduction, "request.array");
  *reduction.mutable_array() = Resident("x");
  ExpectFieldError(reduction, "request.array");
  reduction = SumOf(v1::ELEMENT_TYPE_UNSPECIFIED);
  ExpectFieldError(reduction, "request.array.streamed_array.element_type");
  reduction = SumOf(v1::ELEMENT_TYPE_FLOAT32);
  reduction.add_statistics(v1::STATISTIC_PRODUCT);
  ExpectFieldError(reduction, "request.statistics[1]");
  reduction = SumOf(v1::ELEMENT_TYPE_INT32);
  reduction.mutable_grouping()->set_axis(1);
  ExpectFieldError(reduction, "request.grouping.axis");
  reduction.mutable_grouping()->set_axis(0);
  *reduction.mutable_array() = Streamed(v1::ELEMENT_TYPE_INT32, 10'001);
  ExpectAboveLimit(StatusOf(reduction), "request.grouping.axis");
  *reduction.mutable_array() = Streamed(v1::ELEMENT_TYPE_INT32, kMax);
  ExpectAboveLimit(StatusOf(reduction), "request.grouping.axis");
  reduction.mutable_grouping()->set_axis(1);
  ExpectFieldError(reduction, "data", {"abcd"});
  *reduction.mutable_array() = Streamed(v1::ELEMENT_TYPE_INT32, 2);
  reduction.set_delta_degrees_of_freedom(2);
  reduction.add_statistics(v1::STATISTIC_VARIANCE);
  ExpectFieldError(reduction, "request.delta_degrees_of_freedom", {"12345678"});
  reduction = SumOf(v1::ELEMENT_TYPE_INT8);
  reduction.mutable_grouping()->mutable_segments()->add_offsets(0);
  reduction.mutable_grouping()->mutable_segments()->add_offsets(3);
  ExpectFieldError(reduction, "request.grouping.segments.offsets[1]", {"12"});
  ExpectFieldError(reduction, "request.grouping.segments.offsets[1]", {"12", "34"});
  reduction = SumOf(v1::ELEMENT_TYPE_INT32);
  ExpectFieldError(reduction, "data", {"123", "45"});
  reduction.set_first_index(kMax);
  ExpectFieldError(reduction, "request.first_index", {"1234"});
  reduction = SumOf(v1::ELEMENT_TYPE_INT32);
  reduction.mutable_execution_options()->set_strategy("reduce/groups/contiguous");
  ExpectFieldError(reduction, "request.execution_options.strategy");

  v1::ComputeHistogramRequest histogram = Counts();
  histogram.mutable_bins(0)->mutable_even()->clear_lower_bound();
  histogram.mutable_bins(0)->mutable_even()->clear_upper_bound();
  ExpectFieldError(histogram, "request.bins[0]");
  histogram = Counts();
  histogram.mutable_execution_options()->set_strategy("histogram/shared");
  ExpectFieldError(histogram, "request.execution_options.strategy");
  histogram = Counts();
  *histogram.mutable_array() = Streamed(v1::ELEMENT_TYPE_FLOAT32, 2);
  ExpectFieldError(histogram, "request.array.streamed_array.column_count");
  histogram = Counts();
  *histogram.mutable_y_array() = Streamed(v1::ELEMENT_TYPE_FLOAT64);
  ExpectFieldError(histogram, "request.y_array.streamed_array.element_type");
  histogram = Counts();
  *histogram.mutable_weights() = ArrayOf<float>(v1::ELEMENT_TYPE_FLOAT32, {1});
  ExpectFieldError(histogram, "request.weights");
  *histogram.mutable_weights() = Streamed(v1::ELEMENT_TYPE_FLOAT64);
  histogram.mutable_bins(0)->mutable_even()->set_bin_count(5000);
  ExpectAboveLimit(StatusOf(histogram), "request.weights");
}

TEST_F(ComputeStreamTest, ArraysOfAHistogramThatDoNotFitTogether) {
  v1::HistogramStreamResponse response;
  v1::HistogramStreamRequest first;
  *first.mutable_request() = Counts();
  first.set_data("12345678");
  first.set_y_data("12345678");
  ExpectInvalidField(Send(server_, {first}, response), "y_data");
  *first.mutable_request()->mutable_y_array() = Streamed(v1::ELEMENT_TYPE_FLOAT32);
  EXPECT_TRUE(Send(server_, {first}, response).ok());
  first.set_y_data("1234");
  ExpectInvalidField(Send(server_, {first}, response), "y_data");
  first.set_y_data("1234567");
  ExpectInvalidField(Send(server_, {first}, response), "y_data");
  // What has come of one array only is bounded.
  first.clear_y_data();
  v1::HistogramStreamRequest more;
  more.set_data(std::string(kMiB / 2, 'x'));
  ExpectInvalidField(Send(server_, {first, more, more, more, more}, response), "data");
}

TEST_F(ComputeStreamTest, CallsThatAreNoStreamsRefuseStreamedArrays) {
  grpc::ClientContext context;
  v1::ReduceArrayResponse response;
  ExpectInvalidField(
      server_.compute().ReduceArray(&context, SumOf(v1::ELEMENT_TYPE_INT32), &response),
      "array.streamed_array");
}

TEST_F(ComputeStreamTest, BytesThatAreNoMessage) {
  RawStream stream(server_.channel(), "/gridfold.v1.ComputeService/ReduceStream");
  stream.Write("\x12\x7f no");
  EXPECT_EQ(stream.Read(), std::nullopt);
}

}  // namespace
}  // namespace gridfold::server
