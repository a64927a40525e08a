// Histograms of several channels, in two dimensions, sparse ones, and those with an automatic
// range, on device spans, each by every strategy that can hold it.
#include <cmath>
#include <limits>
#include <vector>

#include "kernels/cuda/histogram/histogram_device_test.h"

namespace gridfold::kernels::cuda {
namespace {

using HistogramShapeDeviceTest = HistogramDeviceTest;

TEST_F(HistogramShapeDeviceTest, InterleavedChannels) {
  for (const uint32_t channels : {2, 3, 4, 7, 1000}) {
    SCOPED_TRACE(testing::Message() << channels << " channels");
    Samples<int32_t> samples{
        .x = MakeSamples<int32_t>(Distribution::kUniform, channels * 2003, -500, 500),
        .misalignment = 1};
    std::vector<BinSpec> bins;
    for (uint32_t c = 0; c < channels; ++c) {
      bins.push_back(c % 3 == 0 ? BinSpec{EvenBinsSpec{c % 90 + 1, {}, {}}}
                                : BinSpec{EdgeBinsSpec{{-400, -1, 0, 1.5, 3.0 + c}}});
    }
    HistogramSpec spec = SpecOf(bins);
    spec.channel_count = channels;
    ForEachMethod(spec, samples, [&](const HistogramResult& result) {
      for (uint32_t c = 0; c < channels; ++c) {
        ExpectChannel(
            result.channels[c],
            LoopCounts(samples, c, channels, EdgesOf(result.bins[c]), OutOfRangePolicy::kDrop),
            false);
      }
    });
    if (HasFailure()) return;
  }
}

TEST_F(HistogramShapeDeviceTest, MoreChannelsThanThreadsOfAFullDevice) {
  constexpr uint32_t kChannels = 300'000;
  Samples<uint8_t> samples{.x = std::vector<uint8_t>(2 * kChannels)};
  for (uint32_t c = 0; c < kChannels; ++c) {
    samples.x[c] = c % 2;
    samples.x[kChannels + c] = c % 4 == 0;
  }
  HistogramSpec spec = SpecOf({IntegerBinsSpec{0, 2}});
  spec.channel_count = kChannels;
  ForEachMethod(spec, samples, [&](const HistogramResult& result) {
    for (uint32_t c = 0; c < kChannels; ++c) {
      const uint64_t ones = c % 2 + (c % 4 == 0 ? 1 : 0);
      ASSERT_EQ(result.channels[c].counts, (std::vector<uint64_t>{2 - ones, ones})) << c;
    }
  });
}

TEST_F(HistogramShapeDeviceTest, TwoDimensions) {
  Samples<double> samples{.x = MakeSamples<double>(Distribution::kUniform, 80'003, -1, 1),
                          .y = MakeSamples<double>(Distribution::kSkewed, 80'003, 0, 5)};
  samples.x[5] = samples.y[77] = std::numeric_limits<double>::quiet_NaN();
  for (const uint64_t side : {3, 40, 300, 700}) {
    const HistogramSpec base = SpecOf({EvenBinsSpec{side, -1, 1}, EvenBinsSpec{side + 1, 0, 5}});
    HistogramSpec spec = base;
    spec.two_dimensional = true;
    ForEachMethod(spec, samples, [&](const HistogramResult& result) {
      std::vector<uint64_t> counts(side * (side + 1));
      uint64_t nan = 0;
      uint64_t outside = 0;
      const std::vector<double> x_edges = EdgesOf(result.bins[0]);
      const std::vector<double> y_edges = EdgesOf(result.bins[1]);
      for (uint64_t i = 0; i < samples.x.size(); ++i) {
        if (std::isnan(samples.x[i]) || std::isnan(samples.y[i])) {
          ++nan;
          continue;
        }
        const int64_t x = BinOf(samples.x[i], x_edges);
        const int64_t y = BinOf(samples.y[i], y_edges);
        if (x < 0 || y < 0) {
          ++outside;
        } else {
          ++counts[x * (side + 1) + y];
        }
      }
      EXPECT_TRUE(result.channels[0].counts == counts) << "counts differ";
      EXPECT_EQ(result.channels[0].nan_count, nan);
      EXPECT_EQ(result.channels[0].underflow_count + result.channels[0].overflow_count, outside);
    });
  }
}

TEST_F(HistogramShapeDeviceTest, SparseAnswersListWhatDenseOnesHold) {
  for (const bool weighted : {false, true}) {
    Samples<float> samples{.x = MakeSamples<float>(Distribution::kUniform, 3000, 0, 10)};
    if (weighted) samples.weights.assign(samples.x.size(), 0.5F);
    HistogramSpec spec = SpecOf({EvenBinsSpec{5000, 0, 10}, EvenBinsSpec{7, 2, 3}});
    spec.channel_count = 2;
    if (weighted) spec.weight_type = ElementType::kFloat32;
    const auto dense = Count(spec, samples, {});
    ASSERT_TRUE(dense.ok()) << dense.status();
    spec.sparse = true;
    ForEachMethod(spec, samples, [&](const HistogramResult& sparse) {
      for (size_t c = 0; c < 2; ++c) {
        std::vector<uint64_t> counts(dense->channels[c].counts.size());
        std::vector<double> sums(dense->channels[c].weight_sums.size());
        const std::vector<uint64_t>& indices = sparse.channels[c].bin_indices;
        for (size_t i = 0; i < indices.size(); ++i) {
          ASSERT_TRUE(i == 0 || indices[i - 1] < indices[i]);
          if (weighted) {
            EXPECT_NE(sparse.channels[c].weight_sums[i], 0);
            sums[indices[i]] = sparse.channels[c].weight_sums[i];
          } else {
            EXPECT_NE(sparse.channels[c].counts[i], 0);
            counts[indices[i]] = sparse.channels[c].counts[i];
          }
        }
        EXPECT_EQ(counts, dense->channels[c].counts);
        EXPECT_EQ(sums, dense->channels[c].weight_sums);
        EXPECT_EQ(sparse.channels[c].overflow_count, dense->channels[c].overflow_count);
      }
    });
  }
}

TEST_F(HistogramShapeDeviceTest, AutomaticRangesHoldAllFiniteSamples) {
  constexpr float kInfinity = std::numeric_limits<float>::infinity();
  Samples<float> samples{.x = MakeSamples<float>(Distribution::kUniform, 99'999, -3, 8)};
  samples.x[4] = kInfinity;
  samples.x[500] = -kInfinity;
  samples.x[700] = std::numeric_limits<float>::quiet_NaN();
  HistogramSpec spec = SpecOf({EvenBinsSpec{100, {}, {}}});
  spec.channel_count = 3;
  ForEachMethod(spec, samples, [&](const HistogramResult& result) {
    for (size_t c = 0; c < 3; ++c) {
      float smallest = kInfinity;
      float largest = -kInfinity;
      for (size_t i = c; i < samples.x.size(); i += 3) {
        if (!std::isfinite(samples.x[i])) continue;
        smallest = std::min(smallest, samples.x[i]);
        largest = std::max(largest, samples.x[i]);
      }
      EXPECT_EQ(result.bins[c].lower_bound, smallest);
      EXPECT_EQ(result.bins[c].upper_bound, largest);
    }
    EXPECT_EQ(result.channels[1].overflow_count, 1);
    EXPECT_EQ(result.channels[2].underflow_count, 1);
    EXPECT_EQ(result.channels[1].nan_count, 1);
  });
}

}  // namespace
}  // namespace gridfold::kernels::cuda
