// When regions come and go, and what room they take: with a fake engine and a fake clock, on real
// shared memory.
#include "server/regions/region_store.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/resource.h>

#include <chrono>
#include <string>
#include <thread>
#include <vector>

#include "absl/strings/str_cat.h"
#include "kernels/contract/invalid_field.h"
#include "server/base/error_reason.h"
#include "server/testing/child_process.h"
#include "server/testing/fake_engine.h"
#include "server/testing/shared_object.h"

namespace gridfold::server {
namespace {

using std::chrono::seconds;
using testing::MatchesRegex;

constexpr uint64_t kBytes = 8192;

class RegionStoreTest : public testing::Test {
 protected:
  static Limits TestLimits() {
    Limits limits;
    limits.regions_allowed = true;
    limits.region_count_max = 3;
    limits.region_bytes_max = 3 * kBytes;
    return limits;
  }

  static NewRegion Region(const std::string& name, const SharedObject& object) {
    return {.name = name,
            .size_bytes = object.size_bytes(),
            .source = object.name(),
            .device = 0,
            .idle_expiry = seconds(10),
            .owner = {}};
  }

  void ExpectReason(const absl::Status& status, absl::StatusCode code, const std::string& reason) {
    EXPECT_EQ(status.code(), code) << status;
    EXPECT_EQ(ReasonOf(status), reason) << status;
  }
  void ExpectNotFound(const std::string& tenant, const std::string& name) {
    ExpectReason(store_.Find(tenant, name).status(), absl::StatusCode::kNotFound,
                 kReasonRegionNotFound);
  }

