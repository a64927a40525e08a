#include "client/load/report/json_report.h"

#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "absl/time/time.h"
#include "client/load/report/figures.h"
#include "nlohmann/json.hpp"

namespace gridfold::load {
namespace {

using Json = nlohmann::ordered_json;

double ToUs(double time_ns) { return time_ns / 1e3; }

Json ToJsonObject(const LatencyHistogram& histogram) {
  Json object = {{"count", histogram.count()},
                 {"min", ToUs(static_cast<double>(histogram.min_ns()))},
                 {"mean", ToUs(histogram.mean_ns())}};
  for (const auto& [name, quantile] : kReportedQuantiles) {
    object[name] = ToUs(static_cast<double>(histogram.QuantileNs(quantile)));
  }
  object["max"] = ToUs(static_cast<double>(histogram.max_ns()));
  return object;
}

Json Buckets(const LatencyHistogram& histogram) {
  Json buckets = Json::array();
  for (const LatencyHistogram::Bucket& bucket : histogram.buckets()) {
    buckets.push_back({ToUs(static_cast<double>(bucket.lower_ns)),
                       ToUs(static_cast<double>(bucket.upper_ns)), bucket.count});
  }
  return buckets;
}

Json Calls(const Recording& recording) {
  return {{"answered", recording.answered},
          {"failed", recording.failed},
          {"cancelled", recording.cancelled},
          {"unanswered", recording.unanswered},
          {"unsent", recording.unsent},
          {"verified", recording.verified},
          {"wrong", recording.wrong},
          {"first_difference", recording.first_difference},
          {"error_fraction", recording.error_fraction()}};
}

Json Stages(const Recording& recording) {
  Json stages = Json::object();
  for (size_t i = 0; i < kStageCount; ++i) {
    const std::string key = absl::StrReplaceAll(StageName(static_cast<Stage>(i)), {{" ", "_"}});
    stages[key] = ToJsonObject(recording.stages[i]);
  }
  return stages;
}

Json Errors(const Recording& recording) {
  Json errors = Json::object();
  for (const auto& [code, tally] : recording.errors) {
    errors[CodeName(code)] = {{"count", tally.count}, {"first_message", tally.first_message}};
  }
  return errors;
}

Json Kinds(const Recording& recording, const Scenario& scenario) {
  Json kinds = Json::array();
  for (size_t i = 0; i < recording.kinds.size(); ++i) {
    const KindTally& tally = recording.kinds[i];
    kinds.push_back({{"name", scenario.requests[i].name},
                     {"answered", tally.answered},
                     {"failed", tally.failed},
                     {"wrong", tally.wrong},
                     {"latency_us", ToJsonObject(tally.latency)}});
  }
  return kinds;
}

Json Seconds(const LevelResult& level) {
  Json seconds = Json::array();
  for (const SecondPoint& point : level.seconds) {
    seconds.push_back({{"time_s", point.time_s},
                       {"level", point.level},
                       {"rate", point.rate},
                       {"bytes_per_second", point.bytes_per_second},
                       {"p50_us", point.p50_ms * 1e3},
                       {"p99_us", point.p99_ms * 1e3},
                       {"max_us", point.max_ms * 1e3},
                       {"errors", point.errors},
                       {"in_flight", point.in_flight}});
  }
  return seconds;
}

Json Generator(const GeneratorFigures& generator) {
  return {{"processors", generator.processors},
          {"busiest_thread", generator.busiest_thread},
          {"thread_count", generator.thread_count},
          {"held_back_count", generator.held_back_count}};
}

Json ToJsonObject(const LevelResult& level, const LoadResult& result) {
  return {{"level", {level.level.first, level.level.last}},
          {"window_s", level.window_s},
          {"end_reason", EndReasonName(level.end_reason)},
          {"rate", level.rate()},
          {"bytes_per_second", level.bytes_per_second()},
          {"calls", Calls(level.recording)},
          {"latency_us", ToJsonObject(level.recording.latency)},
          {"latency_from_send_us", ToJsonObject(level.recording.latency_from_send)},
          {"lateness_us", ToJsonObject(level.recording.lateness)},
          {"stages_us", Stages(level.recording)},
          {"errors", Errors(level.recording)},
          {"kinds", Kinds(level.recording, result.scenario)},
          {"seconds", Seconds(level)},
          {"generator", Generator(level.generator)},
          {"warnings", Warnings(level, result.plan)},
          {"latency_buckets_us", Buckets(level.recording.latency)}};
}

Json ToJsonObject(const Verdict& verdict) {
  Json thresholds = Json::array();
  for (const JudgedThreshold& threshold : verdict.thresholds) {
    thresholds.push_back({{"text", threshold.text},
                          {"is_kept", threshold.violations.empty()},
                          {"violations", threshold.violations}});
  }
  return {{"is_passed", verdict.is_passed()},
          {"failures", verdict.failures()},
          {"thresholds", thresholds}};
}

Json ToJsonObject(const FoundRate& found) {
  Json object = {{"rate", found.rate}, {"kept", found.runs.kept}, {"broken", found.runs.broken}};
  if (found.next_rate) {
    object["next_rate"] = *found.next_rate;
    object["next_kept"] = found.next_runs.kept;
    object["next_broken"] = found.next_runs.broken;
  }
  object["is_sure"] = !found.doubtful.has_value();
  if (found.doubtful) object["doubtful"] = {found.doubtful->first, found.doubtful->second};
  return object;
}

Json OptionsOf(const LoadResult& result) {
  Json options = Json::object();
  for (const auto& [name, text] : result.options) options[name] = text;
  return options;
}

Json Server(const LoadResult& result) {
  Json devices = Json::array();
  for (const client::Device& device : result.server.devices) devices.push_back(device.name);
  return {{"target", result.target},
          {"version", result.server.version},
          {"engine", result.server.engine},
          {"devices", devices}};
}

}  // namespace

std::string ToJson(const LoadResult& result) {
  Json levels = Json::array();
  for (const LevelResult& level : result.levels) levels.push_back(ToJsonObject(level, result));
  const Json settings = result.settings;
  Json report = {
      {"scenario", result.scenario.name},
      {"title", result.title()},
      {"start_time", absl::FormatTime(absl::RFC3339_sec, result.start_time, absl::UTCTimeZone())},
      {"generator_version", GRIDFOLD_VERSION},
      {"server", Server(result)},
      {"is_open_loop", result.plan.is_open_loop},
      {"settings", settings},
      {"options", OptionsOf(result)},
      {"notes", result.notes},
      {"levels", levels},
      {"verdict", ToJsonObject(result.verdict)}};
  if (result.found_level) report["found_level"] = *result.found_level;
  if (result.found_rate) report["found_rate"] = ToJsonObject(*result.found_rate);
  // Messages of a server need not be UTF-8.
  return report.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

std::string ToCsv(const LoadResult& result) {
  std::string text =
      "level_number,time_s,level,rate,bytes_per_second,p50_us,p99_us,max_us,errors,in_flight\n";
  for (size_t i = 0; i < result.levels.size(); ++i) {
    for (const SecondPoint& point : result.levels[i].seconds) {
      absl::StrAppend(&text, i, ",", point.time_s, ",", point.level, ",", point.rate, ",",
                      point.bytes_per_second, ",", point.p50_ms * 1e3, ",", point.p99_ms * 1e3);
      absl::StrAppend(&text, ",", point.max_ms * 1e3, ",", point.errors, ",", point.in_flight,
                      "\n");
    }
  }
  return text;
}

}  // namespace gridfold::load
