#include "server/tenants/token_table.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "server/base/error_reason.h"
#include "server/base/fixed_limits.h"
#include "server/tenants/tenant_quota.h"

namespace gridfold::server {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;
using testing::HasSubstr;
using testing::Not;

// What sha256sum says of "abc" (FIPS 180-2, appendix B.1).
constexpr char kHashOfAbc[] = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad";
// And of an empty file.
constexpr char kHashOfNothing[] =
    "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855";

TEST(TokenTableTest, SaysWhatTokensStandFor) {
  const auto table = ParseTokenTable(
      absl::StrCat(R"({"tokens": [{"sha256": ")", kHashOfAbc, R"(", "tenant": "a/b"},
                     {"sha256": ")",
                   std::string(64, '0'),
                   R"(", "tenant": "ops", "priority": "low", "admin": true}],
          "tenants": {"a/b": {"requests_in_flight": 3, "bytes_per_second": 1000}}})"));
  ASSERT_TRUE(table.ok()) << table.status();
  ASSERT_EQ(table->tokens.size(), 2u);
  EXPECT_EQ(table->tokens[0].hash, HashOfToken("abc"));
  EXPECT_EQ(table->tokens[0].grant.tenant, "a/b");
  EXPECT_EQ(table->tokens[0].grant.priority_max, Priority::kHigh);
  EXPECT_FALSE(table->tokens[0].grant.is_admin);
  EXPECT_EQ(table->tokens[1].grant.priority_max, Priority::kLow);
  EXPECT_TRUE(table->tokens[1].grant.is_admin);
  EXPECT_EQ(table->limits.at("a/b").requests_in_flight, 3u);
  EXPECT_EQ(table->limits.at("a/b").bytes_per_second, 1000u);
  EXPECT_EQ(table->limits.at("a/b").resident_bytes, 0u);
}

TEST(TokenTableTest, ErrorsNameTheFieldAndRepeatNothing) {
  const auto error = [](const std::string& json) {
    const absl::Status status = ParseTokenTable(json).status();
    EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument) << json;
    EXPECT_THAT(std::string(status.message()), Not(HasSubstr("secret")));
    return std::string(status.message());
  };
  const auto of_token = [&](const std::string& fields) {
    return error(absl::StrCat(R"({"tokens": [{)", fields, "}]}"));
  };
  const std::string good = absl::StrCat(R"("sha256": ")", kHashOfAbc, R"(", "tenant": "a")");
  const auto of_tenants = [&](const std::string& tenants) {
    return error(absl::StrCat(R"({"tokens": [{)", good, R"(}], "tenants": )", tenants, "}"));
  };
  EXPECT_EQ(error("secret"), "is not JSON");
  EXPECT_THAT(error("[1]"), HasSubstr("file: "));
  EXPECT_THAT(error(R"({"tokens": [], "secret": 1})"), HasSubstr("file: "));
  EXPECT_THAT(error("{}"), HasSubstr("tokens: "));
  EXPECT_THAT(error(R"({"tokens": []})"), HasSubstr("tokens: "));
  EXPECT_THAT(error(R"({"tokens": ["secret"]})"), HasSubstr("tokens[0]: "));
  EXPECT_THAT(of_token(R"("tenant": "a")"), HasSubstr("tokens[0].sha256: "));
  EXPECT_THAT(of_token(R"("sha256": "secret", "tenant": "a")"), HasSubstr("tokens[0].sha256: "));
  EXPECT_THAT(of_token(R"("sha256": 5, "tenant": "a")"), HasSubstr("tokens[0].sha256: "));
  EXPECT_EQ(of_token(absl::StrCat(R"("tenant": "a", "sha256": ")", std::string(63, '0'), R"(g")")),
            "tokens[0].sha256: is not 64 hexadecimal digits");
  EXPECT_EQ(of_token(absl::StrCat(R"("tenant": "a", "sha256": ")", std::string(62, '0'), R"(")")),
            "tokens[0].sha256: is not 64 hexadecimal digits");
  EXPECT_EQ(of_token(absl::StrCat(R"("tenant": 5, "sha256": ")", kHashOfAbc, R"(")")),
            "tokens[0].tenant: is not a name");
  EXPECT_THAT(of_token(absl::StrCat(R"("tenant": "a b", "sha256": ")", kHashOfAbc, R"(")")),
              HasSubstr("tokens[0].tenant: "));
  EXPECT_THAT(of_token(absl::StrCat(R"("sha256": ")", kHashOfNothing, R"(", "tenant": "a")")),
              HasSubstr("tokens[0].sha256: "));
  EXPECT_THAT(of_token(absl::StrCat(R"("sha256": ")", kHashOfAbc, R"(")")),
              HasSubstr("tokens[0].tenant: "));
  EXPECT_THAT(of_token(good + R"(, "priority": "urgent")"), HasSubstr("tokens[0].priority: "));
  EXPECT_THAT(of_token(good + R"(, "admin": "yes")"), HasSubstr("tokens[0].admin: "));
  EXPECT_THAT(of_token(good + R"(, "secret": 1)"), HasSubstr("tokens[0]: "));
  EXPECT_THAT(error(absl::StrCat(R"({"tokens": [{)", good, "}, {", good, "}]}")),
              HasSubstr("tokens[1].sha256: "));
  EXPECT_THAT(of_tenants("[]"), HasSubstr("tenants: "));
  EXPECT_THAT(of_tenants(R"({"a b": {}})"), HasSubstr("tenants: "));
  EXPECT_THAT(of_tenants(R"({"a": {"bytes_per_second": -1}})"),
              HasSubstr("tenants.a.bytes_per_second: "));
  EXPECT_THAT(of_tenants(R"({"a": {"requests_in_flight": 1.5}})"),
              HasSubstr("tenants.a.requests_in_flight: "));
  EXPECT_EQ(of_tenants(R"({"a": {"resident_bytes": 1125899906842625}})"),
            "tenants.a.resident_bytes: is not a number from 0 to 1125899906842624");
  EXPECT_THAT(of_tenants(R"({"a": 5})"), HasSubstr("tenants.a: is not an object"));
  EXPECT_THAT(of_tenants(R"({"a": {"secret": 5}})"), HasSubstr("tenants.a: has a key"));
  EXPECT_THAT(of_tenants(R"({"a": {"resident_bytes": 9e30}})"),
              HasSubstr("tenants.a.resident_bytes: "));
}

