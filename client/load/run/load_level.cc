#include "client/load/run/load_level.h"

#include <algorithm>
#include <cmath>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"

namespace gridfold::load {
namespace {

// Far more than anybody can send, so that sums and products of levels stay finite.
constexpr double kLevelMax = 1e9;

absl::StatusOr<double> ParseLevel(absl::string_view text) {
  double value = 0;
  if (!absl::SimpleAtod(text, &value) || !(value > 0 && value <= kLevelMax)) {
    return absl::InvalidArgumentError(
        absl::StrCat("\"", text, "\" is not a number above 0 and up to 1e9"));
  }
  return value;
}

}  // namespace

absl::StatusOr<std::vector<LoadLevel>> ParseLoadLevels(absl::string_view text) {
  std::vector<LoadLevel> levels;
  for (const absl::string_view step : absl::StrSplit(text, ',')) {
    const std::pair<absl::string_view, absl::string_view> ends =
        absl::StrSplit(step, absl::MaxSplits(':', 1));
    const bool is_ramp = step.find(':') != absl::string_view::npos;
    const absl::StatusOr<double> first = ParseLevel(ends.first);
    if (!first.ok()) return first.status();
    const absl::StatusOr<double> last = is_ramp ? ParseLevel(ends.second) : first;
    if (!last.ok()) return last.status();
    levels.push_back({*first, *last});
  }
  return levels;
}

std::string FormatLoadLevels(const std::vector<LoadLevel>& levels) {
  return absl::StrJoin(levels, ",", [](std::string* text, const LoadLevel& level) {
    absl::StrAppend(text, level.first);
    if (level.last != level.first) absl::StrAppend(text, ":", level.last);
  });
}

LoadProfile::LoadProfile(LoadLevel level, absl::Duration warm_up, absl::Duration duration)
    : level_(level),
      warm_up_s_(absl::ToDoubleSeconds(warm_up)),
      duration_s_(level.first == level.last ? 0 : absl::ToDoubleSeconds(duration)) {}

double LoadProfile::At(double time_s) const {
  if (duration_s_ == 0) return level_.first;
  const double part = std::clamp((time_s - warm_up_s_) / duration_s_, 0.0, 1.0);
  return level_.first + (level_.last - level_.first) * part;
}

double LoadProfile::TimeOf(double amount) const {
  const double warm_up_amount = warm_up_s_ * level_.first;
  if (duration_s_ == 0 || amount <= warm_up_amount) return amount / level_.first;
  const double ramp_amount = duration_s_ * (level_.first + level_.last) / 2;
  const double rest = amount - warm_up_amount;
  if (rest >= ramp_amount) {
    return warm_up_s_ + duration_s_ + (rest - ramp_amount) / level_.last;
  }
  // first t + slope t² / 2 = rest, solved without cancellation for either sign of the slope.
  const double slope = (level_.last - level_.first) / duration_s_;
  const double root = std::sqrt(level_.first * level_.first + 2 * slope * rest);
  return warm_up_s_ + 2 * rest / (level_.first + root);
}

}  // namespace gridfold::load
