// How arrays are cut for their way: every element arrives once, in messages and parts that are as
// large as they may be, and no call is made for nothing. The server answers as the test says.
#include <algorithm>
#include <memory>
#include <numeric>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/synchronization/mutex.h"
#include "client/library/fake_server.h"
#include "gmock/gmock.h"
#include "gridfold/client.h"
#include "gtest/gtest.h"

namespace gridfold::client {
namespace {

using testing::ElementsAre;

constexpr uint64_t kMessageBytes = 1000;
constexpr size_t kConnections = 4;

// What one stream has brought.
struct Received {
  std::vector<uint64_t> message_elements;  // Of each message with any.
  std::string bytes[3];                    // Of each array.
  bool is_well_formed = true;  // One request, first; one count, last; no message too large.
  uint64_t announced_count = 0;
};

template <typename Messages, typename BytesOf>
Received Receive(const Messages& messages, size_t element_bytes, BytesOf bytes_of) {
  Received received;
  for (size_t i = 0; i < messages.size(); ++i) {
    const auto& message = messages[i];
    size_t size = 0;
    const auto arrays = bytes_of(message);
    for (size_t array = 0; array < arrays.size(); ++array) {
      received.bytes[array] += arrays[array];
      size += arrays[array].size();
    }
    if (size > 0) received.message_elements.push_back(size / element_bytes);
    received.is_well_formed = received.is_well_formed && size <= kMessageBytes &&
                              size % element_bytes == 0 && message.has_request() == (i == 0) &&
                              message.has_element_count() == (i + 1 == messages.size());
    received.announced_count += message.element_count();
  }
  return received;
}

// As many full messages as there are, then one with the rest.
std::vector<uint64_t> FullMessages(uint64_t element_count, uint64_t step) {
  std::vector<uint64_t> elements(element_count / step, step);
  if (element_count % step > 0) elements.push_back(element_count % step);
  return elements;
}

class LargeArrayTest : public testing::Test {
 protected:
  LargeArrayTest() {
    server_.on_info = [](grpc::ServerContext&, const v1::GetServerInfoRequest&,
                         v1::GetServerInfoResponse& response) {
      response.mutable_limits()->set_message_bytes_max(uint64_t{64} << 20);
      response.mutable_limits()->set_array_chunk_bytes_max(uint64_t{16} << 20);
      return grpc::Status::OK;
    };
    auto client = Client::Connect({.target = server_.target(),
                                   .stream_count = kConnections,
                                   .write_chunk_bytes = kMessageBytes});
    EXPECT_TRUE(client.ok()) << client.status();
    client_ = *std::move(client);
  }

  static std::string BytesOf(size_t count, unsigned seed) {
    std::string bytes(count, '\0');
    for (size_t i = 0; i < count; ++i) bytes[i] = static_cast<char>((i * 7 + seed) % 251);
    return bytes;
  }

