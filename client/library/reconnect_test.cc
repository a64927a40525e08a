// By when a client is back after its server was lost: the channel settings that its options
// promise.
#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <memory>
#include <thread>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/synchronization/mutex.h"
#include "absl/time/clock.h"
#include "client/library/fake_server.h"
#include "gridfold/client.h"
#include "gtest/gtest.h"

namespace gridfold::client {
namespace {

const std::vector<float> kElements = {1, 2, 3};

// Listens, and either hangs up on every connection or keeps it without a word; remembers when each
// came.
class UselessServer {
 public:
  explicit UselessServer(bool hangs_up)
      : hangs_up_(hangs_up), listener_(socket(AF_INET, SOCK_STREAM, 0)) {
    const int reuse = 1;  // Of the port, by the server that is back.
    setsockopt(listener_, SOL_SOCKET, SO_REUSEADDR, &reuse, sizeof(reuse));
    sockaddr_in address = {};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    EXPECT_EQ(bind(listener_, reinterpret_cast<sockaddr*>(&address), sizeof(address)), 0);
    EXPECT_EQ(listen(listener_, 64), 0);
    socklen_t size = sizeof(address);
    getsockname(listener_, reinterpret_cast<sockaddr*>(&address), &size);
    port_ = ntohs(address.sin_port);
    thread_ = std::thread([this] { Accept(); });
  }
  ~UselessServer() {
    shutdown(listener_, SHUT_RDWR);  // Wakes accept.
    thread_.join();
    close(listener_);
    for (const int connection : connections_) close(connection);
  }

  int port() const { return port_; }
  std::vector<absl::Time> times() {
    const absl::MutexLock lock(&mutex_);
    return times_;
  }

 private:
  void Accept() {
    for (int connection = accept(listener_, nullptr, nullptr); connection >= 0;
         connection = accept(listener_, nullptr, nullptr)) {
      const absl::MutexLock lock(&mutex_);
      times_.push_back(absl::Now());
      if (hangs_up_) {
        close(connection);
      } else {
        connections_.push_back(connection);
      }
    }
  }

  const bool hangs_up_;
  const int listener_;
  int port_ = 0;
  absl::Mutex mutex_;
  std::vector<absl::Time> times_;
  std::vector<int> connections_;
  std::thread thread_;
};

ClientOptions Options(int port) {
  return {.target = absl::StrCat("127.0.0.1:", port),
          .connect_timeout = absl::ZeroDuration(),
          .retry = {.attempts_max = 1,
                    .initial_backoff = absl::Milliseconds(100),
                    .backoff_max = absl::Milliseconds(200)}};
}

// Calls until one is answered, for `patience` at most: when that was.
absl::Time CallUntilAnswered(Client& client, absl::Duration patience) {
  const absl::Time end = absl::Now() + patience;
  while (absl::Now() < end) {
    if (client.ReduceArray(kElements, {}, {.timeout = absl::Seconds(2)}).ok()) return absl::Now();
    absl::SleepFor(absl::Milliseconds(10));
  }
  return absl::InfiniteFuture();
}

TEST(ReconnectTest, WaitsGrowToBackoffMaxAndNoFurther) {
  int port = 0;
  std::unique_ptr<Client> client;
  std::vector<absl::Time> times;
  {
    UselessServer lost(/*hangs_up=*/true);
    port = lost.port();
    client = *Client::Connect(Options(port));
    EXPECT_EQ(CallUntilAnswered(*client, absl::Seconds(4)), absl::InfiniteFuture());
    times = lost.times();
  }
  // Of gRPC's own waits, a second that grows by 1.6, there would be three or four; with an initial
  // wait alone, eight.
  EXPECT_GE(times.size(), 12u);
  ASSERT_GE(times.size(), 2u);
  EXPECT_LT(times[1] - times[0], absl::Milliseconds(700));
  // It is no busy loop either.
  EXPECT_LE(times.size(), 45u);
  FakeServer back(port, [](grpc::ServerContext&, const auto&, auto&) { return grpc::Status::OK; });
  const absl::Time start = absl::Now();
  EXPECT_LT(CallUntilAnswered(*client, absl::Seconds(30)) - start, absl::Seconds(1));
}

TEST(ReconnectTest, AnAttemptThatNobodyAnswersIsGivenUp) {
  UselessServer silent(/*hangs_up=*/false);
  ClientOptions options = Options(silent.port());
  options.connect_timeout = absl::Milliseconds(300);
  const absl::Time start = absl::Now();
  const absl::Status status = Client::Connect(options).status();
  EXPECT_EQ(ConnectionFaultOf(status), ConnectionFault::kSilent) << status;
  EXPECT_GE(absl::Now() - start, absl::Milliseconds(250));
  EXPECT_LT(absl::Now() - start, absl::Seconds(3));
}

// As when a machine is gone, and another one takes its address.
TEST(ReconnectTest, AClientIsBackAfterAttemptsThatNobodyAnswered) {
  auto server = std::make_unique<FakeServer>();
  server->on_reduce = [](grpc::ServerContext&, const auto&, auto&) { return grpc::Status::OK; };
  ClientOptions options = Options(0);
  options.target = server->target();
  options.connect_timeout = absl::Milliseconds(500);
  const auto client = *Client::Connect(options);
  EXPECT_TRUE(client->ReduceArray(kElements, {}).ok());
  const int port = std::stoi(options.target.substr(options.target.find(':') + 1));
  server.reset();
  // Attempts are taken by the kernel and stay without an answer.
  const int listener = socket(AF_INET, SOCK_STREAM, 0);
  const int reuse = 1;
  setsockopt(listener, SOL_SOCKET, SO_REUSEADDR, &reuse, sizeof(reuse));
  sockaddr_in address = {};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  address.sin_port = htons(static_cast<uint16_t>(port));
  ASSERT_EQ(bind(listener, reinterpret_cast<sockaddr*>(&address), sizeof(address)), 0);
  ASSERT_EQ(listen(listener, 64), 0);
  EXPECT_EQ(CallUntilAnswered(*client, absl::Seconds(2)), absl::InfiniteFuture());
  close(listener);
  FakeServer back(port, [](grpc::ServerContext&, const auto&, auto&) { return grpc::Status::OK; });
  const absl::Time start = absl::Now();
  // gRPC's own attempts last 20 seconds.
  EXPECT_LT(CallUntilAnswered(*client, absl::Seconds(30)) - start, absl::Seconds(3));
}

}  // namespace
}  // namespace gridfold::client
