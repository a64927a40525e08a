// Statistics of two arrays, or of the columns of one: dot products, covariances and correlations,
// with weights or without, and weighted means and variances.
//
//   absl::StatusOr<PairedPlan> plan = PlanPaired(x, {.statistics = {PairedStatistic::kDot},
//                                                    .has_y = true});
//   absl::StatusOr<PairedSums> sums = lane.RunPaired(*plan, input, stop, statistics);
//   absl::StatusOr<PairedResult> result = MakePairedResult(*plan, *sums);
//
// An engine sums products of up to three elements, exactly (numerics/paired/product_sum.h), and
// knows nothing of statistics; they are made of the sums here, in integers, and rounded once. So
// the sums of parts may be merged in any order, and both engines answer the same bits.
//
// The columns are x and y; or those of a two-dimensional x; or x alone. Elements at the same place,
// with a weight, are an observation. Without weights each weighs 1.
#ifndef GRIDFOLD_KERNELS_CONTRACT_PAIRED_H_
#define GRIDFOLD_KERNELS_CONTRACT_PAIRED_H_

#include <array>
#include <compare>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "absl/status/statusor.h"
#include "kernels/contract/array.h"
#include "kernels/contract/resident_memory.h"
#include "kernels/numerics/paired/product_sum.h"
#include "kernels/types/policies.h"
#include "kernels/types/statistic.h"

namespace gridfold::kernels {

// W is the sum of weights w, or the number of observations n.
enum class PairedStatistic : uint8_t {
  kDot,          // Of two columns: sum of w * x * y.
  kCovariance,   // Of two columns: (W * sum(wxy) - sum(wx) * sum(wy)) / divisor, see WeightKind.
  kCorrelation,  // Of two columns: their covariance over the root of both variances; of a column
                 // with itself 1. NaN where a column is constant.
  kMean,         // Of each column: sum(wx) / W.
  kVariance,     // Of each column: its covariance with itself.
};
inline constexpr int kPairedStatisticCount = 5;
// Names are as in error messages: "dot", "covariance", ...
const char* PairedStatisticName(PairedStatistic statistic);
// Whether a statistic has a value for each two columns.
constexpr bool IsOfTwoColumns(PairedStatistic statistic) {
  return statistic <= PairedStatistic::kCorrelation;
}

// What delta_degrees_of_freedom is taken from.
enum class WeightKind : uint8_t {
  kFrequency,    // How often an observation was made: divisor W * (W - ddof). NumPy's fweights.
  kReliability,  // How much it says: divisor W^2 - ddof * sum(w^2). NumPy's aweights.
};

inline constexpr uint64_t kPairedColumnsMax = 64;

struct PairedSpec {
  std::vector<PairedStatistic> statistics = {};
  bool has_y = false;
  bool has_weights = false;
  uint32_t delta_degrees_of_freedom = 0;
  WeightKind weight_kind = WeightKind::kFrequency;
  // kIgnore: an observation with a NaN in any column, or as its weight, is left out.
  NanPolicy nan_policy = NanPolicy::kPropagate;
  OverflowPolicy overflow_policy = OverflowPolicy::kError;  // Of dot products of integers.
};

// The sum of products of these columns, and of weights, whose column is the last. In order; unused
// places are 0.
struct PairedTerm {
  uint8_t factor_count = 0;
  std::array<uint8_t, kFactorsMax> factors = {};
  auto operator<=>(const PairedTerm&) const = default;
};

struct PairedPlan {
  ArrayDescription x;  // y and the weights have its type, the weights one for each observation.
  std::vector<PairedStatistic> statistics;
  uint64_t observation_count = 0;
  uint32_t column_count = 0;  // Without that of weights.
  bool has_y = false;
  bool has_weights = false;
  uint32_t delta_degrees_of_freedom = 0;
  WeightKind weight_kind = WeightKind::kFrequency;
  NanPolicy nan_policy = NanPolicy::kPropagate;
  OverflowPolicy overflow_policy = OverflowPolicy::kError;
  std::vector<PairedTerm> terms;  // Sorted.

  // Columns lie beside each other in x.
  bool is_of_matrix() const { return !has_y && column_count > 1; }
  uint64_t weights_bytes() const {
    return has_weights ? observation_count * ElementSize(x.element_type) : 0;
  }
  bool ignores_nan() const {
    return nan_policy == NanPolicy::kIgnore && IsFloatingPoint(x.element_type);
  }
  // Values of one statistic: of two arrays one, where it is of two columns; else a square matrix.
  uint64_t ValueCount(PairedStatistic statistic) const {
    if (!IsOfTwoColumns(statistic)) return column_count;
    return has_y ? 1 : uint64_t{column_count} * column_count;
  }
};

// Errors (INVALID_ARGUMENT, field in the payload): no statistics, or one twice; a matrix
// of more than kPairedColumnsMax columns, or of none; without weights, a statistic of no
// observations, and a delta_degrees_of_freedom that is not smaller than their number.
absl::StatusOr<PairedPlan> PlanPaired(const ArrayDescription& x, PairedSpec spec);

struct PairedInput {
  InputSpan x;
  InputSpan y;        // Plans with has_y.
  InputSpan weights;  // Plans with has_weights.
};

// What engines return. Mergeable: the sums of parts of the observations add up to those of all.
struct PairedSums {
  uint64_t observation_count = 0;  // Those that took part.
  std::vector<uint32_t> flags;     // Of each term.
  std::vector<uint64_t> limbs;     // Of each term, one after the other; see LimbOffsets.
};

ProductSumFormat FormatOf(const PairedPlan& plan, const PairedTerm& term);

// Where the limbs of each term begin, and where the last one's end.
std::vector<size_t> LimbOffsets(const PairedPlan& plan);

// The sums of no observations.
PairedSums NoSums(const PairedPlan& plan);

// Adds the sums of some observations to those of others; both are of the plan.
void MergeSums(const PairedPlan& plan, const PairedSums& from, PairedSums& into);

struct PairedColumn {
  PairedStatistic statistic;
  ValueKind kind;
  std::vector<uint64_t> slots;  // ValueCount of them; of a matrix row by row.
};
struct PairedResult {
  std::vector<PairedColumn> columns;  // In the order of the plan's statistics.
  uint64_t observation_count = 0;
};

// Errors: OUT_OF_RANGE for a dot product of integers that the type of sums does not hold;
// INVALID_ARGUMENT (field in the payload) for a weight that is negative or not finite, and for
// weights that are all 0 where a statistic divides by their sum.
absl::StatusOr<PairedResult> MakePairedResult(const PairedPlan& plan, const PairedSums& sums);

}  // namespace gridfold::kernels

#endif  // GRIDFOLD_KERNELS_CONTRACT_PAIRED_H_
