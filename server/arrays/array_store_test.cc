// The store with a clock that the test moves, and with threads that fight over its room.
#include "server/arrays/array_store.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <set>
#include <thread>

#include "absl/strings/str_cat.h"
#include "kernels/memory/host_resident_pool.h"
#include "server/base/error_reason.h"
#include "server/base/sweeper.h"
#include "server/testing/test_jobs.h"

namespace gridfold::server {
namespace {

using std::chrono::minutes;
using std::chrono::seconds;
using testing::ElementsAre;
using testing::HasSubstr;

constexpr uint64_t kUnit = kernels::kResidentUnitBytes;

class ArrayStoreTest : public testing::Test {
 protected:
  static Limits TestLimits() {
    Limits limits;
    limits.resident_bytes_max = 10 * kUnit;
    limits.tenant_resident_bytes_max = 6 * kUnit;
    limits.array_count_max = 5;
    return limits;
  }

  static kernels::ArrayDescription Bytes(uint64_t size_bytes) {
    return kernels::ArrayDescription::Vector(kernels::ElementType::kUint8, size_bytes);
  }

  absl::Status Create(const std::string& tenant, const std::string& name, uint64_t units,
                      std::chrono::nanoseconds idle_expiry = minutes(10)) {
    absl::StatusOr<ArrayLease> array = store_.Allocate(tenant, Bytes(units * kUnit));
    if (!array.ok()) return array.status();
    return store_.Insert(tenant, name, idle_expiry, *std::move(array)).status();
  }

  void ExpectNoRoom(const absl::Status& status) {
    EXPECT_TRUE(absl::IsResourceExhausted(status)) << status;
    EXPECT_EQ(ReasonOf(status), kReasonArrayQuota);
    EXPECT_TRUE(RetryDelayOf(status).has_value());
  }

  std::vector<std::string> Names(const std::string& tenant) {
    std::vector<std::string> names;
    for (const ArrayInfo& array : store_.List(tenant, "", 1000).arrays) names.push_back(array.name);
    return names;
  }

