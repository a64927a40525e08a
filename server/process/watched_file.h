// A file that is read again and again while the server runs: certificates, keys, tokens. Whatever
// is in its place (a FIFO, a device, a disk of another machine that hangs), reading it ends.
#ifndef GRIDFOLD_SERVER_PROCESS_WATCHED_FILE_H_
#define GRIDFOLD_SERVER_PROCESS_WATCHED_FILE_H_

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

namespace gridfold::server {

// The bytes of a regular file. NOT_FOUND where it cannot be opened or read, INVALID_ARGUMENT where
// it is no regular file or has more bytes than `bytes_max`. Waits for nobody who would write to a
// FIFO, and as long as a disk takes.
absl::StatusOr<std::string> ReadRegularFile(const std::string& path, uint64_t bytes_max);

// Used by one thread at a time.
class WatchedFile {
 public:
  using Read = std::function<absl::StatusOr<std::string>()>;

  WatchedFile(std::string path, uint64_t bytes_max);
  // `read` stands for reading the file, in tests.
  WatchedFile(std::string path, Read read);

  const std::string& path() const { return path_; }

  // Reads it now. The errors of ReadRegularFile; DEADLINE_EXCEEDED where that takes longer than
  // `timeout`. What takes longer goes on in a thread of its own, and nothing else is begun before
  // it has ended.
  absl::StatusOr<std::string> Get(std::chrono::milliseconds timeout);

 private:
  struct Reading;

  const std::string path_;
  const Read read_;
  std::shared_ptr<Reading> reading_;  // The one that has not ended, or none.
};

}  // namespace gridfold::server

#endif  // GRIDFOLD_SERVER_PROCESS_WATCHED_FILE_H_
