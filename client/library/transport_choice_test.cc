// One call, whichever way its array travels: answers and errors are the same, to the bit. Against
// the server of the same build.
#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <memory>
#include <random>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/time/clock.h"
#include "client/library/tcp_proxy.h"
#include "client/library/test_server.h"
#include "gmock/gmock.h"
#include "gridfold/client.h"
#include "gridfold/error_details.h"
#include "gridfold/shared_region.h"
#include "gtest/gtest.h"

namespace gridfold::client {
namespace {

constexpr ArrayTransport kTransports[] = {ArrayTransport::kStream, ArrayTransport::kStreams,
                                          ArrayTransport::kRegion, ArrayTransport::kResident,
                                          ArrayTransport::kAuto};
constexpr ElementType kTypes[] = {
    ElementType::kInt8,    ElementType::kInt16,    ElementType::kInt32,   ElementType::kInt64,
    ElementType::kUint8,   ElementType::kUint16,   ElementType::kUint32,  ElementType::kUint64,
    ElementType::kFloat16, ElementType::kBfloat16, ElementType::kFloat32, ElementType::kFloat64};

std::string BitsOf(const StatisticValues& values) {
  return std::visit(
      [](const auto& list) {
        std::string bits;
        for (const auto value : list) {
          bits.append(reinterpret_cast<const char*>(&value), sizeof(value));
        }
        return bits;
      },
      values);
}

std::string BitsOf(const ReductionResult& result) {
  std::string bits =
      absl::StrCat(result.group_count, ";", absl::StrJoin(result.result_shape, "x"), ";");
  for (const ReductionResult::Entry& entry : result.entries) {
    absl::StrAppend(&bits, static_cast<int>(entry.statistic), ":", BitsOf(entry.values), ";",
                    static_cast<int>(entry.output_type), ":", entry.data, ";");
  }
  return bits;
}

template <typename T>
std::string BitsOf(const std::vector<T>& values) {
  return {reinterpret_cast<const char*>(values.data()), values.size() * sizeof(T)};
}

std::string BitsOf(const HistogramResult& result) {
  std::string bits;
  for (const HistogramCounts& channel : result.channels) {
    absl::StrAppend(&bits, BitsOf(channel.counts), ";", BitsOf(channel.weight_sums), ";",
                    BitsOf(channel.bin_indices), ";", channel.underflow_count, ",",
                    channel.overflow_count, ",", channel.nan_count, ";",
                    BitsOf(channel.quantile_values));
  }
  for (const ResolvedBins& bins : result.bins) {
    absl::StrAppend(&bits, bins.bin_count, ";", BitsOf(bins.edges), ";");
  }
  return bits;
}

std::string BitsOf(const KeyedReductionResult& result) {
  std::string bits = absl::StrCat(result.group_count, ";", BitsOf(result.counts), ";");
  for (const auto& entry : result.entries) {
    absl::StrAppend(&bits, static_cast<int>(entry.statistic), ":", BitsOf(entry.values), ";");
  }
  return bits;
}

std::string BitsOf(const ScanResult& result) {
  return absl::StrCat(static_cast<int>(result.element_type), ";", BitsOf(result.shape), ";",
                      result.data);
}

// The answer's bits, or the error.
template <typename Result>
std::string Told(const absl::StatusOr<Result>& result) {
  if (result.ok()) return BitsOf(*result);
  const absl::Status& status = result.status();
  return absl::StrCat(static_cast<int>(status.code()), "; ", status.message(), "; ",
                      ErrorReason(status).value_or(""), "; ", ViolatedField(status).value_or(""));
}

class TransportChoiceTest : public testing::Test {
 protected:
  static void SetUpTestSuite() { server_ = new TestServer({"--allow-regions"}); }
  static void TearDownTestSuite() {
    delete server_;
    server_ = nullptr;
  }

  uint64_t Below(uint64_t limit) {
    return std::uniform_int_distribution<uint64_t>(0, limit - 1)(random_);
  }

  // Elements of any bits, or small ones, whose sums of integers do not overflow.
  std::string RandomElements(ElementType type, uint64_t count, bool any_bits) {
    const size_t element_bytes = ElementSizeBytes(type);
    std::string bytes(count * element_bytes, '\0');
    for (size_t i = 0; i < bytes.size(); ++i) {
      const bool is_lowest = i % element_bytes == 0;
      if (any_bits || is_lowest) bytes[i] = static_cast<char>(Below(256));
    }
    return bytes;
  }

