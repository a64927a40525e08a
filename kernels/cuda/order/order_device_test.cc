// Large groups, with data that samples of it describe well, badly, or not at all; and rows of any
// length.
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <numeric>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "gtest/gtest.h"
#include "kernels/cuda/lane/device_test.h"
#include "kernels/cuda/order/order.h"
#include "kernels/cuda/order/sample.h"
#include "kernels/numerics/order/order_key.h"

namespace gridfold::kernels::cuda {
namespace {

constexpr uint64_t kCount = kSampledElementsMin + 5;  // Some beside vectors.
constexpr uint64_t kSpareBytes = uint64_t{128} << 20;

enum class Data : uint8_t {
  kAnyBits,  // Finite.
  kConstant,
  kTwoValues,
  kTenValues,
  kSorted,
  kReversed,
  kPeak,        // Half of it one value, among others.
  kSpecial,     // NaNs, infinities and zeros of both signs.
  kMisleading,  // What the sample has is larger than all others.
};
constexpr Data kAllData[] = {Data::kAnyBits,   Data::kConstant, Data::kTwoValues,
                             Data::kTenValues, Data::kSorted,   Data::kReversed,
                             Data::kPeak,      Data::kSpecial,  Data::kMisleading};

template <class T>
T AnyFinite(std::mt19937_64& random) {
  while (true) {
    const T x = std::bit_cast<T>(static_cast<OrderKey<T>>(random()));
    if constexpr (std::is_floating_point_v<T>) {
      if (!std::isfinite(x)) continue;
    }
    return x;
  }
}

template <class T>
T AnySpecial(std::mt19937_64& random) {
  if constexpr (std::is_floating_point_v<T>) {
    constexpr T kInfinity = std::numeric_limits<T>::infinity();
    switch (random() % 40) {
      case 0: return std::numeric_limits<T>::quiet_NaN();
      case 1: return kInfinity;
      case 2: return -kInfinity;
      case 3: return T{0};
      case 4: return -T{0};
      default: break;
    }
  }
  return AnyFinite<T>(random);
}

template <class T>
std::vector<T> Make(Data data, uint64_t count = kCount) {
  std::mt19937_64 random(static_cast<uint64_t>(data) + 1);
  std::vector<T> x(count);
  for (uint64_t i = 0; i < count; ++i) {
    switch (data) {
      case Data::kAnyBits: x[i] = AnyFinite<T>(random); break;
      case Data::kConstant: x[i] = T{7}; break;
      case Data::kTwoValues: x[i] = static_cast<T>(random() % 3 / 2); break;
      case Data::kTenValues: x[i] = static_cast<T>(random() % 10); break;
      case Data::kSorted: x[i] = static_cast<T>(i / 2); break;
      case Data::kReversed: x[i] = static_cast<T>(count - i); break;
      case Data::kPeak: x[i] = random() % 2 == 0 ? T{5} : AnyFinite<T>(random); break;
      case Data::kSpecial: x[i] = AnySpecial<T>(random); break;
      case Data::kMisleading: x[i] = static_cast<T>(random() % 1'000'000); break;
    }
  }
  if (data != Data::kMisleading) return x;
  const uint32_t size_log2 = SampleLog2(count, count);
  for (uint64_t i = 0; i < uint64_t{1} << size_log2; ++i) {
    x[SampledIndex(i, count, size_log2)] = static_cast<T>(2'000'000 + i);
  }
  return x;
}

// Finds keys by sorting all.
template <class T>
struct SortedKeys {
  std::vector<OrderKey<T>> keys;
  uint64_t numbers = 0;

  explicit SortedKeys(const std::vector<T>& x) {
    for (const T value : x) keys.push_back(ToOrderKey(value));
    std::sort(keys.begin(), keys.end());
    numbers = static_cast<uint64_t>(
        std::find_if(keys.begin(), keys.end(), [](auto key) { return IsNanKey<T>(key); }) -
        keys.begin());
  }
  uint64_t SlotOf(const QuantileTarget& target, const QuantilePlan& plan) const {
    if (numbers < keys.size() && plan.nan_policy == NanPolicy::kPropagate) return kNanSlot;
    if (!HasPlace(target, numbers)) return kNanSlot;
    const QuantilePlace place = PlaceOf(target, numbers, plan.method);
    return TargetSlot<T>(target, place.weight, plan.method, keys[place.lower], keys[place.upper]);
  }
};

class OrderDeviceTest : public DeviceTest {
 protected:
  template <class T>
  OrderInput InputOf(const DeviceArray<T>& x, bool has_spare) {
    if (has_spare && !spare_) spare_.emplace(kSpareBytes);
    return {{x.data(), x.size()},
            nullptr,
            has_spare ? std::span(spare_->data(), spare_->size()) : std::span<std::byte>()};
  }

