// Bad arguments of every function: an error code, a message, and nothing handed out.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <random>
#include <string>
#include <utility>
#include <vector>

#include "client/core/core_test_util.h"

namespace gridfold::core {
namespace {

using testing::HasSubstr;

void ExpectError(gridfold_status status, gridfold_status expected, const std::string& field) {
  EXPECT_EQ(status, expected) << gridfold_last_message();
  EXPECT_EQ(std::string(gridfold_last_field()), field) << gridfold_last_message();
  EXPECT_NE(std::string(gridfold_last_message()), "");
}
void ExpectInvalid(gridfold_status status, const std::string& field) {
  ExpectError(status, GRIDFOLD_INVALID_ARGUMENT, field);
}

class ArgumentsTest : public testing::Test {
 protected:
  gridfold_status Reduce() {
    gridfold_reduction* result = nullptr;
    const gridfold_status status = gridfold_reduce(engine_.get(), &array_, &reduction_, &result);
    const Handle<gridfold_reduction> handle(result);
    EXPECT_EQ(status == GRIDFOLD_OK, result != nullptr);
    return status;
  }
  gridfold_status Scan() {
    double output[4];
    return gridfold_scan(engine_.get(), &array_, &scan_, output, sizeof(output));
  }
  gridfold_status Count() {
    gridfold_histogram* result = nullptr;
    const gridfold_status status = gridfold_count(engine_.get(), &samples_, &histogram_, &result);
    const Handle<gridfold_histogram> handle(result);
    EXPECT_EQ(status == GRIDFOLD_OK, result != nullptr);
    return status;
  }
  Accumulator Accumulate() {
    return *Call<gridfold_accumulator>(gridfold_accumulate_reduction, engine_.get(), &array_,
                                       &reduction_);
  }

