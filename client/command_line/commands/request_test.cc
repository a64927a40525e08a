// What each command asks of a server, against one that answers nothing: every default, every flag,
// and in which way large arrays go.
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <map>
#include <mutex>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "client/command_line/output/output_file.h"
#include "client/command_line/program.h"
#include "client/library/fake_server.h"
#include "gmock/gmock.h"
#include "google/protobuf/text_format.h"
#include "gtest/gtest.h"

namespace gridfold::client {
namespace {

constexpr char kFirst[] = R"({ inline_array { element_type: ELEMENT_TYPE_INT64
    data: "\001\000\000\000\000\000\000\000\003\000\000\000\000\000\000\000" } })";
constexpr char kSecond[] = R"({ inline_array { element_type: ELEMENT_TYPE_INT64
    data: "\002\000\000\000\000\000\000\000\004\000\000\000\000\000\000\000" } })";

class RequestTest : public testing::Test {
 protected:
  RequestTest() {
    const auto remember = [this](const std::string& method, auto& handler) {
      handler = [this, method](grpc::ServerContext&, const auto& request, auto&) {
        return Remember(method, request);
      };
    };
    remember("ReduceArray", server_.on_reduce);
    remember("ScanArray", server_.on_scan);
    remember("ComputeHistogram", server_.on_histogram);
    remember("ComputeQuantiles", server_.on_quantiles);
    remember("SelectTop", server_.on_top);
    remember("RelateArrays", server_.on_relate);
    remember("ReduceByKey", server_.on_reduce_by_key);
    remember("ReduceByKeyStream", server_.on_keyed_stream);
    remember("ReduceStream", server_.on_reduce_stream);
    remember("HistogramStream", server_.on_histogram_stream);
    remember("ScanStream", server_.on_scan_stream);
    server_.on_create_array = [](grpc::ServerContext&, const v1::CreateArrayRequest& request,
                                 v1::CreateArrayResponse& response) {
      response.mutable_array()->set_name("kept");
      response.mutable_array()->set_element_type(request.element_type());
      *response.mutable_array()->mutable_shape() = request.shape();
      return grpc::Status::OK;
    };
    server_.on_write_array = [](grpc::ServerContext&,
                                const std::vector<v1::WriteArrayRequest>& messages,
                                v1::WriteArrayResponse& response) {
      uint64_t bytes = 0;
      for (const v1::WriteArrayRequest& message : messages) bytes += message.data().size();
      response.set_written_bytes(bytes);
      return grpc::Status::OK;
    };
    server_.on_delete_array = [](grpc::ServerContext&, const auto&, auto&) {
      return grpc::Status::OK;
    };
    server_.on_info = [](grpc::ServerContext&, const auto&, v1::GetServerInfoResponse& response) {
      response.mutable_limits()->set_message_bytes_max(1 << 16);
      response.mutable_limits()->set_array_chunk_bytes_max(1 << 15);
      return grpc::Status::OK;
    };
    setenv("XDG_CONFIG_HOME", "/nonexistent", 1);  // Nobody's own file.
    Write("in.csv", "x,y\n1,2\n3,4\n");
    // More than one message holds; text, so that it cannot be mapped.
    std::string large = "x,y,z\n";
    for (int i = 0; i < 12'000; ++i) absl::StrAppend(&large, i, ",", i % 7, ",0.5\n");
    Write("large.csv", large);
  }

  ~RequestTest() override {
    for (const std::string& path : paths_) std::remove(path.c_str());
  }

  std::string Path(const std::string& name) const {
    return absl::StrCat(testing::TempDir(), "/request_test_", getpid(), "_", name);
  }

  void Write(const std::string& name, const std::string& content) {
    paths_.push_back(Path(name));
    ASSERT_TRUE(WriteFile(Path(name), {content}).ok());
  }

  // The last request of each method that this command line makes. '@' before an argument makes it
  // the path of a test file.
  const std::map<std::string, std::string>& Ask(std::vector<std::string> arguments) {
    requests_.clear();
    std::ostringstream out;
    std::ostringstream error;
    std::vector<const char*> argv = {"gridfold", "--server", server_.target().c_str()};
    for (std::string& argument : arguments) {
      if (argument[0] == '@') argument = Path(argument.substr(1));
      argv.push_back(argument.c_str());
    }
    const TextStyle style = {.width = 80, .unicode = false, .colour = false};
    const ExitCode code =
        RunProgram(static_cast<int>(argv.size()), argv.data(), style, style, out, error);
    EXPECT_EQ(code, ExitCode::kRequestFailed) << error.str();
    return requests_;
  }

  // Expects one request of `method`, in whose text FIRST and SECOND stand for columns of the file.
  template <typename Request>
  void ExpectRequest(const std::vector<std::string>& arguments, const std::string& method,
                     const std::string& text) {
    const std::string full = absl::StrReplaceAll(text, {{"FIRST", kFirst}, {"SECOND", kSecond}});
    Request expected;
    ASSERT_TRUE(google::protobuf::TextFormat::ParseFromString(full, &expected)) << full;
    EXPECT_THAT(Ask(arguments), testing::ElementsAre(testing::Pair(method, expected.DebugString())))
        << testing::PrintToString(arguments);
  }

  // The name of the one method that an array too large for a message is computed by.
  std::string MethodFor(const std::vector<std::string>& arguments) {
    const std::map<std::string, std::string>& requests = Ask(arguments);
    EXPECT_EQ(requests.size(), 1u) << testing::PrintToString(arguments);
    return requests.empty() ? "" : requests.begin()->first;
  }

 private:
  template <typename Request>
  grpc::Status Remember(const std::string& method, const Request& request) {
    const std::lock_guard lock(mutex_);
    requests_[method] = request.DebugString();
    return grpc::Status(grpc::StatusCode::ABORTED, "asked");
  }
  template <typename Request>
  grpc::Status Remember(const std::string& method, const std::vector<Request>& messages) {
    return Remember(method, messages.empty() ? Request() : messages[0]);
  }

  FakeServer server_;
  std::mutex mutex_;
  std::map<std::string, std::string> requests_;
  std::vector<std::string> paths_;
};

TEST_F(RequestTest, Reduce) {
  ExpectRequest<v1::ReduceArrayRequest>({"reduce", "@in.csv"}, "ReduceArray", R"(array FIRST
    statistics: STATISTIC_COUNT statistics: STATISTIC_SUM statistics: STATISTIC_MIN
    statistics: STATISTIC_MAX statistics: STATISTIC_MEAN statistics: STATISTIC_STANDARD_DEVIATION
    grouping { }
    nan_policy: NAN_POLICY_PROPAGATE overflow_policy: OVERFLOW_POLICY_ERROR)");
}

TEST_F(RequestTest, Scan) {
  ExpectRequest<v1::ScanArrayRequest>({"scan", "@in.csv"}, "ScanArray", R"(array FIRST
    operation: SCAN_OPERATION_SUM mode: SCAN_MODE_INCLUSIVE direction: SCAN_DIRECTION_FORWARD
    grouping { } destination { inline_array { } }
    nan_policy: NAN_POLICY_PROPAGATE overflow_policy: OVERFLOW_POLICY_ERROR)");
}

TEST_F(RequestTest, Histogram) {
  ExpectRequest<v1::ComputeHistogramRequest>({"histogram", "@in.csv"}, "ComputeHistogram",
                                             R"(array FIRST
    bins { even { bin_count: 10 } } channel_count: 1
    out_of_range_policy: OUT_OF_RANGE_POLICY_DROP format: HISTOGRAM_FORMAT_DENSE
    compact_answer: true)");
}

TEST_F(RequestTest, Quantile) {
  ExpectRequest<v1::ComputeQuantilesRequest>({"quantile", "@in.csv"}, "ComputeQuantiles",
                                             R"(array FIRST
    quantiles: 0.5 grouping { } method: QUANTILE_METHOD_LINEAR
    nan_policy: NAN_POLICY_PROPAGATE)");
  ExpectRequest<v1::ComputeQuantilesRequest>({"quantile", "@in.csv", "--rank", "0,1"},
                                             "ComputeQuantiles", R"(array FIRST
    ranks: 0 ranks: 1 grouping { } method: QUANTILE_METHOD_LINEAR
    nan_policy: NAN_POLICY_PROPAGATE)");
  ExpectRequest<v1::ComputeQuantilesRequest>(
      {"quantile", "@in.csv", "--rank", "1", "-q", "0,1", "--method", "higher", "--ignore-nan",
       "--keep-dimensions", "--axis", "0"},
      "ComputeQuantiles", R"(array FIRST
    quantiles: 0 quantiles: 1 ranks: 1 method: QUANTILE_METHOD_HIGHER keep_dimensions: true
    grouping { axis: 0 } nan_policy: NAN_POLICY_IGNORE)");
}

TEST_F(RequestTest, Topk) {
  ExpectRequest<v1::SelectTopRequest>({"topk", "@in.csv"}, "SelectTop", R"(array FIRST
    count: 10 grouping { } nan_policy: NAN_POLICY_PROPAGATE)");
  ExpectRequest<v1::SelectTopRequest>(
      {"topk", "@in.csv", "-k", "2", "--smallest", "--ignore-nan", "--segments", "0,2"},
      "SelectTop", R"(array FIRST
    count: 2 smallest: true grouping { segments { offsets: 0 offsets: 2 } }
    nan_policy: NAN_POLICY_IGNORE)");
}

TEST_F(RequestTest, Relate) {
  ExpectRequest<v1::RelateArraysRequest>({"relate", "@in.csv", "--y-column", "y"}, "RelateArrays",
                                         R"(x FIRST y SECOND
    statistics: PAIRED_STATISTIC_CORRELATION weight_kind: WEIGHT_KIND_FREQUENCY
    nan_policy: NAN_POLICY_PROPAGATE overflow_policy: OVERFLOW_POLICY_ERROR)");
  ExpectRequest<v1::RelateArraysRequest>(
      {"relate", "@in.csv", "--y-column", "y", "--weights-column", "2", "--op",
       "dot,mean,variance,covariance", "--ddof", "1", "--reliability", "--ignore-nan", "--wrap"},
      "RelateArrays", R"(x FIRST y SECOND weights SECOND
    statistics: PAIRED_STATISTIC_DOT statistics: PAIRED_STATISTIC_MEAN
    statistics: PAIRED_STATISTIC_VARIANCE statistics: PAIRED_STATISTIC_COVARIANCE
    delta_degrees_of_freedom: 1 weight_kind: WEIGHT_KIND_RELIABILITY
    nan_policy: NAN_POLICY_IGNORE overflow_policy: OVERFLOW_POLICY_WRAP)");
}

TEST_F(RequestTest, Group) {
  const std::vector<std::string> keyed = {"group", "@in.csv", "--key", "y"};
  const auto expect = [&](std::vector<std::string> further, const std::string& text) {
    further.insert(further.begin(), keyed.begin(), keyed.end());
    ExpectRequest<v1::ReduceByKeyRequest>(further, "ReduceByKey",
                                          "keys SECOND values FIRST" + text);
  };
  const std::string policies =
      " nan_policy: NAN_POLICY_PROPAGATE overflow_policy: OVERFLOW_POLICY_ERROR";
  expect({}, "statistics: STATISTIC_MEAN found { }" + policies);
  expect({"--op", "sum,max", "--quantile", "0.25", "--ddof", "2", "--ignore-nan", "--wrap",
          "--key-range", "-5:10"},
         R"(statistics: STATISTIC_SUM statistics: STATISTIC_MAX
         range { first_key: -5 key_count: 10 }
         nan_policy: NAN_POLICY_IGNORE overflow_policy: OVERFLOW_POLICY_WRAP
         delta_degrees_of_freedom: 2 quantiles: 0.25 quantile_method: QUANTILE_METHOD_LINEAR)");
  expect({"--bins", "4", "--range", "0,9", "--clamp"}, R"(statistics: STATISTIC_MEAN
         bins { bins { even { bin_count: 4 lower_bound: 0 upper_bound: 9 } }
                out_of_range_policy: OUT_OF_RANGE_POLICY_CLAMP })" +
                                                           policies);
  expect({"--bins", "4"}, R"(statistics: STATISTIC_MEAN
         bins { bins { even { bin_count: 4 } } out_of_range_policy: OUT_OF_RANGE_POLICY_DROP })" +
                              policies);
  // Quantiles alone are all that is asked for; a median is NumPy's, the mean of the middle two.
  expect({"-q", "0,1", "--method", "lower"},
         "found { } quantiles: 0 quantiles: 1 quantile_method: QUANTILE_METHOD_LOWER" + policies);
  expect({"--op", "median"},
         "found { } quantiles: 0.5 quantile_method: QUANTILE_METHOD_MEAN" + policies);
  expect({"--op", "median,sum", "--key-range", "9223372036854775808:1"},
         R"(statistics: STATISTIC_SUM
         range { key_count: 1 first_unsigned_key: 9223372036854775808 }
         quantiles: 0.5 quantile_method: QUANTILE_METHOD_MEAN)" +
             policies);
}

