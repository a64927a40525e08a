// A program that runs beside this one and is ended with its owner.
#ifndef GRIDFOLD_CLIENT_TRANSPORT_BENCHMARK_CHILD_PROCESS_H_
#define GRIDFOLD_CLIENT_TRANSPORT_BENCHMARK_CHILD_PROCESS_H_

#include <sys/types.h>

#include <string>
#include <vector>

#include "absl/status/statusor.h"

namespace gridfold::transport_benchmark {

class ChildProcess {
 public:
  // Runs arguments[0], a path, with its output appended to the file `log`.
  // Errors: UNAVAILABLE.
  static absl::StatusOr<ChildProcess> Start(const std::vector<std::string>& arguments,
                                            const std::string& log);
  ChildProcess(ChildProcess&& other) noexcept;
  ChildProcess& operator=(ChildProcess&&) = delete;
  // Sends SIGTERM and waits.
  ~ChildProcess();

  pid_t id() const { return id_; }
  bool IsRunning() const;
  // Resident memory now, in bytes; 0 where there is none.
  uint64_t ResidentBytes() const;

 private:
  explicit ChildProcess(pid_t id) : id_(id) {}

  pid_t id_;
};

// Waits until the child has written the number of its port to `file`. Errors:
// UNAVAILABLE when it ends before, or takes longer than a minute.
absl::StatusOr<int> AwaitPort(const ChildProcess& child, const std::string& file);

}  // namespace gridfold::transport_benchmark

#endif  // GRIDFOLD_CLIENT_TRANSPORT_BENCHMARK_CHILD_PROCESS_H_
