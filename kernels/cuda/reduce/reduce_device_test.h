// A fixture for tests that run LaunchReduction on device memory.
#ifndef GRIDFOLD_KERNELS_CUDA_REDUCE_REDUCE_DEVICE_TEST_H_
#define GRIDFOLD_KERNELS_CUDA_REDUCE_REDUCE_DEVICE_TEST_H_

#include <bit>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <random>
#include <span>
#include <string>
#include <vector>

#include "gtest/gtest.h"
#include "kernels/cuda/lane/device_test.h"
#include "kernels/cuda/reduce/plan/geometry.h"
#include "kernels/cuda/reduce/reduce.h"
#include "kernels/numerics/arithmetic/element.h"
#include "kernels/numerics/statistics/reduction_state.h"
#include "kernels/numerics/statistics/statistic_value.h"

namespace gridfold::kernels::cuda {

// The element nearest to x.
template <class T>
T FromDouble(double x) {
  if constexpr (HalfElement<T>) {
    return T::FromDouble(x);
  } else {
    return static_cast<T>(x);
  }
}

// As many of the values as make whole rows.
template <class T>
std::vector<T> WholeRows(const std::vector<T>& values, uint64_t columns) {
  return {values.begin(),
          values.begin() + static_cast<std::ptrdiff_t>(values.size() / columns * columns)};
}

// Where rows begin, and the last one ends.
inline std::vector<uint64_t> RowOffsets(uint64_t count, uint64_t columns) {
  std::vector<uint64_t> offsets;
  for (uint64_t begin = 0; begin <= count; begin += columns) offsets.push_back(begin);
  return offsets;
}

// Offsets of a hundred segments of about `mean` elements, some of which lanes leave to a warp.
inline std::vector<uint64_t> SegmentOffsets(std::mt19937& random, uint32_t mean) {
  std::vector<uint64_t> offsets = {0};
  for (int group = 0; group < 100; ++group) {
    const uint32_t size = 1 + random() % (2 * mean);
    offsets.push_back(offsets.back() + (group % 40 == 7 ? 20 * size : size));
  }
  return offsets;
}

// Statistics of some elements, by a loop.
struct Expected {
  int64_t sum = 0;
  int64_t min = std::numeric_limits<int64_t>::max();
  uint64_t argmin = 0;
  int64_t max = std::numeric_limits<int64_t>::min();
  uint64_t argmax = 0;
  uint64_t nonzero = 0;

  void Add(int64_t x, uint64_t index) {
    sum += x;
    nonzero += x != 0 ? 1 : 0;
    if (x < min) min = x, argmin = index;
    if (x > max) max = x, argmax = index;
  }
};

struct DeviceReduction {
  absl::Status status;
  std::vector<uint64_t> slots;
  std::vector<uint64_t> failures;
};

class ReduceDeviceTest : public DeviceTest {
 protected:
  // This device, but for the number of multiprocessors: where there are few, threads take many
  // turns each.
  DeviceProperties WithMultiprocessors(int count) const {
    DeviceProperties assumed = properties();
    assumed.multiprocessor_count = count;
    return assumed;
  }

  DeviceReduction Launch(const ReductionPlan& plan, const void* elements) {
    return Launch(plan, elements, properties());
  }

  // As on a device with these properties. Columns are also taken by every other kernel that shares
  // out their rows, with the same bits.
  DeviceReduction Launch(const ReductionPlan& plan, const void* elements,
                         const DeviceProperties& assumed) {
    const DeviceReduction result = LaunchRoute(plan, elements, assumed);
    if (plan.grouping.kind != GroupingKind::kAxis0 || !plan.strategy.empty()) return result;
    for (const std::string& strategy :
         ReductionStrategies({plan, assumed, IsVectorAddress(elements)})) {
      const bool shares_rows =
          strategy.starts_with("reduce/columns/") && strategy.find("whole") == std::string::npos;
      if (!shares_rows) continue;
      ReductionPlan forced = plan;
      forced.strategy = strategy;
      const DeviceReduction other = LaunchRoute(forced, elements, assumed);
      EXPECT_EQ(other.status, result.status) << strategy;
      EXPECT_TRUE(other.slots == result.slots) << strategy << " differs";
    }
    return result;
  }

  // By the plan's route.
  DeviceReduction LaunchRoute(const ReductionPlan& plan, const void* elements,
                              const DeviceProperties& assumed) {
    const absl::StatusOr<ReductionRoute> route =
        PlanReductionRoute({plan, assumed, IsVectorAddress(elements)});
    if (!route.ok()) return {route.status(), {}, {}};
    const DeviceArray<uint64_t> offsets{std::span(plan.grouping.offsets)};
    const DeviceArray<uint64_t> slots(plan.result_slot_count());
    const DeviceArray<uint64_t> failures(plan.statistics.size());
    const DeviceArray<std::byte> memory(route->scratch_bytes);
    Scratch scratch(memory.data(), memory.size());
    Synchronize();
    DeviceReduction result;
    result.status =
        LaunchReduction(plan, *route, {{elements, plan.array.element_count}, offsets.data()},
                        {slots.data(), failures.data()}, scratch, assumed, stream());
    Synchronize();
    result.slots = slots.Read();
    result.failures = failures.Read();
    return result;
  }

