// Which arrays go in a stream where one is asked for: all others go in a request, whose answer the
// server can give, or say what is wrong.
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "absl/strings/str_join.h"
#include "client/library/fake_server.h"
#include "gridfold/client.h"
#include "gtest/gtest.h"

namespace gridfold::client {
namespace {

constexpr uint64_t kAnyStreamMessageBytes = uint64_t{32} << 20;

class StreamableTest : public testing::Test {
 protected:
  StreamableTest() {
    const auto note = [this](const char* call, auto& handler) {
      handler = [this, call](grpc::ServerContext&, const auto&, auto&) {
        calls_.emplace_back(call);
        return grpc::Status(grpc::StatusCode::FAILED_PRECONDITION, "asked");
      };
    };
    note("request", server_.on_reduce);
    note("request", server_.on_scan);
    note("request", server_.on_histogram);
    note("request", server_.on_reduce_by_key);
    note("stream", server_.on_reduce_stream);
    note("stream", server_.on_scan_stream);
    note("stream", server_.on_histogram_stream);
    note("stream", server_.on_keyed_stream);
    server_.on_info = [this](grpc::ServerContext&, const auto&,
                             v1::GetServerInfoResponse& response) {
      response.mutable_limits()->set_message_bytes_max(message_bytes_max_);
      response.mutable_limits()->set_array_chunk_bytes_max(uint64_t{1} << 20);
      return grpc::Status::OK;
    };
    Connect(kAnyStreamMessageBytes);
  }

  void Connect(uint64_t message_bytes_max) {
    message_bytes_max_ = message_bytes_max;
    client_ = *Client::Connect({.target = server_.target()});
  }

  std::string Reduce(const ArrayView& array, const ReductionOptions& options) {
    calls_.clear();
    EXPECT_FALSE(client_->ReduceArray(array, options, kInStream).ok());
    return absl::StrJoin(calls_, ",");
  }
  std::string Count(const ArrayView& array, const HistogramOptions& options) {
    calls_.clear();
    EXPECT_FALSE(client_->ComputeHistogram(array, options, kInStream).ok());
    return absl::StrJoin(calls_, ",");
  }
  std::string Scan(const ArrayView& array, const ScanOptions& options) {
    calls_.clear();
    EXPECT_FALSE(client_->ScanArray(array, options, kInStream).ok());
    return absl::StrJoin(calls_, ",");
  }
  std::string Group(const ArrayView& keys, const ArrayView& values,
                    const KeyedReductionOptions& options) {
    calls_.clear();
    EXPECT_FALSE(client_->ReduceByKey(keys, values, options, kInStream).ok());
    return absl::StrJoin(calls_, ",");
  }

