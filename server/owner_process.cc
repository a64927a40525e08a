#include "server/owner_process.h"

#include <fstream>
#include <string>
#include <vector>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "absl/strings/string_view.h"

namespace gridfold::server {

namespace {

// Field 22 of /proc/PID/stat; nothing where the process has ended, be it that nobody has taken note
// of that yet. See proc(5).
std::optional<uint64_t> StartTimeOf(uint32_t process_id) {
  std::ifstream file(absl::StrCat("/proc/", process_id, "/stat"));
  std::string line;
  if (!std::getline(file, line)) return std::nullopt;
  // Behind the program's name, which may hold anything, in parentheses: fields 3 and up.
  const size_t name_end = line.rfind(") ");
  if (name_end == std::string::npos) return std::nullopt;
  const std::vector<absl::string_view> fields =
      absl::StrSplit(absl::string_view(line).substr(name_end + 2), ' ');
  constexpr size_t kStartTime = 22 - 3;
  uint64_t start_time = 0;
  if (fields.size() <= kStartTime || fields[0] == "Z" || fields[0] == "X" ||
      !absl::SimpleAtoi(fields[kStartTime], &start_time)) {
    return std::nullopt;
  }
  return start_time;
}

}  // namespace

std::optional<OwnerProcess> OwnerProcess::Find(uint32_t process_id) {
  const std::optional<uint64_t> start_time = StartTimeOf(process_id);
  if (!start_time) return std::nullopt;
  return OwnerProcess(process_id, *start_time);
}

bool OwnerProcess::IsAlive() const { return StartTimeOf(process_id_) == start_time_; }

}  // namespace gridfold::server
