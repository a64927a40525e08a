#include "client/command_line/input/file.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstddef>
#include <cstdlib>
#include <thread>
#include <vector>

#include "absl/cleanup/cleanup.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "client/library/helper_thread.h"

namespace gridfold::client {
namespace {

// How much is read at a time: the step of the progress.
constexpr size_t kStepBytes = size_t{4} << 20;

// What a thread takes out of the address space at a time.
constexpr size_t kReleasedBytes = size_t{64} << 20;
constexpr size_t kReleasingThreadsMax = 16;

absl::Status SystemError(const std::string& path) { return absl::ErrnoToStatus(errno, path); }

std::string DisplayName(const std::string& path, const char* standard) {
  return path == "-" ? standard : path;
}

// What is left to read of a regular file, of which standard input may have been read in part;
// nothing of a pipe and the like.
std::optional<uint64_t> SizeOf(int file) {
  struct stat status = {};
  if (fstat(file, &status) != 0 || !S_ISREG(status.st_mode)) return std::nullopt;
  const off_t read_bytes = lseek(file, 0, SEEK_CUR);
  if (read_bytes < 0) return std::nullopt;
  return static_cast<uint64_t>(std::max<off_t>(0, status.st_size - read_bytes));
}

// False where there is no such file.
bool Describe(const std::string& path, int standard, struct stat& status) {
  return (path == "-" ? fstat(standard, &status) : stat(path.c_str(), &status)) == 0;
}

// Runs `work` in so many threads, of which the caller's is one, or in fewer where there are no
// more.
template <typename Work>
void RunTogether(size_t thread_count, const Work& work) {
  std::vector<std::thread> others;
  while (others.size() + 1 < thread_count) {
    std::optional<std::thread> other = TryStartThread(work);
    if (!other) break;
    others.push_back(*std::move(other));
  }
  work();
  for (std::thread& other : others) other.join();
}

// Takes mapped pages out of the address space. The kernel goes from page to page, which takes one
// thread 45 to 70 ms for each GB, and the end of the process would wait for it.
void ReleasePages(std::span<std::byte> pages) {
  const size_t part_count = (pages.size() + kReleasedBytes - 1) / kReleasedBytes;
  const size_t processors = std::thread::hardware_concurrency();
  std::atomic<size_t> next = 0;
  RunTogether(std::min({part_count, processors, kReleasingThreadsMax}), [&] {
    for (size_t part = next++; part < part_count; part = next++) {
      const std::span<std::byte> rest = pages.subspan(part * kReleasedBytes);
      // Speed only: what stays goes with the mapping.
      (void)madvise(rest.data(), std::min(rest.size(), kReleasedBytes), MADV_DONTNEED);
    }
  });
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

}  // namespace

absl::Status NamingFile(const std::string& path, const absl::Status& status) {
  const std::string prefix = absl::StrCat(DisplayName(path, "standard input"), ": ");
  if (absl::StartsWith(status.message(), prefix)) return status;
  return absl::Status(status.code(), absl::StrCat(prefix, status.message()));
}

std::shared_ptr<const FileMapping> FileMapping::Map(int descriptor, uint64_t offset) {
  struct stat file = {};
  if (fstat(descriptor, &file) != 0 || !S_ISREG(file.st_mode)) return nullptr;
  const uint64_t end = static_cast<uint64_t>(file.st_size);
  if (offset >= end) return nullptr;
  const uint64_t skipped_bytes = offset % static_cast<uint64_t>(sysconf(_SC_PAGESIZE));
  const uint64_t begin = offset - skipped_bytes;
  void* const data =
      mmap(nullptr, end - begin, PROT_READ, MAP_SHARED, descriptor, static_cast<off_t>(begin));
  if (data == MAP_FAILED) return nullptr;
  // What is not in memory is read soon; that is a wish.
  (void)madvise(data, end - begin, MADV_WILLNEED);
  return std::shared_ptr<const FileMapping>(
      new FileMapping({static_cast<std::byte*>(data), end - begin}, skipped_bytes));
}

FileMapping::~FileMapping() {
  if (pages_.size() > kReleasedBytes) ReleasePages(pages_);
  munmap(pages_.data(), pages_.size());
}

absl::StatusOr<File> File::OpenToRead(const std::string& path) {
  const std::string name = DisplayName(path, "standard input");
  if (path == "-") return File(STDIN_FILENO, true, name);
  const int descriptor = open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (descriptor < 0) return SystemError(name);
  return File(descriptor, false, name);
}

absl::StatusOr<File> File::OpenTemporary() {
  const char* const folder = std::getenv("TMPDIR");
  std::string path =
      absl::StrCat(folder == nullptr || *folder == '\0' ? "/tmp" : folder, "/gridfold-XXXXXX");
  const int descriptor = mkostemp(path.data(), O_CLOEXEC);
  if (descriptor < 0) return SystemError(path);
  unlink(path.c_str());
  return File(descriptor, false, "temporary file");
}

File::~File() {
  if (!is_standard_ && descriptor_ >= 0) close(descriptor_);
}

File::File(File&& other) noexcept
    : descriptor_(std::exchange(other.descriptor_, -1)),
      is_standard_(other.is_standard_),
      name_(other.name_) {}

std::optional<uint64_t> File::size_bytes() const { return SizeOf(descriptor_); }

absl::StatusOr<size_t> File::Read(std::span<char> buffer) {
  size_t used = 0;
  while (used < buffer.size()) {
    const ssize_t count = read(descriptor_, buffer.data() + used, buffer.size() - used);
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) return SystemError(name_);
    if (count == 0) break;
    used += static_cast<size_t>(count);
  }
  return used;
}

absl::StatusOr<size_t> File::ReadAt(uint64_t offset, std::span<char> buffer) const {
  size_t used = 0;
  while (used < buffer.size()) {
    const ssize_t count = pread(descriptor_, buffer.data() + used, buffer.size() - used,
                                static_cast<off_t>(offset + used));
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) return SystemError(name_);
    if (count == 0) break;
    used += static_cast<size_t>(count);
  }
  return used;
}

std::optional<uint64_t> File::position() const {
  if (!SizeOf(descriptor_)) return std::nullopt;
  return static_cast<uint64_t>(lseek(descriptor_, 0, SEEK_CUR));
}

std::shared_ptr<const FileMapping> File::Map(uint64_t bytes_before) const {
  const std::optional<uint64_t> next = position();
  return next && *next >= bytes_before ? FileMapping::Map(descriptor_, *next - bytes_before)
                                       : nullptr;
}

absl::Status File::Write(absl::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t count = write(descriptor_, bytes.data(), bytes.size());
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) return SystemError(name_);
    bytes.remove_prefix(static_cast<size_t>(count));
  }
  return absl::OkStatus();
}

bool AreSameFile(const std::string& read_path, const std::string& written_path) {
  struct stat input = {};
  struct stat output = {};
  return Describe(read_path, STDIN_FILENO, input) &&
         Describe(written_path, STDOUT_FILENO, output) && S_ISREG(input.st_mode) &&
         input.st_dev == output.st_dev && input.st_ino == output.st_ino;
}

absl::StatusOr<std::string> ReadFile(const std::string& path, uint64_t bytes_max,
                                     const ReadProgress& progress) {
  const std::string name = DisplayName(path, "standard input");
  if (path == "-") return ReadAll(STDIN_FILENO, name, bytes_max, progress);
  const int file = open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (file < 0) return SystemError(name);
  const absl::Cleanup closer = [file] { close(file); };
  return ReadAll(file, name, bytes_max, progress);
}

}  // namespace gridfold::client
