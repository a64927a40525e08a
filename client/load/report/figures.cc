#include "client/load/report/figures.h"

#include <cmath>
#include <iterator>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "client/command_line/output/number_format.h"

namespace gridfold::load {

std::string DescribeLevel(const LoadLevel& level, bool is_open_loop) {
  const std::string first = absl::StrCat(std::round(level.first * 10) / 10);
  const std::string last = absl::StrCat(std::round(level.last * 10) / 10);
  return absl::StrCat(first, first == last ? "" : absl::StrCat(" to ", last),
                      is_open_loop ? " calls/s" : " under way");
}

std::string CodeName(absl::StatusCode code) { return absl::StatusCodeToString(code); }

std::string FormatNs(double time_ns, bool unicode) {
  return client::FormatDuration(absl::Nanoseconds(time_ns), unicode);
}

std::string FormatCallRate(double calls_per_second) {
  if (calls_per_second < 100) return absl::StrFormat("%.3g/s", calls_per_second);
  return absl::StrCat(client::FormatInteger(static_cast<int64_t>(std::llround(calls_per_second))),
                      "/s");
}

std::string FormatByteRate(double bytes_per_second) {
  static constexpr const char* kUnits[] = {"B/s", "kB/s", "MB/s", "GB/s"};
  size_t unit = 0;
  for (; bytes_per_second >= 1000 && unit + 1 < std::size(kUnits); ++unit) bytes_per_second /= 1000;
  return absl::StrFormat(bytes_per_second < 999.5 ? "%.3g %s" : "%.0f %s", bytes_per_second,
                         kUnits[unit]);
}

std::string DescribeSureness(const FoundRate& found) {
  const auto share = [](const RateRuns& runs) {
    return absl::StrCat(runs.kept, " of ", runs.count(), runs.count() == 1 ? " run" : " runs");
  };
  std::string text = absl::StrCat("it kept to it in ", share(found.runs));
  if (found.next_rate) {
    absl::StrAppend(&text, "; ", FormatCallRate(*found.next_rate), " in ", share(found.next_runs));
  }
  if (!found.doubtful) return text + "; no run contradicts another";
  const auto [low, high] = *found.doubtful;
  return absl::StrCat(text, "; not sure: ", FormatCallRate(low), " broke it in a run, ",
                      FormatCallRate(high), " kept to it in one");
}

std::string FormatPercentage(double fraction) { return absl::StrFormat("%.3g %%", fraction * 100); }

}  // namespace gridfold::load
