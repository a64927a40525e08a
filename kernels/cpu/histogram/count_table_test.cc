#include "kernels/cpu/histogram/count_table.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <random>
#include <tuple>
#include <vector>

#include "kernels/numerics/bins/layout_test.h"

namespace gridfold::kernels::cpu {
namespace {

template <class T>
class CountTableTest : public testing::Test {
 protected:
  ~CountTableTest() override { LimitInstructionSet(InstructionSet::kAvx512); }
};
TYPED_TEST_SUITE(CountTableTest, AllTypes);

template <class T>
std::vector<T> SamplesAround(double lower, double upper, int count) {
  std::mt19937_64 random(3);
  std::uniform_real_distribution<double> real(lower, upper);
  std::vector<T> samples;
  while (samples.size() < static_cast<size_t>(count)) {
    for (const T x : ValuesAround<T>(real(random))) samples.push_back(x);
  }
  return samples;
}

struct Outside {
  uint64_t unsure = 0;
  uint64_t below = 0;
  uint64_t above = 0;

  bool operator==(const Outside&) const = default;
};

// Counts of whom the guess is sure, by comparison with the edges. It is sure of samples outside the
// bins but for those that are rounded to a bound.
template <class T>
std::vector<uint64_t> ExpectedCounts(const std::vector<T>& samples, const BinLayout& bins,
                                     const BinGuesser& guesser, Outside& outside) {
  std::vector<uint64_t> counts(bins.bin_count);
  for (const T x : samples) {
    const int64_t bin = LocateBin(bins, x);
    const double nearest = static_cast<double>(ToCompute(x));
    if (nearest < bins.lower || nearest > bins.upper) {
      ++(bin == kUnderflowBin ? outside.below : outside.above);
    } else if (!IsSure(guesser, GuessBinNearest(guesser, x))) {
      ++outside.unsure;
    } else {
      ++counts.at(static_cast<uint64_t>(bin));
    }
  }
  return counts;
}

TYPED_TEST(CountTableTest, CountsWhatTheGuessIsSureOf) {
  for (const auto& [lower, upper, bin_count] : {std::tuple(0.0, 100.0, 1),
                                                {-3.0, 90.5, 7},
                                                {0.0, 100.0, 2048},
                                                {0.0, 120.0, 2049},
                                                {0.0, 100.0, 70'000}}) {
    const BinLayout bins = BinLayout::Even(lower, upper, bin_count);
    const BinGuesser guesser =
        MakeBinGuesser(bins, kSampleKindOf<TypeParam>, GuessRounding::kNearest).value();
    for (const int count : {0, 1, 31, 32, 159, 160, 161, 1023, 1024, 1025, 5000}) {
      // Also outside the bins, and at an odd address.
      std::vector<TypeParam> samples = SamplesAround<TypeParam>(-10, 125, count);
      std::vector<std::byte> bytes(samples.size() * sizeof(TypeParam) + 1);
      std::memcpy(bytes.data() + 1, samples.data(), bytes.size() - 1);
      Outside expected_outside;
      const std::vector<uint64_t> expected =
          ExpectedCounts(samples, bins, guesser, expected_outside);
      for (const InstructionSet most :
           {InstructionSet::kBaseline, InstructionSet::kAvx2, InstructionSet::kAvx512}) {
        LimitInstructionSet(most);
        CountTable table(bin_count);
        table.Expect(samples.size());
        Outside outside;
        for (uint64_t first = 0; first < samples.size(); first += CountTable::kCountedAtOnce) {
          const uint64_t n = std::min(CountTable::kCountedAtOnce, samples.size() - first);
          const uint64_t before = outside.unsure;
          const CountTable::Counted counted =
              table.CountSure<TypeParam>(bytes.data() + 1 + first * sizeof(TypeParam), n, guesser);
          for (uint64_t i = 0; i < n; ++i) outside.unsure += table.HasCounted(i) ? 0 : 1;
          outside.below += counted.below;
          outside.above += counted.above;
          EXPECT_EQ(counted.all, outside.unsure == before);
        }
        EXPECT_EQ(outside, expected_outside);
        std::vector<uint64_t> counts(bin_count);
        table.AddTo(0, bin_count, counts.data());
        EXPECT_EQ(counts, expected) << bin_count << " bins, " << samples.size() << " samples";
      }
    }
  }
}

TEST(CountTableTest, EmptyingLosesNoCounts) {
  constexpr uint64_t kMost = 0xFFFF'FFFF;
  CountTable table(3);
  std::vector<uint64_t> totals = {0, 100, 0};
  for (int i = 0; i < 4; ++i) {
    table.Expect(kMost);  // Of which few come, or the test would take long.
    table.Count(1);
    table.Count(2);
  }
  table.Expect(1);
  table.Count(2);
  table.AddTo(0, 3, totals.data());
  EXPECT_EQ(totals, (std::vector<uint64_t>{0, 104, 5}));
}

}  // namespace
}  // namespace gridfold::kernels::cpu
