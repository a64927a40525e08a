// How the load goes, while it does.
#ifndef GRIDFOLD_CLIENT_LOAD_REPORT_LIVE_VIEW_H_
#define GRIDFOLD_CLIENT_LOAD_REPORT_LIVE_VIEW_H_

#include <functional>
#include <string>

#include "client/command_line/output/terminal.h"
#include "client/load/run/load_result.h"

namespace gridfold::load {

// A few lines that are drawn again at each update. Not thread-safe.
class LiveView {
 public:
  // Writes to a terminal by `write`; without one nothing is shown.
  LiveView(const client::TextStyle& style, std::function<void(const std::string&)> write)
      : style_(style), write_(std::move(write)) {}
  // Takes the lines away.
  ~LiveView();
  LiveView(const LiveView&) = delete;
  LiveView& operator=(const LiveView&) = delete;

  void Update(const LoadResult& so_far, const LevelResult& running_level);

 private:
  std::string EraseLines() const;

  const client::TextStyle style_;
  const std::function<void(const std::string&)> write_;
  int line_count_ = 0;  // On the terminal.
};

// The lines, for a level of which some seconds have passed.
std::vector<std::string> LiveLines(const LoadResult& so_far, const LevelResult& running_level,
                                   const client::TextStyle& style);

}  // namespace gridfold::load

#endif  // GRIDFOLD_CLIENT_LOAD_REPORT_LIVE_VIEW_H_
