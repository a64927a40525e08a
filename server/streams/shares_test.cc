// One tenant takes as much as it gets of what all share, and never moves: another tenant is
// answered all the same. Over a real socket.
#include <gtest/gtest.h>

#include <chrono>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "server/testing/array_service_fixture.h"
#include "server/testing/compute_stream_fixture.h"
#include "server/testing/waiting.h"

namespace gridfold::server {
namespace {

class StreamSharesTest : public ComputeStreamFixture {
 protected:
  // A stream that is open and sends nothing.
  struct IdleStream {
    explicit IdleStream(TestServer& server, const std::string& tenant) {
      context.AddMetadata("gridfold-tenant", tenant);
      writer = server.compute().ReduceStream(&context, &response);
    }
    ~IdleStream() {
      context.TryCancel();
      if (!is_finished) (void)writer->Finish();
    }

    bool is_finished = false;
    grpc::ClientContext context;
    v1::ReduceStreamResponse response;
    std::unique_ptr<grpc::ClientWriter<v1::ReduceStreamRequest>> writer;
  };

  grpc::Status SendAs(const std::string& tenant, const std::string& data) {
    grpc::ClientContext context;
    context.AddMetadata("gridfold-tenant", tenant);
    v1::ReduceStreamResponse response;
    const auto writer = server_.compute().ReduceStream(&context, &response);
    v1::ReduceStreamRequest message;
    *message.mutable_request() = SumOf(v1::ELEMENT_TYPE_INT32);
    message.set_data(data);
    writer->Write(message);
    writer->WritesDone();
    return writer->Finish();
  }

  std::vector<std::unique_ptr<IdleStream>> OpenAs(const std::string& tenant, uint64_t count) {
    std::vector<std::unique_ptr<IdleStream>> streams;
    for (uint64_t i = 0; i < count; ++i) {
      streams.push_back(std::make_unique<IdleStream>(server_, tenant));
    }
    return streams;
  }
};

TEST_F(StreamSharesTest, IdleStreamsOfATenantLeavePlacesToOthers) {
  const auto idle = OpenAs("greedy", TestLimits().stream_count_max);
  grpc::Status refused;
  WaitFor([&] {
    refused = SendAs("greedy", "1234");
    return !refused.ok();
  });
  ExpectError(refused, grpc::StatusCode::RESOURCE_EXHAUSTED, kReasonQueueFull);
  EXPECT_TRUE(DecodeDetails(refused).retry_info.has_value());
  for (int i = 0; i < 10; ++i) {
    const grpc::Status status = SendAs("modest", "1234");
    EXPECT_TRUE(status.ok()) << status.error_message();
  }
}

TEST_F(StreamSharesTest, ATenantAloneComesBackToItsPlaces) {
  for (int round = 0; round < 3; ++round) {
    auto idle = OpenAs("greedy", TestLimits().stream_count_max);
    WaitFor([&] { return !SendAs("greedy", "1234").ok(); });
    idle.clear();
    WaitFor([&] { return SendAs("greedy", "1234").ok(); });
  }
}

class IdleStreamTest : public StreamSharesTest {
 protected:
  static constexpr std::chrono::milliseconds kTimeout{400};

  static Limits Impatient() {
    Limits limits = TestLimits();
    limits.stream_idle_timeout = kTimeout;
    limits.message_bytes_max = 4 * kMiB;  // A batch of a scan takes one.
    limits.resident_bytes_max = 1 * kMiB;
    return limits;
  }

  static void ExpectIdle(const grpc::Status& status, std::chrono::steady_clock::time_point begin) {
    ExpectError(status, grpc::StatusCode::DEADLINE_EXCEEDED, kReasonStreamIdle);
    const auto time = std::chrono::steady_clock::now() - begin;
    EXPECT_GE(time, kTimeout - std::chrono::milliseconds(20));
    EXPECT_LT(time, std::chrono::seconds(20));
  }

