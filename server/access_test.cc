// Tokens over real sockets: who may call what, as whom, and how much.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "gridfold/v1/server_service.grpc.pb.h"
#include "server/base/error_reason.h"
#include "server/tenants/access_tokens.h"
#include "server/testing/http_exchange.h"
#include "server/testing/metrics_text.h"
#include "server/testing/secure_server.h"
#include "server/testing/waiting.h"

namespace gridfold::server {
namespace {

std::string TokenEntry(const std::string& token, const std::string& rest) {
  const TokenHash hash = HashOfToken(token);
  return absl::StrCat(R"({"sha256": ")",
                      absl::BytesToHexString(absl::string_view(
                          reinterpret_cast<const char*>(hash.data()), hash.size())),
                      R"(", )", rest, "}");
}

class AccessTest : public SecureServerTest {
 protected:
  void SetUp() override {
    WriteTokens();
    StartServer({.token_file = folder_.Path("tokens.json")});
    channel_ = ConnectInTheClear();
    arrays_ = v1::ArrayService::NewStub(channel_);
    server_service_ = v1::ServerService::NewStub(channel_);
  }

  void WriteTokens(uint64_t resident_bytes_of_a = 4096) {
    folder_.Write(
        "tokens.json",
        absl::StrCat(R"({"tokens": [)", TokenEntry("token-a", R"("tenant": "a")"), ",",
                     TokenEntry("token-b", R"("tenant": "b")"), ",",
                     TokenEntry("token-c", R"("tenant": "c")"), ",",
                     TokenEntry("token-admin", R"("tenant": "ops", "admin": true)"),
                     R"(], "tenants": {"a": {"resident_bytes": )", resident_bytes_of_a, R"(},
                                                 "b": {"bytes_per_second": 1000},
                                                 "c": {"requests_in_flight": 1}}})"));
  }

  // What a call of the RPC without fields in its request is told.
  template <class Service, class Request, class Response>
  static grpc::Status Call(Service& service,
                           grpc::Status (Service::*rpc)(grpc::ClientContext*, const Request&,
                                                        Response*),
                           const std::string& token, const Request& request = {}) {
    grpc::ClientContext context;
    if (!token.empty()) context.AddMetadata("authorization", "Bearer " + token);
    Response response;
    return (service.*rpc)(&context, request, &response);
  }
  grpc::Status Create(const std::string& token, const std::string& name, uint64_t bytes) {
    v1::CreateArrayRequest request;
    request.set_name(name);
    request.set_element_type(v1::ELEMENT_TYPE_INT8);
    request.add_shape(bytes);
    return Call(*arrays_, &v1::ArrayService::Stub::CreateArray, token, request);
  }
  grpc::Status Get(const std::string& token, const std::string& name) {
    v1::GetArrayRequest request;
    request.set_name(name);
    return Call(*arrays_, &v1::ArrayService::Stub::GetArray, token, request);
  }

  grpc::Status Delete(const std::string& token, const std::string& name) {
    v1::DeleteArrayRequest request;
    request.set_name(name);
    return Call(*arrays_, &v1::ArrayService::Stub::DeleteArray, token, request);
  }
  // A place is free as soon as gRPC has sent the answer, or noticed that nobody wants one.
  void WaitUntilAdmitted(const std::string& token) {
    while (!Reduce(channel_, token).ok()) std::this_thread::yield();
  }

  double Metric(const std::string& series) const {
    return ParseMetrics(HttpGet(server_->metrics_port().value(), "/metrics").body).Value(series);
  }

  static void ExpectError(const grpc::Status& status, grpc::StatusCode code, const char* reason) {
    EXPECT_EQ(status.error_code(), code) << status.error_message();
    EXPECT_EQ(DecodeDetails(status).reason(), reason);
  }
  static void ExpectUnauthenticated(const grpc::Status& status) {
    ExpectError(status, grpc::StatusCode::UNAUTHENTICATED, kReasonUnauthenticated);
  }

  std::shared_ptr<grpc::Channel> channel_;
  std::unique_ptr<v1::ArrayService::Stub> arrays_;
  std::unique_ptr<v1::ServerService::Stub> server_service_;
};