  FakeClock clock_;
  ArrayStore store_{kernels::CreateHostResidentPool(10 * kUnit), TestLimits(),
                    [this] { return clock_.Now(); }};
};

TEST_F(ArrayStoreTest, FindsWhatItWasGiven) {
  ASSERT_TRUE(Create("a", "x", 2).ok());
  clock_.Advance(seconds(7));
  const auto info = store_.Get("a", "x");
  ASSERT_TRUE(info.ok());
  EXPECT_EQ(info->name, "x");
  EXPECT_EQ(info->description.size_bytes(), 2 * kUnit);
  EXPECT_EQ(info->idle_expiry, minutes(10));
  EXPECT_EQ(info->idle_time, seconds(7));
  const auto found = store_.Find("a", "x");
  ASSERT_TRUE(found.ok());
  EXPECT_EQ(found->lease->span().size_bytes, 2 * kUnit);
  EXPECT_EQ(store_.Get("a", "x")->idle_time, seconds(0)) << "finding it is use";
}

TEST_F(ArrayStoreTest, NamesThatAreUnknownOrTaken) {
  ASSERT_TRUE(Create("a", "x", 1).ok());
  for (const absl::Status& status :
       {store_.Find("a", "y").status(), store_.Get("a", "y").status(), store_.Remove("a", "y"),
        store_.Find("b", "x").status(), store_.Get("b", "x").status(), store_.Remove("b", "x")}) {
    EXPECT_TRUE(absl::IsNotFound(status)) << status;
    EXPECT_EQ(ReasonOf(status), kReasonArrayNotFound);
  }
  for (const absl::Status& status : {Create("a", "x", 1), store_.CheckVacant("a", "x")}) {
    EXPECT_TRUE(absl::IsAlreadyExists(status)) << status;
    EXPECT_EQ(ReasonOf(status), kReasonArrayExists);
  }
  EXPECT_TRUE(Create("b", "x", 1).ok()) << "names belong to their tenants";
  EXPECT_TRUE(store_.Remove("a", "x").ok());
  EXPECT_TRUE(store_.Find("b", "x").ok());
}

TEST_F(ArrayStoreTest, ChoosesNamesThatDiffer) {
  for (int i = 0; i < 3; ++i) ASSERT_TRUE(Create("a", "", 0).ok());
  const std::vector<std::string> names = Names("a");
  EXPECT_EQ(std::set<std::string>(names.begin(), names.end()).size(), 3u);
  for (const std::string& name : names) EXPECT_EQ(name.size(), 22u) << name;
}

TEST_F(ArrayStoreTest, ATenantsRoomIsBoundedToTheLastUnit) {
  ASSERT_TRUE(Create("a", "x", 4).ok());
  ExpectNoRoom(Create("a", "y", 3));
  EXPECT_TRUE(Create("a", "y", 2).ok());
  EXPECT_TRUE(Create("a", "nothing", 0).ok());
  ExpectNoRoom(store_.Allocate("a", Bytes(1)).status());
  ASSERT_TRUE(store_.Remove("a", "x").ok());
  EXPECT_TRUE(Create("a", "x", 4).ok());
}

TEST_F(ArrayStoreTest, AllTenantsTogetherAreBoundedByThePool) {
  ASSERT_TRUE(Create("a", "x", 6).ok());
  ExpectNoRoom(Create("b", "x", 5));
  EXPECT_TRUE(Create("b", "x", 4).ok());
  ExpectNoRoom(Create("c", "x", 1));
}

TEST_F(ArrayStoreTest, WaitingDoesNotHelpAgainstABoundThatIsTooSmall) {
  for (const uint64_t size : {6 * kUnit + 1, uint64_t{1} << 40, uint64_t{1} << 62}) {
    const absl::Status status = store_.Allocate("a", Bytes(size)).status();
    EXPECT_TRUE(absl::IsResourceExhausted(status)) << status;
    EXPECT_EQ(ReasonOf(status), kReasonArrayQuota);
    EXPECT_FALSE(RetryDelayOf(status).has_value());
  }
}

TEST_F(ArrayStoreTest, TheNumberOfArraysIsBounded) {
  for (int i = 0; i < 5; ++i) ASSERT_TRUE(Create(absl::StrCat("tenant", i % 2), "", 0).ok());
  ExpectNoRoom(Create("a", "x", 0));
  ExpectNoRoom(store_.CheckVacant("a", "x"));
  clock_.Advance(minutes(10));
  EXPECT_TRUE(Create("a", "x", 0).ok()) << "expired arrays do not count";
}

TEST_F(ArrayStoreTest, AnArrayThatIsNeverInsertedGivesItsRoomBack) {
  {
    const auto array = store_.Allocate("a", Bytes(6 * kUnit));
    ASSERT_TRUE(array.ok());
    ExpectNoRoom(store_.Allocate("a", Bytes(1)).status());
  }
  EXPECT_TRUE(store_.Allocate("a", Bytes(6 * kUnit)).ok());
}

TEST_F(ArrayStoreTest, ExpiresWhenItHasBeenIdleForThatLong) {
  ASSERT_TRUE(Create("a", "x", 1, seconds(10)).ok());
  clock_.Advance(seconds(9));
  ASSERT_TRUE(store_.Find("a", "x").ok());
  clock_.Advance(seconds(9));
  EXPECT_TRUE(store_.Get("a", "x").ok()) << "looking at it does not count as use";
  EXPECT_THAT(Names("a"), ElementsAre("x"));
  clock_.Advance(seconds(1));
  EXPECT_THAT(Names("a"), ElementsAre());
  EXPECT_TRUE(absl::IsNotFound(store_.Get("a", "x").status()));
  EXPECT_TRUE(Create("a", "x", 6).ok()) << "name and room are free";
}

TEST_F(ArrayStoreTest, RemovingAnExpiredArrayFindsNone) {
  ASSERT_TRUE(Create("a", "x", 1, seconds(10)).ok());
  clock_.Advance(seconds(10));
  EXPECT_TRUE(absl::IsNotFound(store_.Remove("a", "x")));
}

TEST_F(ArrayStoreTest, ALeaseOutlivesItsArray) {
  ASSERT_TRUE(Create("a", "x", 6).ok());
  {
    const auto found = store_.Find("a", "x");
    ASSERT_TRUE(found.ok());
    ASSERT_TRUE(store_.Remove("a", "x").ok());
    EXPECT_THAT(Names("a"), ElementsAre());
    const kernels::MutableResidentSpan span = found->lease->span();
    std::fill_n(span.data, span.size_bytes, std::byte{42});
    ExpectNoRoom(Create("a", "x", 1));
  }
  EXPECT_TRUE(Create("a", "x", 6).ok());
}

TEST_F(ArrayStoreTest, AnArrayInUseDoesNotExpire) {
  ASSERT_TRUE(Create("a", "x", 1, seconds(10)).ok());
  {
    const auto found = store_.Find("a", "x");
    ASSERT_TRUE(found.ok());
    clock_.Advance(seconds(100));
    store_.RemoveExpired();
    EXPECT_THAT(Names("a"), ElementsAre("x"));
  }
  clock_.Advance(seconds(9));
  store_.RemoveExpired();
  EXPECT_THAT(Names("a"), ElementsAre("x")) << "it was in use until the last look";
  clock_.Advance(seconds(1));
  store_.RemoveExpired();
  EXPECT_THAT(Names("a"), ElementsAre());
}

// Between two looks at it.
TEST_F(ArrayStoreTest, HoldersThatTakeLongSayUntilWhen) {
  ASSERT_TRUE(Create("a", "x", 1, seconds(10)).ok());
  {
    const auto found = store_.Find("a", "x");
    ASSERT_TRUE(found.ok());
    clock_.Advance(seconds(9));
    found->lease->MarkUsed();
  }
  clock_.Advance(seconds(9));
  EXPECT_TRUE(store_.Get("a", "x").ok());
}

TEST_F(ArrayStoreTest, PagesFollowTheNames) {
  for (const char* const name : {"d", "b", "a", "c"}) ASSERT_TRUE(Create("t", name, 0).ok());
  ASSERT_TRUE(Create("u", "hidden", 0).ok());
  const ArrayPage first = store_.List("t", "", 2);
  ASSERT_EQ(first.arrays.size(), 2u);
  EXPECT_FALSE(first.is_last);
  EXPECT_EQ(first.arrays[1].name, "b");
  // What is deleted or made meanwhile costs no other array its place.
  ASSERT_TRUE(store_.Remove("t", "b").ok());
  ASSERT_TRUE(store_.Remove("u", "hidden").ok());
  ASSERT_TRUE(Create("t", "aa", 0).ok());
  const ArrayPage second = store_.List("t", "b", 2);
  ASSERT_EQ(second.arrays.size(), 2u);
  EXPECT_EQ(second.arrays[0].name, "c");
  EXPECT_EQ(second.arrays[1].name, "d");
  EXPECT_TRUE(second.is_last) << "a page that is full and ends with the last array is the last";
  EXPECT_TRUE(store_.List("t", "z", 2).arrays.empty());
  EXPECT_TRUE(store_.List("nobody", "", 2).arrays.empty());
}

TEST_F(ArrayStoreTest, AConcurrentInsertOfTheSameNameHappensOnce) {
  std::atomic<int> made = 0;
  std::atomic<int> refused = 0;
  {
    std::vector<std::jthread> threads;
    for (int t = 0; t < 4; ++t) {
      threads.emplace_back([&] {
        const absl::Status status = Create("a", "x", 1);
        made += status.ok() ? 1 : 0;
        refused += absl::IsAlreadyExists(status) ? 1 : 0;
      });
    }
  }
  EXPECT_EQ(made, 1);
  EXPECT_EQ(refused, 3);
}

// Threads of two tenants make, use and delete arrays; afterwards all room is there again.
TEST(ArrayStoreRaceTest, NoRoomIsLostOrGivenTwice) {
  Limits limits;
  limits.resident_bytes_max = 64 * kUnit;
  limits.tenant_resident_bytes_max = 40 * kUnit;
  limits.array_count_max = 30;
  FakeClock clock;
  ArrayStore store(kernels::CreateHostResidentPool(limits.resident_bytes_max), limits,
                   [&] { return clock.Now(); });
  std::atomic<uint64_t> held_units[2] = {0, 0};
  std::atomic<bool> too_many = false;
  {
    std::vector<std::jthread> threads;
    for (int t = 0; t < 4; ++t) {
      threads.emplace_back([&, t] {
        std::mt19937 random(t);
        const std::string tenant = t % 2 == 0 ? "a" : "b";
        std::atomic<uint64_t>& held = held_units[t % 2];
        for (int i = 0; i < 5000; ++i) {
          const std::string name = absl::StrCat("array", random() % 8);
          const uint64_t units = random() % 12;
          const auto description =
              kernels::ArrayDescription::Vector(kernels::ElementType::kUint8, units * kUnit);
          switch (random() % 4) {
            case 0: {
              auto array = store.Allocate(tenant, description);
              if (!array.ok()) break;
              if (held.fetch_add(units) + units > 40) too_many = true;
              held.fetch_sub(units);
              (void)store.Insert(tenant, name, seconds(1 + random() % 5), *std::move(array));
              break;
            }
            case 1:
              if (const auto found = store.Find(tenant, name); found.ok()) {
                std::this_thread::yield();
                found->lease->MarkUsed();
              }
              break;
            case 2: (void)store.Remove(tenant, name); break;
            default:
              clock.Advance(std::chrono::milliseconds(200));
              (void)store.List(tenant, "array3", 4);
          }
        }
      });
    }
  }
  EXPECT_FALSE(too_many);
  clock.Advance(seconds(10));
  store.RemoveExpired();
  EXPECT_TRUE(store
                  .Allocate("a", kernels::ArrayDescription::Vector(kernels::ElementType::kUint8,
                                                                   40 * kUnit))
                  .ok());
  EXPECT_TRUE(store
                  .Allocate("b", kernels::ArrayDescription::Vector(kernels::ElementType::kUint8,
                                                                   40 * kUnit))
                  .ok());
}

TEST(SweeperTest, ExpiredArraysGoWithoutBeingAskedFor) {
  Limits limits;
  FakeClock clock;
  ArrayStore store(kernels::CreateHostResidentPool(kUnit), limits, [&] { return clock.Now(); });
  auto array =
      store.Allocate("a", kernels::ArrayDescription::Vector(kernels::ElementType::kUint8, kUnit));
  ASSERT_TRUE(array.ok());
  const std::weak_ptr<const StoredArray> watched = *array;
  ASSERT_TRUE(store.Insert("a", "x", seconds(1), *std::move(array)).ok());
  const Sweeper sweeper([&] { store.RemoveExpired(); }, std::chrono::milliseconds(1));
  EXPECT_FALSE(watched.expired());
  clock.Advance(seconds(1));
  while (!watched.expired()) std::this_thread::sleep_for(std::chrono::milliseconds(1));
}

}  // namespace
}  // namespace gridfold::server
