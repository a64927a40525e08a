// Definition of scan_operation.h, included where it is instantiated.
#ifndef GRIDFOLD_KERNELS_CPU_SCAN_OPERATION_INC_H_
#define GRIDFOLD_KERNELS_CPU_SCAN_OPERATION_INC_H_

#include <type_traits>

#include "kernels/cpu/scan_columns.h"
#include "kernels/cpu/scan_contiguous.h"
#include "kernels/cpu/scan_operation.h"
#include "kernels/cpu/scan_tile_exact.h"
#include "kernels/cpu/scan_tile_ordered.h"

namespace gridfold::kernels {

namespace scan_internal {

template <class T>
using AccumulatorOf =
    std::conditional_t<FloatingElement<T>, double,
                       std::conditional_t<std::is_signed_v<T>, int64_t, uint64_t>>;

template <ScanOperation kOperation, class T>
inline constexpr bool kOrderMatters = FloatingElement<T> && (kOperation == ScanOperation::kSum ||
                                                             kOperation == ScanOperation::kProduct);

template <ScanOperation kOperation, class T, bool kGrouped>
using TileScanOf = std::conditional_t<kOrderMatters<kOperation, T>,
                                      OrderedTileScan<ScanOperator<T, kOperation>, T, kGrouped>,
                                      ExactTileScan<ScanOperator<T, kOperation>, T, kGrouped>>;

template <ScanOperation kOperation, class T, class Out>
absl::Status RunScan(const ScanPlan& plan, HostSpan input, MutableHostSpan output, ScanCarry* carry,
                     JobContext& job) {
  if (plan.grouping.kind == GroupingKind::kAxis0) {
    using BlockScan = OrderedColumnBlockScan<ScanOperator<T, kOperation>, T>;
    return ColumnScan<BlockScan, Out>(plan, input, output).Run(job);
  }
  if (plan.grouping.group_count > 1) {
    return ContiguousScan<TileScanOf<kOperation, T, true>, Out>(plan, input, output, carry)
        .Run(job);
  }
  return ContiguousScan<TileScanOf<kOperation, T, false>, Out>(plan, input, output, carry).Run(job);
}

}  // namespace scan_internal

template <ScanOperation kOperation>
absl::Status RunScanOperation(const ScanPlan& plan, HostSpan input, MutableHostSpan output,
                              ScanCarry* carry, JobContext& job) {
  return VisitElementType(plan.array.element_type, [&](auto tag) {
    using T = ScannedElement<typename decltype(tag)::type, kOperation>;
    using Accumulator = scan_internal::AccumulatorOf<T>;
    if constexpr (kOperation != ScanOperation::kMax && !std::is_same_v<T, Accumulator>) {
      if (plan.output_type == kElementTypeOf<Accumulator>) {
        return scan_internal::RunScan<kOperation, T, Accumulator>(plan, input, output, carry, job);
      }
    }
    return scan_internal::RunScan<kOperation, T, T>(plan, input, output, carry, job);
  });
}

}  // namespace gridfold::kernels

#endif  // GRIDFOLD_KERNELS_CPU_SCAN_OPERATION_INC_H_
