#include "kernels/cuda/order/sample.h"

#include <algorithm>
#include <cstdint>
#include <random>
#include <vector>

#include "gtest/gtest.h"
#include "kernels/cuda/order/launchers.h"

namespace gridfold::kernels::cuda {
namespace {

constexpr uint32_t kSizeLog2 = 12;
constexpr uint64_t kSize = uint64_t{1} << kSizeLog2;
constexpr uint64_t kCount = 300'007;

TEST(SampleTest, HasOneElementOfEachPart) {
  uint64_t places = 0;
  for (uint64_t i = 0; i < kSize; ++i) {
    const uint64_t index = SampledIndex(i, kCount, kSizeLog2);
    const uint64_t begin = i * kCount / kSize;
    const uint64_t end = (i + 1) * kCount / kSize;
    ASSERT_GE(index, begin);
    ASSERT_LT(index, end);
    places += (index - begin) * 1000 / (end - begin);
  }
  // Anywhere in the parts, evenly.
  EXPECT_NEAR(static_cast<double>(places) / kSize, 493, 30);
  const uint64_t last = SampledIndex((uint64_t{1} << 20) - 1, kSampledElementsMax, 20);
  EXPECT_LT(last, kSampledElementsMax);
  EXPECT_GE(last, kSampledElementsMax - (kSampledElementsMax >> 20) - 1);
}

TEST(SampleTest, HasAsManyElementsAsAreWorthWhile) {
  EXPECT_EQ(SampleLog2(uint64_t{1} << 28, uint64_t{1} << 26), kSampleLog2Max);
  EXPECT_EQ(SampleLog2(uint64_t{1} << 24, uint64_t{1} << 26), 18u);
  EXPECT_EQ(SampleLog2((uint64_t{1} << 24) - 1, uint64_t{1} << 26), 17u);
  EXPECT_EQ(SampleLog2(uint64_t{1} << 28, uint64_t{1} << 19), 19u);
  EXPECT_EQ(SampleLog2(0, 0), 0u);
}

// Keys in some order, and their sample, sorted.
struct Sampled {
  std::vector<uint32_t> keys;    // Sorted.
  std::vector<uint32_t> sample;  // Sorted.

