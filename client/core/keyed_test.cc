// Groups by key of the C interface: found keys, ranges and bins, and what is refused.
#include <cmath>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "client/core/gridfold_core.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace {

using testing::ElementsAre;

template <class T>
gridfold_array ArrayOf(const std::vector<T>& values, gridfold_element_type type) {
  return {.data = values.data(),
          .element_type = type,
          .dimension_count = 1,
          .shape = {values.size(), 0}};
}

class KeyedTest : public testing::Test {
 protected:
  KeyedTest() {
    EXPECT_EQ(gridfold_engine_create(1, &engine_), GRIDFOLD_OK);
    spec_.reduction.statistics = statistics_;
    spec_.reduction.statistic_count = 2;
  }
  ~KeyedTest() override {
    gridfold_keyed_free(result_);
    gridfold_engine_free(engine_);
  }

  gridfold_status Reduce(const gridfold_array& keys) {
    gridfold_keyed_free(result_);
    result_ = nullptr;
    const gridfold_array values = ArrayOf(values_, GRIDFOLD_FLOAT64);
    const gridfold_keyed_arrays arrays = {.keys = &keys, .y_keys = nullptr, .values = &values};
    const gridfold_status status = gridfold_reduce_by_key(engine_, &arrays, &spec_, &result_);
    if (status == GRIDFOLD_OK) {
      EXPECT_EQ(gridfold_keyed_groups(result_, &groups_), GRIDFOLD_OK);
    }
    return status;
  }

  std::vector<uint64_t> Counts() const {
    return {groups_.counts, groups_.counts + groups_.group_count};
  }
  template <class T>
  std::vector<T> Column(uint64_t i) const {
    gridfold_column column;
    EXPECT_EQ(gridfold_keyed_column(result_, i, &column), GRIDFOLD_OK);
    const auto* const values = static_cast<const T*>(column.values);
    return {values, values + column.value_count};
  }

  const gridfold_statistic statistics_[2] = {GRIDFOLD_MEAN, GRIDFOLD_ARGMAX};
  const std::vector<int16_t> keys_ = {5, -2, 5, 5};
  const std::vector<double> values_ = {1, 2, 6, 5};
  gridfold_engine* engine_ = nullptr;
  gridfold_keyed* result_ = nullptr;
  gridfold_keyed_spec spec_ = {};
  gridfold_groups groups_ = {};
};

TEST_F(KeyedTest, FoundKeys) {
  ASSERT_EQ(Reduce(ArrayOf(keys_, GRIDFOLD_INT16)), GRIDFOLD_OK) << gridfold_last_message();
  ASSERT_EQ(groups_.group_count, 2u);
  EXPECT_EQ(groups_.key_kind, GRIDFOLD_VALUE_INT64);
  EXPECT_EQ(static_cast<const int64_t*>(groups_.keys)[0], -2);
  EXPECT_EQ(static_cast<const int64_t*>(groups_.keys)[1], 5);
  EXPECT_THAT(Counts(), ElementsAre(1, 3));
  EXPECT_THAT(Column<double>(0), ElementsAre(2, 4));
  EXPECT_THAT(Column<uint64_t>(1), ElementsAre(1, 2));
  EXPECT_EQ(groups_.bins_count, 0u);
}

TEST_F(KeyedTest, ARange) {
  spec_.groups = GRIDFOLD_KEY_RANGE;
  spec_.first_key = -2;
  spec_.key_count = 8;
  spec_.reduction.first_index = 10;
  ASSERT_EQ(Reduce(ArrayOf(keys_, GRIDFOLD_INT16)), GRIDFOLD_OK) << gridfold_last_message();
  EXPECT_EQ(groups_.keys, nullptr);
  EXPECT_THAT(Counts(), ElementsAre(1, 0, 0, 0, 0, 0, 0, 3));
  EXPECT_TRUE(std::isnan(Column<double>(0)[1]));
  EXPECT_THAT(Column<uint64_t>(1)[7], 12u);
  EXPECT_THAT(Column<uint64_t>(1)[1], UINT64_MAX);
}

