#include "server/regions/shared_mapping.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <utility>

#include "absl/cleanup/cleanup.h"
#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "kernels/contract/invalid_field.h"
#include "server/base/error_reason.h"
#include "server/base/fixed_limits.h"

namespace gridfold::server {

namespace {

constexpr absl::string_view kPrefix = "/gridfold-";
constexpr char kNameField[] = "posix_shared_memory.object_name";

bool IsAllowed(char c) {
  return absl::ascii_isalnum(static_cast<unsigned char>(c)) || c == '.' || c == '_' || c == '-';
}

// What the system has run out of, or what is wrong with the object.
absl::Status OpenError(int error) {
  const std::string message = absl::StrCat("the object cannot be mapped: ", strerror(error));
  if (error == EMFILE || error == ENFILE || error == ENOMEM) {
    return WithReason(absl::ResourceExhaustedError(message), kReasonRegionQuota);
  }
  return kernels::InvalidField(kNameField, message);
}

// Whether one of the first `size_bytes` of the object is in a hole. Where there is memory for all
// of the object, as for most, its state says so; else the system looks for the first hole, which
// takes time in proportion to what comes before it. It takes for one also a page that has memory
// by posix_fallocate only: where an object has holes elsewhere, what is registered was written.
bool HasHoles(int file, const struct stat& status, uint64_t size_bytes) {
  constexpr int64_t kBlockBytes = 512;  // Whatever the file system's are.
  if (int64_t{status.st_blocks} * kBlockBytes >= int64_t{status.st_size}) return false;
  const off_t hole = lseek(file, 0, SEEK_HOLE);
  return hole >= 0 && static_cast<uint64_t>(hole) < size_bytes;
}

}  // namespace

absl::Status ValidateObjectName(absl::string_view name, absl::string_view field) {
  const absl::string_view rest = name.substr(std::min(name.size(), kPrefix.size()));
  if (absl::StartsWith(name, kPrefix) && !rest.empty() && rest.size() <= kObjectNameBytesMax &&
      std::all_of(rest.begin(), rest.end(), IsAllowed)) {
    return absl::OkStatus();
  }
  return kernels::InvalidField(
      field, absl::StrCat("names are ", kPrefix, " and up to ", kObjectNameBytesMax,
                          " letters, digits and the characters ._-"));
}

absl::StatusOr<std::unique_ptr<SharedMapping>> SharedMapping::Open(const std::string& object_name,
                                                                   uint64_t size_bytes) {
  const int file = shm_open(object_name.c_str(), O_RDWR, 0);
  if (file < 0) return OpenError(errno);
  absl::Cleanup close_file = [file] { close(file); };
  struct stat status = {};
  if (fstat(file, &status) != 0) return OpenError(errno);
  if (!S_ISREG(status.st_mode)) return kernels::InvalidField(kNameField, "is no memory");
  if (static_cast<uint64_t>(status.st_size) < size_bytes) {
    return kernels::InvalidField(
        "size_bytes", absl::StrCat(size_bytes, " bytes are more than the ", status.st_size,
                                   " of the shared-memory object"));
  }
  if (HasHoles(file, status, size_bytes)) {
    return kernels::InvalidField(
        kNameField,
        "the object has pages without memory: write all of it, or call posix_fallocate, before it "
        "is registered");
  }
  void* const data = mmap(nullptr, size_bytes, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
  if (data == MAP_FAILED) return OpenError(errno);
  std::move(close_file).Cancel();
  return std::unique_ptr<SharedMapping>(new SharedMapping(
      file, status.st_dev, status.st_ino, static_cast<std::byte*>(data), size_bytes));
}

SharedMapping::SharedMapping(int file, dev_t device, ino_t inode, std::byte* data,
                             uint64_t size_bytes)
    : file_(file),
      device_(device),
      inode_(inode),
      data_(data),
      size_bytes_(size_bytes),
      guard_(std::make_unique<MappingGuard>(data, size_bytes)) {}

SharedMapping::~SharedMapping() {
  // In this order: what is mapped here next is not guarded.
  guard_.reset();
  munmap(data_, size_bytes_);
  close(file_);
}

bool SharedMapping::IsIntact() const {
  struct stat status = {};
  if (has_lost_memory_ || guard_->HasFaulted() || fstat(file_, &status) != 0 ||
      static_cast<uint64_t>(status.st_size) < size_bytes_ || HasHoles(file_, status, size_bytes_)) {
    has_lost_memory_ = true;
  }
  return !has_lost_memory_;
}

}  // namespace gridfold::server
