#include "client/load/report/thresholds.h"

#include <optional>
#include <utility>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"
#include "client/load/report/figures.h"

namespace gridfold::load {
namespace {

absl::Status Wrong(absl::string_view text, absl::string_view what) {
  return absl::InvalidArgumentError(absl::StrCat("fail-if: \"", text, "\": ", what));
}

// A quantile's, the mean's, the maximum's or the lateness', in nanoseconds; nothing for figures
// that are no times.
std::optional<double> TimeNs(const std::string& figure, const Recording& recording) {
  for (const auto& [name, quantile] : kReportedQuantiles) {
    if (figure == name) return static_cast<double>(recording.latency.QuantileNs(quantile));
  }
  if (figure == "mean") return recording.latency.mean_ns();
  if (figure == "max") return static_cast<double>(recording.latency.max_ns());
  if (figure == "lateness") return static_cast<double>(recording.lateness.QuantileNs(0.99));
  return std::nullopt;
}

double ValueOf(const std::string& figure, const LevelResult& level) {
  if (const std::optional<double> time_ns = TimeNs(figure, level.recording)) return *time_ns / 1e9;
  if (figure == "errors") return level.recording.error_fraction();
  if (figure == "wrong") return static_cast<double>(level.recording.wrong);
  if (figure == "rate") return level.rate();
  return level.bytes_per_second();
}

std::string FormatValue(const std::string& figure, double value) {
  if (figure == "errors") return FormatPercentage(value);
  if (figure == "rate") return FormatCallRate(value);
  if (figure == "throughput") return FormatByteRate(value);
  if (figure == "wrong") return absl::StrCat(value);
  return FormatNs(value * 1e9, /*unicode=*/false);
}

absl::StatusOr<double> ParseByteRate(absl::string_view text) {
  absl::ConsumeSuffix(&text, "/s");
  double factor = 1;
  for (const auto& [suffix, size] : {std::pair("GB", 1e9), std::pair("MB", 1e6)}) {
    if (absl::ConsumeSuffix(&text, suffix)) factor = size;
  }
  double value = 0;
  if (factor > 1 && absl::SimpleAtod(text, &value) && value >= 0) return value * factor;
  return absl::InvalidArgumentError("throughput is in MB/s or GB/s");
}

absl::StatusOr<double> ParseLimit(const std::string& figure, absl::string_view text) {
  if (TimeNs(figure, Recording(0))) {
    const absl::StatusOr<absl::Duration> time = ParsePositiveDuration(figure, text);
    if (!time.ok()) return time.status();
    return absl::ToDoubleSeconds(*time);
  }
  if (figure == "throughput") return ParseByteRate(text);
  if (figure == "errors") return ParseFraction(figure, text);
  double value = 0;
  if (figure != "wrong" && figure != "rate") {
    return absl::InvalidArgumentError(
        "the figure is none of p50, p90, p95, p99, p99.9, p99.99, mean, max, lateness, errors, "
        "wrong, rate, throughput");
  }
  if (absl::SimpleAtod(text, &value) && value >= 0) return value;
  return absl::InvalidArgumentError("the limit is no number");
}

}  // namespace

absl::StatusOr<Threshold> ParseThreshold(absl::string_view text) {
  const size_t sign = text.find_first_of("<>");
  if (sign == absl::string_view::npos) return Wrong(text, "has neither < nor >");
  Threshold threshold{.text = std::string(text),
                      .figure = std::string(text.substr(0, sign)),
                      .fails_above = text[sign] == '>'};
  const absl::StatusOr<double> limit = ParseLimit(threshold.figure, text.substr(sign + 1));
  if (!limit.ok()) return Wrong(text, limit.status().message());
  threshold.limit = *limit;
  return threshold;
}

namespace {

// One sentence for each judged level that does not keep to it.
JudgedThreshold JudgeOne(const Threshold& threshold, const LoadResult& result) {
  JudgedThreshold judged{.text = threshold.text};
  for (const LevelResult* const level : result.JudgedLevels()) {
    if (level->recording.answered == 0 && TimeNs(threshold.figure, level->recording)) {
      judged.violations.push_back(absl::StrCat(threshold.text, ": nothing was answered"));
      continue;
    }
    const double value = ValueOf(threshold.figure, *level);
    const bool fails = threshold.fails_above ? value > threshold.limit : value < threshold.limit;
    if (!fails) continue;
    judged.violations.push_back(
        absl::StrCat(threshold.text, ": ", FormatValue(threshold.figure, value), " at ",
                     DescribeLevel(level->level, result.plan.is_open_loop)));
  }
  return judged;
}

}  // namespace

Verdict Judge(const std::vector<Threshold>& thresholds, const LoadResult& result) {
  Verdict verdict;
  for (const LevelResult& level : result.levels) {
    const std::string at =
        absl::StrCat(" at ", DescribeLevel(level.level, result.plan.is_open_loop));
    if (level.recording.wrong > 0) {
      verdict.faults.push_back(absl::StrCat(level.recording.wrong, " wrong answers", at));
    }
    if (level.end_reason == EndReason::kSilent) {
      verdict.faults.push_back(absl::StrCat("the server fell silent", at));
    }
  }
  if (result.JudgedLevels().empty()) {
    verdict.faults.push_back("no level of load kept to the objective");
  }
  for (const Threshold& threshold : thresholds) {
    verdict.thresholds.push_back(JudgeOne(threshold, result));
  }
  return verdict;
}

}  // namespace gridfold::load
