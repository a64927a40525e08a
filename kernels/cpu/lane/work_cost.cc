#include "kernels/cpu/lane/work_cost.h"

#include <algorithm>
#include <bit>

#include "kernels/numerics/statistics/statistic_value.h"

namespace gridfold::kernels::cpu {

namespace {

// Estimates, in picoseconds of one thread, of the order that runs on two virtual processors of an
// AMD EPYC with AVX-512 showed: they decide whether a thread is worth waking, for which a factor of
// two matters little.
constexpr double kPart = 300;       // Of a reduction's states, for each element.
constexpr double kProduct = 1'500;  // Each element of a product.
constexpr double kValue = 15'000;   // Each answer of a reduction.
constexpr double kScanned = 700;    // Each element of a scan.
constexpr double kScannedExactly = 8'000;
constexpr double kGuessedSample = 700;  // Of even and integer bins.
constexpr double kSearchedSample = 8'000;
constexpr double kRangedSample = 500;  // Looked at for an automatic range.
constexpr double kWeight = 6'000;
constexpr double kPartlySorted = 4'000;   // Each element of a group of which quantiles are asked,
constexpr double kOrderedValue = 50'000;  // and each of them.
constexpr double kSelected = 1'000;       // Each element of which the largest are asked.
constexpr double kOrdered = 4'000;        // Each key that is sorted, and its value.
constexpr double kSummedProduct = 5'000;  // Of an observation.
constexpr double kMoved = 500;            // Each element of a rearrangement.
constexpr double kBin = 1'500;

uint64_t Nanoseconds(double picoseconds) { return static_cast<uint64_t>(picoseconds / 1000); }

// Below that a thread would wake only to find the work done: an estimate, too.
constexpr uint64_t kNanosecondsPerThread = 60'000;

bool IsSearched(const PlannedBins& bins) { return bins.kind == BinKind::kTable; }

}  // namespace

uint64_t WorkNanoseconds(const ReductionPlan& plan) {
  const uint32_t parts = PartsOf(plan);
  double element = kPart * std::popcount(parts);
  if (HasFloatingProduct(plan) || (parts & kProductPart) != 0) element += kProduct;
  return Nanoseconds(static_cast<double>(plan.array.element_count) * element +
                     static_cast<double>(plan.result_slot_count()) * kValue);
}

uint64_t WorkNanoseconds(const ScanPlan& plan) {
  return Nanoseconds(static_cast<double>(plan.array.element_count) *
                     (plan.exact || plan.is_moving() ? kScannedExactly : kScanned));
}

uint64_t WorkNanoseconds(const HistogramPlan& plan) {
  const bool searched = std::any_of(plan.bins.begin(), plan.bins.end(), IsSearched);
  double sample = searched || plan.two_dimensional ? kSearchedSample : kGuessedSample;
  if (plan.needs_range()) sample += kRangedSample;
  if (plan.weight_type.has_value()) sample += kWeight;
  return Nanoseconds(static_cast<double>(plan.array.element_count) * sample +
                     static_cast<double>(plan.total_bin_count()) * kBin);
}

uint64_t WorkNanoseconds(const KeyedReductionPlan& plan) {
  uint64_t placed = 0;
  for (const HistogramPlan& axis : plan.axes) placed += WorkNanoseconds(axis);
  const uint64_t selected = plan.quantiles.targets.empty() ? 0 : WorkNanoseconds(plan.quantiles);
  return placed + selected + WorkNanoseconds(plan.reduction) +
         Nanoseconds(static_cast<double>(plan.keys.element_count) * kOrdered);
}

uint64_t WorkNanoseconds(const QuantilePlan& plan) {
  return Nanoseconds(static_cast<double>(plan.array.element_count) * kPartlySorted +
                     static_cast<double>(plan.result_slot_count()) * kOrderedValue);
}

uint64_t WorkNanoseconds(const TopPlan& plan) {
  return Nanoseconds(static_cast<double>(plan.array.element_count) * kSelected +
                     static_cast<double>(plan.result_count()) * kOrderedValue);
}

uint64_t WorkNanoseconds(const PairedPlan& plan) {
  return Nanoseconds(static_cast<double>(plan.observation_count) *
                     static_cast<double>(plan.terms.size()) * kSummedProduct);
}

uint64_t WorkNanoseconds(const Rearrangement& order) {
  return Nanoseconds(static_cast<double>(order.element_count()) * kMoved);
}

uint64_t WorkNanoseconds(const SelectionPlan& plan) {
  return Nanoseconds(static_cast<double>(plan.element_count) * kMoved +
                     static_cast<double>(plan.grouping.group_count) * kValue);
}

int ThreadsWorthWaking(uint64_t work_nanoseconds, int threads) {
  const uint64_t worth = work_nanoseconds / kNanosecondsPerThread;
  return static_cast<int>(std::clamp<uint64_t>(worth, 1, static_cast<uint64_t>(threads)));
}

}  // namespace gridfold::kernels::cpu
