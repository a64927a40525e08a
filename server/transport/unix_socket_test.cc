// Files of Unix sockets: whose they are, who may connect, and when they go.
#include "server/transport/unix_socket.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <atomic>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <string>
#include <thread>
#include <vector>

#include "server/transport/listen_address.h"

namespace gridfold::server {
namespace {

using ::testing::HasSubstr;

class UnixSocketTest : public testing::Test {
 protected:
  UnixSocketTest() {
    std::string name = std::filesystem::temp_directory_path() / "unix_socket_test_XXXXXX";
    folder_ = mkdtemp(name.data());
    path_ = folder_ / "socket";
  }
  ~UnixSocketTest() override { std::filesystem::remove_all(folder_); }

  bool CanConnect() const {
    sockaddr_un address = {};
    address.sun_family = AF_UNIX;
    std::strncpy(address.sun_path, path_.c_str(), sizeof(address.sun_path) - 1);
    const Descriptor client(socket(AF_UNIX, SOCK_STREAM, 0));
    return connect(client.get(), reinterpret_cast<const sockaddr*>(&address), sizeof(address)) == 0;
  }

  // What a server leaves that was killed: a file, and nobody who listens.
  void LeaveStaleFile() const {
    absl::StatusOr<UnixListener> listener = ListenOnUnixSocket(path_);
    ASSERT_TRUE(listener.ok()) << listener.status();
    std::filesystem::rename(path_, folder_ / "kept");
    listener = absl::UnavailableError("");
    std::filesystem::rename(folder_ / "kept", path_);
    ASSERT_FALSE(CanConnect());
  }

