#include "client/command_line/child_process.h"

#include <fcntl.h>
#include <unistd.h>

#include <chrono>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace gridfold::client {
namespace {

using ::testing::HasSubstr;

// A shell that runs `script`, with what it prints in a file.
class ChildProcessTest : public testing::Test {
 protected:
  void SetUp() override {
    ASSERT_TRUE(output_.ok()) << output_.status();
    ASSERT_GE(nothing_, 0);
  }
  ~ChildProcessTest() override { close(nothing_); }

  absl::StatusOr<ChildProcess> Start(const std::vector<std::string>& command) {
    const int file = fileno(output_->get());
    return ChildProcess::Start(command, {.input = nothing_, .output = file, .error = file});
  }

  std::string EndOf(const std::string& script) {
    absl::StatusOr<ChildProcess> child = Start({"sh", "-c", script});
    return child.ok() ? child->Wait() : child.status().ToString();
  }

  const int nothing_ = open("/dev/null", O_RDONLY);
  absl::StatusOr<TemporaryFile> output_ = OpenTemporaryFile();
};

TEST_F(ChildProcessTest, HowItEndsIsTold) {
  EXPECT_EQ(EndOf("exit 0"), "");
  EXPECT_EQ(EndOf("exit 3"), "exit code 3");
  EXPECT_EQ(EndOf("kill -TERM $$"), "Terminated");
}

TEST_F(ChildProcessTest, WhatItPrintsIsInItsFiles) {
  EXPECT_EQ(EndOf("cat; echo out; echo error >&2"), "");
  EXPECT_EQ(ReadTemporaryFile(output_->get()), "out\nerror\n");
}

TEST_F(ChildProcessTest, NoSuchProgram) {
  const absl::Status status = Start({"no-such-program-anywhere"}).status();
  EXPECT_TRUE(absl::IsNotFound(status)) << status;
  EXPECT_THAT(std::string(status.message()), HasSubstr("no-such-program-anywhere"));
}

// One that nobody waits for does not outlive its owner, who would wait for its minute otherwise.
TEST_F(ChildProcessTest, EndsWithItsOwner) {
  const auto begin = std::chrono::steady_clock::now();
  { ASSERT_TRUE(Start({"sleep", "60"}).ok()); }
  EXPECT_LT(std::chrono::steady_clock::now() - begin, std::chrono::seconds(30));
}

}  // namespace
}  // namespace gridfold::client
