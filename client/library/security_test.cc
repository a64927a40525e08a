#include "client/library/security.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace gridfold::client {
namespace {

using testing::HasSubstr;

TEST(LocalTargetTest, StaysOnThisMachine) {
  for (const char* target :
       {"localhost:50051", "localhost", "127.0.0.1:1", "127.1.2.3", "[::1]:50051",
        "unix:/tmp/socket", "unix-abstract:name", "dns:///localhost:50051", "dns:localhost:50051",
        "ipv4:127.0.0.1:1", "ipv4:127.0.0.1:1,127.0.0.2:1", "ipv6:[::1]:1"}) {
    EXPECT_TRUE(IsLocalTarget(target)) << target;
  }
}

TEST(LocalTargetTest, LeavesThisMachine) {
  for (const char* target :
       {"server:50051", "10.0.0.1:50051", "localhost.example.org:1", "127.0.0.1.example.org:1",
        "127.example:1", "[::2]:1", "dns:///server:1", "dns://127.0.0.1/server:1",
        "ipv4:127.0.0.1:1,10.0.0.1:1", "xds:///localhost", ""}) {
    EXPECT_FALSE(IsLocalTarget(target)) << target;
  }
}

std::string WhatIsWrong(const ClientOptions& options) {
  return std::string(CheckSecurity(options).message());
}

TEST(SecurityTest, ATokenIsNotSentInTheClear) {
  EXPECT_THAT(WhatIsWrong({.target = "server:1", .token = "secret"}), HasSubstr("token:"));
  EXPECT_EQ(WhatIsWrong({.target = "localhost:1", .token = "secret"}), "");
  EXPECT_EQ(WhatIsWrong({.target = "server:1", .tls = TlsOptions{}, .token = "secret"}), "");
}

TEST(SecurityTest, ErrorsNameTheOptionAndNotTheSecret) {
  const std::string error = WhatIsWrong({.target = "localhost:1", .token = "se cret\n"});
  EXPECT_THAT(error, HasSubstr("token:"));
  EXPECT_THAT(error, testing::Not(HasSubstr("cret")));
  EXPECT_THAT(WhatIsWrong({.tls = TlsOptions{.certificate_file = "a"}}),
              HasSubstr("tls.certificate_file"));
  EXPECT_THAT(WhatIsWrong({.token = "secret", .credentials = grpc::InsecureChannelCredentials()}),
              HasSubstr("credentials:"));
  for (const char* const unreadable : {"/nowhere", "/tmp", "/dev/null"}) {
    EXPECT_THAT(
        std::string(MakeCredentials({.tls = TlsOptions{.ca_file = unreadable}}).status().message()),
        HasSubstr("tls.ca_file"))
        << unreadable;
  }
}

}  // namespace
}  // namespace gridfold::client
