// A caller takes its memory away while the CPU engine reads it, over a real socket: its requests
// fail, and the server and everybody else's requests go on.
#include <gtest/gtest.h>
#include <signal.h>

#include <atomic>
#include <chrono>
#include <thread>

#include "server/regions/mapping_guard.h"
#include "server/testing/region_service_fixture.h"

namespace gridfold::server {
namespace {

class RegionFaultTest : public RegionServiceTest {
 protected:
  static constexpr uint64_t kBytes = uint64_t{1} << 26;

  static void ExpectBroken(const grpc::Status& status) {
    ExpectError(status, grpc::StatusCode::FAILED_PRECONDITION, kReasonRegionBroken);
  }
};

TEST_F(RegionFaultTest, MemoryThatGoesWhileAReductionReadsIt) {
  SharedObject object(kBytes);
  SharedObject other(std::vector<int32_t>{1, 2, 3});
  ASSERT_TRUE(Register("x", object).ok());
  ASSERT_TRUE(Register("other", other).ok());
  std::atomic<int> done = 0;
  std::atomic<bool> stop = false;
  // One reduction after the other, so that one of them is always running.
  std::jthread reader([&] {
    ArrayCaller caller(server_);
    grpc::Status status;
    while (status.ok() && !stop) {
      status = caller.Compute(Sum(InRegion("x", v1::ELEMENT_TYPE_FLOAT64, 0, {kBytes / 8})));
      ++done;
    }
    ExpectBroken(status);
  });
  while (done < 2) std::this_thread::sleep_for(std::chrono::milliseconds(1));
  object.Resize(4096);
  reader.join();
  ExpectBroken(caller_.Compute(Sum(InRegion("x", v1::ELEMENT_TYPE_INT8, 0, {1}))));
  ASSERT_TRUE(caller_.Compute(Sum(InRegion("other", v1::ELEMENT_TYPE_INT32, 0, {3}))).ok());
  EXPECT_EQ(caller_.reduced.results(0).values().int64_values().values(0), 6);
  // The name is still there, and can be given up.
  EXPECT_TRUE(Unregister("x").ok());
  EXPECT_TRUE(Register("x", other).ok());
}

// The fault itself, whenever the reduction comes to it: the pages go between planning and reading.
TEST_F(RegionFaultTest, MemoryThatIsGoneBeforeTheJobTouchesIt) {
  for (int round = 0; round < 5; ++round) {
    SharedObject object(kBytes);
    ASSERT_TRUE(Register("x", object).ok());
    std::jthread thief([&] {
      std::this_thread::sleep_for(std::chrono::microseconds(500 * round));
      object.Resize(0);
    });
    v1::ScanArrayRequest scan;
    *scan.mutable_array() = InRegion("x", v1::ELEMENT_TYPE_INT32, 0, {kBytes / 8});
    scan.set_operation(v1::SCAN_OPERATION_MAX);
    scan.mutable_destination()->mutable_region()->set_name("x");
    scan.mutable_destination()->mutable_region()->set_offset_bytes(kBytes / 2);
    const grpc::Status status = caller_.Compute(scan);
    thief.join();
    if (!status.ok()) ExpectBroken(status);
    ExpectBroken(caller_.Compute(scan));
    ASSERT_TRUE(Unregister("x").ok());
  }
}

// Pages that nobody has written would get memory when the server reads them, and the server would
// have to answer for it.
TEST_F(RegionFaultTest, PagesWithoutMemoryAreNeverTouched) {
  SharedObject object(kBytes);
  object.Punch(0, kBytes);
  ExpectInvalidField(Register("x", object), "posix_shared_memory.object_name");
  object.Fill();
  ASSERT_TRUE(Register("x", object).ok());
  ASSERT_TRUE(caller_.Compute(Sum(InRegion("x", v1::ELEMENT_TYPE_INT8, 0, {kBytes}))).ok());
  object.Punch(kBytes / 2, kBytes / 2);
  ExpectBroken(caller_.Compute(Sum(InRegion("x", v1::ELEMENT_TYPE_INT8, 0, {kBytes}))));
  v1::ScanArrayRequest scan;
  *scan.mutable_array() = ArrayOf<int32_t>(v1::ELEMENT_TYPE_INT32, {1, 2, 3});
  scan.set_operation(v1::SCAN_OPERATION_SUM);
  scan.mutable_destination()->mutable_region()->set_name("x");
  scan.mutable_destination()->mutable_region()->set_offset_bytes(kBytes / 2);
  ExpectBroken(caller_.Compute(scan));
  EXPECT_EQ(object.MemoryBytes(), kBytes / 2);
}

TEST(MappingGuardTest, OnlyTheGuardedMappingIsReplaced) {
  SharedObject guarded(3 * 4096);
  SharedObject other(std::vector<int32_t>{7, 8});
  const MappingGuard guard(reinterpret_cast<std::byte*>(guarded.data()), guarded.size_bytes());
  guarded.data()[0] = 1;
  EXPECT_FALSE(guard.HasFaulted());
  guarded.Resize(4096);
  EXPECT_EQ(static_cast<volatile char*>(guarded.data())[2 * 4096], 0);
  EXPECT_TRUE(guard.HasFaulted());
  EXPECT_EQ(other.data()[0], 7);
}

TEST(MappingGuardTest, AGuardThatIsGoneIsNotAskedForAnyMore) {
  SharedObject first(4096);
  { const MappingGuard guard(reinterpret_cast<std::byte*>(first.data()), first.size_bytes()); }
  SharedObject second(4096);
  const MappingGuard guard(reinterpret_cast<std::byte*>(second.data()), second.size_bytes());
  second.Resize(0);
  EXPECT_EQ(static_cast<volatile char*>(second.data())[100], 0);
  EXPECT_TRUE(guard.HasFaulted());
}

TEST(MappingGuardDeathTest, OtherFaultsEndTheProgramAsBefore) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  const auto touch_what_is_gone = [] {
    SharedObject guarded(4096);
    const MappingGuard guard(reinterpret_cast<std::byte*>(guarded.data()), guarded.size_bytes());
    SharedObject object(4096);
    shm_unlink(guarded.name().c_str());
    shm_unlink(object.name().c_str());
    object.Resize(0);
    static_cast<volatile char*>(object.data())[0] = 1;
  };
  // By the signal or, with a sanitizer, by its report of it.
  EXPECT_EXIT(
      touch_what_is_gone(), [](int status) { return status != 0; }, "");
}

}  // namespace
}  // namespace gridfold::server