  template <class T>
  std::vector<uint64_t> Quantiles(const QuantilePlan& plan, const DeviceArray<T>& x,
                                  bool has_spare) {
    const DeviceArray<QuantileTarget> targets{std::span(plan.targets)};
    const DeviceArray<uint64_t> slots(plan.result_slot_count());
    const DeviceArray<std::byte> memory(OrderScratchBytesMax());
    Scratch scratch(memory.data(), memory.size());
    const OrderInput input = InputOf(x, has_spare);
    strategy_ = QuantileStrategy(plan, input, properties());
    Synchronize();
    EXPECT_TRUE(
        LaunchQuantiles(plan, input, targets.data(), slots.data(), scratch, properties(), stream())
            .ok());
    Synchronize();
    return slots.Read();
  }

  template <class T>
  TopResult Top(const TopPlan& plan, const DeviceArray<T>& x, bool has_spare) {
    const uint64_t count = plan.result_count();
    const DeviceArray<uint64_t> answer(2 * count + 1);
    const DeviceArray<std::byte> memory(OrderScratchBytesMax());
    Scratch scratch(memory.data(), memory.size());
    const OrderInput input = InputOf(x, has_spare);
    strategy_ = TopStrategy(plan, input, properties());
    Synchronize();
    uint64_t* const slots = answer.data();
    EXPECT_TRUE(LaunchTop(plan, input, {slots, slots + count, slots + 2 * count}, scratch,
                          properties(), stream())
                    .ok());
    Synchronize();
    const std::vector<uint64_t> read = answer.Read();
    EXPECT_EQ(read.back(), ~uint64_t{0}) << "a group lacks numbers";
    TopResult result = MakeTopResult(plan);
    std::copy_n(read.begin(), count, result.slots.begin());
    std::copy_n(read.begin() + static_cast<std::ptrdiff_t>(count), count, result.indices.begin());
    if (plan.count > kSortedOnDeviceMax) SortTop(plan, result);
    return result;
  }

