// Accumulators of the C interface: random cuts, in any order and tree, by merges and by words, give
// the bits of one pass and what the oracles say.
#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <string>
#include <vector>

#include "client/core/core_test_util.h"
#include "kernels/conformance/histogram_oracle.h"
#include "kernels/conformance/histogram_specs.h"
#include "kernels/conformance/reduction_oracle.h"
#include "kernels/conformance/test_data.h"

namespace gridfold::core {
namespace {

namespace conformance = kernels::conformance;
using conformance::DataKind;
using Words = std::vector<int64_t>;

std::vector<uint64_t> RandomCuts(uint64_t count, std::mt19937_64& random) {
  std::vector<uint64_t> cuts = {0, count};
  for (uint64_t i = random() % 7; i > 0; --i) cuts.push_back(random() % (count + 1));
  std::sort(cuts.begin(), cuts.end());
  return cuts;
}

// The whole of parts that are merged by a random tree.
Accumulator MergedByTree(std::vector<Accumulator> parts, std::mt19937_64& random) {
  while (parts.size() > 1) {
    std::shuffle(parts.begin(), parts.end(), random);
    std::vector<Accumulator> node;
    for (uint64_t taken = std::min<uint64_t>(parts.size(), 2 + random() % 3); taken > 0; --taken) {
      node.push_back(std::move(parts.back()));
      parts.pop_back();
    }
    parts.push_back(*Merge(node));
  }
  return std::move(parts.front());
}

absl::StatusOr<Words> WordsOf(const Accumulator& accumulator) {
  uint64_t count = 0;
  const gridfold_status status = gridfold_accumulator_word_count(accumulator.get(), &count);
  if (status != GRIDFOLD_OK) return StatusOf(status);
  Words words(count);
  EXPECT_EQ(gridfold_accumulator_to_words(accumulator.get(), words.data(), count), GRIDFOLD_OK);
  EXPECT_EQ(gridfold_accumulator_to_words(accumulator.get(), words.data(), count + 1),
            GRIDFOLD_INVALID_ARGUMENT);
  return words;
}

// What remains of the whole where all parts but the first are taken out.
absl::StatusOr<Accumulator> WithoutTheRest(const Accumulator& whole,
                                           const std::vector<Accumulator>& parts) {
  std::vector<const gridfold_accumulator*> rest;
  for (size_t p = 1; p < parts.size(); ++p) rest.push_back(parts[p].get());
  return Call<gridfold_accumulator>(gridfold_accumulator_subtract, whole.get(), rest.data(),
                                    uint64_t{rest.size()});
}

// The whole of parts whose words are added.
Accumulator AddedByWords(const std::vector<Accumulator>& parts) {
  Words sum = *WordsOf(parts[0]);
  for (size_t p = 1; p < parts.size(); ++p) {
    const Words words = *WordsOf(parts[p]);
    for (size_t i = 0; i < sum.size(); ++i) sum[i] += words[i];
  }
  return *Call<gridfold_accumulator>(gridfold_accumulator_from_words, sum.data(), sum.size());
}

class AccumulatorsTest : public testing::Test {
 protected:
  Accumulator OfReduction(const gridfold_array& array, const kernels::ReductionSpec& spec,
                          uint64_t first_index) {
    const ReductionSpecOfC of_c(spec, first_index);
    return *Call<gridfold_accumulator>(gridfold_accumulate_reduction, engine_.get(), &array,
                                       &of_c.of_c);
  }

