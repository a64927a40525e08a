#include "kernels/cpu/reduce/reduce.h"

#include <string>
#include <utility>
#include <vector>

#include "kernels/contract/strategy_error.h"
#include "kernels/cpu/reduce/brief.h"
#include "kernels/cpu/reduce/columns.h"
#include "kernels/cpu/reduce/contiguous.h"
#include "kernels/cpu/reduce/statistic_writer.h"

namespace gridfold::kernels::cpu {

namespace {

enum class Walk { kSideBySide, kStrips, kContiguous };

struct Route {
  Walk walk;
  const char* name;
};

// What can take the plan, the best first.
std::vector<Route> RoutesOf(const ReductionPlan& plan) {
  const bool columns = plan.grouping.kind == GroupingKind::kAxis0;
  const Route general = columns ? Route{Walk::kStrips, "reduce/columns/strips"}
                                : Route{Walk::kContiguous, "reduce/groups/contiguous"};
  if (!IsBrief(plan)) return {general};
  const char* const brief = columns ? "reduce/columns/side-by-side" : "reduce/groups/side-by-side";
  return {{Walk::kSideBySide, brief}, general};
}

absl::StatusOr<Route> ChooseRoute(const ReductionPlan& plan) {
  const std::vector<Route> routes = RoutesOf(plan);
  if (plan.strategy.empty()) return routes.front();
  std::vector<std::string> names;
  for (const Route& route : routes) {
    if (plan.strategy == route.name) return route;
    names.emplace_back(route.name);
  }
  return StrategyError(plan.strategy, names);
}

}  // namespace

bool ReducesInPlaceOnCpu(const ReductionPlan& plan) {
  constexpr uint64_t kStripColumnsMin = 16;
  constexpr uint64_t kRowElementsMin = 512;
  // Short rows are reduced sooner side by side, of a copy that has no gaps.
  if (plan.array.pitches && plan.grouping.kind == GroupingKind::kAxis1) {
    return plan.grouping.group_size >= kRowElementsMin;
  }
  return plan.grouping.matrices == 1 || plan.grouping.columns() >= kStripColumnsMin;
}

absl::StatusOr<ReductionResult> ReduceOnCpu(const ReductionPlan& plan, HostSpan input,
                                            JobContext& job) {
  const absl::StatusOr<Route> route = ChooseRoute(plan);
  if (!route.ok()) return route.status();
  job.statistics.strategy = route->name;
  job.statistics.bytes_read = plan.array.size_bytes();
  StatisticWriter writer(plan);
  const absl::Status status = VisitElementType(plan.array.element_type, [&](auto tag) {
    using T = typename decltype(tag)::type;
    switch (route->walk) {
      case Walk::kSideBySide: return BriefReduction<T>(plan, input, writer).Run(job);
      case Walk::kStrips: return ColumnReduction<T>(plan, input, job.threads, writer).Run(job);
      case Walk::kContiguous: break;
    }
    return ContiguousReduction<T>(plan, input, writer).Run(job);
  });
  if (!status.ok()) return status;
  return std::move(writer).Finish();
}

}  // namespace gridfold::kernels::cpu
