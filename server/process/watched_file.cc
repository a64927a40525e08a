#include "server/process/watched_file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <condition_variable>
#include <cstring>
#include <exception>
#include <mutex>
#include <optional>
#include <thread>
#include <utility>

#include "absl/strings/str_cat.h"
#include "server/base/descriptor.h"

namespace gridfold::server {

namespace {

absl::Status CannotRead(const std::string& path, int error) {
  return absl::NotFoundError(absl::StrCat("cannot read ", path, ": ", strerror(error)));
}

}  // namespace

absl::StatusOr<std::string> ReadRegularFile(const std::string& path, uint64_t bytes_max) {
  const Descriptor file(open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY));
  if (file.get() < 0) return CannotRead(path, errno);
  struct stat status = {};
  if (fstat(file.get(), &status) != 0) return CannotRead(path, errno);
  if (!S_ISREG(status.st_mode)) {
    return absl::InvalidArgumentError(absl::StrCat(path, " is not a regular file"));
  }
  std::string bytes(bytes_max + 1, '\0');
  size_t size = 0;
  while (size < bytes.size()) {
    const ssize_t count = read(file.get(), bytes.data() + size, bytes.size() - size);
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) return CannotRead(path, errno);
    if (count == 0) break;
    size += static_cast<size_t>(count);
  }
  if (size > bytes_max) {
    return absl::InvalidArgumentError(absl::StrCat(path, " has more than ", bytes_max, " bytes"));
  }
  bytes.resize(size);
  return bytes;
}

// Shared with the thread that reads.
struct WatchedFile::Reading {
  std::mutex mutex;
  std::condition_variable has_ended;
  std::optional<absl::StatusOr<std::string>> result;  // Guarded by mutex.
};

WatchedFile::WatchedFile(std::string path, uint64_t bytes_max)
    : WatchedFile(path, [path, bytes_max] { return ReadRegularFile(path, bytes_max); }) {}

WatchedFile::WatchedFile(std::string path, Read read)
    : path_(std::move(path)), read_(std::move(read)) {}

absl::StatusOr<std::string> WatchedFile::Get(std::chrono::milliseconds timeout) {
  if (reading_ == nullptr) {
    reading_ = std::make_shared<Reading>();
    try {
      std::thread([reading = reading_, read = read_] {
        absl::StatusOr<std::string> result = read();
        const std::lock_guard lock(reading->mutex);
        reading->result = std::move(result);
        reading->has_ended.notify_all();
      }).detach();
    } catch (const std::exception& exception) {
      reading_ = nullptr;
      return absl::ResourceExhaustedError(absl::StrCat(path_, ": ", exception.what()));
    }
  }
  std::unique_lock lock(reading_->mutex);
  if (!reading_->has_ended.wait_for(lock, timeout,
                                    [this] { return reading_->result.has_value(); })) {
    return absl::DeadlineExceededError(
        absl::StrCat(path_, " could not be read within ", timeout.count(), " ms"));
  }
  absl::StatusOr<std::string> result = *std::move(reading_->result);
  lock.unlock();
  reading_ = nullptr;
  return result;
}

}  // namespace gridfold::server
