// A fixture for tests that run LaunchScan on device memory, and data for them.
#ifndef GRIDFOLD_KERNELS_CUDA_SCAN_SCAN_DEVICE_TEST_H_
#define GRIDFOLD_KERNELS_CUDA_SCAN_SCAN_DEVICE_TEST_H_

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <random>
#include <span>
#include <vector>

#include "gtest/gtest.h"
#include "kernels/cuda/lane/device_test.h"
#include "kernels/cuda/scan/scan.h"

namespace gridfold::kernels::cuda {

template <class Out>
struct ScanResult {
  absl::Status status;
  std::vector<Out> values;
  uint32_t overflow_flag = 0;
};

class ScanDeviceTest : public DeviceTest {
 protected:
  template <class Out>
  ScanResult<Out> Launch(const ScanPlan& plan, const void* elements, uint64_t misalignment = 0) {
    const DeviceArray<uint64_t> offsets{std::span(plan.grouping.offsets)};
    const DeviceArray<Out> results(plan.array.element_count, misalignment);
    const DeviceArray<uint32_t> flag(1);
    const DeviceArray<std::byte> memory(ScanScratchBytes(plan));
    Scratch scratch(memory.data(), memory.size());
    DeviceProperties told = properties();
    if (multiprocessors_told_ > 0) told.multiprocessor_count = multiprocessors_told_;
    Synchronize();
    ScanResult<Out> result;
    result.status = LaunchScan(plan, {{elements, plan.array.element_count}, offsets.data()},
                               {{results.data(), results.size()}, flag.data()}, DeviceScanCarry{},
                               scratch, told, stream());
    Synchronize();
    result.values = results.Read();
    result.overflow_flag = flag.Read()[0];
    return result;
  }

  // `columns` 0: a vector.
  template <class Out, class T>
  ScanResult<Out> Scan(const std::vector<T>& values, ScanSpec spec, uint64_t columns = 0,
                       uint64_t misalignment = 0) {
    const ArrayDescription array =
        columns == 0
            ? ArrayDescription::Vector(kElementTypeOf<T>, values.size())
            : ArrayDescription::Matrix(kElementTypeOf<T>, values.size() / columns, columns);
    spec.output_type = kElementTypeOf<Out>;
    const absl::StatusOr<ScanPlan> plan = PlanScan(array, spec);
    EXPECT_TRUE(plan.ok()) << plan.status();
    const DeviceArray<T> elements{std::span(values), misalignment};
    return Launch<Out>(*plan, elements.data(), misalignment);
  }

  // Scans elements that are all 1. Results are compared with expected(element) where 31 bits end,
  // and at both ends of the array.
  template <class Expected>
  void ExpectScanOfOnes(const ScanPlan& plan, const DeviceArray<int8_t>& ones,
                        const DeviceArray<int64_t>& results, Expected&& expected) {
    const uint64_t count = plan.array.element_count;
    const DeviceArray<uint32_t> flag(1);
    const DeviceArray<std::byte> memory(ScanScratchBytes(plan));
    Scratch scratch(memory.data(), memory.size());
    Synchronize();
    const absl::Status status =
        LaunchScan(plan, {{ones.data(), count}}, {{results.data(), count}, flag.data()},
                   DeviceScanCarry{}, scratch, properties(), stream());
    ASSERT_TRUE(status.ok()) << status;
    Synchronize();
    std::vector<int64_t> slice(10'000);
    for (const uint64_t begin : {uint64_t{0}, (uint64_t{1} << 31) - 5000, count - slice.size()}) {
      ASSERT_EQ(cudaMemcpy(slice.data(), results.data() + begin, slice.size() * sizeof(int64_t),
                           cudaMemcpyDeviceToHost),
                cudaSuccess);
      for (uint64_t i = 0; i < slice.size(); ++i) {
        ASSERT_EQ(slice[i], static_cast<int64_t>(expected(begin + i))) << "element " << begin + i;
      }
    }
  }

  // How many multiprocessors launches are told of, if not 0.
  int multiprocessors_told_ = 0;
};

template <class T>
std::vector<T> RandomIntegers(uint64_t count, int range, uint64_t seed) {
  std::mt19937_64 random(seed);
  std::uniform_int_distribution<int> distribution(-range, range);
  std::vector<T> values(count);
  for (T& value : values) value = static_cast<T>(distribution(random));
  return values;
}

// Of magnitudes so different that every change of the order of additions shows.
inline std::vector<float> RandomFloats(uint64_t count, uint64_t seed) {
  std::mt19937_64 random(seed);
  std::uniform_real_distribution<double> exponent(-30, 30);
  std::vector<float> values(count);
  for (float& value : values) {
    value = static_cast<float>(std::exp2(exponent(random)) * (random() % 2 == 0 ? 1 : -1));
  }
  return values;
}

inline ScanSpec SpecOf(ScanMode mode, ScanDirection direction = ScanDirection::kForward) {
  ScanSpec spec;
  spec.mode = mode;
  spec.direction = direction;
  return spec;
}

inline std::vector<ScanSpec> ModesAndDirections() {
  std::vector<ScanSpec> specs;
  for (const ScanMode mode : {ScanMode::kInclusive, ScanMode::kExclusive}) {
    for (const ScanDirection direction : {ScanDirection::kForward, ScanDirection::kReverse}) {
      specs.push_back(SpecOf(mode, direction));
    }
  }
  return specs;
}

// Values whose bits are equal.
template <class T>
void ExpectSameBits(const std::vector<T>& actual, const std::vector<T>& expected) {
  ASSERT_EQ(actual.size(), expected.size());
  if (actual.empty()) return;
  const auto* a = reinterpret_cast<const unsigned char*>(actual.data());
  const auto* e = reinterpret_cast<const unsigned char*>(expected.data());
  const auto* const end = a + actual.size() * sizeof(T);
  const auto [difference, unused] = std::mismatch(a, end, e);
  EXPECT_TRUE(difference == end) << "elements differ from " << (difference - a) / sizeof(T)
                                 << " on";
}

}  // namespace gridfold::kernels::cuda

#endif  // GRIDFOLD_KERNELS_CUDA_SCAN_SCAN_DEVICE_TEST_H_
