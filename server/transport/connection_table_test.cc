// Which connection gives way to another, by the words of connection_table.h.
#include "server/transport/connection_table.h"

#include <gtest/gtest.h>

#include <chrono>
#include <optional>
#include <string>
#include <vector>

#include "server/base/fixed_limits.h"

namespace gridfold::server {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

// `count` connections of an address, each idle for a millisecond longer than the one before it.
void Add(std::vector<ConnectionState>& open, const std::string& address, int count,
         milliseconds idle, bool is_silent = false) {
  const int first = static_cast<int>(open.size());
  for (int i = 0; i < count; ++i) {
    open.push_back({first + i, address, idle + i * milliseconds(1), is_silent});
  }
}

TEST(ConnectionTableTest, TheLongestIdleGivesWayToOneOfItsOwnAddress) {
  std::vector<ConnectionState> open;
  Add(open, "a", 5, seconds(30));
  EXPECT_EQ(FindConnectionToClose(open, "a"), 4);
}

TEST(ConnectionTableTest, BusyConnectionsStayWhereAllAreOfOneAddress) {
  std::vector<ConnectionState> open;
  Add(open, "a", 5, seconds(3));
  EXPECT_EQ(FindConnectionToClose(open, "a"), std::nullopt);
}

TEST(ConnectionTableTest, OneThatNeverCalledNeedNotBeIdleForLong) {
  std::vector<ConnectionState> open;
  Add(open, "a", 5, seconds(3));
  Add(open, "a", 1, seconds(1), /*is_silent=*/true);
  EXPECT_EQ(FindConnectionToClose(open, "a"), 5);
  open.back().idle = milliseconds(10);
  EXPECT_EQ(FindConnectionToClose(open, "a"), std::nullopt);
}

TEST(ConnectionTableTest, AnAddressWithNothingTakesThePlaceOfTheOneWithMostThoughItIsBusy) {
  std::vector<ConnectionState> open;
  Add(open, "a", 3, milliseconds(0));
  Add(open, "b", 7, milliseconds(0));
  // And nothing of those that have little, idle as they are.
  Add(open, "c", 2, seconds(100));
  EXPECT_EQ(FindConnectionToClose(open, "d"), 9);
}

TEST(ConnectionTableTest, WhoHasItsShareTakesNothingThatIsBusy) {
  std::vector<ConnectionState> open;
  Add(open, "a", 4, milliseconds(0));
  Add(open, "b", 8, milliseconds(0));
  EXPECT_EQ(FindConnectionToClose(open, "a"), std::nullopt);
  open[2].idle = seconds(11);
  EXPECT_EQ(FindConnectionToClose(open, "a"), 2);
}

// One address floods, others come and go: each of them gets in, and the flood has what is left.
TEST(ConnectionTableTest, AFloodFromOneAddressShutsOutNoOther) {
  std::vector<ConnectionState> open;
  Add(open, "flood", 100, milliseconds(0));
  for (int i = 0; i < 40; ++i) {
    const std::string address = "caller" + std::to_string(i % 4);
    const std::optional<int> closed = FindConnectionToClose(open, address);
    ASSERT_TRUE(closed.has_value()) << i;
    EXPECT_EQ(open[*closed].address, "flood");
    open[*closed].address = address;
    EXPECT_EQ(FindConnectionToClose(open, "flood"), std::nullopt);
  }
}

TEST(ConnectionTableTest, ThereMayBeNone) {
  EXPECT_EQ(FindConnectionToClose({}, "a"), std::nullopt);
}

TEST(ConnectionTableTest, ConnectionsAreIdleFromABoundOn) {
  for (const bool is_silent : {false, true}) {
    const milliseconds bound = is_silent ? kConnectionSilenceMin : kConnectionIdleMin;
    std::vector<ConnectionState> open;
    Add(open, "a", 1, bound - milliseconds(1), is_silent);
    EXPECT_EQ(FindConnectionToClose(open, "a"), std::nullopt) << is_silent;
    open[0].idle = bound;
    EXPECT_EQ(FindConnectionToClose(open, "a"), 0) << is_silent;
  }
}

// Two addresses and one that may come: of six connections each has a share of two.
TEST(ConnectionTableTest, AShareIsThatOfOneMoreAddressThanThereAre) {
  for (const bool is_last_by_name : {false, true}) {
    const std::string greedy = is_last_by_name ? "z" : "a";
    std::vector<ConnectionState> open;
    Add(open, "m", 1, milliseconds(0));
    Add(open, greedy, 4, milliseconds(0));
    EXPECT_EQ(FindConnectionToClose(open, "m"), std::nullopt);
    Add(open, greedy, 1, milliseconds(9));
    EXPECT_EQ(FindConnectionToClose(open, "m"), 5);
    EXPECT_EQ(FindConnectionToClose(open, greedy), std::nullopt);
    // With two of its own it has its share, until there are nine.
    Add(open, "m", 1, milliseconds(0));
    EXPECT_EQ(FindConnectionToClose(open, "m"), std::nullopt);
    Add(open, greedy, 1, milliseconds(0));
    EXPECT_EQ(FindConnectionToClose(open, "m"), std::nullopt);
    Add(open, greedy, 1, milliseconds(0));
    EXPECT_EQ(FindConnectionToClose(open, "m"), 5);
  }
}

}  // namespace
}  // namespace gridfold::server
