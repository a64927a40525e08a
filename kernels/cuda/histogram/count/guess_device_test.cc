// What kernels that guess bins, or count values, could get wrong: samples at edges and beside them,
// special ones, arrays of any size and alignment, and counters that are added up in between.
#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <utility>
#include <vector>

#include "kernels/cuda/histogram/histogram_device_test.h"

namespace gridfold::kernels::cuda {
namespace {

using HistogramGuessDeviceTest = HistogramDeviceTest;

constexpr float kInfinity = std::numeric_limits<float>::infinity();

// Every edge as a float, what is next to it, and what no bin has, over and over.
std::vector<float> SamplesAroundEdges(const std::vector<double>& edges, size_t count_min) {
  std::vector<float> samples = {0.0F,       -0.0F,         1e-45F,         -1e-45F, kInfinity,
                                -kInfinity, std::nanf(""), -std::nanf(""), 3e38F,   -3e38F};
  for (const double edge : edges) {
    const float nearest = static_cast<float>(edge);
    samples.insert(samples.end(), {std::nextafter(nearest, -kInfinity), nearest,
                                   std::nextafter(nearest, kInfinity)});
  }
  const std::vector<float> once = samples;
  while (samples.size() < count_min) samples.insert(samples.end(), once.begin(), once.end());
  return samples;
}

TEST_F(HistogramGuessDeviceTest, EvenBinsAroundTheirEdges) {
  for (const auto& [lower, upper] : {std::pair(0.0, 1.0),
                                     {-1.0, 1.0},
                                     {0.1, 0.3},
                                     {-1e6, 3.7e5},
                                     {1e6, 1e6 + 1},
                                     {0.0, 1e-40},
                                     {-3e38, 3e38}}) {
    for (const uint64_t bins :
         {1, 2, 3, 7, 100, 255, 256, 1000, 4096, 30'000, 57'344, 98'304, 200'000, 300'000}) {
      const HistogramSpec spec = SpecOf({EvenBinsSpec{bins, lower, upper}});
      const auto plan =
          PlanHistogram(ArrayDescription::Vector(ElementType::kFloat32, 1), spec, 1 << 20);
      if (!plan.ok()) continue;
      SCOPED_TRACE(testing::Message() << bins << " bins of " << lower << " to " << upper);
      for (const OutOfRangePolicy policy : {OutOfRangePolicy::kDrop, OutOfRangePolicy::kClamp}) {
        HistogramSpec placed = spec;
        placed.out_of_range_policy = policy;
        const Samples<float> samples{.x = SamplesAroundEdges(EdgesOf(plan->bins[0]), 20'000),
                                     .misalignment = bins % 4};
        ForEachMethod(placed, samples, [&](const HistogramResult& result) {
          ExpectChannel(result.channels[0],
                        LoopCounts(samples, 0, 1, EdgesOf(result.bins[0]), policy), false);
        });
        if (HasFailure()) return;
      }
    }
  }
}

TEST_F(HistogramGuessDeviceTest, TablesAroundTheirEdges) {
  const auto edges_by = [](int count, double (*edge)(double)) {
    std::vector<double> edges(count + 1);
    for (int i = 0; i <= count; ++i) edges[i] = edge(i / static_cast<double>(count));
    return edges;
  };
  for (const int bins : {1, 2, 5, 64, 1024, 9000, 20'000, 60'000}) {
    SCOPED_TRACE(testing::Message() << bins << " bins");
    for (const std::vector<double>& edges :
         {edges_by(bins, [](double u) { return u * u; }),
          edges_by(bins, [](double u) { return std::exp(20 * u - 14); }),
          edges_by(bins, [](double u) { return 5e3 * std::pow(u - 0.3, 3); }),
          edges_by(bins, [](double u) { return u < 0.5 ? u * 1e-6 : 1e6 * u; })}) {
      // So many bins that edges meet are no layout.
      const auto meet = std::adjacent_find(edges.begin(), edges.end(), std::greater_equal<>());
      if (meet != edges.end()) continue;
      const Samples<float> samples{.x = SamplesAroundEdges(edges, 20'000), .misalignment = 3};
      ForEachMethod(SpecOf({EdgeBinsSpec{edges}}), samples, [&](const HistogramResult& result) {
        ExpectChannel(result.channels[0], LoopCounts(samples, 0, 1, edges, OutOfRangePolicy::kDrop),
                      false);
      });
      if (HasFailure()) return;
    }
  }
}

TEST_F(HistogramGuessDeviceTest, EdgesThatAreInfinite) {
  for (const std::vector<double>& edges : {std::vector<double>{-HUGE_VAL, HUGE_VAL},
                                           {-HUGE_VAL, -1, 0, 7.5, HUGE_VAL},
                                           {0, 1, HUGE_VAL}}) {
    const Samples<float> samples{.x = SamplesAroundEdges(edges, 5000)};
    ForEachMethod(SpecOf({EdgeBinsSpec{edges}}), samples, [&](const HistogramResult& result) {
      ExpectChannel(result.channels[0], LoopCounts(samples, 0, 1, edges, OutOfRangePolicy::kDrop),
                    false);
    });
  }
}

TEST_F(HistogramGuessDeviceTest, EverySizeAroundVectorsTurnsAndBlocks) {
  // A turn of a warp is 512 floats, and a block has 32 warps.
  for (const uint64_t turns : {0, 1, 2, 31, 32, 33, 65, 4224}) {
    for (const int64_t beside : {-17, -5, -4, -3, -1, 0, 1, 2, 3, 4, 7, 511}) {
      const int64_t count = static_cast<int64_t>(turns) * 512 + beside;
      if (count < 0) continue;
      SCOPED_TRACE(testing::Message() << count << " samples");
      const Samples<float> samples{
          .x = MakeSamples<float>(Distribution::kUniform, static_cast<uint64_t>(count), 0, 1),
          .misalignment = static_cast<uint64_t>(count) % 4};
      const HistogramSpec spec = SpecOf({EvenBinsSpec{100, 0, 1}});
      ForEachMethod(spec, samples, [&](const HistogramResult& result) {
        ExpectChannel(result.channels[0],
                      LoopCounts(samples, 0, 1, EdgesOf(result.bins[0]), OutOfRangePolicy::kDrop),
                      false);
      });
      if (HasFailure()) return;
    }
  }
}

template <class T>
class HistogramIntegerGuessTest : public HistogramDeviceTest {};
using IntegerTypes =
    ::testing::Types<int8_t, int16_t, int32_t, int64_t, uint8_t, uint16_t, uint32_t, uint64_t>;
TYPED_TEST_SUITE(HistogramIntegerGuessTest, IntegerTypes);

TYPED_TEST(HistogramIntegerGuessTest, EvenAndIntegerBins) {
  using Limits = std::numeric_limits<TypeParam>;
  const double least = std::max<double>(Limits::min(), -1000);
  const double most = std::min<double>(Limits::max(), 1000);
  const double from = least < 0 ? 0.9 * least : 0.02 * most;
  Samples<TypeParam> samples{
      .x = MakeSamples<TypeParam>(Distribution::kUniform, 60'013, from, 0.95 * most),
      .misalignment = 1};
  samples.x[7] = Limits::min();
  samples.x[8] = Limits::max();
  const int64_t first = least < 0 ? -50 : 3;
  const double low = static_cast<double>(first);
  for (const uint64_t bins : {1, 7, 64, 100, 60'000}) {
    for (const double width : {1.0, 2.0, 0.5, 0.3, 3.7, 1.953125}) {
      const double upper = low + width * static_cast<double>(bins);
      this->ForEachMethod(
          SpecOf({EvenBinsSpec{bins, low, upper}}), samples, [&](const HistogramResult& result) {
            ExpectChannel(
                result.channels[0],
                LoopCounts(samples, 0, 1, EdgesOf(result.bins[0]), OutOfRangePolicy::kDrop), false);
          });
      if (this->HasFailure()) return;
    }
    // The bins of integers, as half-open ones around them.
    std::vector<double> edges;
    for (uint64_t i = 0; i <= bins; ++i) edges.push_back(low - 0.5 + static_cast<double>(i));
    this->ForEachMethod(
        SpecOf({IntegerBinsSpec{first, bins}}), samples, [&](const HistogramResult& result) {
          ExpectChannel(result.channels[0],
                        LoopCounts(samples, 0, 1, edges, OutOfRangePolicy::kDrop), false);
        });
    if (this->HasFailure()) return;
  }
}

TYPED_TEST(HistogramIntegerGuessTest, BinsAtTheEndsOfTheType) {
  using Limits = std::numeric_limits<TypeParam>;
  std::vector<TypeParam> values;
  for (int i = 0; i < 20'000; ++i) {
    const TypeParam step = static_cast<TypeParam>(i % 11);
    values.push_back(i % 2 == 0 ? static_cast<TypeParam>(Limits::min() + step)
                                : static_cast<TypeParam>(Limits::max() - step));
  }
  const Samples<TypeParam> samples{.x = values};
  constexpr int64_t kMax = std::numeric_limits<int64_t>::max();
  const int64_t last =
      std::cmp_greater(Limits::max(), kMax) ? kMax : static_cast<int64_t>(Limits::max());
  for (const int64_t first : {static_cast<int64_t>(Limits::min()), last - 4}) {
    std::vector<uint64_t> counts(5);
    uint64_t underflow = 0;
    uint64_t overflow = 0;
    for (const TypeParam x : values) {
      const __int128 offset = static_cast<__int128>(x) - first;
      if (offset < 0) ++underflow;
      if (offset > 4) ++overflow;
      if (offset >= 0 && offset <= 4) ++counts[static_cast<size_t>(offset)];
    }
    this->ForEachMethod(SpecOf({IntegerBinsSpec{first, 5}}), samples,
                        [&](const HistogramResult& result) {
                          EXPECT_EQ(result.channels[0].counts, counts);
                          EXPECT_EQ(result.channels[0].underflow_count, underflow);
                          EXPECT_EQ(result.channels[0].overflow_count, overflow);
                        });
  }
}

TEST_F(HistogramGuessDeviceTest, BytesOfSeveralChannelsAtAnyAddress) {
  for (const uint32_t channels : {1, 2, 3, 4, 5}) {
    for (uint64_t misalignment = 0; misalignment < 17; misalignment += 3) {
      SCOPED_TRACE(testing::Message() << channels << " channels, " << misalignment << " off");
      const Samples<uint8_t> samples{
          .x = MakeSamples<uint8_t>(Distribution::kSkewed, 30'011 * channels, 3, 250),
          .misalignment = misalignment};
      std::vector<BinSpec> bins;
      for (uint32_t c = 0; c < channels; ++c) bins.push_back(EvenBinsSpec{10 + 9 * c, 5.5, 200});
      HistogramSpec spec = SpecOf(bins);
      spec.channel_count = channels;
      spec.out_of_range_policy =
          channels % 2 == 0 ? OutOfRangePolicy::kClamp : OutOfRangePolicy::kDrop;
      ForEachMethod(spec, samples, [&](const HistogramResult& result) {
        for (uint32_t c = 0; c < channels; ++c) {
          ExpectChannel(
              result.channels[c],
              LoopCounts(samples, c, channels, EdgesOf(result.bins[c]), spec.out_of_range_policy),
              false);
        }
      });
      if (HasFailure()) return;
    }
  }
}

}  // namespace
}  // namespace gridfold::kernels::cuda
