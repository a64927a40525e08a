#include "kernels/contract/paired.h"

#include <algorithm>
#include <set>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "kernels/contract/invalid_field.h"

namespace gridfold::kernels {

namespace {

class TermSet {
 public:
  explicit TermSet(const PairedPlan& plan)
      : weights_(static_cast<uint8_t>(plan.column_count)), has_weights_(plan.has_weights) {}

  // A sum of products of columns with the weight.
  void AddWeighted(std::initializer_list<uint64_t> columns) {
    PairedTerm term;
    for (const uint64_t column : columns) {
      term.factors[term.factor_count++] = static_cast<uint8_t>(column);
    }
    if (has_weights_) term.factors[term.factor_count++] = weights_;
    if (term.factor_count > 0) terms_.insert(term);
  }
  void AddSquaredWeights() {
    if (has_weights_) terms_.insert({.factor_count = 2, .factors = {weights_, weights_}});
  }
  std::vector<PairedTerm> sorted() const { return {terms_.begin(), terms_.end()}; }

 private:
  const uint8_t weights_;
  const bool has_weights_;
  std::set<PairedTerm> terms_;
};

// Calls visit(i, j) for each two columns that a statistic of two has a value of.
template <class Visit>
void ForEachPair(const PairedPlan& plan, Visit visit) {
  if (plan.has_y) return visit(0, 1);
  for (uint64_t i = 0; i < plan.column_count; ++i) {
    for (uint64_t j = i; j < plan.column_count; ++j) visit(i, j);
  }
}

void AddTerms(const PairedPlan& plan, PairedStatistic statistic, TermSet& terms) {
  const auto add_columns = [&](bool with_squares) {
    for (uint64_t i = 0; i < plan.column_count; ++i) {
      terms.AddWeighted({i});
      if (with_squares) terms.AddWeighted({i, i});
    }
  };
  switch (statistic) {
    case PairedStatistic::kMean: return add_columns(false);
    case PairedStatistic::kVariance: terms.AddSquaredWeights(); return add_columns(true);
    case PairedStatistic::kCovariance:
      terms.AddSquaredWeights();
      add_columns(false);
      break;
    case PairedStatistic::kCorrelation: add_columns(true); break;
    case PairedStatistic::kDot: break;
  }
  ForEachPair(plan, [&](uint64_t i, uint64_t j) { terms.AddWeighted({i, j}); });
}

std::vector<PairedTerm> TermsOf(const PairedPlan& plan) {
  TermSet terms(plan);
  terms.AddWeighted({});  // Of weights, which are looked at in any case.
  for (const PairedStatistic statistic : plan.statistics) AddTerms(plan, statistic, terms);
  return terms.sorted();
}

absl::Status CheckStatistics(const PairedPlan& plan) {
  if (plan.statistics.empty()) return InvalidField("statistics", "at least one is needed");
  std::set<PairedStatistic> seen;
  for (size_t i = 0; i < plan.statistics.size(); ++i) {
    const PairedStatistic statistic = plan.statistics[i];
    const std::string field = absl::StrCat("statistics[", i, "]");
    const char* const name = PairedStatisticName(statistic);
    if (!seen.insert(statistic).second) {
      return InvalidField(field, absl::StrCat(name, " is asked for twice"));
    }
    if (plan.has_weights || statistic == PairedStatistic::kDot) continue;
    if (plan.observation_count == 0) {
      return InvalidField(field, absl::StrCat(name, " of no elements"));
    }
    const bool has_divisor =
        statistic == PairedStatistic::kCovariance || statistic == PairedStatistic::kVariance;
    if (has_divisor && plan.observation_count <= plan.delta_degrees_of_freedom) {
      return InvalidField("delta_degrees_of_freedom",
                          absl::StrCat(plan.delta_degrees_of_freedom, " is not smaller than the ",
                                       plan.observation_count, " observations"));
    }
  }
  return absl::OkStatus();
}

}  // namespace

const char* PairedStatisticName(PairedStatistic statistic) {
  switch (statistic) {
    case PairedStatistic::kDot: return "dot";
    case PairedStatistic::kCovariance: return "covariance";
    case PairedStatistic::kCorrelation: return "correlation";
    case PairedStatistic::kMean: return "mean";
    case PairedStatistic::kVariance: return "variance";
  }
  return "";
}

absl::StatusOr<PairedPlan> PlanPaired(const ArrayDescription& x, PairedSpec spec) {
  const bool has_columns = x.is_matrix && !spec.has_y;
  const uint64_t column_count = spec.has_y ? 2 : has_columns ? x.columns : 1;
  if (column_count == 0 || column_count > kPairedColumnsMax) {
    return AboveLimit("x", absl::StrCat(column_count, " columns, where 1 to ", kPairedColumnsMax,
                                        " can be related"));
  }
  PairedPlan plan{.x = x,
                  .statistics = std::move(spec.statistics),
                  .observation_count = has_columns ? x.rows : x.element_count,
                  .column_count = static_cast<uint32_t>(column_count),
                  .has_y = spec.has_y,
                  .has_weights = spec.has_weights,
                  .delta_degrees_of_freedom = spec.delta_degrees_of_freedom,
                  .weight_kind = spec.weight_kind,
                  .nan_policy = spec.nan_policy,
                  .overflow_policy = spec.overflow_policy,
                  .terms = {}};
  if (absl::Status status = CheckStatistics(plan); !status.ok()) return status;
  plan.terms = TermsOf(plan);
  return plan;
}

ProductSumFormat FormatOf(const PairedPlan& plan, const PairedTerm& term) {
  return VisitElementType(plan.x.element_type, [&](auto tag) {
    return ProductSumFormatOf<typename decltype(tag)::type>(term.factor_count);
  });
}

std::vector<size_t> LimbOffsets(const PairedPlan& plan) {
  std::vector<size_t> offsets = {0};
  for (const PairedTerm& term : plan.terms) {
    offsets.push_back(offsets.back() + static_cast<size_t>(FormatOf(plan, term).limbs));
  }
  return offsets;
}

PairedSums NoSums(const PairedPlan& plan) {
  PairedSums sums;
  sums.flags.resize(plan.terms.size());
  sums.limbs.resize(LimbOffsets(plan).back());
  return sums;
}

void MergeSums(const PairedPlan& plan, const PairedSums& from, PairedSums& into) {
  const std::vector<size_t> offsets = LimbOffsets(plan);
  into.observation_count += from.observation_count;
  for (size_t t = 0; t < plan.terms.size(); ++t) {
    into.flags[t] |= from.flags[t];
    AddLimbs(&into.limbs[offsets[t]], &from.limbs[offsets[t]],
             static_cast<int>(offsets[t + 1] - offsets[t]));
  }
}

}  // namespace gridfold::kernels
