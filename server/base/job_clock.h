// The clock of jobs, deadlines, quotas and lifetimes.
#ifndef GRIDFOLD_SERVER_BASE_JOB_CLOCK_H_
#define GRIDFOLD_SERVER_BASE_JOB_CLOCK_H_

#include <chrono>

namespace gridfold::server {

using JobClock = std::chrono::steady_clock;

}  // namespace gridfold::server

#endif  // GRIDFOLD_SERVER_BASE_JOB_CLOCK_H_
