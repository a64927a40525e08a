// A POSIX shared-memory object, made and mapped by this process.
#ifndef GRIDFOLD_CLIENT_LIBRARY_SHARED_MEMORY_H_
#define GRIDFOLD_CLIENT_LIBRARY_SHARED_MEMORY_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>

#include "absl/status/statusor.h"

namespace gridfold::client {

// The destructor unmaps the object and removes its name, where that is still there; whoever else
// has mapped it keeps it.
class SharedMemory {
 public:
  // Of a new, random name, for this user only; content 0. Its pages are there: writing to them does
  // not fail later. INVALID_ARGUMENT for no bytes; RESOURCE_EXHAUSTED.
  static absl::StatusOr<std::unique_ptr<SharedMemory>> Create(uint64_t size_bytes);
  ~SharedMemory();
  SharedMemory(const SharedMemory&) = delete;
  SharedMemory& operator=(const SharedMemory&) = delete;

  // Nobody can map the object any more, and it goes with the last process that has: also where this
  // one is killed.
  void RemoveName();

  const std::string& object_name() const { return object_name_; }
  std::span<std::byte> bytes() const { return bytes_; }

 private:
  SharedMemory(std::string object_name, std::span<std::byte> bytes);

  const std::string object_name_;
  bool has_name_ = true;
  const std::span<std::byte> bytes_;
};

}  // namespace gridfold::client

#endif  // GRIDFOLD_CLIENT_LIBRARY_SHARED_MEMORY_H_