// Rows that come one after the other are enough where all axes before some, or behind some, are
// reduced; what asks for more keeps the array on the server.
TEST_F(RequestTest, LargeReductionsAreStreamedWhereRowsAreEnough) {
  const auto method = [this](std::vector<std::string> further) {
    std::vector<std::string> arguments = {"reduce", "@large.csv", "--stat", "max"};
    arguments.insert(arguments.end(), further.begin(), further.end());
    return MethodFor(arguments);
  };
  const auto along = [&](const std::string& axes) {
    return method({"--shape", "10,30,40", "--axis", axes});
  };
  EXPECT_EQ(method({}), "ReduceStream");
  for (const char* const axes : {"0", "2", "-1", "0,1", "1,2", "-2,-1", "0,1,2"}) {
    EXPECT_EQ(along(axes), "ReduceStream") << axes;
  }
  for (const char* const axes : {"1", "-2", "0,2", "-1,0"}) {
    EXPECT_EQ(along(axes), "ReduceArray") << axes;
  }
  EXPECT_EQ(method({"--ddof", "2"}), "ReduceStream");
  EXPECT_EQ(method({"--ddof", "0.5"}), "ReduceArray");
  EXPECT_EQ(method({"--ddof", "-1"}), "ReduceArray");
  EXPECT_EQ(method({"--empty", "nan"}), "ReduceArray");
  EXPECT_EQ(method({"--empty", "error"}), "ReduceStream");
  EXPECT_EQ(method({"--initial", "1"}), "ReduceArray");
  EXPECT_EQ(method({"--stat", "product", "--wrap"}), "ReduceStream");
  EXPECT_EQ(method({"--stat", "product", "--column", "z"}), "ReduceArray");
  EXPECT_EQ(method({"--stat", "sum", "--column", "z"}), "ReduceStream");
  EXPECT_EQ(method({"--segments", "0,5,12000"}), "ReduceArray") << "messages are small";
}

