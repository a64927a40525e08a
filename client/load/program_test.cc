// The program against servers that do what no real one should.

#include "client/load/program.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <cstdio>
#include <fstream>
#include <iterator>
#include <sstream>
#include <string>
#include <vector>

#include "absl/time/clock.h"
#include "client/library/fake_server.h"

namespace gridfold::load {
namespace {

using client::ExitCode;
using ::testing::HasSubstr;
using ::testing::Not;

class ProgramTest : public ::testing::Test {
 protected:
  ProgramTest() {
    server_.on_info = [](auto&, auto&, auto&) { return grpc::Status::OK; };
  }

  ExitCode Run(std::vector<std::string> arguments) {
    arguments.insert(arguments.begin(), {"gridfold_load", "--server", server_.target()});
    std::vector<const char*> argv;
    for (const std::string& argument : arguments) argv.push_back(argument.c_str());
    return RunProgram(static_cast<int>(argv.size()), argv.data(), is_interrupted_, nullptr, {}, {},
                      out_, error_);
  }

  // Answers a sum with `value`.
  void AnswerWith(double value) {
    server_.on_reduce = [value](auto&, auto&, v1::ReduceArrayResponse& response) {
      response.set_group_count(1);
      v1::StatisticValues& result = *response.add_results();
      result.set_statistic(v1::STATISTIC_SUM);
      result.mutable_values()->mutable_double_values()->add_values(value);
      return grpc::Status::OK;
    };
  }

  const std::atomic<bool> is_interrupted_ = false;
  client::FakeServer server_;
  std::ostringstream out_;
  std::ostringstream error_;
};

TEST_F(ProgramTest, AReportThatIsNotWrittenIsAnError) {
  AnswerWith(0);
  out_.setstate(std::ios::badbit);  // As of a full disk.
  EXPECT_EQ(Run({"--count", "3", "--warm-up", "0", "--verify", "none"}), ExitCode::kInputOutput);
  EXPECT_THAT(error_.str(), HasSubstr("standard output: cannot be written"));
}

TEST_F(ProgramTest, WrongAnswersEndWithAnError) {
  AnswerWith(0.5);
  EXPECT_EQ(Run({"--count", "30", "--warm-up", "0", "--verify", "all"}), ExitCode::kRequestFailed);
  EXPECT_THAT(out_.str(), HasSubstr("sum is wrong"));
  EXPECT_THAT(error_.str(), HasSubstr("wrong answers"));
}

TEST_F(ProgramTest, AnswersThatNobodyLooksAtAreNotWrong) {
  AnswerWith(0.5);
  EXPECT_EQ(Run({"--count", "30", "--warm-up", "0", "--verify", "none"}), ExitCode::kSuccess);
  EXPECT_THAT(out_.str(), HasSubstr("0 verified"));
}

// Either a scenario's file or options say what is sent; a file's load gives way to the command
// line's, setting by setting, and its kind of loop to another kind.
TEST_F(ProgramTest, OptionsAndTheScenariosFile) {
  AnswerWith(0.5);
  const std::string path = testing::TempDir() + "scenario.json";
  const std::string report = testing::TempDir() + "report.json";
  const auto read = [&report] {
    std::ifstream file(report);
    return std::string(std::istreambuf_iterator<char>(file), {});
  };
  const auto run = [&](const std::string& load, std::vector<std::string> more) {
    std::ofstream(path) << R"({"requests": [{}], "load": {)" << load << "}}";
    std::remove(report.c_str());
    more.insert(more.end(),
                {"--scenario", path, "--warm-up", "0", "--verify", "none", "--json", report});
    return Run(more);
  };
  for (const std::vector<std::string>& option :
       std::vector<std::vector<std::string>>{{"--operation", "reduce"},
                                             {"--type", "int8"},
                                             {"--elements", "5"},
                                             {"--transport", "inline"},
                                             {"--stat", "sum"}}) {
    EXPECT_EQ(run("", option), ExitCode::kUsage) << option[0];
  }
  EXPECT_THAT(error_.str(), HasSubstr("--scenario says what to send"));
  const std::string load = R"("count": "7", "concurrency": "3", "connections": "2")";
  EXPECT_EQ(run(load, {}), ExitCode::kSuccess);
  EXPECT_THAT(read(), HasSubstr(R"("count": "7")"));
  EXPECT_THAT(read(), HasSubstr(R"("concurrency": "3")"));
  EXPECT_EQ(run(load, {"--count", "5", "--rate", "1000"}), ExitCode::kSuccess);
  EXPECT_THAT(read(), HasSubstr(R"("count": "5")"));
  EXPECT_THAT(read(), HasSubstr(R"("rate": "1000")"));
  EXPECT_THAT(read(), HasSubstr(R"("connections": "2")"));
  EXPECT_THAT(read(), Not(HasSubstr("concurrency")));
  EXPECT_EQ(run(R"("rate": "1000", "count": "5")", {"--concurrency", "2"}), ExitCode::kSuccess);
  EXPECT_THAT(read(), Not(HasSubstr(R"("rate": "1000")")));
  std::remove(path.c_str());
  std::remove(report.c_str());
}

TEST_F(ProgramTest, ARunThatCountsNothingSaysSo) {
  AnswerWith(0.5);
  EXPECT_EQ(Run({"--count", "5", "--warm-up", "60s", "--verify", "none"}), ExitCode::kSuccess);
  EXPECT_THAT(out_.str(), HasSubstr("no call was counted"));
}

TEST_F(ProgramTest, ErrorsAreCountedByTheirCode) {
  std::atomic<int> calls = 0;
  server_.on_reduce = [&](auto&, auto&, auto&) {
    return ++calls % 3 == 0 ? grpc::Status(grpc::StatusCode::RESOURCE_EXHAUSTED, "full")
                            : grpc::Status::OK;
  };
  EXPECT_EQ(Run({"--count", "30", "--warm-up", "0", "--verify", "none", "--fail-if", "errors>1%"}),
            ExitCode::kRequestFailed);
  EXPECT_THAT(out_.str(), HasSubstr("RESOURCE_EXHAUSTED"));
  EXPECT_THAT(out_.str(), HasSubstr("10"));
  EXPECT_THAT(error_.str(), HasSubstr("errors>1%"));
}

TEST_F(ProgramTest, AServerThatFallsSilentEndsTheRun) {
  std::atomic<int> calls = 0;
  std::atomic<bool> is_over = false;
  server_.on_reduce = [&](grpc::ServerContext& context, auto&, auto&) {
    if (++calls <= 20) return grpc::Status::OK;
    while (!context.IsCancelled() && !is_over) absl::SleepFor(absl::Milliseconds(10));
    return grpc::Status::CANCELLED;
  };
  for (const char* const loop : {"--concurrency", "--rate"}) {
    calls = 0;
    const absl::Time start = absl::Now();
    EXPECT_EQ(Run({loop, "10", "--warm-up", "0", "--duration", "60s", "--verify", "none",
                   "--give-up-after", "1s"}),
              ExitCode::kUnreachable);
    EXPECT_LT(absl::Now() - start, absl::Seconds(20));
    EXPECT_THAT(out_.str(), HasSubstr("unanswered"));
  }
  is_over = true;
}

}  // namespace
}  // namespace gridfold::load
