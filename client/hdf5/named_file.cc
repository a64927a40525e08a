#include "client/hdf5/named_file.h"

#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"

namespace gridfold::client {
namespace {

constexpr size_t kCopyBytes = size_t{1} << 20;

absl::Status CopyStandardInputTo(int to) {
  std::string buffer(kCopyBytes, '\0');
  for (off_t offset = 0;;) {
    const ssize_t size = pread(STDIN_FILENO, buffer.data(), buffer.size(), offset);
    if (size < 0) return absl::ErrnoToStatus(errno, "standard input");
    if (size == 0) return absl::OkStatus();
    for (ssize_t written = 0; written < size;) {
      const ssize_t step = write(to, buffer.data() + written, static_cast<size_t>(size - written));
      if (step < 0) return absl::ErrnoToStatus(errno, "a temporary file");
      written += step;
    }
    offset += size;
  }
}

}  // namespace

absl::StatusOr<NamedFile> NamedFile::OfStandardInput() {
  struct stat status = {};
  if (fstat(STDIN_FILENO, &status) != 0) return absl::ErrnoToStatus(errno, "standard input");
  if (status.st_nlink > 0) return NamedFile("/proc/self/fd/0", /*is_copy=*/false);
  const char* const folder = std::getenv("TMPDIR");
  std::string path =
      absl::StrCat(folder == nullptr || *folder == '\0' ? "/tmp" : folder, "/gridfold-XXXXXX");
  const int copy = mkstemp(path.data());
  if (copy < 0) return absl::ErrnoToStatus(errno, path);
  NamedFile file(path, /*is_copy=*/true);
  const absl::Status copied = CopyStandardInputTo(copy);
  close(copy);
  if (!copied.ok()) return copied;
  return file;
}

NamedFile::~NamedFile() {
  if (is_copy_) unlink(path_.c_str());
}

}  // namespace gridfold::client
