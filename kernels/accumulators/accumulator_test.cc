// The byte format: what it says of itself holds, and whatever else comes is an error.
#include "kernels/accumulators/accumulator.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <functional>
#include <random>
#include <string>
#include <vector>

#include "kernels/accumulators/accumulator_test_util.h"
#include "kernels/accumulators/bytes.h"
#include "kernels/contract/plan_test_util.h"

namespace gridfold::kernels {
namespace {

using testing::HasSubstr;

std::string ReductionBytes(const std::function<void(ReductionSpec&)>& change = [](ReductionSpec&) {
}) {
  ReductionSpec spec;
  spec.statistics = {Statistic::kSum, Statistic::kArgmin, Statistic::kVariance, Statistic::kL1Norm,
                     Statistic::kAll};
  spec.grouping = {GroupingKind::kSegments, {0, 3, 3, 5}};
  spec.return_states = true;
  change(spec);
  const auto plan = PlanReduction(ArrayDescription::Vector(ElementType::kFloat64, 5), spec);
  EXPECT_TRUE(plan.ok()) << plan.status();
  GroupStates<double> groups(plan->grouping.group_count);
  const double elements[] = {1.5, -2e300, 3e-300, INFINITY, 7.0};
  for (size_t g = 0; g < groups.size() && plan->grouping.kind == GroupingKind::kSegments; ++g) {
    const std::vector<uint64_t>& offsets = plan->grouping.offsets;
    for (uint64_t i = offsets[g]; i < offsets[g + 1]; ++i) groups[g].Add(elements[i], i, false);
  }
  return *MakeReductionAccumulator(*plan, groups);
}

std::string IntegerBytes(std::vector<Statistic> statistics, const std::vector<int32_t>& elements) {
  ReductionSpec spec;
  spec.statistics = std::move(statistics);
  spec.return_states = true;
  const auto plan =
      PlanReduction(ArrayDescription::Vector(ElementType::kInt32, elements.size()), spec);
  EXPECT_TRUE(plan.ok()) << plan.status();
  GroupStates<int32_t> groups(1);
  for (size_t i = 0; i < elements.size(); ++i) groups[0].Add(elements[i], i, false);
  return *MakeReductionAccumulator(*plan, groups);
}

std::string HistogramBytes(
    const std::function<void(HistogramSpec&)>& change = [](HistogramSpec&) {},
    ElementType type = ElementType::kInt16) {
  HistogramSpec spec;
  spec.bins = {EvenBinsSpec{20, 0.0, 1.0}};
  spec.channel_count = 2;
  spec.return_states = true;
  change(spec);
  const auto plan = PlanHistogram(ArrayDescription::Vector(type, 1000), spec, 1 << 20);
  EXPECT_TRUE(plan.ok()) << plan.status();
  HistogramResult result;
  result.bins = plan->bins;
  result.channels.resize(plan->channel_count);
  for (size_t c = 0; c < result.channels.size(); ++c) {
    HistogramCounts& channel = result.channels[c];
    channel.counts.resize(plan->two_dimensional ? plan->total_bin_count()
                                                : plan->bins[c].bin_count);
    channel.counts[3] = 1000 / plan->channel_count - 6;
    channel.counts[4] = 1;
    channel.overflow_count = 5;
  }
  if (spec.weight_type) {
    std::vector<ExactSum<float, 1>> sums(plan->total_bin_count());
    sums[7].Add(1.25F);
    sums[8].Add(NAN);
    result.weight_states = sums;
  }
  return *MakeHistogramAccumulator(*plan, result);
}

std::vector<std::string> Samples() {
  return {ReductionBytes(),
          IntegerBytes({Statistic::kProduct, Statistic::kBitwiseXor, Statistic::kSum,
                        Statistic::kMax, Statistic::kL2Norm, Statistic::kNonzeroCount},
                       {3, -5, 700000}),
          IntegerBytes({Statistic::kProduct}, std::vector<int32_t>(5, -1'000'000)),
          HistogramBytes(),
          HistogramBytes([](HistogramSpec& spec) {
            spec.bins = {EdgeBinsSpec{{0, 1, 2, 4, 8, 16}}, IntegerBinsSpec{-3, 10}};
          }),
          HistogramBytes([](HistogramSpec& spec) { spec.weight_type = ElementType::kFloat32; })};
}

TEST(AccumulatorBytesTest, ChecksumIsTheNamedOne) {
  EXPECT_EQ(Crc64("123456789"), 0x995DC9BBDF1939FAu);
  for (const std::string& sample : Samples()) EXPECT_EQ(Sealed(Unsealed(sample)), sample);
}

// A reduction spelt out by the header's description.
TEST(AccumulatorBytesTest, LayoutIsTheDocumentedOne) {
  const std::string expected = std::string("GFAC\x01\x00\x01", 7) +      // Version 1, reduction.
                               std::string("\x02\x00\x00", 3) +          // int32, propagate, error.
                               std::string("\x00", 1) +                  // No degrees of freedom.
                               std::string("\x04\x01\x03\x02\x13", 5) +  // sum, min, product, xor.
                               std::string("\x01\x01", 2) +              // One group.
                               std::string("\x01\x02", 2) +              // Of two elements:
                               std::string("\x08\x00\x01", 3) + LittleEndian(4, 8) +  // -4
                               "\x01" + LittleEndian(static_cast<uint32_t>(-5), 4) +  // -5
                               std::string("\x01\x01", 2) +                           // at 1
                               LittleEndian(1, 4) + std::string("\x00", 1) +          // 1 at 0
                               "\x04" + LittleEndian(5, 8) +                          // -5
                               LittleEndian(static_cast<uint32_t>(1 & -5), 4) +
                               LittleEndian(static_cast<uint32_t>(1 | -5), 4) +
                               LittleEndian(static_cast<uint32_t>(1 ^ -5), 4);
  EXPECT_EQ(
      IntegerBytes({Statistic::kSum, Statistic::kMin, Statistic::kProduct, Statistic::kBitwiseXor},
                   {1, -5}),
      Sealed(expected));
}

TEST(AccumulatorDamageTest, EveryFlippedBit) {
  for (const std::string& sample : Samples()) {
    for (size_t i = 0; i < sample.size(); ++i) {
      for (int bit = 0; bit < 8; ++bit) {
        std::string damaged = sample;
        damaged[i] = static_cast<char>(damaged[i] ^ (1 << bit));
        ExpectInvalid(MergeAll({damaged}, /*partial=*/true).status(), "accumulators[0]");
        ExpectInvalid(MergeAll({sample, damaged}, /*partial=*/true).status(), "accumulators[1]");
      }
    }
  }
}

TEST(AccumulatorDamageTest, EveryLength) {
  for (const std::string& sample : Samples()) {
    for (size_t size = 0; size < sample.size(); ++size) {
      ExpectInvalid(MergeAll({sample, sample.substr(0, size)}, /*partial=*/true).status(),
                    "accumulators[1]");
      // Cut short and given a checksum that is right.
      if (size + 8 < sample.size()) {
        ExpectInvalid(MergeAll({Sealed(sample.substr(0, size))}, /*partial=*/true).status(),
                      "accumulators[0]");
      }
    }
    for (const char byte : {'\0', '\1', '\xFF'}) {
      ExpectInvalid(MergeAll({sample + byte}, /*partial=*/true).status(), "accumulators[0]");
      ExpectInvalid(MergeAll({Sealed(Unsealed(sample) + byte)}, /*partial=*/true).status(),
                    "accumulators[0]");
    }
  }
}

TEST(AccumulatorDamageTest, RandomBytes) {
  std::mt19937_64 random(1);
  for (int i = 0; i < 20'000; ++i) {
    std::string bytes =
        i % 2 == 0 ? std::string("GFAC\1\0", 6) + static_cast<char>(1 + i / 2 % 2) : "";
    for (uint64_t size = random() % 80; size > 0; --size) bytes += static_cast<char>(random() >> 8);
    ExpectInvalid(MergeAll({i % 4 < 2 ? bytes : Sealed(bytes)}, /*partial=*/true).status(),
                  "accumulators[0]");
  }
}

// With a right checksum, bytes are taken only where they are what a server would have written.
TEST(AccumulatorDamageTest, ForgedBytesAreRefusedOrCanonical) {
  std::mt19937_64 random(2);
  int accepted = 0;
  for (const std::string& sample : Samples()) {
    for (int i = 0; i < 20'000; ++i) {
      std::string bytes = Unsealed(sample);
      for (uint64_t changes = 1 + random() % 3; changes > 0; --changes) {
        const size_t position = 7 + random() % (bytes.size() - 7);
        switch (random() % 4) {
          case 0: bytes[position] = static_cast<char>(random()); break;
          case 1: bytes[position] = static_cast<char>(bytes[position] ^ (1 << random() % 8)); break;
          case 2: bytes.insert(position, 1, static_cast<char>(random() % 10)); break;
          default: bytes.erase(position, 1); break;
        }
      }
      const std::string forged = Sealed(bytes);
      const auto merged = MergeAll({forged}, /*partial=*/true);
      if (!merged.ok()) {
        ExpectInvalid(merged.status(), "accumulators[0]");
        continue;
      }
      ++accepted;
      if (BytesOf(*merged) != forged) {
        // A bin that is 0 in the form that is no longer written.
        EXPECT_THAT(forged, HasSubstr(std::string("\4\0\0", 3)));
        EXPECT_EQ(BytesOf(*MergeAll({BytesOf(*merged)})), BytesOf(*merged));
      }
      const auto thrice = MergeAll({forged, forged, forged}, /*partial=*/true);
      ASSERT_TRUE(thrice.ok()) << thrice.status();
      EXPECT_TRUE(MergeAll({BytesOf(*thrice)}, /*partial=*/true).ok());
    }
  }
  EXPECT_GT(accepted, 1000);
}

TEST(AccumulatorDamageTest, ClaimsOfHugeSizesCostNothing) {
  const std::string reduction = std::string("GFAC\1\0\1", 7) + std::string("\0\0\0\0", 4) +
                                std::string("\1\1", 2);  // int8, sum.
  for (int bits = 20; bits < 64; ++bits) {
    const std::string count = LittleEndian(uint64_t{1} << bits, 8);
    const std::string integer =
        static_cast<char>(bits / 8 + 1) + count.substr(0, static_cast<size_t>(bits / 8 + 1));
    ExpectInvalid(
        MergeAll({Sealed(reduction + integer + std::string(50, '\0'))}, /*partial=*/true).status(),
        "accumulators[0]");
    // Channels, quantiles, layouts; bins of every kind.
    const std::string histogram = std::string("GFAC\1\0\2", 7) + std::string(6, '\0');
    const std::string rest(80, '\0');
    for (const std::string& before :
         {std::string(), std::string("\1\1", 2), std::string("\1\1\0", 3),
          std::string("\1\1\0\1\1\0", 6), std::string("\1\1\0\1\1\1", 6),
          std::string("\1\1\0\1\1\2", 6)}) {
      ExpectInvalid(
          MergeAll({Sealed(histogram + before + integer + rest)}, /*partial=*/true).status(),
          "accumulators[0]");
    }
  }
}

TEST(AccumulatorMergeTest, NothingCannotBeMerged) {
  ExpectInvalid(MergeAll({}).status(), "accumulators");
  ExpectInvalid(MergeAll({""}).status(), "accumulators[0]");
}

TEST(AccumulatorMergeTest, SaysWhatIsWrongWithTheBytes) {
  std::string bytes = ReductionBytes();
  const auto message = [](const std::string& accumulator) {
    return std::string(MergeAll({accumulator}).status().message());
  };
  EXPECT_THAT(message("GIF89a"), HasSubstr("not an accumulator"));
  EXPECT_THAT(message(bytes.substr(0, 9)), HasSubstr("cut short"));
  std::string newer = Unsealed(bytes);
  newer[4] = 2;
  EXPECT_THAT(message(Sealed(newer)), HasSubstr("version 2"));
  std::string foreign = Unsealed(bytes);
  foreign[6] = 9;
  EXPECT_THAT(message(Sealed(foreign)), HasSubstr("kind 9"));
  bytes[20] ^= 1;
  EXPECT_THAT(message(bytes), HasSubstr("checksum"));
}

TEST(AccumulatorMergeTest, NamesWhatDiffersFromTheFirst) {
  const auto expect = [](const std::string& first, const std::string& other,
                         const std::string& what) {
    const absl::Status status = MergeAll({first, first, other}).status();
    ExpectInvalid(status, "accumulators[2]");
    EXPECT_THAT(std::string(status.message()), HasSubstr("its " + what));
  };
  expect(ReductionBytes(), HistogramBytes(), "operation");
  expect(ReductionBytes(), IntegerBytes({Statistic::kSum}, {1}), "element type");
  using Reduction = ReductionSpec;
  expect(ReductionBytes(),
         ReductionBytes([](Reduction& spec) { std::swap(spec.statistics[0], spec.statistics[1]); }),
         "statistics");
  expect(ReductionBytes(),
         ReductionBytes([](Reduction& spec) { spec.nan_policy = NanPolicy::kIgnore; }),
         "NaN policy");
  expect(ReductionBytes(),
         ReductionBytes([](Reduction& spec) { spec.overflow_policy = OverflowPolicy::kWrap; }),
         "overflow policy");
  expect(ReductionBytes(),
         ReductionBytes([](Reduction& spec) { spec.delta_degrees_of_freedom = 1; }),
         "degrees of freedom");
  expect(ReductionBytes(), ReductionBytes([](Reduction& spec) {
           spec.grouping.offsets = {0, 5};
         }),
         "number of groups");

  using Histogram = HistogramSpec;
  expect(HistogramBytes(), HistogramBytes([](Histogram&) {}, ElementType::kInt8), "element type");
  expect(HistogramBytes(),
         HistogramBytes([](Histogram& spec) { spec.weight_type = ElementType::kFloat32; }),
         "weight type");
  expect(HistogramBytes([](Histogram& spec) { spec.channel_count = 1; }),
         HistogramBytes([](Histogram& spec) {
           spec.channel_count = 1;
           spec.two_dimensional = true;
         }),
         "number of dimensions");
  expect(HistogramBytes(), HistogramBytes([](Histogram& spec) { spec.channel_count = 1; }),
         "number of channels");
  expect(HistogramBytes(), HistogramBytes([](Histogram& spec) {
           spec.out_of_range_policy = OutOfRangePolicy::kClamp;
         }),
         "out-of-range policy");
  expect(HistogramBytes(), HistogramBytes([](Histogram& spec) { spec.sparse = true; }), "format");
  expect(HistogramBytes(), HistogramBytes([](Histogram& spec) { spec.quantiles = {0.5}; }),
         "list of quantiles");
  expect(HistogramBytes(), HistogramBytes([](Histogram& spec) {
           spec.bins = {EvenBinsSpec{20, 0.0, 2.0}};
         }),
         "list of bins");
}

TEST(AccumulatorMergeTest, KeepsToTheLimits) {
  ExpectInvalid(MergeAll({ReductionBytes()}, false, {2, 1000, 10}).status(), "accumulators[0]");
  ExpectInvalid(MergeAll({HistogramBytes()}, false, {10, 39, 10}).status(), "accumulators[0]");
  ExpectInvalid(MergeAll({HistogramBytes()}, false, {10, 1000, 1}).status(), "accumulators[0]");
  EXPECT_TRUE(MergeAll({HistogramBytes()}, false, {10, 40, 2}).ok());
  EXPECT_TRUE(MergeAll({ReductionBytes()}, true, {3, 1000, 10}).ok());
}

// Two of them have more elements than can be counted.
TEST(AccumulatorMergeTest, ElementsAreBounded) {
  const std::string header = std::string("GFAC\1\0\1", 7) + std::string("\0\0\0\0", 4) +
                             std::string("\1\0\1\1", 4);  // int8, count, one group.
  const std::string most = Sealed(header + "\x08" + LittleEndian(~uint64_t{0} >> 1, 8));
  EXPECT_TRUE(MergeAll({most}).ok());
  ExpectInvalid(MergeAll({most, most}).status(), "accumulators[1]");
  const std::string one = Sealed(header + "\1\1");
  ExpectInvalid(MergeAll({most, one}).status(), "accumulators[1]");
  const std::string but_one = Sealed(header + "\x08" + LittleEndian((~uint64_t{0} >> 1) - 1, 8));
  EXPECT_TRUE(MergeAll({but_one, one}).ok());
  const std::string more = Sealed(header + "\x08" + LittleEndian(uint64_t{1} << 63, 8));
  ExpectInvalid(MergeAll({more}).status(), "accumulators[0]");
}

// One group of `element_count` uint64 elements, their sum and mean.
std::string SumBytes(uint64_t element_count, uint64_t low_limb, uint64_t high_limb) {
  std::string bytes =
      std::string("GFAC\1\0\1", 7) + std::string("\7\0\0\0", 4) + std::string("\2\1\7\1\1", 5);
  const size_t size = (static_cast<size_t>(std::bit_width(element_count)) + 7) / 8;
  bytes += static_cast<char>(size);
  bytes += LittleEndian(element_count, size);
  bytes += std::string("\0\0", 2);
  bytes += high_limb == 0 ? '\1' : '\2';
  bytes += LittleEndian(low_limb, 8);
  if (high_limb != 0) bytes += LittleEndian(high_limb, 8);
  return Sealed(bytes);
}

// So that what was merged can be merged again, and no sum leaves the 128 bits that it has.
TEST(AccumulatorMergeTest, SumsAreNoLargerThanTheirElementsAllow) {
  constexpr uint64_t kMost = ~uint64_t{0};
  const std::string largest = SumBytes(1, kMost, 0);
  const auto three = MergeAll({largest, largest, largest}, /*partial=*/true);
  ASSERT_TRUE(three.ok()) << three.status();
  EXPECT_TRUE(MergeAll({BytesOf(*three), largest}, /*partial=*/true).ok());
  ExpectInvalid(MergeAll({SumBytes(1, kMost, 1)}, /*partial=*/true).status(), "accumulators[0]");

  // Two parts have as many elements as there may be; with the sum at its most, and beyond.
  const uint64_t half = uint64_t{1} << 62;
  const auto whole =
      MergeAll({SumBytes(half, 0 - half, half - 1), SumBytes(half - 1, 1 - half, half - 2)}, true);
  ASSERT_TRUE(whole.ok()) << whole.status();
  EXPECT_TRUE(MergeAll({BytesOf(*whole)}, /*partial=*/true).ok());
  const std::vector<uint64_t>& means = std::get<ReductionMerge>(*whole).result.columns[1].slots;
  ASSERT_EQ(means.size(), 1u);
  EXPECT_EQ(std::bit_cast<double>(means[0]), 0x1p64);
  ExpectInvalid(MergeAll({SumBytes(half, 1, half)}, /*partial=*/true).status(), "accumulators[0]");
}

TEST(AccumulatorMergeTest, CanBeStopped) {
  std::stop_source stop;
  stop.request_stop();
  const std::string bytes = ReductionBytes();
  const absl::string_view view = bytes;
  EXPECT_TRUE(absl::IsCancelled(PlanMerge({&view, 1}, kRoomyLimits, stop.get_token()).status()));
  for (const std::string& sample : {ReductionBytes(), HistogramBytes()}) {
    const absl::string_view sample_view = sample;
    const auto plan = PlanMerge({&sample_view, 1}, kRoomyLimits, {});
    ASSERT_TRUE(plan.ok()) << plan.status();
    EXPECT_TRUE(absl::IsCancelled(RunMerge(*plan, true, stop.get_token()).status()));
  }
}

}  // namespace
}  // namespace gridfold::kernels