TEST_F(AccessTest, EveryRpcWantsAGoodToken) {
  for (const char* const method :
       {"ComputeService/ReduceArray",      "ComputeService/ScanArray",
        "ComputeService/ComputeHistogram", "ComputeService/MergeAccumulators",
        "ComputeService/BatchCompute",     "ComputeService/ReduceByKey",
        "ComputeService/ReduceStream",     "ComputeService/HistogramStream",
        "ComputeService/ScanStream",       "ComputeService/ReduceByKeyStream",
        "ArrayService/CreateArray",        "ArrayService/WriteArray",
        "ArrayService/ReadArray",          "ArrayService/GetArray",
        "ArrayService/ListArrays",         "ArrayService/DeleteArray",
        "RegionService/RegisterRegion",    "RegionService/UnregisterRegion",
        "RegionService/ListRegions",       "ServerService/GetServerInfo",
        "ServerService/GetStatistics",     "ComputeService/SubtractAccumulators",
        "ComputeService/RelateArrays"}) {
    SCOPED_TRACE(method);
    ExpectUnauthenticated(CallRaw(channel_, absl::StrCat("/gridfold.v1.", method), "").status);
  }
  ExpectUnauthenticated(Reduce(channel_, "token-x"));
  ExpectUnauthenticated(Reduce(channel_, "token-a1"));
  ExpectUnauthenticated(Reduce(channel_, "", "a"));
  EXPECT_TRUE(Reduce(channel_, "token-a").ok());
}

TEST_F(AccessTest, HealthIsForEverybody) {
  EXPECT_TRUE(CallRaw(channel_, "/grpc.health.v1.Health/Check", "").status.ok());
}

TEST_F(AccessTest, OtherWordsInPlaceOfAToken) {
  for (const char* const value : {"", "token-a", "Basic token-a", "Bearer", "Bearer "}) {
    grpc::ClientContext context;
    context.AddMetadata("authorization", value);
    v1::GetServerInfoResponse info;
    ExpectUnauthenticated(server_service_->GetServerInfo(&context, {}, &info));
  }
  grpc::ClientContext context;
  context.AddMetadata("authorization", "bearer token-a");
  v1::GetServerInfoResponse info;
  EXPECT_TRUE(server_service_->GetServerInfo(&context, {}, &info).ok());
}

TEST_F(AccessTest, TheTenantIsTheTokens) {
  ASSERT_TRUE(Create("token-a", "x", 100).ok());
  EXPECT_TRUE(Get("token-a", "x").ok());
  ExpectError(Get("token-b", "x"), grpc::StatusCode::NOT_FOUND, kReasonArrayNotFound);
  ExpectError(Reduce(channel_, "token-b", "a"), grpc::StatusCode::PERMISSION_DENIED,
              kReasonPermissionDenied);
  EXPECT_TRUE(Reduce(channel_, "token-a", "a").ok());
}

TEST_F(AccessTest, StatisticsAreForAdministrators) {
  ExpectError(Call(*server_service_, &v1::ServerService::Stub::GetStatistics, "token-a"),
              grpc::StatusCode::PERMISSION_DENIED, kReasonPermissionDenied);
  EXPECT_TRUE(Call(*server_service_, &v1::ServerService::Stub::GetStatistics, "token-admin").ok());
  EXPECT_TRUE(Call(*server_service_, &v1::ServerService::Stub::GetServerInfo, "token-a").ok());
}

TEST_F(AccessTest, ATenantHasNoMoreRequestsInFlightThanItMay) {
  Gate gate;
  engine_.on_run = [&](std::stop_token stop) { return gate.Pass(std::move(stop)); };
  grpc::Status first;
  std::thread call([&] { first = Reduce(channel_, "token-c"); });
  gate.WaitForArrivals(1);
  const grpc::Status second = Reduce(channel_, "token-c");
  ExpectError(second, grpc::StatusCode::RESOURCE_EXHAUSTED, kReasonTenantQuota);
  EXPECT_TRUE(DecodeDetails(second).retry_info.has_value());
  gate.Open();
  EXPECT_TRUE(Reduce(channel_, "token-b").ok());
  call.join();
  EXPECT_TRUE(first.ok());
  WaitUntilAdmitted("token-c");
}

TEST_F(AccessTest, CallsThatAreCancelledGiveTheirPlacesBack) {
  Gate gate;
  engine_.on_run = [&](std::stop_token stop) { return gate.Pass(std::move(stop)); };
  grpc::ClientContext context;
  context.AddMetadata("authorization", "Bearer token-c");
  std::thread call([&] {
    v1::ReduceArrayResponse response;
    const grpc::Status status =
        v1::ComputeService::NewStub(channel_)->ReduceArray(&context, SmallReduction(), &response);
    EXPECT_EQ(status.error_code(), grpc::StatusCode::CANCELLED);
  });
  gate.WaitForArrivals(1);
  context.TryCancel();
  call.join();
  gate.Open();
  WaitUntilAdmitted("token-c");
}

