// Programs that this one starts for a part of its work.
#ifndef GRIDFOLD_CLIENT_COMMAND_LINE_CHILD_PROCESS_H_
#define GRIDFOLD_CLIENT_COMMAND_LINE_CHILD_PROCESS_H_

#include <sys/types.h>

#include <cstdio>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"

namespace gridfold::client {

// Descriptors that a child has as its standard ones.
struct ChildFiles {
  int input;
  int output;
  int error;
};

// A running program. Move-only, not thread-safe.
class ChildProcess {
 public:
  // Starts `command`, whose first word is found on the PATH where it has no slash. NOT_FOUND where
  // there is no such program; other errors are the system's.
  static absl::StatusOr<ChildProcess> Start(const std::vector<std::string>& command,
                                            const ChildFiles& files);
  // Ends the program where it still runs.
  ~ChildProcess();
  ChildProcess(ChildProcess&& other) noexcept : process_(std::exchange(other.process_, 0)) {}
  ChildProcess& operator=(ChildProcess&&) = delete;

  // Waits for its end: nothing to say where that was with exit code 0, else "exit code 3" or the
  // name of a signal. Once.
  std::string Wait();

 private:
  explicit ChildProcess(pid_t process) : process_(process) {}

  pid_t process_;  // 0: none, or waited for.
};

// An empty file without a name, and all that was written to it.
using TemporaryFile = std::unique_ptr<FILE, int (*)(FILE*)>;
absl::StatusOr<TemporaryFile> OpenTemporaryFile();
std::string ReadTemporaryFile(FILE* file);

}  // namespace gridfold::client

#endif  // GRIDFOLD_CLIENT_COMMAND_LINE_CHILD_PROCESS_H_
