// Command lines against a fake server: what is asked of it, what is printed, and the exit code.
#include "client/command_line/program.h"

#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <sstream>
#include <streambuf>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "client/command_line/input/file.h"
#include "client/command_line/output/output_file.h"
#include "client/library/fake_server.h"
#include "gmock/gmock.h"
#include "google/protobuf/text_format.h"
#include "gridfold/v1/error_details.pb.h"
#include "gtest/gtest.h"
#include "nlohmann/json.hpp"

namespace gridfold::client {
namespace {

using testing::HasSubstr;

class ProgramTest : public testing::Test {
 protected:
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

  template <typename Message>
  static void ExpectMessage(const Message& actual, const std::string& text) {
    Message expected;
    ASSERT_TRUE(google::protobuf::TextFormat::ParseFromString(text, &expected)) << text;
    EXPECT_EQ(actual.DebugString(), expected.DebugString());
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

constexpr char kFirstColumn[] = R"(inline_array { element_type: ELEMENT_TYPE_INT64
    data: "\001\000\000\000\000\000\000\000\003\000\000\000\000\000\000\000" })";
constexpr char kSecondColumn[] = R"(inline_array { element_type: ELEMENT_TYPE_INT64
    data: "\002\000\000\000\000\000\000\000\004\000\000\000\000\000\000\000" })";