  // One, nine and too many quantiles, with ranks.
  template <class T>
  void CheckQuantiles(const std::vector<T>& x) {
    const DeviceArray<T> device(std::span<const T>(x), 1);
    const SortedKeys<T> sorted(x);
    const auto array = ArrayDescription::Vector(kElementTypeOf<T>, x.size());
    const auto check = [&](QuantileSpec spec, bool has_spare, const std::string& strategy) {
      for (const NanPolicy policy : {NanPolicy::kPropagate, NanPolicy::kIgnore}) {
        spec.nan_policy = policy;
        const QuantilePlan plan = PlanQuantiles(array, spec).value();
        const std::vector<uint64_t> slots = Quantiles(plan, device, has_spare);
        EXPECT_EQ(strategy_, strategy);
        for (size_t t = 0; t < plan.targets.size(); ++t) {
          ASSERT_EQ(slots[t], sorted.SlotOf(plan.targets[t], plan))
              << "target " << t << " of " << plan.targets.size() << ", policy "
              << static_cast<int>(policy);
        }
      }
    };
    for (const double quantile : {0.5, 0.0, 1.0, 1e-6, 0.999}) {
      check({.quantiles = {quantile}}, true, "quantiles/sample");
    }
    check({.ranks = {x.size() / 3}}, false, "quantiles/sample");
    QuantileSpec nine{.ranks = {0, x.size() - 1, 12'345}};
    for (int i = 1; i < 10; ++i) nine.quantiles.push_back(i / 10.0);
    check(nine, true, "quantiles/sample");
    QuantileSpec many;
    for (int i = 0; i <= 100; ++i) many.quantiles.push_back(i / 100.0);
    check(many, true, "quantiles/digits");
  }

  // Of every row of a matrix, targets in any order.
  template <class T>
  void CheckRows(const std::vector<T>& x, uint64_t columns) {
    SCOPED_TRACE(testing::Message() << columns << " columns");
    const uint64_t rows = x.size() / columns;
    const DeviceArray<T> device(std::span<const T>(x), 1);
    QuantileSpec spec{.quantiles = {0.5, 0.0, 0.1, 0.75, 1.0, 0.25, 0.99},
                      .ranks = {columns - 1, 0, columns / 2},
                      .grouping = {.kind = GroupingKind::kAxis1, .offsets = {}}};
    for (const NanPolicy policy : {NanPolicy::kPropagate, NanPolicy::kIgnore}) {
      spec.nan_policy = policy;
      const QuantilePlan plan =
          PlanQuantiles(ArrayDescription::Matrix(kElementTypeOf<T>, rows, columns), spec).value();
      const std::vector<uint64_t> slots = Quantiles(plan, device, false);
      for (uint64_t row = 0; row < rows; ++row) {
        const auto begin = x.begin() + static_cast<std::ptrdiff_t>(row * columns);
        const SortedKeys<T> sorted(
            std::vector<T>(begin, begin + static_cast<std::ptrdiff_t>(columns)));
        for (size_t t = 0; t < plan.targets.size(); ++t) {
          ASSERT_EQ(slots[t * rows + row], sorted.SlotOf(plan.targets[t], plan))
              << "row " << row << ", target " << t << ", policy " << static_cast<int>(policy);
        }
      }
    }
  }
  template <class T>
  void CheckRowsOfAnyLength() {
    for (const uint64_t columns :
         {1, 2, 31, 32, 33, 64, 65, 255, 256, 257, 511, 512, 513, 1000, 1024, 1025}) {
      for (const Data data : {Data::kAnyBits, Data::kTenValues, Data::kConstant, Data::kSpecial}) {
        CheckRows(Make<T>(data, 23 * columns), columns);
        if (HasFailure()) return;
      }
    }
  }

  template <class T>
  void CheckTop(const std::vector<T>& x, TopSpec spec, bool has_spare = true) {
    SCOPED_TRACE(testing::Message() << spec.count << (spec.smallest ? " smallest" : " largest"));
    const DeviceArray<T> device(std::span<const T>(x), 3);
    const TopPlan plan =
        PlanTop(ArrayDescription::Vector(kElementTypeOf<T>, x.size()), spec).value();
    const TopResult result = Top(plan, device, has_spare);
    EXPECT_EQ(strategy_, "top/sample");
    std::vector<uint64_t> order(x.size());
    std::iota(order.begin(), order.end(), uint64_t{0});
    const auto key = [&](uint64_t i) {
      return ToSelectionKey(x[i], spec.smallest, plan.ignores_nan());
    };
    const auto is_before = [&](uint64_t a, uint64_t b) {
      return key(a) != key(b) ? key(a) > key(b) : a < b;
    };
    const auto end = order.begin() + static_cast<std::ptrdiff_t>(spec.count);
    std::nth_element(order.begin(), end, order.end(), is_before);
    std::sort(order.begin(), end, is_before);
    for (uint64_t i = 0; i < spec.count; ++i) {
      ASSERT_EQ(result.indices[i], order[i]) << "element " << i;
      ASSERT_EQ(result.slots[i], ElementSlot(x[order[i]])) << "element " << i;
    }
  }

  std::optional<DeviceArray<std::byte>> spare_;
  std::string strategy_;
};

TEST_F(OrderDeviceTest, QuantilesOfAnyData) {
  for (const Data data : kAllData) {
    SCOPED_TRACE(static_cast<int>(data));
    CheckQuantiles(Make<float>(data));
    if (HasFailure()) return;
  }
  CheckQuantiles(std::vector<float>(kCount, std::numeric_limits<float>::quiet_NaN()));
}

TEST_F(OrderDeviceTest, RowsOfAnyLength) {
  CheckRowsOfAnyLength<float>();
  CheckRowsOfAnyLength<int8_t>();
  CheckRowsOfAnyLength<uint16_t>();
}

template <class T>
class OrderTypesDeviceTest : public OrderDeviceTest {};
using Types = testing::Types<int32_t, uint32_t, int64_t, uint64_t, double>;
TYPED_TEST_SUITE(OrderTypesDeviceTest, Types);

TYPED_TEST(OrderTypesDeviceTest, Quantiles) {
  for (const Data data : {Data::kAnyBits, Data::kTenValues, Data::kSpecial, Data::kMisleading}) {
    SCOPED_TRACE(static_cast<int>(data));
    this->CheckQuantiles(Make<TypeParam>(data));
    if (this->HasFailure()) return;
  }
}

TYPED_TEST(OrderTypesDeviceTest, RowsOfAnyLength) {
  this->template CheckRowsOfAnyLength<TypeParam>();
}

TYPED_TEST(OrderTypesDeviceTest, Top) {
  for (const Data data : {Data::kAnyBits, Data::kTenValues, Data::kSorted, Data::kMisleading}) {
    SCOPED_TRACE(static_cast<int>(data));
    const std::vector<TypeParam> x = Make<TypeParam>(data);
    this->CheckTop(x, {.count = 100});
    this->CheckTop(x, {.count = 20'000, .smallest = true});
    if (this->HasFailure()) return;
  }
}

TEST_F(OrderDeviceTest, TopOfAnyData) {
  for (const Data data : kAllData) {
    SCOPED_TRACE(static_cast<int>(data));
    const std::vector<float> x = Make<float>(data);
    for (const uint64_t count : {1, 100, 1024, 1025, 100'000}) {
      for (const NanPolicy policy : {NanPolicy::kPropagate, NanPolicy::kIgnore}) {
        if (policy == NanPolicy::kIgnore && data != Data::kSpecial) continue;
        CheckTop(x, {.count = count, .smallest = count % 2 == 0, .nan_policy = policy});
        if (HasFailure()) return;
      }
    }
    CheckTop(x, {.count = 100}, /*has_spare=*/false);
  }
}

// The last selected element's key is that of others, which were kept beside it, a few or many.
TEST_F(OrderDeviceTest, TopWithTiesAtItsEnd) {
  for (const uint64_t equal : {2, 30, 2048, 2049, 5000}) {
    SCOPED_TRACE(equal);
    std::vector<float> x = Make<float>(Data::kTenValues);
    std::mt19937_64 random(equal);
    for (uint64_t i = 0; i < 50; ++i) x[random() % x.size()] = 200.0f + static_cast<float>(i);
    for (uint64_t i = 0; i < equal; ++i) x[random() % x.size()] = 100.0f;
    CheckTop(x, {.count = 51});
    CheckTop(x, {.count = 60});
    if (HasFailure()) return;
  }
}

TEST_F(OrderDeviceTest, FewNumbersAmongIgnoredNans) {
  std::vector<double> x(kCount, std::numeric_limits<double>::quiet_NaN());
  for (uint64_t i = 0; i < 1000; ++i) x[i * 16'001] = static_cast<double>(i % 300);
  CheckQuantiles(x);
  CheckTop(x, {.count = 200, .nan_policy = NanPolicy::kIgnore});
  const DeviceArray<double> device{std::span<const double>(x)};
  const TopPlan plan = PlanTop(ArrayDescription::Vector(ElementType::kFloat64, kCount),
                               {.count = 1001, .nan_policy = NanPolicy::kIgnore})
                           .value();
  const DeviceArray<uint64_t> answer(2 * plan.count + 1);
  const DeviceArray<std::byte> memory(OrderScratchBytesMax());
  Scratch scratch(memory.data(), memory.size());
  uint64_t* const slots = answer.data();
  Synchronize();
  EXPECT_TRUE(LaunchTop(plan, InputOf(device, true),
                        {slots, slots + plan.count, slots + 2 * plan.count}, scratch, properties(),
                        stream())
                  .ok());
  Synchronize();
  EXPECT_EQ(answer.Read().back(), 0u);
}

// Each takes the memory of the one before.
TEST_F(OrderDeviceTest, SeveralLargeGroups) {
  std::vector<float> x = Make<float>(Data::kAnyBits, 2 * kCount);
  const std::vector<float> second = Make<float>(Data::kMisleading);
  std::copy(second.begin(), second.end(), x.begin() + static_cast<std::ptrdiff_t>(kCount));
  const DeviceArray<float> device{std::span<const float>(x)};
  const QuantilePlan plan =
      PlanQuantiles(ArrayDescription::Matrix(ElementType::kFloat32, 2, kCount),
                    {.quantiles = {0.25, 0.75}, .grouping = {GroupingKind::kAxis1, {}}})
          .value();
  const std::vector<uint64_t> slots = Quantiles(plan, device, true);
  const SortedKeys<float> groups[] = {
      SortedKeys<float>({x.begin(), x.begin() + static_cast<std::ptrdiff_t>(kCount)}),
      SortedKeys<float>(second)};
  for (size_t t = 0; t < 2; ++t) {
    for (size_t g = 0; g < 2; ++g) {
      EXPECT_EQ(slots[t * 2 + g], groups[g].SlotOf(plan.targets[t], plan)) << t << ", " << g;
    }
  }
}

}  // namespace
}  // namespace gridfold::kernels::cuda
