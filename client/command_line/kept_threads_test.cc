#include "client/command_line/kept_threads.h"

#include <filesystem>
#include <fstream>
#include <string>
#include <utility>

#include "absl/time/clock.h"
#include "absl/time/time.h"
#include "client/library/fake_server.h"
#include "gridfold/client.h"
#include "gtest/gtest.h"

namespace gridfold::client {
namespace {

// The threads of this process that run gRPC's callbacks, by the name that gRPC gives them.
int CallbackThreadCount() {
  int count = 0;
  for (const auto& task : std::filesystem::directory_iterator("/proc/self/task")) {
    std::string name;
    std::getline(std::ifstream(task.path() / "comm"), name);
    count += name == "nexting_thread";
  }
  return count;
}

// Threads take their names when they begin.
int CallbackThreadCountAtRest() {
  int count = CallbackThreadCount();
  for (int unchanged = 0; unchanged < 10; ++unchanged) {
    absl::SleepFor(absl::Milliseconds(20));
    const int before = std::exchange(count, CallbackThreadCount());
    if (before != count) unchanged = 0;
  }
  return count;
}

TEST(KeptThreadsTest, StayWhenTheLastChannelIsGone) {
  FakeServer server;
  server.on_info = [](grpc::ServerContext&, const v1::GetServerInfoRequest&,
                      v1::GetServerInfoResponse&) { return grpc::Status::OK; };
  KeepCallbackThreads();
  const int count = CallbackThreadCountAtRest();
  EXPECT_GT(count, 0);
  {
    const auto client = Client::Connect({.target = server.target()});
    ASSERT_TRUE(client.ok()) << client.status();
    EXPECT_TRUE((*client)->GetServerInfo().ok());
    EXPECT_EQ(CallbackThreadCount(), count);
  }
  EXPECT_EQ(CallbackThreadCount(), count);
}

}  // namespace
}  // namespace gridfold::client
