#include "kernels/cuda/device/properties.h"

#include <utility>

#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace gridfold::kernels::cuda {
namespace {

using testing::AllOf;
using testing::HasSubstr;

DeviceProperties OfComputeCapability(int major, int minor) {
  DeviceProperties properties;
  properties.compute_capability_major = major;
  properties.compute_capability_minor = minor;
  return properties;
}

TEST(CheckComputeCapabilityTest, DevicesFrom80OnAreTaken) {
  for (const auto& [major, minor] : {std::pair{8, 0}, {8, 9}, {9, 0}, {10, 3}, {12, 0}}) {
    const absl::Status status = CheckComputeCapability(OfComputeCapability(major, minor), "GPU");
    EXPECT_TRUE(status.ok()) << status;
  }
}

TEST(CheckComputeCapabilityTest, OlderDevicesAreRefusedByNameAndReason) {
  for (const auto& [major, minor] : {std::pair{7, 5}, {7, 0}, {6, 1}}) {
    const absl::Status status =
        CheckComputeCapability(OfComputeCapability(major, minor), "NVIDIA Old");
    EXPECT_EQ(status.code(), absl::StatusCode::kFailedPrecondition);
    EXPECT_THAT(status.message(),
                AllOf(HasSubstr("NVIDIA Old"), HasSubstr(absl::StrCat(major, ".", minor)),
                      HasSubstr("needs 8.0 or newer")));
  }
}

}  // namespace
}  // namespace gridfold::kernels::cuda
