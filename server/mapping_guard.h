// Survives the loss of mapped memory. Whoever owns a shared-memory object may make it smaller while
// it is mapped; whoever touches a page that is gone then gets SIGBUS, which would end the program.
//
// Inside a guarded mapping the signal's handler puts zero pages in the place of the whole mapping
// and takes note, and the access goes on with them: what was computed is worth nothing, and nobody
// else notices. A SIGBUS from anywhere else goes to the handler that was there before.
#ifndef GRIDFOLD_SERVER_MAPPING_GUARD_H_
#define GRIDFOLD_SERVER_MAPPING_GUARD_H_

#include <cstddef>
#include <cstdint>

namespace gridfold::server {

// Guards a mapping from its construction to its destruction, before which no access may be under
// way and after which the mapping may be unmapped. Any number may exist; thread-safe.
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

#endif  // GRIDFOLD_SERVER_MAPPING_GUARD_H_
