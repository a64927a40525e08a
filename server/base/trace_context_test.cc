#include "server/base/trace_context.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace gridfold::server {
namespace {

// The example of W3C Trace Context, section 3.2.3.
constexpr char kExample[] = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01";

TEST(TraceContextTest, TheStandardsExample) {
  const TraceContext trace = ParseTraceparent(kExample);
  EXPECT_EQ(trace.trace_id, "4bf92f3577b34da6a3ce929d0e0e4736");
  EXPECT_EQ(trace.parent_id, "00f067aa0ba902b7");
}

TEST(TraceContextTest, AVersionToComeMayHaveMoreBehindIt) {
  std::string later = kExample;
  later.replace(0, 2, "cc");
  EXPECT_NE(ParseTraceparent(later).trace_id, "");
  EXPECT_NE(ParseTraceparent(later + "-what-comes-then").trace_id, "");
  EXPECT_EQ(ParseTraceparent(later + ".what-comes-then").trace_id, "");
}

TEST(TraceContextTest, WhatIsNotWellFormedIsNone) {
  const std::string good = kExample;
  const std::vector<std::string> all_bad = {
      "",
      "00",
      good.substr(1),
      good + "-00",
      good + "0",
      "ff" + good.substr(2),
      "0G" + good.substr(2),
      good.substr(0, 53) + "0x",
      "00-00000000000000000000000000000000-00f067aa0ba902b7-01",
      "00-4bf92f3577b34da6a3ce929d0e0e4736-0000000000000000-01",
      "00-4BF92F3577B34DA6A3CE929D0E0E4736-00f067aa0ba902b7-01",
      "00_4bf92f3577b34da6a3ce929d0e0e4736_00f067aa0ba902b7_01",
      std::string(16000, '0')};
  for (const std::string& bad : all_bad) {
    EXPECT_EQ(ParseTraceparent(bad).trace_id, "") << bad;
    EXPECT_EQ(ParseTraceparent(bad).parent_id, "") << bad;
  }
  // Every byte counts.
  for (size_t i = 0; i < good.size(); ++i) {
    std::string bad = good;
    bad[i] = '\n';
    EXPECT_EQ(ParseTraceparent(bad).trace_id, "") << i;
  }
}

}  // namespace
}  // namespace gridfold::server
