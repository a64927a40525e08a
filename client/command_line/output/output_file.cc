#include "client/command_line/output/output_file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <climits>
#include <cstdlib>
#include <optional>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/strip.h"
#include "client/command_line/exit_code.h"
#include "client/command_line/output/pending_file.h"

namespace gridfold::client {
namespace {

absl::Status OutputError(const std::string& name) {
  const absl::Status status = absl::ErrnoToStatus(errno, name);
  // Whoever reads has had enough, and needs no telling.
  return errno == EPIPE ? WithExitCode(status, ExitCode::kReaderGone) : status;
}

// The descriptor that a path such as /dev/stdout or /dev/fd/3 stands for: it is not opened again,
// since that would begin at the start of its file.
std::optional<int> DescriptorOf(absl::string_view path) {
  if (path == "/dev/stdout") return STDOUT_FILENO;
  if (path == "/dev/stderr") return STDERR_FILENO;
  int number = 0;
  if ((absl::ConsumePrefix(&path, "/dev/fd/") || absl::ConsumePrefix(&path, "/proc/self/fd/")) &&
      absl::SimpleAtoi(path, &number)) {
    return number;
  }
  return std::nullopt;
}

int OpenInPlace(const std::string& path) {
  if (const std::optional<int> descriptor = DescriptorOf(path)) {
    return fcntl(*descriptor, F_DUPFD_CLOEXEC, 0);
  }
  return open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
}

// Where a link leads; the path itself where it leads nowhere yet.
std::string Resolve(const std::string& path) {
  char resolved[PATH_MAX];
  return realpath(path.c_str(), resolved) == nullptr ? path : std::string(resolved);
}

bool IsReplaceable(const std::string& path, const struct stat& present) {
  return S_ISREG(present.st_mode) && !absl::StartsWith(path, "/dev/") &&
         !absl::StartsWith(path, "/proc/");
}

}  // namespace

OutputFile::OutputFile(int descriptor, std::string name, std::unique_ptr<PendingFile> pending)
    : descriptor_(descriptor), name_(std::move(name)), pending_(std::move(pending)) {}

OutputFile::OutputFile(OutputFile&& other) noexcept
    : descriptor_(std::exchange(other.descriptor_, -1)),
      is_standard_(other.is_standard_),
      name_(std::move(other.name_)),
      pending_(std::move(other.pending_)) {}

OutputFile::~OutputFile() {
  if (descriptor_ >= 0 && !is_standard_) close(descriptor_);
}

absl::StatusOr<OutputFile> OutputFile::Open(const std::string& path) {
  if (path == "-") {
    OutputFile file(STDOUT_FILENO, "standard output", nullptr);
    file.is_standard_ = true;
    return file;
  }
  struct stat present = {};
  const bool is_there = stat(path.c_str(), &present) == 0;
  if (is_there && access(path.c_str(), W_OK) != 0) return OutputError(path);
  const bool is_dangling = !is_there && lstat(path.c_str(), &present) == 0;
  if ((!is_there || IsReplaceable(path, present)) && !is_dangling) {
    if (auto pending = PendingFile::Create(Resolve(path))) {
      const int descriptor = pending->descriptor();
      if (is_there) {
        (void)!fchown(descriptor, present.st_uid, present.st_gid);  // Root's to do.
        (void)!fchmod(descriptor, present.st_mode & 07777);
      }
      return OutputFile(descriptor, path, std::move(pending));
    }
    if (!is_there) return OutputError(path);
  }
  const int descriptor = OpenInPlace(path);
  if (descriptor < 0) return OutputError(path);
  return OutputFile(descriptor, path, nullptr);
}

absl::Status OutputFile::Write(absl::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t count = write(descriptor_, bytes.data(), bytes.size());
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) return OutputError(name_);
    bytes.remove_prefix(static_cast<size_t>(count));
  }
  return absl::OkStatus();
}

absl::Status OutputFile::Commit() {
  if (is_standard_) return absl::OkStatus();
  if (close(std::exchange(descriptor_, -1)) != 0) return OutputError(name_);
  if (pending_ != nullptr && !pending_->TakePlace()) return OutputError(name_);
  return absl::OkStatus();
}

absl::Status WriteFile(const std::string& path, std::initializer_list<absl::string_view> parts) {
  absl::StatusOr<OutputFile> file = OutputFile::Open(path);
  if (!file.ok()) return file.status();
  for (absl::string_view part : parts) {
    if (absl::Status status = file->Write(part); !status.ok()) return status;
  }
  return file->Commit();
}

}  // namespace gridfold::client
