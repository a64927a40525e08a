// What a load test has found.
#ifndef GRIDFOLD_CLIENT_LOAD_RUN_LOAD_RESULT_H_
#define GRIDFOLD_CLIENT_LOAD_RUN_LOAD_RESULT_H_

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/time/time.h"
#include "client/load/measure/recording.h"
#include "client/load/run/load_settings.h"
#include "client/load/run/rate_search.h"
#include "client/load/work/scenario.h"
#include "gridfold/server_info.h"

namespace gridfold::load {

enum class EndReason {
  kDone,         // Its time is over, or its calls are made.
  kStable,       // Its figures had become stable.
  kInterrupted,  // The user ended it.
  kSilent,       // The server could not be reached, or did not answer, for too long.
};
const char* EndReasonName(EndReason reason);

// A second of a window, or what is left of it at the end. Answers count in the second in which they
// came.
struct SecondPoint {
  double time_s = 0;  // Of its end, since the window's begin.
  double level = 0;
  double rate = 0;  // Answers a second.
  double bytes_per_second = 0;
  double p50_ms = 0;  // From the intended time, of the calls that ended in this second.
  double p99_ms = 0;
  double max_ms = 0;
  uint64_t errors = 0;
  int in_flight = 0;  // At its end.
};

// What the generator itself needed and did.
struct GeneratorFigures {
  double processors = 0;         // That it kept busy.
  double busiest_thread = 0;     // Part of the window in which its busiest thread ran.
  int thread_count = 0;          // That took answers.
  uint64_t held_back_count = 0;  // Calls that waited because too many were under way.
};

// One level of load, in its window.
struct LevelResult {
  explicit LevelResult(size_t kind_count) : recording(kind_count) {}

  LoadLevel level;
  double window_s = 0;
  Recording recording;
  std::vector<SecondPoint> seconds;
  GeneratorFigures generator;
  EndReason end_reason = EndReason::kDone;

  double rate() const { return PerSecond(recording.completed); }
  double bytes_per_second() const { return PerSecond(recording.completed_bytes); }

 private:
  double PerSecond(uint64_t amount) const {
    return window_s > 0 ? static_cast<double>(amount) / window_s : 0;
  }
};

// What became of a limit that the run was to keep to (--fail-if).
struct JudgedThreshold {
  std::string text = "";                     // As it was given.
  std::vector<std::string> violations = {};  // One sentence for each level that did not keep to it.
};

// Whether the run was a success, as the program's exit code says it.
struct Verdict {
  std::vector<JudgedThreshold> thresholds = {};
  std::vector<std::string> faults = {};  // Other reasons why not: wrong answers, a silent server.

  // Everything that made the run none.
  std::vector<std::string> failures() const;
  bool is_passed() const { return failures().empty(); }
};

// An option of the command line, or a setting, and its value as text.
using NamedText = std::pair<std::string, std::string>;

struct LoadResult {
  std::string target;
  absl::Time start_time;
  Scenario scenario;
  LoadSettings settings;  // As they were given.
  // What the run went by: options that were given, and the settings that followed, defaults too.
  std::vector<NamedText> options;
  LoadPlan plan;
  client::ServerInfo server;
  std::vector<std::string> notes;   // What is to be known of how the run was prepared.
  std::vector<LevelResult> levels;  // In the order they were run.
  // Of a search: the highest rate that kept to the objective, and the place in `levels` of the last
  // of its runs that did; nothing where none did.
  std::optional<FoundRate> found_rate;
  std::optional<size_t> found_level;
  Verdict verdict;  // Of the whole, once it is over.

  // What the run is called where it has no name of its own: what it asked for.
  std::string title() const;

  // What figures of the whole test are about: of a search the rate that was found, otherwise every
  // level.
  std::vector<const LevelResult*> JudgedLevels() const;
};

// What made the figures doubtful: a generator that was late, or short of processors or of calls
// under way. One sentence each.
std::vector<std::string> Warnings(const LevelResult& level, const LoadPlan& plan);

}  // namespace gridfold::load

#endif  // GRIDFOLD_CLIENT_LOAD_RUN_LOAD_RESULT_H_
