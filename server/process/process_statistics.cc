#include "server/process/process_statistics.h"

#include <unistd.h>

#include <fstream>
#include <limits>
#include <sstream>
#include <string>

namespace gridfold::server {

namespace {

struct Pages {
  uint64_t all = 0;
  uint64_t resident = 0;
  uint64_t shared = 0;
};

Pages MemoryPages() {
  Pages pages;
  std::ifstream("/proc/self/statm") >> pages.all >> pages.resident >> pages.shared;
  return pages;
}

uint64_t PageBytes() { return static_cast<uint64_t>(sysconf(_SC_PAGESIZE)); }

// When the machine started, in seconds since 1970.
double BootTimeSeconds() {
  std::ifstream file("/proc/stat");
  std::string word;
  double seconds = 0;
  while (file >> word && word != "btime") {
    file.ignore(std::numeric_limits<std::streamsize>::max(), '\n');
  }
  file >> seconds;
  return seconds;
}

}  // namespace

uint64_t ProcessResidentBytes() { return MemoryPages().resident * PageBytes(); }

uint64_t ProcessPrivateBytes() {
  const Pages pages = MemoryPages();
  return (pages.resident - pages.shared) * PageBytes();
}

double ProcessStartTimeSeconds() {
  // The 22nd field, in clock ticks after the machine's start. The second one is the program's name
  // in parentheses and may hold anything.
  constexpr int kFieldsBetween = 19;
  std::ifstream file("/proc/self/stat");
  std::string line;
  std::getline(file, line);
  const size_t name_end = line.rfind(')');
  if (name_end == std::string::npos) return 0;
  std::istringstream fields(line.substr(name_end + 1));
  std::string skipped;
  for (int i = 0; i < kFieldsBetween; ++i) fields >> skipped;
  double ticks = 0;
  if (!(fields >> ticks)) return 0;
  return BootTimeSeconds() + ticks / static_cast<double>(sysconf(_SC_CLK_TCK));
}

}  // namespace gridfold::server
