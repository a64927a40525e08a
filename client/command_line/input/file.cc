#include "client/command_line/input/file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstddef>

#include "absl/cleanup/cleanup.h"
#include "absl/strings/str_cat.h"

namespace gridfold::client {
namespace {

// How much is read at a time: the step of the progress.
constexpr size_t kStepBytes = size_t{4} << 20;

absl::Status SystemError(const std::string& path) { return absl::ErrnoToStatus(errno, path); }

std::string DisplayName(const std::string& path, const char* standard) {
  return path == "-" ? standard : path;
}

// The size of a regular file; nothing of a pipe and the like.
std::optional<uint64_t> SizeOf(int file) {
  struct stat status = {};
  if (fstat(file, &status) != 0 || !S_ISREG(status.st_mode)) return std::nullopt;
  return static_cast<uint64_t>(status.st_size);
}

absl::StatusOr<std::string> ReadAll(int file, const std::string& name, uint64_t bytes_max,
                                    const ReadProgress& progress) {
  const std::optional<uint64_t> total = SizeOf(file);
  std::string bytes;
  size_t used = 0;
  if (total && *total <= bytes_max) bytes.reserve(*total + 1);  // One more, to read the end.
  while (true) {
    if (used > bytes_max || (total && *total > bytes_max)) {
      return absl::ResourceExhaustedError(
          absl::StrCat(name, ": more than the ", bytes_max, " bytes that one request can carry"));
    }
    bytes.resize(std::max(bytes.size(), std::min(bytes.capacity(), used + kStepBytes)));
    if (bytes.size() == used) bytes.resize(used + std::max(used, kStepBytes));
    const ssize_t count =
        read(file, bytes.data() + used, std::min(bytes.size() - used, kStepBytes));
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) return SystemError(name);
    used += static_cast<size_t>(count);
    if (progress) progress(used, total);
    if (count == 0) break;
  }
  bytes.resize(used);
  return bytes;
}

absl::Status WriteAll(int file, const std::string& name, absl::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t count = write(file, bytes.data(), bytes.size());
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) return SystemError(name);
    bytes.remove_prefix(static_cast<size_t>(count));
  }
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<std::string> ReadFile(const std::string& path, uint64_t bytes_max,
                                     const ReadProgress& progress) {
  const std::string name = DisplayName(path, "standard input");
  if (path == "-") return ReadAll(STDIN_FILENO, name, bytes_max, progress);
  const int file = open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (file < 0) return SystemError(name);
  const absl::Cleanup closer = [file] { close(file); };
  return ReadAll(file, name, bytes_max, progress);
}

absl::Status WriteFile(const std::string& path, std::initializer_list<absl::string_view> parts) {
  const std::string name = DisplayName(path, "standard output");
  const bool standard = path == "-";
  const int file =
      standard ? STDOUT_FILENO : open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
  if (file < 0) return SystemError(name);
  absl::Status status;
  for (absl::string_view part : parts) {
    if (status.ok()) status = WriteAll(file, name, part);
  }
  // A full disk may show only now.
  if (!standard && close(file) != 0 && status.ok()) status = SystemError(name);
  return status;
}

}  // namespace gridfold::client
