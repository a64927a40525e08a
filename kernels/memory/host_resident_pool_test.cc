#include "kernels/memory/host_resident_pool.h"

#include <atomic>
#include <cstdint>
#include <cstring>
#include <thread>
#include <vector>

#include "gtest/gtest.h"

// Sizes that cannot be had are errors under AddressSanitizer too, not its end. Not used without it.
extern "C" const char* __asan_default_options() { return "allocator_may_return_null=1"; }

namespace gridfold::kernels {
namespace {

TEST(HostResidentPoolTest, ServesItsSizeInWholeUnits) {
  const auto pool = CreateHostResidentPool(4 * kResidentUnitBytes);
  auto small = pool->Allocate(1);
  auto large = pool->Allocate(3 * kResidentUnitBytes);
  ASSERT_TRUE(small.ok() && large.ok());
  EXPECT_EQ((*large)->span().size_bytes, 3 * kResidentUnitBytes);
  EXPECT_EQ(reinterpret_cast<uintptr_t>((*large)->span().data) % kResidentUnitBytes, 0u);
  std::memset((*large)->span().data, 0xFF, (*large)->span().size_bytes);
  EXPECT_EQ(pool->Allocate(1).status().code(), absl::StatusCode::kResourceExhausted);
  small->reset();
  EXPECT_TRUE(pool->Allocate(kResidentUnitBytes).ok());
}

TEST(HostResidentPoolTest, LargeMemoryBeginsAtAHugePage) {
  constexpr uint64_t kHugePageBytes = 2 << 20;
  const auto pool = CreateHostResidentPool(64 << 20);
  for (const uint64_t size_bytes : {kHugePageBytes, 3 * kHugePageBytes + 1}) {
    const auto memory = pool->Allocate(size_bytes);
    ASSERT_TRUE(memory.ok());
    EXPECT_EQ(reinterpret_cast<uintptr_t>((*memory)->span().data) % kHugePageBytes, 0u);
    std::memset((*memory)->span().data, 0xFF, size_bytes);
  }
}

TEST(HostResidentPoolTest, NothingTakesNoRoom) {
  const auto pool = CreateHostResidentPool(0);
  const auto memory = pool->Allocate(0);
  ASSERT_TRUE(memory.ok());
  EXPECT_EQ((*memory)->span().size_bytes, 0u);
  EXPECT_FALSE(pool->Allocate(1).ok());
}

TEST(HostResidentPoolTest, SizesThatNoMachineHasAreRefused) {
  const auto pool = CreateHostResidentPool(~uint64_t{0});
  for (const uint64_t size : {~uint64_t{0} - 1000, uint64_t{1} << 62}) {
    EXPECT_EQ(pool->Allocate(size).status().code(), absl::StatusCode::kResourceExhausted);
  }
  EXPECT_TRUE(pool->Allocate(1000).ok());
}

TEST(HostResidentPoolTest, ThreadsShareItToTheLastUnit) {
  constexpr uint64_t kUnits = 64;
  const auto pool = CreateHostResidentPool(kUnits * kResidentUnitBytes);
  std::atomic<uint64_t> held = 0;
  std::atomic<bool> too_many = false;
  {
    std::vector<std::jthread> threads;
    for (int t = 0; t < 4; ++t) {
      threads.emplace_back([&] {
        for (int i = 0; i < 20'000; ++i) {
          const auto memory = pool->Allocate(kResidentUnitBytes * (1 + i % 40));
          if (!memory.ok()) continue;
          if (held.fetch_add(1 + i % 40) + 1 + i % 40 > kUnits) too_many = true;
          held.fetch_sub(1 + i % 40);
        }
      });
    }
  }
  EXPECT_FALSE(too_many);
  EXPECT_TRUE(pool->Allocate(kUnits * kResidentUnitBytes).ok());
}

}  // namespace
}  // namespace gridfold::kernels
