// Streams that the server ends while the client still writes: the caller hears why.
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <thread>
#include <vector>

#include "absl/status/status.h"
#include "client/library/stream_client_test_fixture.h"
#include "gridfold/client.h"
#include "gtest/gtest.h"

namespace gridfold::client {
namespace {

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
    const auto stream = client_->OpenScanStream({.element_type = ElementType::kInt8}, {});
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
  const auto stream = client_->OpenScanStream({.element_type = ElementType::kInt8}, {});
  ASSERT_TRUE(stream.ok());
  const absl::Status status =
      WriteOn([&](std::span<const std::byte> data) { return (*stream)->Write(data); });
  EXPECT_EQ(status.code(), absl::StatusCode::kInternal) << status;
}

// Expects that a stream whose writes fail by `error` says so from then on, whatever it is asked.
template <typename Stream, typename Write>
void ExpectEnded(Stream& stream, Write write, const absl::Status& error) {
  EXPECT_EQ(write(), error);
  EXPECT_EQ(stream.Finish().status(), error);
  EXPECT_EQ(write(), error);
}

class EndedStreamsTest : public EndedStreamTest {
 protected:
  // A stream of each kind that has an answer at its end.
  void ExpectAllEnded(const absl::Status& error) {
    const auto reduction = client_->OpenReductionStream({}, {.statistics = {Statistic::kSum}});
    ASSERT_TRUE(reduction.ok());
    ExpectEnded(
        **reduction, [&] { return WriteOn([&](auto data) { return (*reduction)->Write(data); }); },
        error);
    const auto histogram = client_->OpenHistogramStream(ElementType::kInt8, {});
    ASSERT_TRUE(histogram.ok());
    ExpectEnded(
        **histogram, [&] { return WriteOn([&](auto data) { return (*histogram)->Write(data); }); },
        error);
    const auto keyed =
        client_->OpenKeyedReductionStream(ElementType::kInt8, ElementType::kInt8, {});
    ASSERT_TRUE(keyed.ok());
    ExpectEnded(
        **keyed, [&] { return WriteOn([&](auto data) { return (*keyed)->Write(data, data); }); },
        error);
  }
};

TEST_F(EndedStreamsTest, TheServersErrorIsThatOfTheStream) {
  server_.on_reduce_stream = [](grpc::ServerContext&, const auto&, auto&) { return Overflow(); };
  server_.on_histogram_stream = [](grpc::ServerContext&, const auto&, auto&) { return Overflow(); };
  server_.on_keyed_stream = [](grpc::ServerContext&, const auto&, auto&) { return Overflow(); };
  for (int i = 0; i < 20; ++i) ExpectAllEnded(absl::OutOfRangeError("overflow"));
}

// An answer to what was sent until then is none to what was not.
TEST_F(EndedStreamsTest, AnAnswerThatComesTooSoonIsNone) {
  server_.on_reduce_stream = [](grpc::ServerContext&, const auto&,
                                v1::ReduceStreamResponse& response) {
    response.mutable_result()->set_group_count(1);
    return grpc::Status::OK;
  };
  server_.on_histogram_stream = [](grpc::ServerContext&, const auto&,
                                   v1::HistogramStreamResponse& response) {
    response.mutable_result()->add_channels()->add_counts(1);
    response.mutable_result()->add_bins()->set_bin_count(1);
    return grpc::Status::OK;
  };
  server_.on_keyed_stream = [](grpc::ServerContext&, const auto&, v1::ReduceByKeyStreamResponse&) {
    return grpc::Status::OK;
  };
  ExpectAllEnded(absl::InternalError("the server has ended the stream early"));
}

// Nor where the library sends an array by itself.
TEST_F(EndedStreamTest, AnAnswerToAPartOfAnArrayIsNone) {
  server_.on_reduce_stream = [](grpc::ServerContext&, const auto&,
                                v1::ReduceStreamResponse& response) {
    response.mutable_result()->set_group_count(1);
    return grpc::Status::OK;
  };
  const std::string letters = Letters(4 << 20);
  EXPECT_EQ(
      client_
          ->ReduceArray(ArrayView(ElementType::kInt8, letters.data(), letters.size()),
                        {.statistics = {Statistic::kSum}}, {.transport = ArrayTransport::kStream})
          .status(),
      absl::InternalError("the server has ended the stream early"));
}

// What is no message: text that is not UTF-8.
constexpr char kNoText[] = "\xff";

TEST_F(StreamClientTest, AnAnswerThatIsNoMessageIsAnErrorThatStays) {
  const auto break_answer = [](grpc::ServerContext&, const auto&, auto& response) {
    response.mutable_result()->mutable_execution()->set_engine(kNoText);
    return grpc::Status::OK;
  };
  server_.on_reduce_stream = break_answer;
  server_.on_histogram_stream = break_answer;
  server_.on_keyed_stream = break_answer;
  const auto error = [](const std::string& message) {
    return absl::InternalError("the server's answer is not a gridfold.v1." + message);
  };
  const std::string letters = Letters(8);
  const auto reduction = client_->OpenReductionStream({}, {});
  EXPECT_EQ((*reduction)->Finish().status(), error("ReduceStreamResponse"));
  EXPECT_EQ((*reduction)->Write(Bytes(letters)), error("ReduceStreamResponse"));
  const auto histogram = client_->OpenHistogramStream(ElementType::kInt8, {});
  EXPECT_EQ((*histogram)->Finish().status(), error("HistogramStreamResponse"));
  EXPECT_EQ((*histogram)->Write(Bytes(letters)), error("HistogramStreamResponse"));
  const auto keyed = client_->OpenKeyedReductionStream(ElementType::kInt8, ElementType::kInt8, {});
  EXPECT_EQ((*keyed)->Finish().status(), error("ReduceByKeyStreamResponse"));
  EXPECT_EQ((*keyed)->Write(Bytes(letters), Bytes(letters)), error("ReduceByKeyStreamResponse"));
  server_.on_scan_stream = [](grpc::ServerContext&, const auto&,
                              std::vector<v1::ScanStreamResponse>& answers) {
    v1::ScanStreamResponse& answer = answers.emplace_back();
    answer.set_element_type(v1::ELEMENT_TYPE_INT8);
    answer.set_data("a");
    answer.mutable_execution()->set_engine(kNoText);
    return grpc::Status::OK;
  };
  const auto scan = client_->OpenScanStream({.element_type = ElementType::kInt8}, {});
  (*scan)->WritesDone();
  EXPECT_EQ((*scan)->Read().status(), error("ScanStreamResponse"));
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