  FakeServer server_;
  std::unique_ptr<Client> client_;
};

TEST_F(LargeArrayTest, ReductionsArriveWholeWhateverRemains) {
  Received received;
  server_.on_reduce_stream = [&](grpc::ServerContext&, const auto& messages,
                                 v1::ReduceStreamResponse& response) {
    received = Receive(
        messages, 2, [](const auto& message) { return std::vector<std::string>{message.data()}; });
    response.mutable_result()->set_group_count(1);
    return grpc::Status::OK;
  };
  constexpr uint64_t kStep = kMessageBytes / 2;
  for (const uint64_t count : {uint64_t{1}, uint64_t{2}, kStep - 1, kStep, kStep + 1, 2 * kStep - 1,
                               2 * kStep, 2 * kStep + 1, 7 * kStep + 2}) {
    SCOPED_TRACE(count);
    const std::string bytes = BytesOf(2 * count, 1);
    std::vector<std::pair<uint64_t, uint64_t>> progress;
    CallOptions options{.transport = ArrayTransport::kStream};
    options.progress = [&](uint64_t sent, uint64_t size) { progress.emplace_back(sent, size); };
    const auto result = client_->ReduceArray(ArrayView(ElementType::kInt16, bytes.data(), count),
                                             {.statistics = {Statistic::kSum}}, options);
    ASSERT_TRUE(result.ok()) << result.status();
    EXPECT_EQ(result->execution.transport, ArrayTransport::kStream);
    EXPECT_EQ(result->execution.streams, 1u);
    EXPECT_EQ(received.bytes[0], bytes);
    EXPECT_EQ(received.message_elements, FullMessages(count, kStep));
    EXPECT_EQ(received.announced_count, count);
    EXPECT_TRUE(received.is_well_formed);
    ASSERT_FALSE(progress.empty());
    EXPECT_TRUE(std::is_sorted(progress.begin(), progress.end()));
    EXPECT_EQ(progress.back(), std::pair(2 * count, 2 * count));
  }
}

TEST_F(LargeArrayTest, HistogramsArriveInStepWhateverRemains) {
  Received received;
  server_.on_histogram_stream = [&](grpc::ServerContext&, const auto& messages,
                                    v1::HistogramStreamResponse& response) {
    received = Receive(messages, 10, [](const auto& message) {
      return std::vector<std::string>{message.data(), message.y_data(), message.weights()};
    });
    response.mutable_result()->add_channels()->add_weight_sums(1);
    response.mutable_result()->add_bins()->set_bin_count(1);
    response.mutable_result()->add_bins()->set_bin_count(1);
    return grpc::Status::OK;
  };
  constexpr uint64_t kStep = kMessageBytes / 10;  // One byte each, and eight of the weights.
  for (const uint64_t count : {uint64_t{1}, kStep - 1, kStep, kStep + 1, 3 * kStep + 1}) {
    SCOPED_TRACE(count);
    const std::string x = BytesOf(count, 1);
    const std::string y = BytesOf(count, 2);
    const std::string weights = BytesOf(8 * count, 3);
    HistogramOptions options;
    options.bins = {IntegerBins{.bin_count = 1}, IntegerBins{.bin_count = 1}};
    options.y_array = ArrayView(ElementType::kInt8, y.data(), count);
    options.weights = ArrayView(ElementType::kFloat64, weights.data(), count);
    const auto result = client_->ComputeHistogram(ArrayView(ElementType::kInt8, x.data(), count),
                                                  options, {.transport = ArrayTransport::kStream});
    ASSERT_TRUE(result.ok()) << result.status();
    EXPECT_EQ(received.bytes[0], x);
    EXPECT_EQ(received.bytes[1], y);
    EXPECT_EQ(received.bytes[2], weights);
    EXPECT_EQ(received.message_elements, FullMessages(count, kStep));
    EXPECT_EQ(received.announced_count, count);
    EXPECT_TRUE(received.is_well_formed);
  }
}

// Elements of all arrays together that are larger than a message may be go one by one.
TEST_F(LargeArrayTest, AMessageHasOneElementAtLeast) {
  std::vector<size_t> sizes;
  server_.on_histogram_stream = [&](grpc::ServerContext&, const auto& messages,
                                    v1::HistogramStreamResponse& response) {
    for (const auto& message : messages) {
      sizes.push_back(message.data().size() + message.weights().size());
    }
    response.mutable_result()->add_channels()->add_weight_sums(1);
    response.mutable_result()->add_bins()->set_bin_count(1);
    return grpc::Status::OK;
  };
  const auto client = Client::Connect({.target = server_.target(), .write_chunk_bytes = 8});
  ASSERT_TRUE(client.ok()) << client.status();
  const std::vector<int8_t> samples(3);
  const std::vector<double> weights(3);
  HistogramOptions options{.bins = {IntegerBins{.bin_count = 1}}};
  options.weights = ArrayView(weights);
  EXPECT_TRUE(
      (*client)->ComputeHistogram(samples, options, {.transport = ArrayTransport::kStream}).ok());
  EXPECT_THAT(sizes, ElementsAre(9, 9, 9));
}

// Every way in messages asks first how large they may be.
TEST_F(LargeArrayTest, AServerWhoseMessagesTakeNoElementIsNotSentAny) {
  uint64_t chunk_bytes_max = 7;
  server_.on_info = [&](grpc::ServerContext&, const auto&, v1::GetServerInfoResponse& response) {
    response.mutable_limits()->set_message_bytes_max(uint64_t{64} << 20);
    response.mutable_limits()->set_array_chunk_bytes_max(chunk_bytes_max);
    return grpc::Status::OK;
  };
  server_.on_create_array = [](grpc::ServerContext&, const v1::CreateArrayRequest& request,
                               v1::CreateArrayResponse& response) {
    response.mutable_array()->set_name("kept");
    response.mutable_array()->set_element_type(request.element_type());
    *response.mutable_array()->mutable_shape() = request.shape();
    return grpc::Status::OK;
  };
  server_.on_delete_array = [](grpc::ServerContext&, const auto&, auto&) {
    return grpc::Status::OK;
  };
  const std::vector<int8_t> values(100, 1);
  const ReductionOptions sum{.statistics = {Statistic::kSum}};
  const HistogramOptions bins{.bins = {IntegerBins{.bin_count = 4}}};
  const KeyedReductionOptions keyed{.groups = FoundKeys{.key_count_max = 8}};
  const absl::Status error =
      absl::InternalError("the server takes messages of 7 bytes, which not every element fits in");
  for (const ArrayTransport way :
       {ArrayTransport::kStream, ArrayTransport::kStreams, ArrayTransport::kResident}) {
    SCOPED_TRACE(static_cast<int>(way));
    EXPECT_EQ(client_->ReduceArray(values, sum, {.transport = way}).status(), error);
    EXPECT_EQ(client_->ComputeHistogram(values, bins, {.transport = way}).status(), error);
    EXPECT_EQ(client_->ReduceByKey(values, values, keyed, {.transport = way}).status(), error);
    EXPECT_EQ(client_->ScanArray(values, {}, {.transport = way}).status(), error);
  }
  EXPECT_EQ(client_->WriteArray("kept", 0, values), error);
  EXPECT_EQ(client_->OpenReductionStream({}, sum).status(), error);
  EXPECT_EQ(client_->OpenScanStream({}, {}).status(), error);
  EXPECT_EQ(client_->OpenHistogramStream(ElementType::kInt8, bins).status(), error);
  EXPECT_EQ(
      client_->OpenKeyedReductionStream(ElementType::kInt8, ElementType::kInt8, keyed).status(),
      error);
  chunk_bytes_max = 8;
  const auto other = Client::Connect({.target = server_.target()});
  EXPECT_TRUE((*other)->OpenReductionStream({}, sum).ok());
}

// The server gives back each row's element, so the answer shows whether the parts' answers are put
// together in the order of the parts.
TEST_F(LargeArrayTest, PartsAreEqualAndTheirAnswersInOrder) {
  absl::Mutex mutex;
  std::vector<size_t> part_sizes;
  server_.on_reduce_stream = [&](grpc::ServerContext&,
                                 const std::vector<v1::ReduceStreamRequest>& messages,
                                 v1::ReduceStreamResponse& response) {
    std::string data;
    for (const v1::ReduceStreamRequest& message : messages) data += message.data();
    v1::ReduceArrayResponse& result = *response.mutable_result();
    result.set_group_count(data.size());
    v1::StatisticValues& sums = *result.add_results();
    sums.set_statistic(v1::STATISTIC_SUM);
    for (const char byte : data) {
      sums.mutable_values()->mutable_int64_values()->add_values(static_cast<signed char>(byte));
    }
    const absl::MutexLock lock(&mutex);
    part_sizes.push_back(data.size());
    return grpc::Status::OK;
  };
  // One for each connection, as equal as they can be.
  for (const auto& [count, smallest] :
       {std::pair<uint64_t, size_t>{4000, 1000}, {4001, 1000}, {3999, 999}, {4, 1}}) {
    SCOPED_TRACE(count);
    part_sizes.clear();
    const std::string bytes = BytesOf(count, 5);
    const ArrayView array =
        ArrayView(ElementType::kInt8, bytes.data(), count).WithShape({count, 1});
    const auto result =
        client_->ReduceArray(array, {.statistics = {Statistic::kSum}, .grouping = Axis{1}},
                             {.transport = ArrayTransport::kStreams});
    ASSERT_TRUE(result.ok()) << result.status();
    EXPECT_EQ(result->execution.transport, ArrayTransport::kStreams);
    EXPECT_EQ(result->group_count, count);
    EXPECT_THAT(result->result_shape, ElementsAre(count));
    std::vector<int64_t> expected;
    for (const char byte : bytes) expected.push_back(static_cast<signed char>(byte));
    EXPECT_EQ(std::get<std::vector<int64_t>>(*result->Find(Statistic::kSum)), expected);
    EXPECT_EQ(part_sizes.size(), kConnections);
    const auto [low, high] = std::minmax_element(part_sizes.begin(), part_sizes.end());
    EXPECT_EQ(*low, smallest);
    EXPECT_EQ(*high, (count + kConnections - 1) / kConnections);
  }
}

// Bins whose range follows from the samples: these go twice only where they go in parts.
TEST_F(LargeArrayTest, RangesAreAskedForOnlyWhereArraysGoInParts) {
  absl::Mutex mutex;
  std::vector<std::string> calls;
  const auto note = [&](const char* call) {
    const absl::MutexLock lock(&mutex);
    calls.emplace_back(call);
  };
  server_.on_reduce = [&](grpc::ServerContext&, const auto&, auto&) {
    note("reduce");
    return grpc::Status(grpc::StatusCode::INVALID_ARGUMENT, "no");
  };
  server_.on_reduce_stream = [&](grpc::ServerContext&, const auto&, auto&) {
    note("reduce stream");
    return grpc::Status(grpc::StatusCode::INVALID_ARGUMENT, "no");
  };
  server_.on_histogram = [&](grpc::ServerContext&, const auto&,
                             v1::ComputeHistogramResponse& response) {
    note("histogram");
    response.add_channels()->add_counts(1);
    response.add_bins()->set_bin_count(1);
    return grpc::Status::OK;
  };
  server_.on_register_region = [](grpc::ServerContext&, const v1::RegisterRegionRequest&,
                                  v1::RegisterRegionResponse& response) {
    response.mutable_region()->set_name("r");
    return grpc::Status::OK;
  };
  const std::vector<int8_t> samples(5000, 3);
  const HistogramOptions found{.bins = {EvenBins{.bin_count = 1}}};
  const auto calls_by = [&](ArrayTransport transport) {
    calls.clear();
    const auto result = client_->ComputeHistogram(samples, found, {.transport = transport});
    EXPECT_TRUE(result.ok()) << result.status();
    return calls;
  };
  EXPECT_THAT(calls_by(ArrayTransport::kAuto), ElementsAre("histogram"));
  EXPECT_THAT(calls_by(ArrayTransport::kInline), ElementsAre("histogram"));
  EXPECT_THAT(calls_by(ArrayTransport::kStream), ElementsAre("histogram"));
  EXPECT_THAT(calls_by(ArrayTransport::kRegion), testing::Contains("reduce"));
  EXPECT_THAT(calls_by(ArrayTransport::kStreams), testing::Contains("reduce stream"));

  // One bound without the other is for the server to judge, who sees the bins as they were given.
  std::optional<v1::EvenBins> seen;
  server_.on_histogram = [&](grpc::ServerContext&, const v1::ComputeHistogramRequest& request,
                             v1::ComputeHistogramResponse&) {
    seen = request.bins(0).even();
    return grpc::Status(grpc::StatusCode::INVALID_ARGUMENT, "no");
  };
  const HistogramOptions half{.bins = {EvenBins{.bin_count = 1, .lower_bound = 2}}};
  EXPECT_TRUE(absl::IsInvalidArgument(
      client_->ComputeHistogram(samples, half, {.transport = ArrayTransport::kStreams}).status()));
  ASSERT_TRUE(seen.has_value());
  EXPECT_EQ(seen->lower_bound(), 2);
  EXPECT_FALSE(seen->has_upper_bound());
}

}  // namespace
}  // namespace gridfold::client