TEST(TokenTableTest, PrioritiesAndLimitsByName) {
  std::string tokens;
  for (const char* const priority : {"low", "normal", "high"}) {
    absl::StrAppend(&tokens, tokens.empty() ? "" : ",", R"({"sha256": ")", std::string(60, 'A'),
                    absl::Hex(tokens.size(), absl::kZeroPad4),
                    R"(", "tenant": "a", "admin": false, "priority": ")", priority, R"("})");
  }
  const auto table = ParseTokenTable(absl::StrCat(R"({"tokens": [)", tokens, R"(], "tenants": {
           "a": {"requests_in_flight": 1, "bytes_per_second": 2, "resident_bytes": 3},
           "b": {"resident_bytes": 1125899906842624}, "c": {}}})"));
  ASSERT_TRUE(table.ok()) << table.status();
  ASSERT_EQ(table->tokens.size(), 3u);
  EXPECT_EQ(table->tokens[0].grant.priority_max, Priority::kLow);
  EXPECT_EQ(table->tokens[1].grant.priority_max, Priority::kNormal);
  EXPECT_EQ(table->tokens[2].grant.priority_max, Priority::kHigh);
  for (const TokenTable::Token& token : table->tokens) EXPECT_FALSE(token.grant.is_admin);
  EXPECT_EQ(table->tokens[0].hash[0], 0xAA);
  ASSERT_EQ(table->limits.size(), 3u);
  EXPECT_EQ(table->limits.at("a").requests_in_flight, 1u);
  EXPECT_EQ(table->limits.at("a").bytes_per_second, 2u);
  EXPECT_EQ(table->limits.at("a").resident_bytes, 3u);
  EXPECT_EQ(table->limits.at("b").resident_bytes, kTenantLimitCeiling);
  EXPECT_EQ(table->limits.at("c").resident_bytes, 0u);
}

