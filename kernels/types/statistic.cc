#include "kernels/types/statistic.h"

namespace gridfold::kernels {

ValueKind ValueKindOf(Statistic statistic, ElementType type) {
  const bool is_float = IsFloatingPoint(type);
  switch (TraitsOf(statistic).values) {
    case ValueClass::kCount: return ValueKind::kUint64;
    case ValueClass::kElement:
      return is_float           ? ValueKind::kDouble
             : IsUnsigned(type) ? ValueKind::kUint64
                                : ValueKind::kInt64;
    case ValueClass::kDistance: return is_float ? ValueKind::kDouble : ValueKind::kUint64;
    case ValueClass::kReal: return ValueKind::kDouble;
    case ValueClass::kTruth: break;
  }
  return ValueKind::kBool;
}

ValueOutcome PossibleFailure(Statistic statistic, ElementType type, NanPolicy nan_policy,
                             OverflowPolicy overflow_policy) {
  const bool is_float = IsFloatingPoint(type);
  const ValueOutcome failure = TraitsOf(statistic).failure;
  switch (failure) {
    case ValueOutcome::kOverflow:
      return !is_float && overflow_policy == OverflowPolicy::kError ? failure : ValueOutcome::kOk;
    case ValueOutcome::kNothing:
      return is_float && nan_policy == NanPolicy::kIgnore ? failure : ValueOutcome::kOk;
    case ValueOutcome::kOk: break;
  }
  return ValueOutcome::kOk;
}

}  // namespace gridfold::kernels
