#include "server/calls/announced_count.h"

#include <gtest/gtest.h>

#include <limits>

#include "kernels/contract/plan_test_util.h"

namespace gridfold::server {
namespace {

using kernels::ExpectInvalid;

TEST(AnnouncedCountTest, WhatIsNotAnnouncedIsNotChecked) {
  AnnouncedCount count;
  EXPECT_TRUE(count.Add(7, 4).ok());
  EXPECT_TRUE(count.CheckEnd(4).ok());
}

TEST(AnnouncedCountTest, FewerElementsThanAnnouncedAreMissedAtTheEnd) {
  AnnouncedCount count;
  ASSERT_TRUE(count.Announce(3).ok());
  for (int i = 0; i < 11; ++i) ASSERT_TRUE(count.Add(1, 4).ok());
  ExpectInvalid(count.CheckEnd(4), "element_count");
  ASSERT_TRUE(count.Add(1, 4).ok());
  EXPECT_TRUE(count.CheckEnd(4).ok());
}

TEST(AnnouncedCountTest, MoreElementsThanAnnouncedAreRefusedAtOnce) {
  AnnouncedCount count;
  ASSERT_TRUE(count.Announce(3).ok());
  EXPECT_TRUE(count.Add(12, 4).ok());
  ExpectInvalid(count.Add(1, 4), "element_count");
}

TEST(AnnouncedCountTest, MayBeAnnouncedAtTheEnd) {
  AnnouncedCount count;
  ASSERT_TRUE(count.Add(12, 4).ok());
  ASSERT_TRUE(count.Announce(3).ok());
  EXPECT_TRUE(count.Add(0, 4).ok());
  EXPECT_TRUE(count.CheckEnd(4).ok());
  AnnouncedCount too_few;
  ASSERT_TRUE(too_few.Add(12, 4).ok());
  ASSERT_TRUE(too_few.Announce(2).ok());
  ExpectInvalid(too_few.Add(0, 4), "element_count");
}

TEST(AnnouncedCountTest, OneMessageMayNotContradictAnother) {
  AnnouncedCount count;
  ASSERT_TRUE(count.Announce(0).ok());
  EXPECT_TRUE(count.Announce(0).ok());
  ExpectInvalid(count.Announce(1), "element_count");
}

TEST(AnnouncedCountTest, AsManyAsCanBeSaid) {
  AnnouncedCount count;
  ASSERT_TRUE(count.Announce(std::numeric_limits<uint64_t>::max()).ok());
  EXPECT_TRUE(count.Add(800, 8).ok());
  ExpectInvalid(count.CheckEnd(8), "element_count");
}

}  // namespace
}  // namespace gridfold::server
