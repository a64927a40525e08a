// Clients that mean ill: the server goes on answering the others, and its memory stays bounded.
#include <arpa/inet.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "server/process/process_statistics.h"
#include "server/testing/secure_server.h"
#include "server/testing/waiting.h"

namespace gridfold::server {
namespace {

constexpr char kPreface[] = "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n";
// An empty frame of settings, which ends the handshake.
const std::string kSettings("\0\0\0\4\0\0\0\0\0", 9);
// In which a connection that is refused is closed.
constexpr std::chrono::milliseconds kShort{20};

// A header as HPACK (RFC 7541) writes one that is to be remembered by nobody.
std::string Header(const std::string& name, const std::string& value) {
  return absl::StrCat(std::string(1, '\0'), std::string(1, static_cast<char>(name.size())), name,
                      std::string(1, static_cast<char>(value.size())), value);
}

// Of the first call of a connection, and not its headers' last.
std::string HeadersFrame(char type, const std::string& headers) {
  const size_t size = headers.size();
  return std::string({static_cast<char>(size >> 16), static_cast<char>(size >> 8),
                      static_cast<char>(size), type, 0, 0, 0, 0, 1}) +
         headers;
}

class Socket {
 public:
  explicit Socket(int port) : descriptor_(socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
    sockaddr_in address = {};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    address.sin_port = htons(static_cast<uint16_t>(port));
    EXPECT_EQ(connect(descriptor_, reinterpret_cast<sockaddr*>(&address), sizeof(address)), 0);
  }
  Socket(Socket&& other) noexcept : descriptor_(std::exchange(other.descriptor_, -1)) {}
  Socket& operator=(Socket&&) = delete;
  ~Socket() {
    if (descriptor_ >= 0) close(descriptor_);
  }

  void Send(const std::string& bytes) const { EXPECT_TRUE(TrySend(bytes)); }
  // Whether all of it was taken.
  bool TrySend(const std::string& bytes) const {
    return send(descriptor_, bytes.data(), bytes.size(), MSG_NOSIGNAL) ==
           static_cast<ssize_t>(bytes.size());
  }
  // Whether the server closes the connection before the timeout, whatever it sends first.
  bool IsClosedWithin(std::chrono::milliseconds timeout) const {
    const auto end = std::chrono::steady_clock::now() + timeout;
    char bytes[1024];
    while (true) {
      const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(
          end - std::chrono::steady_clock::now());
      pollfd wanted{descriptor_, POLLIN, 0};
      if (left.count() <= 0 || poll(&wanted, 1, static_cast<int>(left.count())) <= 0) return false;
      if (recv(descriptor_, bytes, sizeof(bytes), 0) <= 0) return true;
    }
  }

 private:
  int descriptor_;
};

class HostileClientTest : public SecureServerTest {
 protected:
  void SetUp() override {
    StartServer({});
    channel_ = ConnectInTheClear();
    ASSERT_TRUE(Reduce(channel_).ok());
  }
  std::vector<Socket> ConnectMany(size_t count, const std::string& greeting) {
    std::vector<Socket> sockets;
    for (size_t i = 0; i < count; ++i) {
      sockets.emplace_back(server_->port());
      sockets.back().Send(greeting);
    }
    return sockets;
  }
  // The most that this process may have, which holds both ends of each.
  static size_t ManyConnections() {
    rlimit limit = {};
    getrlimit(RLIMIT_NOFILE, &limit);
    limit.rlim_cur = limit.rlim_max;
    setrlimit(RLIMIT_NOFILE, &limit);
    return std::min<size_t>(4000, (limit.rlim_cur - 200) / 2);
  }

