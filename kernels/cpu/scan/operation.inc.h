// Definition of operation.h, included where it is instantiated.
#ifndef GRIDFOLD_KERNELS_CPU_SCAN_OPERATION_INC_H_
#define GRIDFOLD_KERNELS_CPU_SCAN_OPERATION_INC_H_

#include <cstring>
#include <type_traits>

#include "kernels/cpu/scan/column_product.h"
#include "kernels/cpu/scan/columns.h"
#include "kernels/cpu/scan/contiguous.h"
#include "kernels/cpu/scan/operation.h"
#include "kernels/cpu/scan/tile_exact.h"
#include "kernels/cpu/scan/tile_ordered.h"

namespace gridfold::kernels::cpu {

namespace scan_internal {

template <class T>
using AccumulatorOf =
    std::conditional_t<FloatingElement<T>, double,
                       std::conditional_t<std::is_signed_v<T>, int64_t, uint64_t>>;

template <ScanOperation kOperation, class T>
inline constexpr bool kOrderMatters = FloatingElement<T> && !IsExtreme(kOperation);

template <ScanOperation kOperation, class T, bool kGrouped>
using TileScanOf = std::conditional_t<kOrderMatters<kOperation, T>,
                                      OrderedTileScan<ScanOperator<T, kOperation>, T, kGrouped>,
                                      ExactTileScan<ScanOperator<T, kOperation>, T, kGrouped>>;

template <ScanOperation kOperation, class T>
struct ColumnBlockScanFor {
  using Type = OrderedColumnBlockScan<ScanOperator<T, kOperation>, T>;
};
template <FloatingElement T>
struct ColumnBlockScanFor<ScanOperation::kScaledProduct, T> {
  using Type = ProductColumnBlockScan<T>;
};
template <ScanOperation kOperation, class T>
using ColumnBlockScanOf = typename ColumnBlockScanFor<kOperation, T>::Type;

// Calls run(scan) with the scan that the plan's grouping takes.
template <ScanOperation kOperation, class T, class Out, class F>
absl::Status VisitScan(const ScanPlan& plan, HostSpan input, MutableHostSpan output,
                       ScanCarry* carry, F run) {
  if (plan.grouping.kind == GroupingKind::kAxis0) {
    return run(ColumnScan<ColumnBlockScanOf<kOperation, T>, Out>(plan, input, output));
  }
  if (plan.grouping.group_count > 1) {
    return run(ContiguousScan<TileScanOf<kOperation, T, true>, Out>(plan, input, output, carry));
  }
  return run(ContiguousScan<TileScanOf<kOperation, T, false>, Out>(plan, input, output, carry));
}

// Sets whether a scan with a plain operator, which did not hold, is to be made with the wide form,
// whose value before the array is `before`. That of sums is defined in sum.cc.
absl::Status NeedsWideForm(const ScanPlan& plan, HostSpan input, const UnboundedSum& before,
                           JobContext& job, bool* needs);
inline absl::Status NeedsWideForm(const ScanPlan&, HostSpan, const ScaledProduct&, JobContext&,
                                  bool* needs) {
  *needs = true;
  return absl::OkStatus();
}

// What precedes the array. A carry of the plain form is followed by an exponent of 0, and so is one
// of the wide form that IsPlain, here: either form can continue from it.
template <class Wide>
typename Wide::Value ValueBefore(ScanCarry* carry) {
  typename Wide::Value before = Wide::Identity();
  if (carry == nullptr || carry->element_count == 0) return before;
  std::memcpy(&before, carry->value.data(), sizeof(before));
  if (!Wide::IsPlain(before)) return before;
  before = Wide::Value::Of(before.Rounded());
  std::memcpy(carry->value.data(), &before, sizeof(before));
  return before;
}

// The scan with a plain operator, and then, if it does not hold, with its wide form.
template <ScanOperation kOperation, class T, class Out>
absl::Status RunPlainFirst(const ScanPlan& plan, HostSpan input, MutableHostSpan output,
                           ScanCarry* carry, JobContext& job) {
  constexpr ScanOperation kWideForm = ScanOperator<T, kOperation>::kWideForm;
  using Wide = ScanOperator<T, kWideForm>;
  const typename Wide::Value before = ValueBefore<Wide>(carry);
  bool needs_wide = !Wide::IsPlain(before);
  if (!needs_wide) {
    const absl::Status status =
        VisitScan<kOperation, T, Out>(plan, input, output, carry, [&](auto&& scan) {
          absl::Status run = scan.Run(job);
          if (run.ok() && !scan.fits()) run = NeedsWideForm(plan, input, before, job, &needs_wide);
          if (run.ok() && !needs_wide) scan.LeaveCarry();
          return run;
        });
    if (!status.ok() || !needs_wide) return status;
  }
  return VisitScan<kWideForm, T, Out>(plan, input, output, carry,
                                      [&](auto&& scan) { return RunToEnd(plan, scan, job); });
}

template <ScanOperation kOperation, class T, class Out>
absl::Status RunScan(const ScanPlan& plan, HostSpan input, MutableHostSpan output, ScanCarry* carry,
                     JobContext& job) {
  if constexpr (kHasWideForm<T, kOperation>) {
    return RunPlainFirst<kOperation, T, Out>(plan, input, output, carry, job);
  } else {
    return VisitScan<kOperation, T, Out>(plan, input, output, carry,
                                         [&](auto&& scan) { return RunToEnd(plan, scan, job); });
  }
}

// Calls visit(PartScan) with the type of scans of parts of an array. OperatorOf names no operation
// that the elements have not.
template <ScanOperation kOperation, class Visit>
void VisitPartScan(ElementType type, Visit visit) {
  VisitElementType(type, [&](auto tag) {
    using T = ScannedElement<typename decltype(tag)::type, kOperation>;
    if constexpr (kHasOperator<T, kOperation>) {
      visit(std::type_identity<ContiguousScan<TileScanOf<kOperation, T, false>, T>>());
    }
  });
}

}  // namespace scan_internal

template <ScanOperation kOperation>
absl::Status FindTotals(const ScanPlan& plan, HostSpan input, JobContext& job, ScanTotals& totals) {
  absl::Status status;
  scan_internal::VisitPartScan<kOperation>(plan.array.element_type, [&](auto tag) {
    status = typename decltype(tag)::type(plan, input, {}, nullptr).FindTotals(job, totals);
  });
  return status;
}

template <ScanOperation kOperation>
void CarryOver(const ScanPlan& plan, const ScanTotals& totals, ScanCarry& carry) {
  scan_internal::VisitPartScan<kOperation>(plan.array.element_type, [&](auto tag) {
    typename decltype(tag)::type(plan, {}, {}, &carry).CarryOver(totals);
  });
}

template <ScanOperation kOperation>
absl::Status RunScanOperation(const ScanPlan& plan, HostSpan input, MutableHostSpan output,
                              ScanCarry* carry, JobContext& job) {
  return VisitElementType(plan.array.element_type, [&](auto tag) -> absl::Status {
    using T = ScannedElement<typename decltype(tag)::type, kOperation>;
    using Accumulator = scan_internal::AccumulatorOf<T>;
    if constexpr (!kHasOperator<T, kOperation>) {
      return absl::InternalError("integers have no NaN");  // OperatorOf knows.
    } else {
      if constexpr (!IsExtreme(kOperation) && !std::is_same_v<T, Accumulator>) {
        if (plan.output_type == kElementTypeOf<Accumulator>) {
          return scan_internal::RunScan<kOperation, T, Accumulator>(plan, input, output, carry,
                                                                    job);
        }
      }
      return scan_internal::RunScan<kOperation, T, T>(plan, input, output, carry, job);
    }
  });
}

}  // namespace gridfold::kernels::cpu

#endif  // GRIDFOLD_KERNELS_CPU_SCAN_OPERATION_INC_H_
