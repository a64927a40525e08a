// ScanStream over a real socket: results have the bits of one call, however the array is cut;
// errors name their field; callers that take no results, or go away.
#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <limits>
#include <string>
#include <thread>
#include <vector>

#include "server/testing/array_service_fixture.h"
#include "server/testing/compute_stream_fixture.h"
#include "server/testing/stream_caller.h"
#include "server/testing/waiting.h"
#include "server/wire/proto_conversion.h"

namespace gridfold::server {
namespace {

class ScanStreamTest : public ComputeStreamFixture {
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

  // Puts a mask beside the elements of messages.
  static std::vector<v1::ScanStreamRequest> WithMask(std::vector<v1::ScanStreamRequest> messages,
                                                     const std::vector<std::string>& mask) {
    for (size_t i = 0; i < mask.size(); ++i) {
      if (messages.size() <= i) messages.emplace_back();
      messages[i].set_where(mask[i]);
    }
    return messages;
  }
  static std::string ResultsOf(const std::vector<v1::ScanStreamResponse>& answers) {
    std::string results;
    for (const v1::ScanStreamResponse& answer : answers) results += answer.data();
    return results;
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

// Batches of elements and mask, which come in other pieces than each other.
TEST_F(ScanStreamTest, MasksHaveTheBitsOfOneCall) {
  std::vector<float> values(300'001);
  std::vector<char> mask(values.size());
  for (size_t i = 0; i < values.size(); ++i) {
    values[i] = static_cast<float>(random_() % 1000) / 8;
    mask[i] = static_cast<char>(random_() % 2);
  }
  for (const v1::ScanOperation operation :
       {v1::SCAN_OPERATION_SUM, v1::SCAN_OPERATION_PRODUCT, v1::SCAN_OPERATION_MIN}) {
    v1::ScanArrayRequest request = RunningSum();
    request.set_operation(operation);
    if (operation == v1::SCAN_OPERATION_MIN) request.set_nan_policy(v1::NAN_POLICY_IGNORE);
    *request.mutable_array() = ArrayOf(v1::ELEMENT_TYPE_FLOAT32, values);
    *request.mutable_where() = ArrayOf(v1::ELEMENT_TYPE_BOOL, mask);
    grpc::ClientContext context;
    v1::ScanArrayResponse expected;
    const grpc::Status called = roomy_.compute().ScanArray(&context, request, &expected);
    ASSERT_TRUE(called.ok()) << called.error_message();
    *request.mutable_array() = Streamed(v1::ELEMENT_TYPE_FLOAT32);
    *request.mutable_where() = Streamed(v1::ELEMENT_TYPE_BOOL);
    std::vector<v1::ScanStreamResponse> answers;
    const grpc::Status status = Send(scan_server_,
                                     WithMask(ScanMessages(request, PiecesThatFit(BytesOf(values))),
                                              PiecesThatFit(BytesOf(mask))),
                                     answers);
    ASSERT_TRUE(status.ok()) << status.error_message();
    EXPECT_TRUE(ResultsOf(answers) == expected.inline_array().data());
  }
}

TEST_F(ScanStreamTest, WhatMasksMayNotBe) {
  v1::ScanArrayRequest request = RunningSum();
  *request.mutable_array() = Streamed(v1::ELEMENT_TYPE_INT32);
  const std::string data(16, '\1');
  const auto expect = [&](const std::string& field, const std::vector<std::string>& mask) {
    std::vector<v1::ScanStreamResponse> answers;
    ExpectInvalidField(Send(scan_server_, WithMask(ScanMessages(request, {data}), mask), answers),
                       field);
  };
  expect("where", {"\1\1\1\1"});  // There is none in the request.
  *request.mutable_where() = Streamed(v1::ELEMENT_TYPE_INT8);
  expect("request.where.streamed_array.element_type", {});
  *request.mutable_where() = Streamed(v1::ELEMENT_TYPE_BOOL);
  expect("where", {"\1\1\1"});
  expect("where", {"\1\1\1\1", "\1"});
  expect("where", {"\1\1\2\1"});
  // More than one batch of elements, whose mask ends early.
  std::vector<v1::ScanStreamResponse> answers;
  ExpectInvalidField(
      Send(scan_server_, ScanMessages(request, PiecesThatFit(std::string(kMiB * 3 / 2, '\0'))),
           answers),
      "where");
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
  request.mutable_execution_options()->set_strategy("scan/blocks");
  ExpectScanError(request, "request.execution_options.strategy");
  request.clear_execution_options();
  request.set_window(3);
  ExpectScanError(request, "request.window");
  request.clear_window();
  request.set_operation(v1::SCAN_OPERATION_MEAN);
  ExpectScanError(request, "request.operation");
  request.set_operation(v1::SCAN_OPERATION_SUM);
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
  ExpectAboveLimit(Send(server_, ScanMessages(request, {}), answers),
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
  WaitUntilStill(written_bytes, 1);
  // What waits, what has become results, and what the transport has taken in: on a machine that is
  // busy with other things its windows have been seen to grow to 75 MiB in all.
  EXPECT_LE(written_bytes.load(), 96 * kMiB);
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
    const std::chrono::microseconds delay(random_() % 5000);
    std::thread canceller([&] {
      std::this_thread::sleep_for(delay);
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

}  // namespace
}  // namespace gridfold::server
