// How a load is applied: what the command line and a scenario file say of it, and the plan that
// follows.
#ifndef GRIDFOLD_CLIENT_LOAD_RUN_LOAD_SETTINGS_H_
#define GRIDFOLD_CLIENT_LOAD_RUN_LOAD_SETTINGS_H_

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "client/load/run/arrival_schedule.h"
#include "client/load/run/load_level.h"

namespace gridfold::load {

enum class Verify {
  kNone,
  kSample,  // One answer in sixteen.
  kAll,
};

// Of the search for the highest rate that keeps to the objective.
struct RateSearchGoal {
  absl::Duration p99_max;
  double rate_min = 100;  // Where the search begins.
};

struct LoadPlan {
  bool is_open_loop = false;
  std::vector<LoadLevel> levels = {{8, 8}};
  Arrivals arrivals = Arrivals::kPoisson;
  absl::Duration warm_up = absl::Seconds(1);
  absl::Duration duration = absl::Seconds(10);        // Of each level.
  std::optional<uint64_t> call_count = std::nullopt;  // Of each level, warm-up included.
  std::optional<double> stability = std::nullopt;     // Ends a level early: see StabilityDetector.
  std::optional<RateSearchGoal> search = std::nullopt;
  int connection_count = 4;
  int thread_count = 0;  // 0: as many as connections, or as processors where these are fewer.
  int in_flight_max = 4096;
  absl::Duration timeout = absl::Seconds(30);
  // With nothing but silence or UNAVAILABLE for so long, the run ends.
  absl::Duration give_up_after = absl::Seconds(5);
  Verify verify = Verify::kSample;
  uint64_t seed = 1;
};

// Settings by name, as text: those of the command line, or of a scenario's "load".
using LoadSettings = std::map<std::string, std::string>;

// What a setting is called and what it says, for the command line's help.
struct LoadSettingDescription {
  const char* name;
  const char* type_name;
  const char* help;
};
const std::vector<LoadSettingDescription>& AllLoadSettings();

// Every setting that has an effect on the plan, by name and in the order of AllLoadSettings, as the
// command line would say it: defaults too.
std::vector<std::pair<std::string, std::string>> DescribeSettings(const LoadPlan& plan);

// INVALID_ARGUMENT names the setting.
absl::StatusOr<LoadPlan> MakeLoadPlan(const LoadSettings& settings);

// A factor by its percentage or fraction, "2%" or "0.02"; "5ms" and the like; errors name `name`.
absl::StatusOr<double> ParseFraction(const std::string& name, absl::string_view text);
absl::StatusOr<absl::Duration> ParsePositiveDuration(const std::string& name,
                                                     absl::string_view text);

}  // namespace gridfold::load

#endif  // GRIDFOLD_CLIENT_LOAD_RUN_LOAD_SETTINGS_H_
