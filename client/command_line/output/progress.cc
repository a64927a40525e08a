#include "client/command_line/output/progress.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/time/clock.h"
#include "client/command_line/output/bar_chart.h"
#include "client/command_line/output/number_format.h"
#include "client/command_line/output/table.h"
#include "client/library/helper_thread.h"

namespace gridfold::client {
namespace {

constexpr absl::Duration kPatience = absl::Milliseconds(500);
constexpr absl::Duration kInterval = absl::Milliseconds(100);
constexpr int kBarColumns = 20;
constexpr char kClearLine[] = "\r\x1b[K";

std::string BytesPerSecond(uint64_t bytes, absl::Duration time) {
  const double seconds = std::max(absl::ToDoubleSeconds(time), 1e-3);
  return absl::StrCat(FormatBytes(static_cast<uint64_t>(static_cast<double>(bytes) / seconds)),
                      "/s");
}

// What follows the time that has passed: how much is left at this rate, or what is waited for.
std::string TimeLeft(double share, absl::Duration passed) {
  if (share >= 1) return ", waiting for the answer";
  if (!(share > 0)) return "";
  const double left_s = absl::ToDoubleSeconds(passed) * (1 - share) / share;
  return left_s < 60 ? absl::StrFormat(", %.0f s left", std::ceil(left_s))
                     : absl::StrFormat(", %.0f min left", std::ceil(left_s / 60));
}

}  // namespace

Progress::Progress(const TextStyle& style, std::function<void(const std::string&)> write)
    : style_(style), write_(std::move(write)) {
  if (write_) thread_ = TryStartThread([this] { Run(); });
}

Progress::~Progress() {
  if (!thread_) return;
  {
    absl::MutexLock lock(&mutex_);
    done_ = true;
  }
  thread_->join();
}

void Progress::Begin(const std::string& label) {
  absl::MutexLock lock(&mutex_);
  step_ = {.label = label, .start = absl::Now(), .done_bytes = 0, .total_bytes = std::nullopt};
}

void Progress::Update(uint64_t done_bytes, std::optional<uint64_t> total_bytes) {
  absl::MutexLock lock(&mutex_);
  step_.done_bytes = done_bytes;
  step_.total_bytes = total_bytes;
}

void Progress::Run() {
  const absl::Time start = absl::Now();
  bool shown = false;
  absl::MutexLock lock(&mutex_);
  while (!mutex_.AwaitWithTimeout(absl::Condition(&done_), kInterval)) {
    if (absl::Now() - start < kPatience || step_.label.empty()) continue;
    write_(absl::StrCat(kClearLine, Line(step_)));
    shown = true;
  }
  if (shown) write_(kClearLine);
}

std::string Progress::Line(const Step& step) const {
  const absl::Duration time = absl::Now() - step.start;
  const std::string elapsed = absl::StrFormat("%.1f s", absl::ToDoubleSeconds(time));
  if (!step.total_bytes || *step.total_bytes == 0) {
    const std::string done = step.done_bytes > 0
                                 ? absl::StrCat(FormatBytes(step.done_bytes), "  ",
                                                BytesPerSecond(step.done_bytes, time), "  ")
                                 : "";
    return absl::StrCat(step.label, "  ", done, elapsed);
  }
  const double share =
      std::min(1.0, static_cast<double>(step.done_bytes) / static_cast<double>(*step.total_bytes));
  return absl::StrCat(
      step.label, "  [",
      style_.Bar(Pad(DrawBar(share * kBarColumns, style_.unicode), kBarColumns, Alignment::kLeft)),
      absl::StrFormat("] %3.0f%%  ", share * 100), FormatBytes(step.done_bytes), " of ",
      FormatBytes(*step.total_bytes), "  ", BytesPerSecond(step.done_bytes, time), "  ", elapsed,
      TimeLeft(share, time));
}

}  // namespace gridfold::client