  // Up to three cuts anywhere, with empty segments now and then.
  Segments RandomSegments(uint64_t count) {
    Segments segments{{0}};
    for (uint64_t i = Below(20); i > 0; --i) segments.offsets.push_back(Below(count + 1));
    segments.offsets.push_back(count);
    std::sort(segments.offsets.begin(), segments.offsets.end());
    return segments;
  }

  // Of three to five dimensions of so many elements, with extents of 1 among them.
  std::vector<uint64_t> RandomExtents(uint64_t count) {
    std::vector<uint64_t> extents = {count};
    for (uint64_t i = 2 + Below(3); i > 0; --i) {
      uint64_t divisor = 1 + Below(6);
      while (extents[0] % divisor != 0) --divisor;
      extents[0] /= divisor;
      extents.insert(extents.begin() + 1, divisor);
    }
    return extents;
  }

  Axes RandomAxes(size_t dimension_count) {
    Axes axes;
    for (size_t d = 0; d < dimension_count; ++d) {
      const auto axis = static_cast<int32_t>(d);
      const auto from_the_last = static_cast<int32_t>(d - dimension_count);
      if (Below(2) == 0) axes.axes.push_back(Below(2) == 0 ? axis : from_the_last);
    }
    return axes;
  }

  static TestServer* server_;
  std::mt19937_64 random_{20'260'101};
};

TestServer* TransportChoiceTest::server_ = nullptr;

// A stream cannot keep what is known of so many columns.
TEST_F(TransportChoiceTest, ManyColumnsTravelAnotherWay) {
  const auto client = ConnectClient(server_->target());
  constexpr uint64_t kColumns = 1'700'000;
  const std::vector<uint8_t> elements(2 * kColumns, 3);
  const ArrayView array = ArrayView(elements).WithShape({2, kColumns});
  const ReductionOptions options{.statistics = {Statistic::kMean}, .grouping = Axis{0}};
  const std::vector<double> expected(kColumns, 3.0);
  for (const ArrayTransport transport : kTransports) {
    const auto result = client->ReduceArray(array, options, {.transport = transport});
    ASSERT_TRUE(result.ok()) << result.status();
    EXPECT_EQ(std::get<std::vector<double>>(*result->Find(Statistic::kMean)), expected);
  }
}

TEST_F(TransportChoiceTest, ReductionsHaveTheSameBitsAndErrors) {
  const auto client = ConnectClient(server_->target());
  int answers = 0;
  for (int round = 0; round < 120; ++round) {
    const ElementType type = kTypes[Below(std::size(kTypes))];
    const uint64_t columns = 1 + Below(40);
    const uint64_t rows = Below(2'000);
    const std::string bytes = RandomElements(type, rows * columns, Below(2) == 0);
    ArrayView array(type, bytes.data(), rows * columns);
    ReductionOptions options;
    const auto all = AllStatistics();
    for (uint64_t i = 1 + Below(4); i > 0; --i) {
      const Statistic statistic = all[Below(all.size())];
      if (std::find(options.statistics.begin(), options.statistics.end(), statistic) ==
          options.statistics.end()) {
        options.statistics.push_back(statistic);
      }
    }
    options.nan_policy = Below(2) == 0 ? NanPolicy::kIgnore : NanPolicy::kPropagate;
    options.overflow_policy = Below(2) == 0 ? OverflowPolicy::kWrap : OverflowPolicy::kError;
    options.delta_degrees_of_freedom = static_cast<uint32_t>(Below(2));
    options.first_index = Below(2) * 1'000;
    if (Below(3) == 0) options.output_type = Below(2) == 0 ? ElementType::kFloat32 : type;
    switch (Below(7)) {
      case 0: options.grouping = RandomSegments(rows * columns); break;
      case 1: array = array.WithShape(rows, columns); break;
      case 2:
      case 3:
        array = array.WithShape(rows, columns);
        options.grouping = Axis{static_cast<uint32_t>(Below(2))};
        break;
      case 4:
      case 5:
        array = array.WithShape(RandomExtents(rows * columns));
        options.grouping = RandomAxes(array.shape().size());
        options.keep_dimensions = Below(2) == 0;
        break;
      default: break;
    }
    const auto expected =
        client->ReduceArray(array, options, {.transport = ArrayTransport::kInline});
    answers += expected.ok();
    for (const ArrayTransport transport : kTransports) {
      const auto result = client->ReduceArray(array, options, {.transport = transport});
      EXPECT_EQ(Told(result), Told(expected))
          << "round " << round << ", " << ArrayTransportName(transport) << ", " << rows << " x "
          << columns << " of " << ElementTypeName(type);
    }
  }
  EXPECT_GT(answers, 40);
}

// Arrays of three dimensions and more go in a stream where rows that follow one another are enough.
TEST_F(TransportChoiceTest, SeveralDimensionsAreStreamed) {
  const auto client = ConnectClient(server_->target());
  const std::vector<float> elements(24, 1.5F);
  const ArrayView array = ArrayView(elements).WithShape({2, 3, 4});
  const auto transport_of = [&](const std::vector<int32_t>& axes) {
    const auto result =
        client->ReduceArray(array, {.statistics = {Statistic::kSum}, .grouping = Axes{axes}},
                            {.transport = ArrayTransport::kStream});
    EXPECT_TRUE(result.ok()) << result.status();
    return result->execution.transport;
  };
  for (const auto& axes : {std::vector<int32_t>{0}, {0, 1}, {2}, {1, -1}, {0, 1, 2}}) {
    EXPECT_EQ(transport_of(axes), ArrayTransport::kStream);
  }
  for (const auto& axes : {std::vector<int32_t>{1}, {0, 2}}) {
    EXPECT_EQ(transport_of(axes), ArrayTransport::kInline);
  }
}

TEST_F(TransportChoiceTest, HistogramsHaveTheSameBitsAndErrors) {
  const auto client = ConnectClient(server_->target());
  int answers = 0;
  for (int round = 0; round < 60; ++round) {
    const ElementType type = kTypes[Below(std::size(kTypes))];
    const uint32_t channels = 1 + static_cast<uint32_t>(Below(3));
    const uint64_t count = Below(30'000) * channels + (Below(8) == 0 ? 1 : 0);
    const std::string bytes = RandomElements(type, count, Below(2) == 0);
    const std::string more = RandomElements(type, count, false);
    const ArrayView array(type, bytes.data(), count);
    HistogramOptions options;
    switch (Below(4)) {
      case 0: options.bins = {EvenBins{.bin_count = 1 + Below(100)}}; break;
      case 1: options.bins = {EdgeBins{{-INFINITY, 0, 1, 17.5, 200, INFINITY}}}; break;
      case 2: options.bins = {IntegerBins{.first_value = 0, .bin_count = 1 + Below(300)}}; break;
      default: options.bins = {EvenBins{.bin_count = 50, .lower_bound = -10, .upper_bound = 130}};
    }
    if (Below(3) == 0) {
      options.y_array = ArrayView(type, more.data(), count);
    } else {
      options.channel_count = channels;
      if (Below(3) == 0) options.quantiles = {0.1, 0.5};
    }
    if (options.quantiles.empty() && Below(3) == 0) {
      options.weights = ArrayView(type, more.data(), count);
    }
    if (Below(2) == 0) options.format = HistogramFormat::kSparse;
    if (Below(2) == 0) options.out_of_range_policy = OutOfRangePolicy::kClamp;
    const auto expected =
        client->ComputeHistogram(array, options, {.transport = ArrayTransport::kInline});
    answers += expected.ok();
    for (const ArrayTransport transport : kTransports) {
      const auto result = client->ComputeHistogram(array, options, {.transport = transport});
      EXPECT_EQ(Told(result), Told(expected))
          << "round " << round << ", " << ArrayTransportName(transport) << ", " << count << " of "
          << ElementTypeName(type);
    }
  }
  EXPECT_GT(answers, 20);
}

// The client makes them itself where a request brings the array, and the server where a stream
// does.
TEST_F(TransportChoiceTest, EdgesOfEvenBinsHaveTheSameBits) {
  const auto client = ConnectClient(server_->target());
  const std::vector<double> samples = {-1, 0, 0.1, 0.3, 1, 7, 1e300};
  constexpr double kMax = std::numeric_limits<double>::max();
  std::vector<std::pair<double, double>> ranges = {{0, 1},           {-1, 0.1},  {0.1, 0.7},
                                                   {-kMax, kMax},    {-kMax, 1}, {1e-310, 1e-300},
                                                   {1e15, 1e15 + 99}};
  for (int i = 0; i < 20; ++i) {
    const double lower = std::uniform_real_distribution<double>(-1e3, 1e3)(random_);
    ranges.emplace_back(lower, lower + std::uniform_real_distribution<double>(0.1, 1e6)(random_));
  }
  for (const auto& [lower, upper] : ranges) {
    for (const uint64_t count : {1, 3, 7, 100}) {
      const HistogramOptions options{
          .bins = {EvenBins{.bin_count = count, .lower_bound = lower, .upper_bound = upper}}};
      const auto whole =
          client->ComputeHistogram(samples, options, {.transport = ArrayTransport::kInline});
      const auto streamed =
          client->ComputeHistogram(samples, options, {.transport = ArrayTransport::kStream});
      ASSERT_TRUE(whole.ok()) << whole.status();
      EXPECT_EQ(Told(whole), Told(streamed)) << lower << " to " << upper << ", " << count;
    }
  }
}

TEST_F(TransportChoiceTest, ReductionsByKeyHaveTheSameBits) {
  const auto client = ConnectClient(server_->target());
  for (const int dimensions : {1, 2, 3}) {
    std::vector<float> x(100'000);
    std::vector<float> y(x.size());
    std::vector<float> values(x.size());
    for (std::vector<float>* coordinates : {&x, &y, &values}) {
      for (float& one : *coordinates) one = static_cast<float>(Below(1'000)) / 8;
    }
    std::vector<int16_t> z(x.size());
    for (int16_t& one : z) one = static_cast<int16_t>(Below(140));
    KeyBins bins{.bins = {EvenBins{.bin_count = 7, .lower_bound = 0, .upper_bound = 125}}};
    if (dimensions > 1) bins.y_keys = ArrayView(y);
    if (dimensions > 2) bins.further_keys = {ArrayView(z)};
    const KeyedReductionOptions options{.statistics = {Statistic::kSum, Statistic::kVariance},
                                        .groups = bins};
    const auto expected = client->ReduceByKey(ArrayView(x), ArrayView(values), options,
                                              {.transport = ArrayTransport::kInline});
    ASSERT_TRUE(expected.ok()) << expected.status();
    for (const ArrayTransport transport : kTransports) {
      const auto result =
          client->ReduceByKey(ArrayView(x), ArrayView(values), options, {.transport = transport});
      EXPECT_EQ(Told(result), Told(expected)) << ArrayTransportName(transport) << dimensions;
    }
  }
}

// Ranges that follow from the samples, which are sent twice where they go in parts.
TEST_F(TransportChoiceTest, FoundRangesAreThoseOfOneRequest) {
  const auto client = ConnectClient(server_->target());
  for (const double special :
       {0.0, -0.0, 1e308, -1e308, static_cast<double>(INFINITY), static_cast<double>(NAN)}) {
    std::vector<double> samples(20'000);
    for (double& sample : samples) sample = static_cast<double>(Below(1'000)) - 300;
    samples[Below(samples.size())] = special;
    std::vector<int64_t> integers(20'000);
    for (int64_t& integer : integers) integer = static_cast<int64_t>(Below(1'000) + (1LL << 60));
    std::vector<double> positive(20'000, special);
    for (size_t i = 0; i < positive.size(); i += 2) positive[i] = static_cast<double>(Below(9));
    for (const ArrayView& array : {ArrayView(samples), ArrayView(integers), ArrayView(positive)}) {
      for (const uint32_t channels : {1u, 4u}) {
        const HistogramOptions options{.bins = {EvenBins{.bin_count = 30}},
                                       .channel_count = channels};
        const auto expected =
            client->ComputeHistogram(array, options, {.transport = ArrayTransport::kInline});
        const auto result =
            client->ComputeHistogram(array, options, {.transport = ArrayTransport::kStreams});
        EXPECT_EQ(Told(result), Told(expected)) << special << ", " << channels << " channels";
      }
    }
  }
}

TEST_F(TransportChoiceTest, ScansHaveTheSameBitsAndErrors) {
  const auto client = ConnectClient(server_->target());
  int answers = 0;
  for (int round = 0; round < 40; ++round) {
    const ElementType type = kTypes[Below(std::size(kTypes))];
    const uint64_t columns = 1 + Below(40);
    const uint64_t rows = Below(2'000);
    const std::string bytes = RandomElements(type, rows * columns, Below(2) == 0);
    ArrayView array(type, bytes.data(), rows * columns);
    ScanOptions options{.operation = static_cast<ScanOperation>(1 + Below(4)),
                        .mode = static_cast<ScanMode>(1 + Below(2)),
                        .direction = static_cast<ScanDirection>(1 + Below(2))};
    options.overflow_policy = Below(2) == 0 ? OverflowPolicy::kWrap : OverflowPolicy::kError;
    if (Below(3) == 0) {
      array = array.WithShape(rows, columns);
      options.grouping = Axis{static_cast<uint32_t>(Below(2))};
    } else if (Below(3) == 0) {
      options.grouping = RandomSegments(rows * columns);
    }
    const auto expected = client->ScanArray(array, options, {.transport = ArrayTransport::kInline});
    answers += expected.ok();
    for (const ArrayTransport transport : kTransports) {
      const auto result = client->ScanArray(array, options, {.transport = transport});
      EXPECT_EQ(Told(result), Told(expected))
          << "round " << round << ", " << ArrayTransportName(transport) << ", " << rows << " x "
          << columns << " of " << ElementTypeName(type);
    }
  }
  EXPECT_GT(answers, 15);
}

// Results of more than one part, one of which is cut short by the array's end.
TEST_F(TransportChoiceTest, LargeResultsOfScansComeOverSeveralConnections) {
  constexpr uint64_t kCount = 9'000'001;  // 8 bytes each, as results.
  const std::string bytes = RandomElements(ElementType::kUint8, kCount, true);
  const ArrayView array(ElementType::kUint8, bytes.data(), kCount);
  const auto client = Client::Connect({.target = server_->target(), .stream_count = 4});
  ASSERT_TRUE(client.ok()) << client.status();
  const auto expected = (*client)->ScanArray(array, {}, {.transport = ArrayTransport::kStream});
  ASSERT_TRUE(expected.ok()) << expected.status();
  const auto result = (*client)->ScanArray(array, {});
  ASSERT_TRUE(result.ok()) << result.status();
  EXPECT_EQ(result->execution.transport, ArrayTransport::kResident);
  EXPECT_EQ(result->execution.streams, 4u);
  EXPECT_EQ(BitsOf(*result), BitsOf(*expected));
  uint64_t sum = 0;
  const auto sums = result->Values<uint64_t>();
  ASSERT_TRUE(sums.ok()) << sums.status();
  for (uint64_t i = 0; i < kCount; ++i) {
    sum += static_cast<unsigned char>(bytes[i]);
    ASSERT_EQ((*sums)[i], sum) << i;
  }
  const auto arrays = (*client)->ListArrays();
  ASSERT_TRUE(arrays.ok()) << arrays.status();
  EXPECT_TRUE(arrays->empty());
}

// As where others have taken the server's memory.
TEST_F(TransportChoiceTest, ScansPassThroughAServerWithoutRoom) {
  const TestServer small({"--resident-bytes=32MiB"});
  const auto client = Client::Connect({.target = small.target(), .stream_count = 4});
  ASSERT_TRUE(client.ok()) << client.status();
  const auto others = (*client)->CreateArray(
      {.name = "others", .element_type = ElementType::kUint8, .shape = {16 << 20}});
  ASSERT_TRUE(others.ok()) << others.status();
  const std::vector<float> elements(3'000'000, 0.5f);
  const auto result = (*client)->ScanArray(elements, {});
  ASSERT_TRUE(result.ok()) << result.status();
  EXPECT_EQ(result->execution.transport, ArrayTransport::kStream);
  EXPECT_EQ(result->Values<float>()->back(), 1'500'000.0f);
}

TEST_F(TransportChoiceTest, ResultsDoNotTakeThePlaceOfTheCallersElements) {
  const auto client = ConnectClient(server_->target());
  const std::vector<float> elements(100'000, 1.0f);
  const ScanOptions options{.destination = InPlaceDestination{}};
  const auto expected =
      client->ScanArray(elements, options, {.transport = ArrayTransport::kInline});
  EXPECT_TRUE(absl::IsInvalidArgument(expected.status())) << expected.status();
  for (const ArrayTransport transport : kTransports) {
    const auto result = client->ScanArray(elements, options, {.transport = transport});
    EXPECT_EQ(Told(result), Told(expected)) << ArrayTransportName(transport);
  }
}

}  // namespace
}  // namespace gridfold::client
