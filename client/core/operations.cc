// Reductions, scans and histograms of the C interface, and what is read of their results.
#include <utility>

#include "absl/strings/str_cat.h"
#include "client/core/conversion.h"
#include "client/core/handles.h"
#include "client/core/last_error.h"
#include "client/core/run.h"
#include "kernels/contract/invalid_field.h"

namespace gridfold::core {

namespace {

// Null arguments, by the names that the header gives them.
absl::Status CheckArguments(const void* engine, const void* result) {
  if (absl::Status status = RequireArgument(engine, "engine"); !status.ok()) return status;
  return RequireArgument(result, "result");
}

absl::Status Reduce(gridfold_engine* engine, const gridfold_array* array,
                    const gridfold_reduction_spec* spec, gridfold_reduction** result) {
  if (absl::Status status = CheckArguments(engine, result); !status.ok()) return status;
  const auto plan = PlanOf(array, spec, /*return_states=*/false);
  if (!plan.ok()) return plan.status();
  auto reduced = Run(*engine, *plan, *array, spec->first_index);
  if (!reduced.ok()) return reduced.status();
  *result = new gridfold_reduction{*std::move(reduced)};
  return absl::OkStatus();
}

absl::Status Scan(gridfold_engine* engine, const gridfold_array* array,
                  const gridfold_scan_spec* spec, void* output, uint64_t output_bytes) {
  if (absl::Status status = RequireArgument(engine, "engine"); !status.ok()) return status;
  const auto plan = PlanOf(array, spec);
  if (!plan.ok()) return plan.status();
  if (output_bytes != plan->output_size_bytes()) {
    return kernels::InvalidField(
        "output_bytes",
        absl::StrCat(output_bytes, ", where the results take ", plan->output_size_bytes()));
  }
  if (output_bytes > 0) {
    if (absl::Status status = RequireArgument(output, "output"); !status.ok()) return status;
  }
  return Run(*engine, *plan, *array, {static_cast<std::byte*>(output), output_bytes});
}

absl::Status Count(gridfold_engine* engine, const gridfold_samples* samples,
                   const gridfold_histogram_spec* spec, gridfold_histogram** result) {
  if (absl::Status status = CheckArguments(engine, result); !status.ok()) return status;
  const auto plan = PlanOf(samples, spec, /*return_states=*/false);
  if (!plan.ok()) return plan.status();
  auto counted = Run(*engine, *plan, *samples);
  if (!counted.ok()) return counted.status();
  *result = NewHistogram(*std::move(counted), plan->weight_type.has_value(), plan->sparse);
  return absl::OkStatus();
}

gridfold_channel ToC(const gridfold_histogram& histogram, const kernels::HistogramCounts& counts) {
  return {.counts = histogram.weighted ? nullptr : counts.counts.data(),
          .weight_sums = histogram.weighted ? counts.weight_sums.data() : nullptr,
          .value_count = histogram.weighted ? counts.weight_sums.size() : counts.counts.size(),
          .bin_indices = histogram.sparse ? counts.bin_indices.data() : nullptr,
          .underflow_count = counts.underflow_count,
          .overflow_count = counts.overflow_count,
          .nan_count = counts.nan_count,
          .quantiles = counts.quantile_values.data(),
          .quantile_count = counts.quantile_values.size()};
}

}  // namespace

}  // namespace gridfold::core

using namespace gridfold::core;  // NOLINT: the functions below belong to it, but for their names.

gridfold_status gridfold_reduce(gridfold_engine* engine, const gridfold_array* array,
                                const gridfold_reduction_spec* spec, gridfold_reduction** result) {
  return Guarded([&] { return Reduce(engine, array, spec, result); });
}

gridfold_status gridfold_reduction_column_count(const gridfold_reduction* result,
                                                uint64_t* column_count) {
  return Guarded([&] {
    absl::Status status = CheckElement(result, 0, 1, column_count, "column_count");
    if (status.ok()) *column_count = result->result.columns.size();
    return status;
  });
}

gridfold_status gridfold_reduction_column(const gridfold_reduction* result, uint64_t i,
                                          gridfold_column* column) {
  return Guarded([&] {
    const uint64_t count = result == nullptr ? 0 : result->result.columns.size();
    absl::Status status = CheckElement(result, i, count, column, "column");
    if (!status.ok()) return status;
    *column = ToC(result->result.columns[i]);
    return status;
  });
}

void gridfold_reduction_free(gridfold_reduction* result) { delete result; }

gridfold_status gridfold_scan_type(const gridfold_array* array, const gridfold_scan_spec* spec,
                                   gridfold_element_type* type) {
  return Guarded([&]() -> absl::Status {
    if (absl::Status status = RequireArgument(type, "type"); !status.ok()) return status;
    const auto plan = PlanOf(array, spec);
    if (!plan.ok()) return plan.status();
    *type = ToC(plan->output_type);
    return absl::OkStatus();
  });
}

gridfold_status gridfold_scan(gridfold_engine* engine, const gridfold_array* array,
                              const gridfold_scan_spec* spec, void* output, uint64_t output_bytes) {
  return Guarded([&] { return Scan(engine, array, spec, output, output_bytes); });
}

gridfold_status gridfold_count(gridfold_engine* engine, const gridfold_samples* samples,
                               const gridfold_histogram_spec* spec, gridfold_histogram** result) {
  return Guarded([&] { return Count(engine, samples, spec, result); });
}

gridfold_status gridfold_histogram_channel_count(const gridfold_histogram* result,
                                                 uint64_t* channel_count) {
  return Guarded([&] {
    absl::Status status = CheckElement(result, 0, 1, channel_count, "channel_count");
    if (status.ok()) *channel_count = result->result.channels.size();
    return status;
  });
}

gridfold_status gridfold_histogram_channel(const gridfold_histogram* result, uint64_t i,
                                           gridfold_channel* channel) {
  return Guarded([&] {
    const uint64_t count = result == nullptr ? 0 : result->result.channels.size();
    absl::Status status = CheckElement(result, i, count, channel, "channel");
    if (status.ok()) *channel = ToC(*result, result->result.channels[i]);
    return status;
  });
}

gridfold_status gridfold_histogram_bins(const gridfold_histogram* result, uint64_t i,
                                        gridfold_bins* bins) {
  return Guarded([&] {
    const uint64_t count = result == nullptr ? 0 : result->result.bins.size();
    absl::Status status = CheckElement(result, i, count, bins, "bins");
    if (status.ok()) *bins = ToC(result->result.bins[i], result->edges[i]);
    return status;
  });
}

void gridfold_histogram_free(gridfold_histogram* result) { delete result; }
