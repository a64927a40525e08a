#include "server/process_statistics.h"

#include <unistd.h>

#include <fstream>
#include <limits>
#include <sstream>
#include <string>

namespace gridfold::server {

namespace {

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

uint64_t ProcessResidentBytes() {
  std::ifstream file("/proc/self/statm");
  uint64_t all_pages = 0;
  uint64_t resident_pages = 0;
  file >> all_pages >> resident_pages;
  return resident_pages * static_cast<uint64_t>(sysconf(_SC_PAGESIZE));
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