TEST_F(KeyedTest, Bins) {
  const gridfold_bins bins = {.kind = GRIDFOLD_EVEN_BINS,
                              .has_bounds = 1,
                              .bin_count = 2,
                              .lower_bound = 0,
                              .upper_bound = 10,
                              .edges = nullptr,
                              .edge_count = 0,
                              .first_value = 0,
                              .first_unsigned_value = 0};
  spec_.groups = GRIDFOLD_KEY_BINS;
  spec_.bins = &bins;
  spec_.bins_count = 1;
  ASSERT_EQ(Reduce(ArrayOf(keys_, GRIDFOLD_INT16)), GRIDFOLD_OK) << gridfold_last_message();
  EXPECT_THAT(Counts(), ElementsAre(0, 3));
  EXPECT_EQ(groups_.underflow_count, 1u);
  ASSERT_EQ(groups_.bins_count, 1u);
  gridfold_bins used;
  ASSERT_EQ(gridfold_keyed_bins(result_, 0, &used), GRIDFOLD_OK);
  EXPECT_THAT(std::vector<double>(used.edges, used.edges + used.edge_count), ElementsAre(0, 5, 10));
}

TEST_F(KeyedTest, BinsInSeveralDimensions) {
  const gridfold_bins bins[] = {{.kind = GRIDFOLD_INTEGER_BINS,
                                 .has_bounds = 0,
                                 .bin_count = 8,
                                 .lower_bound = 0,
                                 .upper_bound = 0,
                                 .edges = nullptr,
                                 .edge_count = 0,
                                 .first_value = -2,
                                 .first_unsigned_value = 0},
                                {.kind = GRIDFOLD_EVEN_BINS,
                                 .has_bounds = 1,
                                 .bin_count = 2,
                                 .lower_bound = 1,
                                 .upper_bound = 5,
                                 .edges = nullptr,
                                 .edge_count = 0,
                                 .first_value = 0,
                                 .first_unsigned_value = 0}};
  spec_.groups = GRIDFOLD_KEY_BINS;
  spec_.bins = bins;
  spec_.bins_count = 2;
  const gridfold_array keys = ArrayOf(keys_, GRIDFOLD_INT16);
  const gridfold_array values = ArrayOf(values_, GRIDFOLD_FLOAT64);
  const gridfold_array* const coordinates[] = {&keys, &values};
  ASSERT_EQ(gridfold_reduce_by_bins(engine_, coordinates, 2, &values, &spec_, &result_),
            GRIDFOLD_OK)
      << gridfold_last_message();
  ASSERT_EQ(gridfold_keyed_groups(result_, &groups_), GRIDFOLD_OK);
  std::vector<uint64_t> counts(16);
  counts[0] = 1;
  counts[14] = 1;
  counts[15] = 1;
  EXPECT_EQ(Counts(), counts);
  EXPECT_EQ(groups_.overflow_count, 1u);
  EXPECT_EQ(groups_.bins_count, 2u);

  const auto refused = [&](const gridfold_array* const* arrays, uint64_t count) {
    gridfold_keyed* none = nullptr;
    EXPECT_EQ(gridfold_reduce_by_bins(engine_, arrays, count, &values, &spec_, &none),
              GRIDFOLD_INVALID_ARGUMENT);
    return std::string(gridfold_last_field());
  };
  EXPECT_EQ(refused(nullptr, 2), "coordinates");
  EXPECT_EQ(refused(coordinates, 0), "coordinate_count");
  EXPECT_EQ(refused(coordinates, 9), "coordinate_count");
  const gridfold_array* const lacking[] = {&keys, nullptr};
  EXPECT_EQ(refused(lacking, 2), "coordinates[1]");
  EXPECT_EQ(refused(coordinates, 1), "bins.bins");
  spec_.groups = GRIDFOLD_KEY_RANGE;
  EXPECT_EQ(refused(coordinates, 2), "groups");
}

