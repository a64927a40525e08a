// Groups by key of the C interface, and what is read of their results.
#include <memory>
#include <utility>

#include "absl/strings/str_cat.h"
#include "client/core/conversion.h"
#include "client/core/handles.h"
#include "client/core/last_error.h"
#include "client/core/run.h"
#include "kernels/contract/invalid_field.h"
#include "kernels/numerics/bins/axes.h"

namespace gridfold::core {

namespace {

// All but where counts and keys lie.
gridfold_groups GroupsOf(const kernels::KeyedReductionPlan& plan,
                         const kernels::KeyedReductionResult& result) {
  const bool has_bins = plan.has_bins() && !plan.refuses_outside;
  return {.group_count = plan.has_bins() ? plan.group_count_max : result.groups.size(),
          .counts = nullptr,
          .keys = nullptr,
          .key_kind = kernels::IsUnsigned(plan.keys.element_type) ? GRIDFOLD_VALUE_UINT64
                                                                  : GRIDFOLD_VALUE_INT64,
          .bins_count = has_bins ? result.bins.size() : 0,
          .underflow_count = result.underflow_count,
          .overflow_count = result.overflow_count,
          .nan_count = result.nan_count};
}

absl::StatusOr<KeyedArrays> ArraysOf(const gridfold_keyed_arrays* arrays) {
  if (absl::Status status = RequireArgument(arrays, "arrays"); !status.ok()) return status;
  KeyedArrays named{.keys = {{arrays->keys, "arrays.keys"}},
                    .values = {arrays->values, "arrays.values"}};
  if (arrays->y_keys != nullptr) named.keys.push_back({arrays->y_keys, "arrays.y_keys"});
  return named;
}

absl::StatusOr<KeyedArrays> ArraysOf(const gridfold_array* const* coordinates, uint64_t count,
                                     const gridfold_array* values,
                                     const gridfold_keyed_spec* spec) {
  absl::Status status = RequireArgument(coordinates, "coordinates");
  if (status.ok()) status = RequireArgument(spec, "spec");
  if (!status.ok()) return status;
  if (count == 0 || count > kernels::kBinAxesMax) {
    return kernels::InvalidField("coordinate_count",
                                 absl::StrCat("must be 1 to ", kernels::kBinAxesMax));
  }
  if (spec->groups != GRIDFOLD_KEY_BINS && count > 1) {
    return kernels::InvalidField("groups", "must be GRIDFOLD_KEY_BINS");
  }
  KeyedArrays named{.keys = {}, .values = {values, "values"}};
  for (uint64_t i = 0; i < count; ++i) {
    named.keys.push_back({coordinates[i], absl::StrCat("coordinates[", i, "]")});
  }
  return named;
}

absl::Status ReduceByKey(gridfold_engine* engine, const absl::StatusOr<KeyedArrays>& arrays,
                         const gridfold_keyed_spec* spec, const KeyedQuantiles& quantiles,
                         gridfold_keyed** result) {
  absl::Status status = RequireArgument(engine, "engine");
  if (status.ok()) status = RequireArgument(result, "result");
  if (status.ok()) status = arrays.status();
  if (!status.ok()) return status;
  const auto plan = PlanOf(*arrays, spec, quantiles);
  if (!plan.ok()) return plan.status();
  auto reduced = Run(*engine, *plan, *arrays, spec->reduction.first_index);
  if (!reduced.ok()) return reduced.status();
  auto handle = std::make_unique<gridfold_keyed>();
  handle->groups = GroupsOf(*plan, *reduced);
  handle->bins = reduced->bins;
  for (const kernels::PlannedBins& bins : handle->bins) {
    handle->edges.push_back(kernels::EdgesOf(bins));
  }
  for (size_t i = 0; i < plan->quantiles.targets.size(); ++i) {
    handle->quantile_kinds.push_back(kernels::KindOfTarget(plan->quantiles, i));
  }
  handle->answer = kernels::SpreadGroups(*plan, *std::move(reduced));
  handle->groups.counts = handle->answer.counts.data();
  handle->groups.keys = plan->has_bins() ? nullptr : handle->answer.keys.data();
  *result = handle.release();
  return absl::OkStatus();
}

}  // namespace

}  // namespace gridfold::core

using namespace gridfold::core;  // NOLINT: the functions below belong to it, but for their names.

gridfold_status gridfold_reduce_by_key(gridfold_engine* engine, const gridfold_keyed_arrays* arrays,
                                       const gridfold_keyed_spec* spec, gridfold_keyed** result) {
  return Guarded([&] { return ReduceByKey(engine, ArraysOf(arrays), spec, {}, result); });
}

gridfold_status gridfold_reduce_by_bins(gridfold_engine* engine,
                                        const gridfold_array* const* coordinates,
                                        uint64_t coordinate_count, const gridfold_array* values,
                                        const gridfold_keyed_spec* spec, gridfold_keyed** result) {
  return Guarded([&] {
    absl::StatusOr<KeyedArrays> arrays = ArraysOf(coordinates, coordinate_count, values, spec);
    if (arrays.ok() && spec->groups != GRIDFOLD_KEY_BINS) {
      arrays = gridfold::kernels::InvalidField("groups", "must be GRIDFOLD_KEY_BINS");
    }
    return ReduceByKey(engine, arrays, spec, {}, result);
  });
}

gridfold_status gridfold_quantiles_by_key(gridfold_engine* engine,
                                          const gridfold_array* const* coordinates,
                                          uint64_t coordinate_count, const gridfold_array* values,
                                          const gridfold_keyed_spec* spec, const double* quantiles,
                                          uint64_t quantile_count, gridfold_quantile_method method,
                                          gridfold_keyed** result) {
  return Guarded([&] {
    return ReduceByKey(engine, ArraysOf(coordinates, coordinate_count, values, spec), spec,
                       {quantiles, quantile_count, method}, result);
  });
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

gridfold_status gridfold_keyed_quantile(const gridfold_keyed* result, uint64_t i,
                                        gridfold_column* column) {
  return Guarded([&] {
    const uint64_t count = result == nullptr ? 0 : result->answer.quantiles.size();
    absl::Status status = CheckElement(result, i, count, column, "column");
    if (status.ok()) *column = ToC(result->answer.quantiles[i], result->quantile_kinds[i]);
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
