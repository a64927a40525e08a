#include "kernels/numerics/scans/operator.h"

#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>
#include <random>
#include <vector>

#include "gtest/gtest.h"

namespace gridfold::kernels {
namespace {

template <class T>
T RandomElement(std::mt19937_64& random) {
  const uint64_t bits = random() >> (random() % 64);
  if constexpr (IntegerElement<T>) {
    return static_cast<T>(random() % 2 == 0 ? bits : uint64_t{0} - bits);
  } else {
    return RoundTo<T>(std::ldexp(static_cast<double>(bits % 1024) - 512, -6));
  }
}

template <class T>
class ScanOperatorTest : public testing::Test {};
using AllTypes = testing::Types<int8_t, int16_t, int32_t, int64_t, uint8_t, uint16_t, uint32_t,
                                uint64_t, Float16, Bfloat16, float, double>;
TYPED_TEST_SUITE(ScanOperatorTest, AllTypes);

// What Store makes of a value, widened; whether it fits.
template <class Operator, class Out>
std::pair<long double, bool> Stored(const typename Operator::Value& value, bool wrap) {
  Out out{};
  const bool fits = Operator::template Store<Out>(value, wrap, &out);
  return {static_cast<long double>(ToCompute(out)), fits};
}

// Extremes of arrays of T.
template <class T>
class Extremes {
 public:
  using Scanned = ScannedElement<T, ScanOperation::kMax>;
  using Operator = ScanOperator<Scanned, ScanOperation::kMax>;
  using Value = typename Operator::Value;

  explicit Extremes(ScanOperation operation)
      : mirror_bits_(MirrorBits(operation, kElementTypeOf<T>)) {}

  Value Lift(T x, bool ignore_nan = false) const {
    return LiftElement<Operator>(std::bit_cast<Scanned>(x), ignore_nan, mirror_bits_);
  }
  T Result(const Value& value) const {
    Scanned result{};
    EXPECT_TRUE(StoreResult<Operator>(value, false, mirror_bits_, &result));
    return std::bit_cast<T>(result);
  }
  T Of(T a, T b) const { return Result(Operator::Combine(Lift(a), Lift(b))); }