  Handle<gridfold_engine> engine_ = MakeEngine(1);
  const double elements_[4] = {1, 2, 3, 4};
  gridfold_array array_{elements_, GRIDFOLD_FLOAT64, 1, {4, 0}};
  gridfold_statistic statistics_[2] = {GRIDFOLD_SUM, GRIDFOLD_MEAN};
  gridfold_reduction_spec reduction_{statistics_, 2, {}, 0, 0, 0, 0};
  gridfold_scan_spec scan_{};
  gridfold_bins bins_{GRIDFOLD_EVEN_BINS, 1, 4, 0.0, 4.0, nullptr, 0, 0, 0};
  gridfold_histogram_spec histogram_{&bins_, 1, 0, 0, 0, nullptr, 0};
  gridfold_samples samples_{&array_, nullptr, nullptr};
};

TEST_F(ArgumentsTest, GoodOnesPass) {
  EXPECT_EQ(Reduce(), GRIDFOLD_OK);
  EXPECT_EQ(Scan(), GRIDFOLD_OK);
  EXPECT_EQ(Count(), GRIDFOLD_OK);
  EXPECT_EQ(std::string(gridfold_core_version()).find('.'), 1u);
}

TEST_F(ArgumentsTest, Nothing) {
  gridfold_reduction* reduction = nullptr;
  gridfold_histogram* histogram = nullptr;
  gridfold_accumulator* accumulator = nullptr;
  gridfold_engine* const engine = engine_.get();
  ExpectInvalid(gridfold_engine_create(1, nullptr), "engine");
  ExpectInvalid(gridfold_reduce(nullptr, &array_, &reduction_, &reduction), "engine");
  ExpectInvalid(gridfold_reduce(engine, nullptr, &reduction_, &reduction), "array");
  ExpectInvalid(gridfold_reduce(engine, &array_, nullptr, &reduction), "spec");
  ExpectInvalid(gridfold_reduce(engine, &array_, &reduction_, nullptr), "result");
  ASSERT_EQ(gridfold_reduce(engine, &array_, &reduction_, &reduction), GRIDFOLD_OK);
  ExpectInvalid(gridfold_reduction_column(reduction, 0, nullptr), "column");
  ExpectInvalid(gridfold_reduction_column_count(nullptr, nullptr), "result");
  gridfold_reduction_free(std::exchange(reduction, nullptr));
  ExpectInvalid(gridfold_scan(nullptr, &array_, &scan_, nullptr, 0), "engine");
  ExpectInvalid(gridfold_scan(engine, &array_, &scan_, nullptr, 32), "output");
  ExpectInvalid(gridfold_scan(engine, &array_, &scan_, nullptr, 31), "output_bytes");
  ExpectInvalid(gridfold_scan_type(&array_, &scan_, nullptr), "type");
  ExpectInvalid(gridfold_count(engine, nullptr, &histogram_, &histogram), "samples");
  ExpectInvalid(gridfold_count(engine, &samples_, nullptr, &histogram), "spec");
  ExpectInvalid(gridfold_count(engine, &samples_, &histogram_, nullptr), "result");
  ExpectInvalid(gridfold_accumulate_reduction(engine, &array_, &reduction_, nullptr),
                "accumulator");
  ExpectInvalid(gridfold_accumulate_histogram(nullptr, &samples_, &histogram_, &accumulator),
                "engine");
  ExpectInvalid(gridfold_accumulator_merge(nullptr, 1, &accumulator), "parts");
  ExpectInvalid(gridfold_accumulator_merge(nullptr, 0, &accumulator), "accumulators");
  const gridfold_accumulator* const none = nullptr;
  ExpectInvalid(gridfold_accumulator_merge(&none, 1, &accumulator), "parts[0]");
  ExpectInvalid(gridfold_accumulator_subtract(nullptr, &none, 1, &accumulator), "minuend");
  ExpectInvalid(gridfold_accumulator_parse(nullptr, 5, &accumulator), "bytes");
  ExpectInvalid(gridfold_accumulator_parse(nullptr, 0, &accumulator), "accumulators[0]");
  ExpectInvalid(gridfold_accumulator_parse("GFAC", 4, nullptr), "accumulator");
  ExpectInvalid(gridfold_accumulator_from_words(nullptr, 3, &accumulator), "words");
  ExpectInvalid(gridfold_accumulator_from_words(nullptr, 0, &accumulator), "words");
  const Accumulator made = Accumulate();
  const void* bytes = nullptr;
  uint64_t count = 0;
  int64_t word = 0;
  ExpectInvalid(gridfold_accumulator_subtract(made.get(), nullptr, 1, &accumulator), "subtrahends");
  ExpectInvalid(gridfold_accumulator_subtract(made.get(), nullptr, 0, &accumulator), "subtrahends");
  ExpectInvalid(gridfold_accumulator_subtract(made.get(), &none, 1, &accumulator),
                "subtrahends[0]");
  const gridfold_accumulator* const itself = made.get();
  ExpectInvalid(gridfold_accumulator_subtract(itself, &itself, 1, nullptr), "accumulator");
  gridfold_accumulator_description description;
  ExpectInvalid(gridfold_accumulator_bytes(nullptr, &bytes, &count), "accumulator");
  ExpectInvalid(gridfold_accumulator_bytes(made.get(), nullptr, &count), "bytes");
  ExpectInvalid(gridfold_accumulator_bytes(made.get(), &bytes, nullptr), "byte_count");
  ExpectInvalid(gridfold_accumulator_describe(nullptr, &description), "accumulator");
  ExpectInvalid(gridfold_accumulator_describe(made.get(), nullptr), "description");
  ExpectInvalid(gridfold_accumulator_reduction(nullptr, 0, &reduction), "accumulator");
  ExpectInvalid(gridfold_accumulator_reduction(made.get(), 0, nullptr), "result");
  ExpectInvalid(gridfold_accumulator_histogram(made.get(), &histogram), "accumulator");
  ExpectInvalid(gridfold_accumulator_word_count(nullptr, &count), "accumulator");
  ExpectInvalid(gridfold_accumulator_word_count(made.get(), nullptr), "word_count");
  ExpectInvalid(gridfold_accumulator_to_words(nullptr, &word, 1), "accumulator");
  ExpectInvalid(gridfold_accumulator_to_words(made.get(), nullptr, 1), "words");
  ExpectInvalid(gridfold_accumulator_to_words(made.get(), &word, 1), "word_count");
  EXPECT_EQ(reduction, nullptr);
  EXPECT_EQ(histogram, nullptr);
  EXPECT_EQ(accumulator, nullptr);
  gridfold_engine_free(nullptr);
  gridfold_reduction_free(nullptr);
  gridfold_histogram_free(nullptr);
  gridfold_accumulator_free(nullptr);
}

TEST_F(ArgumentsTest, ResultsHaveBounds) {
  const auto result =
      Call<gridfold_reduction>(gridfold_reduce, engine_.get(), &array_, &reduction_);
  gridfold_column column;
  uint64_t count = 0;
  ExpectInvalid(gridfold_reduction_column(result->get(), 2, &column), "i");
  ExpectInvalid(gridfold_reduction_column(nullptr, 0, &column), "result");
  ExpectInvalid(gridfold_reduction_column_count(nullptr, &count), "result");
  const auto counted =
      Call<gridfold_histogram>(gridfold_count, engine_.get(), &samples_, &histogram_);
  gridfold_channel channel;
  gridfold_bins bins;
  ExpectInvalid(gridfold_histogram_channel(counted->get(), 1, &channel), "i");
  ExpectInvalid(gridfold_histogram_channel(nullptr, 0, &channel), "result");
  ExpectInvalid(gridfold_histogram_bins(counted->get(), UINT64_MAX, &bins), "i");
  ExpectInvalid(gridfold_histogram_channel_count(nullptr, &count), "result");
}

TEST_F(ArgumentsTest, ArraysAndGroups) {
  ExpectInvalid(gridfold_engine_create(-1, nullptr), "engine");
  gridfold_engine* engine = nullptr;
  EXPECT_EQ(gridfold_engine_create(-1, &engine), GRIDFOLD_INVALID_ARGUMENT);
  const gridfold_array good = array_;
  for (const int32_t type : {0, -1, 13, INT32_MAX, INT32_MIN}) {
    array_.element_type = type;
    ExpectInvalid(Reduce(), "array.element_type");
    ExpectInvalid(Count(), "samples.x.element_type");
  }
  array_ = good;
  array_.dimension_count = 3;
  ExpectInvalid(Reduce(), "array.dimension_count");
  array_ = good;
  array_.data = nullptr;
  ExpectInvalid(Scan(), "array.data");
  array_ = good;
  for (const uint64_t count : {uint64_t{1} << 60, uint64_t{1} << 61, UINT64_MAX}) {
    array_.shape[0] = count;
    ExpectInvalid(Reduce(), "array.shape");
  }
  array_.dimension_count = 2;
  array_.shape[0] = array_.shape[1] = uint64_t{1} << 32;
  ExpectInvalid(Reduce(), "array.shape");
  array_ = good;
  for (const int32_t kind : {4, -1}) {
    reduction_.grouping.kind = kind;
    ExpectInvalid(Reduce(), "grouping.kind");
  }
  reduction_.grouping.kind = GRIDFOLD_AXIS0;
  ExpectInvalid(Reduce(), "grouping.axis");
  reduction_.grouping = {GRIDFOLD_SEGMENTS, nullptr, 2};
  ExpectInvalid(Reduce(), "grouping.offsets");
  reduction_.grouping.offset_count = UINT64_MAX;
  ExpectInvalid(Reduce(), "grouping.offsets");
  const uint64_t offsets[] = {0, 5};
  reduction_.grouping = {GRIDFOLD_SEGMENTS, offsets, 2};
  ExpectInvalid(Reduce(), "grouping.segments.offsets[1]");
  // Rows of nothing take no memory, but their answers would.
  reduction_.grouping = {GRIDFOLD_AXIS1, nullptr, 0};
  statistics_[1] = GRIDFOLD_COUNT;
  array_.dimension_count = 2;
  array_.shape[0] = uint64_t{1} << 62;
  array_.shape[1] = 0;
  ExpectError(Reduce(), GRIDFOLD_TOO_LARGE, "");
}

TEST_F(ArgumentsTest, SpecsOfReductionsAndScans) {
  for (const int32_t statistic : {0, 24, -7}) {
    statistics_[1] = statistic;
    ExpectInvalid(Reduce(), "statistics[1]");
  }
  statistics_[1] = GRIDFOLD_BITWISE_OR;
  ExpectInvalid(Reduce(), "statistics[1]");
  reduction_.statistic_count = UINT64_MAX;
  ExpectInvalid(Reduce(), "statistics");
  reduction_.statistic_count = 0;
  ExpectInvalid(Reduce(), "statistics");
  reduction_.statistic_count = 1;
  reduction_.nan_policy = 2;
  ExpectInvalid(Reduce(), "nan_policy");
  reduction_.nan_policy = 0;
  reduction_.overflow_policy = -1;
  ExpectInvalid(Reduce(), "overflow_policy");
  reduction_.overflow_policy = 0;
  reduction_.first_index = UINT64_MAX - 3;
  ExpectInvalid(Reduce(), "first_index");
  scan_.operation = 5;
  ExpectInvalid(Scan(), "operation");
  scan_.operation = GRIDFOLD_SCAN_MIN;
  scan_.window = 2;
  ExpectInvalid(Scan(), "window");
  scan_.window = 0;
  scan_.min_count = 1;
  ExpectInvalid(Scan(), "min_count");
  scan_.min_count = 0;
  scan_.exact = 1;
  ExpectInvalid(Scan(), "exact");
  scan_.exact = 0;
  scan_.output_type = 77;
  ExpectInvalid(Scan(), "output_type");
  scan_.output_type = GRIDFOLD_INT8;
  ExpectInvalid(Scan(), "output_type");
}

TEST_F(ArgumentsTest, SpecsOfHistograms) {
  histogram_.bins_count = 0;
  ExpectInvalid(Count(), "bins");
  histogram_.bins = nullptr;
  histogram_.bins_count = 1;
  ExpectInvalid(Count(), "bins");
  histogram_.bins_count = UINT64_MAX;
  ExpectInvalid(Count(), "bins");
  histogram_ = {&bins_, 1, 0, 0, 0, nullptr, 0};
  bins_.kind = 4;
  ExpectInvalid(Count(), "bins[0].kind");
  bins_.kind = GRIDFOLD_EDGE_BINS;
  bins_.edge_count = 3;
  ExpectInvalid(Count(), "bins[0].edges");
  bins_.kind = GRIDFOLD_EVEN_BINS;
  bins_.lower_bound = 5;
  EXPECT_EQ(Count(), GRIDFOLD_INVALID_ARGUMENT);
  bins_.lower_bound = 0;
  bins_.bin_count = GRIDFOLD_BINS_MAX + 1;
  EXPECT_NE(Count(), GRIDFOLD_OK);
  bins_.bin_count = 4;
  histogram_.out_of_range_policy = 2;
  ExpectInvalid(Count(), "out_of_range_policy");
  histogram_.out_of_range_policy = 0;
  histogram_.quantile_count = 1;
  ExpectInvalid(Count(), "quantiles");
  histogram_.quantile_count = 0;
  histogram_.channel_count = GRIDFOLD_CHANNELS_MAX + 1;
  ExpectError(Count(), GRIDFOLD_TOO_LARGE, "channel_count");
  histogram_.channel_count = 3;
  ExpectInvalid(Count(), "channel_count");
  histogram_.channel_count = 1;
  gridfold_array other = array_;
  samples_.y = &other;
  other.shape[0] = 3;
  ExpectInvalid(Count(), "samples.y");
  other.shape[0] = 4;
  other.element_type = GRIDFOLD_FLOAT32;
  ExpectInvalid(Count(), "samples.y.element_type");
  samples_.y = nullptr;
  samples_.weights = &other;
  other.dimension_count = 2;
  other.shape[1] = 1;
  ExpectInvalid(Count(), "samples.weights");
  samples_.weights = nullptr;
  samples_.x = nullptr;
  ExpectInvalid(Count(), "samples.x");
}

// Each byte of an accumulator changed, and each length.
TEST_F(ArgumentsTest, ForgedBytes) {
  const auto histogram = Call<gridfold_accumulator>(gridfold_accumulate_histogram, engine_.get(),
                                                    &samples_, &histogram_);
  for (const std::string& good : {BytesOf(Accumulate()), BytesOf(*histogram)}) {
    for (size_t size = 0; size < good.size(); ++size) {
      EXPECT_FALSE(Parse(good.substr(0, size)).ok()) << size;
    }
    for (size_t i = 0; i < good.size(); ++i) {
      std::string bytes = good;
      bytes[i] = static_cast<char>(bytes[i] ^ 0x41);
      EXPECT_FALSE(Parse(bytes).ok()) << i;
    }
    EXPECT_FALSE(Parse(good + '\0').ok());
    EXPECT_EQ(BytesOf(*Parse(good)), good);
  }
  std::vector<Accumulator> parts;
  parts.push_back(Accumulate());
  parts.push_back(*Parse(BytesOf(*histogram)));
  const absl::Status status = Merge(parts).status();
  EXPECT_THAT(std::string(status.message()), HasSubstr("operation is not the first one's"));
  ExpectInvalid(GRIDFOLD_INVALID_ARGUMENT, "accumulators[1]");
}

TEST_F(ArgumentsTest, ForgedWords) {
  const Accumulator made = Accumulate();
  uint64_t count = 0;
  ASSERT_EQ(gridfold_accumulator_word_count(made.get(), &count), GRIDFOLD_OK);
  std::vector<int64_t> words(count);
  ASSERT_EQ(gridfold_accumulator_to_words(made.get(), words.data(), count), GRIDFOLD_OK);
  std::mt19937_64 random(9);
  for (uint64_t i = 0; i < count; ++i) {
    std::vector<int64_t> forged = words;
    forged[i] = static_cast<int64_t>(random() | uint64_t{1} << 62);
    const auto parsed =
        Call<gridfold_accumulator>(gridfold_accumulator_from_words, forged.data(), forged.size());
    EXPECT_FALSE(parsed.ok()) << i;
    EXPECT_EQ(std::string(gridfold_last_field()), "words");
  }
  statistics_[1] = GRIDFOLD_MAX;
  ExpectInvalid(gridfold_accumulator_word_count(Accumulate().get(), &count), "statistics[1]");
  EXPECT_THAT(gridfold_last_message(), HasSubstr("max is no sum"));
}

}  // namespace
}  // namespace gridfold::core
