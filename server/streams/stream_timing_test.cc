// Streams of ComputeService over a real socket, and when things happen: callers that go away, stall
// or come in numbers, senders that are too fast, a server that drains.
#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <memory>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "server/testing/array_service_fixture.h"
#include "server/testing/compute_stream_fixture.h"
#include "server/testing/fake_engine.h"
#include "server/testing/stream_caller.h"
#include "server/testing/waiting.h"

namespace gridfold::server {
namespace {

using StreamCallerTest = ComputeStreamFixture;

TEST_F(StreamCallerTest, StreamsThatAreCancelledAnywhereLeaveNothingBehind) {
  for (int round = 0; round < 200; ++round) {
    grpc::ClientContext context;
    v1::ReduceStreamResponse response;
    if (round % 3 == 0) {
      context.set_deadline(std::chrono::system_clock::now() +
                           std::chrono::microseconds(random_() % 3000));
    }
    const auto writer = server_.compute().ReduceStream(&context, &response);
    const uint64_t until = random_() % 12;
    const std::chrono::microseconds delay(random_() % 2000);
    std::thread canceller([&] {
      std::this_thread::sleep_for(delay);
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
  // All places for streams are free, once the last of them have given theirs back. No tenant may
  // have all of them.
  std::vector<std::unique_ptr<grpc::ClientContext>> contexts;
  std::vector<std::unique_ptr<grpc::ClientWriter<v1::ReduceStreamRequest>>> writers;
  v1::ReduceStreamResponse response;
  v1::ReduceStreamRequest first = Messages(SumOf(v1::ELEMENT_TYPE_INT8), {})[0];
  first.set_data("x");
  for (uint64_t i = 0; i < TestLimits().stream_count_max; ++i) {
    WaitFor([&] {
      v1::ReduceStreamResponse unused;
      return Send(server_, {first}, unused).ok();
    });
    const uint64_t jobs = server_.GetStatistics().jobs_accepted();
    contexts.push_back(std::make_unique<grpc::ClientContext>());
    contexts.back()->AddMetadata("gridfold-tenant", std::to_string(i));
    writers.push_back(server_.compute().ReduceStream(contexts.back().get(), &response));
    ASSERT_TRUE(writers.back()->Write(first));
    // It has its place when its first batch runs.
    WaitFor([&] { return server_.GetStatistics().jobs_accepted() > jobs; });
  }
  v1::ReduceStreamResponse unused;
  const grpc::Status refused = Send(server_, {first}, unused);
  ExpectError(refused, grpc::StatusCode::RESOURCE_EXHAUSTED, kReasonQueueFull);
  EXPECT_TRUE(DecodeDetails(refused).retry_info.has_value());
  for (const auto& writer : writers) {
    writer->WritesDone();
    EXPECT_TRUE(writer->Finish().ok());
  }
}

TEST_F(StreamCallerTest, ASlowSenderIsInNobodysWay) {
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

// With an engine that waits to be told.
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

  struct Stream {
    grpc::ClientContext context;
    v1::ReduceStreamResponse response;
    v1::ReduceStreamRequest message = First();
    std::unique_ptr<grpc::ClientWriter<v1::ReduceStreamRequest>> writer;
  };
  // Sends the first message, and returns while its job is under way.
  void Begin(TestServer& server, Stream& stream) {
    stream.writer = server.compute().ReduceStream(&stream.context, &stream.response);
    stream.message.set_data("x");
    ASSERT_TRUE(stream.writer->Write(stream.message));
    gate_.WaitForArrivals(1);
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
  WaitUntilStill(written_bytes, kStreamPendingBytes);
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
  Stream stream;
  ASSERT_NO_FATAL_FAILURE(Begin(server, stream));
  std::thread drain([&] { EXPECT_TRUE(server.server().Drain(std::chrono::seconds(10)).ok()); });
  WaitUntilDraining(server);
  stream.message.clear_request();
  stream.writer->Write(stream.message);
  gate_.Open();
  ExpectError(stream.writer->Finish(), grpc::StatusCode::UNAVAILABLE, kReasonDraining);
  drain.join();
}

// As calls without a stream are.
TEST_F(SlowStreamTest, WhatTakesLongerThanTheGracePeriodIsStopped) {
  TestServer server(engine_, OneLane());
  Stream stream;
  ASSERT_NO_FATAL_FAILURE(Begin(server, stream));
  const absl::Status status = server.server().Drain(std::chrono::milliseconds(50));
  ASSERT_TRUE(status.ok()) << status;
  ExpectError(stream.writer->Finish(), grpc::StatusCode::UNAVAILABLE, kReasonDraining);
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
