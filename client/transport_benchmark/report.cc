#include "client/transport_benchmark/report.h"

#include <cstdio>
#include <fstream>
#include <nlohmann/json.hpp>
#include <utility>

namespace gridfold::transport_benchmark {

void Report::Add(Row row) {
  if (rows_.empty()) {
    std::printf("%-52s %14s %-10s %12s %7s %9s  %s\n", "what", "value", "", "ceiling", "ratio",
                "goal", "note");
  }
  std::printf("%-52s %14.2f %-10s ", row.what.c_str(), row.value, row.unit.c_str());
  if (row.ceiling > 0) {
    std::printf("%12.2f %7.3f ", row.ceiling, row.judged());
  } else {
    std::printf("%12s %7s ", "", "");
  }
  if (row.has_goal()) {
    const bool is_floor = row.goal_at_least > 0;
    std::printf("%s %-8g %s",
                is_floor ? ">=" : "<=", is_floor ? row.goal_at_least : row.goal_at_most,
                row.met() ? "" : "MISSED ");
  } else {
    std::printf("%9s  ", "");
  }
  std::printf("%s\n", row.note.c_str());
  std::fflush(stdout);
  rows_.push_back(std::move(row));
}

bool Report::WriteJson(const std::string& path) const {
  nlohmann::json rows = nlohmann::json::array();
  for (const Row& row : rows_) {
    nlohmann::json entry = {{"what", row.what}, {"value", row.value}, {"unit", row.unit}};
    if (row.ceiling > 0) {
      entry["ceiling"] = row.ceiling;
      entry["ratio"] = row.judged();
    }
    if (row.has_goal()) {
      entry[row.goal_at_least > 0 ? "goal_at_least" : "goal_at_most"] =
          row.goal_at_least > 0 ? row.goal_at_least : row.goal_at_most;
      entry["met"] = row.met();
    }
    if (!row.note.empty()) entry["note"] = row.note;
    rows.push_back(std::move(entry));
  }
  std::ofstream file(path);
  file << rows.dump(2) << "\n";
  return file.good();
}

}  // namespace gridfold::transport_benchmark
