#include "server/planned_run.h"

#include <cstddef>
#include <string>
#include <utility>

#include "server/proto_conversion.h"

namespace gridfold::server {

absl::StatusOr<v1::ReduceArrayResponse> RunPlanned(const PlannedReduction& planned,
                                                   kernels::Lane& lane, std::stop_token stop,
                                                   kernels::RunStatistics& statistics) {
  const absl::StatusOr<kernels::ReductionResult> result =
      lane.RunReduction(planned.plan, planned.input, std::move(stop), statistics);
  if (!result.ok()) return result.status();
  v1::ReduceArrayResponse response;
  FillResponse(planned.plan, *result, response);
  return response;
}

absl::StatusOr<v1::ScanArrayResponse> RunPlanned(const PlannedScan& planned, kernels::Lane& lane,
                                                 std::stop_token stop,
                                                 kernels::RunStatistics& statistics) {
  v1::ScanArrayResponse response;
  v1::InlineArray& array = *response.mutable_inline_array();
  array.set_element_type(ToWire(planned.plan.output_type));
  if (planned.plan.array.is_matrix) {
    array.add_shape(planned.plan.array.rows);
    array.add_shape(planned.plan.array.columns);
  } else {
    array.add_shape(planned.plan.array.element_count);
  }
  // The engine writes where the message keeps its bytes, which saves a copy.
  std::string& data = *array.mutable_data();
  data.resize(planned.plan.output_size_bytes());
  const kernels::MutableHostSpan output{reinterpret_cast<std::byte*>(data.data()), data.size()};
  if (absl::Status status =
          lane.RunScan(planned.plan, planned.input, output, std::move(stop), statistics);
      !status.ok()) {
    return status;
  }
  return response;
}

absl::StatusOr<v1::ComputeHistogramResponse> RunPlanned(const PlannedHistogram& planned,
                                                        kernels::Lane& lane, std::stop_token stop,
                                                        kernels::RunStatistics& statistics) {
  const absl::StatusOr<kernels::HistogramResult> result =
      lane.RunHistogram(planned.plan, planned.input, std::move(stop), statistics);
  if (!result.ok()) return result.status();
  v1::ComputeHistogramResponse response;
  FillResponse(*result, response);
  return response;
}

}  // namespace gridfold::server
