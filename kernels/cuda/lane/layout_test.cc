// The sizes of a lane's memory, judged without a device.
#include "kernels/cuda/lane/layout.h"

#include "gtest/gtest.h"

namespace gridfold::kernels::cuda {
namespace {

// An array that may be copied takes whole units of what the others leave: in a last one that is
// not whole it would push them beyond the end.
TEST(LaneLayoutTest, ArraysHaveWholeUnitsUpToTheEnd) {
  for (const uint64_t input_bytes_max : {0, 1, 255, 256, 5'499'250}) {
    const LaneOptions options{.input_bytes_max = input_bytes_max};
    const LaneLayout layout = LaneLayoutOf(options, DeviceProperties());
    EXPECT_EQ(layout.input_bytes % kArrayAlignmentBytes, 0u) << input_bytes_max;
    EXPECT_GE(layout.input_bytes, input_bytes_max + kInputArrayCountMax * kArrayAlignmentBytes);
  }
}

}  // namespace
}  // namespace gridfold::kernels::cuda
