// Statistics of two columns of the C interface.
#include <algorithm>

#include "absl/strings/str_cat.h"
#include "client/core/conversion.h"
#include "client/core/handles.h"
#include "client/core/last_error.h"
#include "client/core/run.h"
#include "kernels/contract/invalid_field.h"

namespace gridfold::core {

namespace {

absl::Status Relate(gridfold_engine* engine, const gridfold_columns* columns,
                    const gridfold_paired_spec* spec, void* values, uint64_t value_count) {
  if (absl::Status status = RequireArgument(engine, "engine"); !status.ok()) return status;
  const auto plan = PlanOf(columns, spec);
  if (!plan.ok()) return plan.status();
  uint64_t result_count = 0;
  for (const kernels::PairedStatistic statistic : plan->statistics) {
    result_count += plan->ValueCount(statistic);
  }
  if (value_count != result_count) {
    return kernels::InvalidField(
        "value_count", absl::StrCat(value_count, ", where there are ", result_count, " values"));
  }
  if (absl::Status status = RequireArgument(values, "values"); !status.ok()) return status;
  const auto sums = Run(*engine, *plan, *columns);
  if (!sums.ok()) return sums.status();
  const auto result = kernels::MakePairedResult(*plan, *sums);
  if (!result.ok()) return result.status();
  auto* place = static_cast<uint64_t*>(values);
  for (const kernels::PairedColumn& column : result->columns) {
    place = std::copy(column.slots.begin(), column.slots.end(), place);
  }
  return absl::OkStatus();
}

}  // namespace

}  // namespace gridfold::core

gridfold_status gridfold_relate(gridfold_engine* engine, const gridfold_columns* columns,
                                const gridfold_paired_spec* spec, void* values,
                                uint64_t value_count) {
  return gridfold::core::Guarded(
      [&] { return gridfold::core::Relate(engine, columns, spec, values, value_count); });
}
