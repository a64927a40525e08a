#include "server/process/allowed_memory.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <limits>
#include <string>

#include "server/testing/test_certificates.h"

namespace gridfold::server {
namespace {

constexpr uint64_t kNoLimit = std::numeric_limits<uint64_t>::max();

class ControlGroupTest : public testing::Test {
 protected:
  // Of the group at `path` in the hierarchy; "" is its root.
  void SetLimit(const std::string& path, const std::string& text) const {
    const std::filesystem::path group = Hierarchy() / path;
    std::filesystem::create_directories(group);
    std::ofstream(group / "memory.max") << text << "\n";
  }
  std::filesystem::path Hierarchy() const { return folder_.Path("cgroup"); }

  const TestFolder folder_;
};

TEST_F(ControlGroupTest, HasNoLimitWhereNoneIsTold) {
  EXPECT_EQ(ControlGroupMemoryBytes(Hierarchy(), "/"), kNoLimit);
  SetLimit("a", "max");
  EXPECT_EQ(ControlGroupMemoryBytes(Hierarchy(), "/a"), kNoLimit);
  EXPECT_EQ(ControlGroupMemoryBytes(Hierarchy(), "/no/such/group"), kNoLimit);
}

TEST_F(ControlGroupTest, HasTheLowestLimitOfThoseAroundIt) {
  SetLimit("a", "4096000");
  SetLimit("a/b", "max");
  SetLimit("a/b/c", "8192000");
  SetLimit("a/other", "1");
  EXPECT_EQ(ControlGroupMemoryBytes(Hierarchy(), "/a/b/c"), 4096000u);
  EXPECT_EQ(ControlGroupMemoryBytes(Hierarchy(), "/a/b"), 4096000u);
  EXPECT_EQ(ControlGroupMemoryBytes(Hierarchy(), "/"), kNoLimit);
  SetLimit("a/b/c", "1024000");
  EXPECT_EQ(ControlGroupMemoryBytes(Hierarchy(), "/a/b/c"), 1024000u);
}

// A container sees its own group as the root.
TEST_F(ControlGroupTest, HasTheLimitOfTheRoot) {
  SetLimit("", "2048000");
  EXPECT_EQ(ControlGroupMemoryBytes(Hierarchy(), "/"), 2048000u);
  EXPECT_EQ(ControlGroupMemoryBytes(Hierarchy(), "/../outside"), 2048000u);
}

TEST(AllowedMemoryTest, IsNoMoreThanTheMachineHas) {
  const uint64_t machine =
      static_cast<uint64_t>(sysconf(_SC_PHYS_PAGES)) * static_cast<uint64_t>(sysconf(_SC_PAGESIZE));
  EXPECT_GT(AllowedMemoryBytes(), uint64_t{16} << 20);
  EXPECT_LE(AllowedMemoryBytes(), machine);
}

}  // namespace
}  // namespace gridfold::server
