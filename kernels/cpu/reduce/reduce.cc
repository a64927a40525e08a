#include "kernels/cpu/reduce/reduce.h"

#include <utility>

#include "kernels/cpu/reduce/brief.h"
#include "kernels/cpu/reduce/columns.h"
#include "kernels/cpu/reduce/contiguous.h"
#include "kernels/cpu/reduce/statistic_writer.h"

namespace gridfold::kernels::cpu {

absl::StatusOr<ReductionResult> ReduceOnCpu(const ReductionPlan& plan, HostSpan input,
                                            JobContext& job) {
  const bool columns = plan.grouping.kind == GroupingKind::kAxis0;
  const bool brief = IsBrief(plan);
  job.statistics.strategy = brief     ? "reduce/side-by-side"
                            : columns ? "reduce/axis-0"
                                      : "reduce/contiguous";
  job.statistics.bytes_read = input.size_bytes;
  StatisticWriter writer(plan);
  const absl::Status status = VisitElementType(plan.array.element_type, [&](auto tag) {
    using T = typename decltype(tag)::type;
    if (brief) return BriefReduction<T>(plan, input, writer).Run(job);
    return columns ? ColumnReduction<T>(plan, input, job.threads, writer).Run(job)
                   : ContiguousReduction<T>(plan, input, writer).Run(job);
  });
  if (!status.ok()) return status;
  return std::move(writer).Finish();
}

}  // namespace gridfold::kernels::cpu