TEST_F(RequestTest, LargeHistogramsAreStreamedWhereTheirBinsAreKnown) {
  const auto method = [this](std::vector<std::string> further) {
    std::vector<std::string> arguments = {"histogram", "@large.csv"};
    arguments.insert(arguments.end(), further.begin(), further.end());
    return MethodFor(arguments);
  };
  EXPECT_EQ(method({"--bins", "4", "--range", "0,9"}), "HistogramStream");
  EXPECT_EQ(method({"--edges", "0,1,9"}), "HistogramStream");
  EXPECT_EQ(method({"--integer", "0", "--bins", "4"}), "HistogramStream");
  EXPECT_EQ(method({"--bins", "4"}), "ComputeHistogram");
  EXPECT_EQ(method({"--bins", "auto", "--range", "0,9"}), "ComputeHistogram");
  const std::vector<std::string> known = {"--bins", "4", "--range", "0,9"};
  const auto with = [&](std::vector<std::string> further) {
    further.insert(further.end(), known.begin(), known.end());
    return method(further);
  };
  EXPECT_EQ(with({"--weights-column", "z"}), "HistogramStream");
  EXPECT_EQ(with({"--y-column", "y"}), "HistogramStream");
  EXPECT_EQ(with({"--y-column", "y", "--weights-column", "z"}), "HistogramStream");
}