  const CallOptions kInStream{.transport = ArrayTransport::kStream};
  const std::vector<int8_t> bytes_ = std::vector<int8_t>(60, 1);
  const ArrayView array_{bytes_};
  const ArrayView truths_{ElementType::kBool, bytes_.data(), bytes_.size()};
  const ArrayView shorter_{ElementType::kInt8, bytes_.data(), bytes_.size() - 1};
  uint64_t message_bytes_max_ = 0;
  FakeServer server_;
  std::unique_ptr<Client> client_;
  std::vector<std::string> calls_;  // One at a time.
};

TEST_F(StreamableTest, Reductions) {
  const std::vector<Statistic> sum = {Statistic::kSum};
  const std::vector<Statistic> product = {Statistic::kProduct};
  EXPECT_EQ(Reduce(array_, {.statistics = sum}), "stream");
  EXPECT_EQ(Reduce(array_, {.statistics = product}), "stream");
  const ArrayView matrix = array_.WithShape({4, 15});
  EXPECT_EQ(Reduce(matrix, {.statistics = sum}), "stream");
  EXPECT_EQ(Reduce(matrix, {.statistics = sum, .grouping = Axis{0}}), "stream");
  EXPECT_EQ(Reduce(matrix, {.statistics = sum, .grouping = Axis{1}}), "stream");
  EXPECT_EQ(Reduce(array_.WithShape({4, 16}), {.statistics = sum}), "request");
  EXPECT_EQ(Reduce(matrix, {.statistics = sum, .keep_dimensions = true}), "stream");
  EXPECT_EQ(Reduce(array_, {.statistics = sum, .grouping = Axis{0}}), "stream");
  EXPECT_EQ(Reduce(array_, {.statistics = sum, .grouping = Axis{1}}), "request");
  const ArrayView cube = array_.WithShape({3, 4, 5});
  EXPECT_EQ(Reduce(cube, {.statistics = sum, .grouping = Axis{0}}), "stream");
  EXPECT_EQ(Reduce(cube, {.statistics = sum, .grouping = Axis{1}}), "request");
  EXPECT_EQ(Reduce(array_, {.statistics = sum, .where = truths_}), "request");
  for (const ElementType type : {ElementType::kFloat16, ElementType::kBfloat16,
                                 ElementType::kFloat32, ElementType::kFloat64}) {
    const ArrayView floats(type, bytes_.data(), 7);
    EXPECT_EQ(Reduce(floats, {.statistics = sum}), "stream") << ElementTypeName(type);
    EXPECT_EQ(Reduce(floats, {.statistics = {Statistic::kSum, Statistic::kProduct}}), "request")
        << ElementTypeName(type);
  }
}

// What a stream keeps of its columns, or of a segment that has not ended, has to have room.
TEST_F(StreamableTest, ReductionsThatNeedRoom) {
  const ReductionOptions segments{.statistics = {Statistic::kSum},
                                  .grouping = Segments{{0, 5, 60}}};
  EXPECT_EQ(Reduce(array_, segments), "stream");
  EXPECT_EQ(Scan(array_, {}), "stream");
  Connect(kAnyStreamMessageBytes - 1);
  EXPECT_EQ(Reduce(array_, segments), "request");
  EXPECT_EQ(Scan(array_, {}), "request");
  // 2,048 bytes of each column.
  const ReductionOptions columns{.statistics = {Statistic::kSum}, .grouping = Axis{0}};
  const ArrayView wide = array_.WithShape({1, 60});
  Connect(60 * 2048);
  EXPECT_EQ(Reduce(wide, columns), "stream");
  Connect(60 * 2048 - 1);
  EXPECT_EQ(Reduce(wide, columns), "request");
  EXPECT_EQ(Reduce(wide, {.statistics = {Statistic::kSum}, .grouping = Axis{1}}), "stream");
}

TEST_F(StreamableTest, Histograms) {
  HistogramOptions options{.bins = {IntegerBins{.bin_count = 4}}};
  const auto with = [&](const std::function<void(HistogramOptions&)>& change) {
    HistogramOptions changed = options;
    change(changed);
    return Count(array_, changed);
  };
  EXPECT_EQ(Count(array_, options), "stream");
  EXPECT_EQ(Count(truths_, options), "request");
  EXPECT_EQ(Count(array_.WithShape({4, 16}), options), "request");
  EXPECT_EQ(with([&](auto& changed) { changed.weights = array_; }), "stream");
  EXPECT_EQ(with([&](auto& changed) { changed.weights = shorter_; }), "request");
  EXPECT_EQ(with([&](auto& changed) { changed.weights = truths_; }), "request");
  EXPECT_EQ(with([&](auto& changed) { changed.weights = array_.WithShape({4, 16}); }), "request");
  EXPECT_EQ(with([&](auto& changed) { changed.weights = ResidentArray{"x"}; }), "request");
  EXPECT_EQ(with([&](auto& changed) { changed.y_array = array_; }), "stream");
  EXPECT_EQ(with([&](auto& changed) { changed.y_array = shorter_; }), "request");
  EXPECT_EQ(with([&](auto& changed) { changed.where = truths_; }), "request");
  EXPECT_EQ(with([&](auto& changed) { changed.channel_count = 0; }), "request");
  EXPECT_EQ(with([&](auto& changed) { changed.channel_count = 3; }), "stream");
  EXPECT_EQ(with([&](auto& changed) { changed.channel_count = 7; }), "request");
  EXPECT_EQ(with([&](auto& changed) { changed.bins = {EvenBins{.bin_count = 4}}; }), "request");
  EXPECT_EQ(with([&](auto& changed) {
              changed.bins = {EvenBins{.bin_count = 4, .lower_bound = 0, .upper_bound = 1}};
            }),
            "stream");
  EXPECT_EQ(
      with([&](auto& changed) { changed.bins = {EvenBins{.bin_count = 4, .upper_bound = 1}}; }),
      "request");
}

TEST_F(StreamableTest, Scans) {
  EXPECT_EQ(Scan(array_, {}), "stream");
  EXPECT_EQ(Scan(array_, {.operation = ScanOperation::kMax}), "stream");
  EXPECT_EQ(Scan(array_, {.where = truths_}), "request");
  EXPECT_EQ(Scan(array_, {.window = 3}), "request");
  EXPECT_EQ(Scan(array_, {.operation = ScanOperation::kMean}), "request");
  EXPECT_EQ(Scan(truths_, {}), "request");
  EXPECT_EQ(Scan(array_.WithShape({4, 15}), {}), "request");
  EXPECT_EQ(Scan(array_, {.grouping = Segments{{0, 60}}}), "request");
  EXPECT_EQ(Scan(array_, {.direction = ScanDirection::kReverse}), "request");
}

TEST_F(StreamableTest, ReductionsByKey) {
  const KeyedReductionOptions found{.groups = FoundKeys{.key_count_max = 8}};
  EXPECT_EQ(Group(array_, array_, found), "stream");
  EXPECT_EQ(Group(array_, shorter_, found), "request");
  EXPECT_EQ(Group(truths_, array_, found), "request");
  EXPECT_EQ(Group(array_, truths_, found), "request");
  KeyedReductionOptions quantiles = found;
  quantiles.quantiles = {0.5};
  EXPECT_EQ(Group(array_, array_, quantiles), "request");
  const ArrayView floats(ElementType::kFloat32, bytes_.data(), 15);
  const ArrayView keys(ElementType::kInt8, bytes_.data(), 15);
  EXPECT_EQ(Group(keys, floats, found), "stream");
  KeyedReductionOptions product = found;
  product.statistics = {Statistic::kProduct};
  EXPECT_EQ(Group(keys, floats, product), "request");
  EXPECT_EQ(Group(keys, keys, product), "stream");
  const auto binned = [&](const KeyBins& bins) {
    KeyedReductionOptions options;
    options.groups = bins;
    return Group(array_, array_, options);
  };
  const BinSpecification known = EdgeBins{{0, 1}};
  EXPECT_EQ(binned({.bins = {known}}), "stream");
  EXPECT_EQ(binned({.bins = {EvenBins{.bin_count = 4}}}), "request");
  EXPECT_EQ(binned({.bins = {known}, .y_keys = array_}), "stream");
  EXPECT_EQ(binned({.bins = {known}, .y_keys = shorter_}), "request");
  EXPECT_EQ(binned({.bins = {known}, .y_keys = ArrayView(ElementType::kUint8, bytes_.data(), 60)}),
            "request");
  EXPECT_EQ(binned({.bins = {known}, .further_keys = {array_}}), "request");
}

}  // namespace
}  // namespace gridfold::client
