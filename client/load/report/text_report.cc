#include "client/load/report/text_report.h"

#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "client/command_line/output/number_format.h"
#include "client/command_line/output/table.h"
#include "client/load/report/figures.h"

namespace gridfold::load {
namespace {

using client::Alignment;
using client::FormatInteger;
using client::Table;
using client::TextStyle;

Table LatencyTable() {
  std::vector<Alignment> alignments = {Alignment::kLeft};
  std::vector<std::string> heading = {""};
  for (const auto& quantile : kReportedQuantiles) {
    alignments.push_back(Alignment::kRight);
    heading.emplace_back(quantile.name);
  }
  alignments.insert(alignments.end(), 2, Alignment::kRight);
  heading.insert(heading.end(), {"max", "mean"});
  Table table(alignments);
  table.SetHeading(heading);
  return table;
}

void AddLatencies(const std::string& name, const LatencyHistogram& histogram, bool unicode,
                  Table& table) {
  std::vector<std::string> row = {name};
  for (const auto& [quantile_name, quantile] : kReportedQuantiles) {
    row.push_back(FormatNs(static_cast<double>(histogram.QuantileNs(quantile)), unicode));
  }
  row.push_back(FormatNs(static_cast<double>(histogram.max_ns()), unicode));
  row.push_back(FormatNs(histogram.mean_ns(), unicode));
  table.AddRow(row);
}

void PrintLatencies(const Recording& recording, bool is_open_loop, const TextStyle& style,
                    std::ostream& out) {
  const bool unicode = style.unicode;
  Table table = LatencyTable();
  AddLatencies(is_open_loop ? "from the intended time" : "latency", recording.latency, unicode,
               table);
  if (is_open_loop) {
    AddLatencies("from the actual time", recording.latency_from_send, unicode, table);
    AddLatencies("sent late by", recording.lateness, unicode, table);
  }
  for (size_t i = 0; i < kStageCount; ++i) {
    AddLatencies(StageName(static_cast<Stage>(i)), recording.stages[i], unicode, table);
  }
  table.Print(style, out);
}

void PrintCalls(const LevelResult& level, const TextStyle& style, std::ostream& out) {
  const Recording& recording = level.recording;
  const absl::string_view separator = style.separator();
  out << style.Bold(FormatCallRate(level.rate())) << separator
      << FormatByteRate(level.bytes_per_second()) << separator << FormatInteger(recording.answered)
      << " answered in " << absl::StrFormat("%.4g s", level.window_s);
  if (recording.failed > 0) out << separator << FormatInteger(recording.failed) << " failed";
  if (recording.unanswered > 0) {
    out << separator << FormatInteger(recording.unanswered) << " unanswered";
  }
  if (recording.unsent > 0) {
    out << separator << FormatInteger(recording.unsent) << " never sent";
  }
  if (recording.cancelled > 0) {
    out << separator << FormatInteger(recording.cancelled) << " cancelled on purpose";
  }
  out << separator << FormatInteger(recording.verified) << " verified\n";
  if (recording.wrong > 0) {
    out << style.Error(absl::StrCat(FormatInteger(recording.wrong),
                                    " wrong answers: ", recording.first_difference))
        << "\n";
  }
}

void PrintErrors(const Recording& recording, const TextStyle& style, std::ostream& out) {
  if (recording.errors.empty()) return;
  Table table({Alignment::kLeft, Alignment::kRight, Alignment::kLeft});
  for (const auto& [code, tally] : recording.errors) {
    table.AddRow({CodeName(code), FormatInteger(tally.count), tally.first_message});
  }
  out << "\n";
  table.Print(style, out);
}

void PrintKinds(const Recording& recording, const Scenario& scenario, const TextStyle& style,
                std::ostream& out) {
  if (recording.kinds.size() < 2) return;
  Table table({Alignment::kLeft, Alignment::kRight, Alignment::kRight, Alignment::kRight,
               Alignment::kRight, Alignment::kRight});
  table.SetHeading({"", "answered", "failed", "wrong", "p50", "p99"});
  for (size_t i = 0; i < recording.kinds.size(); ++i) {
    const KindTally& tally = recording.kinds[i];
    const auto quantile = [&](double part) {
      return FormatNs(static_cast<double>(tally.latency.QuantileNs(part)), style.unicode);
    };
    table.AddRow({scenario.requests[i].name, FormatInteger(tally.answered),
                  FormatInteger(tally.failed), FormatInteger(tally.wrong), quantile(0.5),
                  quantile(0.99)});
  }
  out << "\n";
  table.Print(style, out);
}

void PrintLevel(const LevelResult& level, const LoadResult& result, const TextStyle& style,
                std::ostream& out) {
  out << "\n" << style.Bold(DescribeLevel(level.level, result.plan.is_open_loop));
  if (level.end_reason != EndReason::kDone) out << " (" << EndReasonName(level.end_reason) << ")";
  out << "\n";
  PrintCalls(level, style, out);
  if (level.recording.answered > 0) {
    out << "\n";
    PrintLatencies(level.recording, result.plan.is_open_loop, style, out);
  }
  PrintKinds(level.recording, result.scenario, style, out);
  PrintErrors(level.recording, style, out);
  for (const std::string& warning : Warnings(level, result.plan)) {
    out << style.Error("warning: ") << warning << "\n";
  }
}

// What all levels were like, one line each.
void PrintOverview(const LoadResult& result, const TextStyle& style, std::ostream& out) {
  if (result.levels.size() < 2) return;
  Table table({Alignment::kLeft, Alignment::kRight, Alignment::kRight, Alignment::kRight,
               Alignment::kRight, Alignment::kRight});
  table.SetHeading({"level", "answered", "throughput", "p50", "p99", "errors"});
  for (const LevelResult& level : result.levels) {
    const auto quantile = [&](double part) {
      return FormatNs(static_cast<double>(level.recording.latency.QuantileNs(part)), style.unicode);
    };
    table.AddRow({DescribeLevel(level.level, result.plan.is_open_loop),
                  FormatCallRate(level.rate()), FormatByteRate(level.bytes_per_second()),
                  quantile(0.5), quantile(0.99),
                  FormatPercentage(level.recording.error_fraction())});
  }
  out << "\n";
  table.Print(style, out);
}

}  // namespace

void PrintReport(const LoadResult& result, const TextStyle& style, std::ostream& out) {
  out << style.Bold(result.title()) << " on " << result.target << ": gridfold "
      << result.server.version << ", " << result.server.engine;
  for (const client::Device& device : result.server.devices) out << ", " << device.name;
  out << "\n";
  PrintOverview(result, style, out);
  if (result.plan.search) {
    out << "\n"
        << style.Bold(result.found_level
                          ? absl::StrCat("highest rate within the objective: ",
                                         FormatCallRate(result.levels[*result.found_level].rate()))
                          : "no rate kept to the objective")
        << "\n";
    if (result.found_rate) out << DescribeSureness(*result.found_rate) << "\n";
  }
  for (const std::string& note : result.notes) out << style.Dim("note: ") << note << "\n";
  const std::vector<const LevelResult*> judged = result.JudgedLevels();
  for (const LevelResult* const level : judged) PrintLevel(*level, result, style, out);
}

}  // namespace gridfold::load
