// The streams of ArrayService over a real socket: what is written and read, in which pieces;
// callers that go away, stall or get in each other's way.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <thread>

#include "server/testing/array_service_fixture.h"
#include "server/testing/fake_engine.h"
#include "server/testing/waiting.h"

namespace gridfold::server {
namespace {

using testing::ElementsAre;

using ArrayStreamTest = ArrayServiceTest;

TEST_F(ArrayStreamTest, ChunksGoWhereTheySayInAnyOrder) {
  ASSERT_TRUE(caller_.Create("x", v1::ELEMENT_TYPE_INT32, {10}).ok());
  ASSERT_TRUE(caller_
                  .Write("x", {Chunk(7, BytesOf(std::vector<int32_t>{8, 9})),
                               Chunk(0, BytesOf(std::vector<int32_t>{1, 2, 3})), Chunk(10, ""),
                               Chunk(2, BytesOf(std::vector<int32_t>{-3, -4}))})
                  .ok());
  EXPECT_EQ(caller_.written.written_bytes(), 28u);
  EXPECT_EQ(caller_.ReadBytes(Resident("x")),
            BytesOf(std::vector<int32_t>{1, 2, -3, -4, 0, 0, 0, 8, 9, 0}));
}

TEST_F(ArrayStreamTest, AStreamOfNothingButAHeaderWritesNothing) {
  ASSERT_TRUE(caller_.Create("x", v1::ELEMENT_TYPE_INT32, {10}).ok());
  EXPECT_TRUE(caller_.Write("x", {}).ok());
  EXPECT_EQ(caller_.written.written_bytes(), 0u);
}

TEST_F(ArrayStreamTest, SeveralWritersFillDisjointParts) {
  constexpr size_t kWriters = 4;
  constexpr size_t kChunks = 25;
  constexpr size_t kChunkElements = 1001;
  const std::vector<int32_t> values = Ramp(kWriters * kChunks * kChunkElements);
  ASSERT_TRUE(caller_.Create("x", v1::ELEMENT_TYPE_INT32, {values.size()}).ok());
  {
    std::vector<std::jthread> writers;
    for (size_t w = 0; w < kWriters; ++w) {
      writers.emplace_back([&, w] {
        ArrayCaller writer(server_);
        std::vector<v1::WriteArrayRequest> chunks;
        for (size_t c = 0; c < kChunks; ++c) {
          const size_t first = (c * kWriters + w) * kChunkElements;
          chunks.push_back(
              Chunk(first, BytesOf(std::vector<int32_t>(
                               values.begin() + static_cast<ptrdiff_t>(first),
                               values.begin() + static_cast<ptrdiff_t>(first + kChunkElements)))));
        }
        EXPECT_TRUE(writer.Write("x", chunks).ok());
      });
    }
  }
  EXPECT_TRUE(caller_.ReadBytes(Resident("x")) == BytesOf(values));
}

TEST_F(ArrayStreamTest, ChunksThatDoNotFitEndTheStreamAndWriteNothing) {
  ASSERT_TRUE(caller_.Create("x", v1::ELEMENT_TYPE_INT32, {10}).ok());
  const std::string two = BytesOf(std::vector<int32_t>{1, 2});
  for (const uint64_t first : {uint64_t{9}, uint64_t{10}, uint64_t{11}, kMax, kMax - 1, kMax / 4,
                               kMax / 4 + 1, uint64_t{1} << 62, uint64_t{1} << 63}) {
    ExpectInvalidField(caller_.Write("x", {Chunk(first, two)}), "first_element");
  }
  ExpectInvalidField(caller_.Write("x", {Chunk(kMax, "")}), "first_element");
  ExpectInvalidField(caller_.Write("x", {Chunk(0, two + "x")}), "data");
  const std::string too_large(TestLimits().array_chunk_bytes_max() / 4 * 4 + 4, 'x');
  ExpectInvalidField(caller_.Write("x", {Chunk(0, too_large)}), "data");
  EXPECT_EQ(caller_.ReadBytes(Resident("x")), std::string(40, '\0'));
  // What came before the bad chunk stays.
  ExpectInvalidField(caller_.Write("x", {Chunk(8, two), Chunk(9, two)}), "first_element");
  EXPECT_EQ(caller_.ReadBytes(Resident("x", 8, 2)), two);
}

TEST_F(ArrayStreamTest, AMessageLargerThanAnyChunkIsNotEvenDecoded) {
  TestServer server(*engine_);
  ArrayCaller caller(server);
  ASSERT_TRUE(caller.Create("x", v1::ELEMENT_TYPE_UINT8, {32 * kMiB}).ok());
  EXPECT_TRUE(caller.Write("x", {Chunk(0, std::string(kArrayChunkBytesMax, 'x'))}).ok());
  ExpectInvalidField(caller.Write("x", {Chunk(0, std::string(kArrayChunkBytesMax + 1, 'x'))}),
                     "data");
  ExpectAboveLimit(caller.Write("x", {Chunk(0, std::string(2 * kArrayChunkBytesMax, 'x'))}),
                   "data");
}

TEST_F(ArrayStreamTest, TheHeaderComesFirstAndOnce) {
  ASSERT_TRUE(caller_.Create("x", v1::ELEMENT_TYPE_INT8, {10}).ok());
  ExpectInvalidField(caller_.Send({}), "header");
  ExpectInvalidField(caller_.Send({Chunk(0, "a")}), "header");
  v1::WriteArrayRequest with_header = Chunk(0, "a");
  with_header.mutable_header()->set_name("x");
  ExpectInvalidField(caller_.Send({with_header, with_header}), "header");
  ExpectInvalidField(caller_.Write("not a name", {Chunk(0, "a")}), "header.name");
  ExpectInvalidField(caller_.Write("", {Chunk(0, "a")}), "header.name");
  ExpectNotFound(caller_.Write("y", {Chunk(0, "a")}));
}

TEST_F(ArrayStreamTest, SlicesAreReadInChunksOfWholeElements) {
  const std::vector<int32_t> values = Ramp(1000);
  caller_.Put("x", v1::ELEMENT_TYPE_INT32, {100, 10}, values);
  // Rows 30 to 32, in chunks of 3 elements.
  ASSERT_TRUE(caller_.Read(Resident("x", 30, 3), 15).ok());
  ASSERT_EQ(caller_.read.size(), 10u);
  std::string bytes;
  for (size_t i = 0; i < caller_.read.size(); ++i) {
    EXPECT_EQ(caller_.read[i].has_array(), i == 0);
    EXPECT_EQ(caller_.read[i].first_element(), 300 + 3 * i);
    EXPECT_LE(caller_.read[i].data().size(), 15u);
    bytes += caller_.read[i].data();
  }
  EXPECT_EQ(bytes, BytesOf(std::vector<int32_t>(values.begin() + 300, values.begin() + 330)));
  EXPECT_THAT(caller_.read[0].array().shape(), ElementsAre(100, 10));
  ASSERT_TRUE(caller_.Read(Resident("x", 100, 0)).ok());
  ASSERT_EQ(caller_.read.size(), 1u) << "the description comes also where there are no elements";
  EXPECT_TRUE(caller_.read[0].has_array());
  EXPECT_TRUE(caller_.read[0].data().empty());
}

TEST_F(ArrayStreamTest, ALargeArrayComesInManyChunks) {
  const std::vector<int32_t> values = Ramp(700'000);
  ASSERT_TRUE(caller_.Create("x", v1::ELEMENT_TYPE_INT32, {values.size()}).ok());
  std::vector<v1::WriteArrayRequest> chunks;
  for (size_t first = 0; first < values.size(); first += 100'000) {
    chunks.push_back(Chunk(first, BytesOf(std::vector<int32_t>(
                                      values.begin() + static_cast<ptrdiff_t>(first),
                                      values.begin() + static_cast<ptrdiff_t>(first + 100'000)))));
  }
  ASSERT_TRUE(caller_.Write("x", chunks).ok());
  EXPECT_TRUE(caller_.ReadBytes(Resident("x")) == BytesOf(values));
  EXPECT_GE(caller_.read.size(), 3u);
}

TEST_F(ArrayStreamTest, ReadsThatMakeNoSense) {
  ASSERT_TRUE(caller_.Create("x", v1::ELEMENT_TYPE_INT32, {10}).ok());
  ExpectInvalidField(caller_.Read(v1::ReadArrayRequest()), "array.name");
  ExpectNotFound(caller_.Read(Resident("y")));
  ExpectInvalidField(caller_.Read(Resident("x", 11, 0)), "array.slice.first");
  ExpectInvalidField(caller_.Read(Resident("x", kMax, 1)), "array.slice.first");
  ExpectInvalidField(caller_.Read(Resident("x", 10, 1)), "array.slice.count");
  ExpectInvalidField(caller_.Read(Resident("x", 5, kMax)), "array.slice.count");
  ExpectInvalidField(caller_.Read(Resident("x", 5, kMax - 4)), "array.slice.count");
  for (const uint64_t chunk_bytes : {uint64_t{3}, uint64_t{1} << 30, kMax}) {
    ExpectInvalidField(caller_.Read(Resident("x"), chunk_bytes), "chunk_bytes_max");
  }
}

TEST_F(ArrayStreamTest, ACallerThatGoesInTheMiddleOfAStreamLeavesNothingBehind) {
  constexpr uint64_t kChunkBytes = 100'000;
  constexpr uint64_t kRounds = 20;
  ASSERT_TRUE(caller_.Create("written", v1::ELEMENT_TYPE_UINT8, {kRounds * kChunkBytes}).ok());
  ASSERT_TRUE(caller_.Create("read", v1::ELEMENT_TYPE_UINT8, {500'000}).ok());
  for (uint64_t i = 0; i < kRounds; ++i) {
    {
      grpc::ClientContext context;
      v1::WriteArrayResponse response;
      const auto writer = server_.arrays().WriteArray(&context, &response);
      v1::WriteArrayRequest chunk = Chunk(i * kChunkBytes, std::string(kChunkBytes, 'x'));
      chunk.mutable_header()->set_name("written");
      writer->Write(chunk);
      context.TryCancel();
      EXPECT_EQ(writer->Finish().error_code(), grpc::StatusCode::CANCELLED);
    }
    {
      grpc::ClientContext context;
      v1::ReadArrayRequest request;
      *request.mutable_array() = Resident("read").resident_array();
      request.set_chunk_bytes_max(1000);
      const auto reader = server_.arrays().ReadArray(&context, request);
      v1::ReadArrayResponse message;
      EXPECT_TRUE(reader->Read(&message));
      context.TryCancel();
      while (reader->Read(&message)) {
      }
      EXPECT_EQ(reader->Finish().error_code(), grpc::StatusCode::CANCELLED);
    }
  }
  ASSERT_TRUE(caller_.Delete("written").ok());
  ASSERT_TRUE(caller_.Delete("read").ok());
  // The streams let go of the array as soon as they notice.
  WaitFor([&] { return caller_.Create("y", v1::ELEMENT_TYPE_UINT8, {3 * kMiB}).ok(); });
  WaitFor([&] { return server_.GetStatistics().lanes_busy() == 0; });
}

TEST_F(ArrayStreamTest, AStreamWhoseArrayIsDeletedEndsAtItsNextChunk) {
  ASSERT_TRUE(caller_.Create("x", v1::ELEMENT_TYPE_UINT8, {1000}).ok());
  grpc::ClientContext context;
  v1::WriteArrayResponse response;
  const auto writer = server_.arrays().WriteArray(&context, &response);
  v1::WriteArrayRequest chunk = Chunk(0, std::string(500, 'x'));
  chunk.mutable_header()->set_name("x");
  ASSERT_TRUE(writer->Write(chunk));
  // The array's making and the chunk.
  WaitFor([&] { return server_.GetStatistics().jobs_succeeded() >= 2; });
  ASSERT_TRUE(caller_.Delete("x").ok());
  // Another array of the name is another array.
  ASSERT_TRUE(caller_.Create("x", v1::ELEMENT_TYPE_UINT8, {1000}).ok());
  writer->Write(Chunk(500, std::string(500, 'y')));
  writer->WritesDone();
  ExpectNotFound(writer->Finish());
  EXPECT_EQ(caller_.ReadBytes(Resident("x")), std::string(1000, '\0'));
}

// Else a caller who forgets a stream would keep the memory for ever.
TEST_F(ArrayStreamTest, StreamsThatDoNothingKeepNoArray) {
  TestServer server(*engine_, RoomyLimits());
  ArrayCaller caller(server);
  ASSERT_TRUE(caller.Create("x", v1::ELEMENT_TYPE_UINT8, {kRoomyBytes}).ok());
  grpc::ClientContext writer_context;
  v1::WriteArrayResponse response;
  const auto writer = server.arrays().WriteArray(&writer_context, &response);
  v1::WriteArrayRequest chunk = Chunk(0, "x");
  chunk.mutable_header()->set_name("x");
  ASSERT_TRUE(writer->Write(chunk));
  // The array's making and the chunk.
  WaitFor([&] { return server.GetStatistics().jobs_succeeded() >= 2; });
  grpc::ClientContext reader_context;
  v1::ReadArrayRequest request;
  *request.mutable_array() = Resident("x").resident_array();
  request.set_chunk_bytes_max(kMiB / 2);
  const auto reader = server.arrays().ReadArray(&reader_context, request);
  v1::ReadArrayResponse message;
  ASSERT_TRUE(reader->Read(&message));
  ASSERT_TRUE(caller.Delete("x").ok());
  // As soon as the chunk that is being fetched for the reader is.
  WaitFor([&] { return caller.Create("y", v1::ELEMENT_TYPE_UINT8, {kRoomyBytes}).ok(); });
  while (reader->Read(&message)) {
  }
  ExpectNotFound(reader->Finish());
  writer_context.TryCancel();
}

TEST_F(ArrayStreamTest, WritersThatOverlapLeaveOneOrTheOther) {
  Limits limits = TestLimits();
  limits.lane_count = 1;  // One copy after the other: which bytes win is then a matter of chunks.
  TestServer server(*engine_, limits);
  ArrayCaller caller(server);
  constexpr size_t kChunkBytes = 1000;
  constexpr size_t kChunks = 100;
  ASSERT_TRUE(caller.Create("x", v1::ELEMENT_TYPE_UINT8, {kChunks * kChunkBytes}).ok());
  {
    std::vector<std::jthread> writers;
    for (const char letter : {'a', 'b', 'c'}) {
      writers.emplace_back([&server, letter] {
        ArrayCaller writer(server);
        std::vector<v1::WriteArrayRequest> chunks;
        for (size_t c = 0; c < kChunks; ++c) {
          chunks.push_back(Chunk(c * kChunkBytes, std::string(kChunkBytes, letter)));
        }
        EXPECT_TRUE(writer.Write("x", chunks).ok());
      });
    }
  }
  const std::string bytes = caller.ReadBytes(Resident("x"));
  for (size_t c = 0; c < kChunks; ++c) {
    const std::string chunk = bytes.substr(c * kChunkBytes, kChunkBytes);
    EXPECT_THAT(chunk[0], testing::AnyOf('a', 'b', 'c'));
    EXPECT_EQ(chunk, std::string(kChunkBytes, chunk[0]));
  }
}

TEST_F(ArrayStreamTest, WhatReadersAreSentIsBounded) {
  Limits limits = RoomyLimits();
  limits.queued_bytes_max = limits.message_bytes_max;
  TestServer server(*engine_, limits);
  ArrayCaller caller(server);
  ASSERT_TRUE(caller.Create("x", v1::ELEMENT_TYPE_UINT8, {kRoomyBytes}).ok());
  v1::ReadArrayRequest request;
  *request.mutable_array() = Resident("x").resident_array();
  request.set_chunk_bytes_max(limits.array_chunk_bytes_max());
  grpc::ClientContext context;
  const auto slow = server.arrays().ReadArray(&context, request);
  v1::ReadArrayResponse message;
  ASSERT_TRUE(slow->Read(&message));
  const grpc::Status refused = caller.Read(request);
  ExpectError(refused, grpc::StatusCode::RESOURCE_EXHAUSTED, kReasonQueueFull);
  EXPECT_TRUE(DecodeDetails(refused).retry_info.has_value());
  ExpectError(caller.Read(Resident("x", 0, 100)), grpc::StatusCode::RESOURCE_EXHAUSTED,
              kReasonQueueFull);
  while (slow->Read(&message)) {
  }
  EXPECT_TRUE(slow->Finish().ok());
  WaitFor([&] { return caller.Read(request).ok(); });
}

// What depends on when things happen, with an engine that waits to be told.
class SlowArrayTest : public testing::Test {
 protected:
  static Limits OneLane() {
    Limits limits;
    limits.lane_count = 1;
    limits.queued_jobs_max = 1;
    limits.resident_bytes_max = 1 * kMiB;
    return limits;
  }

  FakeEngine engine_;
  Gate gate_;
};

TEST_F(SlowArrayTest, DeletingAnArrayInUseIsSafe) {
  engine_.on_run = [this](std::stop_token stop) { return gate_.Pass(std::move(stop)); };
  Limits limits = OneLane();
  limits.lane_count = 2;
  TestServer server(engine_, limits);
  ArrayCaller caller(server);
  ASSERT_TRUE(caller.Create("x", v1::ELEMENT_TYPE_UINT8, {1 * kMiB}).ok());
  grpc::Status status;
  std::thread job([&] {
    ArrayCaller slow(server);
    v1::ReduceArrayRequest sum;
    *sum.mutable_array() = Resident("x");
    sum.add_statistics(v1::STATISTIC_SUM);
    status = slow.Compute(sum);
  });
  gate_.WaitForArrivals(1);
  EXPECT_TRUE(caller.Delete("x").ok());
  ExpectNotFound(caller.Get("x"));
  ExpectError(caller.Create("x", v1::ELEMENT_TYPE_UINT8, {1 * kMiB}),
              grpc::StatusCode::RESOURCE_EXHAUSTED, kReasonArrayQuota);
  gate_.Open();
  job.join();
  EXPECT_TRUE(status.ok()) << status.error_message();
  EXPECT_TRUE(caller.Create("x", v1::ELEMENT_TYPE_UINT8, {1 * kMiB}).ok());
}

// The array would have elements of both.
TEST_F(SlowArrayTest, AResultIsNotLeftHalfInThePlaceOfItsInput) {
  TestServer server(engine_, OneLane());
  ArrayCaller caller(server);
  caller.Put("x", v1::ELEMENT_TYPE_UINT8, {3}, std::vector<uint8_t>{1, 2, 3});
  engine_.on_copy = [this](std::stop_token stop) { return gate_.Pass(std::move(stop)); };
  v1::ScanArrayRequest scan;
  *scan.mutable_array() = Resident("x");
  scan.set_operation(v1::SCAN_OPERATION_SUM);
  scan.set_output_type(v1::ELEMENT_TYPE_UINT8);
  scan.mutable_destination()->mutable_in_place();
  grpc::ClientContext context;
  grpc::Status status;
  std::thread job([&] {
    v1::ScanArrayResponse response;
    status = server.compute().ScanArray(&context, scan, &response);
  });
  gate_.WaitForArrivals(1);
  context.TryCancel();
  job.join();
  EXPECT_EQ(status.error_code(), grpc::StatusCode::CANCELLED);
  // The server has heard of it when it has stopped what can be stopped.
  std::this_thread::sleep_for(std::chrono::milliseconds(200));
  gate_.Open();
  WaitFor([&] { return server.GetStatistics().lanes_busy() == 0; });
  EXPECT_EQ(server.GetStatistics().jobs_cancelled(), 0u);
  EXPECT_EQ(caller.ReadBytes(Resident("x")), std::string(3, '\0'));
}

TEST_F(SlowArrayTest, ACallerThatWaitsForALaneAndGoesFreesItsPlace) {
  TestServer server(engine_, OneLane());
  ArrayCaller caller(server);
  ASSERT_TRUE(caller.Create("x", v1::ELEMENT_TYPE_UINT8, {1000}).ok());
  engine_.on_copy = [this](std::stop_token stop) { return gate_.Pass(std::move(stop)); };
  grpc::ClientContext contexts[2];
  v1::WriteArrayResponse response;
  std::unique_ptr<grpc::ClientWriter<v1::WriteArrayRequest>> writers[2];
  v1::WriteArrayRequest chunk = Chunk(0, std::string(1000, 'x'));
  chunk.mutable_header()->set_name("x");
  for (int i = 0; i < 2; ++i) {
    writers[i] = server.arrays().WriteArray(&contexts[i], &response);
    ASSERT_TRUE(writers[i]->Write(chunk));
    if (i == 0) gate_.WaitForArrivals(1);
  }
  WaitFor([&] { return server.GetStatistics().jobs_queued() == 1; });
  EXPECT_EQ(server.GetStatistics().bytes_queued(), 1000u);
  // A third one finds the queue full.
  const grpc::Status refused = caller.Write("x", {Chunk(0, "y")});
  ExpectError(refused, grpc::StatusCode::RESOURCE_EXHAUSTED, kReasonQueueFull);
  EXPECT_TRUE(DecodeDetails(refused).retry_info.has_value());
  for (int i = 1; i >= 0; --i) {
    contexts[i].TryCancel();
    EXPECT_EQ(writers[i]->Finish().error_code(), grpc::StatusCode::CANCELLED);
  }
  WaitFor([&] { return server.GetStatistics().jobs_cancelled() == 2; });
  EXPECT_EQ(server.GetStatistics().lanes_busy(), 0u);
}

TEST_F(SlowArrayTest, ADrainingServerEndsStreamsAtTheirNextChunk) {
  TestServer server(engine_, OneLane());
  ArrayCaller caller(server);
  ASSERT_TRUE(caller.Create("x", v1::ELEMENT_TYPE_UINT8, {1000}).ok());
  engine_.on_copy = [this](std::stop_token stop) { return gate_.Pass(std::move(stop)); };
  grpc::ClientContext context;
  v1::WriteArrayResponse response;
  const auto writer = server.arrays().WriteArray(&context, &response);
  v1::WriteArrayRequest chunk = Chunk(0, std::string(1000, 'x'));
  chunk.mutable_header()->set_name("x");
  ASSERT_TRUE(writer->Write(chunk));
  gate_.WaitForArrivals(1);
  std::thread drain([&] { EXPECT_TRUE(server.server().Drain(std::chrono::seconds(10)).ok()); });
  WaitUntilDraining(server);
  gate_.Open();
  writer->Write(Chunk(0, "y"));
  ExpectError(writer->Finish(), grpc::StatusCode::UNAVAILABLE, kReasonDraining);
  drain.join();
}

TEST_F(SlowArrayTest, AnErrorOfTheDeviceEndsTheStream) {
  TestServer server(engine_, OneLane());
  ArrayCaller caller(server);
  ASSERT_TRUE(caller.Create("x", v1::ELEMENT_TYPE_UINT8, {1000}).ok());
  engine_.on_copy = [](std::stop_token) { return absl::InternalError("device error"); };
  ExpectError(caller.Write("x", {Chunk(0, "y")}), grpc::StatusCode::INTERNAL, kReasonInternal);
  ExpectError(caller.Read(Resident("x")), grpc::StatusCode::INTERNAL, kReasonInternal);
  ExpectError(caller.Create("y", v1::ELEMENT_TYPE_UINT8, {1000}), grpc::StatusCode::INTERNAL,
              kReasonInternal);
  ExpectNotFound(caller.Get("y"));
}

}  // namespace
}  // namespace gridfold::server
