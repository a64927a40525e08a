// A line on standard error that says what takes long.
#ifndef GRIDFOLD_CLIENT_COMMAND_LINE_OUTPUT_PROGRESS_H_
#define GRIDFOLD_CLIENT_COMMAND_LINE_OUTPUT_PROGRESS_H_

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <thread>

#include "absl/synchronization/mutex.h"
#include "absl/time/time.h"
#include "client/command_line/output/terminal.h"

namespace gridfold::client {

// Shows nothing for the first half second, then redraws its line ten times a second, and takes it
// away in the end. Where the amount of work is known it is a bar, else the time that has passed: of
// a request on its way gRPC does not tell how much has left.
//
// Thread-safe.
class Progress {
 public:
  // Writes by `write`, from a thread of its own; without either nothing is shown.
  Progress(const TextStyle& style, std::function<void(const std::string&)> write);
  ~Progress();
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;

  // Begins a step, called `label`.
  void Begin(const std::string& label);

  // How far the step is, in bytes, and of how many where that is known.
  void Update(uint64_t done_bytes, std::optional<uint64_t> total_bytes);

 private:
  struct Step {
    std::string label;
    absl::Time start;
    uint64_t done_bytes = 0;
    std::optional<uint64_t> total_bytes;
  };

  void Run();
  std::string Line(const Step& step) const;

  const TextStyle style_;
  const std::function<void(const std::string&)> write_;
  absl::Mutex mutex_;
  Step step_ ABSL_GUARDED_BY(mutex_);
  bool done_ ABSL_GUARDED_BY(mutex_) = false;
  std::optional<std::thread> thread_;
};

}  // namespace gridfold::client

#endif  // GRIDFOLD_CLIENT_COMMAND_LINE_OUTPUT_PROGRESS_H_
