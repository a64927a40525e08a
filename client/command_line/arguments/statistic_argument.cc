#include "client/command_line/arguments/statistic_argument.h"

#include <map>
#include <optional>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "client/command_line/arguments/suggestion.h"
#include "client/command_line/exit_code.h"

namespace gridfold::client {
namespace {

std::vector<std::string> StatisticNames() {
  std::vector<std::string> names;
  for (const Statistic statistic : AllStatistics()) names.emplace_back(StatisticName(statistic));
  return names;
}

std::optional<Statistic> ParseAnyName(const std::string& name) {
  static const auto* const aliases = new std::map<std::string, Statistic>{
      {"average", Statistic::kMean},          {"avg", Statistic::kMean},
      {"maximum", Statistic::kMax},           {"minimum", Statistic::kMin},
      {"prod", Statistic::kProduct},          {"ptp", Statistic::kRange},
      {"rms", Statistic::kRootMeanSquare},    {"sem", Statistic::kStandardError},
      {"std", Statistic::kStandardDeviation}, {"stddev", Statistic::kStandardDeviation},
      {"var", Statistic::kVariance},
  };
  if (const auto alias = aliases->find(name); alias != aliases->end()) return alias->second;
  return ParseStatistic(name);
}

}  // namespace

std::string DescribeStatisticNames() {
  return absl::StrCat(absl::StrJoin(StatisticNames(), ", "),
                      " (std, var, avg, prod, ptp, rms and sem are taken too)");
}

absl::StatusOr<std::vector<Statistic>> ParseStatistics(absl::string_view flag,
                                                       const std::vector<std::string>& names) {
  std::vector<Statistic> statistics;
  for (const std::string& name : names) {
    const std::optional<Statistic> statistic = ParseAnyName(name);
    if (!statistic) {
      return WithExitCode(
          absl::InvalidArgumentError(absl::StrCat(flag, ": ", NoneOf(name, StatisticNames()))),
          ExitCode::kUsage);
    }
    statistics.push_back(*statistic);
  }
  return statistics;
}

}  // namespace gridfold::client
