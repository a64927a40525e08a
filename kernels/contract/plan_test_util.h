// What the tests of plans share.
#ifndef GRIDFOLD_KERNELS_CONTRACT_PLAN_TEST_UTIL_H_
#define GRIDFOLD_KERNELS_CONTRACT_PLAN_TEST_UTIL_H_

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "absl/status/status.h"
#include "kernels/contract/invalid_field.h"

namespace gridfold::kernels {

// Expects INVALID_ARGUMENT that names `field`, and names it in the message too.
inline void ExpectInvalid(const absl::Status& status, const std::string& field) {
  EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument) << status;
  EXPECT_EQ(FieldOf(status), field) << status;
  EXPECT_THAT(std::string(status.message()), testing::StartsWith(field + ": "));
}

}  // namespace gridfold::kernels

#endif  // GRIDFOLD_KERNELS_CONTRACT_PLAN_TEST_UTIL_H_
