// A process that owns something: a process ID together with the start time of the process, since
// IDs are reused. Immutable, and so thread-safe.
#ifndef GRIDFOLD_SERVER_REGIONS_OWNER_PROCESS_H_
#define GRIDFOLD_SERVER_REGIONS_OWNER_PROCESS_H_

#include <cstdint>
#include <optional>

namespace gridfold::server {

class OwnerProcess {
 public:
  // Nothing where no such process runs now.
  static std::optional<OwnerProcess> Find(uint32_t process_id);

  uint32_t process_id() const { return process_id_; }

  // Whether the process has not ended, as far as can be told: one that cannot be asked about, as
  // where this process has no file descriptor left, has not. Takes some microseconds.
  bool IsAlive() const;

 private:
  OwnerProcess(uint32_t process_id, uint64_t start_time)
      : process_id_(process_id), start_time_(start_time) {}

  uint32_t process_id_;
  uint64_t start_time_;  // In clock ticks since the system started.
};

}  // namespace gridfold::server

#endif  // GRIDFOLD_SERVER_REGIONS_OWNER_PROCESS_H_
