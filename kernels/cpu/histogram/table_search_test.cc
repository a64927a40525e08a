#include "kernels/cpu/histogram/table_search.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <vector>

#include "kernels/numerics/bins/layout_test.h"

namespace gridfold::kernels::cpu {
namespace {

template <class T>
class TableSearchTest : public testing::Test {};
TYPED_TEST_SUITE(TableSearchTest, AllTypes);

// Beside every edge, outside all of them, and what is no number.
template <class T>
std::vector<T> Samples(const std::vector<double>& edges) {
  std::vector<T> samples;
  for (const double edge : edges) {
    for (const T x : ValuesAround<T>(edge)) samples.push_back(x);
  }
  if constexpr (HalfElement<T>) {
    samples.push_back(T::FromDouble(std::nan("")));
    samples.push_back(T::FromDouble(-HUGE_VAL));
  } else if constexpr (FloatingElement<T>) {
    samples.push_back(static_cast<T>(std::nan("")));
    samples.push_back(static_cast<T>(HUGE_VAL));
  }
  return samples;
}

TYPED_TEST(TableSearchTest, FindsWhatLocateBinFinds) {
  for (const int bin_count : {1, 2, 3, 7, 64, 100}) {
    std::vector<double> edges;
    for (int i = 0; i <= bin_count; ++i) edges.push_back(1 + 0.01 * i * i);
    const BinLayout layout = BinLayout::Table(edges.data(), static_cast<uint64_t>(bin_count));
    const std::vector<TypeParam> samples = Samples<TypeParam>(edges);
    // At an odd address.
    std::vector<std::byte> bytes(1);
    const auto* const first = reinterpret_cast<const std::byte*>(samples.data());
    bytes.insert(bytes.end(), first, first + samples.size() * sizeof(TypeParam));
    for (const uint64_t step : {1, 3}) {
      std::vector<int64_t> bins(samples.size(), -99);
      SearchKernel<TypeParam>::Run(bytes.data() + 1, samples.size(), step, layout, bins.data());
      for (size_t i = 0; i < samples.size(); ++i) {
        ASSERT_EQ(bins[i], i % step == 0 ? LocateBin(layout, samples[i]) : -99)
            << bin_count << " bins, sample " << i;
      }
    }
  }
}

}  // namespace
}  // namespace gridfold::kernels::cpu