TEST_F(ProgramTest, ReduceFlagsReachTheServer) {
  EXPECT_EQ(Run({"reduce", "@in.csv", "--stat", "sum,max", "--segments", "0,1,2", "--ignore-nan",
                 "--wrap", "--ddof", "1"}),
            ExitCode::kSuccess);
  ExpectMessage(reduce_request_, absl::StrCat("array {", kFirstColumn, R"(}
    statistics: STATISTIC_SUM statistics: STATISTIC_MAX
    grouping { segments { offsets: 0 offsets: 1 offsets: 2 } }
    nan_policy: NAN_POLICY_IGNORE overflow_policy: OVERFLOW_POLICY_WRAP
    delta_degrees_of_freedom: 1)"));
}

TEST_F(ProgramTest, SegmentsComeFromAFile) {
  Run({"reduce", "@in.csv", "--segments", "@offsets.txt"});
  EXPECT_EQ(reduce_request_.grouping().segments().offsets_size(), 3);
  EXPECT_EQ(Run({"reduce", "@in.csv", "--segments", "@missing"}), ExitCode::kInputOutput);
}

TEST_F(ProgramTest, ReducePrintsATable) {
  EXPECT_EQ(Run({"reduce", "@in.csv", "--column", "y", "--stat", "sum", "--stat", "max"}),
            ExitCode::kSuccess);
  EXPECT_THAT(out_.str(), HasSubstr("sum  42\nmax  42\n"));
  EXPECT_EQ(error_out_.str(), "");
}

TEST_F(ProgramTest, ReducePrintsJson) {
  EXPECT_EQ(Run({"reduce", "@in.csv", "--stat", "sum", "--json"}), ExitCode::kSuccess);
  EXPECT_EQ(nlohmann::json::parse(out_.str())["statistics"]["sum"][0], 42);
}

TEST_F(ProgramTest, SeveralColumnsAndFilesAreAnsweredOneByOne) {
  Write("in2.csv", "x,y\n5,6\n");
  EXPECT_EQ(Run({"reduce", "@in*.csv", "--column", "x", "--column", "y", "--stat", "sum",
                 "--output", "csv"}),
            ExitCode::kSuccess);
  const std::string first = Path("in.csv");
  const std::string second = Path("in2.csv");
  EXPECT_EQ(out_.str(), absl::StrCat("source,column,sum\n", first, ",x,42\n", first, ",y,42\n",
                                     second, ",x,42\n", second, ",y,42\n"));
  EXPECT_EQ(Run({"reduce", "@in.csv", "@in2.csv", "--stat", "sum", "--output", "markdown"}),
            ExitCode::kSuccess);
  EXPECT_EQ(out_.str(), absl::StrCat("| source | column | sum |\n| --- | --- | --- |\n| ", first,
                                     " |  | 42 |\n| ", second, " |  | 42 |\n"));
  // One object a line.
  EXPECT_EQ(Run({"reduce", "@in.csv", "@in2.csv", "--json"}), ExitCode::kSuccess);
  const std::string lines = out_.str();
  EXPECT_EQ(nlohmann::json::parse(lines.substr(lines.find('\n')))["input"]["source"], second);
  EXPECT_EQ(Run({"reduce", "@in.csv", "--column", "y", "--stat", "sum"}), ExitCode::kSuccess);
  EXPECT_THAT(out_.str(), HasSubstr("in.csv, column y: 2 int64 elements"));

  for (const std::vector<std::string>& rest :
       std::vector<std::vector<std::string>>{{"reduce", "--output", "npy"},
                                             {"reduce", "--accumulator", "x.acc"},
                                             {"histogram", "--bins", "2", "--plot", "x.svg"}}) {
    std::vector<std::string> arguments = rest;
    arguments.insert(arguments.begin() + 1, {"@in.csv", "@in2.csv"});
    EXPECT_EQ(Run(arguments), ExitCode::kUsage) << rest[1];
    EXPECT_THAT(error_out_.str(), HasSubstr("there are 2"));
  }
  EXPECT_EQ(Run({"reduce", "@none*.csv"}), ExitCode::kUsage);
  EXPECT_THAT(error_out_.str(), HasSubstr("nothing matches"));
  EXPECT_EQ(Run({"reduce", "-", "-"}), ExitCode::kUsage);
}

TEST_F(ProgramTest, AnswersAreWrittenInTheFormOfTheFile) {
  for (const char* name : {"out.json", "out.csv", "out.md", "out.npy"}) Write(name, "");
  for (const char* name : {"@out.json", "@out.csv", "@out.md", "@out.npy"}) {
    EXPECT_EQ(Run({"reduce", "@in.csv", "--stat", "sum", "--output", name}), ExitCode::kSuccess);
    EXPECT_EQ(out_.str(), "");
  }
  EXPECT_EQ(nlohmann::json::parse(*ReadFile(Path("out.json"), 9999, nullptr))["statistics"]["sum"],
            nlohmann::json({42}));
  EXPECT_THAT(*ReadFile(Path("out.csv"), 9999, nullptr), testing::StartsWith("source,column,sum"));
  EXPECT_THAT(*ReadFile(Path("out.md"), 9999, nullptr), testing::StartsWith("| source |"));
  // One int64 without dimensions, behind a header.
  const std::string npy = *ReadFile(Path("out.npy"), 9999, nullptr);
  EXPECT_THAT(npy, HasSubstr("'shape': ()"));
  EXPECT_EQ(npy.substr(npy.size() - 8), std::string("\x2a\0\0\0\0\0\0\0", 8));
  EXPECT_EQ(Run({"reduce", "@in.csv", "--stat", "sum,max", "--output", "npy"}), ExitCode::kUsage);
  EXPECT_EQ(Run({"reduce", "@in.csv", "--output", "out.xls"}), ExitCode::kUsage);
  EXPECT_THAT(error_out_.str(), HasSubstr("'out.xls' is neither json, csv, markdown nor npy"));
  EXPECT_EQ(Run({"scan", "@in.csv", "--output", "csv"}), ExitCode::kSuccess);
  EXPECT_EQ(out_.str(), absl::StrCat("source,column,index_0,value\n", Path("in.csv"), ",,0,1\n",
                                     Path("in.csv"), ",,1,3\n"));
}

TEST_F(ProgramTest, AnswersAreDrawn) {
  Write("sum.svg", "");
  Write("sum.html", "");
  EXPECT_EQ(Run({"scan", "@in.csv", "--plot", "@sum.svg"}), ExitCode::kSuccess);
  const std::string drawing = *ReadFile(Path("sum.svg"), 99999, nullptr);
  EXPECT_THAT(drawing, testing::StartsWith("<svg xmlns=\"http://www.w3.org/2000/svg\""));
  // The fake server's results are its input: 1 at index 0, 3 at index 1.
  EXPECT_THAT(drawing, HasSubstr("<title>1: 3</title>"));
  EXPECT_THAT(out_.str(), HasSubstr("index"));
  EXPECT_EQ(Run({"scan", "@in.csv", "--plot", "@sum.html", "--json"}), ExitCode::kSuccess);
  EXPECT_THAT(*ReadFile(Path("sum.html"), 99999, nullptr), HasSubstr("in.csv</h1>\n<svg "));
  EXPECT_EQ(Run({"scan", "@in.csv", "--plot", "sum.gif"}), ExitCode::kUsage);
  EXPECT_THAT(error_out_.str(), HasSubstr("none of .svg, .html and .png"));
  EXPECT_EQ(Run({"histogram", "@in.csv", "--bins", "2", "--plot", "sum"}), ExitCode::kUsage);
}

TEST_F(ProgramTest, AccumulatorsAreWrittenAndMerged) {
  Write("a.acc", "");
  EXPECT_EQ(Run({"reduce", "@in.csv", "--stat", "sum", "--accumulator", "@a.acc", "--first-index",
                 "100"}),
            ExitCode::kSuccess);
  EXPECT_TRUE(reduce_request_.return_accumulator());
  EXPECT_EQ(reduce_request_.first_index(), 100u);
  EXPECT_EQ(*ReadFile(Path("a.acc"), 100, nullptr), "part");
  EXPECT_THAT(out_.str(), HasSubstr("sum  42\n"));

  Write("b.acc", "other");
  Write("merged.acc", "");
  ASSERT_TRUE(google::protobuf::TextFormat::ParseFromString(
      R"(reduction { results { statistic: STATISTIC_SUM values { int64_values { values: 43 } } }
                     group_count: 1 accumulator: "whole" }
         element_type: ELEMENT_TYPE_INT64 element_count: 1000)",
      &merge_response_));
  EXPECT_EQ(Run({"merge", "@a.acc", "@b.acc", "--output", "@merged.acc", "--partial"}),
            ExitCode::kSuccess);
  ExpectMessage(merge_request_, "accumulators: 'part' accumulators: 'other' partial: true");
  EXPECT_EQ(*ReadFile(Path("merged.acc"), 100, nullptr), "whole");
  EXPECT_THAT(out_.str(), HasSubstr("2 accumulators: 1,000 int64 elements\n\nsum  43\n"));

  EXPECT_EQ(Run({"merge", "@a.acc", "--json"}), ExitCode::kSuccess);
  const nlohmann::json json = nlohmann::json::parse(out_.str());
  EXPECT_EQ(json["operation"], "reduce");
  EXPECT_EQ(json["input"]["element_count"], 1000);
  EXPECT_EQ(json["statistics"]["sum"][0], 43);
}

