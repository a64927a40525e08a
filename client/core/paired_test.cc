// Statistics of two columns through the C interface.
#include <cstdint>
#include <string>
#include <vector>

#include "client/core/gridfold_core.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace gridfold::core {
namespace {

using testing::ElementsAre;

class PairedTest : public testing::Test {
 protected:
  void SetUp() override { ASSERT_EQ(gridfold_engine_create(2, &engine_), GRIDFOLD_OK); }
  ~PairedTest() override { gridfold_engine_free(engine_); }

  static gridfold_array Doubles(const std::vector<double>& values, uint64_t columns = 0) {
    if (columns == 0) return {values.data(), GRIDFOLD_FLOAT64, 1, {values.size(), 0}};
    return {values.data(), GRIDFOLD_FLOAT64, 2, {values.size() / columns, columns}};
  }

  gridfold_status Relate(const gridfold_columns& columns,
                         const std::vector<gridfold_paired_statistic>& statistics,
                         uint64_t value_count, uint32_t ddof = 0) {
    values_.assign(value_count, -1);
    const gridfold_paired_spec spec{.statistics = statistics.data(),
                                    .statistic_count = statistics.size(),
                                    .delta_degrees_of_freedom = ddof,
                                    .weight_kind = GRIDFOLD_WEIGHTS_FREQUENCY,
                                    .nan_policy = GRIDFOLD_NAN_PROPAGATE,
                                    .overflow_policy = GRIDFOLD_OVERFLOW_ERROR};
    return gridfold_relate(engine_, &columns, &spec, values_.data(), value_count);
  }

  gridfold_engine* engine_ = nullptr;
  std::vector<double> values_;
};

TEST_F(PairedTest, TwoArraysWithWeights) {
  const std::vector<double> x = {1, 2, 3, 6};
  const std::vector<double> y = {2, 1, 4, 5};
  const std::vector<double> weights = {1, 0, 2, 1};
  const gridfold_array x_array = Doubles(x);
  const gridfold_array y_array = Doubles(y);
  const gridfold_array weights_array = Doubles(weights);
  ASSERT_EQ(Relate({&x_array, &y_array, nullptr},
                   {GRIDFOLD_PAIRED_DOT, GRIDFOLD_PAIRED_COVARIANCE, GRIDFOLD_PAIRED_VARIANCE}, 4),
            GRIDFOLD_OK);
  EXPECT_THAT(values_, ElementsAre(46, 2.5, 3.5, 2.5));
  ASSERT_EQ(Relate({&x_array, nullptr, &weights_array}, {GRIDFOLD_PAIRED_MEAN}, 1), GRIDFOLD_OK);
  EXPECT_THAT(values_, ElementsAre(3.25));
}

TEST_F(PairedTest, ColumnsOfAMatrix) {
  const std::vector<double> x = {1, 2, 2, 4, 3, 7};
  const gridfold_array matrix = Doubles(x, 2);
  ASSERT_EQ(Relate({&matrix, nullptr, nullptr}, {GRIDFOLD_PAIRED_COVARIANCE}, 4, 1), GRIDFOLD_OK);
  EXPECT_THAT(values_, ElementsAre(1, 2.5, 2.5, 19.0 / 3));
}

TEST_F(PairedTest, WhatIsRefused) {
  const std::vector<double> x = {1, 2, 3, 4};
  const gridfold_array x_array = Doubles(x);
  const gridfold_array matrix = Doubles(x, 2);
  gridfold_array shorter = x_array;
  shorter.shape[0] = 3;
  gridfold_array other_type = x_array;
  other_type.element_type = GRIDFOLD_INT64;
  const auto expect = [&](const gridfold_columns& columns, gridfold_paired_statistic statistic,
                          uint64_t value_count, const std::string& field) {
    EXPECT_EQ(Relate(columns, {statistic}, value_count), GRIDFOLD_INVALID_ARGUMENT) << field;
    EXPECT_EQ(gridfold_last_field(), field);
  };
  expect({nullptr, nullptr, nullptr}, GRIDFOLD_PAIRED_DOT, 1, "columns.x");
  expect({&x_array, &shorter, nullptr}, GRIDFOLD_PAIRED_DOT, 1, "columns.y");
  expect({&x_array, &other_type, nullptr}, GRIDFOLD_PAIRED_DOT, 1, "columns.y.element_type");
  expect({&matrix, &x_array, nullptr}, GRIDFOLD_PAIRED_DOT, 1, "columns.x.dimension_count");
  expect({&matrix, nullptr, &x_array}, GRIDFOLD_PAIRED_DOT, 4, "columns.weights");
  expect({&x_array, nullptr, nullptr}, 6, 1, "statistics[0]");
  expect({&x_array, &x_array, nullptr}, GRIDFOLD_PAIRED_MEAN, 1, "value_count");
}

}  // namespace
}  // namespace gridfold::core