  TestServer impatient_{*engine_, Impatient()};
};

TEST_F(IdleStreamTest, AStreamThatSendsNothingEnds) {
  const auto begin = std::chrono::steady_clock::now();
  IdleStream stream(impatient_, "a");
  stream.is_finished = true;
  ExpectIdle(stream.writer->Finish(), begin);
}

TEST_F(IdleStreamTest, AStreamThatStopsInTheMiddleEnds) {
  grpc::ClientContext context;
  const auto stream = impatient_.compute().ScanStream(&context);
  v1::ScanStreamRequest message;
  message.mutable_request()->set_operation(v1::SCAN_OPERATION_SUM);
  *message.mutable_request()->mutable_array() = Streamed(v1::ELEMENT_TYPE_INT32);
  message.set_data("12345678");
  const auto begin = std::chrono::steady_clock::now();
  ASSERT_TRUE(stream->Write(message));
  v1::ScanStreamResponse response;
  while (stream->Read(&response)) {
  }
  ExpectIdle(stream->Finish(), begin);
}

TEST_F(IdleStreamTest, AnUploadThatStopsEnds) {
  ArrayCaller caller(impatient_);
  ASSERT_TRUE(caller.Create("x", v1::ELEMENT_TYPE_UINT8, {100}).ok());
  grpc::ClientContext context;
  v1::WriteArrayResponse response;
  const auto writer = impatient_.arrays().WriteArray(&context, &response);
  v1::WriteArrayRequest message = Chunk(0, "abc");
  message.mutable_header()->set_name("x");
  const auto begin = std::chrono::steady_clock::now();
  ASSERT_TRUE(writer->Write(message));
  ExpectIdle(writer->Finish(), begin);
  EXPECT_EQ(caller.ReadBytes(Resident("x", 0, 3)), "abc");
}

TEST_F(IdleStreamTest, AStreamThatSendsALittleAgainAndAgainGoesOn) {
  grpc::ClientContext context;
  v1::ReduceStreamResponse response;
  const auto writer = impatient_.compute().ReduceStream(&context, &response);
  v1::ReduceStreamRequest message;
  *message.mutable_request() = SumOf(v1::ELEMENT_TYPE_UINT8);
  for (int i = 0; i < 12; ++i) {
    message.set_data(std::string(1, '\1'));
    ASSERT_TRUE(writer->Write(message)) << i;
    message.clear_request();
    std::this_thread::sleep_for(kTimeout / 4);
  }
  writer->WritesDone();
  const grpc::Status status = writer->Finish();
  ASSERT_TRUE(status.ok()) << status.error_message();
  EXPECT_EQ(response.result().results(0).values().uint64_values().values(0), 12u);
}

TEST_F(IdleStreamTest, ItsPlaceIsFreeThen) {
  std::vector<std::unique_ptr<IdleStream>> idle;
  for (uint64_t i = 0; i < 2 * Impatient().stream_count_max; ++i) {
    idle.push_back(std::make_unique<IdleStream>(impatient_, "a"));
  }
  WaitFor([&] {
    IdleStream stream(impatient_, "a");
    stream.is_finished = true;
    v1::ReduceStreamRequest message;
    *message.mutable_request() = SumOf(v1::ELEMENT_TYPE_INT32);
    stream.writer->Write(message);
    stream.writer->WritesDone();
    return stream.writer->Finish().ok();
  });
}

class ReadSharesTest : public ArrayServiceTest {
 protected:
  struct StalledRead {
    StalledRead(TestServer& server, const ArrayCaller& caller, const v1::ReadArrayRequest& request)
        : context(caller.MakeContext()),
          reader(server.arrays().ReadArray(context.get(), request)) {}
    ~StalledRead() {
      context->TryCancel();
      if (!is_finished) (void)reader->Finish();
    }

    grpc::Status Finish() {
      is_finished = true;
      return reader->Finish();
    }

    bool is_finished = false;
    std::unique_ptr<grpc::ClientContext> context;
    std::unique_ptr<grpc::ClientReader<v1::ReadArrayResponse>> reader;
  };
};

TEST_F(ReadSharesTest, StalledReadsOfATenantLeaveRoomToOthers) {
  Limits limits = RoomyLimits();
  limits.queued_bytes_max = 8 * kMiB;
  limits.resident_bytes_max = 2 * kRoomyBytes;
  TestServer server(*engine_, limits);
  ArrayCaller greedy(server, "greedy");
  ArrayCaller modest(server, "modest");
  ASSERT_TRUE(greedy.Create("x", v1::ELEMENT_TYPE_UINT8, {kRoomyBytes}).ok());
  ASSERT_TRUE(modest.Create("y", v1::ELEMENT_TYPE_UINT8, {2 * kMiB}).ok());
  v1::ReadArrayRequest request;
  *request.mutable_array() = Resident("x").resident_array();
  request.set_chunk_bytes_max(limits.array_chunk_bytes_max());
  std::vector<std::unique_ptr<StalledRead>> stalled;
  v1::ReadArrayResponse chunk;
  while (true) {
    stalled.push_back(std::make_unique<StalledRead>(server, greedy, request));
    if (!stalled.back()->reader->Read(&chunk)) break;
    ASSERT_LE(stalled.size(), 8u) << "more than there is room for";
  }
  const grpc::Status refused = stalled.back()->Finish();
  stalled.pop_back();
  ExpectError(refused, grpc::StatusCode::RESOURCE_EXHAUSTED, kReasonQueueFull);
  EXPECT_GE(stalled.size(), 6u);
  EXPECT_EQ(modest.ReadBytes(Resident("y")).size(), 2 * kMiB);
}

}  // namespace
}  // namespace gridfold::server
