#include "server/regions/owner_process.h"

#include <fcntl.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <string>
#include <vector>

#include "absl/cleanup/cleanup.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "absl/strings/string_view.h"

namespace gridfold::server {

namespace {

// NOT_FOUND where the process has ended; any other error where the system could not be asked.
absl::Status StatError(int error) {
  if (error == ENOENT || error == ESRCH) return absl::NotFoundError("there is no such process");
  return absl::UnavailableError("its state cannot be read");
}

// The first line of /proc/PID/stat, which is far shorter than what is read.
absl::StatusOr<std::string> ReadStat(uint32_t process_id) {
  const int file = open(absl::StrCat("/proc/", process_id, "/stat").c_str(), O_RDONLY | O_CLOEXEC);
  if (file < 0) return StatError(errno);
  const absl::Cleanup close_file = [file] { close(file); };
  std::array<char, 4096> text;
  const ssize_t size = read(file, text.data(), text.size());
  if (size < 0) return StatError(errno);
  return std::string(text.data(), static_cast<size_t>(size));
}

// Field 22 of /proc/PID/stat, see proc(5). NOT_FOUND where the process has ended, be it that nobody
// has taken note of that yet.
absl::StatusOr<uint64_t> StartTimeOf(uint32_t process_id) {
  const absl::StatusOr<std::string> stat = ReadStat(process_id);
  if (!stat.ok()) return stat.status();
  // Behind the program's name, which may hold anything, in parentheses: fields 3 and up.
  const size_t name_end = stat->rfind(") ");
  if (name_end == std::string::npos) return StatError(ESRCH);
  const std::vector<absl::string_view> fields =
      absl::StrSplit(absl::string_view(*stat).substr(name_end + 2), ' ');
  constexpr size_t kStartTime = 22 - 3;
  uint64_t start_time = 0;
  if (fields.size() <= kStartTime || fields[0] == "Z" || fields[0] == "X" ||
      !absl::SimpleAtoi(fields[kStartTime], &start_time)) {
    return StatError(ESRCH);
  }
  return start_time;
}

}  // namespace

std::optional<OwnerProcess> OwnerProcess::Find(uint32_t process_id) {
  const absl::StatusOr<uint64_t> start_time = StartTimeOf(process_id);
  if (!start_time.ok()) return std::nullopt;
  return OwnerProcess(process_id, *start_time);
}

bool OwnerProcess::IsAlive() const {
  const absl::StatusOr<uint64_t> start_time = StartTimeOf(process_id_);
  if (!start_time.ok()) return !absl::IsNotFound(start_time.status());
  return *start_time == start_time_;
}

}  // namespace gridfold::server
