#include "server/process/allowed_memory.h"

#include <unistd.h>

#include <algorithm>
#include <fstream>
#include <limits>

#include "absl/strings/string_view.h"
#include "absl/strings/strip.h"

namespace gridfold::server {

namespace {

constexpr char kHierarchy[] = "/sys/fs/cgroup";

// Of this process, from the root of what it sees of the hierarchy; "/" where there is none.
std::string ControlGroup() {
  std::ifstream file("/proc/self/cgroup");
  for (std::string line; std::getline(file, line);) {
    absl::string_view path = line;
    if (absl::ConsumePrefix(&path, "0::")) return std::string(path);
  }
  return "/";
}

// "max", where there is no limit, is no number.
uint64_t LimitOf(const std::filesystem::path& group) {
  std::ifstream file(group / "memory.max");
  uint64_t bytes = 0;
  return file >> bytes ? bytes : std::numeric_limits<uint64_t>::max();
}

}  // namespace

uint64_t ControlGroupMemoryBytes(const std::filesystem::path& hierarchy, const std::string& group) {
  std::filesystem::path folder = hierarchy;
  uint64_t lowest = LimitOf(folder);
  for (const auto& name : std::filesystem::path(group).relative_path()) {
    folder /= name;
    lowest = std::min(lowest, LimitOf(folder));
  }
  return lowest;
}

uint64_t AllowedMemoryBytes() {
  const uint64_t of_machine =
      static_cast<uint64_t>(sysconf(_SC_PHYS_PAGES)) * static_cast<uint64_t>(sysconf(_SC_PAGESIZE));
  return std::min(of_machine, ControlGroupMemoryBytes(kHierarchy, ControlGroup()));
}

}  // namespace gridfold::server
