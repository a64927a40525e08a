// What the benchmark found, as a table and as JSON.
#ifndef GRIDFOLD_CLIENT_TRANSPORT_BENCHMARK_REPORT_H_
#define GRIDFOLD_CLIENT_TRANSPORT_BENCHMARK_REPORT_H_

#include <string>
#include <vector>

namespace gridfold::transport_benchmark {

struct Row {
  std::string what{};
  double value = 0;
  std::string unit{};
  double ceiling = 0;  // In the same unit; 0: there is none, and the goal is for the value.
  // How the goal compares: a ratio to the ceiling that is to be reached, or a
  // value not to be passed or to be reached. 0: no goal.
  double goal_at_least = 0;
  double goal_at_most = 0;
  std::string note{};

  double judged() const { return ceiling > 0 ? value / ceiling : value; }
  bool has_goal() const { return goal_at_least > 0 || goal_at_most > 0; }
  bool met() const {
    return goal_at_least > 0 ? judged() >= goal_at_least : judged() <= goal_at_most;
  }
};

// Prints a row when it is known, and keeps it.
class Report {
 public:
  void Add(Row row);

  // Errors end the program's work on this file only.
  bool WriteJson(const std::string& path) const;

 private:
  std::vector<Row> rows_;
};

}  // namespace gridfold::transport_benchmark

#endif  // GRIDFOLD_CLIENT_TRANSPORT_BENCHMARK_REPORT_H_
