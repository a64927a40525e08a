// Whatever is in the place of a file, reading it ends.
#include "server/process/watched_file.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <memory>
#include <string>

#include "server/process/reload_report.h"
#include "server/testing/fake_engine.h"

namespace gridfold::server {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;
using testing::HasSubstr;

TEST(WatchedFileTest, ReadsAFileAgainAndAgain) {
  std::string name = std::filesystem::temp_directory_path() / "gridfold-test-XXXXXX";
  close(mkstemp(name.data()));
  WatchedFile file(name, 5);
  EXPECT_EQ(*file.Get(seconds(30)), "");
  std::ofstream(name) << "12345";
  EXPECT_EQ(*file.Get(seconds(30)), "12345");
  std::ofstream(name) << "123456";
  EXPECT_THAT(std::string(file.Get(seconds(30)).status().message()),
              HasSubstr("has more than 5 bytes"));
  std::filesystem::remove(name);
  EXPECT_EQ(file.Get(seconds(30)).status().code(), absl::StatusCode::kNotFound);
}

TEST(WatchedFileTest, WhatIsNoFileIsAnErrorAtOnce) {
  std::string folder = std::filesystem::temp_directory_path() / "gridfold-test-XXXXXX";
  ASSERT_NE(mkdtemp(folder.data()), nullptr);
  const std::string fifo = folder + "/fifo";
  ASSERT_EQ(mkfifo(fifo.c_str(), 0600), 0);
  for (const std::string& path : {fifo, std::string("/dev/zero"), std::string("/tmp")}) {
    const absl::Status status = ReadRegularFile(path, 100).status();
    EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument) << path;
    EXPECT_THAT(std::string(status.message()), HasSubstr("is not a regular file"));
  }
  std::filesystem::remove_all(folder);
}

TEST(WatchedFileTest, ADiskThatHangsIsWaitedForByNobody) {
  const auto gate = std::make_shared<Gate>();
  std::atomic<int> begun = 0;
  WatchedFile file("file", [gate, &begun]() -> absl::StatusOr<std::string> {
    ++begun;
    (void)gate->Pass({});
    return "content";
  });
  for (int i = 0; i < 3; ++i) {
    const absl::Status status = file.Get(milliseconds(20)).status();
    EXPECT_EQ(status.code(), absl::StatusCode::kDeadlineExceeded);
    EXPECT_THAT(std::string(status.message()), HasSubstr("file could not be read within 20 ms"));
  }
  EXPECT_EQ(begun, 1) << "a thread hangs for every look at it";
  gate->Open();
  EXPECT_EQ(*file.Get(seconds(30)), "content");
}

TEST(ReloadReportTest, CountsWhatCameOfIt) {
  ReloadReport report("not_reloaded");
  EXPECT_TRUE(report.Try([] { return true; }));
  EXPECT_FALSE(report.Try([] { return false; }));
  EXPECT_FALSE(report.Try([] { return absl::NotFoundError("gone"); }));
  EXPECT_FALSE(report.Try([]() -> absl::StatusOr<bool> { throw std::bad_alloc(); }));
  EXPECT_TRUE(report.Try([] { return true; }));
  EXPECT_EQ(report.reloads(), 2u);
  EXPECT_EQ(report.failures(), 2u);
}

}  // namespace
}  // namespace gridfold::server