  // Checks accumulators of parts of the elements, or of the rows where the groups are columns.
  void CheckReduction(const TestArray& array, const kernels::ReductionSpec& spec) {
    const uint64_t rows = array.description().is_matrix ? array.description().rows : array.size();
    std::vector<Accumulator> parts;
    const std::vector<uint64_t> cuts = RandomCuts(rows, random_);
    for (size_t p = 0; p + 1 < cuts.size(); ++p) {
      parts.push_back(OfReduction(PartOf(array, cuts[p], cuts[p + 1]), spec, cuts[p]));
    }
    const Accumulator whole = OfReduction(ToC(array), spec, 0);
    if (WordsOf(whole).ok()) {
      EXPECT_EQ(BytesOf(AddedByWords(parts)), BytesOf(whole));
    }
    const Accumulator merged = MergedByTree(std::move(parts), random_);
    EXPECT_EQ(BytesOf(merged), BytesOf(whole));
    EXPECT_EQ(BytesOf(*Parse(BytesOf(whole))), BytesOf(whole));
    conformance::CheckReduction(
        array, spec,
        ToKernels(Call<gridfold_reduction>(gridfold_accumulator_reduction, merged.get(), 0)));
    gridfold_accumulator_description description;
    ASSERT_EQ(gridfold_accumulator_describe(merged.get(), &description), GRIDFOLD_OK);
    EXPECT_EQ(description.is_histogram, 0);
    EXPECT_EQ(description.element_count, array.size());
    EXPECT_EQ(description.element_type, ToC(array).element_type);
  }

