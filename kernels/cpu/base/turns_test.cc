#include "kernels/cpu/base/turns.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <numeric>
#include <optional>
#include <thread>
#include <vector>

namespace gridfold::kernels::cpu {
namespace {

TEST(TurnsTest, PiecesAreTakenOnceAndInOrder) {
  Turns turns(3);
  for (uint64_t piece = 0; piece < 3; ++piece) EXPECT_EQ(turns.Take(), piece);
  EXPECT_EQ(turns.Take(), std::nullopt);
  EXPECT_EQ(turns.Take(), std::nullopt);
  EXPECT_EQ(Turns(0).Take(), std::nullopt);
}

TEST(TurnsTest, PartsOfThreadsFollowEachOther) {
  constexpr uint64_t kPieces = 20'000;
  Turns turns(kPieces);
  // Without a lock: ThreadSanitizer sees whether turns are enough.
  std::vector<uint64_t> order;
  std::vector<std::jthread> threads;
  for (int t = 0; t < 5; ++t) {
    threads.emplace_back([&] {
      while (const std::optional<uint64_t> piece = turns.Take()) {
        if (*piece % 97 == 0) std::this_thread::yield();
        turns.Wait(*piece);
        order.push_back(*piece);
        turns.Pass(*piece);
      }
    });
  }
  threads.clear();
  std::vector<uint64_t> expected(kPieces);
  std::iota(expected.begin(), expected.end(), 0);
  EXPECT_EQ(order, expected);
}

}  // namespace
}  // namespace gridfold::kernels::cpu
