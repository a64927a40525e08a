// Reductions in which a group without a value of a statistic is no error, and whose degrees of
// freedom may be any number.
//
//   absl::StatusOr<TolerantReduction> reduction = TolerantReduction::Plan(array, spec, rule, ddof);
//   run reduction->values_plan() and reduction->places_plan(), each if it has statistics
//   TolerantResult result = reduction->Finish(values, places).value();
//
// A group has no value of a minimum, mean and the like where it has no elements, or none but NaNs
// that are ignored; of a variance and the like also where it has no more elements than the degrees
// of freedom. Engines run plans that know nothing of that: what they give such groups is replaced.
#ifndef GRIDFOLD_KERNELS_CONTRACT_TOLERANT_REDUCTION_H_
#define GRIDFOLD_KERNELS_CONTRACT_TOLERANT_REDUCTION_H_

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "kernels/contract/array.h"
#include "kernels/contract/reduction.h"
#include "kernels/contract/reduction_checks.h"
#include "kernels/contract/scalar.h"
#include "kernels/contract/segments.h"

namespace gridfold::kernels {

// What becomes of a statistic of a group that has none.
enum class EmptyGroupPolicy : uint8_t {
  kError,  // The plan fails, where group sizes show it; else values of the kind double are NaN.
  kNan,    // Values of the kind double are NaN; those of others are an error.
  kNull,   // There is none: TolerantResult::validity.
  kValue,  // EmptyGroupRule::value.
};

struct EmptyGroupRule {
  EmptyGroupPolicy policy = EmptyGroupPolicy::kError;
  Scalar value = int64_t{0};
};

// Whether degrees of freedom are a number that ReductionSpec::delta_degrees_of_freedom can hold.
bool IsWholeDdof(double ddof);

struct TolerantResult {
  ReductionResult result;
  // For each statistic: empty, or a bit for each group, from the lowest of the first byte on, 1
  // where the group has a value.
  std::vector<std::string> validity;
};

class TolerantReduction {
 public:
  // `ddof` stands in place of spec.delta_degrees_of_freedom. Requires that no states are asked for.
  // Errors (INVALID_ARGUMENT, field in the payload): those of PlanReduction, but of groups that are
  // too small only where the rule makes them one; degrees of freedom that are not finite; a value
  // of the rule that does not fit a statistic that may need it.
  static absl::StatusOr<TolerantReduction> Plan(const ArrayDescription& array, ReductionSpec spec,
                                                const EmptyGroupRule& rule, double ddof);

  // All that was asked for, with ddof 0 where it is no whole number.
  const ReductionPlan& plan() const { return plan_; }

  // What lanes run: nothing where it has no statistics.
  const ReductionPlan& values_plan() const { return values_; }
  // The same of argmin and argmax where some group may have none, since engines take that for an
  // error: of the groups that are not empty, and their states where NaN is ignored.
  const ReductionPlan& places_plan() const { return places_; }

  // Whether PlanReduction gives the same with less: every group has a value, and the degrees of
  // freedom are a whole number.
  bool is_plain() const;

  // From the results of both plans, the default where one was not run. Errors: INVALID_ARGUMENT for
  // an argmin or argmax without an element, where the rule makes that one.
  absl::StatusOr<TolerantResult> Finish(const ReductionResult& values,
                                        const ReductionResult& places) const;

 private:
  class Finisher;

  TolerantReduction(ReductionPlan plan, const EmptyGroupRule& rule, double ddof);

  bool IsTooSmall(Statistic statistic, uint64_t element_count) const;
  // Whether the groups are all of one size, and have no value.
  bool IsNowhere(Statistic statistic) const;
  bool HasPlacesApart(Statistic statistic) const;
  bool IsScaled(Statistic statistic) const;
  bool MayLackValues(Statistic statistic) const;
  bool NeedsCounts() const;
  absl::Status CheckGroups() const;
  absl::Status CheckValue() const;
  void MakePlans();

  EmptyGroupRule rule_;
  double ddof_ = 0;
  bool ddof_is_whole_ = true;  // And fits ReductionPlan.
  ReductionPlan plan_;
  std::optional<SmallestGroup> smallest_;
  ReductionPlan values_;
  ReductionPlan places_;
};

}  // namespace gridfold::kernels

#endif  // GRIDFOLD_KERNELS_CONTRACT_TOLERANT_REDUCTION_H_
