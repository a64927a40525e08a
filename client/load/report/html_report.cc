#include "client/load/report/html_report.h"

#include <cmath>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/time/time.h"
#include "client/command_line/output/number_format.h"
#include "client/command_line/plot/svg_chart.h"
#include "client/command_line/plot/svg_style.h"
#include "client/load/report/figures.h"

namespace gridfold::load {
namespace {

using client::ChartAxis;
using client::ChartBar;
using client::ChartPart;
using client::ChartSeries;
using client::DrawBars;
using client::DrawLines;
using client::DrawParts;
using client::EscapeHtml;
using client::FormatInteger;

constexpr char kStyle[] = R"(
:root { --text: #1f2328; --dim: #656d76; --paper: #ffffff; --line: #d8dee4; --bad: #b42318; }
@media (prefers-color-scheme: dark) {
  :root { --text: #e6edf3; --dim: #9198a1; --paper: #0d1117; --line: #30363d; --bad: #ff7b72; } }
@media print { :root { --text: #000; --dim: #444; --paper: #fff; --line: #bbb; --bad: #a00; } }
body { font: 15px/1.5 system-ui, sans-serif; color: var(--text); background: var(--paper);
  max-width: 1120px; margin: 2em auto; padding: 0 1.5em; }
h1 { font-size: 1.7em; margin-bottom: 0; } h2 { font-size: 1.1em; margin: 1.8em 0 0.5em; }
p.dim, figcaption { color: var(--dim); } p.dim { margin-top: 0.2em; } figcaption { font-size: 13px; }
.charts { display: grid; grid-template-columns: repeat(auto-fit, minmax(min(100%, 440px), 1fr));
  column-gap: 2.5em; }
figure { margin: 0; } svg { width: 100%; height: auto; display: block; margin-bottom: 4px; }
table { border-collapse: collapse; } td, th { padding: 3px 18px 3px 0; text-align: right;
  border-bottom: 1px solid var(--line); font-variant-numeric: tabular-nums; white-space: nowrap; }
td:first-child, th:first-child, table.text td, table.text th,
table.kinds td:nth-child(-n+4), table.kinds th:nth-child(-n+4) { text-align: left; }
table.text td { white-space: normal; }
th { color: var(--dim); font-weight: 500; }
.wide { overflow-x: auto; }
.headline { display: grid; grid-template-columns: repeat(auto-fit, minmax(150px, 1fr)); gap: 12px; }
.headline div { border: 1px solid var(--line); border-radius: 8px; padding: 8px 14px;
  color: var(--dim); font-size: 13px; }
.headline b { display: block; font-size: 22px; font-weight: 600; color: var(--text); }
.warning { border-left: 3px solid var(--bad); padding-left: 12px; margin: 8px 0; color: var(--bad); }
@media print { body { font-size: 11px; max-width: none; margin: 0; padding: 0; }
  td, th { padding-right: 9px; } .wide { overflow: visible; }
  .charts { grid-template-columns: 1fr 1fr; column-gap: 1.5em; }
  .headline { grid-template-columns: repeat(6, 1fr); } .headline b { font-size: 15px; }
  .headline div { font-size: 10px; padding: 6px 8px; } figcaption { font-size: 10px; }
  section, table, .headline div { break-inside: avoid; } h2 { break-after: avoid; } }
)";

std::string Ns(double time_ns) { return FormatNs(time_ns, /*unicode=*/true); }

std::string Row(const std::vector<std::string>& cells, const char* cell = "td") {
  std::string html = "<tr>";
  for (const std::string& text : cells) {
    absl::StrAppend(&html, "<", cell, ">", EscapeHtml(text), "</", cell, ">");
  }
  return html + "</tr>\n";
}

std::string Figure(const std::string& title, const std::string& drawing,
                   const std::string& caption) {
  if (drawing.empty()) return "";
  return absl::StrCat("<section>\n<h2>", title, "</h2>\n<figure>\n", drawing, "<figcaption>",
                      caption, "</figcaption>\n</figure>\n</section>\n");
}

// Calls that take long take many times as long as most.
ChartAxis LatencyAxis() {
  return {
      .title = "latency", .is_logarithmic = true, .format = [](double value) { return Ns(value); }};
}

ChartAxis SecondsAxis() {
  return {.title = "seconds of the test",
          .format = [](double value) { return absl::StrFormat("%.4g", value); }};
}

// "99.9 %" stands where a tenth as many calls are longer as at "99 %".
double NinesOf(double quantile) { return -std::log10(1 - quantile); }

ChartAxis QuantileAxis() {
  return {
      .title = "part of the calls that took no longer",
      .format =
          [](double nines) { return absl::StrFormat("%.6g %%", 100 * (1 - std::pow(10, -nines))); },
      .ticks = {NinesOf(0), NinesOf(0.5), NinesOf(0.9), NinesOf(0.99), NinesOf(0.999),
                NinesOf(0.9999)}};
}

ChartSeries QuantileCurve(const std::string& name, const LatencyHistogram& histogram) {
  ChartSeries series{.name = name, .points = {}};
  // Further out there are no calls to tell from.
  const double nines_max =
      std::min(4.0, std::log10(static_cast<double>(std::max<uint64_t>(10, histogram.count()))));
  for (double nines = 0; nines <= nines_max + 1e-9; nines += 0.1) {
    series.points.emplace_back(nines,
                               static_cast<double>(histogram.QuantileNs(1 - std::pow(10, -nines))));
  }
  return series;
}

std::string QuantileChart(const LoadResult& result) {
  std::vector<ChartSeries> series;
  for (const LevelResult& level : result.levels) {
    if (level.recording.answered == 0) continue;
    const std::string name = DescribeLevel(level.level, result.plan.is_open_loop);
    const bool is_only = result.levels.size() == 1 && result.plan.is_open_loop;
    series.push_back(
        QuantileCurve(is_only ? "from the intended time" : name, level.recording.latency));
    if (is_only) {
      series.push_back(QuantileCurve("from the actual time", level.recording.latency_from_send));
    }
  }
  return Figure("Latency by percentile", DrawLines(QuantileAxis(), LatencyAxis(), series),
                "From 90 % on each step to the right leaves a tenth as many calls.");
}

// Buckets of a histogram, brought together to so few that one sees them.
std::vector<ChartBar> WideBars(const LatencyHistogram& histogram) {
  constexpr double kBarsPerDecade = 20;
  std::vector<ChartBar> bars;
  int current = -1;
  for (const LatencyHistogram::Bucket& bucket : histogram.buckets()) {
    const double middle = std::max(1.0, static_cast<double>(bucket.lower_ns + bucket.upper_ns) / 2);
    const int place = static_cast<int>(std::log10(middle) * kBarsPerDecade);
    if (place != current) {
      bars.push_back(
          {std::pow(10, place / kBarsPerDecade), std::pow(10, (place + 1) / kBarsPerDecade), 0});
      current = place;
    }
    bars.back().height += static_cast<double>(bucket.count);
  }
  return bars;
}

std::string DistributionChart(const LatencyHistogram& latency) {
  const ChartAxis counts{.title = "calls", .format = [](double value) {
                           return FormatInteger(static_cast<int64_t>(value));
                         }};
  return Figure("Distribution of latency", DrawBars(LatencyAxis(), counts, WideBars(latency)),
                "All levels together, from the intended time of sending.");
}

// A figure of every second, one level after the other; of latencies those with answers.
template <typename Get>
ChartSeries OverTime(const LoadResult& result, const std::string& name, Get get,
                     bool is_latency = false) {
  ChartSeries series{.name = name, .points = {}};
  double begin_s = 0;
  for (const LevelResult& level : result.levels) {
    for (const SecondPoint& point : level.seconds) {
      if (is_latency && point.max_ms == 0) continue;
      series.points.emplace_back(begin_s + point.time_s, get(point));
    }
    begin_s += level.window_s;
  }
  return series;
}

std::string TimeCharts(const LoadResult& result) {
  std::vector<ChartSeries> rates = {
      OverTime(result, "answered", [](const SecondPoint& point) { return point.rate; })};
  if (result.plan.is_open_loop) {
    rates.push_back(
        OverTime(result, "asked for", [](const SecondPoint& point) { return point.level; }));
  }
  const std::vector<ChartSeries> latencies = {
      OverTime(
          result, "median", [](const SecondPoint& p) { return p.p50_ms * 1e6; }, true),
      OverTime(
          result, "99th percentile", [](const SecondPoint& p) { return p.p99_ms * 1e6; }, true),
      OverTime(
          result, "maximum", [](const SecondPoint& p) { return p.max_ms * 1e6; }, true)};
  const std::vector<ChartSeries> bytes = {
      OverTime(result, "", [](const SecondPoint& point) { return point.bytes_per_second; })};
  const ChartAxis rate_axis{.title = "calls a second", .format = [](double value) {
                              return FormatInteger(static_cast<int64_t>(value));
                            }};
  const ChartAxis byte_axis{.title = "arrays", .format = FormatByteRate};
  return absl::StrCat(
      Figure("Rate over time", DrawLines(SecondsAxis(), rate_axis, rates), "Answers as they came."),
      Figure("Bytes over time", DrawLines(SecondsAxis(), byte_axis, bytes),
             "Of the arrays that were answered, wherever they lay."),
      Figure("Latency over time", DrawLines(SecondsAxis(), LatencyAxis(), latencies),
             "Of the calls that ended in each second."));
}

std::string StageChart(const Recording& recording) {
  std::vector<ChartPart> parts;
  double known_ns = 0;
  const auto add = [&](const std::string& name, double time_ns) {
    if (time_ns > 0) parts.push_back({name, time_ns, Ns(time_ns)});
    known_ns += std::max(0.0, time_ns);
  };
  for (const Stage stage : {Stage::kQueue, Stage::kStageIn, Stage::kKernel, Stage::kStageOut}) {
    add(StageName(stage), recording.stages[static_cast<size_t>(stage)].mean_ns());
  }
  const double server_ns = recording.stages[static_cast<size_t>(Stage::kTotal)].mean_ns();
  add("rest of the server", server_ns - known_ns);
  add("network and client", recording.latency_from_send.mean_ns() - std::max(server_ns, known_ns));
  return Figure("Where the time goes", DrawParts(parts),
                "Means of all answered calls; the server's stages by its own word.");
}

std::string LevelTable(const LoadResult& result) {
  std::vector<std::string> heading = {"level", "answered", "throughput"};
  for (const auto& quantile : kReportedQuantiles) heading.emplace_back(quantile.name);
  heading.insert(heading.end(), {"max", "errors", "end"});
  std::string html = "<h2>Levels</h2>\n<div class=\"wide\"><table>\n" + Row(heading, "th");
  for (const LevelResult& level : result.levels) {
    const Recording& recording = level.recording;
    std::vector<std::string> row = {DescribeLevel(level.level, result.plan.is_open_loop),
                                    FormatCallRate(level.rate()),
                                    FormatByteRate(level.bytes_per_second())};
    for (const auto& [name, quantile] : kReportedQuantiles) {
      row.push_back(Ns(static_cast<double>(recording.latency.QuantileNs(quantile))));
    }
    row.push_back(Ns(static_cast<double>(recording.latency.max_ns())));
    row.push_back(FormatPercentage(recording.error_fraction()));
    row.emplace_back(EndReasonName(level.end_reason));
    html += Row(row);
  }
  return html +
         "</table></div>\n<p class=\"dim\">Latencies from the intended time of sending.</p>\n";
}

std::string ErrorTable(const Recording& recording) {
  if (recording.errors.empty()) return "<h2>Errors</h2>\n<p>None.</p>\n";
  std::string html =
      "<h2>Errors</h2>\n<table class=\"text\">\n" + Row({"code", "calls", "first message"}, "th");
  for (const auto& [code, tally] : recording.errors) {
    html += Row({CodeName(code), FormatInteger(tally.count), tally.first_message});
  }
  return html + "</table>\n";
}

std::string ScenarioTable(const Recording& recording, const Scenario& scenario) {
  std::string html = "<h2>Requests</h2>\n<div class=\"wide\"><table class=\"kinds\">\n" +
                     Row({"", "operation", "type", "transport", "weight", "answered", "failed",
                          "wrong", "p50", "p99"},
                         "th");
  for (size_t i = 0; i < scenario.requests.size(); ++i) {
    const RequestKind& kind = scenario.requests[i];
    const KindTally& tally = recording.kinds[i];
    html +=
        Row({kind.name, OperationName(kind.operation),
             std::string(client::ElementTypeName(kind.element_type)), TransportName(kind.transport),
             absl::StrCat(kind.weight), FormatInteger(tally.answered), FormatInteger(tally.failed),
             FormatInteger(tally.wrong), Ns(static_cast<double>(tally.latency.QuantileNs(0.5))),
             Ns(static_cast<double>(tally.latency.QuantileNs(0.99)))});
  }
  return html + "</table></div>\n";
}

std::string SettingsTable(const LoadResult& result) {
  std::string html = "<h2>Settings</h2>\n<table class=\"text\">\n";
  for (const auto& [name, text] : result.options) html += Row({name, text});
  const LevelResult& last = result.levels.back();
  html += Row({"threads that took answers", absl::StrCat(last.generator.thread_count)});
  html += Row({"processors that the generator kept busy",
               absl::StrFormat("%.2f", last.generator.processors)});
  return html + "</table>\n";
}

std::string Headline(const Recording& all, const LoadResult& result) {
  const auto item = [](const std::string& name, const std::string& value) {
    return absl::StrCat("<div><b>", EscapeHtml(value), "</b>", name, "</div>\n");
  };
  std::string html = "<div class=\"headline\">\n";
  const std::vector<const LevelResult*> judged = result.JudgedLevels();
  const LevelResult& level = judged.empty() ? result.levels.back() : *judged.back();
  if (result.plan.search) {
    html += item("highest rate within the objective",
                 judged.empty() ? "none" : FormatCallRate(level.rate()));
  } else {
    html += item(judged.size() > 1 ? "answered at the last level" : "answered",
                 FormatCallRate(level.rate()));
  }
  html += item("throughput", FormatByteRate(level.bytes_per_second()));
  html += item("median", Ns(static_cast<double>(level.recording.latency.QuantileNs(0.5))));
  html +=
      item("99th percentile", Ns(static_cast<double>(level.recording.latency.QuantileNs(0.99))));
  html += item("errors", FormatPercentage(level.recording.error_fraction()));
  html += item("wrong of " + FormatInteger(all.verified) + " verified", FormatInteger(all.wrong));
  return html + "</div>\n";
}

std::string VerdictList(const LoadResult& result) {
  std::string html;
  const auto line = [&html](const char* style, const std::string& text) {
    absl::StrAppend(&html, "<p class=\"", style, "\">", EscapeHtml(text), ".</p>\n");
  };
  if (result.found_rate) {
    line("dim", absl::StrCat("Of ", FormatCallRate(result.found_rate->rate), ": ",
                             DescribeSureness(*result.found_rate)));
  }
  for (const std::string& failure : result.verdict.failures())
    line("warning", "Failed: " + failure);
  for (const JudgedThreshold& threshold : result.verdict.thresholds) {
    if (threshold.violations.empty()) line("dim", "Kept: not " + threshold.text);
  }
  for (const std::string& note : result.notes) line("dim", note);
  return html;
}

std::string CallTable(const LoadResult& result) {
  std::string html = "<h2>Calls</h2>\n<div class=\"wide\"><table>\n" +
                     Row({"level", "answered", "failed", "given up at the end", "never sent",
                          "cancelled on purpose", "verified", "wrong"},
                         "th");
  for (const LevelResult& level : result.levels) {
    const Recording& calls = level.recording;
    std::vector<std::string> row = {DescribeLevel(level.level, result.plan.is_open_loop)};
    for (const uint64_t count : {calls.answered, calls.failed, calls.unanswered, calls.unsent,
                                 calls.cancelled, calls.verified, calls.wrong}) {
      row.push_back(FormatInteger(count));
    }
    html += Row(row);
  }
  return html + "</table></div>\n";
}

std::string WarningList(const LoadResult& result) {
  std::string html;
  for (const LevelResult& level : result.levels) {
    for (const std::string& warning : Warnings(level, result.plan)) {
      absl::StrAppend(&html, "<p class=\"warning\">",
                      EscapeHtml(DescribeLevel(level.level, result.plan.is_open_loop)), ": ",
                      EscapeHtml(warning), ".</p>\n");
    }
    if (level.recording.wrong > 0) {
      absl::StrAppend(&html, "<p class=\"warning\">Wrong answers: ",
                      EscapeHtml(level.recording.first_difference), ".</p>\n");
    }
  }
  return html;
}

std::string Heading(const LoadResult& result) {
  std::string server = absl::StrCat(result.target, " · gridfold ", result.server.version, " · ",
                                    result.server.engine);
  for (const client::Device& device : result.server.devices) {
    absl::StrAppend(&server, " · ", device.name);
  }
  const std::string time =
      absl::FormatTime("%Y-%m-%d %H:%M:%S UTC", result.start_time, absl::UTCTimeZone());
  return absl::StrCat("<h1>", EscapeHtml(result.title()), "</h1>\n<p class=\"dim\">",
                      EscapeHtml(server), " · ", time, "</p>\n<p>",
                      EscapeHtml(result.scenario.description), "</p>\n");
}

}  // namespace

std::string ToHtml(const LoadResult& result) {
  Recording all(result.scenario.requests.size());
  for (const LevelResult& level : result.levels) all.Merge(level.recording);
  return absl::StrCat(
      "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n<meta "
      "name=\"viewport\" content=\"width=device-width\">\n<title>gridfold load: ",
      EscapeHtml(result.title()), "</title>\n<style>", kStyle, client::ChartStyle(),
      "</style>\n</head>\n<body>\n", Heading(result), Headline(all, result), VerdictList(result),
      WarningList(result), LevelTable(result), CallTable(result), "<div class=\"charts\">\n",
      QuantileChart(result), DistributionChart(all.latency), TimeCharts(result), StageChart(all),
      "</div>\n", ErrorTable(all), ScenarioTable(all, result.scenario), SettingsTable(result),
      "</body>\n</html>\n");
}

}  // namespace gridfold::load
