// Accumulators of reductions whose parts are well-formed and contradict each other: a rule of
// contradictions.h for each, and for each rule genuine states beside it.
#include "kernels/accumulators/contradictions.h"

#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <limits>
#include <vector>

#include "kernels/accumulators/accumulator_test_util.h"
#include "kernels/accumulators/state_test_util.h"

namespace gridfold::kernels {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

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

}  // namespace
}  // namespace gridfold::kernels
