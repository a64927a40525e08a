// Arrays cut into parts: each element is in one part, where its groups allow it.
#include "client/library/array_parts.h"

#include <cstdint>
#include <numeric>
#include <vector>

#include "client/library/array_route.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace gridfold::client {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using testing::SizeIs;

// The elements that the parts view, one after the other, which is where they lie.
void ExpectWhole(const std::vector<ReductionPart>& parts, const ArrayView& array) {
  const std::byte* next = array.bytes().data();
  for (const ReductionPart& part : parts) {
    EXPECT_EQ(part.array.bytes().data(), next);
    next += part.array.bytes().size();
  }
  EXPECT_EQ(next, array.bytes().data() + array.bytes().size());
}

TEST(ArrayPartsTest, AWholeArrayIsCutAnywhere) {
  const std::vector<int32_t> elements(1001);
  const auto split =
      SplitReduction(elements, {.statistics = {Statistic::kSum}, .first_index = 7}, 4 * 300);
  ASSERT_THAT(split.parts, SizeIs(4));
  EXPECT_TRUE(split.are_merged);
  ExpectWhole(split.parts, elements);
  uint64_t first_index = 7;
  for (const ReductionPart& part : split.parts) {
    EXPECT_LE(part.array.bytes().size(), 4u * 300);
    EXPECT_LE(part.array.bytes().size(), split.part_bytes_max);
    EXPECT_TRUE(part.options.return_accumulator);
    EXPECT_EQ(part.options.first_index, first_index);
    first_index += part.array.element_count();
  }
}

TEST(ArrayPartsTest, ColumnsAreCutByRowsAndMerged) {
  const std::vector<double> elements(10 * 3);
  const ArrayView array = ArrayView(elements).WithShape(10, 3);
  const auto split =
      SplitReduction(array, {.statistics = {Statistic::kSum}, .grouping = Axis{0}}, 8 * 3 * 4);
  ASSERT_THAT(split.parts, SizeIs(3));
  EXPECT_TRUE(split.are_merged);
  ExpectWhole(split.parts, array);
  EXPECT_THAT(split.parts[1].array.shape(), testing::ElementsAre(3, 3));
  EXPECT_EQ(split.parts[1].options.first_index, 4u);
}

TEST(ArrayPartsTest, RowsAndSegmentsStayWhole) {
  const std::vector<float> elements(10 * 3);
  const ArrayView array = ArrayView(elements).WithShape(10, 3);
  const auto rows =
      SplitReduction(array, {.statistics = {Statistic::kMax}, .grouping = Axis{1}}, 4 * 3 * 4);
  ASSERT_THAT(rows.parts, SizeIs(3));
  EXPECT_FALSE(rows.are_merged);
  EXPECT_FALSE(rows.parts[0].options.return_accumulator);
  ExpectWhole(rows.parts, array);

  const auto segments = SplitReduction(
      elements,
      {.statistics = {Statistic::kCount}, .grouping = Segments{{0, 0, 4, 20, 20, 21, 30}}}, 4 * 10);
  ExpectWhole(segments.parts, elements);
  std::vector<std::vector<uint64_t>> offsets;
  for (const ReductionPart& part : segments.parts) {
    offsets.push_back(std::get<Segments>(part.options.grouping).offsets);
  }
  EXPECT_THAT(offsets,
              testing::ElementsAre(std::vector<uint64_t>{0, 0, 4}, std::vector<uint64_t>{0, 16},
                                   std::vector<uint64_t>{0, 0, 1, 10}));
}

TEST(ArrayPartsTest, WhatCannotBeCutIsNot) {
  const std::vector<float> elements(30);
  const ArrayView matrix = ArrayView(elements).WithShape(10, 3);
  const std::vector<Statistic> sum = {Statistic::kSum};
  EXPECT_THAT(SplitReduction(elements, {.statistics = {Statistic::kProduct}}, 8).parts, IsEmpty());
  EXPECT_THAT(SplitReduction(elements, {.statistics = sum}, 1000).parts, IsEmpty());
  EXPECT_THAT(SplitReduction(ArrayView(elements).WithShape(4, 7), {.statistics = sum}, 8).parts,
              IsEmpty());
  EXPECT_THAT(SplitReduction(elements, {.statistics = sum, .grouping = Axis{0}}, 8).parts,
              IsEmpty());
  EXPECT_THAT(SplitReduction(matrix, {.statistics = sum, .grouping = Axis{2}}, 8).parts, IsEmpty());
  EXPECT_THAT(SplitReduction(
                  matrix, {.statistics = sum, .grouping = Axis{1}, .return_accumulator = true}, 8)
                  .parts,
              IsEmpty());
  for (const std::vector<uint64_t>& offsets :
       {std::vector<uint64_t>{0, 5}, {1, 30}, {0, 20, 10, 30}, {}, {0}}) {
    EXPECT_THAT(
        SplitReduction(elements, {.statistics = sum, .grouping = Segments{offsets}}, 8).parts,
        IsEmpty());
  }
}