  std::filesystem::path folder_;
  std::filesystem::path path_;
};

TEST_F(UnixSocketTest, TheFileComesAndGoesWithTheListener) {
  {
    const absl::StatusOr<UnixListener> listener = ListenOnUnixSocket(path_);
    ASSERT_TRUE(listener.ok()) << listener.status();
    EXPECT_TRUE(CanConnect());
  }
  EXPECT_FALSE(std::filesystem::exists(path_));
}

TEST_F(UnixSocketTest, UserAndGroupMayConnectWhateverTheUmask) {
  for (const mode_t mask : {0077, 0022, 0000}) {
    const mode_t before = umask(mask);
    const absl::StatusOr<UnixListener> listener = ListenOnUnixSocket(path_);
    umask(before);
    ASSERT_TRUE(listener.ok()) << listener.status();
    struct stat found = {};
    ASSERT_EQ(stat(path_.c_str(), &found), 0);
    EXPECT_EQ(found.st_mode & 07777, 0660u) << mask;
  }
}

TEST_F(UnixSocketTest, AFileThatNobodyListensAtIsReplaced) {
  LeaveStaleFile();
  const absl::StatusOr<UnixListener> listener = ListenOnUnixSocket(path_);
  ASSERT_TRUE(listener.ok()) << listener.status();
  EXPECT_TRUE(CanConnect());
}

TEST_F(UnixSocketTest, ASocketInUseIsLeftAlone) {
  const absl::StatusOr<UnixListener> first = ListenOnUnixSocket(path_);
  ASSERT_TRUE(first.ok()) << first.status();
  const absl::StatusOr<UnixListener> second = ListenOnUnixSocket(path_);
  EXPECT_EQ(second.status().code(), absl::StatusCode::kUnavailable);
  EXPECT_THAT(std::string(second.status().message()), HasSubstr("another server"));
  EXPECT_TRUE(CanConnect());
}

TEST_F(UnixSocketTest, ASocketInUseWhoseBacklogIsFullIsLeftAlone) {
  const absl::StatusOr<UnixListener> first = ListenOnUnixSocket(path_);
  ASSERT_TRUE(first.ok()) << first.status();
  ASSERT_EQ(listen(first->socket.get(), 0), 0);
  sockaddr_un address = {};
  address.sun_family = AF_UNIX;
  std::strncpy(address.sun_path, path_.c_str(), sizeof(address.sun_path) - 1);
  std::vector<Descriptor> waiting;
  int error = 0;
  while (error == 0 && waiting.size() < 10) {
    waiting.emplace_back(socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0));
    const int result =
        connect(waiting.back().get(), reinterpret_cast<const sockaddr*>(&address), sizeof(address));
    error = result == 0 ? 0 : errno;
  }
  ASSERT_EQ(error, EAGAIN);
  EXPECT_THAT(std::string(ListenOnUnixSocket(path_).status().message()),
              HasSubstr("another server"));
  EXPECT_TRUE(std::filesystem::exists(path_));
}

TEST_F(UnixSocketTest, WhatIsNoSocketIsLeftAlone) {
  std::ofstream(path_) << "precious";
  EXPECT_THAT(std::string(ListenOnUnixSocket(path_).status().message()), HasSubstr("no socket"));
  EXPECT_EQ(std::filesystem::file_size(path_), 8u);
  std::filesystem::remove(path_);
  std::filesystem::create_directory(path_);
  EXPECT_THAT(std::string(ListenOnUnixSocket(path_).status().message()), HasSubstr("no socket"));
  std::filesystem::remove(path_);
  // A link is followed by nobody: what it points to may be another's.
  std::filesystem::create_symlink(folder_ / "elsewhere", path_);
  EXPECT_FALSE(ListenOnUnixSocket(path_).ok());
  EXPECT_TRUE(std::filesystem::is_symlink(path_));
}

TEST_F(UnixSocketTest, AFileThatHasTakenItsPlaceIsNotRemoved) {
  {
    const absl::StatusOr<UnixListener> listener = ListenOnUnixSocket(path_);
    ASSERT_TRUE(listener.ok()) << listener.status();
    std::ofstream(folder_ / "other") << "another's";
    std::filesystem::rename(folder_ / "other", path_);
  }
  EXPECT_TRUE(std::filesystem::exists(path_));
}

TEST_F(UnixSocketTest, ErrorsSayWhy) {
  const std::string nowhere = folder_ / "nowhere" / "socket";
  EXPECT_THAT(std::string(ListenOnUnixSocket(nowhere).status().message()),
              HasSubstr("No such file or directory"));
  const std::string longest = path_.string() + std::string(kUnixPathBytesMax, 'x');
  EXPECT_TRUE(ListenOnUnixSocket(longest.substr(0, kUnixPathBytesMax)).ok());
  EXPECT_THAT(
      std::string(ListenOnUnixSocket(longest.substr(0, kUnixPathBytesMax + 1)).status().message()),
      HasSubstr("too long"));
}

// One of the servers that start at the same time on a stale file listens; the others say so.
TEST_F(UnixSocketTest, OneOfManyThatStartTogetherListens) {
  for (int round = 0; round < 20; ++round) {
    LeaveStaleFile();
    std::vector<absl::StatusOr<UnixListener>> listeners(4);
    std::vector<std::thread> threads;
    for (absl::StatusOr<UnixListener>& listener : listeners) {
      threads.emplace_back([&] { listener = ListenOnUnixSocket(path_); });
    }
    for (std::thread& thread : threads) thread.join();
    EXPECT_EQ(std::ranges::count_if(listeners, [](const auto& one) { return one.ok(); }), 1);
    EXPECT_TRUE(CanConnect());
  }
}

TEST(ListenAddressTest, UnixSocketsHaveThePathOfGrpcsTargets) {
  EXPECT_EQ(UnixPath("unix:/run/a"), "/run/a");
  EXPECT_EQ(UnixPath("unix:///run/a"), "/run/a");
  EXPECT_EQ(UnixPath("unix:a"), "a");
  EXPECT_EQ(UnixPath("unix:"), "");
  EXPECT_EQ(UnixPath("unix.example.org:50051"), std::nullopt);
  EXPECT_EQ(UnixPath("127.0.0.1:50051"), std::nullopt);
  EXPECT_TRUE(IsLoopback("unix:/run/a"));
}

}  // namespace
}  // namespace gridfold::server
