// How much memory this process may have. Linux only. Thread-safe.
#ifndef GRIDFOLD_SERVER_PROCESS_ALLOWED_MEMORY_H_
#define GRIDFOLD_SERVER_PROCESS_ALLOWED_MEMORY_H_

#include <cstdint>
#include <filesystem>
#include <string>

namespace gridfold::server {

// The machine's memory, or less where a control group of the process (version 2), or one around it,
// has a limit: that of a container or of a systemd unit.
uint64_t AllowedMemoryBytes();

// The lowest limit of a control group, by its path in the `hierarchy`, and of those around it; the
// largest number where there is none, or the system does not tell.
uint64_t ControlGroupMemoryBytes(const std::filesystem::path& hierarchy, const std::string& group);

}  // namespace gridfold::server

#endif  // GRIDFOLD_SERVER_PROCESS_ALLOWED_MEMORY_H_
