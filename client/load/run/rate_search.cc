#include "client/load/run/rate_search.h"

#include <algorithm>
#include <cmath>

namespace gridfold::load {
namespace {

constexpr double kPrecision = 1.05;
// Beyond these nothing is searched for.
constexpr double kRateMin = 0.1;
constexpr double kRateMax = 1e7;
// Runs of a rate that must agree before a search ends by it.
constexpr int kAgreeingRuns = 2;
// Ends a search on a machine so noisy that runs never agree.
constexpr int kRunsMax = 100;

bool IsUndecided(const RateRuns& runs) { return runs.kept == runs.broken; }
bool IsSure(const RateRuns& runs) { return std::max(runs.kept, runs.broken) >= kAgreeingRuns; }

}  // namespace

RateSearch::Runs::const_iterator RateSearch::Broken() const {
  return std::find_if(runs_.begin(), runs_.end(),
                      [](const auto& entry) { return entry.second.broken >= entry.second.kept; });
}

RateSearch::Runs::const_iterator RateSearch::Kept() const {
  // Below the lowest that broke, all kept.
  const auto broken = Broken();
  return broken == runs_.begin() ? runs_.end() : std::prev(broken);
}

std::optional<double> RateSearch::NextRate() const {
  if (runs_.empty()) return first_rate_;
  int run_count = 0;
  for (const auto& [rate, runs] : runs_) run_count += runs.count();
  if (run_count >= kRunsMax) return std::nullopt;
  const auto broken = Broken();
  if (broken != runs_.end() && IsUndecided(broken->second)) return broken->first;
  const auto kept = Kept();
  double next = 0;
  if (broken == runs_.end()) {
    next = kept->first * 2;
  } else if (kept == runs_.end()) {
    next = broken->first / 2;
  } else if (broken->first > kept->first * kPrecision) {
    next = std::sqrt(kept->first * broken->first);
  }
  if (kRateMin <= next && next <= kRateMax) return next;
  // Nothing is left to try but what the search would end by.
  if (broken != runs_.end() && !IsSure(broken->second)) return broken->first;
  if (kept != runs_.end() && !IsSure(kept->second)) return kept->first;
  return std::nullopt;
}

void RateSearch::Report(bool is_kept) {
  RateRuns& runs = runs_[*NextRate()];
  ++(is_kept ? runs.kept : runs.broken);
}

std::optional<FoundRate> RateSearch::found() const {
  const auto kept = Kept();
  if (kept == runs_.end()) return std::nullopt;
  FoundRate found{.rate = kept->first,
                  .runs = kept->second,
                  .next_rate = std::nullopt,
                  .next_runs = {},
                  .doubtful = Doubtful()};
  if (const auto next = std::next(kept); next != runs_.end()) {
    found.next_rate = next->first;
    found.next_runs = next->second;
  }
  return found;
}

std::optional<std::pair<double, double>> RateSearch::Doubtful() const {
  std::optional<double> lowest_broken;
  std::optional<double> highest_kept;
  for (const auto& [rate, runs] : runs_) {
    if (runs.broken > 0 && !lowest_broken) lowest_broken = rate;
    if (runs.kept > 0) highest_kept = rate;
  }
  if (!lowest_broken || !highest_kept || *lowest_broken > *highest_kept) return std::nullopt;
  return std::pair(*lowest_broken, *highest_kept);
}

}  // namespace gridfold::load
