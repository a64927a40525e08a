// Files that a program writes: there whole, or as they were before.
#ifndef GRIDFOLD_CLIENT_COMMAND_LINE_OUTPUT_OUTPUT_FILE_H_
#define GRIDFOLD_CLIENT_COMMAND_LINE_OUTPUT_OUTPUT_FILE_H_

#include <initializer_list>
#include <memory>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

namespace gridfold::client {

class PendingFile;

// A file that is written piece by piece. What is written goes to a file beside the wanted one, in
// the same folder, which takes its place, its mode and its owner when it is complete: whoever reads
// the wanted one meanwhile, or after a failure, reads what was there before. The file beside is
// removed where it is not completed, also by SIGHUP, SIGINT and SIGTERM where the program does
// nothing else at these. A link is followed.
//
// Standard output ("-"), devices, pipes, files below /dev and /proc, and files in folders that take
// no new ones are written in place.
//
//   absl::StatusOr<OutputFile> file = OutputFile::Open("sums.npy");
//   if (!file.ok()) return file.status();
//   if (absl::Status status = file->Write(bytes); !status.ok()) return status;
//   return file->Commit();
//
// Errors name the file. Move-only; not thread-safe.
class OutputFile {
 public:
  static absl::StatusOr<OutputFile> Open(const std::string& path);
  ~OutputFile();
  OutputFile(OutputFile&& other) noexcept;
  OutputFile& operator=(OutputFile&&) = delete;

  absl::Status Write(absl::string_view bytes);
  // Once, last. A full disk may show only now.
  absl::Status Commit();

 private:
  OutputFile(int descriptor, std::string name, std::unique_ptr<PendingFile> pending);

  int descriptor_;  // -1: none.
  bool is_standard_ = false;
  std::string name_;
  std::unique_ptr<PendingFile> pending_;  // nullptr: written in place.
};

// Writes `parts` one after the other to the file at `path`, as OutputFile does.
absl::Status WriteFile(const std::string& path, std::initializer_list<absl::string_view> parts);

}  // namespace gridfold::client

#endif  // GRIDFOLD_CLIENT_COMMAND_LINE_OUTPUT_OUTPUT_FILE_H_
