// Scans of minima and maxima by LaunchScan on device spans, of every element type, by brute force:
// whole arrays and columns of few and of many rows.
#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <random>
#include <type_traits>

#include "gtest/gtest.h"
#include "kernels/cuda/scan/scan_device_test.h"

namespace gridfold::kernels::cuda {
namespace {

template <class T>
bool IsNanElement(T x) {
  if constexpr (FloatingElement<T>) return std::isnan(static_cast<double>(x));
  return false;
}

// All bits, NaNs of all kinds among them but rare; and few small numbers, zeros of both signs too.
template <class T>
std::vector<T> RandomElements(uint64_t count, bool small) {
  std::mt19937_64 random(count);
  std::vector<T> values(count);
  for (T& value : values) {
    const int number = static_cast<int>(random() % 41) - 20;
    if (!small) {
      do {
        const uint64_t bits = random();
        std::memcpy(&value, &bits, sizeof(T));
      } while (IsNanElement(value) && random() % 1000 != 0);
    } else if constexpr (HalfElement<T>) {
      value = T::FromDouble(number == 0 ? -0.0 : std::max(number, 0));
    } else if constexpr (FloatingElement<T>) {
      value = number == 0 ? T{-0.0} : static_cast<T>(std::max(number, 0));
    } else {
      value = static_cast<T>(number);
    }
  }
  return values;
}

template <class T>
T WorstElement(bool is_max) {
  if constexpr (HalfElement<T>) {
    return T::FromDouble(is_max ? -INFINITY : INFINITY);
  } else if constexpr (FloatingElement<T>) {
    return static_cast<T>(is_max ? -INFINITY : INFINITY);
  } else {
    return is_max ? std::numeric_limits<T>::min() : std::numeric_limits<T>::max();
  }
}

// What the extreme of ignored NaNs alone is.
template <class T>
T NoNumber(bool is_max) {
  if constexpr (HalfElement<T>) {
    return T{0x7FFF};
  } else {
    const T nan = std::numeric_limits<T>::quiet_NaN();
    return is_max ? nan : -nan;
  }
}

// What stays of a and b, a first.
template <class T>
T ExtremeOf(T a, T b, bool is_max) {
  if (IsNanElement(a)) return a;
  if (IsNanElement(b)) return b;
  using Wide = std::conditional_t<FloatingElement<T>, double, T>;
  const auto x = static_cast<Wide>(a);
  const auto y = static_cast<Wide>(b);
  return (is_max ? y > x : y < x) ? b : a;
}

template <class T>
std::vector<T> LoopExtremes(const std::vector<T>& values, uint64_t columns, const ScanSpec& spec) {
  const bool is_max = spec.operation == ScanOperation::kMax;
  const uint64_t rows = values.size() / columns;
  std::vector<T> results(values.size());
  for (uint64_t column = 0; column < columns; ++column) {
    T extreme = WorstElement<T>(is_max);
    bool is_left_out_so_far = true;
    for (uint64_t p = 0; p < rows; ++p) {
      const uint64_t row = spec.direction == ScanDirection::kReverse ? rows - 1 - p : p;
      const uint64_t i = row * columns + column;
      const T before = extreme;
      const bool is_left_out = spec.nan_policy == NanPolicy::kIgnore && IsNanElement(values[i]);
      // The first element's zero is its own, and so is its NaN.
      if (!is_left_out) {
        extreme = is_left_out_so_far ? values[i] : ExtremeOf(extreme, values[i], is_max);
        is_left_out_so_far = false;
      } else if (is_left_out_so_far) {
        extreme = NoNumber<T>(is_max);
      }
      results[i] = spec.mode == ScanMode::kExclusive ? before : extreme;
    }
  }
  return results;
}

// All NaNs of 16 bits are alike.
template <class T>
std::vector<T> WithOneNan(std::vector<T> values) {
  if constexpr (HalfElement<T>) {
    for (T& x : values) {
      if (IsNanElement(x)) x = T{0x7FFF};
    }
  }
  return values;
}

template <class T>
class ScanExtremesTest : public ScanDeviceTest {
 protected:
  // Of a matrix along axis 0, or of an array of one column as a whole.
  void ExpectThoseOfALoop(uint64_t rows, uint64_t columns) {
    for (const bool small : {false, true}) {
      const std::vector<T> values = RandomElements<T>(rows * columns, small);
      for (ScanSpec spec : ModesAndDirections()) {
        if (columns > 1) spec.grouping.kind = GroupingKind::kAxis0;
        for (const ScanOperation operation : {ScanOperation::kMin, ScanOperation::kMax}) {
          spec.operation = operation;
          for (const NanPolicy policy : {NanPolicy::kPropagate, NanPolicy::kIgnore}) {
            spec.nan_policy = policy;
            const uint64_t misalignment = policy == NanPolicy::kIgnore ? 1 : 0;
            SCOPED_TRACE(testing::Message()
                         << rows << " rows of " << columns << ", " << ScanOperationName(operation)
                         << ", misaligned by " << misalignment);
            const auto result =
                this->template Scan<T>(values, spec, columns > 1 ? columns : 0, misalignment);
            ASSERT_TRUE(result.status.ok()) << result.status;
            EXPECT_EQ(result.overflow_flag, 0);
            ExpectSameBits(WithOneNan(result.values),
                           WithOneNan(LoopExtremes(values, columns, spec)));
          }
        }
      }
      if (this->HasFailure()) return;
    }
  }
};
using AllElements = ::testing::Types<int8_t, int16_t, int32_t, int64_t, uint8_t, uint16_t, uint32_t,
                                     uint64_t, Float16, Bfloat16, float, double>;
TYPED_TEST_SUITE(ScanExtremesTest, AllElements);

TYPED_TEST(ScanExtremesTest, OfWholeArrays) {
  for (const uint64_t count : {1, 31, 65, 4097, 70'001}) this->ExpectThoseOfALoop(count, 1);
}

// Narrow and wide tiles; then so few rows, or so many columns, that threads go down whole ones.
TYPED_TEST(ScanExtremesTest, OfColumns) {
  this->ExpectThoseOfALoop(20'011, 3);
  this->ExpectThoseOfALoop(2049, 33);
  this->ExpectThoseOfALoop(5, 2049);
  this->ExpectThoseOfALoop(64, 2048);
  this->multiprocessors_told_ = 1;
  this->ExpectThoseOfALoop(75, 4099);
}

}  // namespace
}  // namespace gridfold::kernels::cuda
