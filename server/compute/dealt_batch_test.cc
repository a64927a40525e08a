// Batches with operations on sharded arrays: each operation has the answer that it has by itself on
// one device.
#include <gtest/gtest.h>

#include <limits>
#include <string>
#include <vector>

#include "server/testing/devices_fixture.h"

namespace gridfold::server {
namespace {

class DealtBatchTest : public DevicesTest {
 protected:
  void PutArrays(Devices& devices) {
    PutSharded(devices, "x", v1::ELEMENT_TYPE_FLOAT32, {kCount}, values_);
    PutSharded(devices, "m", v1::ELEMENT_TYPE_FLOAT32, {kRows, kColumns}, table_);
    devices.caller().Put("alone", v1::ELEMENT_TYPE_FLOAT32, {kColumns},
                         std::vector<float>(table_.begin(), table_.begin() + kColumns));
  }

  static v1::ScanArrayRequest Scan(const v1::ArraySource& source) {
    v1::ScanArrayRequest request;
    *request.mutable_array() = source;
    request.set_operation(v1::SCAN_OPERATION_SUM);
    request.set_nan_policy(v1::NAN_POLICY_IGNORE);
    return request;
  }

  static v1::BatchComputeResponse Compute(Devices& devices, const v1::BatchComputeRequest& batch) {
    v1::BatchComputeResponse response;
    const grpc::Status status = devices.server().compute().BatchCompute(
        devices.caller().MakeContext().get(), batch, &response);
    EXPECT_TRUE(status.ok()) << status.error_message();
    return response;
  }

  const std::vector<float> values_ = Floats(kCount);
  const std::vector<float> table_ = Floats(kRows * kColumns);
};

// Operations of one round and of several, sharded and not, and those that fail between them.
TEST_F(DealtBatchTest, OperationsHaveTheAnswersOfOneDevice) {
  v1::BatchComputeRequest batch;
  *batch.add_operations()->mutable_reduction() = Reduction(Resident("x"), -1);
  *batch.add_operations()->mutable_histogram() = Histogram(Resident("x"), 1);
  *batch.add_operations()->mutable_scan() = Scan(Resident("x"));
  *batch.add_operations()->mutable_reduction() = Reduction(Resident("no such array"), -1);
  *batch.add_operations()->mutable_reduction() = Reduction(Resident("alone"), -1);
  *batch.add_operations()->mutable_reduction() =
      Reduction(ArrayOf(v1::ELEMENT_TYPE_FLOAT32, table_), -1);
  *batch.add_operations()->mutable_reduction() = Reduction(Resident("m"), 0);
  ExpectSameBits([&](Devices& devices) {
    PutArrays(devices);
    const v1::BatchComputeResponse response = Compute(devices, batch);
    EXPECT_EQ(response.results_size(), batch.operations_size());
    for (int i = 0; i < response.results_size(); ++i) {
      EXPECT_EQ(response.results(i).has_error(), i == 3) << i;
    }
    EXPECT_EQ(response.results(0).reduction().SerializeAsString(),
              Answer(devices, batch.operations(0).reduction()));
    EXPECT_EQ(response.results(2).scan().inline_array().data().size(), kCount * sizeof(float));
    return WithoutTimes(response);
  });
}

// An error of the data is that of its operation.
TEST_F(DealtBatchTest, AnOperationThatFailsOnADeviceFailsAlone) {
  const std::vector<int64_t> large(kCount, std::numeric_limits<int64_t>::max() / 2);
  v1::ReduceArrayRequest sum;
  *sum.mutable_array() = Resident("large");
  sum.add_statistics(v1::STATISTIC_SUM);
  v1::BatchComputeRequest batch;
  *batch.add_operations()->mutable_reduction() = sum;
  *batch.add_operations()->mutable_scan() = Scan(Resident("large"));
  *batch.add_operations()->mutable_reduction() = Reduction(Resident("x"), -1);
  ExpectSameBits([&](Devices& devices) {
    PutArrays(devices);
    PutSharded(devices, "large", v1::ELEMENT_TYPE_INT64, {kCount}, large);
    const v1::BatchComputeResponse response = Compute(devices, batch);
    EXPECT_EQ(response.results_size(), 3);
    if (response.results_size() < 3) return std::string();
    EXPECT_TRUE(response.results(0).has_error());
    EXPECT_TRUE(response.results(1).has_error());
    EXPECT_TRUE(response.results(2).has_reduction());
    return WithoutTimes(response);
  });
}

TEST_F(DealtBatchTest, AllDevicesWorkOnIt) {
  Devices devices(2);
  PutArrays(devices);
  v1::BatchComputeRequest batch;
  *batch.add_operations()->mutable_reduction() = Reduction(Resident("x"), -1);
  *batch.add_operations()->mutable_reduction() = Reduction(Resident("m"), 1);
  const uint64_t before = devices.server().GetStatistics().jobs_accepted();
  EXPECT_EQ(Compute(devices, batch).execution().device_count(), 2u);
  EXPECT_EQ(devices.server().GetStatistics().jobs_accepted() - before, 2u)
      << "one job for each device";
}

}  // namespace
}  // namespace gridfold::server
