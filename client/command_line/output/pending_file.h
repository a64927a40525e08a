// A file that takes another one's place when it is complete.
#ifndef GRIDFOLD_CLIENT_COMMAND_LINE_OUTPUT_PENDING_FILE_H_
#define GRIDFOLD_CLIENT_COMMAND_LINE_OUTPUT_PENDING_FILE_H_

#include <cstddef>
#include <memory>
#include <string>

namespace gridfold::client {

// Removed by its destructor unless it has taken the other's place, and by SIGHUP, SIGINT and
// SIGTERM where the program has no handler of its own for these and does not ignore them.
class PendingFile {
 public:
  // Creates an empty file in the folder of `path`, and opens it to be written. nullptr where that
  // fails; errno says why.
  static std::unique_ptr<PendingFile> Create(const std::string& path);
  ~PendingFile();
  PendingFile(const PendingFile&) = delete;
  PendingFile& operator=(const PendingFile&) = delete;

  // The caller's to close.
  int descriptor() const { return descriptor_; }

  // Renames it to the path of Create. False where that fails; errno says why.
  bool TakePlace();

 private:
  PendingFile(std::string path, std::string name, int descriptor);

  const std::string path_;
  const std::string name_;
  const int descriptor_;
  size_t slot_;  // Of the table that signals are answered by.
  bool is_done_ = false;
};

}  // namespace gridfold::client

#endif  // GRIDFOLD_CLIENT_COMMAND_LINE_OUTPUT_PENDING_FILE_H_
