// The choice of a strategy, without a device.
#include "kernels/cuda/histogram/plan/strategy.h"

#include <tuple>
#include <utility>

#include "gtest/gtest.h"

namespace gridfold::kernels::cuda {
namespace {

// A GPU of compute capability 9.0, and one of 7.5.
constexpr HistogramLimits kHopper{.shared_bytes_max = 227 * 1024};
constexpr HistogramLimits kTuring{.shared_bytes_max = 64 * 1024};

HistogramShape ShapeOf(uint64_t bin_count, uint32_t weight_words = 0, uint64_t edge_count = 0) {
  return {.sample_count = uint64_t{1} << 28,
          .bin_count = bin_count,
          .edge_count = edge_count,
          .weight_words = weight_words};
}

HistogramStrategy Choose(const HistogramShape& shape, const HistogramLimits& limits) {
  return ChooseHistogramStrategy(shape, limits).value();
}

TEST(HistogramStrategyTest, FewBinsHaveACopyForEachLane) {
  const HistogramStrategy strategy = Choose(ShapeOf(256), kHopper);
  EXPECT_EQ(strategy.method, HistogramMethod::kShared);
  EXPECT_EQ(strategy.copies, 32);
  EXPECT_EQ(strategy.bins_per_block, 256);
  EXPECT_EQ(strategy.shared_bytes, (256 + kHistogramOutsideCounters) * 32 * sizeof(uint32_t));
  EXPECT_EQ(strategy.part_count, 1);
}

TEST(HistogramStrategyTest, MoreBinsHaveFewerCopies) {
  uint32_t copies = 32;
  for (uint64_t bins = 16; bins <= 57'344; bins *= 2) {
    const HistogramStrategy strategy = Choose(ShapeOf(bins), kHopper);
    EXPECT_EQ(strategy.method, HistogramMethod::kShared) << bins;
    EXPECT_LE(strategy.copies, copies) << bins;
    copies = strategy.copies;
  }
  EXPECT_EQ(copies, 1);
}

TEST(HistogramStrategyTest, SharedMemoryIsUsedToTheLastBin) {
  const uint64_t most = kHopper.shared_bytes_max / sizeof(uint32_t) - kHistogramOutsideCounters;
  EXPECT_EQ(Choose(ShapeOf(most), kHopper).method, HistogramMethod::kShared);
  EXPECT_EQ(Choose(ShapeOf(most + 1), kHopper).method, HistogramMethod::kParts);
  EXPECT_EQ(Choose(ShapeOf(most + 1), kTuring).part_count, 4);
}

TEST(HistogramStrategyTest, ClustersShareBinsAndKeepRoomForTiles) {
  HistogramLimits limits = kHopper;
  HistogramShape shape = ShapeOf(65'536);
  const auto choose = [&] {
    return ChooseHistogramStrategy(shape, limits, HistogramMethod::kCluster);
  };
  shape.is_guessed = true;
  EXPECT_EQ(choose().status().code(), absl::StatusCode::kFailedPrecondition);
  limits.has_clusters = true;
  uint32_t blocks = 2;
  for (const uint64_t bins : {1, 1000, 65'536, 91'000, 131'072, 300'000, 524'288, 700'000}) {
    shape.bin_count = bins;
    const auto strategy = choose();
    ASSERT_TRUE(strategy.ok()) << strategy.status();
    EXPECT_EQ(strategy->method, HistogramMethod::kCluster);
    EXPECT_GE(strategy->part_count, blocks) << bins;
    EXPECT_GE(uint64_t{strategy->part_count} * strategy->bins_per_block, bins);
    EXPECT_GE(strategy->ring_stages, 3) << bins;
    // Tiles of 992 vectors, 256 bytes of barriers, and the counters outside.
    EXPECT_GE(strategy->shared_bytes,
              strategy->ring_stages * 992 * 16 + 256 + (strategy->bins_per_block + 2) * 4);
    EXPECT_LE(strategy->shared_bytes, limits.shared_bytes_max) << bins;
    blocks = strategy->part_count;
  }
  EXPECT_EQ(blocks, 16);
  shape.bin_count = 800'000;
  EXPECT_EQ(choose().status().code(), absl::StatusCode::kFailedPrecondition);
  shape.bin_count = 65'536;
  shape.is_guessed = false;
  EXPECT_EQ(choose().status().code(), absl::StatusCode::kFailedPrecondition);
}

TEST(HistogramStrategyTest, PartsGrowWithTheBins) {
  uint32_t part_count = 2;
  for (const uint64_t bins : {60'000, 90'000, 100'000, 131'072, 200'000, 262'144, 900'000}) {
    const HistogramStrategy strategy = Choose(ShapeOf(bins), kHopper);
    ASSERT_EQ(strategy.method, HistogramMethod::kParts) << bins;
    EXPECT_GE(strategy.part_count, part_count) << bins;
    EXPECT_GE(uint64_t{strategy.part_count} * strategy.bins_per_block, bins);
    EXPECT_LE(strategy.shared_bytes, kHopper.shared_bytes_max);
    part_count = strategy.part_count;
  }
  EXPECT_EQ(part_count, 16);
  EXPECT_EQ(Choose(ShapeOf(131'072), kHopper).part_count, 3);
  EXPECT_EQ(Choose(ShapeOf(262'144), kHopper).part_count, 5);
  EXPECT_EQ(Choose(ShapeOf(1'048'576), kHopper).method, HistogramMethod::kGlobal);
}

TEST(HistogramStrategyTest, VeryManyBinsAreCountedByPartitions) {
  HistogramShape shape = ShapeOf(262'144);
  shape.can_split = true;
  EXPECT_EQ(Choose(shape, kHopper).method, HistogramMethod::kParts);
  for (const uint64_t bins : {262'145, 524'288, 1'048'576, 4'194'304}) {
    shape.bin_count = bins;
    const HistogramStrategy strategy = Choose(shape, kHopper);
    EXPECT_EQ(strategy.method, HistogramMethod::kPartitions) << bins;
    EXPECT_EQ(strategy.part_count, (bins + 32'767) / 32'768);
    EXPECT_EQ(strategy.bins_per_block, 32'768);
  }
  EXPECT_NE(Choose(shape, kTuring).method, HistogramMethod::kPartitions);
  shape.bin_count = 4'194'305;
  EXPECT_EQ(Choose(shape, kHopper).method, HistogramMethod::kGlobal);
  shape.bin_count = 524'288;
  shape.sample_count = (uint64_t{1} << 22) - 1;
  EXPECT_EQ(Choose(shape, kHopper).method, HistogramMethod::kParts);
  shape.can_split = false;
  shape.sample_count = uint64_t{1} << 28;
  EXPECT_EQ(Choose(shape, kHopper).method, HistogramMethod::kParts);
}

TEST(HistogramStrategyTest, SamplesOf8BitsAreCountedByValue) {
  for (const uint64_t bins : {1, 256, 100'000, 10'000'000}) {
    HistogramShape shape = ShapeOf(bins);
    shape.value_count = 256;
    const HistogramStrategy strategy = Choose(shape, kHopper);
    EXPECT_EQ(strategy.method, HistogramMethod::kValues);
    EXPECT_EQ(strategy.bins_per_block, 256);
    EXPECT_EQ(strategy.copies, 32);
    EXPECT_EQ(strategy.shared_bytes, (256 + kHistogramOutsideCounters) * 32 * sizeof(uint32_t));
  }
  EXPECT_FALSE(CanCountByValue(2, 1));
  EXPECT_TRUE(CanCountByValue(1, 1));
  EXPECT_TRUE(CanCountByValue(1, 4));
  EXPECT_FALSE(CanCountByValue(1, 3));
}

TEST(HistogramStrategyTest, WeightsTakeTheRoomOfTheirSumsAndNoParts) {
  for (const uint32_t words : {3, 11, 69}) {
    const uint64_t most = kHopper.shared_bytes_max / (words * sizeof(uint64_t));
    EXPECT_EQ(Choose(ShapeOf(most, words), kHopper).method, HistogramMethod::kShared) << words;
    EXPECT_EQ(Choose(ShapeOf(most + 1, words), kHopper).method, HistogramMethod::kGlobal) << words;
  }
}

TEST(HistogramStrategyTest, FewSumsOfWeightsHaveCopies) {
  const HistogramStrategy strategy = Choose(ShapeOf(16, 11), kHopper);
  EXPECT_EQ(strategy.copies, 32);
  EXPECT_EQ(strategy.shared_bytes, 16 * 32 * 11 * sizeof(uint64_t));
  EXPECT_EQ(Choose(ShapeOf(16, 69), kHopper).copies, 4);
}

TEST(HistogramStrategyTest, WindowsTakeLessRoomThanSums) {
  HistogramShape shape = ShapeOf(16'384, 11);
  EXPECT_EQ(Choose(shape, kHopper).method, HistogramMethod::kGlobal);
  EXPECT_EQ(Choose(shape, kHopper).window_words, 0);
  constexpr uint32_t kEscapeWords = 296;
  shape.window_words = {3, 8, kEscapeWords, 2};
  const HistogramStrategy strategy = Choose(shape, kHopper);
  EXPECT_EQ(strategy.method, HistogramMethod::kShared);
  EXPECT_EQ(strategy.window_words, 3);
  EXPECT_EQ(strategy.escape_words, kEscapeWords);
  // With the queues of 32 warps.
  EXPECT_EQ(strategy.queue_entries, 32);
  constexpr uint64_t kQueueBytes = 32 * 64 * sizeof(uint32_t);
  EXPECT_EQ(strategy.shared_bytes,
            HistogramPartBytes(4 * (kEscapeWords + 16'417 * 3)) + kQueueBytes);
}

TEST(HistogramStrategyTest, WindowsHaveTheWordsThatThereIsRoomFor) {
  HistogramShape shape = ShapeOf(16, 11);
  shape.window_words = {3, 8, 296, 2};
  for (const auto& [bins, words, copies] :
       {std::tuple(16, 8, 32), {1024, 8, 4}, {4096, 8, 1}, {8192, 6, 1}, {16'384, 3, 1}}) {
    shape.bin_count = bins;
    const HistogramStrategy strategy = Choose(shape, kHopper);
    EXPECT_EQ(strategy.method, HistogramMethod::kShared) << bins;
    EXPECT_EQ(strategy.window_words, words) << bins;
    EXPECT_EQ(strategy.copies, copies) << bins;
    EXPECT_LE(strategy.shared_bytes, kHopper.shared_bytes_max) << bins;
  }
}

TEST(HistogramStrategyTest, WindowsOfDoublesAreDealtOutSooner) {
  HistogramShape shape = ShapeOf(16, 69);
  shape.window_words = {4, 16, 0, 3};
  for (const auto& [bins, words, copies, parts] :
       {std::tuple(16, 16, 32, 1), {1024, 16, 2, 1}, {4096, 13, 1, 1}, {16'384, 6, 1, 2}}) {
    shape.bin_count = bins;
    const HistogramStrategy strategy = Choose(shape, kHopper);
    EXPECT_EQ(strategy.window_words, words) << bins;
    EXPECT_EQ(strategy.copies, copies) << bins;
    EXPECT_EQ(strategy.part_count, parts) << bins;
    EXPECT_EQ(strategy.queue_entries, 32) << bins;
  }
}

TEST(HistogramStrategyTest, WindowsAreDealtOutInParts) {
  HistogramShape shape = ShapeOf(57'344, 11);
  shape.window_words = {3, 8, 296, 2};
  const HistogramStrategy strategy = Choose(shape, kHopper);
  EXPECT_EQ(strategy.method, HistogramMethod::kParts);
  EXPECT_EQ(strategy.part_count, 3);
  EXPECT_EQ(strategy.window_words, 3);
  EXPECT_EQ(strategy.queue_entries, 5);  // There is no room for more.
  EXPECT_LE(strategy.shared_bytes, kHopper.shared_bytes_max);
  // Sums of weights of 8 bits take a word.
  shape.window_words = {1, 1, 0, 2};
  EXPECT_EQ(Choose(shape, kHopper).method, HistogramMethod::kShared);
  EXPECT_EQ(Choose(shape, kHopper).queue_entries, 11);
  EXPECT_EQ(Choose(shape, kHopper).shared_bytes, HistogramPartBytes(4 * 57'377) + 11 * 256);
}

TEST(HistogramStrategyTest, ManyWindowsAreThoseOfPartitions) {
  HistogramShape shape = ShapeOf(57'344, 69);
  const auto expect = [&](uint64_t bins, uint32_t parts, uint32_t bins_per_part, uint32_t words) {
    shape.bin_count = bins;
    const HistogramStrategy strategy = Choose(shape, kHopper);
    EXPECT_EQ(strategy.method, HistogramMethod::kPartitions) << bins;
    EXPECT_EQ(strategy.part_count, parts) << bins;
    EXPECT_EQ(strategy.bins_per_block, bins_per_part) << bins;
    EXPECT_EQ(strategy.window_words, words) << bins;
    EXPECT_LE(strategy.shared_bytes, kHopper.shared_bytes_max) << bins;
  };
  // Float64, float32 and integers of a byte.
  shape.window_words = {4, 16, 0, 3};
  shape.weight_bytes = 8;
  expect(57'344, 28, 2048, 16);
  expect(1'048'576, 128, 8192, 6);
  shape.weight_words = 11;
  shape.window_words = {3, 8, 296, 2};
  shape.weight_bytes = 4;
  expect(65'536, 16, 4096, 8);
  expect(1'048'576, 128, 8192, 6);
  expect(2'097'152, 128, 16'384, 3);
  shape.weight_words = 3;
  shape.window_words = {1, 1, 0, 2};
  shape.weight_bytes = 1;
  expect(1'048'576, 32, 32'768, 1);
  shape.bin_count = 4'194'305;
  EXPECT_EQ(Choose(shape, kHopper).method, HistogramMethod::kGlobal);
  shape.bin_count = 114'000;
  EXPECT_EQ(Choose(shape, kHopper).method, HistogramMethod::kParts);
  shape.bin_count = 1'048'576;
  shape.sample_count = (uint64_t{1} << 22) - 1;
  EXPECT_EQ(Choose(shape, kHopper).method, HistogramMethod::kGlobal);
}

TEST(HistogramStrategyTest, EdgesAreSharedWhereThereIsRoom) {
  const HistogramStrategy fits = Choose(ShapeOf(10'000, 0, 10'001), kHopper);
  EXPECT_TRUE(fits.edges_in_shared);
  EXPECT_GE(fits.shared_bytes, 10'000 * sizeof(uint32_t) + 10'001 * sizeof(double));
  EXPECT_LE(fits.shared_bytes, kHopper.shared_bytes_max);

  const HistogramStrategy does_not = Choose(ShapeOf(50'000, 0, 50'001), kHopper);
  EXPECT_EQ(does_not.method, HistogramMethod::kShared);
  EXPECT_FALSE(does_not.edges_in_shared);
  EXPECT_FALSE(Choose(ShapeOf(100), kHopper).edges_in_shared);
}

TEST(HistogramStrategyTest, CellsTakeWhatCountersLeave) {
  HistogramShape shape = ShapeOf(1024, 0, 1025);
  shape.has_cells = true;
  const HistogramStrategy few = Choose(shape, kHopper);
  EXPECT_EQ(few.method, HistogramMethod::kShared);
  EXPECT_EQ(few.cell_count, 16'384);
  EXPECT_EQ(few.copies, 32);
  EXPECT_LE(few.shared_bytes, kHopper.shared_bytes_max);

  // Parts have fewer edges each.
  for (const auto& [bins, parts] : {std::pair(16'000, 2), {50'000, 4}, {100'000, 8}}) {
    shape.bin_count = bins;
    shape.edge_count = bins + 1;
    const HistogramStrategy many = Choose(shape, kHopper);
    EXPECT_EQ(many.method, HistogramMethod::kParts) << bins;
    EXPECT_EQ(many.part_count, parts) << bins;
    EXPECT_TRUE(many.edges_in_shared);
    EXPECT_GE(many.cell_count, many.bins_per_block);
    EXPECT_LE(many.shared_bytes, kHopper.shared_bytes_max);
  }
  shape.sample_count = 1;
  EXPECT_EQ(Choose(shape, kHopper).cell_count, 0);
}

TEST(HistogramStrategyTest, NothingNeedsMoreSharedMemoryThanThereIs) {
  for (const HistogramLimits& limits : {kHopper, kTuring}) {
    for (uint64_t bins = 1; bins < uint64_t{1} << 40; bins = bins * 3 / 2 + 1) {
      for (const uint64_t edges : {uint64_t{0}, bins + 1, uint64_t{5000}}) {
        for (const uint32_t weight_words : {0, 3, 11, 69}) {
          HistogramShape shape{.sample_count = uint64_t{1} << 41,
                               .bin_count = bins,
                               .edge_count = edges,
                               .weight_words = weight_words};
          EXPECT_LE(Choose(shape, limits).shared_bytes, limits.shared_bytes_max);
          if (weight_words > 0) shape.window_words = {3, 8, 296, 2};
          shape.has_cells = weight_words == 0;
          shape.can_split = weight_words == 0;
          EXPECT_LE(Choose(shape, limits).shared_bytes, limits.shared_bytes_max);
        }
      }
    }
  }
}

TEST(HistogramStrategyTest, FewerSamplesThanBinsAreCountedWhereTheAnswerStands) {
  HistogramShape shape = ShapeOf(600'000);
  shape.sample_count = 599'999;
  EXPECT_EQ(Choose(shape, kHopper).method, HistogramMethod::kGlobal);
  shape.sample_count = 600'000;
  EXPECT_EQ(Choose(shape, kHopper).method, HistogramMethod::kParts);
  shape.bin_count = 10'000;
  EXPECT_EQ(Choose(shape, kHopper).method, HistogramMethod::kShared);
  shape.bin_count = 2'000;
  shape.weight_words = 11;
  shape.sample_count = 21'999;
  EXPECT_EQ(Choose(shape, kHopper).method, HistogramMethod::kGlobal);
  shape.sample_count = 22'000;
  EXPECT_EQ(Choose(shape, kHopper).method, HistogramMethod::kShared);
}

// Few samples, whatever the bins, unless they would meet in few counters.
TEST(HistogramStrategyTest, FewSamplesAreCountedWhereTheAnswerStands) {
  HistogramLimits limits = kHopper;
  limits.has_clusters = true;
  const auto method_of = [&](uint64_t samples, uint64_t bins, uint32_t weight_words = 0) {
    HistogramShape shape = ShapeOf(bins, weight_words);
    shape.sample_count = samples;
    return Choose(shape, limits).method;
  };
  EXPECT_EQ(method_of(4096, 1), HistogramMethod::kGlobal);
  EXPECT_EQ(method_of(4097, 31), HistogramMethod::kOneCluster);
  EXPECT_EQ(method_of(4097, 32), HistogramMethod::kGlobal);
  EXPECT_EQ(method_of(65'536, 32), HistogramMethod::kGlobal);
  EXPECT_EQ(method_of(65'536, 31), HistogramMethod::kOneCluster);
  EXPECT_EQ(method_of(65'537, 511), HistogramMethod::kShared);
  EXPECT_EQ(method_of(65'537, 512), HistogramMethod::kGlobal);
  EXPECT_EQ(method_of(524'288, 512), HistogramMethod::kGlobal);
  EXPECT_EQ(method_of(524'289, 512), HistogramMethod::kShared);
  // Sums of weights of integers, and of floats.
  EXPECT_EQ(method_of(65'536, 9, 3), HistogramMethod::kGlobal);
  EXPECT_EQ(method_of(65'537, 9, 3), HistogramMethod::kShared);
  EXPECT_EQ(method_of(16'384, 9, 11), HistogramMethod::kGlobal);
  EXPECT_EQ(method_of(16'385, 9, 11), HistogramMethod::kShared);
  // Samples of a byte, and those whose range is to be found.
  HistogramShape shape = ShapeOf(100);
  shape.sample_count = 5000;
  shape.needs_range = true;
  EXPECT_EQ(Choose(shape, limits).method, HistogramMethod::kOneCluster);
  shape.needs_range = false;
  shape.value_count = 256;
  EXPECT_NE(Choose(shape, limits).method, HistogramMethod::kGlobal);
}

TEST(HistogramStrategyTest, AMethodCanBeForced) {
  for (const HistogramMethod method :
       {HistogramMethod::kShared, HistogramMethod::kParts, HistogramMethod::kGlobal}) {
    const auto strategy = ChooseHistogramStrategy(ShapeOf(100), kHopper, method);
    ASSERT_TRUE(strategy.ok()) << strategy.status();
    EXPECT_EQ(strategy->method, method);
  }
}

TEST(HistogramStrategyTest, AForcedMethodThatCannotBeHadIsAnError) {
  const auto code = [](uint64_t bins, uint32_t weight_words, const HistogramLimits& limits,
                       HistogramMethod method) {
    return ChooseHistogramStrategy(ShapeOf(bins, weight_words), limits, method).status().code();
  };
  constexpr absl::StatusCode kError = absl::StatusCode::kFailedPrecondition;
  EXPECT_EQ(code(60'000, 0, kHopper, HistogramMethod::kShared), kError);
  EXPECT_EQ(code(1'048'576, 0, kHopper, HistogramMethod::kParts), kError);
  EXPECT_EQ(code(100, 11, kHopper, HistogramMethod::kParts), kError);
  EXPECT_EQ(code(524'288, 0, kHopper, HistogramMethod::kPartitions), kError);
  EXPECT_EQ(code(100, 0, kHopper, HistogramMethod::kValues), kError);
}

TEST(HistogramStrategyTest, DistributedClustersGrowWithTheBins) {
  HistogramLimits limits = kHopper;
  const auto choose = [&](uint64_t bins) {
    return ChooseHistogramStrategy(ShapeOf(bins), limits, HistogramMethod::kDistributed);
  };
  EXPECT_FALSE(choose(1000).ok());
  limits.has_clusters = true;
  const std::pair<uint64_t, uint32_t> blocks_of[] = {
      {1, 1}, {4096, 1}, {4097, 2}, {16'384, 4}, {16'385, 8}, {65'536, 16}, {900'000, 16}};
  for (const auto& [bins, blocks] : blocks_of) {
    const auto strategy = choose(bins);
    ASSERT_TRUE(strategy.ok()) << strategy.status();
    EXPECT_EQ(strategy->cluster_blocks, blocks) << bins;
    EXPECT_GE(uint64_t{strategy->bins_per_block} * blocks, bins);
    EXPECT_LE(strategy->shared_bytes, limits.shared_bytes_max);
  }
  EXPECT_FALSE(choose(1'000'000).ok());
  EXPECT_FALSE(
      ChooseHistogramStrategy(ShapeOf(100, 4), limits, HistogramMethod::kDistributed).ok());
}

TEST(HistogramStrategyTest, NamesAreFound) {
  for (const HistogramMethod method : kHistogramMethods) {
    EXPECT_EQ(FindHistogramMethod(HistogramMethodName(method)), method);
  }
  EXPECT_EQ(FindHistogramMethod("histogram"), std::nullopt);
}

TEST(HistogramStrategyTest, NamesAreThoseOfTheDocuments) {
  EXPECT_STREQ(HistogramMethodName(HistogramMethod::kValues), "histogram/values");
  EXPECT_STREQ(HistogramMethodName(HistogramMethod::kShared), "histogram/shared");
  EXPECT_STREQ(HistogramMethodName(HistogramMethod::kParts), "histogram/parts");
  EXPECT_STREQ(HistogramMethodName(HistogramMethod::kPartitions), "histogram/partitions");
  EXPECT_STREQ(HistogramMethodName(HistogramMethod::kGlobal), "histogram/global");
}

// Of a device with clusters, `count` samples and bins.
HistogramStrategy ChooseOfFew(uint64_t count, uint64_t bins, bool needs_range) {
  HistogramLimits limits = kHopper;
  limits.has_clusters = true;
  HistogramShape shape = ShapeOf(bins);
  shape.sample_count = count;
  shape.needs_range = needs_range;
  return Choose(shape, limits);
}

TEST(HistogramStrategyTest, OneClusterCountsFewSamplesInFewBins) {
  uint32_t blocks = 1;
  for (const uint64_t count : {4097, 16'384, 65'536}) {
    const HistogramStrategy strategy = ChooseOfFew(count, 31, false);
    EXPECT_EQ(strategy.method, HistogramMethod::kOneCluster) << count;
    EXPECT_GE(strategy.cluster_blocks, blocks) << count;
    blocks = strategy.cluster_blocks;
  }
  EXPECT_EQ(blocks, 16);
  EXPECT_EQ(ChooseOfFew(4096, 31, true).cluster_blocks, 1);
  EXPECT_EQ(ChooseOfFew(4097, 31, false).cluster_blocks, 2);
  EXPECT_EQ(ChooseOfFew(65'537, 31, false).method, HistogramMethod::kShared);
}

TEST(HistogramStrategyTest, OneGridFindsTheRangeOfSamplesThatItCounts) {
  EXPECT_EQ(ChooseOfFew(8192, 1000, true).method, HistogramMethod::kOneCluster);
  EXPECT_EQ(ChooseOfFew(8193, 1000, true).method, HistogramMethod::kOneGrid);
  EXPECT_EQ(ChooseOfFew(1 << 23, 1000, true).method, HistogramMethod::kOneGrid);
  EXPECT_EQ(ChooseOfFew((1 << 23) + 1, 1000, true).method, HistogramMethod::kShared);
}

TEST(HistogramStrategyTest, BlocksThatMeetHaveAllBinsAndFewChannels) {
  const uint64_t most =
      (kHopper.shared_bytes_max - kTogetherOwnBytes) / sizeof(uint32_t) - kHistogramOutsideCounters;
  EXPECT_EQ(ChooseOfFew(8192, most, true).method, HistogramMethod::kOneCluster);
  EXPECT_NE(ChooseOfFew(8192, most + 1, true).method, HistogramMethod::kOneCluster);
  HistogramShape shape = ShapeOf(1000);
  shape.sample_count = 5000;
  shape.bins_count = kHistogramTogetherBinsMax + 1;
  const HistogramLimits limits{.shared_bytes_max = 227 * 1024, .has_clusters = true};
  EXPECT_EQ(Choose(shape, limits).method, HistogramMethod::kShared);
  shape.bins_count = kHistogramTogetherBinsMax;
  EXPECT_EQ(Choose(shape, limits).method, HistogramMethod::kOneCluster);
  shape.weight_words = 3;
  EXPECT_EQ(Choose(shape, limits).method, HistogramMethod::kShared);
  shape.bins_count = 2;
  EXPECT_EQ(Choose(shape, limits).method, HistogramMethod::kGlobal);
}

}  // namespace
}  // namespace gridfold::kernels::cuda
