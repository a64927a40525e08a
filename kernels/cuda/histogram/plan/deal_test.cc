#include "kernels/cuda/histogram/plan/deal.h"

#include <algorithm>
#include <array>
#include <vector>

#include "gtest/gtest.h"

namespace gridfold::kernels::cuda {
namespace {

constexpr uint32_t kSamples = 1024;

std::vector<DealtBlock> DealAll(uint32_t block_count, uint32_t part_count, uint32_t busy_part) {
  std::vector<DealtBlock> blocks;
  for (uint32_t block = 0; block < block_count; ++block) {
    blocks.push_back(DealBlock(block, block_count, part_count, busy_part));
  }
  return blocks;
}

// The blocks of each part; checks that their ranks are all those below their number.
std::vector<uint32_t> BlocksOfParts(const std::vector<DealtBlock>& blocks, uint32_t part_count) {
  std::vector<uint32_t> counts;
  for (uint32_t part = 0; part < part_count; ++part) {
    std::vector<uint32_t> ranks;
    for (const DealtBlock& block : blocks) {
      if (block.part == part) ranks.push_back(block.rank);
    }
    std::sort(ranks.begin(), ranks.end());
    for (uint32_t i = 0; i < ranks.size(); ++i) EXPECT_EQ(ranks[i], i);
    for (const DealtBlock& block : blocks) {
      if (block.part == part) {
        EXPECT_EQ(block.block_count, ranks.size());
      }
    }
    counts.push_back(static_cast<uint32_t>(ranks.size()));
  }
  return counts;
}

TEST(HistogramDealTest, EveryRankOfEveryPartIsDealtOnce) {
  for (uint32_t part_count = 1; part_count <= kHistogramPartsMax; ++part_count) {
    for (const uint32_t multiprocessors : {1, 16, 20, 46, 78, 108, 114, 132, 144, 148}) {
      const uint32_t block_count = std::max(multiprocessors / part_count, 1u) * part_count;
      SCOPED_TRACE(testing::Message() << block_count << " blocks, " << part_count << " parts");
      for (const uint32_t counts :
           BlocksOfParts(DealAll(block_count, part_count, kNoBusyPart), part_count)) {
        EXPECT_EQ(counts, block_count / part_count);
      }
      for (uint32_t busy = 0; busy < part_count && part_count > 1; ++busy) {
        const auto counts = BlocksOfParts(DealAll(block_count, part_count, busy), part_count);
        const bool has_groups = block_count >= GroupSize(part_count, kGroupBlocksMin);
        for (uint32_t part = 0; part < part_count; ++part) {
          EXPECT_EQ(counts[part] < counts[busy], has_groups && part != busy);
        }
      }
    }
  }
}

TEST(HistogramDealTest, FewBlocksAreLeftOver) {
  for (const uint32_t part_count : {2, 3, 4}) {
    for (const DealtBlock& block : DealAll(132, part_count, 1)) EXPECT_LT(block.part, part_count);
  }
  EXPECT_EQ(DealAll(130, 5, 1).back().part, 1);
}

TEST(HistogramDealTest, BlocksOfAGroupReadTheSameSamples) {
  for (const uint32_t part_count : {2, 3, 5}) {
    const uint32_t block_count = 132 / part_count * part_count;
    const uint32_t group_size = GroupSize(part_count, GroupBlocksOfOther(block_count, part_count));
    const uint32_t group_count = block_count / group_size;
    for (uint32_t block = 0; block < group_count * group_size; ++block) {
      const DealtBlock dealt = DealBlock(block, block_count, part_count, 0);
      EXPECT_EQ(dealt.rank % group_count, block / group_size);
      EXPECT_EQ(dealt.block_count % group_count, 0);
    }
  }
}

TEST(HistogramDealTest, AFewMoreSamplesMakeNoPartBusy) {
  EXPECT_EQ(BusyPartOf(std::array{512u, 512u}.data(), 2, kSamples), kNoBusyPart);
  EXPECT_EQ(BusyPartOf(std::array{400u, 600u}.data(), 2, kSamples), kNoBusyPart);
  EXPECT_EQ(BusyPartOf(std::array{340u, 340u, 340u}.data(), 3, kSamples), kNoBusyPart);
}

TEST(HistogramDealTest, MostSamplesMakeAPartBusy) {
  EXPECT_EQ(BusyPartOf(std::array{740u, 110u}.data(), 2, kSamples), 0);
  EXPECT_EQ(BusyPartOf(std::array{110u, 740u}.data(), 2, kSamples), 1);
  EXPECT_EQ(BusyPartOf(std::array{130u, 730u, 130u}.data(), 3, kSamples), 1);
}

TEST(HistogramDealTest, SamplesThatAreCountedTogetherMakeNoPartBusy) {
  // All of one bin: one of each warp.
  EXPECT_EQ(BusyPartOf(std::array{32u, 0u}.data(), 2, kSamples), kNoBusyPart);
}

TEST(HistogramDealTest, NoSamplesMakeNoPartBusy) {
  EXPECT_EQ(BusyPartOf(std::array{0u}.data(), 1, kSamples), kNoBusyPart);
  EXPECT_EQ(BusyPartOf(std::array{0u, 0u}.data(), 2, kSamples), kNoBusyPart);
}

}  // namespace
}  // namespace gridfold::kernels::cuda
