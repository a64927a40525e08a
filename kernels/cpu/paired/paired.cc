#include "kernels/cpu/paired/paired.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/synchronization/mutex.h"
#include "kernels/cpu/paired/columns.h"
#include "kernels/cpu/paired/quick_sums.h"
#include "kernels/numerics/paired/product_sum.h"

namespace gridfold::kernels::cpu {

namespace {

// Elements that a thread takes at a time.
constexpr uint64_t kTurnElements = uint64_t{1} << 16;
static_assert(kTurnElements <= kProductsPerDigit);

// AddRun, where there is such a way and the run is whole.
template <class T, int kFactors, class Add>
bool AddWholeRun(const T* const* factors, uint64_t count, Add add, uint32_t& flags) {
  if constexpr (HasQuickSums<T, kFactors>()) {
    return count == kQuickRun && AddRun<T, kFactors>(factors, add, flags);
  }
  return false;
}

// Adds the products of a term to its digits, and returns their flags.
template <class T, int kFactors>
uint32_t SumProducts(const PairedColumns<T>& columns, const PairedTerm& term, int64_t* digits) {
  const T* factors[kFactors];
  for (size_t f = 0; f < kFactors; ++f) factors[f] = columns.column(term.factors[f]);
  const auto add = [&](uint32_t digit, int64_t value) { digits[digit] += value; };
  uint32_t flags = 0;
  for (uint64_t left = columns.count(); left > 0;) {
    const uint64_t count = std::min<uint64_t>(left, kQuickRun);
    if (!AddWholeRun<T, kFactors>(factors, count, add, flags)) {
      for (uint64_t i = 0; i < count; ++i) {
        T product[kFactors];
        for (size_t f = 0; f < kFactors; ++f) product[f] = factors[f][i];
        flags |= AddProduct(product, add);
      }
    }
    for (const T*& factor : factors) factor += count;
    left -= count;
  }
  return flags;
}

template <class T>
uint32_t SumTerm(const PairedColumns<T>& columns, const PairedTerm& term, int64_t* digits) {
  switch (term.factor_count) {
    case 1: return SumProducts<T, 1>(columns, term, digits);
    case 2: return SumProducts<T, 2>(columns, term, digits);
    default: return SumProducts<T, 3>(columns, term, digits);
  }
}

// The sums of a turn's observations.
template <class T>
PairedSums SumTurn(const PairedPlan& plan, const PairedArrays& arrays, uint64_t begin,
                   uint64_t end) {
  const PairedColumns<T> columns(plan, arrays, begin, end);
  const std::vector<size_t> offsets = LimbOffsets(plan);
  PairedSums sums = NoSums(plan);
  sums.observation_count = columns.count();
  std::vector<int64_t> digits;
  for (size_t t = 0; t < plan.terms.size(); ++t) {
    const auto limb_count = static_cast<int>(offsets[t + 1] - offsets[t]);
    digits.assign(static_cast<size_t>(2 * limb_count), 0);
    sums.flags[t] = SumTerm(columns, plan.terms[t], digits.data());
    CarryDigits([&](int digit) { return digits[static_cast<size_t>(digit)]; },
                &sums.limbs[offsets[t]], limb_count);
  }
  return sums;
}

// What threads have summed.
class SharedSums {
 public:
  explicit SharedSums(const PairedPlan& plan) : plan_(plan), sums_(NoSums(plan)) {}

  void Add(const PairedSums& sums) {
    const absl::MutexLock lock(&mutex_);
    MergeSums(plan_, sums, sums_);
  }
  PairedSums Take() {
    const absl::MutexLock lock(&mutex_);
    return std::move(sums_);
  }

 private:
  const PairedPlan& plan_;
  absl::Mutex mutex_;
  PairedSums sums_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace

absl::StatusOr<PairedSums> SumPairedOnCpu(const PairedPlan& plan, HostSpan x, HostSpan y,
                                          HostSpan weights, JobContext& job) {
  job.statistics.strategy = "paired/digits";
  job.statistics.bytes_read = x.size_bytes + y.size_bytes + weights.size_bytes;
  const PairedArrays arrays{x, y, weights};
  const uint64_t turn = std::max<uint64_t>(kTurnElements / (plan.column_count + 1), 1);
  const uint64_t turn_count = (plan.observation_count + turn - 1) / turn;
  SharedSums sums(plan);
  const absl::Status status = job.ForEach(turn_count, [&](uint64_t t) {
    const uint64_t begin = t * turn;
    const uint64_t end = std::min(begin + turn, plan.observation_count);
    sums.Add(VisitElementType(plan.x.element_type, [&](auto tag) {
      return SumTurn<typename decltype(tag)::type>(plan, arrays, begin, end);
    }));
  });
  if (!status.ok()) return status;
  return sums.Take();
}

}  // namespace gridfold::kernels::cpu
