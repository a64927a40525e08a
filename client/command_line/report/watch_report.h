// A server's doings over the last looks at it.
#ifndef GRIDFOLD_CLIENT_COMMAND_LINE_REPORT_WATCH_REPORT_H_
#define GRIDFOLD_CLIENT_COMMAND_LINE_REPORT_WATCH_REPORT_H_

#include <deque>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/time/time.h"
#include "client/command_line/output/terminal.h"
#include "gridfold/server_info.h"

namespace gridfold::client {

// What a server has done between two looks.
struct WatchedSpan {
  double jobs_per_second = 0;  // Answered.
  double refused_per_second = 0;
  double failed_per_second = 0;
  double bytes_per_second = 0;
  double busy_share = 0;  // Of the lanes, at its end.
};

// Not thread-safe.
class WatchHistory {
 public:
  WatchHistory(ServerInfo info, std::string target)
      : info_(std::move(info)), target_(std::move(target)) {}

  // What a look at `time` showed. A server whose counters have gone back has restarted: no span
  // reaches across that.
  void Add(absl::Time time, HealthStatus health, const ServerStatistics& statistics);

  // A look that the server did not answer.
  void AddSilence(const absl::Status& why);

  const ServerInfo& info() const { return info_; }
  const std::string& target() const { return target_; }
  HealthStatus health() const { return health_; }
  const std::optional<ServerStatistics>& statistics() const { return statistics_; }
  const std::string& silence() const { return silence_; }
  // The last ones, as many as any terminal is wide.
  const std::deque<WatchedSpan>& spans() const { return spans_; }

 private:
  ServerInfo info_;
  std::string target_;
  HealthStatus health_ = HealthStatus::kUnknown;
  std::optional<ServerStatistics> statistics_;  // Of the last look.
  absl::Time time_;                             // Of the last look that was answered.
  std::string silence_;                         // Why the last look was not; else empty.
  std::deque<WatchedSpan> spans_;
};

// A screen of it. Before the second look there are no rates.
std::vector<std::string> WatchLines(const WatchHistory& history, const TextStyle& style);

}  // namespace gridfold::client

#endif  // GRIDFOLD_CLIENT_COMMAND_LINE_REPORT_WATCH_REPORT_H_