TEST_F(ProgramTest, MergedHistogramsArePrinted) {
  Write("a.acc", "a");
  ASSERT_TRUE(google::protobuf::TextFormat::ParseFromString(
      R"(histogram { channels { counts: 3 counts: 5 quantile_values: -6.5 }
                     bins { bin_count: 2 } accumulator: "whole" }
         element_type: ELEMENT_TYPE_INT8 element_count: 8
         histogram_description { format: HISTOGRAM_FORMAT_DENSE quantiles: 0.5 first_values: -7 })",
      &merge_response_));
  EXPECT_EQ(Run({"merge", "@a.acc"}), ExitCode::kSuccess);
  EXPECT_THAT(out_.str(), HasSubstr("-7  3  "));
  EXPECT_THAT(out_.str(), HasSubstr("-6  5  "));
  EXPECT_THAT(out_.str(), HasSubstr("quantile 0.5    -6.5\n"));
  EXPECT_EQ(Run({"merge", "@a.acc", "--json"}), ExitCode::kSuccess);
  EXPECT_EQ(nlohmann::json::parse(out_.str())["channels"][0]["counts"][1], 5);
}

TEST_F(ProgramTest, MergeSubtracts) {
  Write("whole.acc", "whole");
  Write("new.acc", "new");
  Write("old.acc", "old");
  Write("older.acc", "older");
  Write("rest.acc", "");
  ASSERT_TRUE(google::protobuf::TextFormat::ParseFromString(
      R"(remainder {
           reduction { results { statistic: STATISTIC_SUM values { int64_values { values: 4 } } }
                       group_count: 1 accumulator: "rest" }
           element_type: ELEMENT_TYPE_INT64 element_count: 7 })",
      &subtract_response_));
  EXPECT_EQ(Run({"merge", "@whole.acc", "--subtract", "@old.acc", "--subtract", "@older.acc",
                 "--output", "@rest.acc"}),
            ExitCode::kSuccess);
  ExpectMessage(subtract_request_, "minuend: 'whole' subtrahends: 'old' subtrahends: 'older'");
  EXPECT_EQ(*ReadFile(Path("rest.acc"), 100, nullptr), "rest");
  EXPECT_THAT(out_.str(), HasSubstr("7 int64 elements\n\nsum  4\n"));
  // What was merged before.
  ASSERT_TRUE(google::protobuf::TextFormat::ParseFromString(
      R"(reduction { group_count: 1 accumulator: "merged" })", &merge_response_));
  EXPECT_EQ(Run({"merge", "@whole.acc", "@new.acc", "--subtract", "@old.acc", "--partial"}),
            ExitCode::kSuccess);
  ExpectMessage(merge_request_, "accumulators: 'whole' accumulators: 'new' partial: true");
  ExpectMessage(subtract_request_, "minuend: 'merged' subtrahends: 'old' partial: true");
}

