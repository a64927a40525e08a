// The last value that each setting of a load may have, the first that it may not, and what the plan
// then says.

#include <gtest/gtest.h>

#include <map>
#include <string>

#include "client/load/run/load_settings.h"

namespace gridfold::load {
namespace {

std::string SettingsErrorOf(const LoadSettings& settings) {
  const auto plan = MakeLoadPlan(settings);
  return plan.ok() ? "" : std::string(plan.status().message());
}

// Settings as they are described, in one text.
std::string Described(const LoadSettings& settings) {
  const auto plan = MakeLoadPlan(settings);
  if (!plan.ok()) return std::string(plan.status().message());
  std::string text;
  for (const auto& [name, value] : DescribeSettings(*plan)) text += name + "=" + value + " ";
  return text;
}

TEST(SettingsEdgesTest, DefaultsAreThoseOfTheHelp) {
  EXPECT_EQ(Described({}),
            "concurrency=8 duration=10s warm-up=1s connections=4 in-flight-max=4096 timeout=30s "
            "give-up-after=5s verify=sample seed=1 ");
  EXPECT_EQ(Described({{"find-rate", "5ms"}}),
            "rate=100 arrivals=poisson duration=10s warm-up=1s find-rate=5ms connections=4 "
            "in-flight-max=4096 timeout=30s give-up-after=5s verify=sample seed=1 ");
}

TEST(SettingsEdgesTest, EverySettingIsItsOwn) {
  EXPECT_EQ(Described({{"rate", "3,4:5"},
                       {"arrivals", "constant"},
                       {"duration", "6s"},
                       {"warm-up", "7s"},
                       {"count", "8"},
                       {"until-stable", "9%"},
                       {"connections", "10"},
                       {"threads", "11"},
                       {"in-flight-max", "12"},
                       {"timeout", "13s"},
                       {"give-up-after", "14s"},
                       {"verify", "none"},
                       {"seed", "15"}}),
            "rate=3,4:5 arrivals=constant duration=6s warm-up=7s count=8 until-stable=0.09 "
            "connections=10 threads=11 in-flight-max=12 timeout=13s give-up-after=14s verify=none "
            "seed=15 ");
}

TEST(SettingsEdgesTest, NumbersAndTimes) {
  const struct {
    const char* name;
    const char* taken;
    const char* refused;
  } edges[] = {{"count", "1", "0"},
               {"count", "1099511627776", "1099511627777"},
               {"connections", "1", "0"},
               {"connections", "1024", "1025"},
               {"threads", "1", "0"},
               {"threads", "1024", "1025"},
               {"in-flight-max", "1048576", "1048577"},
               {"seed", "0", "-1"},
               {"seed", "18446744073709551615", "18446744073709551616"},
               {"duration", "1ns", "0"},
               {"duration", "8760h", "8760h1s"},
               {"warm-up", "0", "-1s"},
               {"until-stable", "0", "-1%"},
               {"until-stable", "200%", "inf"},
               {"rate", "1e9", "1000000001"},
               {"rate", "0.001", "0"},
               {"concurrency", "4096", "4097"},
               {"concurrency", "1:4096", "1:4097"},
               {"concurrency", "1", "0.9"},
               {"concurrency", "2:1", "2:0.9"}};
  for (const auto& [name, taken, refused] : edges) {
    EXPECT_EQ(SettingsErrorOf({{name, taken}}), "");
    EXPECT_TRUE(SettingsErrorOf({{name, refused}}).starts_with(std::string(name) + ": "))
        << name << "=" << refused << ": " << SettingsErrorOf({{name, refused}});
  }
  EXPECT_EQ(SettingsErrorOf({{"concurrency", "5"}, {"in-flight-max", "5"}}), "");
  EXPECT_NE(SettingsErrorOf({{"concurrency", "6"}, {"in-flight-max", "5"}}), "");
}

TEST(SettingsEdgesTest, SettingsThatExcludeEachOther) {
  EXPECT_EQ(SettingsErrorOf({{"find-rate", "5ms"}, {"rate", "7"}}), "");
  for (const auto& [name, text] : LoadSettings{
           {"concurrency", "1"}, {"count", "1"}, {"until-stable", "1%"}, {"rate", "1:2"}}) {
    EXPECT_NE(SettingsErrorOf({{"find-rate", "5ms"}, {name, text}}), "") << name;
  }
  EXPECT_NE(SettingsErrorOf({{"find-rate", "5ms"}, {"rate", "1,2"}}), "");
}

}  // namespace
}  // namespace gridfold::load
