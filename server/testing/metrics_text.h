// Reads the text that Prometheus scrapes, by a parser that shares nothing with the library that
// writes it, and insists on the format (version 0.0.4): names and labels well-formed, a type before
// the samples, families in one piece, no series twice, histograms cumulative and complete.
#ifndef GRIDFOLD_SERVER_TESTING_METRICS_TEXT_H_
#define GRIDFOLD_SERVER_TESTING_METRICS_TEXT_H_

#include <map>
#include <set>
#include <string>

namespace gridfold::server {

struct MetricsText {
  std::map<std::string, std::string> types;  // By family.
  std::map<std::string, double> values;      // By series: name{label="value",...} as it came.
  std::map<std::string, std::set<std::string>> label_values;  // By label.

  // NaN where there is no such series.
  double Value(const std::string& series) const;
  // The series of a name, without the name.
  std::map<std::string, double> Series(const std::string& name) const;
};

// Fails the running test with the line at fault.
MetricsText ParseMetrics(const std::string& text);

}  // namespace gridfold::server

#endif  // GRIDFOLD_SERVER_TESTING_METRICS_TEXT_H_
