// Streams as the client sends and takes them: against a server that answers as the test says.
#include <algorithm>
#include <cstdint>
#include <string>
#include <thread>
#include <variant>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "client/library/array_route.h"
#include "client/library/stream_client_test_fixture.h"
#include "gridfold/client.h"
#include "gtest/gtest.h"

namespace gridfold::client {
namespace {

TEST_F(StreamClientTest, ReductionsGoInMessagesBehindOneRequest) {
  std::vector<v1::ReduceStreamRequest> sent;
  server_.on_reduce_stream = [&](grpc::ServerContext&,
                                 const std::vector<v1::ReduceStreamRequest>& messages,
                                 v1::ReduceStreamResponse& response) {
    sent = messages;
    response.mutable_result()->set_group_count(1);
    v1::StatisticValues& sum = *response.mutable_result()->add_results();
    sum.set_statistic(v1::STATISTIC_SUM);
    sum.mutable_values()->mutable_int64_values()->add_values(42);
    return grpc::Status::OK;
  };
  const auto stream =
      client_->OpenReductionStream({.element_type = ElementType::kInt16, .column_count = 3},
                                   {.statistics = {Statistic::kSum}, .grouping = Axis{1}});
  ASSERT_TRUE(stream.ok()) << stream.status();
  const std::string letters = Letters(2500);
  ASSERT_TRUE((*stream)->Write(Bytes(letters)).ok());
  ASSERT_TRUE((*stream)->Write({}).ok());
  ASSERT_TRUE((*stream)->Write(Bytes(letters).first(1)).ok());
  const auto result = (*stream)->Finish();
  ASSERT_TRUE(result.ok()) << result.status();
  EXPECT_EQ(std::get<std::vector<int64_t>>(*result->Find(Statistic::kSum)),
            std::vector<int64_t>{42});
  ASSERT_EQ(sent.size(), 4u);
  std::string data;
  for (size_t i = 0; i < sent.size(); ++i) {
    EXPECT_EQ(sent[i].has_request(), i == 0);
    EXPECT_LE(sent[i].data().size(), 1000u);
    data += sent[i].data();
  }
  EXPECT_EQ(data, letters + "a");
  // Of a part of an element the server says what is wrong.
  EXPECT_FALSE(sent.back().has_element_count());
  ExpectMessage(sent[0].request(),
                "array { streamed_array { element_type: ELEMENT_TYPE_INT16 column_count: 3 } } "
                "statistics: STATISTIC_SUM grouping { axis: 1 } nan_policy: NAN_POLICY_PROPAGATE "
                "overflow_policy: OVERFLOW_POLICY_ERROR");
}

TEST_F(StreamClientTest, AStreamOfNothingSendsItsRequest) {
  server_.on_reduce_stream = [](grpc::ServerContext&,
                                const std::vector<v1::ReduceStreamRequest>& messages,
                                v1::ReduceStreamResponse&) {
    EXPECT_EQ(messages.size(), 1u);
    EXPECT_TRUE(messages[0].has_request());
    EXPECT_TRUE(messages[0].has_element_count());
    EXPECT_EQ(messages[0].element_count(), 0u);
    return grpc::Status::OK;
  };
  const auto stream = client_->OpenReductionStream({}, {.statistics = {Statistic::kSum}});
  ASSERT_TRUE(stream.ok());
  EXPECT_TRUE((*stream)->Finish().ok());
}

TEST_F(StreamClientTest, AnErrorOfTheServerIsThatOfTheStream) {
  server_.on_reduce_stream = [](grpc::ServerContext&, const std::vector<v1::ReduceStreamRequest>&,
                                v1::ReduceStreamResponse&) {
    return grpc::Status(grpc::StatusCode::INVALID_ARGUMENT, "no");
  };
  const auto stream = client_->OpenReductionStream({}, {});
  ASSERT_TRUE(stream.ok());
  EXPECT_EQ((*stream)->Finish().status(), absl::InvalidArgumentError("no"));
  EXPECT_EQ((*stream)->Write({}), absl::InvalidArgumentError("no"));
  // Also where the stream is given up.
  { const auto abandoned = client_->OpenReductionStream({}, {}); }
}

TEST_F(StreamClientTest, HistogramsSendTheirArraysInStep) {
  std::string data[3];
  server_.on_histogram_stream = [&](grpc::ServerContext&,
                                    const std::vector<v1::HistogramStreamRequest>& messages,
                                    v1::HistogramStreamResponse& response) {
    for (const v1::HistogramStreamRequest& message : messages) {
      data[0] += message.data();
      data[1] += message.y_data();
      data[2] += message.weights();
    }
    EXPECT_EQ(messages.back().element_count(), 1000u);
    EXPECT_TRUE(messages[0].request().y_array().has_streamed_array());
    EXPECT_EQ(messages[0].request().weights().streamed_array().element_type(),
              v1::ELEMENT_TYPE_FLOAT64);
    v1::ComputeHistogramResponse& result = *response.mutable_result();
    result.add_channels()->add_weight_sums(1);
    result.add_bins()->set_bin_count(1);
    result.add_bins()->set_bin_count(1);
    return grpc::Status::OK;
  };
  HistogramOptions options;
  options.bins = {IntegerBins{.bin_count = 1}};
  const auto stream = client_->OpenHistogramStream(
      ElementType::kInt32, options, {.y_array = true, .weights = ElementType::kFloat64});
  ASSERT_TRUE(stream.ok()) << stream.status();
  const std::string x = Letters(4000);
  const std::string weights = Letters(8000);
  ASSERT_TRUE((*stream)->Write(Bytes(x), Bytes(x), Bytes(weights)).ok());
  const auto result = (*stream)->Finish();
  ASSERT_TRUE(result.ok()) << result.status();
  EXPECT_EQ(data[0], x);
  EXPECT_EQ(data[1], x);
  EXPECT_EQ(data[2], weights);
}

TEST_F(StreamClientTest, MasksGoBesideElements) {
  std::string masks[3];
  server_.on_reduce_stream = [&](grpc::ServerContext&,
                                 const std::vector<v1::ReduceStreamRequest>& messages,
                                 v1::ReduceStreamResponse&) {
    for (const v1::ReduceStreamRequest& message : messages) masks[0] += message.where();
    ExpectMessage(messages[0].request().where(),
                  "streamed_array { element_type: ELEMENT_TYPE_BOOL }");
    return grpc::Status::OK;
  };
  server_.on_histogram_stream = [&](grpc::ServerContext&,
                                    const std::vector<v1::HistogramStreamRequest>& messages,
                                    v1::HistogramStreamResponse& response) {
    for (const v1::HistogramStreamRequest& message : messages) masks[1] += message.where();
    ExpectMessage(messages[0].request().where(),
                  "streamed_array { element_type: ELEMENT_TYPE_BOOL }");
    response.mutable_result()->add_channels()->add_counts(1);
    response.mutable_result()->add_bins()->set_bin_count(1);
    return grpc::Status::OK;
  };
  server_.on_scan_stream = [&](grpc::ServerContext&,
                               const std::vector<v1::ScanStreamRequest>& messages,
                               std::vector<v1::ScanStreamResponse>&) {
    for (const v1::ScanStreamRequest& message : messages) masks[2] += message.where();
    ExpectMessage(messages[0].request().where(),
                  "streamed_array { element_type: ELEMENT_TYPE_BOOL }");
    return grpc::Status::OK;
  };
  const std::string elements = Letters(4000);
  const std::string mask = Letters(1000);
  const auto reduction = client_->OpenReductionStream(
      {.element_type = ElementType::kInt32, .has_mask = true}, {.statistics = {Statistic::kSum}});
  ASSERT_TRUE(reduction.ok()) << reduction.status();
  ASSERT_TRUE((*reduction)->Write(Bytes(elements), Bytes(mask)).ok());
  EXPECT_TRUE((*reduction)->Finish().ok());
  EXPECT_EQ(masks[0], mask);
  const auto histogram = client_->OpenHistogramStream(
      ElementType::kInt32, {.bins = {IntegerBins{.bin_count = 1}}}, {.mask = true});
  ASSERT_TRUE(histogram.ok()) << histogram.status();
  ASSERT_TRUE((*histogram)->Write(Bytes(elements), {}, {}, Bytes(mask)).ok());
  EXPECT_TRUE((*histogram)->Finish().ok());
  EXPECT_EQ(masks[1], mask);
  const auto scan =
      client_->OpenScanStream({.element_type = ElementType::kInt32, .has_mask = true}, {});
  ASSERT_TRUE(scan.ok()) << scan.status();
  ASSERT_TRUE((*scan)->Write(Bytes(elements), Bytes(mask)).ok());
  (*scan)->WritesDone();
  EXPECT_FALSE((*scan)->Read()->has_value());
  EXPECT_EQ(masks[2], mask);
  // The mask of a stream is none of its options.
  const ArrayView other_mask(ElementType::kBool, nullptr, 0);
  EXPECT_EQ(client_->OpenReductionStream({}, {.where = other_mask}).status(),
            absl::InvalidArgumentError("where: a stream's mask is sent beside its elements"));
  EXPECT_EQ(client_->OpenScanStream({}, {.where = other_mask}).status(),
            absl::InvalidArgumentError("where: a stream's mask is sent beside its elements"));
  HistogramOptions masked;
  masked.where = other_mask;
  EXPECT_EQ(client_->OpenHistogramStream(ElementType::kInt8, masked).status(),
            absl::InvalidArgumentError("where: a stream's mask is sent beside its samples"));
}

TEST_F(StreamClientTest, KeysGoBesideValues) {
  std::string sent[3];
  v1::ReduceByKeyRequest header;
  uint64_t element_count = 0;
  size_t largest = 0;
  server_.on_keyed_stream = [&](grpc::ServerContext&,
                                const std::vector<v1::ReduceByKeyStreamRequest>& messages,
                                v1::ReduceByKeyStreamResponse& response) {
    header = messages[0].request();
    for (const v1::ReduceByKeyStreamRequest& message : messages) {
      sent[0] += message.keys();
      sent[1] += message.values();
      sent[2] += message.y_keys();
      largest = std::max(largest, message.keys().size() + message.values().size());
    }
    element_count = messages.back().element_count();
    response.mutable_result()->set_group_count(1);
    response.mutable_result()->add_counts(5);
    return grpc::Status::OK;
  };
  const std::string keys = Letters(2000);
  const std::string values = Letters(4000);
  const KeyedReductionOptions found{.groups = FoundKeys{.key_count_max = 8}};
  const auto stream =
      client_->OpenKeyedReductionStream(ElementType::kInt16, ElementType::kFloat32, found);
  ASSERT_TRUE(stream.ok()) << stream.status();
  ASSERT_TRUE((*stream)->Write(Bytes(keys), Bytes(values)).ok());
  const auto result = (*stream)->Finish();
  ASSERT_TRUE(result.ok()) << result.status();
  EXPECT_EQ(result->counts, std::vector<uint64_t>{5});
  EXPECT_EQ(result->execution.transport, ArrayTransport::kStream);
  EXPECT_EQ(result->execution.streams, 1u);
  EXPECT_EQ(sent[0], keys);
  EXPECT_EQ(sent[1], values);
  EXPECT_EQ(element_count, 1000u);
  ExpectMessage(header,
                "keys { streamed_array { element_type: ELEMENT_TYPE_INT16 } } "
                "values { streamed_array { element_type: ELEMENT_TYPE_FLOAT32 } } "
                "found { key_count_max: 8 } nan_policy: NAN_POLICY_PROPAGATE "
                "overflow_policy: OVERFLOW_POLICY_ERROR");

  // Arrays that no message carries go the same way by themselves; with two coordinates too.
  server_.on_info = [](grpc::ServerContext&, const v1::GetServerInfoRequest&,
                       v1::GetServerInfoResponse& response) {
    response.mutable_limits()->set_message_bytes_max(100'000);
    response.mutable_limits()->set_array_chunk_bytes_max(50'000);
    return grpc::Status::OK;
  };
  const auto other = Client::Connect({.target = server_.target()});
  ASSERT_TRUE(other.ok());
  for (std::string& bytes : sent) bytes.clear();
  const std::vector<double> x(5000, 0.5);
  const std::vector<double> y(5000, 0.25);
  const std::vector<float> z(5000, 2);
  const KeyedReductionOptions bins{
      .statistics = {}, .groups = KeyBins{.bins = {EdgeBins{{0, 1}}}, .y_keys = ArrayView(y)}};
  const auto large = (*other)->ReduceByKey(ArrayView(x), ArrayView(z), bins);
  ASSERT_TRUE(large.ok()) << large.status();
  EXPECT_EQ(large->execution.transport, ArrayTransport::kStream);
  EXPECT_TRUE(header.bins().y_keys().has_streamed_array());
  EXPECT_EQ(sent[0].size(), 40'000u);
  EXPECT_EQ(sent[1].size(), 20'000u);
  EXPECT_EQ(sent[2], std::string(reinterpret_cast<const char*>(y.data()), 40'000));
  EXPECT_EQ(element_count, 5000u);
  EXPECT_LE(largest, 50'000u);
}

TEST_F(StreamClientTest, KeysAndValuesTakeTheWayOfOtherArrays) {
  server_.on_info = [](grpc::ServerContext&, const v1::GetServerInfoRequest&,
                       v1::GetServerInfoResponse& response) {
    response.mutable_limits()->set_message_bytes_max(uint64_t{1} << 30);
    response.mutable_limits()->set_array_chunk_bytes_max(uint64_t{1} << 20);
    return grpc::Status::OK;
  };
  server_.on_keyed_stream = [](grpc::ServerContext&,
                               const std::vector<v1::ReduceByKeyStreamRequest>&,
                               v1::ReduceByKeyStreamResponse&) { return grpc::Status::OK; };
  v1::ReduceByKeyRequest asked;
  server_.on_reduce_by_key = [&](grpc::ServerContext&, const v1::ReduceByKeyRequest& request,
                                 v1::ReduceByKeyResponse&) {
    asked = request;
    return grpc::Status::OK;
  };
  const KeyedReductionOptions found{.groups = FoundKeys{.key_count_max = 8}};
  const auto other = Client::Connect({.target = server_.target()});
  ASSERT_TRUE(other.ok());
  const auto way = [&](uint64_t count, const CallOptions& call_options = {}) {
    const std::vector<int8_t> keys(count);
    const std::vector<int8_t> values(count);
    const auto result = (*other)->ReduceByKey(keys, values, found, call_options);
    EXPECT_TRUE(result.ok()) << result.status();
    return result.ok() ? result->execution.transport : ArrayTransport::kAuto;
  };
  // From the size on at which one stream is faster, though a message would carry both.
  EXPECT_EQ(way(kStreamBytesMin / 2), ArrayTransport::kStream);
  EXPECT_EQ(way(kStreamBytesMin / 2 - 1), ArrayTransport::kInline);
  EXPECT_EQ(way(100, {.transport = ArrayTransport::kStreams}), ArrayTransport::kStream);
  EXPECT_EQ(way(kStreamBytesMin, {.transport = ArrayTransport::kInline}), ArrayTransport::kInline);
  server_.on_register_region = [](grpc::ServerContext&, const v1::RegisterRegionRequest&,
                                  v1::RegisterRegionResponse& response) {
    response.mutable_region()->set_name("r");
    return grpc::Status::OK;
  };
  EXPECT_EQ(way(100, {.transport = ArrayTransport::kRegion}), ArrayTransport::kRegion);
  ExpectMessage(asked.keys(),
                "region_slice { name: 'r' element_type: ELEMENT_TYPE_INT8 shape: 100 }");
  ExpectMessage(asked.values(),
                "region_slice { name: 'r' offset_bytes: 128 element_type: ELEMENT_TYPE_INT8 "
                "shape: 100 }");
}

TEST_F(StreamClientTest, ScansAreReadWhileTheyAreWritten) {
  server_.on_scan_stream = [](grpc::ServerContext&,
                              const std::vector<v1::ScanStreamRequest>& messages,
                              std::vector<v1::ScanStreamResponse>& answers) {
    EXPECT_EQ(messages[0].request().operation(), v1::SCAN_OPERATION_MAX);
    EXPECT_EQ(messages.back().element_count(), 2000u);
    for (const v1::ScanStreamRequest& message : messages) {
      if (message.data().empty()) continue;
      v1::ScanStreamResponse& answer = answers.emplace_back();
      answer.set_element_type(v1::ELEMENT_TYPE_INT8);
      answer.set_first_element(answers.size() == 1 ? 0 : 1000);
      answer.set_data(message.data());
    }
    answers.back().mutable_execution()->set_engine("fake");
    return grpc::Status::OK;
  };
  const auto stream = client_->OpenScanStream({.element_type = ElementType::kInt8},
                                              {.operation = ScanOperation::kMax});
  ASSERT_TRUE(stream.ok()) << stream.status();
  const std::string letters = Letters(2000);
  std::thread writer([&] {
    EXPECT_TRUE((*stream)->Write(Bytes(letters)).ok());
    (*stream)->WritesDone();
  });
  std::string results;
  while (true) {
    const auto piece = (*stream)->Read();
    ASSERT_TRUE(piece.ok()) << piece.status();
    if (!piece->has_value()) break;
    EXPECT_EQ((*piece)->first_element, results.size());
    results += (*piece)->data;
  }
  writer.join();
  EXPECT_EQ(results, letters);
  EXPECT_EQ((*stream)->execution().engine, "fake");
  EXPECT_EQ((*stream)->execution().transport, ArrayTransport::kStream);
  EXPECT_EQ((*stream)->execution().streams, 1u);
  EXPECT_FALSE((*stream)->Write(Bytes(letters)).ok()) << "the stream has ended";
}

TEST_F(StreamClientTest, ScansThatMakeNoSense) {
  // The second results of each stream.
  v1::ScanStreamResponse second;
  server_.on_scan_stream = [&](grpc::ServerContext&, const std::vector<v1::ScanStreamRequest>&,
                               std::vector<v1::ScanStreamResponse>& answers) {
    v1::ScanStreamResponse& first = answers.emplace_back();
    first.set_element_type(v1::ELEMENT_TYPE_INT16);
    first.set_data("abcd");
    answers.push_back(second);
    return grpc::Status::OK;
  };
  const auto read_second = [&](uint64_t first_element, v1::ElementType type,
                               const std::string& data) {
    second.set_first_element(first_element);
    second.set_element_type(type);
    second.set_data(data);
    const auto stream = client_->OpenScanStream({.element_type = ElementType::kInt16}, {});
    (*stream)->WritesDone();
    EXPECT_TRUE((*stream)->Read().ok());
    return (*stream)->Read().status();
  };
  EXPECT_EQ(read_second(2, v1::ELEMENT_TYPE_INT16, "ef"), absl::OkStatus());
  const auto nonsense = [](const char* bytes, int type, int first_element) {
    return absl::InternalError(absl::StrCat("the server's answer holds ", bytes,
                                            " bytes of element type ", type, " from element ",
                                            first_element, " on"));
  };
  EXPECT_EQ(read_second(1, v1::ELEMENT_TYPE_INT16, "ef"), nonsense("2", 2, 1));
  EXPECT_EQ(read_second(3, v1::ELEMENT_TYPE_INT16, "ef"), nonsense("2", 2, 3));
  EXPECT_EQ(read_second(2, v1::ELEMENT_TYPE_INT16, "efg"), nonsense("3", 2, 2));
  EXPECT_EQ(read_second(2, v1::ELEMENT_TYPE_UNSPECIFIED, "ef"), nonsense("2", 0, 2));
}

}  // namespace
}  // namespace gridfold::client
