// Bounds on what one caller makes the server hold, seen through real sockets: answers that nobody
// takes, calls without messages, metadata, messages. Other callers are answered meanwhile.
#include <arpa/inet.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "gridfold/v1/array_service.grpc.pb.h"
#include "gridfold/v1/server_service.grpc.pb.h"
#include "server/process/process_statistics.h"
#include "server/testing/http_exchange.h"
#include "server/testing/metrics_text.h"
#include "server/testing/secure_server.h"
#include "server/testing/waiting.h"

namespace gridfold::server {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;
using Clock = std::chrono::steady_clock;

// A client of HTTP/2 that says what it likes, and reads nothing unless it is told.
class RawClient {
 public:
  // `window_bytes` of every answer may be sent to it.
  RawClient(int port, uint32_t window_bytes) : socket_(socket(AF_INET, SOCK_STREAM, 0)) {
    sockaddr_in address = {};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    address.sin_port = htons(static_cast<uint16_t>(port));
    EXPECT_EQ(connect(socket_, reinterpret_cast<sockaddr*>(&address), sizeof(address)), 0);
    // SETTINGS_INITIAL_WINDOW_SIZE.
    const std::string setting = {0,
                                 4,
                                 static_cast<char>(window_bytes >> 24),
                                 static_cast<char>(window_bytes >> 16),
                                 static_cast<char>(window_bytes >> 8),
                                 static_cast<char>(window_bytes)};
    Send("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n" + Frame(4, 0, 0, setting));
  }
  RawClient(const RawClient&) = delete;
  RawClient& operator=(const RawClient&) = delete;
  ~RawClient() { close(socket_); }

  // Whether all of it was taken.
  bool Send(const std::string& bytes) const {
    return send(socket_, bytes.data(), bytes.size(), MSG_NOSIGNAL) ==
           static_cast<ssize_t>(bytes.size());
  }
  // A call of which there is no more than this.
  std::string Headers(const std::string& method) {
    stream_ += 2;
    return Frame(1, 4, stream_,
                 Header(":method", "POST") + Header(":scheme", "http") +
                     Header(":path", "/gridfold.v1." + method) + Header(":authority", "localhost") +
                     Header("te", "trailers") + Header("content-type", "application/grpc"));
  }
  std::string Call(const std::string& method, const google::protobuf::Message& request) {
    const std::string headers = Headers(method);
    const std::string message = request.SerializeAsString();
    return headers +
           Frame(0, 1, stream_, std::string(4, '\0') + static_cast<char>(message.size()) + message);
  }
  bool IsClosedWithin(milliseconds timeout) const {
    const auto end = Clock::now() + timeout;
    char bytes[4096];
    while (true) {
      const auto left = std::chrono::duration_cast<milliseconds>(end - Clock::now());
      pollfd wanted{socket_, POLLIN, 0};
      if (left.count() <= 0 || poll(&wanted, 1, static_cast<int>(left.count())) <= 0) return false;
      if (recv(socket_, bytes, sizeof(bytes), 0) <= 0) return true;
    }
  }

 private:
  static std::string Frame(char type, char flags, uint32_t stream, const std::string& payload) {
    const size_t size = payload.size();
    return std::string({static_cast<char>(size >> 16), static_cast<char>(size >> 8),
                        static_cast<char>(size), type, flags, static_cast<char>(stream >> 24),
                        static_cast<char>(stream >> 16), static_cast<char>(stream >> 8),
                        static_cast<char>(stream)}) +
           payload;
  }
  // As HPACK (RFC 7541) writes one that is to be remembered by nobody.
  static std::string Header(const std::string& name, const std::string& value) {
    return std::string(1, '\0') + static_cast<char>(name.size()) + name +
           static_cast<char>(value.size()) + value;
  }

  const int socket_;
  uint32_t stream_ = static_cast<uint32_t>(-1);
};

class CallerBoundsTest : public SecureServerTest {
 protected:
  // An answer of it is as much as clients take by default.
  static constexpr uint64_t kArrayBytes = 4 * kMiB - 4 * kKiB;

