// Writes lines to standard error or to a file in a thread of its own, so that nobody who has
// something to say waits for whoever reads it: a pipe that is full, a disk that hangs.
//
// What has not been written yet is bounded. A line beyond that is dropped and counted, and how many
// were dropped is said in the place where they are missing. Thread-safe. The destructor does not
// wait: what is then left to write is written if the program lasts so long.
#ifndef GRIDFOLD_SERVER_PROCESS_LINE_WRITER_H_
#define GRIDFOLD_SERVER_PROCESS_LINE_WRITER_H_

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

namespace gridfold::server {

class LineWriter {
 public:
  // The line that says how many were dropped before it, without its end.
  using TellDropped = std::function<std::string(uint64_t dropped)>;
  // Called in the writer's thread with what came of Reopen.
  using OnReopened = std::function<void(const absl::Status&)>;

  // Writes to `descriptor`, which stays open and is not closed.
  LineWriter(int descriptor, size_t buffer_bytes_max, TellDropped tell_dropped);
  // Appends to a file, which is made for its owner only where there is none. Errors:
  // INVALID_ARGUMENT where that is not possible, or where there is something that is no file.
  static absl::StatusOr<std::unique_ptr<LineWriter>> Append(const std::string& path,
                                                            size_t buffer_bytes_max,
                                                            TellDropped tell_dropped,
                                                            OnReopened on_reopened);
  ~LineWriter();
  LineWriter(const LineWriter&) = delete;
  LineWriter& operator=(const LineWriter&) = delete;

  // Takes a line, without its end, or drops it. Never blocks.
  void Write(absl::string_view line);

  // Opens the file by its name again, before the next line: whoever rotates logs has renamed it.
  // Where that fails the open file stays. Nothing happens where there is only a descriptor.
  void Reopen();

  // Waits until everything that was taken before is written. False where that takes longer than
  // `limit`.
  bool Flush(std::chrono::milliseconds limit);

  uint64_t dropped_lines() const;

 private:
  struct State;

  explicit LineWriter(std::shared_ptr<State> state);

  // Shared with the thread, which may hang in the system when the writer goes.
  const std::shared_ptr<State> state_;
};

}  // namespace gridfold::server

#endif  // GRIDFOLD_SERVER_PROCESS_LINE_WRITER_H_
