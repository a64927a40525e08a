// The streams of ComputeService over a real socket: answers have the bits of one call, however an
// array is cut; errors name their field; callers that go away, stall or come in numbers.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <cmath>
#include <random>
#include <thread>
#include <vector>

#include "server/proto_conversion.h"
#include "server/testing/array_service_fixture.h"
#include "server/testing/fake_engine.h"
#include "server/testing/stream_caller.h"

namespace gridfold::server {
namespace {

using testing::HasSubstr;

template <class Condition>
void WaitFor(Condition condition) {
  while (!condition()) std::this_thread::sleep_for(std::chrono::milliseconds(1));
}

class ComputeStreamTest : public testing::Test {
 protected:
  static Limits TestLimits() {
    Limits limits;
    limits.message_bytes_max = 1 * kMiB;
    limits.bin_count_max = 100'000;
    limits.group_count_max = 10'000;
    limits.lane_count = 2;
    limits.stream_count_max = 8;
    return limits;
  }

  std::vector<float> RandomFloats(size_t count) {
    std::vector<float> values(count);
    for (float& x : values) {
      x = std::ldexp(static_cast<float>(static_cast<int32_t>(random_())),
                     static_cast<int>(random_() % 60) - 60);
    }
    return values;
  }

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

  void ExpectFieldError(const v1::ReduceArrayRequest& request, const std::string& field,
                        const std::vector<std::string>& pieces = {}) {
    v1::ReduceStreamResponse response;
    ExpectInvalidField(Send(server_, Messages(request, pieces), response), field);
  }
  void ExpectFieldError(const v1::ComputeHistogramRequest& request, const std::string& field) {
    v1::HistogramStreamRequest message;
    *message.mutable_request() = request;
    v1::HistogramStreamResponse response;
    ExpectInvalidField(Send(server_, {message}, response), field);
  }

