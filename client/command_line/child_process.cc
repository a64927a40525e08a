#include "client/command_line/child_process.h"

#include <signal.h>
#include <spawn.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>

#include "absl/cleanup/cleanup.h"
#include "absl/strings/str_cat.h"

namespace gridfold::client {

absl::StatusOr<ChildProcess> ChildProcess::Start(const std::vector<std::string>& command,
                                                 const ChildFiles& files) {
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  const absl::Cleanup destroy = [&actions] { posix_spawn_file_actions_destroy(&actions); };
  posix_spawn_file_actions_adddup2(&actions, files.input, STDIN_FILENO);
  posix_spawn_file_actions_adddup2(&actions, files.output, STDOUT_FILENO);
  posix_spawn_file_actions_adddup2(&actions, files.error, STDERR_FILENO);
  // Not written to, though the interface of C wants to be able to.
  std::vector<char*> arguments;
  for (const std::string& word : command) arguments.push_back(const_cast<char*>(word.c_str()));
  arguments.push_back(nullptr);
  pid_t process = 0;
  const int error =
      posix_spawnp(&process, arguments[0], &actions, nullptr, arguments.data(), environ);
  if (error != 0) return absl::ErrnoToStatus(error, command[0]);
  return ChildProcess(process);
}

ChildProcess::~ChildProcess() {
  if (process_ == 0) return;
  kill(process_, SIGKILL);
  Wait();
}

std::string ChildProcess::Wait() {
  const pid_t process = std::exchange(process_, 0);
  int status = 0;
  while (waitpid(process, &status, 0) < 0) {
    if (errno != EINTR) return strerror(errno);
  }
  if (WIFSIGNALED(status)) return strsignal(WTERMSIG(status));
  return WEXITSTATUS(status) == 0 ? "" : absl::StrCat("exit code ", WEXITSTATUS(status));
}

absl::StatusOr<TemporaryFile> OpenTemporaryFile() {
  TemporaryFile file(std::tmpfile(), std::fclose);
  if (!file) return absl::ErrnoToStatus(errno, "a temporary file");
  return file;
}

std::string ReadTemporaryFile(FILE* file) {
  std::string bytes;
  char buffer[1 << 14];
  std::rewind(file);
  while (const size_t size = std::fread(buffer, 1, sizeof(buffer), file)) {
    bytes.append(buffer, size);
  }
  return bytes;
}

}  // namespace gridfold::client
