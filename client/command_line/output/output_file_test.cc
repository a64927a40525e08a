#include "client/command_line/output/output_file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>
#include <thread>
#include <utility>

#include "client/command_line/exit_code.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace gridfold::client {
namespace {

namespace fs = std::filesystem;

class OutputFileTest : public testing::Test {
 protected:
  OutputFileTest() : folder_(fs::path(testing::TempDir()) / "output_file_test") {
    fs::remove_all(folder_);
    fs::create_directory(folder_);
  }
  ~OutputFileTest() override { fs::remove_all(folder_); }

  std::string Path(const std::string& name) const { return folder_ / name; }
  static void Put(const std::string& path, const std::string& content) {
    std::ofstream(path) << content;
  }
  static std::string Get(const std::string& path) {
    std::ostringstream content;
    content << std::ifstream(path).rdbuf();
    return content.str();
  }
  size_t FileCount() const {
    return static_cast<size_t>(
        std::distance(fs::directory_iterator(folder_), fs::directory_iterator()));
  }
  static mode_t ModeOf(const std::string& path) {
    struct stat status = {};
    EXPECT_EQ(stat(path.c_str(), &status), 0);
    return status.st_mode & 07777;
  }

  const fs::path folder_;
};

TEST_F(OutputFileTest, TakesTheOldFilesPlaceWhenItIsComplete) {
  const std::string path = Path("out");
  Put(path, "old");
  chmod(path.c_str(), 0640);
  auto file = OutputFile::Open(path);
  ASSERT_TRUE(file.ok()) << file.status();
  ASSERT_TRUE(file->Write("new").ok());
  EXPECT_EQ(Get(path), "old");
  ASSERT_TRUE(file->Commit().ok());
  EXPECT_EQ(Get(path), "new");
  EXPECT_EQ(ModeOf(path), mode_t{0640});
  EXPECT_EQ(FileCount(), 1u);
}

TEST_F(OutputFileTest, ANewFileHasTheUsualMode) {
  const mode_t mask = umask(027);
  ASSERT_TRUE(WriteFile(Path("new"), {"a", "b"}).ok());
  umask(mask);
  EXPECT_EQ(Get(Path("new")), "ab");
  EXPECT_EQ(ModeOf(Path("new")), mode_t{0640});
}

TEST_F(OutputFileTest, LeavesTheOldFileWhereItIsNotCompleted) {
  const std::string path = Path("out");
  Put(path, "old");
  {
    auto file = OutputFile::Open(path);
    ASSERT_TRUE(file.ok());
    ASSERT_TRUE(file->Write("half").ok());
    auto moved = *std::move(file);
  }
  EXPECT_EQ(Get(path), "old");
  EXPECT_EQ(FileCount(), 1u);
}

TEST_F(OutputFileTest, LinksAreFollowed) {
  Put(Path("target"), "old");
  fs::create_symlink("target", Path("link"));
  ASSERT_TRUE(WriteFile(Path("link"), {"new"}).ok());
  EXPECT_TRUE(fs::is_symlink(Path("link")));
  EXPECT_EQ(Get(Path("target")), "new");
  fs::create_symlink("later", Path("dangling"));
  ASSERT_TRUE(WriteFile(Path("dangling"), {"new"}).ok());
  EXPECT_TRUE(fs::is_symlink(Path("dangling")));
  EXPECT_EQ(Get(Path("later")), "new");
}

TEST_F(OutputFileTest, PipesAndDevicesAreWrittenInPlace) {
  const std::string path = Path("pipe");
  ASSERT_EQ(mkfifo(path.c_str(), 0600), 0);
  std::string read;
  std::thread reader([&] { read = Get(path); });
  EXPECT_TRUE(WriteFile(path, {"through"}).ok());
  reader.join();
  EXPECT_EQ(read, "through");
  EXPECT_TRUE(fs::is_fifo(path));
  EXPECT_TRUE(WriteFile("/dev/null", {"gone"}).ok());
  EXPECT_TRUE(fs::is_character_file("/dev/null"));
  EXPECT_THAT(std::string(WriteFile("/dev/full", {"no room"}).message()),
              testing::HasSubstr("/dev/full"));
}

// Whoever has such a descriptor, such as /dev/stdout, reads what is written behind what is there.
TEST_F(OutputFileTest, OpenDescriptorsAreNotOpenedAgain) {
  const std::string path = Path("out");
  const int descriptor = open(path.c_str(), O_WRONLY | O_CREAT, 0600);
  ASSERT_GE(descriptor, 0);
  ASSERT_EQ(write(descriptor, "before ", 7), 7);
  for (const std::string folder : {"/dev/fd/", "/proc/self/fd/"}) {
    EXPECT_TRUE(WriteFile(folder + std::to_string(descriptor), {"x"}).ok()) << folder;
  }
  EXPECT_EQ(Get(path), "before xx");
  EXPECT_EQ(write(descriptor, " after", 6), 6) << "it is the caller's to close";
  close(descriptor);
  EXPECT_EQ(Get(path), "before xx after");
  EXPECT_FALSE(WriteFile("/dev/fd/x", {"x"}).ok());
  EXPECT_EQ(FileCount(), 1u);
}

TEST_F(OutputFileTest, StandardStreamsAreWrittenBehindWhatTheyHave) {
  for (const auto& [name, standard] : {std::pair("/dev/stdout", STDOUT_FILENO),
                                       {"/dev/stderr", STDERR_FILENO},
                                       {"-", STDOUT_FILENO}}) {
    const std::string path = Path("out");
    const pid_t child = fork();
    if (child == 0) {
      dup2(open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0600), standard);
      bool is_written = write(standard, "1", 1) == 1;
      is_written = is_written && WriteFile(name, {"2", "3"}).ok() && WriteFile(name, {"4"}).ok();
      _exit(is_written && write(standard, "5", 1) == 1 ? 0 : 1);
    }
    int result = -1;
    ASSERT_EQ(waitpid(child, &result, 0), child);
    EXPECT_EQ(result, 0) << name;
    EXPECT_EQ(Get(path), "12345") << name;
  }
}

