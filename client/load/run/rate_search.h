// Finds the highest rate that keeps to an objective.
#ifndef GRIDFOLD_CLIENT_LOAD_RUN_RATE_SEARCH_H_
#define GRIDFOLD_CLIENT_LOAD_RUN_RATE_SEARCH_H_

#include <optional>

namespace gridfold::load {

// Doubles the rate until one is too much, or halves it until one is not, then cuts what is left in
// half, geometrically, until the ends are within 5 % of one another. Not thread-safe.
//
//   RateSearch search(100);
//   while (std::optional<double> rate = search.NextRate()) search.Report(KeepsTo(*rate));
//   search.best_rate();
class RateSearch {
 public:
  explicit RateSearch(double first_rate) : next_rate_(first_rate) {}

  // The rate to try; nothing where the search is over.
  std::optional<double> NextRate() const;

  // Whether the last NextRate kept to the objective.
  void Report(bool is_kept);

  // The highest rate that did.
  std::optional<double> best_rate() const { return kept_rate_; }

 private:
  double next_rate_;
  std::optional<double> kept_rate_;
  std::optional<double> broken_rate_;
};

}  // namespace gridfold::load

#endif  // GRIDFOLD_CLIENT_LOAD_RUN_RATE_SEARCH_H_
