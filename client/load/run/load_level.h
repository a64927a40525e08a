// How much load there is at a time: calls under way, or calls a second.
#ifndef GRIDFOLD_CLIENT_LOAD_RUN_LOAD_LEVEL_H_
#define GRIDFOLD_CLIENT_LOAD_RUN_LOAD_LEVEL_H_

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"

namespace gridfold::load {

// A level that stays as it is, or goes evenly from one value to another.
struct LoadLevel {
  double first = 0;
  double last = 0;

  double max() const { return first > last ? first : last; }
};

// "100", "100:2000" (a ramp), or "100,200,400" (steps, one after the other; each may be a ramp).
// Values are positive. INVALID_ARGUMENT says what is wrong with the text.
absl::StatusOr<std::vector<LoadLevel>> ParseLoadLevels(absl::string_view text);

// As ParseLoadLevels reads them.
std::string FormatLoadLevels(const std::vector<LoadLevel>& levels);

// The level of a run over time: `first` during the warm-up, then from `first` to `last` over
// `duration`, then `last`.
class LoadProfile {
 public:
  LoadProfile(LoadLevel level, absl::Duration warm_up, absl::Duration duration);

  // At a time since the run's start, in seconds.
  double At(double time_s) const;

  // When the integral of the level from the start has come to `amount`: with a rate, when so many
  // calls are due.
  double TimeOf(double amount) const;

 private:
  const LoadLevel level_;
  const double warm_up_s_;
  const double duration_s_;  // 0 where the level does not change.
};

}  // namespace gridfold::load

#endif  // GRIDFOLD_CLIENT_LOAD_RUN_LOAD_LEVEL_H_
