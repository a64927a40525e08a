// Survives the loss of mapped memory. The owner of a shared-memory object may shrink it while it is
// mapped; touching a page that is gone then raises SIGBUS, which would end the program.
//
// Inside a guarded mapping the signal's handler replaces the whole mapping by zero pages and
// records the loss, and the access continues on these: the result is worthless, but nothing else is
// affected. A SIGBUS from anywhere else goes to the handler that was there before.
#ifndef GRIDFOLD_SERVER_REGIONS_MAPPING_GUARD_H_
#define GRIDFOLD_SERVER_REGIONS_MAPPING_GUARD_H_

#include <cstddef>
#include <cstdint>

namespace gridfold::server {

// Guards a mapping for as long as it exists. No access may be in progress when it is destroyed;
// after that the mapping may be unmapped. Any number may exist; thread-safe.
class MappingGuard {
 public:
  // The mapping begins with a page.
  MappingGuard(std::byte* data, uint64_t size_bytes);
  ~MappingGuard();
  MappingGuard(const MappingGuard&) = delete;
  MappingGuard& operator=(const MappingGuard&) = delete;

  // Whether the mapping was replaced.
  bool HasFaulted() const;

 private:
  struct Slot;
  class Slots;

  Slot& slot_;
};

}  // namespace gridfold::server

#endif  // GRIDFOLD_SERVER_REGIONS_MAPPING_GUARD_H_
