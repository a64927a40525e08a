// Accumulators of reductions by found keys: merged in any order and tree they are that of all
// values in one run of an engine, and so is the answer; keys are limited; no bytes do harm.
#include "kernels/accumulators/keyed_merge.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>
#include <map>
#include <memory>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "kernels/accumulators/accumulator_test_util.h"
#include "kernels/accumulators/keyed_accumulator.h"
#include "kernels/contract/engine.h"
#include "kernels/contract/invalid_field.h"
#include "kernels/types/element_type.h"

namespace gridfold::kernels {
namespace {

using testing::HasSubstr;

template <class T>
HostSpan SpanOf(const std::vector<T>& values) {
  return {reinterpret_cast<const std::byte*>(values.data()), values.size() * sizeof(T)};
}

class KeyedMergeTest : public testing::Test {
 protected:
  // The accumulator and answer of one run over the values.
  template <class Key, class Value>
  KeyedPart PartOf(const std::vector<Key>& keys, const std::vector<Value>& values,
                   uint64_t first_index = 0, uint64_t key_count_max = 0, uint32_t ddof = 1) {
    KeyedReductionSpec spec{.groups = FoundKeysSpec{.key_count_max = key_count_max},
                            .reduction = {}};
    spec.reduction.statistics = {Statistic::kSum, Statistic::kArgmin, Statistic::kVariance,
                                 Statistic::kNonzeroCount};
    spec.reduction.delta_degrees_of_freedom = ddof;
    spec.reduction.return_states = true;
    const auto plan = OutlineKeyedReduction(
        ArrayDescription::Vector(kElementTypeOf<Key>, keys.size()),
        ArrayDescription::Vector(kElementTypeOf<Value>, values.size()), spec, 1 << 20);
    EXPECT_TRUE(plan.ok()) << plan.status();
    RunStatistics statistics;
    auto result = lane_->RunKeyedReduction(
        PlanStates(*plan), {.keys = SpanOf(keys), .values = SpanOf(values)}, {}, statistics);
    EXPECT_TRUE(result.ok()) << result.status();
    ShiftIndices(first_index, result->reduction);
    auto part = MakeKeyedPart(*plan, key_count_max, *std::move(result), {});
    EXPECT_TRUE(part.ok()) << part.status();
    return *std::move(part);
  }

  template <class Key, class Value>
  void ExpectMergesAsOneRun() {
    using KeyLimits = std::numeric_limits<Key>;
    for (int round = 0; round < 20; ++round) {
      std::vector<Key> keys(1 + random_() % 200);
      std::vector<Value> values(keys.size());
      for (size_t i = 0; i < keys.size(); ++i) {
        keys[i] = static_cast<Key>(random_() % 12) - static_cast<Key>(random_() % 2 * 6);
        if (random_() % 20 == 0) keys[i] = random_() % 2 == 0 ? KeyLimits::min() : KeyLimits::max();
        values[i] = static_cast<Value>(static_cast<int>(random_() % 2001) - 1000);
      }
      std::vector<std::string> parts;
      for (size_t begin = 0; begin < keys.size();) {
        const size_t end = std::min(keys.size(), begin + 1 + random_() % 60);
        const auto part = [&](const auto& all) {
          return std::vector(all.begin() + static_cast<ptrdiff_t>(begin),
                             all.begin() + static_cast<ptrdiff_t>(end));
        };
        parts.push_back(PartOf(part(keys), part(values), begin).accumulator);
        begin = end;
      }
      const KeyedPart whole = PartOf(keys, values);
      EXPECT_EQ(MergeByRandomTree(parts, random_), whole.accumulator);
      const auto merged = MergeAll(parts);
      ASSERT_TRUE(merged.ok()) << merged.status();
      const auto& keyed = std::get<KeyedMerge>(*merged);
      EXPECT_EQ(keyed.accumulator, whole.accumulator);
      EXPECT_EQ(keyed.element_count, keys.size());
      EXPECT_EQ(keyed.answer.keys, whole.answer.keys);
      EXPECT_EQ(keyed.answer.counts, whole.answer.counts);
      ExpectSums(keys, values, keyed.answer);
      for (const size_t column : {0, 1, 3}) {
        EXPECT_EQ(keyed.answer.columns[column].slots, whole.answer.columns[column].slots);
      }
      // A variance of one value is none in a part, and NaN in the answer.
      EXPECT_EQ(keyed.answer.columns[2].slots.size(), keyed.answer.keys.size());
    }
  }

  template <class Key, class Value>
  static void ExpectSums(const std::vector<Key>& keys, const std::vector<Value>& values,
                         const KeyedAnswer& answer) {
    std::map<Key, double> sums;
    for (size_t i = 0; i < keys.size(); ++i) sums[keys[i]] += static_cast<double>(values[i]);
    ASSERT_EQ(answer.keys.size(), sums.size());
    size_t i = 0;
    for (const auto& [key, sum] : sums) {
      EXPECT_EQ(static_cast<Key>(answer.keys[i]), key);
      const uint64_t slot = answer.columns[0].slots[i];
      const double value = FloatingElement<Value> ? std::bit_cast<double>(slot)
                                                  : static_cast<double>(static_cast<int64_t>(slot));
      EXPECT_EQ(value, sum);
      ++i;
    }
  }

