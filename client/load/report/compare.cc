#include "client/load/report/compare.h"

#include <cmath>
#include <functional>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "client/command_line/output/table.h"
#include "client/load/report/figures.h"
#include "nlohmann/json.hpp"

namespace gridfold::load {
namespace {

using client::Alignment;
using nlohmann::json;

// A figure of a level, by its place in the report.
struct ComparedFigure {
  const char* name;
  const char* pointer;
  std::function<std::string(double, bool unicode)> format;
};

std::string FormatUs(double time_us, bool unicode) { return FormatNs(time_us * 1e3, unicode); }

const std::vector<ComparedFigure>& Figures() {
  static const auto& figures = *new std::vector<ComparedFigure>{
      {"answered", "/rate", [](double value, bool) { return FormatCallRate(value); }},
      {"throughput", "/bytes_per_second", [](double value, bool) { return FormatByteRate(value); }},
      {"mean", "/latency_us/mean", FormatUs},
      {"p50", "/latency_us/p50", FormatUs},
      {"p90", "/latency_us/p90", FormatUs},
      {"p99", "/latency_us/p99", FormatUs},
      {"p99.9", "/latency_us/p99.9", FormatUs},
      {"max", "/latency_us/max", FormatUs},
      {"queue, mean", "/stages_us/queue/mean", FormatUs},
      {"kernel, mean", "/stages_us/kernel/mean", FormatUs},
      {"server total, mean", "/stages_us/server_total/mean", FormatUs},
      {"errors", "/calls/error_fraction",
       [](double value, bool) { return FormatPercentage(value); }},
  };
  return figures;
}

std::string Change(double before, double after) {
  if (before == after) return "=";
  if (before == 0) return "";
  return absl::StrFormat("%+.1f %%", (after / before - 1) * 100);
}

absl::StatusOr<json> Parse(const std::string& text, const char* which) {
  json report = json::parse(text, nullptr, /*allow_exceptions=*/false);
  if (report.is_discarded() || !report.is_object() || !report.contains("levels") ||
      !report["levels"].is_array()) {
    return absl::InvalidArgumentError(
        absl::StrCat("the ", which, " file is no report of gridfold_load --json"));
  }
  return report;
}

// Zero where the report does not have the figure.
double FigureOf(const json& level, const ComparedFigure& figure) {
  const json value = level.value(json::json_pointer(figure.pointer), json(0));
  return value.is_number() ? value.get<double>() : 0;
}

void PrintLevel(const json& before, const json& after, const client::TextStyle& style,
                std::ostream& out) {
  client::Table table({Alignment::kLeft, Alignment::kRight, Alignment::kRight, Alignment::kRight});
  table.SetHeading({"", "first", "second", "change"});
  for (const ComparedFigure& figure : Figures()) {
    const double first = FigureOf(before, figure);
    const double second = FigureOf(after, figure);
    table.AddRow({figure.name, figure.format(first, style.unicode),
                  figure.format(second, style.unicode), Change(first, second)});
  }
  table.Print(style, out);
}

std::string LevelName(const json& report, const json& level) {
  const std::vector<double> ends = level.value("level", std::vector<double>{0, 0});
  const LoadLevel load{ends.empty() ? 0 : ends.front(), ends.empty() ? 0 : ends.back()};
  return DescribeLevel(load, report.value("is_open_loop", false));
}

}  // namespace

absl::Status CompareReports(const std::string& before, const std::string& after,
                            const client::TextStyle& style, std::ostream& out) {
  const absl::StatusOr<json> first = Parse(before, "first");
  if (!first.ok()) return first.status();
  const absl::StatusOr<json> second = Parse(after, "second");
  if (!second.ok()) return second.status();
  const json& first_levels = (*first)["levels"];
  const json& second_levels = (*second)["levels"];
  if (first_levels.size() != second_levels.size()) {
    return absl::InvalidArgumentError(absl::StrCat("the first report has ", first_levels.size(),
                                                   " levels, the second ", second_levels.size()));
  }
  try {
    for (size_t i = 0; i < first_levels.size(); ++i) {
      const std::string name = LevelName(*first, first_levels[i]);
      const std::string other_name = LevelName(*second, second_levels[i]);
      out << (i > 0 ? "\n" : "")
          << style.Bold(name == other_name ? name : absl::StrCat(name, " and ", other_name))
          << "\n";
      PrintLevel(first_levels[i], second_levels[i], style, out);
    }
  } catch (const json::exception& error) {
    return absl::InvalidArgumentError(absl::StrCat("a report is damaged: ", error.what()));
  }
  return absl::OkStatus();
}

}  // namespace gridfold::load
