#include "client/load/report/live_view.h"

#include <algorithm>
#include <cmath>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "client/command_line/output/bar_chart.h"
#include "client/command_line/output/number_format.h"
#include "client/load/report/figures.h"

namespace gridfold::load {
namespace {

using client::TextStyle;

constexpr int kBarColumns = 30;

std::string Milliseconds(double time_ms, const TextStyle& style) {
  return FormatNs(time_ms * 1e6, style.unicode);
}

// The rates of the last seconds, each as a block as high as its part of the largest.
std::string DrawRates(const std::vector<SecondPoint>& seconds, const TextStyle& style) {
  static constexpr const char* kBlocks[] = {"▁", "▂", "▃", "▄", "▅", "▆", "▇", "█"};
  static constexpr const char* kLetters[] = {"_", ".", ",", "-", "=", "+", "*", "#"};
  const size_t columns = static_cast<size_t>(style.width) - 20;
  const size_t first = seconds.size() > columns ? seconds.size() - columns : 0;
  double largest = 0;
  for (size_t i = first; i < seconds.size(); ++i) largest = std::max(largest, seconds[i].rate);
  std::string drawn;
  for (size_t i = first; i < seconds.size(); ++i) {
    const double part = largest > 0 ? seconds[i].rate / largest : 0;
    const auto height = static_cast<size_t>(std::lround(part * 7));
    drawn += style.unicode ? kBlocks[height] : kLetters[height];
  }
  return drawn;
}

std::string Progress(const LoadPlan& plan, const LevelResult& level, const TextStyle& style) {
  const double passed_s = level.seconds.empty() ? 0 : level.seconds.back().time_s;
  if (level.seconds.empty()) return "warming up";
  if (plan.call_count) {
    return absl::StrCat(client::FormatInteger(level.recording.call_count()), " of ",
                        client::FormatInteger(*plan.call_count), " calls");
  }
  const double planned_s = absl::ToDoubleSeconds(plan.duration);
  const double columns = kBarColumns * std::min(1.0, passed_s / planned_s);
  std::string bar = client::DrawBar(columns, style.unicode);
  bar.append(static_cast<size_t>(std::max(0, kBarColumns - client::DisplayWidth(bar))), ' ');
  return absl::StrFormat("[%s] %.0f s of %.0f s", style.Bar(bar), passed_s, planned_s);
}

}  // namespace

std::vector<std::string> LiveLines(const LoadResult& so_far, const LevelResult& running_level,
                                   const TextStyle& style) {
  const absl::string_view separator = style.separator();
  const std::string number = so_far.plan.search || so_far.plan.levels.size() > 1
                                 ? absl::StrCat("level ", so_far.levels.size() + 1, separator)
                                 : "";
  std::vector<std::string> lines = {
      absl::StrCat(style.Bold(so_far.title()), separator, so_far.target, separator, number,
                   DescribeLevel(running_level.level, so_far.plan.is_open_loop)),
      Progress(so_far.plan, running_level, style)};
  if (running_level.seconds.empty()) return lines;
  const SecondPoint& now = running_level.seconds.back();
  const Recording& recording = running_level.recording;
  lines.push_back(absl::StrCat(style.Bold(FormatCallRate(now.rate)), separator,
                               FormatByteRate(now.bytes_per_second), separator, now.in_flight,
                               " under way"));
  lines.push_back(absl::StrCat("p50 ", Milliseconds(now.p50_ms, style), separator, "p99 ",
                               Milliseconds(now.p99_ms, style), separator, "max ",
                               Milliseconds(now.max_ms, style)));
  const std::string errors =
      absl::StrCat(client::FormatInteger(recording.failed), " errors", separator,
                   client::FormatInteger(recording.wrong), " wrong of ",
                   client::FormatInteger(recording.verified), " verified");
  lines.push_back(recording.failed + recording.wrong > 0 ? style.Error(errors) : errors);
  lines.push_back(absl::StrCat("calls/s ", DrawRates(running_level.seconds, style)));
  return lines;
}

LiveView::~LiveView() {
  if (write_ != nullptr) write_(EraseLines());
}

std::string LiveView::EraseLines() const {
  // To the first of the lines, and everything below away.
  return line_count_ == 0 ? "" : absl::StrCat("\x1b[", line_count_, "A\r\x1b[J");
}

void LiveView::Update(const LoadResult& so_far, const LevelResult& running_level) {
  if (write_ == nullptr) return;
  std::string text = EraseLines();
  const std::vector<std::string> lines = LiveLines(so_far, running_level, style_);
  for (const std::string& line : lines) absl::StrAppend(&text, line, "\n");
  line_count_ = static_cast<int>(lines.size());
  write_(text);
}

}  // namespace gridfold::load
