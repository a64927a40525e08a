// Folds of histograms: however the samples are cut, the answer and the accumulator are those of one
// run.
#include "kernels/folds/histogram_fold.h"

#include <gtest/gtest.h>

#include <optional>
#include <string>
#include <vector>

#include "kernels/contract/invalid_field.h"
#include "kernels/folds/fold_test_util.h"

namespace gridfold::kernels {
namespace {

constexpr uint64_t kBinCountMax = 1 << 20;

class HistogramFoldTest : public FoldTest {
 protected:
  struct Samples {
    std::string x;
    std::string y;
    std::string weights;
  };

  static HistogramPlan Plan(const HistogramSpec& spec, uint64_t count) {
    return PlanHistogram(ArrayDescription::Vector(ElementType::kFloat32, count), spec, kBinCountMax)
        .value();
  }

  Samples RandomSamples(const HistogramSpec& spec, uint64_t count) {
    return {RandomElements(ElementType::kFloat32, count),
            spec.two_dimensional ? RandomElements(ElementType::kFloat32, count) : "",
            spec.weight_type ? RandomElements(*spec.weight_type, count) : ""};
  }

  HistogramResult Run(Lane& lane, const HistogramPlan& plan, const Samples& samples,
                      uint64_t first) {
    const uint64_t count = plan.array.element_count;
    const auto part = [&](const std::string& bytes, size_t element_bytes) {
      if (bytes.empty()) return HostSpan();
      return SpanOf(absl::string_view(bytes).substr(first * element_bytes, count * element_bytes));
    };
    RunStatistics statistics;
    return lane
        .RunHistogram(
            plan,
            {part(samples.x, 4), part(samples.y, 4),
             part(samples.weights, plan.weight_type ? ElementSize(*plan.weight_type) : 1)},
            {}, statistics)
        .value();
  }

  HistogramMerge OneRun(const HistogramSpec& spec, const Samples& samples, uint64_t count) {
    const HistogramPlan plan = Plan(spec, count);
    if (!plan.return_states) return {Run(*lane_, plan, samples, 0), ""};
    return MakeHistogramPart(plan, Run(*lane_, PlanStates(plan), samples, 0), {}).value();
  }

  HistogramMerge Fold(const HistogramSpec& spec, const Samples& samples,
                      const std::vector<size_t>& ends, const LaneOptions& options) {
    const auto lane = engine_->CreateLane(options).value();
    const auto fold = HistogramFold::Make(Plan(spec, 0), options).value();
    uint64_t used = 0;
    for (const size_t end : ends) {
      while (const HistogramPlan* const batch = fold->NextBatch(end - used)) {
        EXPECT_LE(batch->array.element_count, end - used);
        fold->Add(Run(*lane, *batch, samples, used));
        used += batch->array.element_count;
      }
    }
    return fold->Finish(ends.back() - used, {}).value();
  }

  // That what engines return for the whole comes of `count` samples in two batches.
  void ExpectResultOfOneRun(const HistogramSpec& spec, uint64_t count) {
    const Samples samples = RandomSamples(spec, count);
    const auto fold = HistogramFold::Make(Plan(spec, 0), kRoomyLane).value();
    for (const uint64_t used : {uint64_t{0}, count / 4}) {
      const HistogramPlan* const batch = fold->NextBatch(used == 0 ? count / 4 : count - used);
      ASSERT_NE(batch, nullptr);
      fold->Add(Run(*lane_, *batch, samples, used));
    }
    const HistogramPlan plan = Plan(spec, count);
    const HistogramResult expected = Run(*lane_, plan, samples, 0);
    const HistogramResult actual = std::move(*fold).TakeResult();
    ExpectSame(actual, expected);
    EXPECT_EQ(actual.weight_states.index(), expected.weight_states.index());
    if (!spec.return_states) return;
    EXPECT_EQ(MakeHistogramAccumulator(plan, actual).value(),
              MakeHistogramAccumulator(plan, expected).value());
  }

  void ExpectFoldsAsOneRun(HistogramSpec spec) {
    for (const uint64_t count : {0, 1200}) {
      for (const bool part : {false, true}) {
        spec.return_states = part;
        const Samples samples = RandomSamples(spec, count);
        const HistogramMerge expected = OneRun(spec, samples, count);
        for (const uint64_t lane_bytes : {uint64_t{200}, kRoomyLane.input_bytes_max}) {
          LaneOptions lane = kRoomyLane;
          lane.input_bytes_max = lane_bytes;
          const HistogramMerge folded = Fold(spec, samples, RandomEnds(count), lane);
          ExpectSame(folded.result, expected.result);
          EXPECT_EQ(folded.accumulator, expected.accumulator);
        }
      }
    }
  }

