// What an answer tells of its execution.
#ifndef GRIDFOLD_SERVER_CALLS_EXECUTION_H_
#define GRIDFOLD_SERVER_CALLS_EXECUTION_H_

#include <string>

#include "gridfold/v1/compute_service.pb.h"
#include "server/calls/call_report.h"

namespace gridfold::server {

// Tells of a call whose job has run, and whose answer is made now.
void FillExecution(const CallReport& report, const std::string& engine,
                   v1::ExecutionStatistics& execution);

}  // namespace gridfold::server

#endif  // GRIDFOLD_SERVER_CALLS_EXECUTION_H_
