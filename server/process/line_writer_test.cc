// A log that nobody reads keeps nobody waiting, and says what it has lost.
#include "server/process/line_writer.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>

#include "absl/strings/str_cat.h"
#include "server/transport/listener.h"

namespace gridfold::server {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;
using testing::HasSubstr;
using testing::StartsWith;

std::string TellLost(uint64_t lines) { return absl::StrCat("lost ", lines); }

class LineWriterTest : public testing::Test {
 protected:
  LineWriterTest() {
    std::string folder = std::filesystem::temp_directory_path() / "gridfold-test-XXXXXX";
    EXPECT_NE(mkdtemp(folder.data()), nullptr);
    folder_ = folder;
  }
  ~LineWriterTest() override { std::filesystem::remove_all(folder_); }

  std::string Path(const std::string& name) const { return folder_ / name; }
  static std::string ContentOf(const std::string& path) {
    std::stringstream content;
    content << std::ifstream(path).rdbuf();
    return content.str();
  }
  std::unique_ptr<LineWriter> Append(const std::string& path, size_t bytes_max = 1000) {
    auto writer = LineWriter::Append(path, bytes_max, TellLost, [this](const absl::Status& status) {
      ++(status.ok() ? reopened_ : failed_);
    });
    EXPECT_TRUE(writer.ok()) << writer.status();
    return *std::move(writer);
  }

