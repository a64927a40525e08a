// States of reductions of given elements, and their accumulators, for tests.
#ifndef GRIDFOLD_KERNELS_ACCUMULATORS_STATE_TEST_UTIL_H_
#define GRIDFOLD_KERNELS_ACCUMULATORS_STATE_TEST_UTIL_H_

#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <random>
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

// Special values, and others of all magnitudes.
template <class T>
T RandomElement(std::mt19937_64& random) {
  if constexpr (IntegerElement<T>) {
    using Limits = std::numeric_limits<T>;
    const T special[] = {
        0, 1, Limits::max(), Limits::min(), static_cast<T>(Limits::max() - 1), static_cast<T>(-1),
        2, 3};
    return random() % 3 == 0 ? static_cast<T>(random() >> (random() % 64))
                             : special[random() % std::size(special)];
  } else {
    constexpr double kInfinite = std::numeric_limits<double>::infinity();
    const double special[] = {0.0,        -0.0,     1.0,     -1.0,      kInfinite,
                              -kInfinite, NAN,      65504.0, -65504.0,  0x1p-24,
                              0x1p-149,   0x1p-133, 3.4e38,  -3.3895e38};
    const double value = random() % 3 == 0 ? special[random() % std::size(special)]
                                           : std::ldexp(static_cast<double>(random() % 2001) - 1000,
                                                        static_cast<int>(random() % 60) - 30);
    if constexpr (HalfElement<T>) {
      return T::FromDouble(value);
    } else {
      // Any bits at all, from time to time.
      using Bits = typename FloatFormat<T>::Bits;
      return random() % 4 == 0 ? std::bit_cast<T>(static_cast<Bits>(random()))
                               : static_cast<T>(value);
    }
  }
}

}  // namespace gridfold::kernels

#endif  // GRIDFOLD_KERNELS_ACCUMULATORS_STATE_TEST_UTIL_H_
