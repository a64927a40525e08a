// `gridfold watch` against a fake server that counts jobs.
#include "client/command_line/exit_code.h"
#include "client/command_line/program_test_fixture.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "nlohmann/json.hpp"

namespace gridfold::client {
namespace {

using testing::HasSubstr;

TEST_F(ProgramTest, WatchTellsWhatHappensBetweenTwoLooks) {
  int looks = 0;
  server_.on_statistics = [&](grpc::ServerContext&, const v1::GetStatisticsRequest&,
                              v1::GetStatisticsResponse& response) {
    ++looks;
    response.set_jobs_succeeded(looks * 1000);
    response.set_jobs_refused(7);
    response.mutable_uptime()->set_seconds(looks);
    response.set_lanes_busy(3);
    response.set_lane_count(4);
    return grpc::Status::OK;
  };
  server_.on_info = [](grpc::ServerContext&, const v1::GetServerInfoRequest&,
                       v1::GetServerInfoResponse& response) {
    response.set_version("1.2.3");
    response.set_engine("cpu");
    return grpc::Status::OK;
  };
  EXPECT_EQ(Run({"watch", "--once", "--interval", "0.1"}), ExitCode::kSuccess);
  EXPECT_EQ(looks, 2);
  EXPECT_THAT(out_.str(), HasSubstr("gridfold 1.2.3 | cpu | SERVING\n"));
  EXPECT_THAT(out_.str(), HasSubstr("jobs      2,000 answered, 0 failed, 7 refused"));
  // 1,000 jobs in a tenth of a second, and what two calls take.
  EXPECT_THAT(out_.str(), testing::ContainsRegex("answered  [1-9][0-9]{2,3}/s [|] "));
  EXPECT_THAT(out_.str(), HasSubstr("refused   0.0/s | failed 0.0/s"));
  EXPECT_THAT(out_.str(), HasSubstr("[##################      ] 3 of 4 busy"));
  EXPECT_EQ(Run({"watch", "--interval", "0.1", "--json"}), ExitCode::kSuccess);
  EXPECT_EQ(nlohmann::json::parse(out_.str())["statistics"]["jobs_succeeded"], 4000);
  EXPECT_EQ(Run({"watch", "--interval", "0"}), ExitCode::kUsage);
}

}  // namespace
}  // namespace gridfold::client
