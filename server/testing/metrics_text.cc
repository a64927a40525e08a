#include "server/testing/metrics_text.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <regex>
#include <sstream>
#include <utility>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/numbers.h"

namespace gridfold::server {

namespace {

// The buckets of one histogram, in the order of the text.
struct Buckets {
  std::vector<double> bounds;
  std::vector<double> counts;
};

class MetricsParser {
 public:
  MetricsText Parse(const std::string& text) {
    EXPECT_TRUE(absl::EndsWith(text, "\n"));
    std::istringstream lines(text);
    for (std::string line; std::getline(lines, line);) {
      SCOPED_TRACE(line);
      if (absl::StartsWith(line, "#")) {
        ParseComment(line);
      } else {
        ParseSample(line);
      }
    }
    CheckHistograms();
    return std::move(result_);
  }

 private:
  void ParseComment(const std::string& line) {
    static const std::regex kComment("# (HELP|TYPE) ([a-zA-Z_:][a-zA-Z0-9_:]*) (.+)");
    std::smatch match;
    ASSERT_TRUE(std::regex_match(line, match, kComment));
    if (match[1] == "HELP") return;
    const std::string type = match[3];
    EXPECT_TRUE(type == "counter" || type == "gauge" || type == "histogram" || type == "summary");
    EXPECT_TRUE(result_.types.emplace(match[2], type).second) << "a family in two pieces";
    family_ = match[2];
  }

  void ParseSample(const std::string& line) {
    static const std::regex kSample("([a-zA-Z_:][a-zA-Z0-9_:]*)(\\{.*\\})? (\\S+)");
    std::smatch match;
    ASSERT_TRUE(std::regex_match(line, match, kSample));
    const std::string name = match[1];
    const std::string labels = match[2];
    double value = 0;
    ASSERT_TRUE(absl::SimpleAtod(match[3].str(), &value));
    CheckName(name);
    const std::string bound = ParseLabels(labels);
    EXPECT_TRUE(result_.values.emplace(name + labels, value).second) << "a series twice";
    if (absl::EndsWith(name, "_bucket") && result_.types[family_] == "histogram") {
      AddBucket(name, labels, bound, value);
    }
  }

  // The sample belongs to the family whose type came last.
  void CheckName(const std::string& name) {
    const std::string type = result_.types[family_];
    const bool has_parts = type == "histogram" || type == "summary";
    EXPECT_TRUE(name == family_ ||
                (has_parts && (name == family_ + "_sum" || name == family_ + "_count" ||
                               name == family_ + "_bucket")));
    EXPECT_TRUE(type != "counter" || absl::EndsWith(name, "_total"));
  }

  // Returns the label `le`, if there is one.
  std::string ParseLabels(std::string labels) {
    static const std::regex kLabel(
        "([a-zA-Z_][a-zA-Z0-9_]*)=\"((?:[^\"\\\\]|\\\\[\\\\n\"])*)\"(,|$)");
    std::string bound;
    if (labels.empty()) return bound;
    labels = labels.substr(1, labels.size() - 2);
    for (std::smatch match; !labels.empty(); labels = match.suffix()) {
      const bool is_label =
          std::regex_search(labels, match, kLabel, std::regex_constants::match_continuous);
      EXPECT_TRUE(is_label) << labels;
      if (!is_label) break;
      if (match[1] == "le") {
        bound = match[2];
      } else {
        result_.label_values[match[1]].insert(match[2]);
      }
    }
    return bound;
  }

  void AddBucket(const std::string& name, const std::string& labels, const std::string& bound,
                 double count) {
    double number = 0;
    EXPECT_TRUE(absl::SimpleAtod(bound, &number));
    static const std::regex kBound(",?le=\"[^\"]*\"");
    std::string others = std::regex_replace(labels, kBound, "");
    if (others == "{}") others = "";
    Buckets& buckets =
        histograms_[name.substr(0, name.size() - std::string("_bucket").size())][others];
    buckets.bounds.push_back(number);
    buckets.counts.push_back(count);
  }

  void CheckHistograms() {
    for (const auto& [name, by_labels] : histograms_) {
      for (const auto& [labels, buckets] : by_labels) {
        SCOPED_TRACE(name + labels);
        for (size_t i = 1; i < buckets.bounds.size(); ++i) {
          EXPECT_GT(buckets.bounds[i], buckets.bounds[i - 1]);
          EXPECT_GE(buckets.counts[i], buckets.counts[i - 1]);
        }
        EXPECT_EQ(buckets.bounds.back(), std::numeric_limits<double>::infinity());
        EXPECT_EQ(buckets.counts.back(), result_.Value(name + "_count" + labels));
        EXPECT_GE(result_.Value(name + "_sum" + labels), 0);
      }
    }
  }

  MetricsText result_;
  std::string family_;
  // By name, then by the labels but for the bound.
  std::map<std::string, std::map<std::string, Buckets>> histograms_;
};

}  // namespace

double MetricsText::Value(const std::string& series) const {
  const auto found = values.find(series);
  return found == values.end() ? std::nan("") : found->second;
}

std::map<std::string, double> MetricsText::Series(const std::string& name) const {
  std::map<std::string, double> series;
  for (const auto& [key, value] : values) {
    if (absl::StartsWith(key, name + "{")) series.emplace(key.substr(name.size()), value);
  }
  return series;
}

MetricsText ParseMetrics(const std::string& text) { return MetricsParser().Parse(text); }

}  // namespace gridfold::server
