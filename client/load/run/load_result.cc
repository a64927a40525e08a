#include "client/load/run/load_result.h"

#include <thread>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"

namespace gridfold::load {
namespace {

// A thread that is busy for more of the time delays what it measures.
constexpr double kBusyThreadMax = 0.9;
// Of the machine's processors, which the server may share.
constexpr double kBusyMachineMax = 0.8;
// Being later than this part of the median latency shows in the figures.
constexpr double kLatenessOfMedianMax = 0.1;
constexpr int64_t kLatenessMinNs = 200'000;

}  // namespace

const char* EndReasonName(EndReason reason) {
  switch (reason) {
    case EndReason::kDone: return "done";
    case EndReason::kStable: return "stable";
    case EndReason::kInterrupted: return "interrupted";
    case EndReason::kSilent: return "silent";
  }
  return "unknown";
}

std::vector<std::string> Verdict::failures() const {
  std::vector<std::string> failures = faults;
  for (const JudgedThreshold& threshold : thresholds) {
    failures.insert(failures.end(), threshold.violations.begin(), threshold.violations.end());
  }
  return failures;
}

std::string LoadResult::title() const {
  if (!scenario.name.empty()) return scenario.name;
  if (scenario.requests.empty()) return "load";
  const RequestKind& first = scenario.requests.front();
  const std::string others = scenario.requests.size() == 1
                                 ? ""
                                 : absl::StrCat(" and ", scenario.requests.size() - 1, " more");
  return absl::StrCat(OperationName(first.operation), " ",
                      std::string(client::ElementTypeName(first.element_type)), " ",
                      TransportName(first.transport), others);
}

std::vector<const LevelResult*> LoadResult::JudgedLevels() const {
  std::vector<const LevelResult*> judged;
  if (plan.search) {
    if (found_level) judged.push_back(&levels[*found_level]);
    return judged;
  }
  for (const LevelResult& level : levels) judged.push_back(&level);
  return judged;
}

std::vector<std::string> Warnings(const LevelResult& level, const LoadPlan& plan) {
  std::vector<std::string> warnings;
  const GeneratorFigures& generator = level.generator;
  const int64_t lateness_ns = level.recording.lateness.QuantileNs(0.99);
  if (plan.is_open_loop && lateness_ns > kLatenessMinNs &&
      static_cast<double>(lateness_ns) >
          kLatenessOfMedianMax * static_cast<double>(level.recording.latency.QuantileNs(0.5))) {
    warnings.push_back(absl::StrFormat(
        "one call in a hundred was sent %.1f ms late or later: latencies from the intended time "
        "hold what the generator cost",
        static_cast<double>(lateness_ns) / 1e6));
  }
  if (level.recording.unsent > 0) {
    warnings.push_back(absl::StrFormat(
        "%d calls were due and never sent: they count as errors, and the longest latencies are "
        "missing",
        level.recording.unsent));
  }
  if (generator.held_back_count > 0) {
    warnings.push_back(absl::StrFormat(
        "%d calls waited because of in-flight-max, %d: the server saw less load than asked for",
        generator.held_back_count, plan.in_flight_max));
  }
  if (level.window_s <= 0) {
    warnings.push_back("the level ended within its warm-up: no call was counted");
  }
  if (generator.busiest_thread > kBusyThreadMax) {
    warnings.push_back(absl::StrFormat(
        "a thread of the generator was busy for %.0f %% of the time: more connections and threads "
        "may send more",
        generator.busiest_thread * 100));
  }
  const double machine = std::thread::hardware_concurrency();
  if (machine > 0 && generator.processors > kBusyMachineMax * machine) {
    warnings.push_back(absl::StrFormat(
        "the generator kept %.1f of this machine's %.0f processors busy: it needs a larger one, or "
        "one of its own",
        generator.processors, machine));
  }
  return warnings;
}

}  // namespace gridfold::load