  static void ExpectSame(const HistogramResult& actual, const HistogramResult& expected) {
    ASSERT_EQ(actual.channels.size(), expected.channels.size());
    for (size_t c = 0; c < expected.channels.size(); ++c) {
      const HistogramCounts& a = actual.channels[c];
      const HistogramCounts& b = expected.channels[c];
      EXPECT_EQ(a.counts, b.counts);
      EXPECT_EQ(BytesOf(a.weight_sums), BytesOf(b.weight_sums));
      EXPECT_EQ(a.bin_indices, b.bin_indices);
      EXPECT_EQ(a.underflow_count, b.underflow_count);
      EXPECT_EQ(a.overflow_count, b.overflow_count);
      EXPECT_EQ(a.nan_count, b.nan_count);
      EXPECT_EQ(BytesOf(a.quantile_values), BytesOf(b.quantile_values));
    }
    ASSERT_EQ(actual.bins.size(), expected.bins.size());
    for (size_t b = 0; b < expected.bins.size(); ++b) {
      EXPECT_EQ(EdgesOf(actual.bins[b]), EdgesOf(expected.bins[b]));
    }
  }

  static HistogramSpec SpecOf(BinSpec bins) {
    HistogramSpec spec;
    spec.bins.push_back(std::move(bins));
    return spec;
  }
};

TEST_F(HistogramFoldTest, CountsDoNotDependOnTheCuts) {
  HistogramSpec spec = SpecOf(EvenBinsSpec{40, -1.0, 1.0});
  spec.quantiles = {0, 0.25, 1};
  ExpectFoldsAsOneRun(spec);
  spec.sparse = true;
  spec.out_of_range_policy = OutOfRangePolicy::kClamp;
  ExpectFoldsAsOneRun(spec);
  spec.channel_count = 3;
  spec.bins = {EvenBinsSpec{4, -1.0, 1.0}, EdgeBinsSpec{{-INFINITY, 0, 0.1, INFINITY}},
               LogarithmicBinsSpec{5, 1e-5, 1}};
  ExpectFoldsAsOneRun(spec);
  HistogramSpec plane = SpecOf(EvenBinsSpec{9, -1.0, 1.0});
  plane.two_dimensional = true;
  ExpectFoldsAsOneRun(plane);
}

TEST_F(HistogramFoldTest, SumsOfWeightsDoNotDependOnTheCuts) {
  for (int t = 0; t < kElementTypeCount; ++t) {
    HistogramSpec spec = SpecOf(EvenBinsSpec{10, -1.0, 1.0});
    spec.weight_type = static_cast<ElementType>(t);
    ExpectFoldsAsOneRun(spec);
    spec.sparse = true;
    spec.two_dimensional = true;
    ExpectFoldsAsOneRun(spec);
    spec.two_dimensional = false;
    spec.channel_count = 2;
    ExpectFoldsAsOneRun(spec);
  }
}

TEST_F(HistogramFoldTest, ResultsAreThatOfOneRun) {
  HistogramSpec spec = SpecOf(EvenBinsSpec{40, -1.0, 1.0});
  spec.channel_count = 2;
  ExpectResultOfOneRun(spec, 800);
  spec.return_states = true;
  ExpectResultOfOneRun(spec, 800);
  spec.weight_type = ElementType::kFloat64;
  ExpectResultOfOneRun(spec, 800);
  spec.return_states = false;
  spec.sparse = true;
  ExpectResultOfOneRun(spec, 800);
}

TEST_F(HistogramFoldTest, WhatCannotBeFolded) {
  HistogramSpec spec = SpecOf(EvenBinsSpec{4, -1.0, 1.0});
  spec.channel_count = 2;
  spec.bins.emplace_back(EvenBinsSpec{4, std::nullopt, std::nullopt});
  EXPECT_EQ(FieldOf(HistogramFold::Make(Plan(spec, 0), kRoomyLane).status()), "bins[1]");
  spec.bins.pop_back();
  const auto fold = HistogramFold::Make(Plan(spec, 0), kRoomyLane).value();
  EXPECT_EQ(fold->NextBatch(1), nullptr);
  EXPECT_EQ(FieldOf(fold->Finish(1, {}).status()), "channel_count");
}

}  // namespace
}  // namespace gridfold::kernels
