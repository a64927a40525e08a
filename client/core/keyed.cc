// Groups by key of the C interface, and what is read of their results.
#include <memory>
#include <utility>

#include "client/core/conversion.h"
#include "client/core/handles.h"
#include "client/core/last_error.h"
#include "client/core/run.h"

namespace gridfold::core {

namespace {

// All but where counts and keys lie.
gridfold_groups GroupsOf(const kernels::KeyedReductionPlan& plan,
                         const kernels::KeyedReductionResult& result) {
  const bool has_bins = plan.bins && !plan.refuses_outside;
  return {.group_count = plan.bins ? plan.group_count_max : result.groups.size(),
          .counts = nullptr,
          .keys = nullptr,
          .key_kind = kernels::IsUnsigned(plan.keys.element_type) ? GRIDFOLD_VALUE_UINT64
                                                                  : GRIDFOLD_VALUE_INT64,
          .bins_count = has_bins ? result.bins.size() : 0,
          .underflow_count = result.underflow_count,
          .overflow_count = result.overflow_count,
          .nan_count = result.nan_count};
}

absl::Status ReduceByKey(gridfold_engine* engine, const gridfold_keyed_arrays* arrays,
                         const gridfold_keyed_spec* spec, gridfold_keyed** result) {
  absl::Status status = RequireArgument(engine, "engine");
  if (status.ok()) status = RequireArgument(result, "result");
  if (!status.ok()) return status;
  const auto plan = PlanOf(arrays, spec);
  if (!plan.ok()) return plan.status();
  auto reduced = Run(*engine, *plan, *arrays, spec->reduction.first_index);
  if (!reduced.ok()) return reduced.status();
  auto handle = std::make_unique<gridfold_keyed>();
  handle->groups = GroupsOf(*plan, *reduced);
  handle->bins = reduced->bins;
  for (const kernels::PlannedBins& bins : handle->bins) {
    handle->edges.push_back(kernels::EdgesOf(bins));
  }
  handle->answer = kernels::SpreadGroups(*plan, *std::move(reduced));
  handle->groups.counts = handle->answer.counts.data();
  handle->groups.keys = plan->bins ? nullptr : handle->answer.keys.data();
  *result = handle.release();
  return absl::OkStatus();
}

}  // namespace

}  // namespace gridfold::core

using namespace gridfold::core;  // NOLINT: the functions below belong to it, but for their names.

gridfold_status gridfold_reduce_by_key(gridfold_engine* engine, const gridfold_keyed_arrays* arrays,
                                       const gridfold_keyed_spec* spec, gridfold_keyed** result) {
  return Guarded([&] { return ReduceByKey(engine, arrays, spec, result); });
}

gridfold_status gridfold_keyed_groups(const gridfold_keyed* result, gridfold_groups* groups) {
  return Guarded([&] {
    absl::Status status = CheckElement(result, 0, 1, groups, "groups");
    if (status.ok()) *groups = result->groups;
    return status;
  });
}

gridfold_status gridfold_keyed_column(const gridfold_keyed* result, uint64_t i,
                                      gridfold_column* column) {
  return Guarded([&] {
    const uint64_t count = result == nullptr ? 0 : result->answer.columns.size();
    absl::Status status = CheckElement(result, i, count, column, "column");
    if (status.ok()) *column = ToC(result->answer.columns[i]);
    return status;
  });
}

gridfold_status gridfold_keyed_bins(const gridfold_keyed* result, uint64_t i, gridfold_bins* bins) {
  return Guarded([&] {
    const uint64_t count = result == nullptr ? 0 : result->groups.bins_count;
    absl::Status status = CheckElement(result, i, count, bins, "bins");
    if (status.ok()) *bins = ToC(result->bins[i], result->edges[i]);
    return status;
  });
}

void gridfold_keyed_free(gridfold_keyed* result) { delete result; }