  FakeEngine engine_;
  std::atomic<JobClock::time_point> now_ = JobClock::now();
  RegionStore store_{{&engine_}, TestLimits(), [this] { return now_.load(); }};
  SharedObject object_{kBytes};
};

TEST_F(RegionStoreTest, ARegionIsItsTenantsAndItsMemoryTheCallers) {
  const absl::StatusOr<RegionInfo> info = store_.Register("a", Region("x", object_));
  ASSERT_TRUE(info.ok()) << info.status();
  EXPECT_EQ(info->name, "x");
  EXPECT_EQ(info->size_bytes, kBytes);
  const absl::StatusOr<RegionLease> region = store_.Find("a", "x");
  ASSERT_TRUE(region.ok());
  object_.data()[77] = 'q';
  EXPECT_EQ((*region)->span().size_bytes, kBytes);
  EXPECT_EQ((*region)->span().data[77], std::byte{'q'});
  ExpectNotFound("b", "x");
  ExpectNotFound("a", "y");
  EXPECT_TRUE(store_.Register("b", Region("x", object_)).ok());
  ExpectReason(store_.Register("a", Region("x", object_)).status(),
               absl::StatusCode::kAlreadyExists, kReasonRegionExists);
  ExpectReason(store_.CheckVacant("a", "x"), absl::StatusCode::kAlreadyExists, kReasonRegionExists);
  EXPECT_TRUE(store_.CheckVacant("c", "x").ok());
}

TEST_F(RegionStoreTest, TheStoreChoosesANameWhereNoneIsGiven) {
  const absl::StatusOr<RegionInfo> info = store_.Register("", Region("", object_));
  ASSERT_TRUE(info.ok());
  EXPECT_THAT(info->name, MatchesRegex("region-[0-9a-f]{16}"));
  EXPECT_TRUE(store_.Find("", info->name).ok());
}

TEST_F(RegionStoreTest, RoomIsTakenUntilTheLastLeaseEnds) {
  ASSERT_TRUE(store_.Register("", Region("x", object_)).ok());
  ASSERT_TRUE(store_.Register("", Region("y", object_)).ok());
  const SharedObject large(2 * kBytes);
  ExpectReason(store_.Register("", Region("z", large)).status(),
               absl::StatusCode::kResourceExhausted, kReasonRegionQuota);
  absl::StatusOr<RegionLease> lease = store_.Find("", "x");
  ASSERT_TRUE(store_.Remove("", "x").ok());
  ExpectNotFound("", "x");
  const absl::Status full = store_.Register("", Region("z", large)).status();
  ExpectReason(full, absl::StatusCode::kResourceExhausted, kReasonRegionQuota);
  EXPECT_TRUE(RetryDelayOf(full).has_value());
  EXPECT_EQ(store_.GetStatistics().region_count, 1u);
  EXPECT_EQ(store_.GetStatistics().taken_bytes, 2 * kBytes);
  (*lease)->span().data[0] = std::byte{1};
  lease = absl::CancelledError();
  EXPECT_TRUE(store_.Register("", Region("z", large)).ok());
  EXPECT_EQ(store_.GetStatistics().taken_bytes, 3 * kBytes);
}

TEST_F(RegionStoreTest, WhatIsLargerThanEverythingNeedNotComeAgain) {
  const SharedObject large(4 * kBytes);
  const absl::Status status = store_.Register("", Region("x", large)).status();
  ExpectReason(status, absl::StatusCode::kResourceExhausted, kReasonRegionQuota);
  EXPECT_FALSE(RetryDelayOf(status).has_value());
  const SharedObject largest(3 * kBytes);
  EXPECT_TRUE(store_.Register("", Region("x", largest)).ok());
}

TEST_F(RegionStoreTest, AsManyAsAreAllowed) {
  const SharedObject small(1);
  for (int i = 0; i < 3; ++i) {
    ASSERT_TRUE(store_.Register("", Region(absl::StrCat("x", i), small)).ok());
  }
  ExpectReason(store_.Register("", Region("y", small)).status(),
               absl::StatusCode::kResourceExhausted, kReasonRegionQuota);
  ASSERT_TRUE(store_.Remove("", "x1").ok());
  EXPECT_TRUE(store_.Register("", Region("y", small)).ok());
}

TEST_F(RegionStoreTest, AFailedRegistrationTakesNothing) {
  for (int i = 0; i < 10; ++i) {
    NewRegion region = Region("x", object_);
    region.source = "/gridfold-test-of-nothing";
    const absl::Status status = store_.Register("", region).status();
    EXPECT_EQ(kernels::FieldOf(status), "posix_shared_memory.object_name") << status;
    region = Region("x", object_);
    region.size_bytes = kBytes + 1;
    EXPECT_EQ(kernels::FieldOf(store_.Register("", region).status()), "size_bytes");
    region.source = kernels::IpcHandle{};
    ExpectReason(store_.Register("", region).status(), absl::StatusCode::kFailedPrecondition,
                 kReasonRegionUnsupported);
  }
  EXPECT_EQ(store_.GetStatistics().taken_bytes, 0u);
}

TEST_F(RegionStoreTest, AnIdleRegionGoes) {
  ASSERT_TRUE(store_.Register("", Region("x", object_)).ok());
  now_ = now_.load() + seconds(9);
  ASSERT_TRUE(store_.Find("", "x").ok());
  now_ = now_.load() + seconds(9);
  EXPECT_EQ(store_.List("", "", 10).regions.at(0).idle_time, seconds(9));
  now_ = now_.load() + seconds(1);
  ExpectNotFound("", "x");
  EXPECT_TRUE(store_.List("", "", 10).regions.empty());
  EXPECT_TRUE(store_.CheckVacant("", "x").ok());
  for (const std::string name : {"x", "unknown"}) {
    ExpectReason(store_.Remove("", name), absl::StatusCode::kNotFound, kReasonRegionNotFound);
  }
  ASSERT_TRUE(store_.Register("", Region("x", object_)).ok());
  EXPECT_EQ(store_.GetStatistics().taken_bytes, kBytes);
}

TEST_F(RegionStoreTest, UseEndsWithTheJob) {
  ASSERT_TRUE(store_.Register("", Region("x", object_)).ok());
  {
    const RegionLease lease = *store_.Find("", "x");
    now_ = now_.load() + seconds(9);
    ASSERT_TRUE(lease->EndUse().ok());
  }
  now_ = now_.load() + seconds(9);
  EXPECT_TRUE(store_.Find("", "x").ok());
}

TEST_F(RegionStoreTest, ARegionInUseDoesNotExpire) {
  ASSERT_TRUE(store_.Register("", Region("x", object_)).ok());
  {
    const RegionLease lease = *store_.Find("", "x");
    now_ = now_.load() + seconds(100);
    store_.Sweep();
    EXPECT_TRUE(store_.Find("", "x").ok());
  }
  now_ = now_.load() + seconds(10);
  ExpectNotFound("", "x");
}

TEST_F(RegionStoreTest, ARegionIsInUseUntilTheLastLookAtIt) {
  ASSERT_TRUE(store_.Register("", Region("x", object_)).ok());
  {
    const RegionLease lease = *store_.Find("", "x");
    now_ = now_.load() + seconds(100);
    store_.Sweep();
  }
  now_ = now_.load() + seconds(9);
  store_.Sweep();
  EXPECT_EQ(store_.List("", "", 10).regions.size(), 1u) << "it was in use until the last look";
  now_ = now_.load() + seconds(1);
  store_.Sweep();
  EXPECT_TRUE(store_.List("", "", 10).regions.empty());
  EXPECT_EQ(store_.GetStatistics().taken_bytes, 0u);
}

TEST_F(RegionStoreTest, ARegionGoesWithItsOwner) {
  ChildProcess child;
  NewRegion region = Region("x", object_);
  region.owner = OwnerProcess::Find(child.id());
  ASSERT_TRUE(region.owner.has_value());
  ASSERT_TRUE(store_.Register("", region).ok());
  store_.Sweep();
  ASSERT_TRUE(store_.Find("", "x").ok());
  EXPECT_EQ(store_.List("", "", 10).regions.at(0).owner_process_id, child.id());
  child.Kill();
  EXPECT_FALSE(OwnerProcess::Find(child.id()).has_value());
  store_.Sweep();
  ExpectNotFound("", "x");
  EXPECT_EQ(store_.GetStatistics().taken_bytes, 0u);
}

// Which others may have taken.
TEST_F(RegionStoreTest, WithoutAFileDescriptorNoOwnerIsThoughtToHaveEnded) {
  ChildProcess child;
  NewRegion region = Region("x", object_);
  region.owner = OwnerProcess::Find(child.id());
  ASSERT_TRUE(store_.Register("", region).ok());
  rlimit limit = {};
  ASSERT_EQ(getrlimit(RLIMIT_NOFILE, &limit), 0);
  const rlimit none = {.rlim_cur = 0, .rlim_max = limit.rlim_max};
  ASSERT_EQ(setrlimit(RLIMIT_NOFILE, &none), 0);
  store_.Sweep();
  ASSERT_EQ(setrlimit(RLIMIT_NOFILE, &limit), 0);
  EXPECT_TRUE(store_.Find("", "x").ok());
  child.Kill();
  store_.Sweep();
  ExpectNotFound("", "x");
}

TEST_F(RegionStoreTest, PagesFollowOneAnother) {
  const SharedObject small(1);
  for (const char* const name : {"c", "a", "b"}) {
    ASSERT_TRUE(store_.Register("t", Region(name, small)).ok());
  }
  const RegionPage first = store_.List("t", "", 2);
  ASSERT_EQ(first.regions.size(), 2u);
  EXPECT_EQ(first.regions[0].name, "a");
  EXPECT_FALSE(first.is_last);
  const RegionPage second = store_.List("t", "b", 2);
  ASSERT_EQ(second.regions.size(), 1u);
  EXPECT_EQ(second.regions[0].name, "c");
  EXPECT_TRUE(second.is_last);
  EXPECT_TRUE(store_.List("t", "a", 2).is_last) << "a page that is just full";
  EXPECT_TRUE(store_.List("s", "", 2).regions.empty());
  EXPECT_TRUE(store_.List("u", "", 2).regions.empty());
}

TEST_F(RegionStoreTest, AnObjectThatWasMadeSmaller) {
  ASSERT_TRUE(store_.Register("", Region("x", object_)).ok());
  const RegionLease lease = *store_.Find("", "x");
  lease->span().data[kBytes - 1] = std::byte{5};
  object_.Resize(4096);
  // Nothing is touched yet.
  ExpectReason(lease->Check(), absl::StatusCode::kFailedPrecondition, kReasonRegionBroken);
  ExpectReason(store_.Find("", "x").status(), absl::StatusCode::kFailedPrecondition,
               kReasonRegionBroken);
  // Reading and writing what is gone harms nobody.
  auto* const last = reinterpret_cast<volatile char*>(lease->span().data) + kBytes - 1;
  EXPECT_EQ(*last, 0);
  *last = 6;
  EXPECT_EQ(*last, 6);
  // What is there again is not what was there.
  object_.Resize(kBytes);
  ExpectReason(lease->Check(), absl::StatusCode::kFailedPrecondition, kReasonRegionBroken);
  EXPECT_TRUE(store_.Remove("", "x").ok());
}

TEST_F(RegionStoreTest, MemoryThatWasLostStaysLost) {
  ASSERT_TRUE(store_.Register("", Region("x", object_)).ok());
  object_.Resize(4096);
  ExpectReason(store_.Find("", "x").status(), absl::StatusCode::kFailedPrecondition,
               kReasonRegionBroken);
  object_.Resize(kBytes);
  object_.Fill();
  ExpectReason(store_.Find("", "x").status(), absl::StatusCode::kFailedPrecondition,
               kReasonRegionBroken);
  // Under another name it is a region like any other.
  EXPECT_TRUE(store_.Register("", Region("y", object_)).ok());
  EXPECT_TRUE(store_.Find("", "y").ok());
}

// Reading them would give them memory, at the server's expense.
TEST_F(RegionStoreTest, PagesWithoutMemoryAreRefused) {
  object_.Put(0, std::vector<char>(kBytes, 'x'));
  ASSERT_TRUE(store_.Register("", Region("x", object_)).ok());
  object_.Punch(kBytes - 4096, 4096);
  ExpectReason(store_.Find("", "x").status(), absl::StatusCode::kFailedPrecondition,
               kReasonRegionBroken);
  const auto registered = store_.Register("", Region("y", object_));
  EXPECT_EQ(registered.status().code(), absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(kernels::FieldOf(registered.status()), "posix_shared_memory.object_name");
  EXPECT_EQ(object_.MemoryBytes(), kBytes - 4096) << "the server has written, or read, the hole";
  NewRegion beginning = Region("y", object_);
  beginning.size_bytes = kBytes - 4096;
  EXPECT_TRUE(store_.Register("", beginning).ok()) << "its own pages have memory";
  EXPECT_TRUE(store_.Find("", "y").ok());
  object_.Fill();
  EXPECT_TRUE(store_.Register("", Region("z", object_)).ok());
}

TEST_F(RegionStoreTest, AHoleMayBeAtTheBeginning) {
  object_.Put(0, std::vector<char>(kBytes, 'x'));
  object_.Punch(0, 4096);
  EXPECT_EQ(kernels::FieldOf(store_.Register("", Region("x", object_)).status()),
            "posix_shared_memory.object_name");
}

TEST_F(RegionStoreTest, TheSameMemoryUnderTwoNames) {
  ASSERT_TRUE(store_.Register("", Region("x", object_)).ok());
  ASSERT_TRUE(store_.Register("", Region("y", object_)).ok());
  const SharedObject other(kBytes);
  ASSERT_TRUE(store_.Register("", Region("z", other)).ok());
  const RegionLease x = *store_.Find("", "x");
  const RegionLease y = *store_.Find("", "y");
  const RegionLease z = *store_.Find("", "z");
  const auto part = [](const RegionLease& region, uint64_t first, uint64_t count) {
    return kernels::ResidentSpan{region->span().data + first, count};
  };
  EXPECT_TRUE(x->Overlaps(part(x, 0, 100), *x, part(x, 99, 1)));
  EXPECT_FALSE(x->Overlaps(part(x, 0, 100), *x, part(x, 100, 1)));
  EXPECT_FALSE(x->Overlaps(part(x, 0, 100), *x, part(x, 50, 0)));
  EXPECT_FALSE(x->Overlaps(part(x, 50, 0), *x, part(x, 0, 100)));
  EXPECT_TRUE(x->Overlaps(part(x, 99, 1), *x, part(x, 0, 100)));
  EXPECT_FALSE(x->Overlaps(part(x, 100, 1), *x, part(x, 0, 100)));
  EXPECT_TRUE(x->Overlaps(part(x, 0, 100), *y, part(y, 99, 1)));
  EXPECT_FALSE(x->Overlaps(part(x, 0, 100), *y, part(y, 100, 1)));
  EXPECT_FALSE(x->Overlaps(part(x, 0, kBytes), *z, part(z, 0, kBytes)));
}

TEST_F(RegionStoreTest, TheStoreSweepsByItself) {
  ASSERT_TRUE(store_.Register("", Region("x", object_)).ok());
  ASSERT_TRUE(store_.Remove("", "x").ok());
  while (store_.GetStatistics().taken_bytes > 0) std::this_thread::yield();
}

TEST(ObjectNameTest, OnlyOurOwn) {
  for (const std::string name :
       {"/gridfold-x", "/gridfold-A.b_c-9", "/gridfold-..", "/gridfold-test"}) {
    EXPECT_TRUE(ValidateObjectName(name, "f").ok()) << name;
  }
  EXPECT_TRUE(ValidateObjectName("/gridfold-" + std::string(200, 'x'), "f").ok());
  for (const std::string name :
       {"", "/", "/gridfold", "/gridfold-", "gridfold-x", "/other", "/gridfold-a/b", "//gridfold-x",
        "/gridfold-a b", "/../gridfold-x", "/gridfold-\n", "/gridfold-\xC3\xA9"}) {
    EXPECT_EQ(kernels::FieldOf(ValidateObjectName(name, "f")), "f") << name;
  }
  EXPECT_FALSE(ValidateObjectName(std::string("/gridfold-a\0b", 13), "f").ok());
  EXPECT_FALSE(ValidateObjectName("/gridfold-" + std::string(201, 'x'), "f").ok());
}

}  // namespace
}  // namespace gridfold::server
