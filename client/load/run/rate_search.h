// Finds the highest rate that keeps to an objective.
#ifndef GRIDFOLD_CLIENT_LOAD_RUN_RATE_SEARCH_H_
#define GRIDFOLD_CLIENT_LOAD_RUN_RATE_SEARCH_H_

#include <map>
#include <optional>
#include <utility>

namespace gridfold::load {

// Of a rate: how many runs at it kept to the objective, and how many did not.
struct RateRuns {
  int kept = 0;
  int broken = 0;

  int count() const { return kept + broken; }
};

// What a search has come to, and how sure it is.
struct FoundRate {
  double rate;    // The highest that kept to the objective, by most of its runs.
  RateRuns runs;  // At that rate.
  // The next higher one that was tried, by whose runs the search ended; none where it ended for
  // another reason.
  std::optional<double> next_rate;
  RateRuns next_runs;
  // The lowest and the highest rate of those that contradict: a rate that broke the objective while
  // the same or a higher one kept to it. None where no run contradicts another.
  std::optional<std::pair<double, double>> doubtful;
};

// Doubles the rate until one is too much, or halves it until one is not, then cuts what is left in
// half, geometrically, until the ends are within 5 % of one another. One run of a noisy machine has
// no last word: either end is run again until two of its runs agree, and the search goes on where
// they say something else than the first. Not thread-safe.
//
//   RateSearch search(100);
//   while (std::optional<double> rate = search.NextRate()) search.Report(KeepsTo(*rate));
//   search.found();
class RateSearch {
 public:
  explicit RateSearch(double first_rate) : first_rate_(first_rate) {}

  // The rate to try; nothing where the search is over.
  std::optional<double> NextRate() const;

  // Whether the last NextRate kept to the objective.
  void Report(bool is_kept);

  // The highest rate that did; nothing where none did.
  std::optional<FoundRate> found() const;

 private:
  using Runs = std::map<double, RateRuns>;

  // The lowest rate that did not keep to the objective, by most of its runs; the end where none.
  Runs::const_iterator Broken() const;
  // The highest below that which did.
  Runs::const_iterator Kept() const;
  std::optional<std::pair<double, double>> Doubtful() const;

  const double first_rate_;
  Runs runs_;  // By rate.
};

}  // namespace gridfold::load

#endif  // GRIDFOLD_CLIENT_LOAD_RUN_RATE_SEARCH_H_
