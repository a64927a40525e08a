// Accumulators whose parts are well-formed and contradict each other: a rule of
// contradictions.h or of histogram_accumulator.cc for each, and for each rule genuine
// states beside it. And states of elements of every kind, which no rule may refuse.
#include "kernels/accumulators/contradictions.h"

#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <functional>
#include <limits>
#include <random>
#include <string>
#include <vector>

#include "kernels/accumulators/accumulator_test_util.h"
#include "kernels/accumulators/histogram_accumulator.h"
#include "kernels/accumulators/reduction_accumulator.h"
#include "kernels/contract/plan_test_util.h"

namespace gridfold::kernels {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

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

template <class T>
State<T> StateOf(const std::vector<T>& elements, bool ignore_nan) {
  State<T> state;
  for (size_t i = 0; i < elements.size(); ++i) state.Add(ToCompute(elements[i]), i, ignore_nan);
  return state;
}

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

// A forgery: what is changed of the state of these elements, and how many there are said to be.
template <class T>
struct Forgery {
  std::vector<T> elements;
  std::function<void(State<T>&)> change;
  bool ignore_nan = false;
  uint64_t element_count = 0;  // 0: as many as there are.
  std::vector<Statistic> statistics = AllStatistics<T>();
};

template <class T>
void ExpectRefused(const Forgery<T>& forgery) {
  State<T> state = StateOf(forgery.elements, forgery.ignore_nan);
  EXPECT_TRUE(MergeAll({BytesOfState<T>(state, forgery.elements.size(), forgery.ignore_nan,
                                        forgery.statistics)},
                       /*partial=*/true)
                  .ok());
  forgery.change(state);
  const uint64_t count =
      forgery.element_count == 0 ? forgery.elements.size() : forgery.element_count;
  ExpectInvalid(
      MergeAll({BytesOfState<T>(state, count, forgery.ignore_nan, forgery.statistics)}, true)
          .status(),
      "accumulators[0]");
}

// --- One test for each rule.

TEST(ContradictionTest, MoreNonzerosThanElements) {
  ExpectRefused<int32_t>({.elements = {1, 0, 3},
                          .change = [](auto& s) { s.template Part<kTallyPart>().nonzero = 3; },
                          .statistics = {Statistic::kNonzeroCount, Statistic::kMin}});
  ExpectRefused<double>({.elements = {1, NAN, 3},
                         .change = [](auto& s) { s.template Part<kTallyPart>().nonzero = 3; },
                         .ignore_nan = true,
                         .statistics = {Statistic::kNonzeroCount}});
}

TEST(ContradictionTest, NansAndInfinitiesAreOtherThanZero) {
  ExpectRefused<float>({.elements = {0, 1},
                        .change = [](auto& s) { s.template Part<kTallyPart>().nan = 2; },
                        .statistics = {Statistic::kNanCount}});
  ExpectRefused<float>({.elements = {0, 1},
                        .change = [](auto& s) { s.template Part<kTallyPart>().infinite = 2; },
                        .ignore_nan = true,
                        .statistics = {Statistic::kInfinityCount}});
}

TEST(ContradictionTest, MinAboveMax) {
  ExpectRefused<int16_t>({.elements = {1, 5}, .change = [](auto& s) {
                            s.template Part<kExtremesPart>().min.value = 6;
                          }});
}

TEST(ContradictionTest, MeanOutsideTheExtremes) {
  for (const Statistic mean : {Statistic::kMean, Statistic::kSum}) {
    ExpectRefused<double>({.elements = {1, 2, 3},
                           .change = [](auto& s) { s.template Part<kSumPart>().sum.Add(4); },
                           .statistics = {mean, Statistic::kMin, Statistic::kMax}});
    ExpectRefused<float>({.elements = {1, 1, 1},
                          .change = [](auto& s) { s.template Part<kSumPart>().sum.Add(-1e-30F); },
                          .ignore_nan = true,
                          .statistics = {mean, Statistic::kMin}});
    ExpectRefused<int64_t>({.elements = {1, 2, 3},
                            .change = [](auto& s) { s.template Part<kSumPart>().sum += 3; },
                            .statistics = {mean, Statistic::kMax}});
  }
}

// By as little as the sum of one smallest and one largest element leaves room for.
TEST(ContradictionTest, SumWithoutRoomForBothExtremes) {
  ExpectRefused<uint8_t>({.elements = {0, 0, 200},
                          .change = [](auto& s) { s.template Part<kSumPart>().sum = 199; },
                          .statistics = {Statistic::kSum, Statistic::kMax}});
}

TEST(ContradictionTest, SumOfOtherThanTheOneElement) {
  ExpectRefused<Float16>({.elements = {Float16::FromDouble(3)},
                          .change = [](auto& s) { s.template Part<kSumPart>().sum.Add(0.5F); }});
}

TEST(ContradictionTest, SumOfMoreThanTheNonzeroElementsHold) {
  ExpectRefused<int8_t>({.elements = {100, 0, 0, 0},
                         .change = [](auto& s) { s.template Part<kSumPart>().sum = 200; },
                         .statistics = {Statistic::kSum, Statistic::kNonzeroCount}});
  ExpectRefused<Float16>({.elements = {Float16::FromDouble(1)},
                          .change = [](auto& s) { s.template Part<kSumPart>().sum.Add(65505.0F); },
                          .statistics = {Statistic::kSum}});
}

TEST(ContradictionTest, ExtremesOfElementsThatAreAllIgnored) {
  ExpectRefused<double>(
      {.elements = {NAN, 1},
       .change = [](auto& s) { s.template Part<kTallyPart>() = {.nonzero = 0, .nan = 2}; },
       .ignore_nan = true,
       .statistics = {Statistic::kMin, Statistic::kNanCount}});
  ExpectRefused<double>({.elements = {NAN, 1},
                         .change = [](auto& s) { s.template Part<kExtremesPart>() = {}; },
                         .ignore_nan = true,
                         .statistics = {Statistic::kMin, Statistic::kNanCount}});
}

TEST(ContradictionTest, NanExtremesUnderIgnore) {
  ExpectRefused<float>({.elements = {NAN, 1},
                        .change =
                            [](auto& s) {
                              s.template Part<kExtremesPart>().min.value = NAN;
                              s.template Part<kExtremesPart>().max.value = NAN;
                            },
                        .ignore_nan = true,
                        .statistics = {Statistic::kMin}});
}

TEST(ContradictionTest, NanExtremesWithoutNans) {
  ExpectRefused<float>({.elements = {2, 2},
                        .change =
                            [](auto& s) {
                              s.template Part<kExtremesPart>().min.value = NAN;
                              s.template Part<kExtremesPart>().max.value = NAN;
                            },
                        .statistics = {Statistic::kMin, Statistic::kNanCount}});
  ExpectRefused<float>({.elements = {NAN, 2},
                        .change =
                            [](auto& s) {
                              s.template Part<kExtremesPart>().min.value = 2;
                              s.template Part<kExtremesPart>().max.value = 2;
                            },
                        .statistics = {Statistic::kMin, Statistic::kNanCount}});
}

TEST(ContradictionTest, OneElementWithTwoIndices) {
  const auto move_max = [](auto& s) { s.template Part<kExtremesPart>().max.index = 1; };
  ExpectRefused<int32_t>({.elements = {7, 7}, .change = move_max});
  ExpectRefused<float>({.elements = {NAN, 7}, .change = move_max});
}

TEST(ContradictionTest, TwoExtremesOfOneElement) {
  ExpectRefused<int32_t>({.elements = {7},
                          .change =
                              [](auto& s) {
                                s.template Part<kExtremesPart>().max = {8, 1};
                              },
                          .statistics = {Statistic::kMax}});
}

TEST(ContradictionTest, InfinitiesThatNobodyCounted) {
  const auto no_infinities = [](auto& s) { s.template Part<kTallyPart>().infinite = 0; };
  ExpectRefused<double>({.elements = {1, kInfinity},
                         .change = no_infinities,
                         .statistics = {Statistic::kMax, Statistic::kInfinityCount}});
  ExpectRefused<double>({.elements = {1, -kInfinity},
                         .change = no_infinities,
                         .statistics = {Statistic::kSum, Statistic::kInfinityCount}});
  const auto one_infinity = [](auto& s) { s.template Part<kTallyPart>().infinite = 1; };
  for (const Statistic statistic : {Statistic::kMin, Statistic::kSum}) {
    ExpectRefused<double>({.elements = {kInfinity, -kInfinity},
                           .change = one_infinity,
                           .statistics = {statistic, Statistic::kInfinityCount}});
  }
  ExpectRefused<double>({.elements = {1, 2},
                         .change = one_infinity,
                         .statistics = {Statistic::kMin, Statistic::kInfinityCount}});
}

TEST(ContradictionTest, FiniteElementsBeyondInfiniteExtremes) {
  ExpectRefused<float>({.elements = {INFINITY, INFINITY},
                        .change = [](auto& s) { s.template Part<kTallyPart>().infinite = 1; },
                        .statistics = {Statistic::kMin, Statistic::kInfinityCount}});
}

TEST(ContradictionTest, ZerosOutsideTheExtremes) {
  ExpectRefused<int32_t>({.elements = {1, 2},
                          .change = [](auto& s) { s.template Part<kTallyPart>().nonzero = 1; },
                          .statistics = {Statistic::kMin, Statistic::kNonzeroCount}});
  ExpectRefused<int32_t>({.elements = {0, 2},
                          .change = [](auto& s) { s.template Part<kTallyPart>().nonzero = 2; },
                          .statistics = {Statistic::kMin, Statistic::kNonzeroCount}});
  ExpectRefused<int32_t>({.elements = {0, 0},
                          .change = [](auto& s) { s.template Part<kTallyPart>().nonzero = 1; },
                          .statistics = {Statistic::kMin, Statistic::kNonzeroCount}});
}

TEST(ContradictionTest, SumsThatSawOtherThanTheExtremes) {
  const auto saw = [](uint32_t flags) {
    return [flags](State<double>& s) {
      s.Part<kSumPart>().sum = {};
      s.Part<kSumPart>().sum.AddFlags(kSawOtherThanNegativeZero | flags);
    };
  };
  for (const uint32_t flags : {kSawPositiveInfinity, kSawNegativeInfinity, kSawNan}) {
    ExpectRefused<double>({.elements = {1, 2},
                           .change = saw(flags),
                           .statistics = {Statistic::kSum, Statistic::kMax}});
  }
  ExpectRefused<double>({.elements = {1, kInfinity},
                         .change = saw(kSawNegativeInfinity),
                         .statistics = {Statistic::kSum, Statistic::kMax}});
  ExpectRefused<double>(
      {.elements = {1, NAN}, .change = saw(0), .statistics = {Statistic::kSum, Statistic::kMax}});
  ExpectRefused<double>({.elements = {1, NAN},
                         .change = saw(kSawPositiveInfinity),
                         .statistics = {Statistic::kSum, Statistic::kNanCount}});
}

// -0.0 is the sum of negative zeros only.
TEST(ContradictionTest, NegativeZeroOfOtherElements) {
  const auto clear = [](auto& s) { s.template Part<kSumPart>().sum = {}; };
  ExpectRefused<float>({.elements = {1, -1},
                        .change = clear,
                        .statistics = {Statistic::kSum, Statistic::kNonzeroCount}});
  ExpectRefused<float>(
      {.elements = {0, 0}, .change = clear, .statistics = {Statistic::kSum, Statistic::kMin}});
}

TEST(ContradictionTest, SquaresAndMagnitudesAreNotNegative) {
  for (const uint32_t flags : {kSawNegativeInfinity, kSawNan}) {
    ExpectRefused<double>({.elements = {1, 2},
                           .change =
                               [flags](auto& s) {
                                 s.template Part<kSquaresPart>().sum = {};
                                 s.template Part<kSquaresPart>().sum.AddFlags(
                                     kSawOtherThanNegativeZero | flags);
                               },
                           .ignore_nan = true,
                           .statistics = {Statistic::kL2Norm}});
    ExpectRefused<double>({.elements = {1, 2},
                           .change =
                               [flags](auto& s) {
                                 s.template Part<kMagnitudesPart>().sum = {};
                                 s.template Part<kMagnitudesPart>().sum.AddFlags(
                                     kSawOtherThanNegativeZero | flags);
                               },
                           .ignore_nan = true,
                           .statistics = {Statistic::kL1Norm}});
  }
}

TEST(ContradictionTest, NegativeVariance) {
  ExpectRefused<double>({.elements = {3, 3, 3},
                         .change =
                             [](auto& s) {
                               s.template Part<kSquaresPart>().sum = {};
                               for (const double x : {3.0, 3.0, 2.9999}) {
                                 s.template Part<kSquaresPart>().sum.AddSquare(x);
                               }
                             },
                         .statistics = {Statistic::kVariance}});
  ExpectRefused<int32_t>({.elements = {3, 3, 3},
                          .change = [](auto& s) { s.template Part<kSquaresPart>().sum -= 2; },
                          .statistics = {Statistic::kStandardDeviation}});
}

TEST(ContradictionTest, SquaresBeyondTheExtremes) {
  ExpectRefused<int64_t>({.elements = {1, -4, 2},
                          .change =
                              [](auto& s) {
                                s.template Part<kSquaresPart>().sum = Uint192{{49, 0, 0}};
                              },
                          .statistics = {Statistic::kL2Norm, Statistic::kMax}});
  ExpectRefused<int64_t>({.elements = {1, -4, 2},
                          .change =
                              [](auto& s) {
                                s.template Part<kSquaresPart>().sum = Uint192{{19, 0, 0}};
                              },
                          .statistics = {Statistic::kL2Norm, Statistic::kMax}});
}

TEST(ContradictionTest, FewerSquaresThanNonzeros) {
  ExpectRefused<int32_t>({.elements = {1, 1, 1},
                          .change = [](auto& s) { s.template Part<kSquaresPart>().sum = 2; },
                          .statistics = {Statistic::kL2Norm, Statistic::kNonzeroCount}});
  ExpectRefused<int32_t>({.elements = {1, 1, 1},
                          .change = [](auto& s) { s.template Part<kMagnitudesPart>().sum = 2; },
                          .statistics = {Statistic::kL1Norm, Statistic::kNonzeroCount}});
}

TEST(ContradictionTest, MagnitudesSmallerThanTheSum) {
  ExpectRefused<float>({.elements = {1, 2, -1},
                        .change =
                            [](auto& s) {
                              s.template Part<kMagnitudesPart>().sum = {};
                              s.template Part<kMagnitudesPart>().sum.Add(1);
                            },
                        .statistics = {Statistic::kSum, Statistic::kL1Norm}});
}

// They differ by twice the negative elements.
TEST(ContradictionTest, MagnitudesAndSumOfUnlikeParity) {
  ExpectRefused<int32_t>({.elements = {1, 2, -1},
                          .change = [](auto& s) { s.template Part<kMagnitudesPart>().sum = 5; },
                          .statistics = {Statistic::kSum, Statistic::kL1Norm}});
}

TEST(ContradictionTest, MagnitudesOfElementsOfOneSignAreTheSum) {
  ExpectRefused<int32_t>({.elements = {1, 2, 2},
                          .change = [](auto& s) { s.template Part<kMagnitudesPart>().sum = 3; },
                          .statistics = {Statistic::kSum, Statistic::kL1Norm, Statistic::kMin}});
  ExpectRefused<double>({.elements = {-1, -2},
                         .change = [](auto& s) { s.template Part<kMagnitudesPart>().sum.Add(1); },
                         .statistics = {Statistic::kSum, Statistic::kL1Norm, Statistic::kMax}});
}

TEST(ContradictionTest, MagnitudesBeyondTheExtremes) {
  for (const int sum : {19, 4}) {
    ExpectRefused<int32_t>(
        {.elements = {1, -4, 2},
         .change = [sum](auto& s) { s.template Part<kMagnitudesPart>().sum = sum; },
         .statistics = {Statistic::kL1Norm, Statistic::kMax}});
  }
}

TEST(ContradictionTest, SquaresOfUnlikeParity) {
  ExpectRefused<int32_t>({.elements = {1, 2, 4},
                          .change = [](auto& s) { s.template Part<kSquaresPart>().sum += 1; },
                          .statistics = {Statistic::kVariance}});
}

TEST(ContradictionTest, ProductsThatKnowOfOtherZeros) {
  const auto zero = [](auto& s) { s.template Part<kProductPart>().product.has_zero = true; };
  const auto no_zero = [](auto& s) { s.template Part<kProductPart>().product.has_zero = false; };
  for (const Statistic other : {Statistic::kNonzeroCount, Statistic::kMin}) {
    ExpectRefused<int32_t>(
        {.elements = {2, 3}, .change = zero, .statistics = {Statistic::kProduct, other}});
    ExpectRefused<int32_t>(
        {.elements = {0, 3}, .change = no_zero, .statistics = {Statistic::kProduct, other}});
  }
}

TEST(ContradictionTest, ProductsThatAreNoneOfTheExtremes) {
  const std::vector<Statistic> statistics = {Statistic::kProduct, Statistic::kMax};
  ExpectRefused<int32_t>(
      {.elements = {2, 3},
       .change = [](auto& s) { s.template Part<kProductPart>().product.negative = true; },
       .statistics = statistics});
  ExpectRefused<int32_t>(
      {.elements = {2, 7},
       .change = [](auto& s) { s.template Part<kProductPart>().product.magnitude = 6; },
       .statistics = statistics});
  ExpectRefused<int32_t>(
      {.elements = {7},
       .change = [](auto& s) { s.template Part<kProductPart>().product.magnitude = 8; },
       .statistics = statistics});
  ExpectRefused<int32_t>(
      {.elements = {2, 7},
       .change = [](auto& s) { s.template Part<kProductPart>().product.too_large = true; },
       .statistics = statistics});
}

TEST(ContradictionTest, BitsThatAreNoneOfTheElements) {
  const std::vector<Statistic> statistics = {Statistic::kBitwiseXor, Statistic::kMin,
                                             Statistic::kNonzeroCount, Statistic::kSum};
  // Of two elements a bit that both have is not in the exclusive or.
  ExpectRefused<uint8_t>({.elements = {3, 5},
                          .change = [](auto& s) { s.template Part<kBitsPart>().parity = 7; },
                          .statistics = {Statistic::kBitwiseXor}});
  ExpectRefused<uint8_t>({.elements = {3},
                          .change = [](auto& s) { s.template Part<kBitsPart>().any = 7; },
                          .statistics = {Statistic::kBitwiseXor}});
  // Neither element nor extreme has a bit that `any` lacks, or lacks one of `all`.
  ExpectRefused<uint8_t>({.elements = {2, 5},
                          .change =
                              [](auto& s) {
                                s.template Part<kBitsPart>().any = 3;
                                s.template Part<kBitsPart>().parity = 3;
                              },
                          .statistics = statistics});
  ExpectRefused<uint8_t>({.elements = {4, 6, 4},
                          .change =
                              [](auto& s) {
                                s.template Part<kBitsPart>().all = 6;
                                s.template Part<kBitsPart>().parity = 6;
                              },
                          .statistics = statistics});
  ExpectRefused<uint8_t>({.elements = {2, 6},
                          .change =
                              [](auto& s) {
                                s.template Part<kBitsPart>().all = 6;
                                s.template Part<kBitsPart>().parity = 0;
                              },
                          .statistics = statistics});
  ExpectRefused<uint8_t>({.elements = {0, 6},
                          .change =
                              [](auto& s) {
                                s.template Part<kBitsPart>().any = 0;
                                s.template Part<kBitsPart>().parity = 0;
                              },
                          .statistics = {Statistic::kBitwiseXor, Statistic::kNonzeroCount}});
  ExpectRefused<uint8_t>({.elements = {2, 3},
                          .change = [](auto& s) { s.template Part<kTallyPart>().nonzero = 1; },
                          .statistics = {Statistic::kBitwiseXor, Statistic::kNonzeroCount}});
  // The lowest bit of the sum is that of the exclusive or.
  ExpectRefused<uint8_t>({.elements = {2, 3},
                          .change = [](auto& s) { s.template Part<kSumPart>().sum = 6; },
                          .statistics = {Statistic::kBitwiseXor, Statistic::kSum}});
}

TEST(ContradictionTest, FewerElementsThanTheStateIsOf) {
  ExpectRefused<double>({.elements = {1, 2, 3}, .change = [](auto&) {}, .element_count = 2});
  ExpectRefused<int8_t>({.elements = {1, 2, 3}, .change = [](auto&) {}, .element_count = 2});
}

// --- Genuine states are taken, whatever the elements.

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
    const double special[] = {0.0,        -0.0,     1.0,     -1.0,      kInfinity,
                              -kInfinity, NAN,      65504.0, -65504.0,  0x1p-24,
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

template <class T>
class GenuineStateTest : public testing::Test {};
using ElementTypes = testing::Types<int8_t, int16_t, int32_t, int64_t, uint8_t, uint16_t, uint32_t,
                                    uint64_t, Float16, Bfloat16, float, double>;
TYPED_TEST_SUITE(GenuineStateTest, ElementTypes);

TYPED_TEST(GenuineStateTest, IsNeverRefused) {
  using T = TypeParam;
  std::mt19937_64 random(11);
  const std::vector<Statistic> all = AllStatistics<T>();
  for (int round = 0; round < 6'000; ++round) {
    const bool ignore_nan = random() % 2 == 0;
    // Few different elements, so that all kinds of extremes and counts meet.
    std::vector<T> kinds(1 + random() % 3);
    for (T& x : kinds) x = RandomElement<T>(random);
    std::vector<Statistic> statistics;
    while (statistics.empty()) {
      for (const Statistic statistic : all) {
        if (random() % (round % 2 == 0 ? 1 : 3) == 0) statistics.push_back(statistic);
      }
    }
    std::vector<std::string> parts(1 + random() % 3);
    for (std::string& part : parts) {
      std::vector<T> elements(random() % 6);
      for (T& x : elements) x = kinds[random() % kinds.size()];
      // Not told where they begin.
      part =
          BytesOfState<T>(StateOf(elements, ignore_nan), elements.size(), ignore_nan, statistics);
    }
    const auto merged = MergeAll(parts, /*partial=*/true);
    ASSERT_TRUE(merged.ok()) << merged.status() << " in round " << round;
    std::string large = BytesOf(*merged);
    // Many times as many elements.
    for (int doubled = 0; doubled < 3; ++doubled) {
      const auto twice = MergeAll({large, large}, /*partial=*/true);
      ASSERT_TRUE(twice.ok()) << twice.status() << " in round " << round;
      large = BytesOf(*twice);
    }
  }
}

// --- Histograms.

class HistogramContradictionTest : public testing::Test {
 protected:
  // 10 samples: 3, 0 and 4 in bins, 2 below and 1 above; 1 NaN where the samples are of floats.
  static HistogramResult Result(const HistogramPlan& plan) {
    HistogramResult result;
    result.bins = plan.bins;
    result.channels.resize(plan.channel_count);
    for (HistogramCounts& channel : result.channels) {
      channel.counts = {3, 0, 3};
      channel.underflow_count = 2;
      channel.overflow_count = 1;
      channel.nan_count = 1;
      if (plan.out_of_range_policy == OutOfRangePolicy::kClamp) channel.counts = {5, 0, 4};
    }
    return result;
  }

  static HistogramPlan Plan(OutOfRangePolicy policy, ElementType type = ElementType::kFloat32) {
    HistogramSpec spec;
    spec.bins = {EvenBinsSpec{3, 0.0, 3.0}};
    spec.channel_count = 2;
    spec.out_of_range_policy = policy;
    spec.return_states = true;
    return *PlanHistogram(ArrayDescription::Vector(type, 20), spec, 1000);
  }

  using Change = std::function<void(HistogramResult&)>;

  static absl::Status Merge(const HistogramPlan& plan, const Change& change) {
    HistogramResult result = Result(plan);
    change(result);
    return MergeAll({*MakeHistogramAccumulator(plan, result)}).status();
  }

  static void ExpectRefusedWith(const Change& change,
                                OutOfRangePolicy policy = OutOfRangePolicy::kDrop) {
    EXPECT_TRUE(Merge(Plan(policy), [](HistogramResult&) {}).ok());
    ExpectInvalid(Merge(Plan(policy), change), "accumulators[0]");
  }
};

TEST_F(HistogramContradictionTest, BinsHoldMoreSamplesThanThereAre) {
  for (const OutOfRangePolicy policy : {OutOfRangePolicy::kDrop, OutOfRangePolicy::kClamp}) {
    for (const size_t channel : {0, 1}) {
      ExpectRefusedWith([=](HistogramResult& r) { ++r.channels[channel].counts[0]; }, policy);
    }
  }
}

TEST_F(HistogramContradictionTest, SamplesAreNowhere) {
  for (const OutOfRangePolicy policy : {OutOfRangePolicy::kDrop, OutOfRangePolicy::kClamp}) {
    ExpectRefusedWith([](HistogramResult& r) { --r.channels[0].counts[0]; }, policy);
    ExpectRefusedWith([](HistogramResult& r) { r.channels[1].counts = {0, 0, 0}; }, policy);
    ExpectRefusedWith([](HistogramResult& r) { r.channels[1].nan_count = 0; }, policy);
  }
}

TEST_F(HistogramContradictionTest, OneChannelHasTheSamplesOfAnother) {
  ExpectRefusedWith([](HistogramResult& r) {
    ++r.channels[0].counts[0];
    --r.channels[1].counts[0];
  });
}

TEST_F(HistogramContradictionTest, MoreAreOutsideThanThereAre) {
  for (const OutOfRangePolicy policy : {OutOfRangePolicy::kDrop, OutOfRangePolicy::kClamp}) {
    ExpectRefusedWith([](HistogramResult& r) { r.channels[0].underflow_count = 11; }, policy);
    ExpectRefusedWith([](HistogramResult& r) { r.channels[0].overflow_count = ~uint64_t{0}; },
                      policy);
    ExpectRefusedWith([](HistogramResult& r) { r.channels[0].nan_count = 8; }, policy);
  }
}

TEST_F(HistogramContradictionTest, ClampedSamplesAreInTheOutermostBins) {
  ExpectRefusedWith(
      [](HistogramResult& r) {
        r.channels[0].counts = {1, 4, 4};
      },
      OutOfRangePolicy::kClamp);
  ExpectRefusedWith(
      [](HistogramResult& r) {
        r.channels[0].counts = {5, 4, 0};
      },
      OutOfRangePolicy::kClamp);
}

TEST_F(HistogramContradictionTest, IntegersAreNoNans) {
  ExpectInvalid(Merge(Plan(OutOfRangePolicy::kDrop, ElementType::kInt32), [](HistogramResult&) {}),
                "accumulators[0]");
  EXPECT_TRUE(Merge(Plan(OutOfRangePolicy::kDrop, ElementType::kInt32), [](HistogramResult& r) {
                for (HistogramCounts& channel : r.channels) {
                  channel.nan_count = 0;
                  ++channel.counts[1];
                }
              }).ok());
}

TEST_F(HistogramContradictionTest, WeightsOfNoSamples) {
  HistogramSpec spec;
  spec.bins = {EvenBinsSpec{3, 0.0, 3.0}};
  spec.weight_type = ElementType::kFloat32;
  spec.return_states = true;
  const auto plan = PlanHistogram(ArrayDescription::Vector(ElementType::kFloat32, 4), spec, 1000);
  for (const float weight : {1.0F, INFINITY}) {
    std::vector<ExactSum<float, 1>> sums(3);
    sums[1].Add(weight);
    HistogramResult result;
    result.bins = plan->bins;
    result.channels.resize(1);
    result.weight_states = sums;
    result.channels[0].nan_count = 3;
    EXPECT_TRUE(MergeAll({*MakeHistogramAccumulator(*plan, result)}).ok());
    result.channels[0].nan_count = 4;
    ExpectInvalid(MergeAll({*MakeHistogramAccumulator(*plan, result)}).status(), "accumulators[0]");
  }
}

}  // namespace
}  // namespace gridfold::kernels
