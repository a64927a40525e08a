// Streams as the client sends and takes them: against a server that answers as the test says.
#include <memory>
#include <numeric>
#include <string>
#include <thread>
#include <vector>

#include "client/library/fake_server.h"
#include "gmock/gmock.h"
#include "google/protobuf/text_format.h"
#include "gridfold/client.h"
#include "gtest/gtest.h"

namespace gridfold::client {
namespace {

class StreamClientTest : public testing::Test {
 protected:
  StreamClientTest() {
    server_.on_info = [](grpc::ServerContext&, const v1::GetServerInfoRequest&,
                         v1::GetServerInfoResponse& response) {
      response.mutable_limits()->set_array_chunk_bytes_max(uint64_t{16} << 20);
      return grpc::Status::OK;
    };
    auto client = Client::Connect({.target = server_.target(), .write_chunk_bytes = 1000});
    EXPECT_TRUE(client.ok()) << client.status();
    client_ = *std::move(client);
  }

  template <typename Message>
  static void ExpectMessage(const Message& actual, const std::string& text) {
    Message expected;
    ASSERT_TRUE(google::protobuf::TextFormat::ParseFromString(text, &expected)) << text;
    EXPECT_EQ(actual.DebugString(), expected.DebugString());
  }

  static std::string Letters(size_t count) {
    std::string letters(count, 'a');
    for (size_t i = 0; i < count; ++i) letters[i] = static_cast<char>('a' + i % 26);
    return letters;
  }
  static std::span<const std::byte> Bytes(const std::string& text) {
    return std::as_bytes(std::span(text));
  }

  FakeServer server_;
  std::unique_ptr<Client> client_;
};

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
  const auto stream =
      client_->OpenScanStream(ElementType::kInt8, {.operation = ScanOperation::kMax});
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
  EXPECT_FALSE((*stream)->Write(Bytes(letters)).ok()) << "the stream has ended";
}

TEST_F(StreamClientTest, ScansThatMakeNoSense) {
  server_.on_scan_stream = [](grpc::ServerContext&, const std::vector<v1::ScanStreamRequest>&,
                              std::vector<v1::ScanStreamResponse>& answers) {
    answers.emplace_back().set_first_element(7);
    return grpc::Status::OK;
  };
  const auto stream = client_->OpenScanStream(ElementType::kInt8, {});
  ASSERT_TRUE(stream.ok());
  (*stream)->WritesDone();
  EXPECT_EQ((*stream)->Read().status().code(), absl::StatusCode::kInternal);
}

// Ends in the middle of what is sent, and says why: whoever writes on hears just that.
class EndedStreamTest : public StreamClientTest {
 protected:
  EndedStreamTest() { server_.stream_messages_max = 1; }

  static grpc::Status Overflow() { return {grpc::StatusCode::OUT_OF_RANGE, "overflow"}; }
  // Writes until an error comes, which a bounded number of messages must bring.
  template <typename Write>
  static absl::Status WriteOn(Write write) {
    const std::string letters = Letters(1 << 20);
    for (int i = 0; i < 1000; ++i) {
      if (absl::Status status = write(Bytes(letters)); !status.ok()) return status;
    }
    return absl::OkStatus();
  }
};

TEST_F(EndedStreamTest, ScansSayWhyBothWays) {
  server_.on_scan_stream = [](grpc::ServerContext&, const auto&,
                              std::vector<v1::ScanStreamResponse>& answers) {
    for (int i = 0; i < 3; ++i) {
      v1::ScanStreamResponse& answer = answers.emplace_back();
      answer.set_element_type(v1::ELEMENT_TYPE_INT8);
      answer.set_first_element(static_cast<uint64_t>(i) * 1000);
      answer.set_data(Letters(1000));
    }
    return Overflow();
  };
  // One thread for both, and one for each.
  for (const bool is_concurrent : {false, true}) {
    const auto stream = client_->OpenScanStream(ElementType::kInt8, {});
    ASSERT_TRUE(stream.ok());
    absl::Status written;
    std::thread writer([&] {
      written = WriteOn([&](std::span<const std::byte> data) { return (*stream)->Write(data); });
    });
    if (!is_concurrent) writer.join();
    std::string results;
    absl::Status read;
    while (true) {
      const auto piece = (*stream)->Read();
      read = piece.status();
      if (!piece.ok() || !piece->has_value()) break;
      results += (*piece)->data;
    }
    if (is_concurrent) writer.join();
    EXPECT_EQ(written, absl::OutOfRangeError("overflow"));
    EXPECT_EQ(read, absl::OutOfRangeError("overflow"));
    EXPECT_EQ(results.size(), 3000u) << "what came before the error is read too";
    EXPECT_EQ((*stream)->Write(Bytes(results)), absl::OutOfRangeError("overflow"));
  }
}

TEST_F(EndedStreamTest, ScansThatEndTooSoonAreErrors) {
  server_.on_scan_stream = [](grpc::ServerContext&, const auto&, auto&) {
    return grpc::Status::OK;
  };
  const auto stream = client_->OpenScanStream(ElementType::kInt8, {});
  ASSERT_TRUE(stream.ok());
  const absl::Status status =
      WriteOn([&](std::span<const std::byte> data) { return (*stream)->Write(data); });
  EXPECT_EQ(status.code(), absl::StatusCode::kInternal) << status;
}

TEST_F(EndedStreamTest, ReductionsAndHistogramsSayWhy) {
  server_.on_reduce_stream = [](grpc::ServerContext&, const auto&, auto&) { return Overflow(); };
  server_.on_histogram_stream = [](grpc::ServerContext&, const auto&, auto&) { return Overflow(); };
  for (int i = 0; i < 20; ++i) {
    const auto reduction = client_->OpenReductionStream({}, {.statistics = {Statistic::kSum}});
    ASSERT_TRUE(reduction.ok());
    EXPECT_EQ(WriteOn([&](auto data) { return (*reduction)->Write(data); }),
              absl::OutOfRangeError("overflow"));
    EXPECT_EQ((*reduction)->Finish().status(), absl::OutOfRangeError("overflow"));
    const auto histogram = client_->OpenHistogramStream(ElementType::kInt8, {});
    ASSERT_TRUE(histogram.ok());
    EXPECT_EQ(WriteOn([&](auto data) { return (*histogram)->Write(data); }),
              absl::OutOfRangeError("overflow"));
  }
}

TEST_F(EndedStreamTest, ArraysThatAreWrittenSayWhy) {
  server_.on_write_array = [](grpc::ServerContext&, const auto&, auto&) { return Overflow(); };
  const std::string letters = Letters(4 << 20);
  for (int i = 0; i < 20; ++i) {
    EXPECT_EQ(client_->WriteArray("name", 0,
                                  ArrayView(ElementType::kInt8, letters.data(), letters.size())),
              absl::OutOfRangeError("overflow"));
  }
}

}  // namespace
}  // namespace gridfold::client