  std::filesystem::path folder_;
  std::atomic<int> reopened_ = 0;
  std::atomic<int> failed_ = 0;
};

// What comes from a pipe until `end` has come, or nothing more does for a long time.
std::string ReadUntil(int descriptor, const std::string& end) {
  std::string text;
  char bytes[4096];
  pollfd wanted{descriptor, POLLIN, 0};
  while (!text.ends_with(end) && poll(&wanted, 1, 30'000) > 0) {
    const ssize_t count = read(descriptor, bytes, sizeof(bytes));
    if (count > 0) text.append(bytes, static_cast<size_t>(count));
  }
  return text;
}

// How many lines a text says that were lost.
uint64_t LostIn(const std::string& text) {
  uint64_t lost = 0;
  for (size_t at = text.find("lost "); at != std::string::npos; at = text.find("lost ", at + 1)) {
    lost += std::stoull(text.substr(at + 5));
  }
  return lost;
}

// Writes to a pipe until it takes nothing more; how many bytes it took.
size_t FillPipe(int descriptor) {
  fcntl(descriptor, F_SETFL, O_NONBLOCK);
  size_t size = 0;
  while (write(descriptor, "-", 1) == 1) ++size;
  fcntl(descriptor, F_SETFL, 0);
  return size;
}

TEST_F(LineWriterTest, LinesAreWrittenInTheirOrder) {
  const auto writer = Append(Path("log"));
  for (int i = 0; i < 100; ++i) writer->Write(absl::StrCat(i));
  ASSERT_TRUE(writer->Flush(seconds(30)));
  std::string expected;
  for (int i = 0; i < 100; ++i) absl::StrAppend(&expected, i, "\n");
  EXPECT_EQ(ContentOf(Path("log")), expected);
  EXPECT_EQ(writer->dropped_lines(), 0u);
}

// A line takes its bytes and one for its end; what waits may take as much as it may, and no more.
TEST_F(LineWriterTest, LinesAreKeptUpToTheBoundExactly) {
  const auto dropped = [this](const std::string& line) {
    const auto writer = Append(Path("bound"), 10);
    writer->Write(line);
    const uint64_t count = writer->dropped_lines();
    EXPECT_TRUE(writer->Flush(seconds(30)));
    return count;
  };
  EXPECT_EQ(dropped(std::string(9, 'a')), 0u);
  EXPECT_EQ(dropped(std::string(10, 'b')), 1u);
  EXPECT_EQ(dropped(std::string(11, 'c')), 1u);
  EXPECT_EQ(dropped(""), 0u);
  EXPECT_EQ(ContentOf(Path("bound")), "aaaaaaaaa\nlost 1\nlost 1\n\n");
}

TEST_F(LineWriterTest, APipeThatNobodyReadsKeepsNobodyWaiting) {
  int ends[2];
  ASSERT_EQ(pipe2(ends, O_CLOEXEC), 0);
  const Descriptor reader(ends[0]);
  const Descriptor end(ends[1]);
  const size_t filled = FillPipe(end.get());
  LineWriter writer(end.get(), 1000, TellLost);
  const std::string line(99, 'x');
  const auto begin = std::chrono::steady_clock::now();
  for (int i = 0; i < 20'000; ++i) writer.Write(line);
  EXPECT_FALSE(writer.Flush(milliseconds(50)));
  EXPECT_LT(std::chrono::steady_clock::now() - begin, seconds(5));
  const uint64_t dropped = writer.dropped_lines();
  EXPECT_GE(dropped, 20'000u - 20) << "of what waits, and what is being written, 10 each are kept";
  std::string text(filled, '-');
  EXPECT_EQ(ReadUntil(reader.get(), text), text);
  for (std::string more = "-"; LostIn(text) < dropped && !more.empty();) {
    more = ReadUntil(reader.get(), "\n");
    text += more;
  }
  EXPECT_EQ(LostIn(text), dropped) << "told at once, or as it came";
  EXPECT_EQ(std::count(text.begin(), text.end(), 'x'), 99 * (20'000 - dropped));
  writer.Write("again");
  EXPECT_EQ(ReadUntil(reader.get(), "again\n"), "again\n");
}

// Its thread hangs in the system, and is left there.
TEST_F(LineWriterTest, AWriterGoesWhileItsPipeIsFull) {
  int ends[2];
  ASSERT_EQ(pipe2(ends, O_CLOEXEC), 0);
  const Descriptor reader(ends[0]);
  const int end = ends[1];  // Stays open: the thread may be using it.
  {
    LineWriter writer(end, 200'000, TellLost);
    writer.Write(std::string(100'000, 'x'));
    EXPECT_FALSE(writer.Flush(milliseconds(10)));
  }
  EXPECT_EQ(ReadUntil(reader.get(), "x\n").size(), 100'001u);
}

TEST_F(LineWriterTest, ADiskThatIsFullIsTriedAgain) {
  const int full = open("/dev/full", O_WRONLY | O_CLOEXEC);
  ASSERT_GE(full, 0);
  LineWriter writer(full, 1000, TellLost);
  writer.Write("one");
  writer.Write("two");
  ASSERT_TRUE(writer.Flush(seconds(30)));
  EXPECT_EQ(writer.dropped_lines(), 2u);
  ASSERT_TRUE(writer.Flush(seconds(30)));
  EXPECT_EQ(writer.dropped_lines(), 2u) << "what tells of them is none of them";
  const int file = open(Path("log").c_str(), O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
  ASSERT_EQ(dup2(file, full), full);
  writer.Write("three");
  ASSERT_TRUE(writer.Flush(seconds(30)));
  EXPECT_EQ(ContentOf(Path("log")), "three\nlost 2\n");
  close(file);
}

TEST_F(LineWriterTest, AFileIsItsOwnersAloneAndIsAppendedTo) {
  Append(Path("log"))->Flush(seconds(30));
  EXPECT_EQ(std::filesystem::status(Path("log")).permissions(), std::filesystem::perms(0600));
  for (int i = 0; i < 2; ++i) {
    const auto writer = Append(Path("log"));
    writer->Write("line");
    ASSERT_TRUE(writer->Flush(seconds(30)));
  }
  EXPECT_EQ(ContentOf(Path("log")), "line\nline\n");
}

TEST_F(LineWriterTest, AFileThatWasRenamedIsMadeAgain) {
  const auto writer = Append(Path("log"));
  writer->Write("old");
  ASSERT_TRUE(writer->Flush(seconds(30)));
  std::filesystem::rename(Path("log"), Path("log.1"));
  writer->Reopen();
  writer->Write("new");
  ASSERT_TRUE(writer->Flush(seconds(30)));
  EXPECT_EQ(ContentOf(Path("log.1")), "old\n");
  EXPECT_EQ(ContentOf(Path("log")), "new\n");
  EXPECT_EQ(reopened_, 1);
}

TEST_F(LineWriterTest, WhereThereIsNoNewFileTheOldOneGoesOn) {
  std::filesystem::create_directory(Path("folder"));
  const auto writer = Append(Path("folder/log"));
  std::filesystem::rename(Path("folder"), Path("gone"));
  writer->Reopen();
  writer->Write("line");
  ASSERT_TRUE(writer->Flush(seconds(30)));
  EXPECT_EQ(ContentOf(Path("gone/log")), "line\n");
  EXPECT_EQ(failed_, 1);
}

TEST_F(LineWriterTest, WhatIsNoFileIsAnError) {
  ASSERT_EQ(mkfifo(Path("fifo").c_str(), 0600), 0);
  const auto error = [](const std::string& path) {
    return std::string(LineWriter::Append(path, 1000, TellLost, {}).status().message());
  };
  EXPECT_THAT(error(Path("fifo")), StartsWith(Path("fifo")));
  EXPECT_THAT(error("/dev/null"), HasSubstr("is not a regular file"));
  EXPECT_THAT(error(folder_), StartsWith(folder_.string()));
  EXPECT_THAT(error("/nowhere/log"), HasSubstr("cannot be written"));
}

}  // namespace
}  // namespace gridfold::server
