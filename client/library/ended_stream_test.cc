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
