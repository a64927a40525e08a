#include "client/load/run/load_settings.h"

#include <cmath>
#include <optional>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"
#include "client/command_line/input/number_parsing.h"
#include "client/load/work/named_value.h"

namespace gridfold::load {
namespace {

absl::Status Wrong(const std::string& name, absl::string_view what) {
  return absl::InvalidArgumentError(absl::StrCat(name, ": ", what));
}

template <typename Integer>
absl::Status Parse(const std::string& name, const std::string& text, Integer low, Integer high,
                   Integer& value) {
  const std::optional<Integer> parsed = client::ParseStrictly<Integer>(text);
  if (parsed && *parsed >= low && *parsed <= high) {
    value = *parsed;
    return absl::OkStatus();
  }
  return Wrong(name, absl::StrCat("must be a whole number from ", low, " to ", high));
}

template <typename T, typename Target>
absl::Status Assign(const std::string& name, absl::StatusOr<T> parsed, Target& target) {
  if (!parsed.ok()) return Wrong(name, parsed.status().message());
  target = *std::move(parsed);
  return absl::OkStatus();
}

absl::Status AssignDuration(const std::string& name, const std::string& text,
                            absl::Duration& target) {
  const absl::StatusOr<absl::Duration> parsed = ParsePositiveDuration(name, text);
  if (!parsed.ok()) return parsed.status();
  target = *parsed;
  return absl::OkStatus();
}

absl::Status AssignSearchGoal(const std::string& text, LoadPlan& plan) {
  plan.search.emplace();
  return AssignDuration("find-rate", text, plan.search->p99_max);
}

absl::Status AssignSetting(const std::string& name, const std::string& text, LoadPlan& plan) {
  if (name == "concurrency" || name == "rate") {
    plan.is_open_loop = name == "rate";
    return Assign(name, ParseLoadLevels(text), plan.levels);
  }
  if (name == "arrivals") {
    return Assign(name,
                  ParseName<Arrivals>(
                      text, {{"constant", Arrivals::kConstant}, {"poisson", Arrivals::kPoisson}}),
                  plan.arrivals);
  }
  if (name == "verify") {
    return Assign(
        name,
        ParseName<Verify>(
            text, {{"none", Verify::kNone}, {"sample", Verify::kSample}, {"all", Verify::kAll}}),
        plan.verify);
  }
  if (name == "duration") return AssignDuration(name, text, plan.duration);
  if (name == "warm-up") {
    const bool is_number = absl::ParseDuration(text, &plan.warm_up);
    if (is_number && plan.warm_up == absl::ZeroDuration()) return absl::OkStatus();
    return AssignDuration(name, text, plan.warm_up);
  }
  if (name == "timeout") return AssignDuration(name, text, plan.timeout);
  if (name == "give-up-after") return AssignDuration(name, text, plan.give_up_after);
  if (name == "find-rate") return AssignSearchGoal(text, plan);
  if (name == "until-stable") {
    const absl::StatusOr<double> part = ParseFraction(name, text);
    if (!part.ok()) return part.status();
    plan.stability = *part;
    return absl::OkStatus();
  }
  if (name == "count") {
    return Parse<uint64_t>(name, text, 1, uint64_t{1} << 40, plan.call_count.emplace());
  }
  if (name == "connections") return Parse(name, text, 1, 1024, plan.connection_count);
  if (name == "threads") return Parse(name, text, 1, 1024, plan.thread_count);
  if (name == "in-flight-max") return Parse(name, text, 1, 1 << 20, plan.in_flight_max);
  if (name == "seed") return Parse<uint64_t>(name, text, 0, ~uint64_t{0}, plan.seed);
  return Wrong(name, "there is no such setting");
}

absl::Status CheckTogether(const LoadSettings& settings, LoadPlan& plan) {
  if (settings.contains("concurrency") && settings.contains("rate")) {
    return Wrong("rate", "cannot be given together with concurrency");
  }
  if (!plan.is_open_loop) {
    for (const LoadLevel& level : plan.levels) {
      if (level.max() > plan.in_flight_max || std::min(level.first, level.last) < 1) {
        return Wrong("concurrency",
                     absl::StrCat("must be from 1 to in-flight-max, ", plan.in_flight_max));
      }
    }
  }
  if (plan.search) {
    if (settings.contains("concurrency") || plan.call_count || plan.stability) {
      return Wrong("find-rate", "cannot be given together with concurrency, count or until-stable");
    }
    if (plan.levels.size() != 1 || plan.levels[0].first != plan.levels[0].last) {
      return Wrong("rate", "must be one number, from which find-rate begins");
    }
    if (settings.contains("rate")) plan.search->rate_min = plan.levels[0].first;
    plan.is_open_loop = true;
  }
  return absl::OkStatus();
}

}  // namespace

const std::vector<LoadSettingDescription>& AllLoadSettings() {
  static const auto& settings = *new std::vector<LoadSettingDescription>{
      {"concurrency", "LEVEL",
       "Closed loop: so many calls under way, each followed by the next (8 by default)"},
      {"rate", "LEVEL", "Open loop: so many calls a second, whatever the answers take"},
      {"arrivals", "KIND", "Of an open loop: poisson (the default) or constant"},
      {"duration", "TIME", "Of each level (10s)"},
      {"warm-up", "TIME", "Before each level, and not counted (1s)"},
      {"count", "N", "Ends a level after so many calls, warm-up included"},
      {"until-stable", "PART",
       "Ends a level when rate, median and p99 of five seconds are within so much of those of the "
       "five before, such as 3%"},
      {"find-rate", "TIME",
       "Searches the highest rate whose 99th percentile is within so long, with no more than 0.1 % "
       "errors; --rate is where it begins (100)"},
      {"connections", "N", "Connections, used in turn (4)"},
      {"threads", "N", "Threads that take answers (as connections or processors, the fewer)"},
      {"in-flight-max", "N", "Calls under way at most; an open loop is late beyond (4096)"},
      {"timeout", "TIME", "Deadline of calls that the scenario gives none (30s)"},
      {"give-up-after", "TIME", "Ends the run when the server has been silent for so long (5s)"},
      {"verify", "WHICH", "Answers to compare with the known result: none, sample or all (sample)"},
      {"seed", "N", "Of everything random (1)"},
  };
  return settings;
}

std::vector<std::pair<std::string, std::string>> DescribeSettings(const LoadPlan& plan) {
  const auto time = [](absl::Duration duration) { return absl::FormatDuration(duration); };
  std::vector<std::pair<std::string, std::string>> settings = {
      {plan.is_open_loop ? "rate" : "concurrency",
       plan.search ? absl::StrCat(plan.search->rate_min) : FormatLoadLevels(plan.levels)}};
  if (plan.is_open_loop) {
    settings.emplace_back("arrivals",
                          plan.arrivals == Arrivals::kConstant ? "constant" : "poisson");
  }
  settings.emplace_back("duration", time(plan.duration));
  settings.emplace_back("warm-up", time(plan.warm_up));
  if (plan.call_count) settings.emplace_back("count", absl::StrCat(*plan.call_count));
  if (plan.stability) settings.emplace_back("until-stable", absl::StrCat(*plan.stability));
  if (plan.search) settings.emplace_back("find-rate", time(plan.search->p99_max));
  settings.emplace_back("connections", absl::StrCat(plan.connection_count));
  if (plan.thread_count > 0) settings.emplace_back("threads", absl::StrCat(plan.thread_count));
  settings.emplace_back("in-flight-max", absl::StrCat(plan.in_flight_max));
  settings.emplace_back("timeout", time(plan.timeout));
  settings.emplace_back("give-up-after", time(plan.give_up_after));
  settings.emplace_back("verify", plan.verify == Verify::kAll      ? "all"
                                  : plan.verify == Verify::kSample ? "sample"
                                                                   : "none");
  settings.emplace_back("seed", absl::StrCat(plan.seed));
  return settings;
}

absl::StatusOr<LoadPlan> MakeLoadPlan(const LoadSettings& settings) {
  LoadPlan plan;
  for (const auto& [name, text] : settings) {
    if (absl::Status status = AssignSetting(name, text, plan); !status.ok()) return status;
  }
  if (absl::Status status = CheckTogether(settings, plan); !status.ok()) return status;
  return plan;
}

absl::StatusOr<double> ParseFraction(const std::string& name, absl::string_view text) {
  const bool is_percentage = absl::ConsumeSuffix(&text, "%");
  double value = 0;
  if (!absl::SimpleAtod(text, &value) || !(value >= 0 && std::isfinite(value))) {
    return Wrong(name, "must be a fraction such as 0.02, or a percentage such as 2%");
  }
  return is_percentage ? value / 100 : value;
}

absl::StatusOr<absl::Duration> ParsePositiveDuration(const std::string& name,
                                                     absl::string_view text) {
  absl::Duration value;
  if (!absl::ParseDuration(text, &value) || value <= absl::ZeroDuration() ||
      value > absl::Hours(24 * 365)) {
    return Wrong(name, "must be a time above 0 with its unit, such as 5ms or 10s");
  }
  return value;
}

}  // namespace gridfold::load
