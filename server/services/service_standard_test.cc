// The services that every gRPC tool expects: health, reflection; and what the server tells of
// itself.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <thread>

#include "server/base/version.h"
#include "server/testing/fake_engine.h"
#include "server/testing/test_server.h"

namespace gridfold::server {
namespace {

using testing::HasSubstr;

constexpr char kHealthWatch[] = "/grpc.health.v1.Health/Watch";
constexpr char kHealthCheck[] = "/grpc.health.v1.Health/Check";

// grpc.health.v1.HealthCheckRequest{service: name}, and HealthCheckResponse{status: ...}.
std::string HealthRequest(const std::string& name) {
  if (name.empty()) return "";
  return std::string("\x0A") + static_cast<char>(name.size()) + name;
}
const std::string kServing("\x08\x01");
const std::string kNotServing("\x08\x02");

class StandardServicesTest : public testing::Test {
 protected:
  std::string Check(const std::string& service) {
    const RawAnswer answer = CallRaw(server_.channel(), kHealthCheck, HealthRequest(service));
    return answer.status.ok() ? answer.message : answer.status.error_message();
  }

  FakeEngine engine_;
  TestServer server_{engine_};
};

TEST_F(StandardServicesTest, HealthOfTheServerAndOfEachService) {
  EXPECT_EQ(Check(""), kServing);
  EXPECT_EQ(Check("gridfold.v1.ComputeService"), kServing);
  EXPECT_EQ(Check("gridfold.v1.ArrayService"), kServing);
  EXPECT_EQ(Check("gridfold.v1.RegionService"), kServing);
  EXPECT_EQ(Check("gridfold.v1.ServerService"), kServing);
  EXPECT_NE(Check("gridfold.v1.NoSuchService"), kServing);
}

TEST_F(StandardServicesTest, WatchersHearOfADrainBeforeTheServerStops) {
  Gate gate;
  engine_.on_run = [&](std::stop_token stop) { return gate.Pass(std::move(stop)); };
  RawStream watch(server_.channel(), kHealthWatch);
  watch.Write(HealthRequest("gridfold.v1.ComputeService"));
  EXPECT_EQ(watch.Read(), kServing);
  grpc::Status answer;
  std::thread call([&] {
    grpc::ClientContext context;
    v1::ReduceArrayResponse response;
    answer = server_.compute().ReduceArray(&context, SmallReduction(), &response);
  });
  gate.WaitForArrivals(1);
  std::thread drain([&] { EXPECT_TRUE(server_.server().Drain(std::chrono::hours(1)).ok()); });
  EXPECT_EQ(watch.Read(), kNotServing);
  EXPECT_EQ(Check(""), kNotServing);
  gate.Open();
  call.join();
  EXPECT_TRUE(answer.ok()) << answer.error_message();
  drain.join();
  EXPECT_EQ(watch.Read(), std::nullopt);
}

TEST_F(StandardServicesTest, HealthFollowsTheEngine) {
  RawStream watch(server_.channel(), kHealthWatch);
  watch.Write("");
  EXPECT_EQ(watch.Read(), kServing);
  engine_.on_run = [this](std::stop_token) {
    engine_.healthy = false;
    return absl::InternalError("the device is lost");
  };
  grpc::ClientContext context;
  v1::ReduceArrayResponse response;
  EXPECT_EQ(server_.compute().ReduceArray(&context, SmallReduction(), &response).error_code(),
            grpc::StatusCode::INTERNAL);
  EXPECT_EQ(watch.Read(), kNotServing);
  EXPECT_EQ(Check("gridfold.v1.ComputeService"), kNotServing);
}

TEST_F(StandardServicesTest, ReflectionListsTheServices) {
  RawStream stream(server_.channel(),
                   "/grpc.reflection.v1alpha.ServerReflection/ServerReflectionInfo");
  stream.Write(std::string("\x3A\x00", 2));  // ServerReflectionRequest{list_services: ""}
  const std::string services = stream.Read().value_or("");
  EXPECT_THAT(services, HasSubstr("gridfold.v1.ComputeService"));
  EXPECT_THAT(services, HasSubstr("gridfold.v1.ArrayService"));
  EXPECT_THAT(services, HasSubstr("gridfold.v1.RegionService"));
  EXPECT_THAT(services, HasSubstr("gridfold.v1.ServerService"));
  EXPECT_THAT(services, HasSubstr("grpc.health.v1.Health"));
}

TEST_F(StandardServicesTest, TellsWhatItIs) {
  grpc::ClientContext context;
  v1::GetServerInfoResponse info;
  ASSERT_TRUE(server_.server_service().GetServerInfo(&context, {}, &info).ok());
  EXPECT_EQ(info.version(), Version());
  EXPECT_EQ(info.engine(), "fake");
  ASSERT_EQ(info.devices_size(), 1);
  EXPECT_EQ(info.devices(0).name(), "fake device");
  EXPECT_EQ(info.limits().message_bytes_max(), Limits{}.message_bytes_max);
  EXPECT_EQ(info.limits().lane_count(), Limits{}.lane_count);
  EXPECT_EQ(info.limits().stream_count_max(), Limits{}.stream_count_max);
  EXPECT_EQ(info.limits().stream_pending_bytes_max(), kStreamPendingBytes);
  EXPECT_EQ(info.limits().batch_operations_max(), Limits{}.batch_operations_max);
  const v1::GetStatisticsResponse statistics = server_.GetStatistics();
  EXPECT_GT(statistics.uptime().nanos(), 0);
  EXPECT_EQ(statistics.jobs_accepted(), 0u);
}

TEST(ServerStartTest, APortThatIsTakenIsAnError) {
  FakeEngine engine;
  TestServer first(engine);
  const auto second =
      Server::Start({&engine}, "127.0.0.1:" + std::to_string(first.server().port()), Limits{});
  ASSERT_FALSE(second.ok());
  EXPECT_THAT(std::string(second.status().message()), HasSubstr("cannot listen"));
}

}  // namespace
}  // namespace gridfold::server
