// Prefix sums of integers one after the other, and results that are written past the caches,
// against sums in 128 bits and the tree of additions.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <limits>
#include <optional>
#include <random>
#include <type_traits>
#include <utility>
#include <vector>

#include "kernels/conformance/float_trees.h"
#include "kernels/contract/engine.h"
#include "kernels/cpu/base/instruction_set.h"
#include "kernels/cpu/base/streaming_store.h"

namespace gridfold::kernels::cpu {
namespace {

struct Way {
  bool exclusive = false;
  bool reverse = false;
  bool wrap = false;
  int threads = 1;
  size_t shift_bytes = 0;  // Of the results.
};

constexpr InstructionSet kInstructionSets[] = {InstructionSet::kBaseline, InstructionSet::kAvx2,
                                               InstructionSet::kAvx512};

// Runs what follows with no better instructions.
class InstructionLimit {
 public:
  explicit InstructionLimit(InstructionSet most) { LimitInstructionSet(most); }
  ~InstructionLimit() { LimitInstructionSet(InstructionSet::kAvx512); }
};

// Nothing where a sum does not fit.
template <class Out, class T>
std::optional<std::vector<Out>> Scan(const std::vector<T>& samples, const Way& way) {
  const auto engine = CreateEngine({.kind = EngineKind::kCpu, .cpu_threads = way.threads}).value();
  const auto lane = engine->CreateLane({1 << 27, 1 << 27, 1, 1}).value();
  ScanSpec spec;
  spec.mode = way.exclusive ? ScanMode::kExclusive : ScanMode::kInclusive;
  spec.direction = way.reverse ? ScanDirection::kReverse : ScanDirection::kForward;
  spec.overflow_policy = way.wrap ? OverflowPolicy::kWrap : OverflowPolicy::kError;
  spec.output_type = kElementTypeOf<Out>;
  const ScanPlan plan =
      PlanScan(ArrayDescription::Vector(kElementTypeOf<T>, samples.size()), std::move(spec))
          .value();
  const size_t size_bytes = samples.size() * sizeof(Out);
  std::vector<std::byte> output(size_bytes + way.shift_bytes + 1, std::byte{77});
  RunStatistics run;
  const absl::Status status = lane->RunScan(
      plan,
      HostSpan{reinterpret_cast<const std::byte*>(samples.data()), samples.size() * sizeof(T)},
      MutableHostSpan{output.data() + way.shift_bytes, size_bytes}, {}, run);
  EXPECT_EQ(output.back(), std::byte{77});
  if (!status.ok()) {
    EXPECT_EQ(status.code(), absl::StatusCode::kOutOfRange) << status;
    return std::nullopt;
  }
  std::vector<Out> results(samples.size());
  std::memcpy(results.data(), output.data() + way.shift_bytes, size_bytes);
  return results;
}

template <class Out, class T>
std::optional<std::vector<Out>> ByWideSums(std::vector<T> samples, const Way& way) {
  if (way.reverse) std::reverse(samples.begin(), samples.end());
  std::vector<Out> results;
  bool fits = true;
  __int128 sum = 0;
  for (const T x : samples) {
    const __int128 before = sum;
    sum += x;
    const __int128 result = way.exclusive ? before : sum;
    fits &= result >= std::numeric_limits<Out>::min() && result <= std::numeric_limits<Out>::max();
    results.push_back(static_cast<Out>(static_cast<unsigned __int128>(result)));
  }
  if (way.reverse) std::reverse(results.begin(), results.end());
  return fits || way.wrap ? std::optional(results) : std::nullopt;
}

template <class Out, class T>
void ExpectWideSums(const std::vector<T>& samples) {
  for (const bool exclusive : {false, true}) {
    for (const bool reverse : {false, true}) {
      for (const bool wrap : {false, true}) {
        const auto expected = ByWideSums<Out>(samples, {exclusive, reverse, wrap});
        for (const int threads : {1, 3}) {
          for (const InstructionSet most : kInstructionSets) {
            const InstructionLimit limit(most);
            ASSERT_EQ(Scan<Out>(samples, {exclusive, reverse, wrap, threads}), expected)
                << exclusive << reverse << wrap << threads << static_cast<int>(most);
          }
        }
      }
    }
  }
}

template <class T>
class ScanRunningSumTest : public testing::Test {};
using Integers =
    testing::Types<int8_t, uint8_t, int16_t, uint16_t, int32_t, uint32_t, int64_t, uint64_t>;
TYPED_TEST_SUITE(ScanRunningSumTest, Integers);

// Whole tiles in three pieces for threads, and a part of one.
constexpr uint64_t kElements = 17 * 4096 + 1234;

TYPED_TEST(ScanRunningSumTest, SumsOfAllBitsWrap) {
  using Accumulator = std::conditional_t<std::is_signed_v<TypeParam>, int64_t, uint64_t>;
  std::mt19937_64 random(21);
  std::vector<TypeParam> samples(kElements);
  for (TypeParam& x : samples) x = static_cast<TypeParam>(random());
  ExpectWideSums<TypeParam>(samples);
  ExpectWideSums<Accumulator>(samples);
}

// The sum is the largest that fits up to `place`, where one more comes; then it fits again, if the
// type is signed. In an exclusive scan the last element's sum is nobody's.
TYPED_TEST(ScanRunningSumTest, TheFirstSumThatDoesNotFitIsAnError) {
  for (const uint64_t place :
       {uint64_t{1}, uint64_t{511}, uint64_t{512}, uint64_t{4095}, uint64_t{4096},
        uint64_t{8 * 4096 - 1}, uint64_t{16 * 4096 + 513}, kElements - 2, kElements - 1}) {
    std::vector<TypeParam> samples(kElements, 0);
    samples[0] = std::numeric_limits<TypeParam>::max();
    ExpectWideSums<TypeParam>(samples);
    samples[place] = 1;
    if (std::is_signed_v<TypeParam> && place + 1 < kElements) {
      samples[place + 1] = static_cast<TypeParam>(-1);
    }
    ExpectWideSums<TypeParam>(samples);
  }
}

TYPED_TEST(ScanRunningSumTest, TheFirstSumBelowTheSmallestIsAnError) {
  if (!std::is_signed_v<TypeParam>) return;
  for (const uint64_t place : {uint64_t{4096}, kElements - 1}) {
    std::vector<TypeParam> samples(kElements, 0);
    samples[0] = std::numeric_limits<TypeParam>::lowest();
    samples[place] = static_cast<TypeParam>(-1);
    ExpectWideSums<TypeParam>(samples);
  }
}

// Results just large enough to be streamed, with a part of a tile after whole ones, at addresses
// that allow it and that do not.
template <class T, class Out = T>
std::vector<T> Streamed() {
  std::mt19937_64 random(22);
  std::vector<T> samples(kStreamedBytesMin / sizeof(Out) + 1234);
  for (T& x : samples) x = static_cast<T>(random() % 1000);
  return samples;
}

template <class Out, class T>
void ExpectStreamed(const std::vector<T>& samples, const std::vector<Out>& expected,
                    bool exclusive) {
  for (const int threads : {1, 3}) {
    for (const size_t shift_bytes : {0, 8, 16}) {
      const Way way{.exclusive = exclusive, .threads = threads, .shift_bytes = shift_bytes};
      const auto results = Scan<Out>(samples, way);
      ASSERT_TRUE(results.has_value());
      ASSERT_TRUE(*results == expected) << threads << " threads, " << shift_bytes;
    }
  }
}

TEST(ScanStreamingTest, IntegersAreThoseOfWideSums) {
  for (const bool exclusive : {false, true}) {
    const auto expect = [=]<class Out>(const auto& samples, Out) {
      ExpectStreamed(samples, *ByWideSums<Out>(samples, {.exclusive = exclusive}), exclusive);
    };
    expect(Streamed<uint32_t>(), uint32_t{});
    expect(Streamed<int64_t>(), int64_t{});
    expect(Streamed<int16_t, int64_t>(), int64_t{});
  }
}

template <class T>
void ExpectStreamedTree() {
  const std::vector<T> samples = Streamed<T>();
  std::vector<bool> starts(samples.size());
  starts[0] = true;
  for (const bool exclusive : {false, true}) {
    std::vector<T> expected;
    const std::vector<double> values(samples.begin(), samples.end());
    for (const double x : conformance::ScanByTree(values, starts, {false}, exclusive)) {
      expected.push_back(static_cast<T>(x));
    }
    ExpectStreamed(samples, expected, exclusive);
  }
}

TEST(ScanStreamingTest, FloatsFollowTheTree) {
  ExpectStreamedTree<float>();
  ExpectStreamedTree<double>();
}

}  // namespace
}  // namespace gridfold::kernels::cpu