  static v1::ReduceArrayRequest SumOf(v1::ElementType type) {
    v1::ReduceArrayRequest request;
    *request.mutable_array() = Streamed(type);
    request.add_statistics(v1::STATISTIC_SUM);
    return request;
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

  std::mt19937_64 random_{20261121};
  std::unique_ptr<kernels::Engine> engine_ =
      *kernels::CreateEngine({.kind = kernels::EngineKind::kCpu, .cpu_threads = 2});
  TestServer server_{*engine_, TestLimits()};
};

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
  reduction.mutable_grouping()->set_axis(0);
  ExpectFieldError(reduction, "request.grouping.axis");
  *reduction.mutable_array() = Streamed(v1::ELEMENT_TYPE_INT32, 10'001);
  ExpectFieldError(reduction, "request.grouping.axis");
  *reduction.mutable_array() = Streamed(v1::ELEMENT_TYPE_INT32, kMax);
  ExpectFieldError(reduction, "request.grouping.axis");
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

  v1::ComputeHistogramRequest histogram = Counts();
  histogram.mutable_bins(0)->mutable_even()->clear_lower_bound();
  histogram.mutable_bins(0)->mutable_even()->clear_upper_bound();
  ExpectFieldError(histogram, "request.bins[0]");
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
  ExpectFieldError(histogram, "request.weights");
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

class ScanStreamTest : public ComputeStreamTest {
 protected:
  // A batch of the widest elements and its results fit in a message.
  static Limits ScanLimits() {
    Limits limits = TestLimits();
    limits.message_bytes_max = 3 * kMiB;
    return limits;
  }

  static v1::ScanArrayRequest RunningSum() {
    v1::ScanArrayRequest request;
    request.set_operation(v1::SCAN_OPERATION_SUM);
    return request;
  }

  static std::vector<v1::ScanStreamRequest> ScanMessages(const v1::ScanArrayRequest& header,
                                                         const std::vector<std::string>& pieces) {
    std::vector<v1::ScanStreamRequest> messages(1);
    *messages[0].mutable_request() = header;
    for (const std::string& piece : pieces) messages.emplace_back().set_data(piece);
    return messages;
  }

  // Scans the bytes in a call of another server, which takes them in one message, and in streams.
  void ExpectStreamsAsOneCall(v1::ScanArrayRequest request, v1::ElementType type,
                              const std::string& bytes, int rounds) {
    v1::InlineArray& whole = *request.mutable_array()->mutable_inline_array();
    whole.set_element_type(type);
    whole.set_data(bytes);
    grpc::ClientContext context;
    v1::ScanArrayResponse expected;
    const grpc::Status called = roomy_.compute().ScanArray(&context, request, &expected);
    ASSERT_TRUE(called.ok()) << called.error_message();
    *request.mutable_array() = Streamed(type);
    for (int round = 0; round < rounds; ++round) {
      std::vector<v1::ScanStreamResponse> answers;
      const grpc::Status status =
          Send(scan_server_, ScanMessages(request, PiecesThatFit(bytes)), answers);
      ASSERT_TRUE(status.ok()) << status.error_message();
      std::string results;
      for (size_t i = 0; i < answers.size(); ++i) {
        const v1::ElementType type_of_results = expected.inline_array().element_type();
        EXPECT_EQ(answers[i].element_type(), type_of_results);
        EXPECT_EQ(answers[i].has_execution(), i + 1 == answers.size());
        EXPECT_EQ(answers[i].first_element() * kernels::ElementSize(*FromWire(type_of_results, "")),
                  results.size());
        results += answers[i].data();
      }
      ASSERT_FALSE(answers.empty());
      EXPECT_EQ(answers.back().execution().engine(), "cpu");
      EXPECT_TRUE(results == expected.inline_array().data());
    }
  }

  std::vector<std::string> PiecesThatFit(const std::string& bytes) {
    std::vector<std::string> pieces;
    for (const std::string& piece : RandomPieces(bytes, random_)) {
      for (size_t begin = 0; begin == 0 || begin < piece.size(); begin += kMiB) {
        pieces.push_back(piece.substr(begin, kMiB));
      }
    }
    return pieces;
  }

  void ExpectScanError(const v1::ScanArrayRequest& request, const std::string& field,
                       const std::vector<std::string>& pieces = {}) {
    std::vector<v1::ScanStreamResponse> answers;
    ExpectInvalidField(Send(scan_server_, ScanMessages(request, pieces), answers), field);
  }

  TestServer roomy_{*engine_};
  TestServer scan_server_{*engine_, ScanLimits()};
};

TEST_F(ScanStreamTest, ScansHaveTheBitsOfOneCall) {
  const std::string floats = BytesOf(RandomFloats(3 * 131'072 + 1234));
  ExpectStreamsAsOneCall(RunningSum(), v1::ELEMENT_TYPE_FLOAT32, floats, 5);
  v1::ScanArrayRequest exact = RunningSum();
  exact.set_exact(true);
  exact.set_mode(v1::SCAN_MODE_EXCLUSIVE);
  exact.set_output_type(v1::ELEMENT_TYPE_FLOAT64);
  ExpectStreamsAsOneCall(exact, v1::ELEMENT_TYPE_FLOAT32, floats, 2);
  v1::ScanArrayRequest maximum = RunningSum();
  maximum.set_operation(v1::SCAN_OPERATION_MAX);
  ExpectStreamsAsOneCall(maximum, v1::ELEMENT_TYPE_FLOAT64, floats.substr(0, floats.size() / 8 * 8),
                         2);
  ExpectStreamsAsOneCall(RunningSum(), v1::ELEMENT_TYPE_INT8, floats.substr(0, 700'001), 3);
  // Nothing; an end where a part ends.
  ExpectStreamsAsOneCall(RunningSum(), v1::ELEMENT_TYPE_INT16, "", 1);
  ExpectStreamsAsOneCall(RunningSum(), v1::ELEMENT_TYPE_INT16, floats.substr(0, 2 * 131'072), 2);
}

TEST_F(ScanStreamTest, WhatScansRefuse) {
  v1::ScanArrayRequest request = RunningSum();
  ExpectScanError(request, "request.array");
  *request.mutable_array() = Streamed(v1::ELEMENT_TYPE_INT32, 3);
  ExpectScanError(request, "request.array.streamed_array.column_count");
  *request.mutable_array() = Streamed(v1::ELEMENT_TYPE_INT32);
  request.clear_operation();
  ExpectScanError(request, "request.operation");
  request = RunningSum();
  *request.mutable_array() = Streamed(v1::ELEMENT_TYPE_INT32);
  request.set_direction(v1::SCAN_DIRECTION_REVERSE);
  ExpectScanError(request, "request.direction");
  request.clear_direction();
  request.mutable_grouping()->set_axis(0);
  ExpectScanError(request, "request.grouping");
  request.mutable_grouping()->mutable_segments();
  ExpectScanError(request, "request.grouping");
  request.clear_grouping();
  request.mutable_destination()->mutable_in_place();
  ExpectScanError(request, "request.destination");
  request.mutable_destination()->mutable_resident_array();
  ExpectScanError(request, "request.destination");
  request.mutable_destination()->mutable_inline_array();
  ExpectScanError(request, "data", {"123", "4", "5"});
  std::vector<v1::ScanStreamResponse> answers;
  ExpectInvalidField(Send(scan_server_, std::vector<v1::ScanStreamRequest>(), answers), "request");
  // Where a batch does not fit in a message.
  *request.mutable_array() = Streamed(v1::ELEMENT_TYPE_INT64);
  ExpectInvalidField(Send(server_, ScanMessages(request, {}), answers),
                     "request.array.streamed_array");
}

TEST_F(ScanStreamTest, AnOverflowEndsTheStream) {
  v1::ScanArrayRequest request = RunningSum();
  *request.mutable_array() = Streamed(v1::ELEMENT_TYPE_INT64);
  std::vector<int64_t> values(300'000, 1);
  values[200'000] = std::numeric_limits<int64_t>::max();
  std::vector<v1::ScanStreamResponse> answers;
  const grpc::Status status =
      Send(scan_server_, ScanMessages(request, PiecesThatFit(BytesOf(values))), answers);
  ExpectError(status, grpc::StatusCode::OUT_OF_RANGE, kReasonIntegerOverflow);
}

TEST_F(ScanStreamTest, AReaderThatStopsHoldsTheSenderBack) {
  v1::ScanArrayRequest request = RunningSum();
  *request.mutable_array() = Streamed(v1::ELEMENT_TYPE_INT32);
  grpc::ClientContext context;
  const auto stream = scan_server_.compute().ScanStream(&context);
  std::atomic<uint64_t> written_bytes = 0;
  constexpr uint64_t kAllBytes = 128 * kMiB;
  std::thread sender([&] {
    v1::ScanStreamRequest message;
    *message.mutable_request() = request;
    message.set_data(std::string(kMiB, '\1'));
    for (uint64_t sent = 0; sent < kAllBytes; sent += kMiB) {
      if (!stream->Write(message)) return;
      message.clear_request();
      written_bytes += kMiB;
    }
    stream->WritesDone();
  });
  uint64_t last = 0;
  WaitFor([&] {
    std::this_thread::sleep_for(std::chrono::milliseconds(300));
    const uint64_t before = std::exchange(last, written_bytes.load());
    return before == last && last > 0;
  });
  // What waits, what has become results, and what the transport has taken in.
  EXPECT_LE(written_bytes.load(), 64 * kMiB);
  uint64_t result_bytes = 0;
  v1::ScanStreamResponse answer;
  while (stream->Read(&answer)) result_bytes += answer.data().size();
  sender.join();
  const grpc::Status status = stream->Finish();
  EXPECT_TRUE(status.ok()) << status.error_message();
  EXPECT_EQ(result_bytes, 2 * kAllBytes);
}

TEST_F(ScanStreamTest, ScansThatAreCancelledAnywhereLeaveNothingBehind) {
  for (int round = 0; round < 200; ++round) {
    grpc::ClientContext context;
    const auto stream = scan_server_.compute().ScanStream(&context);
    std::thread canceller([&] {
      std::this_thread::sleep_for(std::chrono::microseconds(random_() % 5000));
      context.TryCancel();
    });
    v1::ScanStreamRequest message;
    *message.mutable_request() = RunningSum();
    *message.mutable_request()->mutable_array() = Streamed(v1::ELEMENT_TYPE_INT8);
    message.set_data(std::string(200'000, 'x'));
    v1::ScanStreamResponse answer;
    for (int i = 0; i < 10 && stream->Write(message); ++i) {
      message.clear_request();
      if (i % 3 == 2 && !stream->Read(&answer)) break;
    }
    canceller.join();
    EXPECT_EQ(stream->Finish().error_code(), grpc::StatusCode::CANCELLED);
  }
  WaitFor([&] {
    const v1::GetStatisticsResponse statistics = scan_server_.GetStatistics();
    return statistics.lanes_busy() == 0 && statistics.jobs_queued() == 0;
  });
  // The last of them gives back its place when it ends.
  WaitFor([&] {
    std::vector<v1::ScanStreamResponse> answers;
    v1::ScanArrayRequest request = RunningSum();
    *request.mutable_array() = Streamed(v1::ELEMENT_TYPE_INT8);
    return Send(scan_server_, ScanMessages(request, {"abc"}), answers).ok();
  });
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

TEST_F(ComputeStreamTest, StreamsThatAreCancelledAnywhereLeaveNothingBehind) {
  for (int round = 0; round < 200; ++round) {
    grpc::ClientContext context;
    v1::ReduceStreamResponse response;
    if (round % 3 == 0) {
      context.set_deadline(std::chrono::system_clock::now() +
                           std::chrono::microseconds(random_() % 3000));
    }
    const auto writer = server_.compute().ReduceStream(&context, &response);
    const uint64_t until = random_() % 12;
    std::thread canceller([&] {
      std::this_thread::sleep_for(std::chrono::microseconds(random_() % 2000));
      if (round % 3 == 1) context.TryCancel();
    });
    v1::ReduceStreamRequest message;
    *message.mutable_request() = SumOf(v1::ELEMENT_TYPE_FLOAT32);
    message.set_data(std::string(random_() % 300'000, 'x'));
    for (uint64_t i = 0; i < until && writer->Write(message); ++i) message.clear_request();
    if (round % 3 == 2) context.TryCancel();
    writer->WritesDone();
    (void)writer->Finish();
    canceller.join();
  }
  WaitFor([&] {
    const v1::GetStatisticsResponse statistics = server_.GetStatistics();
    return statistics.lanes_busy() == 0 && statistics.jobs_queued() == 0;
  });
  // All places for streams are free.
  std::vector<std::unique_ptr<grpc::ClientContext>> contexts;
  std::vector<std::unique_ptr<grpc::ClientWriter<v1::ReduceStreamRequest>>> writers;
  v1::ReduceStreamResponse response;
  for (uint64_t i = 0; i < TestLimits().stream_count_max; ++i) {
    contexts.push_back(std::make_unique<grpc::ClientContext>());
    WaitFor([&] {
      v1::ReduceStreamResponse unused;
      return Send(server_, Messages(SumOf(v1::ELEMENT_TYPE_INT8), {}), unused).ok();
    });
    writers.push_back(server_.compute().ReduceStream(contexts.back().get(), &response));
    ASSERT_TRUE(writers.back()->Write(Messages(SumOf(v1::ELEMENT_TYPE_INT8), {})[0]));
  }
  WaitFor([&] {
    v1::ReduceStreamResponse unused;
    const grpc::Status refused = Send(server_, Messages(SumOf(v1::ELEMENT_TYPE_INT8), {}), unused);
    if (refused.ok()) return false;  // The last one has yet to arrive.
    ExpectError(refused, grpc::StatusCode::RESOURCE_EXHAUSTED, kReasonQueueFull);
    EXPECT_TRUE(DecodeDetails(refused).retry_info.has_value());
    return true;
  });
  for (const auto& writer : writers) {
    writer->WritesDone();
    EXPECT_TRUE(writer->Finish().ok());
  }
}

TEST_F(ComputeStreamTest, ASlowSenderIsInNobodysWay) {
  Limits limits = TestLimits();
  limits.lane_count = 1;
  TestServer server(*engine_, limits);
  grpc::ClientContext context;
  v1::ReduceStreamResponse response;
  const auto slow = server.compute().ReduceStream(&context, &response);
  v1::ReduceStreamRequest message = Messages(SumOf(v1::ELEMENT_TYPE_INT32), {})[0];
  message.set_data("123456");
  ASSERT_TRUE(slow->Write(message));
  for (int i = 0; i < 20; ++i) {
    grpc::ClientContext other;
    v1::ReduceArrayResponse sum;
    EXPECT_TRUE(server.compute().ReduceArray(&other, SmallReduction(), &sum).ok());
  }
  message.clear_request();
  message.set_data("78");
  ASSERT_TRUE(slow->Write(message));
  slow->WritesDone();
  EXPECT_TRUE(slow->Finish().ok());
}

// What depends on when things happen, with an engine that waits to be told.
class SlowStreamTest : public testing::Test {
 protected:
  static Limits OneLane() {
    Limits limits;
    limits.lane_count = 1;
    limits.queued_jobs_max = 1;
    return limits;
  }

  void SetUp() override {
    engine_.on_run = [this](std::stop_token stop) { return gate_.Pass(std::move(stop)); };
  }

  static v1::ReduceStreamRequest First() {
    v1::ReduceStreamRequest message;
    *message.mutable_request()->mutable_array() = Streamed(v1::ELEMENT_TYPE_UINT8);
    message.mutable_request()->add_statistics(v1::STATISTIC_COUNT);
    return message;
  }

  FakeEngine engine_;
  Gate gate_;
};

// A sender that is faster than the engine is held back.
TEST_F(SlowStreamTest, WhatWaitsIsBounded) {
  TestServer server(engine_, OneLane());
  grpc::ClientContext context;
  v1::ReduceStreamResponse response;
  const auto writer = server.compute().ReduceStream(&context, &response);
  std::atomic<uint64_t> written_bytes = 0;
  constexpr uint64_t kAllBytes = 96 * kMiB;
  std::thread sender([&] {
    v1::ReduceStreamRequest message = First();
    message.set_data(std::string(kMiB, 'x'));
    for (uint64_t sent = 0; sent < kAllBytes; sent += kMiB) {
      if (!writer->Write(message)) return;
      message.clear_request();
      written_bytes += kMiB;
    }
    writer->WritesDone();
  });
  gate_.WaitForArrivals(1);
  // Until the sender stands still: what waits, and what the transport takes in.
  uint64_t last = 0;
  WaitFor([&] {
    std::this_thread::sleep_for(std::chrono::milliseconds(300));
    const uint64_t before = std::exchange(last, written_bytes.load());
    return before == last && last >= kStreamPendingBytes;
  });
  EXPECT_LE(written_bytes.load(), 3 * kStreamPendingBytes);
  gate_.Open();
  sender.join();
  const grpc::Status status = writer->Finish();
  ASSERT_TRUE(status.ok()) << status.error_message();
  EXPECT_EQ(response.result().results(0).values().uint64_values().values(0), kAllBytes);
  // The messages that waited were run together.
  EXPECT_LE(server.GetStatistics().jobs_succeeded(), (kAllBytes - kStreamPendingBytes) / kMiB + 2);
}

TEST_F(SlowStreamTest, ADrainingServerEndsStreamsAtTheirNextMessage) {
  TestServer server(engine_, OneLane());
  grpc::ClientContext context;
  v1::ReduceStreamResponse response;
  const auto writer = server.compute().ReduceStream(&context, &response);
  v1::ReduceStreamRequest message = First();
  message.set_data("x");
  ASSERT_TRUE(writer->Write(message));
  gate_.WaitForArrivals(1);
  std::thread drain([&] { EXPECT_TRUE(server.server().Drain(std::chrono::seconds(10)).ok()); });
  WaitFor([&] {
    grpc::ClientContext other;
    other.set_deadline(std::chrono::system_clock::now() + std::chrono::milliseconds(50));
    v1::ReduceArrayResponse unused;
    return server.compute().ReduceArray(&other, SmallReduction(), &unused).error_code() ==
           grpc::StatusCode::UNAVAILABLE;
  });
  message.clear_request();
  writer->Write(message);
  gate_.Open();
  ExpectError(writer->Finish(), grpc::StatusCode::UNAVAILABLE, kReasonDraining);
  drain.join();
}

TEST_F(SlowStreamTest, AnErrorOfTheDeviceEndsTheStream) {
  engine_.on_run = [](std::stop_token) { return absl::InternalError("device error"); };
  TestServer server(engine_, OneLane());
  v1::ReduceStreamRequest message = First();
  message.set_data("x");
  v1::ReduceStreamResponse response;
  grpc::ClientContext context;
  const auto writer = server.compute().ReduceStream(&context, &response);
  // Also where the caller does not end the stream.
  ASSERT_TRUE(writer->Write(message));
  message.clear_request();
  while (writer->Write(message)) std::this_thread::sleep_for(std::chrono::milliseconds(1));
  ExpectError(writer->Finish(), grpc::StatusCode::INTERNAL, kReasonInternal);
}

TEST_F(SlowStreamTest, ACallerThatGoesWhileItsBatchRunsStopsIt) {
  TestServer server(engine_, OneLane());
  v1::ReduceStreamResponse response;
  grpc::ClientContext context;
  const auto writer = server.compute().ReduceStream(&context, &response);
  v1::ReduceStreamRequest message = First();
  message.set_data("x");
  ASSERT_TRUE(writer->Write(message));
  gate_.WaitForArrivals(1);
  context.TryCancel();
  EXPECT_EQ(writer->Finish().error_code(), grpc::StatusCode::CANCELLED);
  WaitFor([&] { return server.GetStatistics().jobs_cancelled() == 1; });
  WaitFor([&] { return server.GetStatistics().lanes_busy() == 0; });
}

}  // namespace
}  // namespace gridfold::server