TEST_F(AccessTest, ATenantSendsNoMoreBytesASecondThanItMay) {
  v1::ReduceArrayRequest request = SmallReduction();
  *request.mutable_array() = ArrayOf<int8_t>(v1::ELEMENT_TYPE_INT8, std::vector<int8_t>(50'000));
  const auto compute = v1::ComputeService::NewStub(channel_);
  EXPECT_TRUE(Call(*compute, &v1::ComputeService::Stub::ReduceArray, "token-b", request).ok());
  const grpc::Status refused = Reduce(channel_, "token-b");
  ExpectError(refused, grpc::StatusCode::RESOURCE_EXHAUSTED, kReasonTenantQuota);
  const ErrorDetails details = DecodeDetails(refused);
  ASSERT_TRUE(details.retry_info.has_value());
  EXPECT_GE(details.retry_info->retry_delay().seconds(), 1);
  EXPECT_TRUE(Reduce(channel_, "token-a").ok());
}

TEST_F(AccessTest, ATenantsArraysTakeNoMoreThanTheyMay) {
  EXPECT_TRUE(Create("token-a", "x", 2000).ok());
  ExpectError(Create("token-a", "y", 3000), grpc::StatusCode::RESOURCE_EXHAUSTED,
              kReasonArrayQuota);
  ExpectError(Create("token-a", "y", 5000), grpc::StatusCode::RESOURCE_EXHAUSTED,
              kReasonArrayQuota);
  EXPECT_TRUE(Create("token-c", "y", 500'000).ok());
}

TEST_F(AccessTest, ALimitThatShrinksHoldsAtOnceAndTakesNothingAway) {
  ASSERT_TRUE(Create("token-a", "x", 3000).ok());
  WriteTokens(/*resident_bytes_of_a=*/1000);
  while (Create("token-a", "y", 100).ok()) {
    ASSERT_TRUE(Delete("token-a", "y").ok());
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
  ExpectError(Create("token-a", "y", 100), grpc::StatusCode::RESOURCE_EXHAUSTED, kReasonArrayQuota);
  EXPECT_TRUE(Get("token-a", "x").ok());
  ASSERT_TRUE(Delete("token-a", "x").ok());
  EXPECT_TRUE(Create("token-a", "y", 100).ok());
}

TEST_F(AccessTest, AChangedFileIsUsedAndABadOneIsNot) {
  folder_.Write("tokens.json", "{");
  std::this_thread::sleep_for(2 * kFileCheckInterval);
  EXPECT_TRUE(Reduce(channel_, "token-a").ok());
  folder_.Write("tokens.json",
                absl::StrCat(R"({"tokens": [)", TokenEntry("token-new", R"("tenant": "a")"), "]}"));
  while (!Reduce(channel_, "token-new").ok()) {
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
  ExpectUnauthenticated(Reduce(channel_, "token-a"));
  // Of the bad one there was at least one look, and of the good one none came to anything more.
  WaitFor([&] { return Metric("gridfold_reloads_total{what=\"tokens\"}") == 1; });
  EXPECT_GE(Metric("gridfold_reload_failures_total{what=\"tokens\"}"), 1);
}

TEST_F(AccessTest, WhoeverIsTurnedAwayIsCountedByTheReason) {
  const std::vector<std::pair<std::string, std::string>> lines = {
      {"no_token", "1"},     {"malformed_token", "2"}, {"unknown_token", "3"},
      {"wrong_tenant", "4"}, {"not_admin", "5"},       {"quota", "0"}};
  (void)Reduce(channel_);
  for (const char* const value : {"token-a", "Basic token-a"}) {
    grpc::ClientContext context;
    context.AddMetadata("authorization", value);
    v1::GetServerInfoResponse info;
    ExpectUnauthenticated(server_service_->GetServerInfo(&context, {}, &info));
  }
  for (int i = 0; i < 3; ++i) (void)Reduce(channel_, "token-x");
  for (int i = 0; i < 4; ++i) (void)Reduce(channel_, "token-b", "a");
  for (int i = 0; i < 5; ++i) {
    (void)Call(*server_service_, &v1::ServerService::Stub::GetStatistics, "token-a");
  }
  const std::string page = HttpGet(server_->metrics_port().value(), "/metrics").body;
  for (const auto& [reason, count] : lines) {
    EXPECT_THAT(page, testing::HasSubstr(absl::StrCat("gridfold_callers_refused_total{reason=\"",
                                                      reason, "\"} ", count, "\n")));
  }
}

TEST_F(AccessTest, AFileThatIsNotThereIsAnError) {
  EXPECT_EQ(AccessTokens::Load("/nowhere/tokens.json").status().code(),
            absl::StatusCode::kNotFound);
}

}  // namespace
}  // namespace gridfold::server