  // The slots of a launch that must succeed.
  std::vector<uint64_t> Slots(const ReductionPlan& plan, const void* elements,
                              const DeviceProperties& assumed) {
    const DeviceReduction result = Launch(plan, elements, assumed);
    EXPECT_TRUE(result.status.ok()) << result.status;
    return result.slots;
  }

  // `columns` 0: a vector.
  template <class T>
  DeviceReduction Reduce(const std::vector<T>& values, const ReductionSpec& spec,
                         uint64_t misalignment = 0, uint64_t columns = 0) {
    const ArrayDescription array =
        columns == 0
            ? ArrayDescription::Vector(kElementTypeOf<T>, values.size())
            : ArrayDescription::Matrix(kElementTypeOf<T>, values.size() / columns, columns);
    const absl::StatusOr<ReductionPlan> plan = PlanReduction(array, spec);
    EXPECT_TRUE(plan.ok()) << plan.status();
    const DeviceArray<T> elements{std::span(values), misalignment};
    return Launch(*plan, elements.data());
  }

  // Of groups [offsets[g], offsets[g + 1]), whose elements are added one by one.
  template <class T>
  void ExpectGroupsAreExact(const std::vector<T>& values, const std::vector<uint64_t>& offsets,
                            const ReductionSpec& spec, const DeviceReduction& result) {
    ASSERT_TRUE(result.status.ok()) << result.status;
    const size_t groups = offsets.size() - 1;
    const ValueRules rules = RulesOf(spec);
    for (size_t group = 0; group < groups; ++group) {
      ReductionState<T, kCorePartSet> state;
      const uint64_t size = offsets[group + 1] - offsets[group];
      for (uint64_t i = 0; i < size; ++i) {
        state.Add(values[offsets[group] + i], i, rules.ignore_nan);
      }
      for (size_t s = 0; s < spec.statistics.size(); ++s) {
        uint64_t expected = 0;
        const ValueOutcome outcome =
            StatisticValue(spec.statistics[s], state, size, rules, &expected);
        if (outcome == ValueOutcome::kNothing) continue;
        ASSERT_EQ(result.slots[s * groups + group], expected)
            << StatisticName(spec.statistics[s]) << " of group " << group << ", " << size
            << " elements: " << std::bit_cast<double>(result.slots[s * groups + group])
            << " instead of " << std::bit_cast<double>(expected);
      }
    }
  }

  // Of columns, likewise, by one multiprocessor, on misaligned elements, and by many.
  template <class T>
  void ExpectColumnsAreExact(const std::vector<T>& values, uint64_t columns,
                             const ReductionSpec& spec) {
    const uint64_t rows = values.size() / columns;
    const ValueRules rules = RulesOf(spec);
    std::vector<ReductionState<T, kCorePartSet>> states(columns);
    for (uint64_t i = 0; i < values.size(); ++i) {
      states[i % columns].Add(values[i], i / columns, rules.ignore_nan);
    }
    const auto plan =
        PlanReduction(ArrayDescription::Matrix(kElementTypeOf<T>, rows, columns), spec);
    ASSERT_TRUE(plan.ok()) << plan.status();
    for (const int multiprocessors : {1, 132}) {
      const uint64_t misalignment = multiprocessors == 1 ? 1 : 0;
      const DeviceArray<T> elements{std::span(values), misalignment};
      const std::vector<uint64_t> slots =
          Slots(*plan, elements.data(), WithMultiprocessors(multiprocessors));
      for (uint64_t s = 0; s < spec.statistics.size(); ++s) {
        for (uint64_t c = 0; c < columns && !HasFailure(); ++c) {
          uint64_t expected = 0;
          StatisticValue(spec.statistics[s], states[c], rows, rules, &expected);
          EXPECT_EQ(slots[s * columns + c], expected)
              << StatisticName(spec.statistics[s]) << " of column " << c << ", " << multiprocessors
              << " multiprocessors";
        }
      }
    }
  }

 private:
  static ValueRules RulesOf(const ReductionSpec& spec) {
    return {.ignore_nan = spec.nan_policy == NanPolicy::kIgnore,
            .delta_degrees_of_freedom = spec.delta_degrees_of_freedom};
  }
};

}  // namespace gridfold::kernels::cuda

#endif  // GRIDFOLD_KERNELS_CUDA_REDUCE_REDUCE_DEVICE_TEST_H_
