// What is offered for a name that nobody knows.
#include "client/command_line/arguments/suggestion.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace gridfold::client {
namespace {

const std::vector<std::string> kNames = {"mean", "variance", "standard_deviation", "l1_norm",
                                         "max"};

TEST(SuggestionTest, ALetterOfThreeMayBeWrong) {
  EXPECT_EQ(DidYouMean("meen", kNames), "; did you mean mean?");
  EXPECT_EQ(DidYouMean("meez", kNames), "");
  EXPECT_EQ(DidYouMean("maen", kNames), "; did you mean mean?");  // Swapped.
  EXPECT_EQ(DidYouMean("varance", kNames), "; did you mean variance?");
  EXPECT_EQ(DidYouMean("varriance", kNames), "; did you mean variance?");
  EXPECT_EQ(DidYouMean("vaxiaxce", kNames), "; did you mean variance?");
  EXPECT_EQ(DidYouMean("vaxxaxce", kNames), "");
  EXPECT_EQ(DidYouMean("xxx", kNames), "");
  EXPECT_EQ(DidYouMean("MAX", kNames), "; did you mean max?");
  EXPECT_EQ(DidYouMean("", kNames), "");
  EXPECT_EQ(DidYouMean("mean", std::vector<std::string>{}), "");
}

TEST(SuggestionTest, WhatBeginsANameIsIt) {
  EXPECT_EQ(DidYouMean("stan", kNames), "; did you mean standard_deviation?");
  EXPECT_EQ(DidYouMean("l1", kNames), "; did you mean l1_norm?");
  EXPECT_EQ(DidYouMean("s", kNames), "");
}

TEST(SuggestionTest, TheNearestIsOffered) {
  EXPECT_EQ(DidYouMean("abcdefx", std::vector<std::string>{"abcdxyx", "abcdefg", "abcdefh"}),
            "; did you mean abcdefg?");
}

TEST(SuggestionTest, AllAreNamed) {
  EXPECT_EQ(NoneOf("maz", std::vector<std::string>{"min", "max"}),
            "'maz' is none of min, max; did you mean max?");
  EXPECT_EQ(NoneOf("sum", std::vector<std::string>{"a", "b"}), "'sum' is none of a, b");
}

}  // namespace
}  // namespace gridfold::client
