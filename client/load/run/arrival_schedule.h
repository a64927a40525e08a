// When calls are due in an open loop, whatever the answers take.
#ifndef GRIDFOLD_CLIENT_LOAD_RUN_ARRIVAL_SCHEDULE_H_
#define GRIDFOLD_CLIENT_LOAD_RUN_ARRIVAL_SCHEDULE_H_

#include <cstdint>
#include <random>

#include "client/load/run/load_level.h"

namespace gridfold::load {

enum class Arrivals {
  kConstant,  // Evenly spaced.
  kPoisson,   // Independent of one another, as those of many callers are.
};

// The arrivals of one of `sender_count` senders that together keep to a profile of calls a second.
// Poisson arrivals are those of independent processes, which add up to one; constant arrivals
// interleave. Not thread-safe.
class ArrivalSchedule {
 public:
  ArrivalSchedule(const LoadProfile& profile, Arrivals arrivals, int sender, int sender_count,
                  uint64_t seed);

  // The time of the next arrival since the run's start, in nanoseconds. Never decreases.
  int64_t NextNs();

 private:
  const LoadProfile profile_;
  const Arrivals arrivals_;
  const double sender_count_;
  double due_;  // Calls of all senders together that are due by the next arrival.
  std::mt19937_64 random_;
  std::exponential_distribution<double> gap_;
};

}  // namespace gridfold::load

#endif  // GRIDFOLD_CLIENT_LOAD_RUN_ARRIVAL_SCHEDULE_H_
