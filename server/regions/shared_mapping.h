// A caller's POSIX shared-memory object, mapped into the server.
//
// Only objects whose names begin with "/gridfold-" are opened, so that no caller can make the
// server map what other programs share among themselves.
#ifndef GRIDFOLD_SERVER_REGIONS_SHARED_MAPPING_H_
#define GRIDFOLD_SERVER_REGIONS_SHARED_MAPPING_H_

#include <sys/types.h>

#include <atomic>
#include <cstdint>
#include <memory>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "kernels/contract/array.h"
#include "server/regions/mapping_guard.h"

namespace gridfold::server {

// INVALID_ARGUMENT that names `field` where no object may have that name.
absl::Status ValidateObjectName(absl::string_view name, absl::string_view field);

// Thread-safe. The destructor unmaps the memory.
class SharedMapping {
 public:
  // Maps the first `size_bytes`, at least one, of the object for reading and writing. Requires a
  // name that is valid. Errors: INVALID_ARGUMENT, the field of RegisterRegionRequest named, where
  // there is no such object, it may not be opened, is smaller or has holes; RESOURCE_EXHAUSTED
  // where the system has no room for the mapping.
  //
  // A hole is a page that has no memory yet, because nobody has written it. The first access gives
  // it some, at the expense of whoever makes that access, for as long as the object exists: where
  // that is the server, callers could use up its memory without using theirs.
  static absl::StatusOr<std::unique_ptr<SharedMapping>> Open(const std::string& object_name,
                                                             uint64_t size_bytes);
  ~SharedMapping();
  SharedMapping(const SharedMapping&) = delete;
  SharedMapping& operator=(const SharedMapping&) = delete;

  kernels::MutableHostSpan span() const { return {data_, size_bytes_}; }

  // False where the object is too small now, or has holes, and ever after that was found once.
  bool IsIntact() const;

  // Whether both map one object.
  bool IsOfSameObject(const SharedMapping& other) const {
    return device_ == other.device_ && inode_ == other.inode_;
  }

 private:
  SharedMapping(int file, dev_t device, ino_t inode, std::byte* data, uint64_t size_bytes);

  const int file_;
  const dev_t device_;
  const ino_t inode_;
  std::byte* const data_;
  const uint64_t size_bytes_;
  std::unique_ptr<MappingGuard> guard_;
  mutable std::atomic<bool> has_lost_memory_ = false;
};

}  // namespace gridfold::server

#endif  // GRIDFOLD_SERVER_REGIONS_SHARED_MAPPING_H_
