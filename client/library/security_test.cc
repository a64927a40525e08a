#include "client/library/security.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace gridfold::client {
namespace {

using testing::HasSubstr;

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
