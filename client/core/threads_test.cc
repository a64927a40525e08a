// One engine and the same accumulators in many threads, each with an error of its own.
#include <gtest/gtest.h>

#include <string>
#include <thread>
#include <vector>

#include "client/core/core_test_util.h"

namespace gridfold::core {
namespace {

TEST(ThreadsTest, ShareAnEngineAndAccumulators) {
  const Handle<gridfold_engine> engine = MakeEngine(3);
  std::vector<float> elements(100'000);
  for (size_t i = 0; i < elements.size(); ++i) elements[i] = static_cast<float>(i % 1000) / 8;
  const gridfold_array array{elements.data(), GRIDFOLD_FLOAT32, 1, {elements.size(), 0}};
  const gridfold_statistic statistics[] = {GRIDFOLD_SUM, GRIDFOLD_VARIANCE};
  const gridfold_reduction_spec spec{statistics, 2, {}, 0, 0, 0, 0};
  const auto accumulate = [&] {
    return *Call<gridfold_accumulator>(gridfold_accumulate_reduction, engine.get(), &array, &spec);
  };
  const Accumulator shared = accumulate();
  const std::string expected = BytesOf(shared);
  std::vector<std::thread> threads;
  for (int t = 0; t < 8; ++t) {
    threads.emplace_back([&, t] {
      for (int i = 0; i < 20; ++i) {
        EXPECT_EQ(BytesOf(accumulate()), expected);
        const gridfold_accumulator* const parts[] = {shared.get(), shared.get()};
        EXPECT_TRUE(
            Call<gridfold_accumulator>(gridfold_accumulator_merge, parts, uint64_t{2}).ok());
        const std::string wrong = "wrong" + std::to_string(t);
        EXPECT_FALSE(Parse(wrong).ok());
        if (t % 2 == 0) {
          gridfold_column column;
          EXPECT_EQ(gridfold_reduction_column(nullptr, 0, &column), GRIDFOLD_INVALID_ARGUMENT);
        }
        EXPECT_EQ(std::string(gridfold_last_field()), t % 2 == 0 ? "result" : "accumulators[0]");
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
}

}  // namespace
}  // namespace gridfold::core
