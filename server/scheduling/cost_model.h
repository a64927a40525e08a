// What jobs cost: how long they hold a lane, learnt from those that have succeeded.
//
// For each RPC a fixed time and a time for each byte, by least squares of the relative errors, in
// which each job's weight decays with every one that follows it. With relative errors a small job
// counts as much as a large one, and where jobs of one size differ (a histogram of ten bins, one of
// millions) the fit stays near the cheap ones. So estimates err on the low side, as they should
// where jobs are refused by them.
//
// Both calls take constant time and no memory. Not thread-safe.
#ifndef GRIDFOLD_SERVER_SCHEDULING_COST_MODEL_H_
#define GRIDFOLD_SERVER_SCHEDULING_COST_MODEL_H_

#include <array>
#include <chrono>
#include <cstdint>
#include <optional>

#include "server/base/rpc.h"
#include "server/scheduling/job.h"

namespace gridfold::server {

class CostModel {
 public:
  // A job that worked on so many bytes has succeeded, now.
  void Learn(Rpc rpc, uint64_t size_bytes, std::chrono::nanoseconds run_time,
             JobClock::time_point now);

  // None before kCostJobsMin jobs were seen, and none when the last was kCostLifetime ago: if jobs
  // were refused by an outdated estimate, nothing would ever correct it.
  std::optional<std::chrono::nanoseconds> Estimate(Rpc rpc, uint64_t size_bytes,
                                                   JobClock::time_point now) const;

 private:
  // Sums over jobs of x bytes that took y nanoseconds, with u = 1 / y and v = x / y: the fixed time
  // a and the time b of a byte make the sum of (1 - a u - b v)^2 smallest.
  struct Fit {
    uint64_t job_count = 0;
    JobClock::time_point last_learnt_at;
    double u = 0;
    double v = 0;
    double uu = 0;
    double uv = 0;
    double vv = 0;

    double Predict(double size_bytes) const;
  };

  std::array<Fit, kRpcCount> fits_;
};

}  // namespace gridfold::server

#endif  // GRIDFOLD_SERVER_SCHEDULING_COST_MODEL_H_
