#include "kernels/cuda/scan/totals.h"

#include <cstddef>
#include <cstring>
#include <type_traits>

#include "kernels/cuda/scan/base/arguments.h"
#include "kernels/cuda/scan/base/launching.h"
#include "kernels/cuda/scan/exact/exact.h"
#include "kernels/cuda/scan/exact/kernels.h"
#include "kernels/cuda/scan/positions/totals.h"
#include "kernels/numerics/arithmetic/estimated_product.h"
#include "kernels/numerics/scans/operator.h"

namespace gridfold::kernels::cuda {

namespace {

template <ScanOperation kOperation, class Visit>
void VisitOperatorOf(ElementType type, Visit visit) {
  VisitElementType(type, [&](auto tag) {
    using T = ScannedElement<typename decltype(tag)::type, kOperation>;
    if constexpr (kHasOperator<T, kOperation>) {
      visit(std::type_identity<ScanOperator<T, kOperation>>());
    }
  });
}

// Calls visit(std::type_identity<Operator>()) with that of the plan's operation, which is no exact
// sum.
template <class Visit>
void VisitOperator(const ScanPlan& plan, Visit visit) {
  VisitScanOperator(OperatorOf(plan), [&](auto operation) {
    VisitOperatorOf<decltype(operation)::value>(plan.array.element_type, visit);
  });
}

// The bytes of a value before the padding behind its members.
template <class Value>
inline constexpr size_t kUsedBytes = sizeof(Value);
template <>
inline constexpr size_t kUsedBytes<EstimatedProduct> = offsetof(EstimatedProduct, estimate) +
                                                       sizeof(float);

// The last byte says which form the carry has (lane/wide_form_carry.h), and stays.
template <class Value>
void Store(const GroupedValue<Value>& carried, ScanCarry& carry) {
  std::memset(carry.value.data(), 0, carry.value.size() - 1);
  std::memcpy(carry.value.data(), &carried.value, kUsedBytes<Value>);
  std::memcpy(carry.value.data() + offsetof(GroupedValue<Value>, starts_group),
              &carried.starts_group, sizeof(bool));
}

// Empty where nothing was carried yet: an ExactState of zeros.
void CarryOverExactTotal(const ScanPlan& plan, const ScanTotals& totals, ScanCarry& carry) {
  VisitFloatingType(plan.array.element_type, [&](auto tag) {
    using State = ExactState<typename decltype(tag)::type>;
    State state;
    State total;
    std::memcpy(static_cast<void*>(&state), carry.value.data(), sizeof(state));
    std::memcpy(static_cast<void*>(&total), totals.values.data(), sizeof(total));
    state.sum.Merge(total.sum);
    state.starts_group = 1;
    std::memcpy(carry.value.data(), &state, sizeof(state));
  });
}

}  // namespace

absl::StatusOr<DeviceTotals> LaunchScanTotals(const ScanPlan& plan, const DeviceSpan& elements,
                                              Scratch& scratch, const DeviceProperties& properties,
                                              cudaStream_t stream) {
  if (plan.array.element_count == 0) return DeviceTotals{};
  const ScanArguments arguments{.input = elements.data,
                                .element_count = elements.element_count,
                                .reverse = plan.direction == ScanDirection::kReverse,
                                .ignore_nan = plan.nan_policy == NanPolicy::kIgnore,
                                .mirror_bits = MirrorBits(plan.operation, plan.array.element_type),
                                .accumulator_output = plan.output_type != plan.array.element_type};
  return plan.exact ? LaunchExactTotal(plan, arguments, scratch, properties, stream)
                    : LaunchTotalsOfBlocks(plan, arguments, scratch, properties, stream);
}

void CarryOverTotals(const ScanPlan& plan, const ScanTotals& totals, ScanCarry& carry) {
  if (totals.values.empty()) return;
  if (plan.exact) {
    CarryOverExactTotal(plan, totals, carry);
  } else {
    VisitOperator(plan, [&](auto tag) {
      using Operator = typename decltype(tag)::type;
      using Value = typename Operator::Value;
      GroupedValue<Value> carried{Operator::Identity(), false};
      if (carry.element_count > 0) std::memcpy(&carried, carry.value.data(), sizeof(carried));
      for (size_t offset = 0; offset < totals.values.size(); offset += sizeof(Value)) {
        Value total;
        std::memcpy(&total, totals.values.data() + offset, sizeof(total));
        carried.value = Operator::Combine(carried.value, total);
      }
      carried.starts_group = true;  // At the scan's first element.
      Store(carried, carry);
    });
  }
  carry.element_count += totals.element_count;
}

void ClearPadding(const ScanPlan& plan, ScanCarry& carry) {
  if (plan.exact) return;  // States are made of zeros.
  VisitOperator(plan, [&](auto tag) {
    GroupedValue<typename decltype(tag)::type::Value> carried;
    std::memcpy(&carried, carry.value.data(), sizeof(carried));
    Store(carried, carry);
  });
}

}  // namespace gridfold::kernels::cuda