TEST(TokenTableTest, HasNoMoreTokensAndTenantsThanThereMayBe) {
  const auto table = [](size_t token_count, size_t tenant_count) {
    std::string tokens;
    for (size_t i = 0; i < token_count; ++i) {
      absl::StrAppend(&tokens, i == 0 ? "" : ",", R"({"tenant": "a", "sha256": ")",
                      std::string(48, '0'), absl::Hex(i, absl::kZeroPad16), R"("})");
    }
    std::string tenants;
    for (size_t i = 0; i < tenant_count; ++i) {
      absl::StrAppend(&tenants, i == 0 ? "" : ",", "\"", i, "\": {}");
    }
    return ParseTokenTable(
        absl::StrCat(R"({"tokens": [)", tokens, R"(], "tenants": {)", tenants, "}}"));
  };
  const auto most = table(kTokenCountMax, kTokenTenantCountMax);
  ASSERT_TRUE(most.ok()) << most.status();
  EXPECT_EQ(most->tokens.size(), kTokenCountMax);
  EXPECT_EQ(most->limits.size(), kTokenTenantCountMax);
  EXPECT_EQ(table(kTokenCountMax + 1, 1).status().message(), "tokens: has more than 1024");
  EXPECT_EQ(table(1, kTokenTenantCountMax + 1).status().message(), "tenants: has more than 1024");
}

class TenantQuotaTest : public testing::Test {
 protected:
  JobClock::time_point now_{std::chrono::hours(1)};
  const std::shared_ptr<TenantQuota> quota_ =
      std::make_shared<TenantQuota>([this] { return now_; });
};

TEST_F(TenantQuotaTest, CallsInFlight) {
  quota_->SetLimits({.requests_in_flight = 2});
  absl::StatusOr<CallPermit> first = quota_->Admit();
  const absl::StatusOr<CallPermit> second = quota_->Admit();
  ASSERT_TRUE(first.ok() && second.ok());
  const absl::Status refused = quota_->Admit().status();
  EXPECT_EQ(refused.code(), absl::StatusCode::kResourceExhausted);
  EXPECT_EQ(ReasonOf(refused), kReasonTenantQuota);
  EXPECT_EQ(RetryDelayOf(refused), kRetryDelay);
  EXPECT_EQ(refused.message(), "the tenant has 2 requests in flight, as many as it may have");
  first->reset();
  EXPECT_TRUE(quota_->Admit().ok());
}

TEST_F(TenantQuotaTest, BytesAreAdmittedAtTheRateInTheLongRun) {
  quota_->SetLimits({.bytes_per_second = 1000});
  // What a second allows at once, and then a call of any size, which is paid for afterwards.
  quota_->Charge(1000);
  EXPECT_TRUE(quota_->Admit().ok());
  quota_->Charge(5000);
  EXPECT_EQ(RetryDelayOf(quota_->Admit().status()), seconds(5));
  EXPECT_EQ(quota_->Admit().status().message(),
            "the tenant has sent more than its 1000 bytes a second");
  now_ += milliseconds(4999);
  EXPECT_FALSE(quota_->Admit().ok());
  now_ += milliseconds(1);
  EXPECT_TRUE(quota_->Admit().ok());
  // A long pause saves no more than a second's.
  now_ += std::chrono::hours(5);
  quota_->Charge(3000);
  EXPECT_EQ(RetryDelayOf(quota_->Admit().status()), seconds(2));
}

TEST_F(TenantQuotaTest, NoDebtIsForEver) {
  quota_->SetLimits({.bytes_per_second = 1});
  for (int i = 0; i < 10; ++i) quota_->Charge(~uint64_t{0});
  EXPECT_EQ(RetryDelayOf(quota_->Admit().status()), kRetryDelayMax);
  now_ += kTenantDebtMax;
  EXPECT_TRUE(quota_->Admit().ok());
}

TEST_F(TenantQuotaTest, NoCallCostsMoreThanTheLargestDebt) {
  quota_->SetLimits({.bytes_per_second = 1});
  quota_->Charge(~uint64_t{0});
  now_ += kTenantDebtMax - milliseconds(1);
  EXPECT_FALSE(quota_->Admit().ok());
  now_ += milliseconds(1);
  EXPECT_TRUE(quota_->Admit().ok());
}

TEST_F(TenantQuotaTest, WhatWasSentWithoutALimitIsNotPaidFor) {
  quota_->Charge(~uint64_t{0});
  quota_->SetLimits({.bytes_per_second = 1});
  EXPECT_TRUE(quota_->Admit().ok());
}

}  // namespace
}  // namespace gridfold::server