  explicit Sampled(std::vector<uint32_t> in_order) : keys(std::move(in_order)) {
    for (uint64_t i = 0; i < kSize; ++i) {
      sample.push_back(keys[SampledIndex(i, keys.size(), kSizeLog2)]);
    }
    std::sort(keys.begin(), keys.end());
    std::sort(sample.begin(), sample.end());
  }
  bool Holds(const SampleBounds& bounds, uint64_t rank) const {
    return (bounds.lower == kOpenRank || sample[bounds.lower] <= keys[rank]) &&
           (bounds.upper == kOpenRank || sample[bounds.upper] >= keys[rank]);
  }
};

std::vector<uint32_t> AnyKeys(uint32_t seed) {
  std::mt19937 random(seed);
  std::vector<uint32_t> keys(kCount);
  for (uint32_t& key : keys) key = static_cast<uint32_t>(random());
  return keys;
}

void ExpectBoundsToHold(const Sampled& sampled) {
  for (const double quantile : {0.0, 1e-5, 0.001, 0.01, 0.3, 0.5, 0.9, 0.9999, 1.0}) {
    SCOPED_TRACE(quantile);
    const auto rank = static_cast<uint64_t>(quantile * (kCount - 1));
    EXPECT_TRUE(sampled.Holds(BoundsOfQuantile(quantile, kSize), rank));
    EXPECT_TRUE(sampled.Holds(BoundsOfRank(rank, kCount, kSize), rank));
  }
  for (const uint64_t selected : {1, 10, 100, 10'000}) {
    SCOPED_TRACE(selected);
    const SampleBounds bounds = BoundsOfTop(selected, kCount, kSize);
    EXPECT_EQ(bounds.upper, kOpenRank);
    EXPECT_TRUE(sampled.Holds(bounds, kCount - selected));
  }
}

TEST(SampleTest, BoundsHold) {
  for (uint32_t seed = 0; seed < 20; ++seed) {
    SCOPED_TRACE(seed);
    ExpectBoundsToHold(Sampled(AnyKeys(seed)));
  }
  std::vector<uint32_t> keys = AnyKeys(20);
  std::sort(keys.begin(), keys.end());
  ExpectBoundsToHold(Sampled(keys));
  std::reverse(keys.begin(), keys.end());
  ExpectBoundsToHold(Sampled(keys));
  for (uint64_t i = 0; i < kCount; ++i) keys[i] = static_cast<uint32_t>(i % 64);
  ExpectBoundsToHold(Sampled(keys));
}

TEST(SampleTest, BoundsAreOpenAtTheEnds) {
  EXPECT_EQ(BoundsOfQuantile(0, kSize).lower, kOpenRank);
  EXPECT_LT(BoundsOfQuantile(0, kSize).upper, 10u);
  EXPECT_EQ(BoundsOfQuantile(1, kSize).upper, kOpenRank);
  EXPECT_GT(BoundsOfQuantile(1, kSize).lower, kSize - 12);
  EXPECT_EQ(BoundsOfQuantile(0.5, 0).lower, kOpenRank);
  EXPECT_EQ(BoundsOfQuantile(0.5, 3).upper, kOpenRank);
  EXPECT_EQ(BoundsOfTop(kCount, kCount, kSize).lower, kOpenRank);
  const SampleBounds median = BoundsOfTarget({.quantile = 0.5}, kCount, kSize, kSize);
  EXPECT_NEAR(static_cast<double>(median.lower), kSize / 2 - 8 - 5 * 32, 2);
  EXPECT_NEAR(static_cast<double>(median.upper), kSize / 2 + 8 + 5 * 32, 2);
}

TEST(SampleTest, WhatLiesBetweenBoundsIsBounded) {
  const uint64_t count = uint64_t{1} << 28;
  EXPECT_LT(KeysBetweenBounds(1, count, 20), count / 200);
  EXPECT_LT(KeysBetweenBounds(kSampledTargetsMax, count, 20), count / 8);
  EXPECT_LT(KeysOfTop(100, count, 20), 4000u);
  EXPECT_LT(KeysOfTop(100'000, count, 20), 150'000u);
  EXPECT_EQ(KeysOfTop(count, count, 20), count);
}

TEST(LargeGroupsTest, SamplesWhatIsLargeEnough) {
  constexpr uint64_t kLarge = uint64_t{1} << 28;
  constexpr uint64_t kRoom = uint64_t{256} << 20;
  using enum ElementType;
  for (const ElementType type : {kInt32, kUint32, kFloat32, kInt64, kUint64, kFloat64}) {
    EXPECT_EQ(QuantileSampleLog2(type, kLarge, 1, kRoom), 20u);
    EXPECT_EQ(QuantileSampleLog2(type, kSampledElementsMin, 1, KeptBytes(0)), 18u);
    EXPECT_EQ(QuantileSampleLog2(type, kSampledElementsMin - 1, 1, kRoom), 0u);
    EXPECT_EQ(QuantileSampleLog2(type, kLarge, kSampledTargetsMax + 1, kRoom), 0u);
    EXPECT_EQ(QuantileSampleLog2(type, kLarge, kSampledTargetsMax, KeptBytes(0)), 0u);
    EXPECT_EQ(QuantileSampleLog2(type, kSampledElementsMax + 1, 1, kRoom), 0u);
    EXPECT_EQ(TopSampleLog2(type, kLarge, 100'000, kRoom), 20u);
    EXPECT_EQ(TopSampleLog2(type, kLarge, kLarge / 2, kRoom), 0u);
    EXPECT_EQ(TopSampleLog2(type, kSampledElementsMin, 100, KeptBytes(0)), 18u);
  }
  EXPECT_EQ(QuantileSampleLog2(kFloat16, kLarge, 1, kRoom), 0u);
  EXPECT_EQ(TopSampleLog2(kInt8, kLarge, 1, kRoom), 0u);
}

TEST(LargeGroupsTest, TheMaximumOfScratchCoversAllOfThem) {
  for (const ElementType type : {ElementType::kInt8, ElementType::kFloat32, ElementType::kInt64}) {
    for (uint32_t wanted = 1; wanted <= kWantedMax; ++wanted) {
      Scratch scratch(nullptr, LargeGroups::ScratchBytesMax());
      EXPECT_TRUE(LargeGroups::Create(type, wanted, {}, scratch, {}, nullptr).ok()) << wanted;
    }
  }
}

}  // namespace
}  // namespace gridfold::kernels::cuda
