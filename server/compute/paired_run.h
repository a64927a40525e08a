// Runs planned requests that relate arrays; see planned_run.h.
#ifndef GRIDFOLD_SERVER_COMPUTE_PAIRED_RUN_H_
#define GRIDFOLD_SERVER_COMPUTE_PAIRED_RUN_H_

#include <stop_token>

#include "absl/status/statusor.h"
#include "gridfold/v1/compute_service.pb.h"
#include "kernels/contract/engine.h"
#include "server/planning/paired_validation.h"

namespace gridfold::server {

absl::StatusOr<v1::RelateArraysResponse> RunPlanned(const PlannedPaired& planned,
                                                    kernels::Lane& lane, std::stop_token stop,
                                                    kernels::RunStatistics& statistics);

}  // namespace gridfold::server

#endif  // GRIDFOLD_SERVER_COMPUTE_PAIRED_RUN_H_
