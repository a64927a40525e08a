#include "server/compute/paired_run.h"

#include <utility>

#include "server/compute/planned_run.h"
#include "server/wire/answer_conversion.h"

namespace gridfold::server {

absl::StatusOr<v1::RelateArraysResponse> RunPlanned(const PlannedPaired& planned,
                                                    kernels::Lane& lane, std::stop_token stop,
                                                    kernels::RunStatistics& statistics) {
  const absl::StatusOr<kernels::PairedSums> sums =
      lane.RunPaired(planned.plan, planned.input, std::move(stop), statistics);
  for (const RegionLease& region : planned.regions) {
    if (absl::Status status = EndUse(region); !status.ok()) return status;
  }
  if (!sums.ok()) return sums.status();
  const absl::StatusOr<kernels::PairedResult> result =
      kernels::MakePairedResult(planned.plan, *sums);
  if (!result.ok()) return result.status();
  v1::RelateArraysResponse response;
  FillResponse(planned.plan, *result, response);
  return response;
}

}  // namespace gridfold::server