TEST(ArrayPartsTest, SamplesAreCutBetweenFrames) {
  const std::vector<uint8_t> samples(3 * 7);
  const std::vector<double> weights(3 * 7);
  const HistogramOptions options = {
      .bins = {IntegerBins{.bin_count = 5}}, .channel_count = 3, .weights = ArrayView(weights)};
  const auto split = SplitHistogram(samples, options, 2 * 3 * 9);
  ASSERT_THAT(split.parts, SizeIs(4));
  uint64_t count = 0;
  for (const HistogramPart& part : split.parts) {
    EXPECT_EQ(part.array.element_count() % 3, 0u);
    const auto& own = std::get<ArrayView>(part.options.weights->source());
    EXPECT_EQ(own.element_count(), part.array.element_count());
    EXPECT_EQ(own.bytes().data(), reinterpret_cast<const std::byte*>(weights.data() + count));
    count += part.array.element_count();
  }
  EXPECT_EQ(count, samples.size());

  HistogramOptions other = options;
  other.bins = {EvenBins{.bin_count = 5}};
  EXPECT_THAT(SplitHistogram(samples, other, 9).parts, IsEmpty());
  other = options;
  other.weights = ResidentArray{"weights"};
  EXPECT_THAT(SplitHistogram(samples, other, 9).parts, IsEmpty());
  other = options;
  other.channel_count = 2;
  EXPECT_THAT(SplitHistogram(samples, other, 9).parts, IsEmpty());
}

// Of each part, how many elements it has.
template <typename Part>
std::vector<uint64_t> SizesOf(const std::vector<Part>& parts) {
  std::vector<uint64_t> sizes;
  for (const Part& part : parts) sizes.push_back(part.array.element_count());
  return sizes;
}

TEST(ArrayPartsTest, PartsAreAsEqualAsTheyCanBe) {
  const std::vector<int8_t> bytes(11);
  const auto sizes = [&](uint64_t count, uint64_t part_bytes) {
    const ArrayView array(ElementType::kInt8, bytes.data(), count);
    return SizesOf(SplitReduction(array, {.statistics = {Statistic::kSum}}, part_bytes).parts);
  };
  EXPECT_THAT(sizes(10, 5), ElementsAre(5, 5));
  EXPECT_THAT(sizes(11, 5), ElementsAre(4, 4, 3));
  EXPECT_THAT(sizes(10, 9), ElementsAre(5, 5));
  EXPECT_THAT(sizes(10, 10), IsEmpty());
  EXPECT_THAT(sizes(3, 1), ElementsAre(1, 1, 1));
  EXPECT_THAT(sizes(3, 0), ElementsAre(1, 1, 1));
  EXPECT_THAT(sizes(1, 0), IsEmpty());
  EXPECT_THAT(sizes(0, 1), IsEmpty());
  const std::vector<int32_t> wide(3);
  const auto split = SplitReduction(wide, {.statistics = {Statistic::kSum}}, 8);
  EXPECT_THAT(SizesOf(split.parts), ElementsAre(2, 1));
  EXPECT_EQ(split.part_bytes_max, 8u);
}

