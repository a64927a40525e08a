#include "kernels/types/statistic.h"

namespace gridfold::kernels {

namespace {

ValueKind ElementKind(ElementType type) {
  if (IsFloatingPoint(type)) return ValueKind::kDouble;
  return IsUnsigned(type) ? ValueKind::kUint64 : ValueKind::kInt64;
}

}  // namespace

const char* StatisticName(Statistic statistic) {
  constexpr const char* kNames[kStatisticCount] = {
      "count",   "sum",     "product",       "min",        "max",
      "argmin",  "argmax",  "mean",          "variance",   "standard_deviation",
      "l1_norm", "l2_norm", "nonzero_count", "nan_count",  "infinity_count",
      "all",     "any",     "bitwise_and",   "bitwise_or", "bitwise_xor"};
  return kNames[static_cast<int>(statistic)];
}

bool NeedsElements(Statistic statistic) {
  switch (statistic) {
    case Statistic::kMin:
    case Statistic::kMax:
    case Statistic::kArgmin:
    case Statistic::kArgmax:
    case Statistic::kMean:
    case Statistic::kVariance:
    case Statistic::kStandardDeviation: return true;
    default: return false;
  }
}

bool IsBitwise(Statistic statistic) { return statistic >= Statistic::kBitwiseAnd; }

ValueKind ValueKindOf(Statistic statistic, ElementType type) {
  switch (statistic) {
    case Statistic::kCount:
    case Statistic::kArgmin:
    case Statistic::kArgmax:
    case Statistic::kNonzeroCount:
    case Statistic::kNanCount:
    case Statistic::kInfinityCount: return ValueKind::kUint64;
    case Statistic::kMean:
    case Statistic::kVariance:
    case Statistic::kStandardDeviation:
    case Statistic::kL1Norm:
    case Statistic::kL2Norm: return ValueKind::kDouble;
    case Statistic::kAll:
    case Statistic::kAny: return ValueKind::kBool;
    default: return ElementKind(type);
  }
}

}  // namespace gridfold::kernels
