#include "kernels/cuda/device/scratch.h"

#include <array>

#include "gtest/gtest.h"

namespace gridfold::kernels::cuda {
namespace {

// Stands for device memory: a Scratch only computes addresses.
alignas(kScratchAlignmentBytes) std::array<std::byte, 1024> memory;

uint64_t OffsetOf(const void* data) {
  return static_cast<uint64_t>(static_cast<const std::byte*>(data) - memory.data());
}

TEST(ScratchTest, PiecesAreAlignedAndDoNotOverlap) {
  Scratch scratch(memory.data(), memory.size());
  const absl::StatusOr<uint8_t*> first = scratch.Allocate<uint8_t>(1);
  const absl::StatusOr<uint64_t*> second = scratch.Allocate<uint64_t>(33);
  const absl::StatusOr<uint32_t*> third = scratch.Allocate<uint32_t>(1);
  ASSERT_TRUE(first.ok() && second.ok() && third.ok());
  EXPECT_EQ(OffsetOf(*first), 0u);
  EXPECT_EQ(OffsetOf(*second), 256u);
  EXPECT_EQ(OffsetOf(*third), 768u);
  EXPECT_EQ(scratch.used_bytes(), memory.size());
}

TEST(ScratchTest, ScratchBytesIsWhatAllocateTakes) {
  for (const uint64_t size_bytes : {0, 1, 255, 256, 257, 1024}) {
    Scratch scratch(memory.data(), memory.size());
    ASSERT_TRUE(scratch.Allocate<std::byte>(size_bytes).ok());
    EXPECT_EQ(scratch.used_bytes(), ScratchBytes(size_bytes)) << size_bytes;
  }
}

TEST(ScratchTest, OverflowIsResourceExhaustedAndTakesNothing) {
  Scratch scratch(memory.data(), memory.size());
  ASSERT_TRUE(scratch.Allocate<std::byte>(512).ok());
  EXPECT_EQ(scratch.Allocate<std::byte>(513).status().code(), absl::StatusCode::kResourceExhausted);
  EXPECT_EQ(scratch.used_bytes(), 512u);
  EXPECT_TRUE(scratch.Allocate<std::byte>(512).ok());
  EXPECT_TRUE(scratch.Allocate<std::byte>(0).ok());
}

TEST(ScratchTest, CountsWhoseBytesOverflowAreRefused) {
  Scratch scratch(memory.data(), memory.size());
  EXPECT_EQ(scratch.Allocate<uint64_t>(uint64_t{1} << 61).status().code(),
            absl::StatusCode::kResourceExhausted);
}

TEST(ScratchTest, RoomThatIsNoMultipleOfTheAlignmentIsNotOverrun) {
  Scratch scratch(memory.data(), 300);
  EXPECT_FALSE(scratch.Allocate<std::byte>(300).ok());
  EXPECT_TRUE(scratch.Allocate<std::byte>(256).ok());
}

}  // namespace
}  // namespace gridfold::kernels::cuda
