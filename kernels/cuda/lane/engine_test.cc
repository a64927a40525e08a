// What the engine promises with and without a device.
#include "kernels/cuda/lane/engine.h"

#include "gtest/gtest.h"

namespace gridfold::kernels {
namespace {

TEST(CudaEngineTest, DevicesThatAreNotThereAreFailedPreconditions) {
  for (const int device : {-1, CudaDeviceCount(), 1000}) {
    EXPECT_EQ(CreateCudaEngine(device).status().code(), absl::StatusCode::kFailedPrecondition)
        << device;
  }
}

TEST(CudaEngineTest, AskingForDevicesIsRepeatable) {
  const int count = CudaDeviceCount();
  EXPECT_GE(count, 0);
  EXPECT_EQ(CudaDeviceCount(), count);
  EXPECT_EQ(CudaDeviceAvailable(), count > 0);
}

}  // namespace
}  // namespace gridfold::kernels