  std::mt19937_64 random_{63};
  Handle<gridfold_engine> engine_ = MakeEngine();
};

TEST_F(AccumulatorsTest, OfReductionsHaveTheAnswersOfOnePass) {
  for (const kernels::ElementType type : conformance::kAllTypes) {
    for (int round = 0; round < 30; ++round) {
      kernels::ReductionSpec spec;
      for (int i = 0; i < kernels::kStatisticCount; ++i) {
        const auto statistic = static_cast<kernels::Statistic>(i);
        const bool is_product = statistic == kernels::Statistic::kProduct;
        const bool has_state = kernels::IsDefinedFor(statistic, type) &&
                               !(is_product && kernels::IsFloatingPoint(type));
        // Each by itself, and all together.
        if (has_state && (round == i || round >= kernels::kStatisticCount)) {
          spec.statistics.push_back(statistic);
        }
      }
      if (spec.statistics.empty()) continue;
      spec.nan_policy = static_cast<kernels::NanPolicy>(random_() % 2);
      spec.overflow_policy = static_cast<kernels::OverflowPolicy>(random_() % 2);
      const auto kind = static_cast<DataKind>(random_() % 3);
      CheckReduction(conformance::MakeVector(type, 1 + random_() % 200, kind, random_()), spec);
      spec.grouping.kind = kernels::GroupingKind::kAxis0;
      const auto matrix = kernels::ArrayDescription::Matrix(type, 1 + random_() % 30, 5);
      CheckReduction(conformance::MakeData(matrix, kind, random_()), spec);
    }
  }
}

TEST_F(AccumulatorsTest, OfHistogramsHaveTheAnswersOfOnePass) {
  for (const kernels::ElementType type : conformance::kAllTypes) {
    const auto [lower, upper] = conformance::SampleRangeOf(type);
    for (int round = 0; round < 12; ++round) {
      kernels::HistogramSpec spec =
          conformance::SpecOfBins(round % 3 == 0 ? conformance::Even(11, lower, upper / 2)
                                                 : conformance::UnevenEdges(6, lower, upper));
      spec.sparse = round % 2 == 1;
      if (round % 4 > 1) spec.weight_type = conformance::kAllTypes[random_() % 12];
      spec.channel_count = round < 6 ? 1 : 2;
      const uint64_t count = random_() % 50 * spec.channel_count;
      const TestArray x = conformance::MakeUniform(type, count, lower, upper, random_());
      const TestArray weights =
          conformance::MakeVector(spec.weight_type.value_or(type), count, DataKind::kWide, 5);
      const HistogramSpecOfC of_c(spec);
      const auto part = [&](uint64_t begin, uint64_t end) {
        const gridfold_array arrays[] = {PartOf(x, begin, end), PartOf(weights, begin, end)};
        const gridfold_samples samples{&arrays[0], nullptr,
                                       spec.weight_type.has_value() ? &arrays[1] : nullptr};
        return *Call<gridfold_accumulator>(gridfold_accumulate_histogram, engine_.get(), &samples,
                                           &of_c.of_c);
      };
      const Accumulator whole = part(0, count);
      std::vector<Accumulator> parts;
      const std::vector<uint64_t> cuts = RandomCuts(count / spec.channel_count, random_);
      for (size_t p = 0; p + 1 < cuts.size(); ++p) {
        parts.push_back(part(cuts[p] * spec.channel_count, cuts[p + 1] * spec.channel_count));
      }
      EXPECT_EQ(BytesOf(AddedByWords(parts)), BytesOf(whole));
      if (parts.size() > 1) {
        const auto first = WithoutTheRest(whole, parts);
        ASSERT_TRUE(first.ok()) << first.status();
        EXPECT_EQ(BytesOf(*first), BytesOf(parts[0]));
      }
      const Accumulator merged = MergedByTree(std::move(parts), random_);
      EXPECT_EQ(BytesOf(merged), BytesOf(whole));
      conformance::CheckHistogram(
          {&x, nullptr, &weights}, spec,
          ToKernels(Call<gridfold_histogram>(gridfold_accumulator_histogram, merged.get()), false));
      gridfold_accumulator_description description;
      ASSERT_EQ(gridfold_accumulator_describe(merged.get(), &description), GRIDFOLD_OK);
      EXPECT_EQ(description.is_histogram, 1);
      EXPECT_EQ(description.element_count, count);
    }
  }
}

TEST_F(AccumulatorsTest, PartsAreTakenOutAgain) {
  for (const kernels::ElementType type : conformance::kAllTypes) {
    kernels::ReductionSpec spec;
    spec.statistics = {kernels::Statistic::kMean, kernels::Statistic::kStandardDeviation,
                       kernels::Statistic::kL1Norm, kernels::Statistic::kNonzeroCount};
    spec.grouping.kind = kernels::GroupingKind::kAxis0;
    const auto matrix = kernels::ArrayDescription::Matrix(type, 40, 5);
    const TestArray array = conformance::MakeData(matrix, DataKind::kWide, 7);
    std::vector<Accumulator> parts;
    parts.push_back(OfReduction(PartOf(array, 0, 13), spec, 0));
    parts.push_back(OfReduction(PartOf(array, 13, 14), spec, 0));
    parts.push_back(OfReduction(PartOf(array, 14, 40), spec, 0));
    const Accumulator whole = OfReduction(ToC(array), spec, 0);
    const auto first = WithoutTheRest(whole, parts);
    ASSERT_TRUE(first.ok()) << first.status();
    EXPECT_EQ(BytesOf(*first), BytesOf(parts[0]));
    EXPECT_TRUE(absl::IsInvalidArgument(WithoutTheRest(*first, parts).status()));
  }
}

TEST_F(AccumulatorsTest, OnlyTheWholeMayOverflow) {
  const std::vector<int64_t> elements = {INT64_MAX, 1, -5};
  kernels::ReductionSpec spec;
  spec.statistics = {kernels::Statistic::kSum, kernels::Statistic::kCount};
  const auto part = [&](size_t begin, size_t end) {
    const gridfold_array array{elements.data() + begin, GRIDFOLD_INT64, 1, {end - begin, 0}};
    return OfReduction(array, spec, 0);
  };
  const Accumulator large = part(0, 2);
  const auto answer = [](const Accumulator& accumulator, int partial) {
    return ToKernels(
        Call<gridfold_reduction>(gridfold_accumulator_reduction, accumulator.get(), partial));
  };
  EXPECT_TRUE(absl::IsOutOfRange(answer(large, 0).status()));
  const auto partial = answer(large, 1);
  EXPECT_TRUE(partial->columns[0].slots.empty());
  EXPECT_EQ(partial->columns[1].slots, (std::vector<uint64_t>{2}));
  std::vector<Accumulator> parts;
  parts.push_back(part(0, 2));
  parts.push_back(part(2, 3));
  EXPECT_EQ(answer(*Merge(parts), 0)->columns[0].slots[0], uint64_t{INT64_MAX} - 4);
}

}  // namespace
}  // namespace gridfold::core
