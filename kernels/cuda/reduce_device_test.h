// A fixture for tests that run LaunchReduction on device memory.
#ifndef GRIDFOLD_KERNELS_CUDA_REDUCE_DEVICE_TEST_H_
#define GRIDFOLD_KERNELS_CUDA_REDUCE_DEVICE_TEST_H_

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "gtest/gtest.h"
#include "kernels/cuda/device_test.h"
#include "kernels/cuda/reduce.h"
#include "kernels/numerics/element.h"

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

  // As on a device with these properties.
  DeviceReduction Launch(const ReductionPlan& plan, const void* elements,
                         const DeviceProperties& assumed) {
    const DeviceArray<uint64_t> offsets{std::span(plan.grouping.offsets)};
    const DeviceArray<uint64_t> slots(plan.result_slot_count());
    const DeviceArray<uint64_t> failures(plan.statistics.size());
    const DeviceArray<std::byte> memory(ReductionScratchBytes(plan, assumed));
    Scratch scratch(memory.data(), memory.size());
    Synchronize();
    DeviceReduction result;
    result.status = LaunchReduction(plan, {{elements, plan.array.element_count}, offsets.data()},
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
};

}  // namespace gridfold::kernels::cuda

#endif  // GRIDFOLD_KERNELS_CUDA_REDUCE_DEVICE_TEST_H_
