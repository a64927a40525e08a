// The deadline of a call, on the scheduler's clock. Thread-safe.
#ifndef GRIDFOLD_SERVER_CALLS_RPC_DEADLINE_H_
#define GRIDFOLD_SERVER_CALLS_RPC_DEADLINE_H_

#include <grpcpp/grpcpp.h>

#include "server/base/job_clock.h"

namespace gridfold::server {

// The caller's deadline on the clock of jobs; the largest time point for none, or one so far away
// that clocks could not hold it.
JobClock::time_point DeadlineOf(const grpc::CallbackServerContext& context);

}  // namespace gridfold::server

#endif  // GRIDFOLD_SERVER_CALLS_RPC_DEADLINE_H_
