// What the counters of device resources count; no device is needed.
#include "kernels/cuda/device/resource_counter.h"

#include "gtest/gtest.h"
#include "kernels/cuda/device/buffer.h"
#include "kernels/cuda/device/pinned_buffer.h"

namespace gridfold::kernels::cuda {
namespace {

TEST(ResourceCounterTest, CountsWhatIsTakenAndKnowsWhatIsHeld) {
  ResourceCounter counter;
  counter.Take(100);
  counter.Take(20);
  counter.Return(100);
  EXPECT_EQ(counter.taken_count(), 2u);
  EXPECT_EQ(counter.held_bytes(), 20u);
}

TEST(ResourceCounterTest, NoBytesAreNoAllocation) {
  const uint64_t device_allocations = g_device_memory.taken_count();
  const uint64_t pinned_allocations = g_pinned_memory.taken_count();
  ASSERT_TRUE(DeviceBuffer::Allocate(0).ok());
  ASSERT_TRUE(PinnedBuffer::Allocate(0).ok());
  EXPECT_EQ(g_device_memory.taken_count(), device_allocations);
  EXPECT_EQ(g_pinned_memory.taken_count(), pinned_allocations);
  EXPECT_EQ(g_device_memory.held_bytes(), 0u);
  EXPECT_EQ(g_pinned_memory.held_bytes(), 0u);
}

}  // namespace
}  // namespace gridfold::kernels::cuda
