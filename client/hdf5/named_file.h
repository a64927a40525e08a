// The file on standard input, as the library can open it.
#ifndef GRIDFOLD_CLIENT_HDF5_NAMED_FILE_H_
#define GRIDFOLD_CLIENT_HDF5_NAMED_FILE_H_

#include <string>

#include "absl/status/statusor.h"

namespace gridfold::client {

// A path of the file on standard input, which the library opens by its name only. A file without a
// name, such as that of what came through a pipe, is copied to one with a name, in TMPDIR, which
// the destructor removes: once it is open. Move-only.
class NamedFile {
 public:
  static absl::StatusOr<NamedFile> OfStandardInput();
  ~NamedFile();
  NamedFile(NamedFile&& other) noexcept : path_(other.path_), is_copy_(other.is_copy_) {
    other.is_copy_ = false;
  }
  NamedFile& operator=(NamedFile&&) = delete;

  const std::string& path() const { return path_; }

 private:
  NamedFile(std::string path, bool is_copy) : path_(std::move(path)), is_copy_(is_copy) {}

  std::string path_;
  bool is_copy_;
};

}  // namespace gridfold::client

#endif  // GRIDFOLD_CLIENT_HDF5_NAMED_FILE_H_
