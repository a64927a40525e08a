// The layout of reductions, judged without a device: nothing is left out, scratch is bounded.
#include "kernels/cuda/reduce/plan/geometry.h"

#include <utility>
#include <vector>

#include "gtest/gtest.h"
#include "kernels/cuda/device/grid.h"
#include "kernels/cuda/reduce/plan/geometry_test.h"
#include "kernels/cuda/reduce/plan/kernel_choice.h"
#include "kernels/cuda/reduce/plan/pair_tuning.h"
#include "kernels/cuda/reduce/plan/tuning.h"
#include "kernels/cuda/reduce/plan/word_counts.h"
#include "kernels/numerics/statistics/statistic_value.h"

namespace gridfold::kernels::cuda {
namespace {

// Kernels of sums alone and of extremes alone answer some statistics, and are asked for no other.
TEST(ReduceGeometryTest, KernelsAreAskedForWhatTheyAnswer) {
  for (int t = 0; t < kElementTypeCount; ++t) {
    const auto type = static_cast<ElementType>(t);
    for (int s = 0; s < kStatisticCount; ++s) {
      const auto statistic = static_cast<Statistic>(s);
      if (!IsDefinedFor(statistic, type)) continue;
      if (statistic == Statistic::kProduct && IsFloatingPoint(type)) continue;  // None of these.
      for (const GroupingKind kind :
           {GroupingKind::kWhole, GroupingKind::kAxis0, GroupingKind::kAxis1}) {
        const ReductionPlan plan =
            Plan(ArrayDescription::Matrix(type, 512, 16), {kind, {}}, {statistic});
        const uint32_t parts = ReductionParts(plan);
        const uint32_t needed = PartsOf(statistic, IsFloatingPoint(type), false);
        EXPECT_EQ(parts & needed, needed) << StatisticName(statistic);
        // States are those of the plan.
        if (AreReducedAsRows(plan)) {
          EXPECT_EQ(ReductionParts(AsRows(plan)), parts);
        }
        if ((parts & ~kSumPart) == 0) {
          EXPECT_TRUE(AnswersOfSums().Has(statistic)) << StatisticName(statistic);
        } else if (parts == kExtremesPart && kind != GroupingKind::kAxis0) {
          EXPECT_TRUE(AnswersOfExtremes().Has(statistic)) << StatisticName(statistic);
        }
      }
    }
  }
  const auto parts = [](GroupingKind kind, std::vector<Statistic> statistics) {
    return ReductionParts(Plan(ArrayDescription::Matrix(ElementType::kFloat32, 512, 16), {kind, {}},
                               std::move(statistics)));
  };
  EXPECT_EQ(parts(GroupingKind::kAxis1, {Statistic::kMean, Statistic::kCount}), kSumPart);
  EXPECT_EQ(parts(GroupingKind::kAxis1, {Statistic::kMin, Statistic::kArgmax}), kExtremesPart);
  EXPECT_EQ(parts(GroupingKind::kAxis1, {Statistic::kMin, Statistic::kRange}), kCorePartSet);
  EXPECT_EQ(parts(GroupingKind::kAxis0, {Statistic::kMin, Statistic::kRange}), kExtremesPart);
}

TEST(ReduceGeometryTest, OneGiantSegmentIsSharedOutAmongAllBlocks) {
  std::vector<uint64_t> sizes(100'000, 3);
  sizes[5] = uint64_t{1} << 32;
  const ReductionGeometry geometry =
      PlanReductionGeometry(SegmentPlan(ElementType::kInt32, sizes), Properties(132));
  const uint64_t blocks = 132 * ReduceTuning::kResidentBlocksMax;
  EXPECT_EQ(geometry.queue_grid_blocks, blocks);
  EXPECT_GE(CeilDivide(sizes[5], geometry.chunk_elements),
            blocks * (ReduceTuning::kQueuedChunksPerBlock - 1));
}

TEST(ReduceGeometryTest, WholeArraysAreOneEvenWave) {
  const ReductionPlan plan =
      Plan(ArrayDescription::Vector(ElementType::kFloat32, (uint64_t{1} << 29) + 1), {});
  const ReductionGeometry geometry = PlanReductionGeometry(plan, Properties(132));
  EXPECT_LE(geometry.chunks_per_group, 132 * ReduceTuning::kResidentBlocksMax);
  EXPECT_EQ(geometry.grid_blocks, geometry.chunks_per_group);
  EXPECT_GE(geometry.chunks_per_group * geometry.chunk_elements, plan.array.element_count);
}

// Words are exact for so many elements of a thread only, in whatever form it takes them.
TEST(ReduceGeometryTest, NoThreadTakesMoreElementsThanItsWords) {
  for (const ElementType type : {ElementType::kFloat16, ElementType::kFloat64}) {
    const uint64_t count = uint64_t{1} << 36;
    const ReductionGeometry blocks =
        PlanReductionGeometry(Plan(ArrayDescription::Vector(type, count), {}), Properties(1));
    const uint64_t drawn_max = type == ElementType::kFloat16 ? DrawnAdditionsMax<Float16>(kSumPart)
                                                             : DrawnAdditionsMax<double>(kSumPart);
    EXPECT_LE(blocks.chunk_elements, drawn_max * blocks.block_threads);
    EXPECT_LE(blocks.chunk_elements, uint64_t{1} << 31);  // Digits of a block, in 64 bits.
    const ReductionGeometry columns =
        PlanReductionGeometry(Plan(ArrayDescription::Matrix(type, count, 1),
                                   {GroupingKind::kAxis0, {}}, {Statistic::kL1Norm}),
                              Properties(1));
    const uint64_t rows_at_once = columns.block_threads >> columns.tile_columns_log2;
    EXPECT_LE(CeilDivide(columns.rows_per_split, rows_at_once), ReduceTuning::kAdditionsMax);
    const ReductionGeometry tiles = PlanReductionGeometry(
        SegmentPlan(type, std::vector<uint64_t>(100'000, 9), {Statistic::kL1Norm}),
        Properties(132));
    EXPECT_LE(tiles.tile_elements_max, ReduceTuning::kAdditionsMax);
    const ReductionGeometry warps = PlanReductionGeometry(
        SegmentPlan(type, std::vector<uint64_t>(10'000, 20'000), {Statistic::kL1Norm}),
        Properties(132));
    EXPECT_LT(warps.tile_elements_max >> warps.tile_width_log2, ReduceTuning::kAdditionsMax);
  }
}

TEST(ReduceGeometryTest, ArraysThatTakeAWarpAreBlocksOfOneWhereThereAreWords) {
  // Of integers only L1 norms and the like have no kernel of their own.
  const auto plan = [](ElementType type, uint64_t size, Statistic statistic) {
    return PlanReductionGeometry(SegmentPlan(type, std::vector<uint64_t>(4096, size), {statistic}),
                                 Properties(132));
  };
  const ReductionGeometry words = plan(ElementType::kFloat64, 8'000, Statistic::kL1Norm);
  EXPECT_EQ(words.block_threads, ReduceTuning::kWarpThreads);
  EXPECT_EQ(words.grid_blocks, 132 * 2 * ReduceTuning::kTileBlocksPerResident);
  EXPECT_GT(plan(ElementType::kFloat64, 64, Statistic::kL1Norm).block_threads,
            ReduceTuning::kWarpThreads);
  EXPECT_GT(plan(ElementType::kInt32, 8'000, Statistic::kL1Norm).block_threads,
            ReduceTuning::kWarpThreads);
}

// Fixed point: a lane for what it reads at once, unless that leaves warps without groups.
TEST(ReduceGeometryTest, GroupsInFixedPointFillWarps) {
  const auto plan = [](uint64_t count, uint64_t size) {
    return PlanReductionGeometry(Plan(ArrayDescription::Matrix(ElementType::kFloat32, count, size),
                                      {GroupingKind::kAxis1, {}}, {Statistic::kVariance}),
                                 Properties(132));
  };
  EXPECT_EQ(plan(1 << 20, 64).tile_width_log2, 0);
  EXPECT_EQ(plan(1 << 20, 64).strip_groups, 32);
  EXPECT_EQ(plan(1 << 20, 64).word_bytes, 0);
  EXPECT_EQ(plan(1 << 20, 1000).tile_width_log2, 3);
  EXPECT_EQ(plan(4096, 4096).tile_width_log2, 5);
  EXPECT_EQ(plan(4096, 4096).strip_groups, 1);
  EXPECT_EQ(plan(4096, 4).tile_width_log2, 0);
}

// Pairs: likewise, of fewer bytes.
TEST(ReduceGeometryTest, GroupsInPairsFillWarps) {
  const auto plan = [](uint64_t count, uint64_t size) {
    return PlanReductionGeometry(Plan(ArrayDescription::Matrix(ElementType::kFloat64, count, size),
                                      {GroupingKind::kAxis1, {}}, {Statistic::kVariance}),
                                 Properties(132));
  };
  EXPECT_EQ(plan(1 << 20, 4).tile_width_log2, 0);
  EXPECT_EQ(plan(1 << 20, 64).tile_width_log2, 2);
  EXPECT_EQ(plan(1 << 20, 64).strip_groups, 32);
  EXPECT_EQ(plan(1 << 20, 64).word_bytes, 0);
  EXPECT_EQ(plan(1 << 20, 1000).tile_width_log2, 5);
  EXPECT_EQ(plan(4096, 4096).strip_groups, 1);
}

// Many blocks even out multiprocessors that are not equally fast, as long as each has some turns.
TEST(ReduceGeometryTest, WarpsOfLongArraysTakeAFewTurnsEach) {
  const auto blocks = [](uint64_t bytes, Statistic statistic, GroupingKind kind, uint64_t columns) {
    const uint64_t rows = bytes / sizeof(float) / columns;
    return PlanReductionGeometry(
               Plan(ArrayDescription::Matrix(ElementType::kFloat32, rows, columns), {kind, {}},
                    {statistic}),
               Properties(132))
        .grid_blocks;
  };
  constexpr uint64_t kBlockBytes = 4 * ReduceTuning::kTurnWarpBytes;
  constexpr uint64_t kLong = uint64_t{2} << 30;
  constexpr uint64_t kShort = uint64_t{128} << 20;
  EXPECT_EQ(blocks(kLong, Statistic::kSum, GroupingKind::kAxis1, 64), kLong / kBlockBytes);
  EXPECT_EQ(blocks(kLong, Statistic::kMin, GroupingKind::kAxis1, 64), kLong / kBlockBytes);
  EXPECT_EQ(blocks(kLong, Statistic::kSum, GroupingKind::kAxis0, 1 << 27),
            kLong / (2 * kBlockBytes));
  EXPECT_EQ(blocks(kShort, Statistic::kSum, GroupingKind::kAxis1, 64),
            132 * PairTuning::kResidentBlocks * ReduceTuning::kTileBlocksPerResident);
}

// So that L1 has room for loads under way.
TEST(ReduceGeometryTest, WordsOfBlocksLeaveSharedMemory) {
  const ReductionGeometry geometry = PlanReductionGeometry(
      Plan(ArrayDescription::Vector(ElementType::kFloat32, 1 << 28), {}, {Statistic::kVariance}),
      Properties(132));
  EXPECT_LE(geometry.word_bytes, ReduceTuning::kWordBytesOfBlocksMax);
  EXPECT_EQ(geometry.block_threads, 480);
}

// All multiprocessors are done at the same time.
TEST(ReduceGeometryTest, ArraysTooLongForOneWaveAreSeveralEvenOnes) {
  for (const uint64_t count : {uint64_t{1} << 30, (uint64_t{1} << 31) + 12'345}) {
    for (const ElementType type : {ElementType::kFloat16, ElementType::kFloat32}) {
      const ReductionGeometry geometry =
          PlanReductionGeometry(Plan(ArrayDescription::Vector(type, count), {}), Properties(132));
      const uint64_t rest = geometry.chunks_per_group % 132;
      EXPECT_TRUE(rest == 0 || rest > 125) << geometry.chunks_per_group;
    }
  }
}

TEST(ReduceGeometryTest, BlocksShrinkWithTheDevicesSharedMemory) {
  DeviceProperties small = Properties(24);
  small.shared_bytes_per_block_max = static_cast<int>(ReductionSharedBytesMin());
  for (const ElementType type : {ElementType::kFloat32, ElementType::kFloat64}) {
    const ReductionPlan plan = Plan(ArrayDescription::Vector(type, 1'000'000), {},
                                    {Statistic::kVariance, Statistic::kL1Norm});
    const ReductionGeometry geometry = PlanReductionGeometry(plan, small);
    EXPECT_GE(geometry.block_threads, ReduceTuning::kWarpThreads);
    EXPECT_LE(geometry.word_bytes, ReductionSharedBytesMin() - ReduceTuning::kOtherSharedBytesMax);
  }
}

TEST(ReduceGeometryTest, SumsOfFloatsAreLaidOutByTheirShape) {
  const auto form = [](uint64_t rows, uint64_t columns, GroupingKind kind) {
    return SumsOfMatrix(rows, columns, kind).form;
  };
  EXPECT_EQ(form(4, 1 << 27, GroupingKind::kAxis0), ReductionForm::kShallowColumnSums);
  EXPECT_EQ(form(128, 1 << 22, GroupingKind::kAxis0), ReductionForm::kShallowColumnSums);
  EXPECT_EQ(form(129, 1 << 22, GroupingKind::kAxis0), ReductionForm::kWholeColumns);
  EXPECT_EQ(form(65, 1 << 20, GroupingKind::kAxis0), ReductionForm::kWholeColumns);
  EXPECT_EQ(form(512, 1 << 20, GroupingKind::kAxis0), ReductionForm::kWholeColumns);
  EXPECT_EQ(form(1024, 1 << 19, GroupingKind::kAxis0), ReductionForm::kColumnItems);
  EXPECT_EQ(form(1 << 27, 4, GroupingKind::kAxis0), ReductionForm::kColumnItems);
  EXPECT_EQ(form(1 << 27, 4, GroupingKind::kAxis1), ReductionForm::kGroupSums);
  EXPECT_EQ(form(1 << 15, 1 << 14, GroupingKind::kAxis1), ReductionForm::kGroupSums);
  EXPECT_EQ(form(1000, 1 << 14, GroupingKind::kAxis1), ReductionForm::kBlockSums);
  EXPECT_EQ(form(1, 1 << 16, GroupingKind::kAxis1), ReductionForm::kBlockSums);
  EXPECT_EQ(form(512, 1 << 20, GroupingKind::kAxis1), ReductionForm::kBlocks);
}

TEST(ReduceGeometryTest, SingleGroupsOfMiddleLengthAreSharedBySomeBlocks) {
  const auto blocks = [](uint64_t rows, uint64_t columns) {
    return SumsOfMatrix(rows, columns, GroupingKind::kAxis1).grid_blocks;
  };
  EXPECT_EQ(blocks(1, 1 << 14), 1u);
  EXPECT_EQ(blocks(1, (1 << 14) + 1), 5u);
  EXPECT_EQ(blocks(1, 1 << 16), 16u);
  EXPECT_EQ(blocks(3, 1 << 16), 3u);
}

uint32_t WarpsOf(const ReductionGeometry& geometry) {
  return geometry.block_threads / ReduceTuning::kWarpThreads;
}

TEST(ReduceGeometryTest, ManyShortSegmentsAreStrips) {
  const auto geometry = [](uint64_t count, uint64_t size, uint64_t longest) {
    std::vector<uint64_t> sizes(count, size);
    sizes[count / 2] = longest;
    return PlanReductionGeometry(SegmentPlan(ElementType::kFloat32, sizes), Properties(132));
  };
  EXPECT_EQ(geometry(1000, 16, 17).form, ReductionForm::kGroupSums);
  EXPECT_EQ(geometry(200'000, 16, 16).form, ReductionForm::kStrips);
  EXPECT_EQ(geometry(200'000, 17, 17).form, ReductionForm::kGroupSums);
  EXPECT_EQ(geometry(200'000, 4096, 4097).form, ReductionForm::kGroupSums);
  for (const uint64_t size : {1, 16, 64, 256, 500}) {
    for (const uint64_t longest : {size + 1, uint64_t{10'000'000}}) {
      const ReductionGeometry strips = geometry(200'000, size, longest);
      EXPECT_EQ(strips.form, ReductionForm::kStrips) << size;
      EXPECT_EQ(strips.strip_groups % ReduceTuning::kWarpThreads, 0u);
      // Each has a segment that there is.
      const uint64_t of_a_block = uint64_t{WarpsOf(strips)} * strips.strip_groups;
      EXPECT_GE(strips.grid_blocks * of_a_block, 200'000u);
      EXPECT_LT((strips.grid_blocks - 1) * of_a_block, 200'000u);
      EXPECT_EQ(strips.queued_segments_max > 0, longest > size + 1);
    }
  }
}

TEST(ReduceGeometryTest, ShortGroupsOfIntegersAreStrips) {
  const auto geometry = [](ElementType type, uint64_t rows, uint64_t columns,
                           std::vector<Statistic> statistics) {
    return PlanReductionGeometry(
        Plan(ArrayDescription::Matrix(type, rows, columns), {GroupingKind::kAxis1, {}}, statistics),
        Properties(132));
  };
  for (const ElementType type : {ElementType::kInt8, ElementType::kUint64}) {
    for (const Statistic statistic : {Statistic::kSum, Statistic::kMean, Statistic::kVariance}) {
      for (const uint64_t rows : {1, 31, 5000, 100'000, 1 << 28}) {
        for (const uint64_t columns : {1, 4, 100, 512}) {
          const ReductionGeometry strips = geometry(type, rows, columns, {statistic});
          EXPECT_EQ(strips.form, ReductionForm::kStrips);
          EXPECT_GE(uint64_t{strips.grid_blocks} * strips.strip_groups, rows);
          EXPECT_LT(uint64_t{strips.grid_blocks - 1} * strips.strip_groups, rows);
          EXPECT_LE(strips.strip_groups, IntegerStripTuning::kStripGroupsMax);
        }
      }
    }
  }
  // A warp for each row, where there are few.
  EXPECT_EQ(geometry(ElementType::kInt32, 100, 100, {Statistic::kSum}).grid_blocks, 100u);
  EXPECT_EQ(geometry(ElementType::kInt8, 100'000, 1 << 17, {Statistic::kSum}).form,
            ReductionForm::kBlocks);
  EXPECT_EQ(geometry(ElementType::kInt8, 100'000, 100, {Statistic::kMin}).form,
            ReductionForm::kTiles);
}

TEST(ReduceGeometryTest, LanesOfAGroupGrowWithIt) {
  uint32_t before = 0;
  for (const uint64_t columns : {4, 16, 64, 256, 1024, 4096, 16'384}) {
    const uint32_t log2 =
        SumsOfMatrix((1 << 29) / columns, columns, GroupingKind::kAxis1).tile_width_log2;
    EXPECT_GE(log2, before) << columns;
    before = log2;
  }
  EXPECT_EQ(before, 5u);
}

TEST(ReduceGeometryTest, EveryElementIsInAChunkOrSplit) {
  RandomPlans plans;
  for (int i = 0; i < 3000; ++i) {
    const ReductionPlan plan = plans.Next();
    const ReductionGeometry geometry = PlanReductionGeometry(plan, Properties(24));
    const uint64_t group_size = plan.grouping.group_size;
    switch (geometry.form) {
      case ReductionForm::kBlocks:
        EXPECT_GE(geometry.chunks_per_group * geometry.chunk_elements, group_size);
        EXPECT_LT((geometry.chunks_per_group - 1) * geometry.chunk_elements, group_size);
        break;
      case ReductionForm::kColumns:
      case ReductionForm::kColumnItems:
      case ReductionForm::kShallowColumnSums:
      case ReductionForm::kWholeColumns:
        EXPECT_GE(geometry.splits * geometry.rows_per_split, group_size);
        EXPECT_TRUE(geometry.splits == 1 ||
                    (geometry.splits - 1) * geometry.rows_per_split < group_size);
        EXPECT_GE(geometry.column_tile_count << geometry.tile_columns_log2,
                  plan.grouping.group_count);
        break;
      case ReductionForm::kStrips:
        EXPECT_GE(uint64_t{geometry.grid_blocks} * WarpsOf(geometry) * geometry.strip_groups,
                  plan.grouping.group_count);
        [[fallthrough]];
      case ReductionForm::kTiles:
      case ReductionForm::kGroupSums:
        EXPECT_LE(geometry.tile_width_log2, 5u);
        EXPECT_EQ(geometry.queued_segments_max > 0, group_size > geometry.tile_elements_max);
        break;
      case ReductionForm::kBlockSums:
        EXPECT_LE(group_size, PairTuning::kBlockElementsMax);
        EXPECT_EQ(geometry.grid_blocks, plan.grouping.group_count * geometry.chunks_per_group);
        EXPECT_TRUE(geometry.chunks_per_group == 1 || plan.grouping.group_count == 1);
        EXPECT_EQ(geometry.partial_count,
                  geometry.chunks_per_group == 1 ? 0 : geometry.chunks_per_group);
        break;
    }
  }
}

}  // namespace
}  // namespace gridfold::kernels::cuda