// Whether `holds` is true in a process that is nobody's, whom file modes bind as they do not bind
// root.
template <typename Holds>
bool HoldsForNobody(Holds holds) {
  const pid_t child = fork();
  if (child == 0) {
    const bool is_nobody = geteuid() != 0 || (setgid(65534) == 0 && setuid(65534) == 0);
    _exit(is_nobody && holds() ? 0 : 1);
  }
  int result = -1;
  return waitpid(child, &result, 0) == child && result == 0;
}

TEST_F(OutputFileTest, AFileThatMayNotBeWrittenStaysAsItIs) {
  const std::string path = Path("out");
  Put(path, "old");
  chmod(path.c_str(), 0444);
  chmod(folder_.c_str(), 0777);
  EXPECT_TRUE(HoldsForNobody([&] { return absl::IsPermissionDenied(WriteFile(path, {"new"})); }));
  EXPECT_EQ(Get(path), "old");
  EXPECT_EQ(FileCount(), 1u);
}

TEST_F(OutputFileTest, FilesInFoldersThatTakeNoNewOnesAreWrittenInPlace) {
  const std::string path = Path("out");
  Put(path, "older");
  chmod(path.c_str(), 0666);
  chmod(folder_.c_str(), 0555);
  EXPECT_TRUE(HoldsForNobody([&] { return WriteFile(path, {"new"}).ok(); }));
  EXPECT_TRUE(HoldsForNobody(
      [&] { return absl::IsPermissionDenied(WriteFile(Path("another"), {"new"})); }));
  chmod(folder_.c_str(), 0777);
  EXPECT_EQ(Get(path), "new");
  EXPECT_EQ(FileCount(), 1u);
}

// Whoever writes to a pipe that nobody reads is told apart, since it needs no message.
TEST_F(OutputFileTest, AReaderThatIsGoneHasAnExitCodeOfItsOwn) {
  std::signal(SIGPIPE, SIG_IGN);
  int ends[2] = {};
  ASSERT_EQ(pipe(ends), 0);
  close(ends[0]);
  const absl::Status status = WriteFile("/dev/fd/" + std::to_string(ends[1]), {"x"});
  close(ends[1]);
  EXPECT_EQ(ExitCodeOf(status), ExitCode::kReaderGone) << status;
  EXPECT_NE(ExitCodeOf(WriteFile("/dev/full", {"x"})), ExitCode::kReaderGone);
}

TEST_F(OutputFileTest, ErrorsNameTheFile) {
  for (const std::string& path : {Path("nowhere/out"), std::string(folder_)}) {
    const absl::Status status = WriteFile(path, {"x"});
    EXPECT_THAT(std::string(status.message()), testing::HasSubstr(path));
  }
}

TEST_F(OutputFileTest, SignalsLeaveNothingBehind) {
  for (const int signal : {SIGHUP, SIGINT, SIGTERM}) {
    const std::string path = Path("out");
    Put(path, "old");
    const pid_t child = fork();
    if (child == 0) {
      std::signal(signal, SIG_DFL);  // Whoever starts tests in the background may ignore it.
      auto file = OutputFile::Open(path);
      if (!file.ok() || !file->Write("half").ok()) _exit(1);
      raise(signal);
      _exit(2);
    }
    int result = 0;
    ASSERT_EQ(waitpid(child, &result, 0), child);
    EXPECT_TRUE(WIFSIGNALED(result) && WTERMSIG(result) == signal) << result;
    EXPECT_EQ(Get(path), "old");
    EXPECT_EQ(FileCount(), 1u);
  }
}

}  // namespace
}  // namespace gridfold::client
