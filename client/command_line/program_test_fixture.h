// The program's command line against a fake server that keeps what it is asked and answers as a
// test says, and files that go with the test. For tests.
#ifndef GRIDFOLD_CLIENT_COMMAND_LINE_PROGRAM_TEST_FIXTURE_H_
#define GRIDFOLD_CLIENT_COMMAND_LINE_PROGRAM_TEST_FIXTURE_H_

#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <sstream>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "client/command_line/exit_code.h"
#include "client/command_line/output/output_file.h"
#include "client/command_line/output/terminal.h"
#include "client/command_line/program.h"
#include "client/library/expect_message.h"
#include "client/library/fake_server.h"
#include "gtest/gtest.h"

namespace gridfold::client {

class ProgramTest : public testing::Test {
 protected:
  // The columns of in.csv on the wire.
  static constexpr char kFirstColumn[] = R"(inline_array { element_type: ELEMENT_TYPE_INT64
      data: "\001\000\000\000\000\000\000\000\003\000\000\000\000\000\000\000" })";
  static constexpr char kSecondColumn[] = R"(inline_array { element_type: ELEMENT_TYPE_INT64
      data: "\002\000\000\000\000\000\000\000\004\000\000\000\000\000\000\000" })";
  // An array on the server.
  static constexpr char kDescription[] =
      "name: 'x' element_type: ELEMENT_TYPE_INT64 shape: 2 size_bytes: 16 idle_expiry { seconds: "
      "3600 }";

  ProgramTest() {
    server_.on_reduce = [this](grpc::ServerContext&, const v1::ReduceArrayRequest& request,
                               v1::ReduceArrayResponse& response) {
      reduce_request_ = request;
      response.set_group_count(1);
      if (request.return_accumulator()) response.set_accumulator("part");
      for (int statistic : request.statistics()) {
        v1::StatisticValues& values = *response.add_results();
        values.set_statistic(static_cast<v1::Statistic>(statistic));
        values.mutable_values()->mutable_int64_values()->add_values(42);
      }
      return error_;
    };
    server_.on_scan = [this](grpc::ServerContext&, const v1::ScanArrayRequest& request,
                             v1::ScanArrayResponse& response) {
      scan_request_ = request;
      *response.mutable_inline_array() = request.array().inline_array();
      return error_;
    };
    server_.on_histogram = [this](grpc::ServerContext&, const v1::ComputeHistogramRequest& request,
                                  v1::ComputeHistogramResponse&) {
      histogram_request_ = request;
      return grpc::Status(grpc::StatusCode::ABORTED, "asked");
    };
    server_.on_subtract = [this](grpc::ServerContext&,
                                 const v1::SubtractAccumulatorsRequest& request,
                                 v1::SubtractAccumulatorsResponse& response) {
      subtract_request_ = request;
      response = subtract_response_;
      return grpc::Status::OK;
    };
    server_.on_merge = [this](grpc::ServerContext&, const v1::MergeAccumulatorsRequest& request,
                              v1::MergeAccumulatorsResponse& response) {
      merge_request_ = request;
      response = merge_response_;
      return error_;
    };
    setenv("XDG_CONFIG_HOME", "/nonexistent", 1);  // Nobody's own file.
    Write("in.csv", "x,y\n1,2\n3,4\n");
    Write("offsets.txt", "0\n1\n2\n");
  }

  ~ProgramTest() override {
    for (const std::string& path : paths_) std::remove(path.c_str());
  }

  std::string Path(const std::string& name) {
    return absl::StrCat(testing::TempDir(), "/program_test_", getpid(), "_", name);
  }

  void Write(const std::string& name, const std::string& content) {
    paths_.push_back(Path(name));
    ASSERT_TRUE(WriteFile(Path(name), {content}).ok());
  }

  // Runs the program. '@' before an argument makes it the path of a test file.
  ExitCode Run(std::vector<std::string> arguments) {
    out_.str("");
    error_out_.str("");
    std::vector<const char*> argv = {"gridfold", "--server", server_.target().c_str()};
    for (std::string& argument : arguments) {
      if (argument[0] == '@') argument = Path(argument.substr(1));
      argv.push_back(argument.c_str());
    }
    const TextStyle style = {.width = 80, .unicode = false, .colour = false};
    return RunProgram(static_cast<int>(argv.size()), argv.data(), style, style, out_, error_out_);
  }

  FakeServer server_;
  grpc::Status error_;
  v1::ReduceArrayRequest reduce_request_;
  v1::ScanArrayRequest scan_request_;
  v1::ComputeHistogramRequest histogram_request_;
  v1::MergeAccumulatorsRequest merge_request_;
  v1::MergeAccumulatorsResponse merge_response_;
  v1::SubtractAccumulatorsRequest subtract_request_;
  v1::SubtractAccumulatorsResponse subtract_response_;
  std::ostringstream out_;
  std::ostringstream error_out_;

 private:
  std::vector<std::string> paths_;
};

}  // namespace gridfold::client

#endif  // GRIDFOLD_CLIENT_COMMAND_LINE_PROGRAM_TEST_FIXTURE_H_