  void StartSmallServer(milliseconds send_timeout) {
    StartServer({}, {.lane_count = 2,
                     .answer_bytes_max = 16 * kMiB,
                     .resident_bytes_max = 32 * kMiB,
                     .send_timeout = send_timeout});
    channel_ = ConnectInTheClear();
    v1::CreateArrayRequest request;
    request.set_name("array");
    request.set_element_type(v1::ELEMENT_TYPE_INT64);
    request.add_shape(kArrayBytes / sizeof(int64_t));
    v1::CreateArrayResponse response;
    grpc::ClientContext context;
    const grpc::Status status =
        v1::ArrayService::NewStub(channel_)->CreateArray(&context, request, &response);
    ASSERT_TRUE(status.ok()) << status.error_message();
  }
  // A few bytes, which ask for kArrayBytes.
  static v1::ScanArrayRequest ScanOfArray() {
    v1::ScanArrayRequest request;
    request.mutable_array()->mutable_resident_array()->set_name("array");
    request.set_operation(v1::SCAN_OPERATION_SUM);
    return request;
  }
  grpc::Status Scan(milliseconds timeout) const {
    grpc::ClientContext context;
    context.set_deadline(std::chrono::system_clock::now() + timeout);
    v1::ScanArrayResponse response;
    return v1::ComputeService::NewStub(channel_)->ScanArray(&context, ScanOfArray(), &response);
  }
  double Metric(const std::string& series) const {
    const MetricsText page =
        ParseMetrics(HttpGet(server_->metrics_port().value(), "/metrics").body);
    EXPECT_TRUE(page.values.contains(series)) << series;
    return page.Value(series);
  }
  // Waits until so many calls were ended because their answers were not taken.
  void ExpectTimedOutAnswers(double count) const {
    const std::string series = "gridfold_answers_timed_out_total";
    const auto end = Clock::now() + seconds(20);
    while (Metric(series) < count && Clock::now() < end) {
      std::this_thread::sleep_for(milliseconds(10));
    }
    ASSERT_EQ(Metric(series), count);
  }
  void AskMuchAndTakeNothing(uint32_t window_bytes) {
    StartSmallServer(seconds(60));
    const uint64_t before = ProcessPrivateBytes();
    RawClient greedy(server_->port(), window_bytes);
    for (int i = 0; i < 100; ++i) {
      ASSERT_TRUE(greedy.Send(greedy.Call("ComputeService/ScanArray", ScanOfArray())));
    }
    uint64_t most = 0;
    const auto end = Clock::now() + seconds(1);
    while (Clock::now() < end) {
      most = std::max(most, ProcessPrivateBytes());
      // Nobody is named in either.
      const auto start = Clock::now();
      EXPECT_TRUE(Reduce(channel_).ok());
      EXPECT_TRUE(Reduce(channel_, "", "other").ok());
      EXPECT_LT(Clock::now() - start, seconds(5));
    }
    // The room, and what the socket takes; all answers together would be 400 MiB.
    EXPECT_LT(most, before + 128 * kMiB);
  }