TEST(ArrayPartsTest, WhatIsMergedHasFewGroupsAndBins) {
  const std::vector<int8_t> elements(2 * 4097);
  const auto columns = [&](uint64_t count) {
    const ArrayView array(ElementType::kInt8, elements.data(), 2 * count);
    return SplitReduction(array.WithShape(2, count),
                          {.statistics = {Statistic::kSum}, .grouping = Axis{0}}, count)
        .parts.size();
  };
  EXPECT_EQ(columns(4096), 2u);
  EXPECT_EQ(columns(4097), 0u);

  const ArrayView samples(ElementType::kInt8, elements.data(), 4);
  const auto parts = [&](HistogramOptions options, bool is_plane = false) {
    if (is_plane) options.y_array = samples;
    return SplitHistogram(samples, options, 2).parts.size();
  };
  const auto integers = [](uint64_t count) { return IntegerBins{.bin_count = count}; };
  EXPECT_EQ(parts({.bins = {integers(65'536)}}), 2u);
  EXPECT_EQ(parts({.bins = {integers(65'537)}}), 0u);
  const EvenBins even = {.bin_count = 65'536, .lower_bound = 0, .upper_bound = 1};
  EXPECT_EQ(parts({.bins = {even}}), 2u);
  EXPECT_EQ(parts({.bins = {EdgeBins{std::vector<double>(65'536)}}}), 2u);
  EXPECT_EQ(parts({.bins = {EdgeBins{std::vector<double>(65'537)}}}), 0u);
  LogarithmicBins logarithmic;
  logarithmic.bin_count = 65'536;
  EXPECT_EQ(parts({.bins = {logarithmic}}), 2u);
  logarithmic.bin_count = 65'537;
  EXPECT_EQ(parts({.bins = {logarithmic}}), 0u);
  // Of all channels together, and of all cells of a plane.
  EXPECT_EQ(parts({.bins = {integers(32'768)}, .channel_count = 2}), 2u);
  EXPECT_EQ(parts({.bins = {integers(32'769)}, .channel_count = 2}), 0u);
  EXPECT_EQ(parts({.bins = {integers(40'000), integers(25'536)}, .channel_count = 2}), 2u);
  EXPECT_EQ(parts({.bins = {integers(40'000), integers(25'537)}, .channel_count = 2}), 0u);
  EXPECT_EQ(parts({.bins = {integers(256), integers(256)}}, true), 4u);
  EXPECT_EQ(parts({.bins = {integers(256), integers(257)}}, true), 0u);
  EXPECT_EQ(parts({.bins = {integers(256)}}, true), 4u);
  EXPECT_EQ(parts({.bins = {integers(257)}}, true), 0u);
  // Counts whose product is too large for any number.
  const uint64_t all = UINT64_MAX;
  EXPECT_EQ(parts({.bins = {integers(all)}, .channel_count = 2}), 0u);
  EXPECT_EQ(parts({.bins = {integers(all), integers(all)}, .channel_count = 2}), 0u);
  EXPECT_EQ(parts({.bins = {integers(all), integers(all)}}, true), 0u);
}

TEST(ArrayPartsTest, TruthsAndNothingAreNotCut) {
  const std::vector<int8_t> bytes(4);
  const ArrayView truths(ElementType::kBool, bytes.data(), 4);
  const HistogramOptions bins = {.bins = {IntegerBins{.bin_count = 2}}};
  EXPECT_THAT(SplitReduction(truths, {.statistics = {Statistic::kSum}}, 1).parts, IsEmpty());
  EXPECT_THAT(SplitHistogram(truths, bins, 1).parts, IsEmpty());
  EXPECT_THAT(SizesOf(SplitHistogram(bytes, bins, 1).parts), ElementsAre(1, 1, 1, 1));
  EXPECT_THAT(SplitHistogram(ArrayView(ElementType::kInt8, nullptr, 0), bins, 1).parts, IsEmpty());
  HistogramOptions other = bins;
  other.channel_count = 0;
  EXPECT_THAT(SplitHistogram(bytes, other, 1).parts, IsEmpty());
}

TEST(ArrayShapeTest, AShapeHasAsManyElementsAsTheArray) {
  const std::vector<int8_t> bytes(256);
  const auto holds = [&](uint64_t count, const std::vector<uint64_t>& shape) {
    return HasShapeOfElements(ArrayView(ElementType::kInt8, bytes.data(), count).WithShape(shape));
  };
  EXPECT_TRUE(holds(30, {30}));
  EXPECT_TRUE(holds(30, {2, 3, 5}));
  EXPECT_FALSE(holds(30, {2, 3, 4}));
  EXPECT_FALSE(holds(30, {4, 7}));
  EXPECT_FALSE(holds(30, {2, 3}));
  EXPECT_FALSE(holds(30, {60}));
  EXPECT_TRUE(holds(0, {5, 0}));
  EXPECT_FALSE(holds(5, {5, 0}));
  EXPECT_FALSE(holds(0, {5}));
  EXPECT_TRUE(holds(256, {2, 2, 2, 2, 2, 2, 2, 2}));
  EXPECT_FALSE(holds(256, {2, 2, 2, 2, 2, 2, 2, 2, 1}));
  EXPECT_TRUE(HasShapeOfElements(ArrayView(ElementType::kInt8, bytes.data(), 7)));
  EXPECT_FALSE(HasShapeOfElements(ArrayView(ElementType{}, bytes.data(), 7)));
}

TEST(ArrayRouteTest, TheSizeDecidesAndWhatIsAllowed) {
  RouteQuestion question{.size_bytes = kInlineBytesMax};
  EXPECT_EQ(ChooseRoute(question), ArrayTransport::kInline);
  question.size_bytes = uint64_t{1} << 30;
  EXPECT_EQ(ChooseRoute(question), ArrayTransport::kInline);
  question.fits_message = false;
  EXPECT_EQ(ChooseRoute(question), ArrayTransport::kResident);
  question.can_stream = true;
  EXPECT_EQ(ChooseRoute(question), ArrayTransport::kStream);
  question.can_split = true;
  EXPECT_EQ(ChooseRoute(question), ArrayTransport::kStreams);
  question.can_share = true;
  EXPECT_EQ(ChooseRoute(question), ArrayTransport::kRegion);
  question.wanted = ArrayTransport::kStreams;
  EXPECT_EQ(ChooseRoute(question), ArrayTransport::kStreams);
  question.can_split = false;
  EXPECT_EQ(ChooseRoute(question), ArrayTransport::kStream);
  question.wanted = ArrayTransport::kInline;
  EXPECT_EQ(ChooseRoute(question), ArrayTransport::kInline);
}

}  // namespace
}  // namespace gridfold::client
