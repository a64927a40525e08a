#include "kernels/cpu/base/transpose.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <numeric>
#include <vector>

namespace gridfold::kernels::cpu {
namespace {

template <class T>
class TransposeTest : public testing::Test {};
using Words = testing::Types<int8_t, uint16_t, int32_t, float, uint64_t, double>;
TYPED_TEST_SUITE(TransposeTest, Words);

template <int kRows, int kColumns, class T>
void ExpectTransposed() {
  std::vector<T> source(kRows * kColumns);
  std::iota(source.begin(), source.end(), T{0});  // Distinct modulo 256 within 16 columns.
  std::vector<T> target(source.size(), T{77});
  Transpose<kRows, kColumns>(source.data(), target.data());
  for (int r = 0; r < kRows; ++r) {
    for (int c = 0; c < kColumns; ++c) {
      ASSERT_EQ(target[c * kRows + r], source[r * kColumns + c]) << r << ", " << c;
    }
  }
}

TYPED_TEST(TransposeTest, RowsBecomeColumns) {
  ExpectTransposed<16, 16, TypeParam>();
  ExpectTransposed<32, 16, TypeParam>();
  ExpectTransposed<16, 32, TypeParam>();
}

}  // namespace
}  // namespace gridfold::kernels::cpu
