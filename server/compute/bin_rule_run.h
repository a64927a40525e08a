// Finds on a lane how many bins a rule makes, before the histogram runs.
//
// Blocks until the number is there. Thread-safe for different lanes.
#ifndef GRIDFOLD_SERVER_COMPUTE_BIN_RULE_RUN_H_
#define GRIDFOLD_SERVER_COMPUTE_BIN_RULE_RUN_H_

#include <stop_token>

#include "absl/status/status.h"
#include "kernels/contract/engine.h"
#include "kernels/contract/histogram.h"
#include "server/planning/request_validation.h"

namespace gridfold::server {

// Makes the plan's only bins as many as planned.rule says, and completes it; requires an outline
// with the most bins that there may be, of samples in one channel. Adds what it ran to
// `statistics`. Errors: those of kernels::Lane; those of ArrayStore where there is no room;
// INVALID_ARGUMENT that names the rule, where it makes more bins than that, or where not all
// samples are finite between which the range is to be found.
absl::Status ApplyRule(const PlannedHistogram& planned, const kernels::InputSpan& samples,
                       kernels::Lane& lane, const std::stop_token& stop,
                       kernels::HistogramPlan& plan, kernels::RunStatistics& statistics);

}  // namespace gridfold::server

#endif  // GRIDFOLD_SERVER_COMPUTE_BIN_RULE_RUN_H_