  std::shared_ptr<grpc::Channel> channel_;
};

TEST_F(HostileClientTest, ConnectionsThatNeverSayWhatTheyWantAreClosed) {
  const std::vector<Socket> silent = ConnectMany(20, "");
  const std::vector<Socket> slow = ConnectMany(20, std::string(kPreface).substr(0, 10));
  EXPECT_TRUE(Reduce(ConnectInTheClear()).ok());
  const auto patience = 3 * kHandshakeTimeout;
  for (const Socket& socket : silent) EXPECT_TRUE(socket.IsClosedWithin(patience));
  for (const Socket& socket : slow) EXPECT_TRUE(socket.IsClosedWithin(patience));
}

TEST_F(HostileClientTest, ManyIdleConnections) {
  const uint64_t before = ProcessResidentBytes();
  // Then nothing more comes.
  const std::string greeting = kPreface + kSettings;
  const size_t count = ManyConnections();
  const std::vector<Socket> idle = ConnectMany(count, greeting);
  EXPECT_TRUE(Reduce(channel_).ok());
  EXPECT_TRUE(Reduce(ConnectInTheClear()).ok());
  EXPECT_LT(ProcessResidentBytes(), before + count * 64 * kKiB + 64 * kMiB);
}

// As many as are allowed, to the last one; and then whoever comes, while the others are idle.
TEST_F(HostileClientTest, IdleConnectionsMakeRoomForOthers) {
  for (const uint32_t count : {1, 5, 20}) {
    StartServer({}, {.connection_count_max = count});
    const std::vector<Socket> idle = ConnectMany(count, kPreface + kSettings);
    for (const Socket& socket : idle) EXPECT_FALSE(socket.IsClosedWithin(kShort)) << count;
    std::this_thread::sleep_for(2 * kConnectionSilenceMin);
    // A client's own last connection may not have ended yet.
    for (int i = 0; i < 3; ++i) WaitFor([&] { return Reduce(ConnectInTheClear()).ok(); });
  }
}

TEST_F(HostileClientTest, AConnectionWithoutCallsIsClosedAfterATime) {
  Limits limits;
  limits.connection_idle_timeout = std::chrono::seconds(1);
  StartServer({}, limits);
  const Socket idle(server_->port());
  idle.Send(kPreface + kSettings);
  const std::shared_ptr<grpc::Channel> channel = ConnectInTheClear();
  for (int i = 0; i < 8; ++i) {
    EXPECT_TRUE(Reduce(channel).ok());
    std::this_thread::sleep_for(std::chrono::milliseconds(250));
  }
  EXPECT_TRUE(idle.IsClosedWithin(std::chrono::seconds(30)));
  std::this_thread::sleep_for(std::chrono::seconds(2));
  EXPECT_TRUE(Reduce(channel).ok()) << "a client opens another one when it needs it";
}

TEST_F(HostileClientTest, HeadersThatAreTooLarge) {
  for (int i = 0; i < 10; ++i) {
    const grpc::Status status =
        Reduce(ConnectInTheClear(), std::string(size_t{2} * kMetadataBytesMax, 'x'));
    EXPECT_EQ(status.error_code(), grpc::StatusCode::RESOURCE_EXHAUSTED) << status.error_message();
  }
  EXPECT_TRUE(Reduce(channel_).ok());
}

// Each is allowed, but not all of them together.
TEST_F(HostileClientTest, HeadersThatNeverEnd) {
  constexpr uint64_t kGrowthMax = 64 * kMiB;
  constexpr uint64_t kSentMax = 512 * kMiB;
  StartServer({}, {.memory_bytes_max = ProcessPrivateBytes() + kGrowthMax});
  const std::shared_ptr<grpc::Channel> other = ConnectInTheClear();
  const Socket hostile(server_->port());
  hostile.Send(kPreface + kSettings +
               HeadersFrame(1, Header(":method", "POST") + Header(":scheme", "http") +
                                   Header(":path", "/gridfold.v1.ComputeService/ReduceArray") +
                                   Header(":authority", "localhost") + Header("te", "trailers") +
                                   Header("content-type", "application/grpc")));
  std::string headers;
  while (headers.size() < kMetadataBytesMax / 2) headers += Header("name", std::string(100, 'x'));
  const std::string more = HeadersFrame(9, headers);
  uint64_t sent = 0;
  while (sent < kSentMax && hostile.TrySend(more)) sent += more.size();
  EXPECT_GT(sent, kGrowthMax / 64);
  EXPECT_LT(sent, kSentMax);
  EXPECT_TRUE(Reduce(other).ok());
  EXPECT_TRUE(Reduce(ConnectInTheClear()).ok());
}

// What they send is no reason for the shortage.
TEST_F(HostileClientTest, SmallCallsGoOnInAShortageOfMemory) {
  StartServer({}, {.memory_bytes_max = kMemoryBytesFloor});
  std::vector<char> held(size_t{2} * kMemoryBytesFloor, 'x');
  const std::shared_ptr<grpc::Channel> other = ConnectInTheClear();
  const auto end = std::chrono::steady_clock::now() + 20 * kMemoryCheckInterval;
  while (std::chrono::steady_clock::now() < end) {
    held.resize(held.size() + kMemoryBytesFloor / kMemoryGrowthPart, 'x');
    EXPECT_TRUE(Reduce(other).ok());
  }
  EXPECT_GT(ProcessPrivateBytes(), 2 * kMemoryBytesFloor);
}

TEST_F(HostileClientTest, CompressedMessagesAreNotUnpacked) {
  v1::ReduceArrayRequest request = SmallReduction();
  *request.mutable_array() =
      ArrayOf<int8_t>(v1::ELEMENT_TYPE_INT8, std::vector<int8_t>(size_t{3} << 20));
  for (const grpc_compression_algorithm algorithm : {GRPC_COMPRESS_GZIP, GRPC_COMPRESS_DEFLATE}) {
    grpc::ClientContext context;
    context.set_compression_algorithm(algorithm);
    v1::ReduceArrayResponse response;
    const grpc::Status status =
        v1::ComputeService::NewStub(channel_)->ReduceArray(&context, request, &response);
    EXPECT_EQ(status.error_code(), grpc::StatusCode::UNIMPLEMENTED) << status.error_message();
  }
  EXPECT_TRUE(Reduce(channel_).ok());
}

TEST_F(HostileClientTest, BytesThatAreNoHttp) {
  const std::vector<Socket> sockets = ConnectMany(20, "GET / HTTP/1.1\r\nHost: server\r\n\r\n");
  for (const Socket& socket : sockets) {
    EXPECT_TRUE(socket.IsClosedWithin(std::chrono::minutes(1)));
  }
  EXPECT_TRUE(Reduce(channel_).ok());
}

}  // namespace
}  // namespace gridfold::server