  std::mt19937_64 random_{35};
  std::unique_ptr<Engine> engine_ = *CreateEngine({.kind = EngineKind::kCpu, .cpu_threads = 1});
  std::unique_ptr<Lane> lane_ = *engine_->CreateLane({.input_bytes_max = 1 << 20,
                                                      .output_bytes_max = 1 << 20,
                                                      .bin_count_max = 1 << 10,
                                                      .group_count_max = 1 << 20});
};

TEST_F(KeyedMergeTest, PartsInAnyOrderAreTheWhole) {
  ExpectMergesAsOneRun<int8_t, float>();
  ExpectMergesAsOneRun<int64_t, int16_t>();
  ExpectMergesAsOneRun<uint64_t, double>();
  ExpectMergesAsOneRun<uint16_t, int64_t>();
}

TEST_F(KeyedMergeTest, PartsOfNothingAreMergedToo) {
  const std::string nothing = PartOf(std::vector<int32_t>{}, std::vector<float>{}).accumulator;
  const std::string one = PartOf(std::vector<int32_t>{5}, std::vector<float>{2}).accumulator;
  EXPECT_EQ(BytesOf(*MergeAll({nothing, one, nothing}, true)), one);
  EXPECT_EQ(BytesOf(*MergeAll({nothing, nothing}, true)), nothing);
}

TEST_F(KeyedMergeTest, KeysAreLimited) {
  std::vector<std::string> parts;
  for (const int32_t key : {1, 2, 3}) {
    parts.push_back(PartOf(std::vector{key}, std::vector<float>{1}, 0, 2).accumulator);
  }
  EXPECT_TRUE(MergeAll({parts[0], parts[1]}).ok());
  const auto merged = MergeAll(parts);
  EXPECT_EQ(FieldOf(merged.status()), "accumulators");
  EXPECT_THAT(merged.status().message(), HasSubstr("more than 2 different keys"));
  EXPECT_TRUE(IsAboveLimit(merged.status()));
  AccumulatorLimits limits = kRoomyLimits;
  limits.group_count_max = 1;
  const auto few = MergeAll({parts[0], parts[1]}, false, limits);
  EXPECT_EQ(FieldOf(few.status()), "accumulators");
}

TEST_F(KeyedMergeTest, WhatDoesNotAgreeIsNamed) {
  const std::vector<float> values = {1};
  const std::string first = PartOf(std::vector<int32_t>{1}, values).accumulator;
  const auto error = [&](const KeyedPart& part) {
    const absl::Status status = MergeAll({first, part.accumulator}).status();
    EXPECT_EQ(FieldOf(status), "accumulators[1]");
    return std::string(status.message());
  };
  EXPECT_THAT(error(PartOf(std::vector<int64_t>{1}, values)), HasSubstr("type of keys"));
  EXPECT_THAT(error(PartOf(std::vector<int32_t>{1}, values, 0, 7)), HasSubstr("limit of keys"));
  EXPECT_THAT(error(PartOf(std::vector<int32_t>{1}, values, 0, 0, 2)), HasSubstr("degrees"));
  EXPECT_THAT(error(PartOf(std::vector<int32_t>{1}, std::vector<double>{1})),
              HasSubstr("element type"));
}

// Every bit changed, with a checksum that is right for it, and every beginning of the bytes:
// refused by name, or merged to what is an accumulator again.
TEST_F(KeyedMergeTest, NoBytesDoHarm) {
  const std::string bytes = Unsealed(
      PartOf(std::vector<int16_t>{-3, 9, 9, 300}, std::vector<float>{1, 2, -0.0F, 5}).accumulator);
  const auto expect_harmless = [](const std::string& forged) {
    const auto merged = MergeAll({Sealed(forged)}, /*partial=*/true);
    if (!merged.ok()) {
      EXPECT_THAT(FieldOf(merged.status()), HasSubstr("accumulators"));
    } else {
      EXPECT_TRUE(MergeAll({BytesOf(*merged)}, true).ok());
    }
    return merged.ok();
  };
  int accepted = 0;
  for (size_t i = 0; i < bytes.size(); ++i) {
    EXPECT_FALSE(expect_harmless(bytes.substr(0, i)));
    for (int bit = 0; bit < 8; ++bit) {
      std::string forged = bytes;
      forged[i] = static_cast<char>(forged[i] ^ (1 << bit));
      accepted += expect_harmless(forged) ? 1 : 0;
    }
  }
  EXPECT_GT(accepted, 0);
  EXPECT_FALSE(expect_harmless(bytes + '\0'));
}

// What no engine writes: keys that do not increase, or that are none of their type, and groups of
// nothing.
TEST_F(KeyedMergeTest, ForgedKeysAreRefused) {
  const std::string genuine =
      Unsealed(PartOf(std::vector<int8_t>{100, 101}, std::vector<int8_t>{1, 1}).accumulator);
  const std::string keys = LittleEndian(100, 8) + std::string("\1\1", 2);
  const size_t place = genuine.find(keys);
  ASSERT_NE(place, std::string::npos);
  const auto with_keys = [&](const std::string& forged) {
    std::string bytes = genuine;
    return MergeAll({Sealed(bytes.replace(place, keys.size(), forged))}).status();
  };
  EXPECT_TRUE(with_keys(keys).ok());
  EXPECT_TRUE(with_keys(LittleEndian(100, 8) + std::string("\1\33", 2)).ok());
  EXPECT_FALSE(with_keys(LittleEndian(100, 8) + std::string("\1\34", 2)).ok());
  EXPECT_FALSE(with_keys(LittleEndian(128, 8) + std::string("\1\1", 2)).ok());
  EXPECT_FALSE(with_keys(LittleEndian(~uint64_t{128}, 8) + std::string("\1\1", 2)).ok());
  EXPECT_TRUE(with_keys(LittleEndian(~uint64_t{127}, 8) + std::string("\1\1", 2)).ok());
  EXPECT_FALSE(with_keys(LittleEndian(100, 8) + std::string("\0", 1)).ok());
}

}  // namespace
}  // namespace gridfold::kernels