  std::shared_ptr<grpc::Channel> channel_;
};

TEST_F(CallerBoundsTest, AnswersWithoutAWindow) { AskMuchAndTakeNothing(0); }

TEST_F(CallerBoundsTest, AnswersThatAreNotRead) { AskMuchAndTakeNothing(0x7fff'ffff); }

TEST_F(CallerBoundsTest, CallsWhoseAnswersAreNotTakenEnd) {
  // 4 MiB take 4 seconds at the least rate, which is waited for once.
  StartSmallServer(milliseconds(1));
  RawClient greedy(server_->port(), 0);
  for (int i = 0; i < 100; ++i) {
    ASSERT_TRUE(greedy.Send(greedy.Call("ComputeService/ReduceArray", SmallReduction())));
  }
  for (int i = 0; i < 3; ++i) {
    ASSERT_TRUE(greedy.Send(greedy.Call("ComputeService/ScanArray", ScanOfArray())));
  }
  const grpc::Status scan = Scan(seconds(60));
  EXPECT_TRUE(scan.ok()) << scan.error_message();
}

// Each kind of stream is ended as other calls are, whether its answer comes at its end or in parts.
TEST_F(CallerBoundsTest, StreamsWhoseAnswersAreNotTakenEnd) {
  StartSmallServer(milliseconds(1));
  v1::ArraySource bytes;
  bytes.mutable_streamed_array()->set_element_type(v1::ELEMENT_TYPE_UINT8);
  v1::ReduceStreamRequest reduce;
  *reduce.mutable_request()->mutable_array() = bytes;
  reduce.mutable_request()->add_statistics(v1::STATISTIC_COUNT);
  reduce.set_data("x");
  v1::HistogramStreamRequest histogram;
  *histogram.mutable_request()->mutable_array() = bytes;
  histogram.mutable_request()->add_bins()->mutable_integer()->set_bin_count(1);
  histogram.mutable_request()->set_channel_count(1);
  histogram.set_data("x");
  v1::ScanStreamRequest scan;
  *scan.mutable_request()->mutable_array() = bytes;
  scan.mutable_request()->set_operation(v1::SCAN_OPERATION_SUM);
  scan.set_data("x");
  v1::ReadArrayRequest read;
  read.mutable_array()->set_name("array");
  read.mutable_array()->mutable_slice()->set_count(1);
  RawClient greedy(server_->port(), 0);
  double count = 0;
  for (const std::string& call : {greedy.Call("ComputeService/ReduceStream", reduce),
                                  greedy.Call("ComputeService/HistogramStream", histogram),
                                  greedy.Call("ComputeService/ScanStream", scan),
                                  greedy.Call("ArrayService/ReadArray", read)}) {
    ASSERT_TRUE(greedy.Send(call));
    ExpectTimedOutAnswers(++count);
  }
}

TEST_F(CallerBoundsTest, CallsBeforeTheirBoundIsAcknowledged) {
  StartServer({});
  const std::shared_ptr<grpc::Channel> other = ConnectInTheClear();
  ASSERT_TRUE(Reduce(other).ok());
  RawClient flood(server_->port(), 65535);
  const uint64_t before = ProcessPrivateBytes();
  uint64_t most = 0;
  bool is_open = true;
  for (int i = 0; i < 1000 && is_open; ++i) {
    std::string calls;
    for (int j = 0; j < 100; ++j) calls += flood.Headers("ComputeService/ReduceArray");
    is_open = flood.Send(calls);
    most = std::max(most, ProcessPrivateBytes());
  }
  EXPECT_TRUE(!is_open || flood.IsClosedWithin(seconds(20)));
  WaitFor([&] { return Metric("gridfold_connections_closed_total{reason=\"calls\"}") == 1; });
  // All 100,000 would take 1.3 GiB.
  EXPECT_LT(most, before + 512 * kMiB);
  EXPECT_TRUE(Reduce(other).ok());
}

TEST_F(CallerBoundsTest, AFewMoreCallsThanAreAllowedAreTooMany) {
  StartServer({});
  RawClient honest(server_->port(), 65535);
  for (int i = 0; i < kConcurrentStreamsMax; ++i) {
    ASSERT_TRUE(honest.Send(honest.Headers("ComputeService/ReduceArray")));
  }
  EXPECT_FALSE(honest.IsClosedWithin(seconds(1)));
  ASSERT_TRUE(honest.Send(honest.Headers("ComputeService/ReduceArray")));
  EXPECT_TRUE(honest.IsClosedWithin(seconds(20)));
}

TEST_F(CallerBoundsTest, TooMuchMetadataFailsOneCallOnly) {
  StartServer({});
  const std::shared_ptr<grpc::Channel> channel = ConnectInTheClear();
  grpc::ClientContext context;
  v1::WriteArrayResponse unused;
  const auto stream = v1::ArrayService::NewStub(channel)->WriteArray(&context, &unused);
  for (const size_t size : {20'000, 100'000}) {
    const grpc::Status status = Reduce(channel, std::string(size, 'x'));
    EXPECT_EQ(status.error_code(), grpc::StatusCode::RESOURCE_EXHAUSTED);
    EXPECT_EQ(DecodeDetails(status).reason(), "JOB_TOO_LARGE") << status.error_message();
  }
  EXPECT_TRUE(Reduce(channel, std::string(15'000, 'x')).ok());
  // The first call goes on: its own error is what ends it.
  stream->WritesDone();
  EXPECT_EQ(stream->Finish().error_code(), grpc::StatusCode::INVALID_ARGUMENT);
}

TEST_F(CallerBoundsTest, MessagesAreTakenUpToTheirBoundExactly) {
  StartServer({}, {.message_bytes_max = kMessageBytesFloor});
  const std::shared_ptr<grpc::Channel> channel = ConnectInTheClear();
  // Field 15, of bytes, which nobody knows.
  const auto message = [](size_t bytes) {
    const size_t payload = bytes - 4;
    return std::string({0x7a, static_cast<char>(0x80 | (payload & 0x7f)),
                        static_cast<char>(0x80 | (payload >> 7 & 0x7f)),
                        static_cast<char>(payload >> 14)}) +
           std::string(payload, 'x');
  };
  for (const char* method : {"ComputeService/ReduceArray", "ArrayService/ListArrays",
                             "ComputeService/ReduceStream", "ArrayService/WriteArray"}) {
    const std::string path = absl::StrCat("/gridfold.v1.", method);
    const RawAnswer fits = CallRaw(channel, path, message(kMessageBytesFloor));
    EXPECT_NE(DecodeDetails(fits.status).reason(), "JOB_TOO_LARGE") << method;
    const RawAnswer large = CallRaw(channel, path, message(kMessageBytesFloor + 1));
    EXPECT_EQ(large.status.error_code(), grpc::StatusCode::RESOURCE_EXHAUSTED) << method;
    EXPECT_EQ(DecodeDetails(large.status).reason(), "JOB_TOO_LARGE")
        << method << ": " << large.status.error_message();
  }
}

// Each call has a thread for as long as it lasts, and nobody else needs one of these.
TEST_F(CallerBoundsTest, ReflectionHasFewCallsAtATime) {
  StartServer({});
  const std::shared_ptr<grpc::Channel> channel = ConnectInTheClear();
  const std::string method = "/grpc.reflection.v1alpha.ServerReflection/ServerReflectionInfo";
  const std::string symbol = "gridfold.v1.ComputeService";
  // Field 4: the file that has the symbol.
  const std::string question = std::string({0x22, static_cast<char>(symbol.size())}) + symbol;
  std::vector<std::unique_ptr<RawStream>> calls;
  for (int i = 0; i < kReflectionCallsMax; ++i) {
    calls.push_back(std::make_unique<RawStream>(channel, method));
    calls.back()->Write(question);
    const std::optional<std::string> answer = calls.back()->Read();
    ASSERT_TRUE(answer.has_value()) << i;
    EXPECT_THAT(*answer, testing::HasSubstr("ReduceArray"));
  }
  for (int i = 0; i < 3; ++i) {
    EXPECT_EQ(CallRaw(channel, method, question).status.error_code(),
              grpc::StatusCode::RESOURCE_EXHAUSTED);
  }
  EXPECT_TRUE(Reduce(channel).ok());
  calls.clear();
  WaitFor([&] { return CallRaw(channel, method, question).status.ok(); });
}

TEST_F(CallerBoundsTest, InformationTakesRoomAsOtherAnswersDo) {
  StartServer({}, {.answer_bytes_max = kAnswerBytesFloor});
  RawClient greedy(server_->port(), 0);
  for (int i = 0; i < kConcurrentStreamsMax - 1; ++i) {
    const char* const method =
        i % 2 == 0 ? "ServerService/GetServerInfo" : "ServerService/GetStatistics";
    ASSERT_TRUE(greedy.Send(greedy.Call(method, v1::GetServerInfoRequest())));
  }
  // As many as have room: the others were refused.
  const std::shared_ptr<grpc::Channel> channel = ConnectInTheClear();
  WaitFor([&] { return Metric("gridfold_answer_bytes") > kAnswerBytesFloor / 2; });
  EXPECT_LE(Metric("gridfold_answer_bytes"), kAnswerBytesFloor);
  EXPECT_GT(Metric("gridfold_answers_refused_total"), 0);
  v1::GetServerInfoResponse info;
  grpc::ClientContext context;
  // Another connection has its share.
  const grpc::Status status = v1::ServerService::NewStub(channel)->GetServerInfo(
      &context, v1::GetServerInfoRequest(), &info);
  EXPECT_TRUE(status.ok()) << status.error_message();
}

TEST_F(CallerBoundsTest, UnknownMethodsAreToldSo) {
  StartServer({});
  const RawAnswer answer = CallRaw(ConnectInTheClear(), "/gridfold.v1.ComputeService/Guess", "");
  EXPECT_EQ(answer.status.error_code(), grpc::StatusCode::UNIMPLEMENTED);
  EXPECT_EQ(DecodeDetails(answer.status).reason(), "UNKNOWN_METHOD");
}

}  // namespace
}  // namespace gridfold::server
