// Scans in vectors, by several threads: the order of additions and the results are those of one
// element after the other, and do not depend on instructions, threads or addresses.
#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <random>
#include <utility>
#include <vector>

#include "kernels/conformance/float_trees.h"
#include "kernels/contract/engine.h"
#include "kernels/cpu/base/instruction_set.h"

namespace gridfold::kernels::cpu {
namespace {

// 27 whole tiles and a part of one: three pieces and a part for threads, and most of a block.
constexpr uint64_t kElements = 27 * 4096 + 1234;

class ScanVectorsTest : public testing::TestWithParam<InstructionSet> {
 protected:
  ScanVectorsTest() { LimitInstructionSet(GetParam()); }
  ~ScanVectorsTest() override { LimitInstructionSet(InstructionSet::kAvx512); }
};
INSTANTIATE_TEST_SUITE_P(EveryInstructionSet, ScanVectorsTest,
                         testing::Values(InstructionSet::kBaseline, InstructionSet::kAvx2,
                                         InstructionSet::kAvx512));

ScanSpec SpecOf(ScanOperation operation, bool exclusive, bool reverse) {
  ScanSpec spec;
  spec.operation = operation;
  spec.mode = exclusive ? ScanMode::kExclusive : ScanMode::kInclusive;
  spec.direction = reverse ? ScanDirection::kReverse : ScanDirection::kForward;
  return spec;
}

// Runs a scan with all bytes moved by `shift_bytes`.
template <class Out, class T>
absl::StatusOr<std::vector<Out>> Scan(const std::vector<T>& samples, ScanSpec spec, int threads,
                                      size_t shift_bytes) {
  const auto engine = CreateEngine({.kind = EngineKind::kCpu, .cpu_threads = threads}).value();
  const auto lane = engine->CreateLane({1 << 24, 1 << 24, 1 << 20, 1 << 20}).value();
  spec.output_type = kElementTypeOf<Out>;
  const ScanPlan plan =
      PlanScan(ArrayDescription::Vector(kElementTypeOf<T>, samples.size()), std::move(spec))
          .value();
  std::vector<std::byte> input(samples.size() * sizeof(T) + shift_bytes);
  std::memcpy(input.data() + shift_bytes, samples.data(), input.size() - shift_bytes);
  std::vector<std::byte> output(samples.size() * sizeof(Out) + shift_bytes);
  RunStatistics run;
  const absl::Status status = lane->RunScan(
      plan, HostSpan{input.data() + shift_bytes, input.size() - shift_bytes},
      MutableHostSpan{output.data() + shift_bytes, output.size() - shift_bytes}, {}, run);
  if (!status.ok()) return status;
  std::vector<Out> results(samples.size());
  std::memcpy(results.data(), output.data() + shift_bytes, output.size() - shift_bytes);
  return results;
}

template <class T>
std::vector<T> RandomFloats(double low, double high) {
  std::mt19937_64 random(11);
  std::uniform_real_distribution<double> real(low, high);
  std::vector<T> samples(kElements);
  for (T& x : samples) x = static_cast<T>(real(random));
  return samples;
}

template <class T>
std::vector<uint64_t> BitsOf(const std::vector<T>& values) {
  std::vector<uint64_t> bits;
  for (const T x : values) {
    // Which NaN it is depends on the compiler.
    bits.push_back(x == x ? std::bit_cast<uint64_t>(static_cast<double>(x)) : ~uint64_t{0});
  }
  return bits;
}

// By the oracle, which takes every group's start from `starts`, in logical order.
template <class Out, class T>
std::vector<Out> ByTree(std::vector<T> samples, const std::vector<bool>& starts,
                        const ScanSpec& spec) {
  const bool reverse = spec.direction == ScanDirection::kReverse;
  if (reverse) std::reverse(samples.begin(), samples.end());
  std::vector<double> values;
  for (const T x : samples) {
    const bool ignored = spec.nan_policy == NanPolicy::kIgnore && x != x;
    const double empty = spec.operation == ScanOperation::kProduct ? 1 : 0;
    values.push_back(ignored ? empty : static_cast<double>(x));
  }
  std::vector<Out> results;
  for (const double x :
       conformance::ScanByTree(values, starts, {spec.operation == ScanOperation::kProduct},
                               spec.mode == ScanMode::kExclusive)) {
    results.push_back(static_cast<Out>(x));
  }
  if (reverse) std::reverse(results.begin(), results.end());
  return results;
}

template <class T, class Out>
void ExpectTheTree(std::vector<T> samples, const ScanSpec& spec, const std::vector<bool>& starts) {
  const std::vector<uint64_t> expected = BitsOf(ByTree<Out>(samples, starts, spec));
  for (const int threads : {1, 3}) {
    for (const size_t shift_bytes : {0, 1}) {
      const auto results = Scan<Out>(samples, spec, threads, shift_bytes);
      ASSERT_TRUE(results.ok()) << results.status();
      EXPECT_EQ(BitsOf(*results), expected) << threads << " threads, " << shift_bytes;
    }
  }
}

std::vector<ScanSpec> RoundedScans() {
  std::vector<ScanSpec> specs;
  for (const ScanOperation operation : {ScanOperation::kSum, ScanOperation::kProduct}) {
    for (const bool exclusive : {false, true}) {
      for (const bool reverse : {false, true}) {
        specs.push_back(SpecOf(operation, exclusive, reverse));
      }
    }
  }
  return specs;
}

TEST_P(ScanVectorsTest, RoundedSumsAndProductsFollowTheTree) {
  std::vector<bool> starts(kElements);
  starts[0] = true;
  for (const ScanSpec& spec : RoundedScans()) {
    const bool is_sum = spec.operation == ScanOperation::kSum;
    const double low = is_sum ? -1 : 0.5;
    const double high = is_sum ? 3 : 1.7;
    ExpectTheTree<float, float>(RandomFloats<float>(low, high), spec, starts);
    ExpectTheTree<float, double>(RandomFloats<float>(low, high), spec, starts);
    ExpectTheTree<double, double>(RandomFloats<double>(low, high), spec, starts);
  }
}

TEST_P(ScanVectorsTest, NansAreCarriedOrIgnored) {
  std::vector<bool> starts(kElements);
  starts[0] = true;
  std::vector<float> samples = RandomFloats<float>(0, 1);
  for (const uint64_t i : {uint64_t{4096 * 9 + 700}, uint64_t{4096 * 20}}) samples[i] = NAN;
  for (const NanPolicy policy : {NanPolicy::kPropagate, NanPolicy::kIgnore}) {
    for (ScanSpec spec : RoundedScans()) {
      spec.nan_policy = policy;
      ExpectTheTree<float, float>(samples, spec, starts);
    }
  }
}

TEST_P(ScanVectorsTest, TilesInAGroupAreAsTilesOfAnArray) {
  // Groups that start at, before and after whole tiles.
  const std::vector<uint64_t> offsets = {0,         3,         4096,          4096 * 4 - 1,
                                         4096 * 12, 4096 * 13, 4096 * 25 + 9, kElements};
  for (ScanSpec spec : RoundedScans()) {
    spec.grouping = {GroupingKind::kSegments, offsets};
    std::vector<bool> starts(kElements);
    for (size_t g = 0; g + 1 < offsets.size(); ++g) {
      const bool reverse = spec.direction == ScanDirection::kReverse;
      starts[reverse ? kElements - offsets[g + 1] : offsets[g]] = true;
    }
    ExpectTheTree<float, float>(RandomFloats<float>(0.5, 1.5), spec, starts);
  }
}

template <class T, class Out, class Join>
std::vector<Out> OneAfterTheOther(const std::vector<T>& samples, Out first, bool exclusive,
                                  Join join) {
  std::vector<Out> results;
  Out value = first;
  for (const T x : samples) {
    const Out before = value;
    value = join(value, x);
    results.push_back(exclusive ? before : value);
  }
  return results;
}

template <class T>
std::vector<T> RandomIntegers() {
  std::mt19937_64 random(12);
  std::vector<T> samples(kElements);
  for (T& x : samples) x = static_cast<T>(random());
  return samples;
}

template <class T, class Out>
void ExpectWrappedSums() {
  const std::vector<T> samples = RandomIntegers<T>();
  for (const bool exclusive : {false, true}) {
    const auto expected = OneAfterTheOther<T, Out>(samples, 0, exclusive, [](Out sum, T x) {
      return static_cast<Out>(static_cast<uint64_t>(sum) + static_cast<uint64_t>(x));
    });
    ScanSpec spec = SpecOf(ScanOperation::kSum, exclusive, /*reverse=*/false);
    spec.overflow_policy = OverflowPolicy::kWrap;
    for (const int threads : {1, 3})
      EXPECT_EQ(Scan<Out>(samples, spec, threads, 0).value(), expected);
  }
}

TEST_P(ScanVectorsTest, SumsOfIntegersWrap) {
  ExpectWrappedSums<int8_t, int8_t>();
  ExpectWrappedSums<int8_t, int64_t>();
  ExpectWrappedSums<uint16_t, uint16_t>();
  ExpectWrappedSums<uint16_t, uint64_t>();
  ExpectWrappedSums<int32_t, int32_t>();
  ExpectWrappedSums<uint32_t, uint64_t>();
  ExpectWrappedSums<int64_t, int64_t>();
}

TEST_P(ScanVectorsTest, OneSumThatDoesNotFitIsAnError) {
  // 100 fits, and 200 after the element at `place` does not; the next one makes it fit again.
  for (const uint64_t place :
       {uint64_t{0}, uint64_t{15}, uint64_t{4095}, uint64_t{4096 * 17 + 513}, kElements - 2}) {
    std::vector<int8_t> samples(kElements, 0);
    samples[0] = 100;
    for (const int threads : {1, 3}) EXPECT_TRUE(Scan<int8_t>(samples, {}, threads, 0).ok());
    samples[place] = static_cast<int8_t>(samples[place] + 100 - (place == 0 ? 100 : 0));
    samples[place + 1] = place == 0 ? 28 : -100;
    for (const int threads : {1, 3}) {
      EXPECT_EQ(Scan<int8_t>(samples, {}, threads, 0).status().code(),
                absl::StatusCode::kOutOfRange)
          << place;
      EXPECT_TRUE(Scan<int64_t>(samples, {}, threads, 0).ok());
    }
  }
}

TEST_P(ScanVectorsTest, ExtremesKeepTheFirstOfEqualsAndTheFirstNan) {
  std::vector<float> samples = RandomFloats<float>(-5, 5);
  for (float& x : samples) x = std::trunc(x);  // Many equals, and zeros of both signs.
  samples[100] = -0.0F;
  samples[4096 * 21 + 77] = NAN;
  for (const bool is_max : {false, true}) {
    const auto join = [&](float a, float b) {
      if (a != a) return a;
      if (b != b) return b;
      return (is_max ? b > a : b < a) ? b : a;
    };
    for (const bool exclusive : {false, true}) {
      const float first = is_max ? -INFINITY : INFINITY;
      const auto expected = OneAfterTheOther<float, float>(samples, first, exclusive, join);
      const ScanSpec spec = SpecOf(is_max ? ScanOperation::kMax : ScanOperation::kMin, exclusive,
                                   /*reverse=*/false);
      for (const int threads : {1, 3}) {
        EXPECT_EQ(BitsOf(Scan<float>(samples, spec, threads, 1).value()), BitsOf(expected));
      }
    }
  }
}

}  // namespace
}  // namespace gridfold::kernels::cpu