TEST_F(ProgramTest, MergeNeedsFilesThatCanBeRead) {
  EXPECT_EQ(Run({"merge"}), ExitCode::kUsage);
  EXPECT_EQ(Run({"merge", "@missing.acc"}), ExitCode::kInputOutput);
}

TEST_F(ProgramTest, ScanFlagsReachTheServer) {
  EXPECT_EQ(Run({"scan", "@in.csv", "--shape", "1,2", "--axis", "1", "--op", "max", "--exclusive",
                 "--reverse", "--output-type", "int64"}),
            ExitCode::kSuccess);
  EXPECT_EQ(scan_request_.operation(), v1::SCAN_OPERATION_MAX);
  EXPECT_FALSE(scan_request_.exact());
  EXPECT_EQ(scan_request_.mode(), v1::SCAN_MODE_EXCLUSIVE);
  EXPECT_EQ(scan_request_.direction(), v1::SCAN_DIRECTION_REVERSE);
  EXPECT_EQ(scan_request_.output_type(), v1::ELEMENT_TYPE_INT64);
  EXPECT_EQ(scan_request_.grouping().axis(), 1u);
  EXPECT_THAT(scan_request_.array().inline_array().shape(), testing::ElementsAre(1, 2));
}

TEST_F(ProgramTest, ExactScansAreAskedFor) {
  EXPECT_EQ(Run({"scan", "@in.csv", "--exact"}), ExitCode::kSuccess);
  EXPECT_TRUE(scan_request_.exact());
}

TEST_F(ProgramTest, ScanWritesFiles) {
  const std::string elements("\1\0\0\0\0\0\0\0\3\0\0\0\0\0\0\0", 16);
  Write("out.npy", "");
  EXPECT_EQ(Run({"scan", "@in.csv", "--output", "@out.npy"}), ExitCode::kSuccess);
  const std::string npy = *ReadFile(Path("out.npy"), 1000, nullptr);
  EXPECT_EQ(npy.substr(0, 6), "\x93NUMPY");
  EXPECT_EQ(npy.substr(npy.size() - 16), elements);
  Write("out.bin", "");
  EXPECT_EQ(Run({"scan", "@in.csv", "--output", "@out.bin"}), ExitCode::kSuccess);
  EXPECT_EQ(*ReadFile(Path("out.bin"), 1000, nullptr), elements);
  EXPECT_EQ(Run({"scan", "@in.csv", "--output", "/nonexistent/out.npy"}), ExitCode::kInputOutput);
}

