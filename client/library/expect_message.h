// Messages compared with Protobuf's text format, whole: a field too many is a failure as well. For
// tests.
#ifndef GRIDFOLD_CLIENT_LIBRARY_EXPECT_MESSAGE_H_
#define GRIDFOLD_CLIENT_LIBRARY_EXPECT_MESSAGE_H_

#include <string>

#include "google/protobuf/text_format.h"
#include "gtest/gtest.h"

namespace gridfold::client {

template <typename Message>
void ExpectMessage(const Message& actual, const std::string& text) {
  Message expected;
  ASSERT_TRUE(google::protobuf::TextFormat::ParseFromString(text, &expected)) << text;
  EXPECT_EQ(actual.DebugString(), expected.DebugString());
}

}  // namespace gridfold::client

#endif  // GRIDFOLD_CLIENT_LIBRARY_EXPECT_MESSAGE_H_
