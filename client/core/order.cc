// Order statistics of the C interface.
#include <algorithm>

#include "absl/strings/str_cat.h"
#include "client/core/conversion.h"
#include "client/core/handles.h"
#include "client/core/last_error.h"
#include "client/core/run.h"
#include "kernels/contract/invalid_field.h"

namespace gridfold::core {

namespace {

// Whether the caller has room for the results.
absl::Status CheckRoom(const void* values, uint64_t value_count, uint64_t result_count) {
  if (value_count != result_count) {
    return kernels::InvalidField(
        "value_count", absl::StrCat(value_count, ", where there are ", result_count, " values"));
  }
  return value_count == 0 ? absl::OkStatus() : RequireArgument(values, "values");
}

absl::Status ComputeQuantiles(gridfold_engine* engine, const gridfold_array* array,
                              const gridfold_quantile_spec* spec, void* values,
                              uint64_t value_count) {
  if (absl::Status status = RequireArgument(engine, "engine"); !status.ok()) return status;
  const auto plan = PlanOf(array, spec);
  if (!plan.ok()) return plan.status();
  absl::Status status = CheckRoom(values, value_count, plan->result_slot_count());
  if (!status.ok()) return status;
  const auto result = Run(*engine, *plan, *array);
  if (!result.ok()) return result.status();
  std::copy(result->slots.begin(), result->slots.end(), static_cast<uint64_t*>(values));
  return absl::OkStatus();
}

absl::Status ComputeWeightedQuantiles(gridfold_engine* engine, const gridfold_array* array,
                                      const gridfold_array* weights,
                                      const gridfold_quantile_spec* spec, void* values,
                                      uint64_t value_count) {
  if (absl::Status status = RequireArgument(engine, "engine"); !status.ok()) return status;
  const auto plan = PlanOf(array, weights, spec);
  if (!plan.ok()) return plan.status();
  absl::Status status = CheckRoom(values, value_count, plan->elements.result_slot_count());
  if (!status.ok()) return status;
  const auto result = Run(*engine, *plan, *array, *weights);
  if (!result.ok()) return result.status();
  std::copy(result->slots.begin(), result->slots.end(), static_cast<uint64_t*>(values));
  return absl::OkStatus();
}

absl::Status SelectTop(gridfold_engine* engine, const gridfold_array* array,
                       const gridfold_top_spec* spec, void* values, uint64_t* indices,
                       uint64_t value_count) {
  if (absl::Status status = RequireArgument(engine, "engine"); !status.ok()) return status;
  const auto plan = PlanOf(array, spec);
  if (!plan.ok()) return plan.status();
  absl::Status status = CheckRoom(values, value_count, plan->result_count());
  if (status.ok() && value_count > 0) status = RequireArgument(indices, "indices");
  if (!status.ok()) return status;
  const auto result = Run(*engine, *plan, *array);
  if (!result.ok()) return result.status();
  std::copy(result->slots.begin(), result->slots.end(), static_cast<uint64_t*>(values));
  std::copy(result->indices.begin(), result->indices.end(), indices);
  return absl::OkStatus();
}

}  // namespace

}  // namespace gridfold::core

using namespace gridfold::core;  // NOLINT: the functions below belong to it, but for their names.

gridfold_status gridfold_quantiles(gridfold_engine* engine, const gridfold_array* array,
                                   const gridfold_quantile_spec* spec, void* values,
                                   uint64_t value_count) {
  return Guarded([&] { return ComputeQuantiles(engine, array, spec, values, value_count); });
}

gridfold_status gridfold_weighted_quantiles(gridfold_engine* engine, const gridfold_array* array,
                                            const gridfold_array* weights,
                                            const gridfold_quantile_spec* spec, void* values,
                                            uint64_t value_count) {
  return Guarded(
      [&] { return ComputeWeightedQuantiles(engine, array, weights, spec, values, value_count); });
}

gridfold_status gridfold_select_top(gridfold_engine* engine, const gridfold_array* array,
                                    const gridfold_top_spec* spec, void* values, uint64_t* indices,
                                    uint64_t value_count) {
  return Guarded([&] { return SelectTop(engine, array, spec, values, indices, value_count); });
}