TEST_F(KeyedTest, QuantilesOfEachKey) {
  const gridfold_array keys = ArrayOf(keys_, GRIDFOLD_INT16);
  const std::vector<double> samples = {4, 9, 1, 3};
  const gridfold_array values = ArrayOf(samples, GRIDFOLD_FLOAT64);
  const gridfold_array* const coordinates[] = {&keys, &keys};
  const double wanted[] = {0.5, 1};
  const auto ask = [&](uint64_t coordinate_count, uint64_t quantile_count, int32_t method) {
    gridfold_keyed_free(std::exchange(result_, nullptr));
    return gridfold_quantiles_by_key(engine_, coordinates, coordinate_count, &values, &spec_,
                                     wanted, quantile_count, method, &result_);
  };
  spec_.reduction.statistic_count = 0;
  ASSERT_EQ(ask(1, 2, GRIDFOLD_QUANTILE_LINEAR), GRIDFOLD_OK) << gridfold_last_message();
  gridfold_column column;
  const auto doubles = [&column] {
    const auto* const found = static_cast<const double*>(column.values);
    return std::vector<double>(found, found + column.value_count);
  };
  ASSERT_EQ(gridfold_keyed_quantile(result_, 0, &column), GRIDFOLD_OK);
  EXPECT_EQ(column.kind, GRIDFOLD_VALUE_DOUBLE);
  EXPECT_THAT(doubles(), ElementsAre(9, 3));
  ASSERT_EQ(gridfold_keyed_quantile(result_, 1, &column), GRIDFOLD_OK);
  EXPECT_THAT(doubles(), ElementsAre(9, 4));
  EXPECT_EQ(gridfold_keyed_quantile(result_, 2, &column), GRIDFOLD_INVALID_ARGUMENT);

  EXPECT_EQ(ask(1, 1, 7), GRIDFOLD_INVALID_ARGUMENT);
  EXPECT_EQ(std::string(gridfold_last_field()), "method");
  EXPECT_EQ(ask(2, 1, GRIDFOLD_QUANTILE_LINEAR), GRIDFOLD_INVALID_ARGUMENT);
  EXPECT_EQ(std::string(gridfold_last_field()), "groups");
  EXPECT_EQ(ask(1, 0, GRIDFOLD_QUANTILE_LINEAR), GRIDFOLD_INVALID_ARGUMENT);
  EXPECT_EQ(std::string(gridfold_last_field()), "statistics");
}

TEST_F(KeyedTest, WhatMakesNoSenseIsNamed) {
  spec_.groups = GRIDFOLD_KEY_RANGE;
  spec_.key_count = 3;
  EXPECT_EQ(Reduce(ArrayOf(keys_, GRIDFOLD_INT16)), GRIDFOLD_INVALID_ARGUMENT);
  EXPECT_EQ(std::string(gridfold_last_field()), "keys");
  spec_.groups = 7;
  EXPECT_EQ(Reduce(ArrayOf(keys_, GRIDFOLD_INT16)), GRIDFOLD_INVALID_ARGUMENT);
  EXPECT_EQ(std::string(gridfold_last_field()), "groups");
  spec_.groups = GRIDFOLD_FOUND_KEYS;
  EXPECT_EQ(Reduce(ArrayOf(values_, GRIDFOLD_FLOAT64)), GRIDFOLD_INVALID_ARGUMENT);
  const std::vector<int16_t> fewer = {1};
  EXPECT_EQ(Reduce(ArrayOf(fewer, GRIDFOLD_INT16)), GRIDFOLD_INVALID_ARGUMENT);
  EXPECT_EQ(std::string(gridfold_last_field()), "arrays.values");
  gridfold_column column;
  ASSERT_EQ(Reduce(ArrayOf(keys_, GRIDFOLD_INT16)), GRIDFOLD_OK);
  EXPECT_EQ(gridfold_keyed_column(result_, 2, &column), GRIDFOLD_INVALID_ARGUMENT);
  EXPECT_EQ(gridfold_keyed_bins(result_, 0, nullptr), GRIDFOLD_INVALID_ARGUMENT);
  EXPECT_EQ(gridfold_reduce_by_key(engine_, nullptr, &spec_, &result_), GRIDFOLD_INVALID_ARGUMENT);
}

}  // namespace
