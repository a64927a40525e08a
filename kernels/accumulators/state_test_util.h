// States of reductions of given elements, and their accumulators, for tests.
#ifndef GRIDFOLD_KERNELS_ACCUMULATORS_STATE_TEST_UTIL_H_
#define GRIDFOLD_KERNELS_ACCUMULATORS_STATE_TEST_UTIL_H_

#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "kernels/accumulators/reduction_accumulator.h"
#include "kernels/contract/plan_test_util.h"

namespace gridfold::kernels {

// All that can be asked of elements of type T, and has accumulators.
template <class T>
std::vector<Statistic> AllStatistics() {
  std::vector<Statistic> statistics;
  for (int i = 0; i < kStatisticCount; ++i) {
    const auto statistic = static_cast<Statistic>(i);
    const bool of_integers = TraitsOf(statistic).needs_integers || statistic == Statistic::kProduct;
    if (!of_integers || !FloatingElement<T>) statistics.push_back(statistic);
  }
  return statistics;
}

template <class T>
using State = FullState<ComputeType<T>>;

// The state of all elements, as one group.
template <class T>
State<T> StateOf(const std::vector<T>& elements, bool ignore_nan) {
  State<T> state;
  for (size_t i = 0; i < elements.size(); ++i) state.Add(ToCompute(elements[i]), i, ignore_nan);
  return state;
}

// The accumulator of one group with this state.
template <class T>
std::string BytesOfState(const State<T>& state, uint64_t element_count, bool ignore_nan,
                         const std::vector<Statistic>& statistics) {
  ReductionSpec spec;
  spec.statistics = statistics;
  spec.nan_policy = ignore_nan ? NanPolicy::kIgnore : NanPolicy::kPropagate;
  spec.overflow_policy = OverflowPolicy::kWrap;
  spec.return_states = true;
  const auto plan = PlanReduction(ArrayDescription::Vector(kElementTypeOf<T>, element_count), spec);
  EXPECT_TRUE(plan.ok()) << plan.status();
  return *MakeReductionAccumulator(*plan, GroupStates<ComputeType<T>>{state});
}

}  // namespace gridfold::kernels

#endif  // GRIDFOLD_KERNELS_ACCUMULATORS_STATE_TEST_UTIL_H_
