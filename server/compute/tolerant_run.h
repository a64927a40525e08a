// Runs reductions in which groups may lack values (kernels/contract/tolerant_reduction.h), or not
// all elements count. Only for planned_run.cc, which says the rest.
#ifndef GRIDFOLD_SERVER_COMPUTE_TOLERANT_RUN_H_
#define GRIDFOLD_SERVER_COMPUTE_TOLERANT_RUN_H_

#include <stop_token>

#include "absl/status/statusor.h"
#include "gridfold/v1/compute_service.pb.h"
#include "kernels/contract/engine.h"
#include "server/planning/request_validation.h"

namespace gridfold::server {

// Requires planned.tolerant or planned.selection.
absl::StatusOr<v1::ReduceArrayResponse> RunTolerantly(const PlannedReduction& planned,
                                                      kernels::Lane& lane,
                                                      const std::stop_token& stop,
                                                      kernels::RunStatistics& statistics);

}  // namespace gridfold::server

#endif  // GRIDFOLD_SERVER_COMPUTE_TOLERANT_RUN_H_
