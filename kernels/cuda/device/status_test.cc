#include "kernels/cuda/device/status.h"

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace gridfold::kernels::cuda {
namespace {

using ::testing::HasSubstr;

absl::Status Fail(cudaError_t error) {
  GRIDFOLD_RETURN_IF_CUDA_ERROR(error);
  return absl::OkStatus();
}

TEST(CudaStatusTest, SuccessIsOk) { EXPECT_TRUE(Fail(cudaSuccess).ok()); }

TEST(CudaStatusTest, MessageSaysWhatAndWhere) {
  const absl::Status status = Fail(cudaErrorInvalidValue);
  EXPECT_EQ(status.code(), absl::StatusCode::kInternal);
  const std::string message(status.message());
  EXPECT_THAT(message, HasSubstr("cudaErrorInvalidValue"));
  EXPECT_THAT(message, HasSubstr("(kernels/cuda/device/status_test.cc:"));
}

TEST(CudaStatusTest, OutOfMemoryIsResourceExhaustedAndPasses) {
  const absl::Status status = Fail(cudaErrorMemoryAllocation);
  EXPECT_EQ(status.code(), absl::StatusCode::kResourceExhausted);
  EXPECT_FALSE(IsDeviceLost(status));
}

TEST(CudaStatusTest, ErrorsOfOneCallDoNotLoseTheDevice) {
  for (const cudaError_t error :
       {cudaErrorInvalidConfiguration, cudaErrorLaunchOutOfResources, cudaErrorInvalidClusterSize,
        cudaErrorCooperativeLaunchTooLarge, cudaErrorNoDevice}) {
    EXPECT_FALSE(IsDeviceLost(Fail(error))) << cudaGetErrorName(error);
  }
}

TEST(CudaStatusTest, StickyErrorsLoseTheDevice) {
  for (const cudaError_t error :
       {cudaErrorIllegalAddress, cudaErrorLaunchFailure, cudaErrorECCUncorrectable,
        cudaErrorIllegalInstruction, cudaErrorMisalignedAddress, cudaErrorUnknown}) {
    EXPECT_TRUE(IsDeviceLost(Fail(error))) << cudaGetErrorName(error);
  }
}

TEST(CudaStatusTest, OtherStatusesDoNotLoseTheDevice) {
  EXPECT_FALSE(IsDeviceLost(absl::OkStatus()));
  EXPECT_FALSE(IsDeviceLost(absl::InternalError("of another kind")));
}

}  // namespace
}  // namespace gridfold::kernels::cuda
