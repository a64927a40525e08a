#include "client/library/shared_memory.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <limits>
#include <random>
#include <utility>

#include "absl/memory/memory.h"
#include "absl/strings/str_cat.h"

namespace gridfold::client {
namespace {

absl::Status NoRoom(uint64_t size_bytes, int error) {
  return absl::ResourceExhaustedError(
      absl::StrCat("no ", size_bytes, " bytes of shared memory: ", strerror(error)));
}

// 128 bits that nobody guesses: who knows the name may have the server map the object.
std::string RandomName() {
  std::random_device random;
  std::string name = "/gridfold-";
  for (int i = 0; i < 4; ++i) {
    absl::StrAppend(&name, absl::Hex(uint32_t{random()}, absl::kZeroPad8));
  }
  return name;
}

// The errors of a file that is made as large as the memory and mapped, 0 for none. Pages that could
// not be had later, when somebody writes to them, would end the program.
int MapNew(int file, uint64_t size_bytes, void*& data) {
  if (const int error = posix_fallocate(file, 0, static_cast<off_t>(size_bytes)); error != 0) {
    return error;
  }
  data = mmap(nullptr, size_bytes, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
  return data == MAP_FAILED ? errno : 0;
}

}  // namespace

absl::StatusOr<std::unique_ptr<SharedMemory>> SharedMemory::Create(uint64_t size_bytes) {
  if (size_bytes == 0 || size_bytes > static_cast<uint64_t>(std::numeric_limits<off_t>::max())) {
    return absl::InvalidArgumentError(absl::StrCat("size_bytes: ", size_bytes, " is no size"));
  }
  std::string name = RandomName();
  const int file = shm_open(name.c_str(), O_RDWR | O_CREAT | O_EXCL, S_IRUSR | S_IWUSR);
  if (file < 0) return NoRoom(size_bytes, errno);
  void* data = nullptr;
  const int error = MapNew(file, size_bytes, data);
  close(file);
  if (error != 0) {
    shm_unlink(name.c_str());
    return NoRoom(size_bytes, error);
  }
  return absl::WrapUnique(
      new SharedMemory(std::move(name), {static_cast<std::byte*>(data), size_bytes}));
}

SharedMemory::SharedMemory(std::string object_name, std::span<std::byte> bytes)
    : object_name_(std::move(object_name)), bytes_(bytes) {}

SharedMemory::~SharedMemory() {
  munmap(bytes_.data(), bytes_.size());
  RemoveName();
}

void SharedMemory::RemoveName() {
  if (std::exchange(has_name_, false)) shm_unlink(object_name_.c_str());
}

}  // namespace gridfold::client