// A request has 64 KiB here, of which it keeps 16 for itself: 6,144 elements, or half as many where
// there are two arrays, less what grows with the question.
TEST_F(RequestTest, RequestsCarryAsMuchAsTheyHaveRoomFor) {
  const struct {
    std::vector<std::string> arguments;  // "edge.csv" is added.
    int room;
  } questions[] = {
      {{"reduce"}, 6144},
      {{"reduce", "--segments", "0,5"}, 6141},
      {{"scan"}, 6144},
      {{"scan", "--segments", "0,5"}, 6141},
      {{"topk"}, 6144},
      {{"topk", "--segments", "0,5"}, 6141},
      {{"quantile"}, 6144},
      {{"quantile", "--segments", "0,5"}, 6141},
      {{"quantile", "--weights-column", "y"}, 3072},
      {{"describe"}, 6144},
      {{"histogram", "--bins", "4", "--range", "0,9"}, 6144},
      {{"histogram", "--edges", "0,1,9"}, 6141},
      {{"histogram", "--bins", "4", "--range", "0,9", "--y-column", "y"}, 3072},
      {{"histogram", "--bins", "4", "--range", "0,9", "--weights-column", "y"}, 3072},
      {{"relate", "--y-column", "y"}, 3072},
      {{"relate", "--y-column", "y", "--weights-column", "y"}, 2048},
      {{"group", "--key", "y"}, 3072},
  };
  for (const auto& question : questions) {
    for (const int count : {question.room, question.room + 1}) {
      std::string table = "x,y\n";
      for (int i = 0; i < count; ++i) absl::StrAppend(&table, i, ",", i % 7, "\n");
      Write("edge.csv", table);
      std::vector<std::string> arguments = question.arguments;
      arguments.insert(arguments.begin() + 1, "@edge.csv");
      const std::map<std::string, std::string>& requests = Ask(arguments);
      EXPECT_EQ(requests.size(), 1u) << testing::PrintToString(arguments);
      for (const auto& [method, text] : requests) {
        EXPECT_EQ(absl::StrContains(text, "inline_array {\n    element_type"),
                  count == question.room)
            << testing::PrintToString(arguments) << " of " << count << ": " << method;
      }
    }
  }
}

TEST_F(RequestTest, LargeScansAreKeptWhereMessagesAreSmall) {
  EXPECT_EQ(MethodFor({"scan", "@large.csv"}), "ScanArray");
}

}  // namespace
}  // namespace gridfold::client