 private:
  const uint64_t mirror_bits_;
};

template <class Operator, class T>
void CheckIdentityAndGrouping() {
  std::mt19937_64 random(16);
  for (int i = 0; i < 500; ++i) {
    const auto a = Operator::Lift(RandomElement<T>(random), false);
    const auto same = Operator::Combine(Operator::Identity(), a);
    EXPECT_EQ((Stored<Operator, T>(same, true)), (Stored<Operator, T>(a, true)));
    const auto b = Operator::Lift(RandomElement<T>(random), false);
    using Grouped = GroupedValue<typename Operator::Value>;
    const Grouped started = CombineGrouped<Operator>(Grouped{a, true}, Grouped{b, true});
    EXPECT_EQ((Stored<Operator, T>(started.value, true)), (Stored<Operator, T>(b, true)));
    EXPECT_TRUE(started.starts_group);
    const Grouped joined = CombineGrouped<Operator>(Grouped{a, i % 2 == 0}, Grouped{b, false});
    EXPECT_EQ((Stored<Operator, T>(joined.value, true)),
              (Stored<Operator, T>(Operator::Combine(a, b), true)));
    EXPECT_EQ(joined.starts_group, i % 2 == 0);
  }
}

TYPED_TEST(ScanOperatorTest, IdentityChangesNothingAndGroupsStartAfresh) {
  CheckIdentityAndGrouping<ScanOperator<TypeParam, ScanOperation::kSum>, TypeParam>();
  CheckIdentityAndGrouping<ScanOperator<TypeParam, ScanOperation::kProduct>, TypeParam>();
  if constexpr (FloatingElement<TypeParam>) {
    CheckIdentityAndGrouping<ScanOperator<TypeParam, ScanOperation::kScaledProduct>, TypeParam>();
  }
  using Scanned = ScannedElement<TypeParam, ScanOperation::kMax>;
  CheckIdentityAndGrouping<ScanOperator<Scanned, ScanOperation::kMax>, Scanned>();
}

template <class Operator, class T>
void CheckAssociativity() {
  std::mt19937_64 random(17);
  for (int i = 0; i < 500; ++i) {
    const auto a = Operator::Lift(RandomElement<T>(random), false);
    const auto b = Operator::Lift(RandomElement<T>(random), false);
    const auto c = Operator::Lift(RandomElement<T>(random), false);
    const auto left = Operator::Combine(Operator::Combine(a, b), c);
    const auto right = Operator::Combine(a, Operator::Combine(b, c));
    EXPECT_EQ((Stored<Operator, T>(left, false)), (Stored<Operator, T>(right, false)));
  }
}

TYPED_TEST(ScanOperatorTest, ExactOperationsAreAssociative) {
  using Scanned = ScannedElement<TypeParam, ScanOperation::kMax>;
  CheckAssociativity<ScanOperator<Scanned, ScanOperation::kMax>, Scanned>();
  if constexpr (IntegerElement<TypeParam>) {
    CheckAssociativity<ScanOperator<TypeParam, ScanOperation::kSum>, TypeParam>();
    CheckAssociativity<ScanOperator<TypeParam, ScanOperation::kProduct>, TypeParam>();
  }
}

TYPED_TEST(ScanOperatorTest, EmptyResults) {
  using T = TypeParam;
  const auto empty = [](auto op) {
    using Operator = decltype(op);
    return Stored<Operator, T>(Operator::EmptyResult(), false).first;
  };
  using Limits = std::numeric_limits<ComputeType<T>>;
  const bool is_float = FloatingElement<T>;
  EXPECT_EQ(empty(ScanOperator<T, ScanOperation::kSum>{}), 0);
  EXPECT_FALSE(std::signbit(empty(ScanOperator<T, ScanOperation::kSum>{})));
  EXPECT_EQ(empty(ScanOperator<T, ScanOperation::kProduct>{}), 1);
  const auto empty_extreme = [](ScanOperation operation) {
    const Extremes<T> extremes(operation);
    return static_cast<long double>(
        ToCompute(extremes.Result(Extremes<T>::Operator::EmptyResult())));
  };
  EXPECT_EQ(empty_extreme(ScanOperation::kMin), is_float ? HUGE_VALL : Limits::max());
  EXPECT_EQ(empty_extreme(ScanOperation::kMax), is_float ? -HUGE_VALL : Limits::lowest());
}

TYPED_TEST(ScanOperatorTest, ExtremesAreMaximaOfWhatStandsForThem) {
  using T = TypeParam;
  std::mt19937_64 random(18);
  for (int i = 0; i < 500; ++i) {
    const T a = RandomElement<T>(random);
    const T b = RandomElement<T>(random);
    const auto less = ToCompute(a) < ToCompute(b) ? a : b;
    const auto more = ToCompute(a) < ToCompute(b) ? b : a;
    EXPECT_EQ(ToCompute(Extremes<T>(ScanOperation::kMin).Of(a, b)), ToCompute(less));
    EXPECT_EQ(ToCompute(Extremes<T>(ScanOperation::kMax).Of(a, b)), ToCompute(more));
  }
}

// Whether the sum a + b fits `Out`, and what it wraps to.
template <class T, class Out>
void ExpectSumStore(T a, T b, bool fits, Out wrapped) {
  using Operator = ScanOperator<T, ScanOperation::kSum>;
  const auto sum = Operator::Combine(Operator::Lift(a, false), Operator::Lift(b, false));
  Out out{};
  EXPECT_EQ(Operator::Store(sum, false, &out), fits);
  EXPECT_TRUE(Operator::Store(sum, true, &out));
  EXPECT_EQ(out, wrapped);
}

TEST(ScanStoreTest, SumsAtTheEdgesOfTheOutputType) {
  ExpectSumStore<int8_t, int8_t>(100, 27, true, 127);
  ExpectSumStore<int8_t, int8_t>(100, 28, false, -128);
  ExpectSumStore<int8_t, int64_t>(100, 100, true, 200);
  ExpectSumStore<uint8_t, uint8_t>(255, 1, false, 0);
  ExpectSumStore<uint32_t, uint64_t>(~0u, ~0u, true, 2 * uint64_t{~0u});
  constexpr int64_t kMax = std::numeric_limits<int64_t>::max();
  constexpr int64_t kMin = std::numeric_limits<int64_t>::min();
  ExpectSumStore<int64_t, int64_t>(kMax, 1, false, kMin);
  ExpectSumStore<int64_t, int64_t>(kMin, -1, false, kMax);
  ExpectSumStore<int64_t, int64_t>(kMin, kMax, true, -1);
  ExpectSumStore<uint64_t, uint64_t>(~uint64_t{0}, 1, false, 0);
}

template <class T, class Out>
void ExpectProductStore(T a, T b, bool fits, Out wrapped) {
  using Operator = ScanOperator<T, ScanOperation::kProduct>;
  const auto product = Operator::Combine(Operator::Lift(a, false), Operator::Lift(b, false));
  Out out{};
  EXPECT_EQ(Operator::Store(product, false, &out), fits);
  EXPECT_TRUE(Operator::Store(product, true, &out));
  EXPECT_EQ(out, wrapped);
}

TEST(ScanStoreTest, ProductsAtTheEdgesOfTheOutputType) {
  ExpectProductStore<int8_t, int8_t>(-64, 2, true, -128);
  ExpectProductStore<int8_t, int8_t>(64, 2, false, -128);
  ExpectProductStore<int8_t, int64_t>(-128, -128, true, 16384);
  ExpectProductStore<uint16_t, uint16_t>(255, 257, true, 65535);
  ExpectProductStore<uint16_t, uint16_t>(256, 256, false, 0);
  constexpr int64_t kMin = std::numeric_limits<int64_t>::min();
  ExpectProductStore<int64_t, int64_t>(kMin, 1, true, kMin);
  ExpectProductStore<int64_t, int64_t>(kMin, -1, false, kMin);
  ExpectProductStore<uint64_t, uint64_t>(uint64_t{1} << 32, uint64_t{1} << 32, false, 0);
}

TEST(ScanStoreTest, PlainFormsSayWhatTheyDoNotHold) {
  const auto holds = [](auto op, double v) {
    float out{};
    return decltype(op)::Store(v, false, &out) && decltype(op)::Holds(v);
  };
  using enum ScanOperation;
  for (const double v : {1.0, -0x1p510, 0x1p-510}) {
    EXPECT_TRUE(holds(ScanOperator<float, kProduct>{}, v));
    EXPECT_TRUE((ScanOperator<float, kScaledProduct>::IsPlain({v * 0x1p300, -300})));
  }
  for (const double v : {0.0, 0x1p511, -0x1p-511, HUGE_VAL}) {
    EXPECT_FALSE(holds(ScanOperator<float, kProduct>{}, v));
    EXPECT_FALSE((ScanOperator<float, kScaledProduct>::IsPlain(ScaledProduct::Of(v))));
  }
  EXPECT_TRUE(holds(ScanOperator<double, kSum>{}, 0.0));
  EXPECT_FALSE(holds(ScanOperator<double, kSum>{}, HUGE_VAL));
  EXPECT_TRUE(holds(ScanOperator<float, kSum>{}, HUGE_VAL));  // An element's.
}

TEST(ScanStoreTest, FloatsAreRoundedOnce) {
  using Operator = ScanOperator<Float16, ScanOperation::kSum>;
  Float16 out{};
  // Just above the middle of 1 and the next float16: rounding to float first would end on the
  // middle.
  EXPECT_TRUE(Operator::Store(1 + 0x1p-11 + 0x1p-40, false, &out));
  EXPECT_EQ(static_cast<double>(out), 1 + 0x1p-10);
  EXPECT_TRUE(Operator::Store(70000.0, false, &out));
  EXPECT_EQ(static_cast<double>(out), HUGE_VAL);
}

TEST(ScanNanTest, IgnoredNanCountsAsZeroInSumsAndOneInProducts) {
  const float nan = std::numeric_limits<float>::quiet_NaN();
  EXPECT_EQ((ScanOperator<float, ScanOperation::kSum>::Lift(nan, true)), 0);
  EXPECT_FALSE(std::signbit(ScanOperator<float, ScanOperation::kSum>::Lift(nan, true)));
  EXPECT_EQ((ScanOperator<float, ScanOperation::kProduct>::Lift(nan, true)), 1);
  EXPECT_EQ((ScanOperator<float, ScanOperation::kScaledProduct>::Lift(nan, true)).Rounded(), 1);
  EXPECT_TRUE(std::isnan(ScanOperator<float, ScanOperation::kSum>::Lift(nan, false)));
}

TEST(ScanNanTest, ExtremesOfNumbersAreNanUntilTheFirstOne) {
  using Numbers = ScanOperator<double, ScanOperation::kMaxOfNumbers>;
  const double nan = Numbers::Lift(std::numeric_limits<double>::quiet_NaN(), true);
  EXPECT_TRUE(std::isnan(Numbers::Identity()));
  EXPECT_TRUE(std::isnan(Numbers::Combine(nan, nan)));
  for (const double x : {-HUGE_VAL, -1.0, -0.0, HUGE_VAL}) {
    EXPECT_EQ(std::bit_cast<uint64_t>(Numbers::Combine(nan, x)), std::bit_cast<uint64_t>(x));
    EXPECT_EQ(std::bit_cast<uint64_t>(Numbers::Combine(x, nan)), std::bit_cast<uint64_t>(x));
  }
  EXPECT_EQ(Numbers::Combine(-1.0, 3.0), 3.0);
  EXPECT_EQ(Numbers::Combine(3.0, -1.0), 3.0);
  EXPECT_TRUE(std::signbit(Numbers::Combine(-0.0, 0.0)));
  EXPECT_EQ(Numbers::EmptyResult(), -HUGE_VAL);
}

TEST(ScanNanTest, OnlyFloatingPointExtremesThatIgnoreNanAreOfNumbers) {
  using enum ScanOperation;
  for (const ScanOperation extreme : {kMin, kMax}) {
    EXPECT_EQ(OperatorOf(extreme, ElementType::kBfloat16, true), kMaxOfNumbers);
    EXPECT_EQ(OperatorOf(extreme, ElementType::kFloat64, false), kMax);
    EXPECT_EQ(OperatorOf(extreme, ElementType::kInt32, true), kMax);
  }
  EXPECT_EQ(OperatorOf(kProduct, ElementType::kFloat64, true), kProduct);
}

TEST(ScanNanTest, NanWinsOverEveryNumber) {
  const Extremes<float> min(ScanOperation::kMin);
  const Extremes<float> max(ScanOperation::kMax);
  const float nan = std::numeric_limits<float>::quiet_NaN();
  for (const float x : {-HUGE_VALF, -1.0f, 0.0f, HUGE_VALF}) {
    for (const Extremes<float>& extremes : {min, max}) {
      // The first NaN's own bits.
      EXPECT_EQ(std::bit_cast<uint32_t>(extremes.Of(nan, x)), std::bit_cast<uint32_t>(nan));
      EXPECT_EQ(std::bit_cast<uint32_t>(extremes.Of(x, nan)), std::bit_cast<uint32_t>(nan));
    }
  }
}

TEST(ScanZeroTest, SignsOfZeroAreKept) {
  using Sum = ScanOperator<double, ScanOperation::kSum>;
  EXPECT_TRUE(std::signbit(Sum::Combine(Sum::Identity(), -0.0)));
  for (const ScanOperation operation : {ScanOperation::kMin, ScanOperation::kMax}) {
    const Extremes<double> extremes(operation);
    EXPECT_TRUE(std::signbit(extremes.Of(-0.0, 0.0)));
    EXPECT_FALSE(std::signbit(extremes.Of(0.0, -0.0)));
  }
}

}  // namespace
}  // namespace gridfold::kernels
