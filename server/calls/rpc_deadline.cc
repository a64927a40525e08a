#include "server/calls/rpc_deadline.h"

#include <grpc/support/time.h>

#include <chrono>
#include <cstdint>

namespace gridfold::server {

JobClock::time_point DeadlineOf(const grpc::CallbackServerContext& context) {
  // Not context.deadline(): nanoseconds since 1970 overflow for deadlines after 2262, which "as
  // long as it takes" becomes in some languages.
  constexpr int64_t kFarAwaySeconds = int64_t{10} * 365 * 24 * 3600;
  const gpr_timespec deadline = context.raw_deadline();
  const gpr_timespec left = gpr_time_sub(deadline, gpr_now(deadline.clock_type));
  if (left.tv_sec >= kFarAwaySeconds) return JobClock::time_point::max();
  return JobClock::now() + std::chrono::seconds(left.tv_sec) +
         std::chrono::nanoseconds(left.tv_nsec);
}

}  // namespace gridfold::server