TEST_F(ProgramTest, HistogramFlagsReachTheServer) {
  EXPECT_EQ(Run({"histogram", "@in.csv", "--bins", "4", "--range", "-1,1", "--y-column", "y",
                 "--weights-column", "2", "--clamp", "--sparse", "--quantiles", "0.5,1"}),
            ExitCode::kRequestFailed);
  ExpectMessage(histogram_request_, absl::StrCat("array {", kFirstColumn, "} y_array {",
                                                 kSecondColumn, "} weights {", kSecondColumn, R"(}
    bins { even { bin_count: 4 lower_bound: -1 upper_bound: 1 } }
    channel_count: 1
    out_of_range_policy: OUT_OF_RANGE_POLICY_CLAMP format: HISTOGRAM_FORMAT_SPARSE
    quantiles: 0.5 quantiles: 1
    compact_answer: true)"));
}

TEST_F(ProgramTest, LayoutsAndChannelsReachTheServer) {
  Run({"histogram", "--layout", "even:2:0:1", "--layout", "integer:-5:10", "--channels", "2",
       "@in.csv"});
  ExpectMessage(histogram_request_, absl::StrCat("array {", kFirstColumn, R"(}
    bins { even { bin_count: 2 lower_bound: 0 upper_bound: 1 } }
    bins { integer { first_value: -5 bin_count: 10 } }
    channel_count: 2
    out_of_range_policy: OUT_OF_RANGE_POLICY_DROP format: HISTOGRAM_FORMAT_DENSE
    compact_answer: true)"));
  Run({"histogram", "@in.csv", "--integer", "-3", "--bins", "7"});
  EXPECT_EQ(histogram_request_.bins(0).integer().first_value(), -3);
}

constexpr char kDescription[] =
    "name: 'x' element_type: ELEMENT_TYPE_INT64 shape: 2 size_bytes: 16 idle_expiry { seconds: "
    "3600 }";

TEST_F(ProgramTest, ArraysOnTheServerAreInputs) {
  server_.on_get_array = [](grpc::ServerContext&, const v1::GetArrayRequest&,
                            v1::GetArrayResponse& response) {
    EXPECT_TRUE(
        google::protobuf::TextFormat::ParseFromString(kDescription, response.mutable_array()));
    return grpc::Status::OK;
  };
  EXPECT_EQ(Run({"reduce", "--array", "x[1:1]", "--stat", "sum"}), ExitCode::kSuccess);
  ExpectMessage(reduce_request_.array(),
                "resident_array { name: 'x' slice { first: 1 count: 1 } }");
  EXPECT_THAT(out_.str(), HasSubstr("x[1:1]: 1 int64 element\n"));
  Run({"histogram", "@in.csv", "--bins", "2", "--y-array", "y", "--weights-array", "w[3:2]"});
  ExpectMessage(histogram_request_.y_array(), "resident_array { name: 'y' }");
  ExpectMessage(histogram_request_.weights(),
                "resident_array { name: 'w' slice { first: 3 count: 2 } }");
  EXPECT_TRUE(histogram_request_.array().has_inline_array());
}

TEST_F(ProgramTest, ScansLeaveTheirResultsOnTheServer) {
  server_.on_scan = [this](grpc::ServerContext&, const v1::ScanArrayRequest& request,
                           v1::ScanArrayResponse& response) {
    scan_request_ = request;
    EXPECT_TRUE(google::protobuf::TextFormat::ParseFromString(kDescription,
                                                              response.mutable_resident_array()));
    return grpc::Status::OK;
  };
  EXPECT_EQ(Run({"scan", "@in.csv", "--to-array", "x"}), ExitCode::kSuccess);
  ExpectMessage(scan_request_.destination(), "resident_array { name: 'x' }");
  EXPECT_THAT(out_.str(), HasSubstr("the server has 2 int64 elements in array x\n"));
  EXPECT_EQ(Run({"scan", "@in.csv", "--in-place", "--json"}), ExitCode::kSuccess);
  ExpectMessage(scan_request_.destination(), "in_place { }");
  EXPECT_EQ(nlohmann::json::parse(out_.str())["result"]["array"], "x");
}

TEST_F(ProgramTest, APutThatFailsLeavesNoArrayBehind) {
  v1::CreateArrayRequest created;
  server_.on_create_array = [&](grpc::ServerContext& context, const v1::CreateArrayRequest& request,
                                v1::CreateArrayResponse& response) {
    created = request;
    EXPECT_EQ(context.client_metadata().count("gridfold-tenant"), 1u);
    EXPECT_EQ(context.client_metadata().find("gridfold-priority")->second, "low");
    EXPECT_TRUE(
        google::protobuf::TextFormat::ParseFromString(kDescription, response.mutable_array()));
    return grpc::Status::OK;
  };
  server_.on_info = [](grpc::ServerContext&, const v1::GetServerInfoRequest&,
                       v1::GetServerInfoResponse& response) {
    response.mutable_limits()->set_array_chunk_bytes_max(1000);
    return grpc::Status::OK;
  };
  server_.on_write_array = [](grpc::ServerContext&, const std::vector<v1::WriteArrayRequest>&,
                              v1::WriteArrayResponse&) {
    return grpc::Status(grpc::StatusCode::ABORTED, "no more");
  };
  std::string deleted;
  server_.on_delete_array = [&](grpc::ServerContext&, const v1::DeleteArrayRequest& request,
                                v1::DeleteArrayResponse&) {
    deleted = request.name();
    return grpc::Status::OK;
  };
  EXPECT_EQ(Run({"--tenant", "me", "--priority", "low", "array", "put", "x", "@in.csv", "--expire",
                 "90m", "--device", "1"}),
            ExitCode::kRequestFailed);
  ExpectMessage(created,
                "name: 'x' element_type: ELEMENT_TYPE_INT64 shape: 2 "
                "idle_expiry { seconds: 5400 } device: 1");
  EXPECT_EQ(deleted, "x");
  EXPECT_EQ(
      Run({"--tenant", "me", "--priority", "low", "array", "put", "x", "@in.csv", "--sharded"}),
      ExitCode::kRequestFailed);
  ExpectMessage(created,
                "name: 'x' element_type: ELEMENT_TYPE_INT64 shape: 2 "
                "placement: ARRAY_PLACEMENT_SHARDED");
}

TEST_F(ProgramTest, CommandLinesThatMakeNoSenseAreUsageErrors) {
  const std::vector<std::vector<std::string>> all = {
      {},
      {"reduce"},
      {"multiply", "x.npy"},
      {"reduce", "@in.csv", "--unknown"},
      {"reduce", "@in.csv", "--stat", "median"},
      {"reduce", "@in.csv", "--axis", "0", "--segments", "0,2"},
      {"reduce", "@in.csv", "--segments", "0,,2"},
      {"reduce", "@in.csv", "--type", "float128"},
      {"reduce", "@in.csv", "--shape", "2,1,1,1,1,1,1,1,1"},
      {"reduce", "@in.csv", "--axis", "0,"},
      {"reduce", "@in.csv", "--format", "xml"},
      {"reduce", "@in.csv", "--delimiter", "ab"},
      {"scan", "@in.csv", "--op", "median"},
      {"scan", "@in.csv", "--output-type", "x"},
      {"histogram", "@in.csv", "--edges", "0,1", "--bins", "3"},
      {"histogram", "@in.csv", "--quantiles", "half"},
      {"--timeout", "-1", "info"},
      {"--timeout", "nan", "info"},
      {"--priority", "urgent", "info"},
      {"reduce", "@in.csv", "--array", "x"},
      {"reduce", "--array", "x[1]"},
      {"reduce", "--array", "x[1:2"},
      {"reduce", "--array", "x[-1:2]"},
      {"reduce", "--array", "[1:2]"},
      {"scan", "--array", "x", "--to-array", "y", "--in-place"},
      {"scan", "--array", "x", "--to-array", "y", "--output", "z.npy"},
      {"histogram", "@in.csv", "--weights-array", "x[]"},
      {"array"},
      {"array", "steal", "x"},
      {"array", "create", "x", "--type", "int8"},
      {"array", "create", "x", "--type", "int9", "--shape", "1"},
      {"array", "create", "x", "--type", "int8", "--shape", "one"},
      {"array", "create", "x", "--type", "int8", "--shape", "1", "--expire", "soon"},
      {"array", "create", "x", "--type", "int8", "--shape", "1", "--device", "-1"},
      {"array", "put", "x"},
      {"array", "get", "x[1:2:3]", "--output", "-"},
  };
  for (const std::vector<std::string>& arguments : all) {
    EXPECT_EQ(Run(arguments), ExitCode::kUsage) << testing::PrintToString(arguments);
    EXPECT_NE(error_out_.str(), "");
    EXPECT_EQ(out_.str(), "");
  }
}

TEST_F(ProgramTest, FilesThatMakeNoSenseAreInputErrors) {
  Write("bad.npy", "not numpy");
  EXPECT_EQ(Run({"reduce", "@missing.npy"}), ExitCode::kInputOutput);
  EXPECT_THAT(error_out_.str(), HasSubstr("missing.npy: No such file"));
  EXPECT_EQ(Run({"reduce", "@bad.npy"}), ExitCode::kInputOutput);
  EXPECT_EQ(Run({"reduce", "@in.csv", "--column", "z"}), ExitCode::kInputOutput);
  EXPECT_EQ(Run({"reduce", "@in.csv", "--shape", "3,3"}), ExitCode::kInputOutput);
}

TEST_F(ProgramTest, ServerErrorsNameTheFieldAndTheDelay) {
  v1::RpcStatus details;
  google::protobuf::Any& bad_request = *details.add_details();
  bad_request.set_type_url("type.googleapis.com/google.rpc.BadRequest");
  v1::BadRequest violation;
  violation.add_field_violations()->set_field("grouping.axis");
  bad_request.set_value(violation.SerializeAsString());
  error_ =
      grpc::Status(grpc::StatusCode::INVALID_ARGUMENT, "no such axis", details.SerializeAsString());
  EXPECT_EQ(Run({"reduce", "@in.csv", "--json"}), ExitCode::kRequestFailed);
  EXPECT_EQ(error_out_.str(), "gridfold: no such axis\n  field: grouping.axis\n");
  EXPECT_EQ(nlohmann::json::parse(out_.str())["error"]["field"], "grouping.axis");
}

TEST_F(ProgramTest, StandardInputIsOneArray) {
  for (const std::vector<std::string>& second :
       {std::vector<std::string>{"--weights-column", "2"}, {"--y", "-"}, {"--weights", "-"}}) {
    std::vector<std::string> arguments = {"histogram", "-", "--format", "csv", "--bins", "3"};
    arguments.insert(arguments.end(), second.begin(), second.end());
    EXPECT_EQ(Run(arguments), ExitCode::kUsage);
    EXPECT_THAT(error_out_.str(), HasSubstr("standard input can be read once"));
  }
  EXPECT_EQ(Run({"histogram", "@in.csv", "--bins", "3", "--y", "-", "--weights", "-"}),
            ExitCode::kUsage);
}

// Takes no character, as a full disk.
class FullBuffer : public std::streambuf {};

TEST_F(ProgramTest, OutputThatIsNotWrittenIsAnError) {
  const std::string file = Path("in.csv");
  const std::vector<std::vector<const char*>> command_lines = {
      {"--version"}, {"info", "--health"}, {"reduce", file.c_str(), "--json"}};
  for (const std::vector<const char*>& arguments : command_lines) {
    std::vector<const char*> argv = {"gridfold", "--server", server_.target().c_str()};
    argv.insert(argv.end(), arguments.begin(), arguments.end());
    FullBuffer full;
    std::ostream out(&full);
    error_out_.str("");
    const TextStyle style = {.width = 80, .unicode = false, .colour = false};
    EXPECT_EQ(RunProgram(static_cast<int>(argv.size()), argv.data(), style, style, out, error_out_),
              ExitCode::kInputOutput);
    EXPECT_EQ(error_out_.str(), "gridfold: standard output: cannot be written\n");
  }
}

TEST_F(ProgramTest, AStreamedScanDoesNotWriteWhatItReads) {
  const std::string link = Path("link.bin");
  Write("in.bin", "abc");
  ASSERT_EQ(symlink(Path("in.bin").c_str(), link.c_str()), 0);
  for (const char* output : {"@in.bin", "@link.bin"}) {
    EXPECT_EQ(Run({"scan", "@in.bin", "--type", "int8", "--stream", "--output", output}),
              ExitCode::kUsage);
    EXPECT_THAT(error_out_.str(), HasSubstr("--output: is FILE"));
    EXPECT_EQ(ReadFile(Path("in.bin"), 100, nullptr).value(), "abc");
  }
  std::remove(link.c_str());
}

TEST_F(ProgramTest, NoServerIsUnreachable) {
  EXPECT_EQ(Run({"info", "--server", "127.0.0.1:1"}), ExitCode::kUnreachable);
  EXPECT_THAT(error_out_.str(), HasSubstr("cannot connect to 127.0.0.1:1"));
  EXPECT_THAT(error_out_.str(), HasSubstr("gridfold_server"));
}

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

TEST_F(ProgramTest, HealthIsAnExitCode) {
  EXPECT_EQ(Run({"info", "--health"}), ExitCode::kSuccess);
  EXPECT_EQ(out_.str(), "SERVING\n");
  server_.health().SetServingStatus(false);
  EXPECT_EQ(Run({"info", "--health"}), ExitCode::kRequestFailed);
  EXPECT_EQ(out_.str(), "NOT_SERVING\n");
}

TEST_F(ProgramTest, HelpAndVersionAreNoErrors) {
  EXPECT_EQ(Run({"--help"}), ExitCode::kSuccess);
  EXPECT_THAT(out_.str(), HasSubstr("Exit codes:"));
  for (const char* command : {"info", "reduce", "scan", "histogram", "array"}) {
    EXPECT_EQ(Run({command, "--help"}), ExitCode::kSuccess);
    EXPECT_THAT(out_.str(), HasSubstr(absl::StrCat("Examples:\n  gridfold ", command)));
  }
  EXPECT_EQ(Run({"--version"}), ExitCode::kSuccess);
  EXPECT_THAT(out_.str(), HasSubstr("gridfold "));
  const std::string version = out_.str();
  EXPECT_EQ(Run({"-V"}), ExitCode::kSuccess);
  EXPECT_EQ(out_.str(), version);
}

TEST_F(ProgramTest, HelpIsACommandToo) {
  const std::vector<std::vector<std::string>> paths = {{}, {"reduce"}, {"array", "put"}};
  // CLI11 lists what an option excludes in no particular order.
  const auto beginning = [](const std::string& help) { return help.substr(0, help.find("Excl")); };
  for (const std::vector<std::string>& path : paths) {
    std::vector<std::string> asked = {"help"};
    asked.insert(asked.end(), path.begin(), path.end());
    EXPECT_EQ(Run(asked), ExitCode::kSuccess);
    const std::string help = out_.str();
    std::vector<std::string> option = path;
    option.push_back("--help");
    EXPECT_EQ(Run(option), ExitCode::kSuccess);
    EXPECT_EQ(beginning(help), beginning(out_.str()));
    EXPECT_THAT(help, HasSubstr("Usage: gridfold"));
  }
  EXPECT_EQ(Run({"help", "array", "putt"}), ExitCode::kUsage);
  EXPECT_THAT(error_out_.str(), HasSubstr("there is no command 'putt'; did you mean put?"));
}

}  // namespace
}  // namespace gridfold::client
