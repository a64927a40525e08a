// Operations on regions, over real sockets: the answers are those of the same elements inline; what
// lies outside is refused; and whatever somebody writes meanwhile, the server stays.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <future>
#include <random>
#include <thread>

#include "server/testing/fake_engine.h"
#include "server/testing/region_service_fixture.h"

namespace gridfold::server {
namespace {

using testing::ElementsAre;

class RegionComputeTest : public RegionServiceTest {
 protected:
  template <class Response>
  static std::string WithoutTimes(Response response) {
    response.clear_execution();
    return response.DebugString();
  }

  static v1::ReduceArrayRequest AllStatistics(const v1::ArraySource& source) {
    v1::ReduceArrayRequest request;
    *request.mutable_array() = source;
    for (int s = v1::STATISTIC_COUNT; s <= v1::STATISTIC_ANY; ++s) {
      if (s != v1::STATISTIC_PRODUCT) request.add_statistics(static_cast<v1::Statistic>(s));
    }
    return request;
  }
  static v1::ScanArrayRequest Scan(const v1::ArraySource& source) {
    v1::ScanArrayRequest request;
    *request.mutable_array() = source;
    request.set_operation(v1::SCAN_OPERATION_SUM);
    return request;
  }
  static v1::ComputeHistogramRequest Histogram(const v1::ArraySource& source) {
    v1::ComputeHistogramRequest request;
    *request.mutable_array() = source;
    request.add_bins()->mutable_even()->set_bin_count(50);
    return request;
  }

  std::vector<float> Floats(size_t count) {
    std::vector<float> values(count);
    std::normal_distribution<float> normal(0, 1000);
    for (float& value : values) value = normal(random_);
    return values;
  }

  std::mt19937_64 random_{20261121};
};

TEST_F(RegionComputeTest, AnswersAreThoseOfInlineArrays) {
  const std::vector<float> values = Floats(40'000);
  const SharedObject object(values);
  ASSERT_TRUE(Register("x", object).ok());
  for (int round = 0; round < 20; ++round) {
    const uint64_t count = random_() % 20'000;
    const uint64_t first = random_() % (values.size() - count);
    const uint64_t first_weight = random_() % (values.size() - count);
    const auto in_region = [&](uint64_t begin) {
      return InRegion("x", v1::ELEMENT_TYPE_FLOAT32, begin * sizeof(float), {count});
    };
    const auto in_message = [&](uint64_t begin) {
      const auto from = values.begin() + static_cast<ptrdiff_t>(begin);
      return ArrayOf(v1::ELEMENT_TYPE_FLOAT32,
                     std::vector<float>(from, from + static_cast<ptrdiff_t>(count)));
    };
    if (count > 0) {
      ASSERT_TRUE(caller_.Compute(AllStatistics(in_message(first))).ok());
      const std::string reduced = WithoutTimes(caller_.reduced);
      ASSERT_TRUE(caller_.Compute(AllStatistics(in_region(first))).ok());
      EXPECT_EQ(reduced, WithoutTimes(caller_.reduced));
    }

    ASSERT_TRUE(caller_.Compute(Scan(in_message(first))).ok());
    const std::string scanned = caller_.scanned.inline_array().data();
    ASSERT_TRUE(caller_.Compute(Scan(in_region(first))).ok());
    EXPECT_TRUE(scanned == caller_.scanned.inline_array().data());

    v1::ComputeHistogramRequest histogram = Histogram(in_message(first));
    *histogram.mutable_weights() = in_message(first_weight);
    ASSERT_TRUE(caller_.Compute(histogram).ok());
    const std::string counted = WithoutTimes(caller_.counted);
    histogram = Histogram(in_region(first));
    *histogram.mutable_weights() = in_region(first_weight);
    ASSERT_TRUE(caller_.Compute(histogram).ok());
    EXPECT_EQ(counted, WithoutTimes(caller_.counted));
    *histogram.mutable_weights() = in_message(first_weight);
    ASSERT_TRUE(caller_.Compute(histogram).ok()) << "one of them inline";
    EXPECT_EQ(counted, WithoutTimes(caller_.counted));
  }
}

TEST_F(RegionComputeTest, ShapesAreThoseOfTheRequest) {
  const SharedObject object(std::vector<int32_t>{9, 0, 1, 2, 3, 4, 5});
  ASSERT_TRUE(Register("x", object).ok());
  v1::ReduceArrayRequest request = Sum(InRegion("x", v1::ELEMENT_TYPE_INT32, 4, {2, 3}));
  request.mutable_grouping()->set_axis(0);
  ASSERT_TRUE(caller_.Compute(request).ok());
  EXPECT_THAT(caller_.reduced.results(0).values().int64_values().values(),
              ElementsAre(0 + 3, 1 + 4, 2 + 5));
  // Of three dimensions, whose middle one is kept.
  request = Sum(InRegion("x", v1::ELEMENT_TYPE_INT32, 4, {3, 2, 1}));
  request.mutable_grouping()->mutable_axes()->add_axes(0);
  request.mutable_grouping()->mutable_axes()->add_axes(-1);
  ASSERT_TRUE(caller_.Compute(request).ok());
  EXPECT_THAT(caller_.reduced.results(0).values().int64_values().values(),
              ElementsAre(0 + 2 + 4, 1 + 3 + 5));
  EXPECT_THAT(caller_.reduced.result_shape(), ElementsAre(2));
}

TEST_F(RegionComputeTest, AScanIntoARegion) {
  const std::vector<float> values = Floats(3000);
  SharedObject object(uint64_t{40'000});
  object.Put(100, values);
  ASSERT_TRUE(Register("x", object).ok());
  ASSERT_TRUE(caller_.Compute(Scan(ArrayOf(v1::ELEMENT_TYPE_FLOAT32, values))).ok());
  const std::string expected = caller_.scanned.inline_array().data();
  v1::ScanArrayRequest scan = Scan(InRegion("x", v1::ELEMENT_TYPE_FLOAT32, 100, {1000, 3}));
  for (const uint64_t offset : {12'100, 28'000}) {
    scan.mutable_destination()->mutable_region()->set_name("x");
    scan.mutable_destination()->mutable_region()->set_offset_bytes(offset);
    ASSERT_TRUE(caller_.Compute(scan).ok());
    EXPECT_TRUE(object.Bytes(offset, 12'000) == expected);
    const v1::RegionSlice& place = caller_.scanned.region_slice();
    EXPECT_EQ(place.name(), "x");
    EXPECT_EQ(place.offset_bytes(), offset);
    EXPECT_EQ(place.element_type(), v1::ELEMENT_TYPE_FLOAT32);
    EXPECT_THAT(place.shape(), ElementsAre(1000, 3));
  }
  // From elsewhere, and of another type.
  scan = Scan(ArrayOf<int8_t>(v1::ELEMENT_TYPE_INT8, {1, 2, 3}));
  scan.mutable_destination()->mutable_region()->set_name("x");
  scan.mutable_destination()->mutable_region()->set_offset_bytes(8);
  ASSERT_TRUE(caller_.Compute(scan).ok());
  EXPECT_EQ(object.Bytes(8, 24), BytesOf(std::vector<int64_t>{1, 3, 6}));
}

TEST_F(RegionComputeTest, WhatIsWrongIsNamed) {
  const SharedObject object(100);
  ASSERT_TRUE(Register("x", object).ok());
  ASSERT_TRUE(Register("alias", object).ok());
  const auto sum = [&](const std::string& name, int type, uint64_t offset,
                       const std::vector<uint64_t>& shape) {
    return caller_.Compute(Sum(InRegion(name, static_cast<v1::ElementType>(type), offset, shape)));
  };
  ExpectNoRegion(sum("y", v1::ELEMENT_TYPE_INT8, 0, {1}));
  ExpectInvalidField(sum("", v1::ELEMENT_TYPE_INT8, 0, {1}), "array.region_slice.name");
  ExpectInvalidField(sum("x", 0, 0, {1}), "array.region_slice.element_type");
  ExpectInvalidField(sum("x", 99, 0, {1}), "array.region_slice.element_type");
  ExpectInvalidField(sum("x", v1::ELEMENT_TYPE_INT8, 0, {}), "array.region_slice.shape");
  ExpectInvalidField(sum("x", v1::ELEMENT_TYPE_INT8, 0, std::vector<uint64_t>(9, 1)),
                     "array.region_slice.shape");
  ExpectInvalidField(sum("x", v1::ELEMENT_TYPE_INT8, 0, {kMax, kMax}), "array.region_slice.shape");
  constexpr char kOffset[] = "array.region_slice.offset_bytes";
  ExpectInvalidField(sum("x", v1::ELEMENT_TYPE_INT8, 0, {101}), kOffset);
  ExpectInvalidField(sum("x", v1::ELEMENT_TYPE_INT8, 100, {1}), kOffset);
  ExpectInvalidField(sum("x", v1::ELEMENT_TYPE_INT8, 101, {0}), kOffset);
  ExpectInvalidField(sum("x", v1::ELEMENT_TYPE_INT8, kMax, {1}), kOffset);
  ExpectInvalidField(sum("x", v1::ELEMENT_TYPE_FLOAT64, 4, {1}), kOffset);
  EXPECT_TRUE(sum("x", v1::ELEMENT_TYPE_INT8, 100, {0}).ok());
  EXPECT_TRUE(sum("x", v1::ELEMENT_TYPE_INT8, 99, {1}).ok());

  v1::ComputeHistogramRequest histogram = Histogram(InRegion("x", v1::ELEMENT_TYPE_INT8, 0, {3}));
  *histogram.mutable_weights() = InRegion("x", v1::ELEMENT_TYPE_INT8, 0, {4});
  ExpectInvalidField(caller_.Compute(histogram), "weights.region_slice.shape");
  histogram.clear_weights();
  *histogram.mutable_y_array() = InRegion("x", v1::ELEMENT_TYPE_INT16, 0, {3});
  ExpectInvalidField(caller_.Compute(histogram), "y_array.region_slice.element_type");

  v1::ScanArrayRequest scan = Scan(InRegion("x", v1::ELEMENT_TYPE_INT64, 8, {4}));
  v1::RegionDestination& place = *scan.mutable_destination()->mutable_region();
  const auto scan_to = [&](const std::string& name, uint64_t offset) {
    place.set_name(name);
    place.set_offset_bytes(offset);
    return caller_.Compute(scan);
  };
  constexpr char kPlace[] = "destination.region.offset_bytes";
  ExpectNoRegion(scan_to("y", 0));
  ExpectInvalidField(scan_to("", 0), "destination.region.name");
  ExpectInvalidField(scan_to("x", 44), kPlace);
  ExpectInvalidField(scan_to("x", 72), kPlace);
  ExpectInvalidField(scan_to("x", kMax - 7), kPlace);
  for (const char* const name : {"x", "alias"}) {
    ExpectInvalidField(scan_to(name, 8), kPlace);
    ExpectInvalidField(scan_to(name, 32), kPlace);
    EXPECT_TRUE(scan_to(name, 40).ok());
  }
  scan.mutable_destination()->mutable_in_place();
  ExpectInvalidField(caller_.Compute(scan), "destination.in_place");
}

// Whatever numbers a slice has, it is inside the region or refused.
TEST_F(RegionComputeTest, BoundsHoldForAllNumbers) {
  constexpr uint64_t kBytes = 4096;
  const SharedObject object(kBytes);
  ASSERT_TRUE(Register("x", object).ok());
  const auto number = [&] {
    const uint64_t edges[] = {0, kBytes, kMax, kMax / 2, uint64_t{1} << 32, kMax / 8};
    return random_() % 2 == 0 ? random_() % (2 * kBytes)
                              : edges[random_() % 6] + random_() % 17 - 8;
  };
  int accepted = 0;
  for (int round = 0; round < 3000; ++round) {
    const auto type = static_cast<v1::ElementType>(1 + random_() % 12);
    std::vector<uint64_t> shape = {number()};
    if (random_() % 2 == 0) shape.push_back(number() % 5 == 0 ? number() : random_() % 4);
    const uint64_t offset = number();
    v1::ReduceArrayRequest request;
    *request.mutable_array() = InRegion("x", type, offset, shape);
    request.add_statistics(v1::STATISTIC_COUNT);
    const grpc::Status status = caller_.Compute(request);
    constexpr int kSizes[] = {0, 1, 2, 4, 8, 1, 2, 4, 8, 2, 2, 4, 8};
    unsigned __int128 end = kSizes[type];
    for (const uint64_t extent : shape) {
      end = extent > kBytes && end > 0 ? unsigned{kBytes} * end + 1 : end * extent;
    }
    end += offset;
    const bool is_inside = end <= kBytes && offset % kSizes[type] == 0;
    // An extent of 0 makes an array empty whatever the other is, if that fits in 64 bits.
    if (is_inside) {
      EXPECT_TRUE(status.ok()) << status.error_message();
      ++accepted;
    } else if (!status.ok()) {
      EXPECT_EQ(status.error_code(), grpc::StatusCode::INVALID_ARGUMENT) << status.error_message();
    } else {
      EXPECT_EQ(caller_.reduced.results(0).values().uint64_values().values(0), 0u);
    }
  }
  EXPECT_GT(accepted, 100);
}

TEST(RegionUseTest, UnregisteringARegionInUseWaitsForTheJob) {
  FakeEngine engine;
  Gate gate;
  engine.on_run = [&](std::stop_token stop) { return gate.Pass(std::move(stop)); };
  TestServer server(engine, RegionLimits());
  ArrayCaller caller(server);
  const SharedObject object(100);
  v1::RegisterRegionRequest request;
  request.set_name("x");
  request.set_size_bytes(100);
  request.mutable_posix_shared_memory()->set_object_name(object.name());
  v1::RegisterRegionResponse registered;
  ASSERT_TRUE(
      server.regions().RegisterRegion(caller.MakeContext().get(), request, &registered).ok());

  v1::ReduceArrayRequest sum;
  *sum.mutable_array() = InRegion("x", v1::ELEMENT_TYPE_INT8, 0, {100});
  sum.add_statistics(v1::STATISTIC_SUM);
  auto running = std::async(std::launch::async, [&] { return caller.Compute(sum); });
  gate.WaitForArrivals(1);
  v1::UnregisterRegionRequest unregister;
  unregister.set_name("x");
  v1::UnregisterRegionResponse unregistered;
  ASSERT_TRUE(server.regions()
                  .UnregisterRegion(caller.MakeContext().get(), unregister, &unregistered)
                  .ok());
  EXPECT_EQ(ArrayCaller(server).Compute(sum).error_code(), grpc::StatusCode::NOT_FOUND);
  std::this_thread::sleep_for(std::chrono::milliseconds(50));
  EXPECT_EQ(server.GetStatistics().region_bytes(), 100u);
  gate.Open();
  EXPECT_TRUE(running.get().ok());
  while (server.GetStatistics().region_bytes() > 0) {
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
}

TEST_F(RegionComputeTest, BatchesTakeRegions) {
  SharedObject object(std::vector<int32_t>{1, 2, 3, 4});
  ASSERT_TRUE(Register("x", object).ok());
  v1::BatchComputeRequest request;
  for (const uint64_t count : {2, 4, 5}) {
    *request.add_operations()->mutable_reduction() =
        Sum(InRegion("x", v1::ELEMENT_TYPE_INT32, 0, {count}));
  }
  v1::BatchComputeResponse response;
  ASSERT_TRUE(server_.compute().BatchCompute(caller_.MakeContext().get(), request, &response).ok());
  const auto sum = [&](int i) {
    return response.results(i).reduction().results(0).values().int64_values().values(0);
  };
  EXPECT_EQ(sum(0), 3);
  EXPECT_EQ(sum(1), 10);
  EXPECT_EQ(response.results(2).error().code(), grpc::StatusCode::INVALID_ARGUMENT);
  object.Resize(0);
  ASSERT_TRUE(server_.compute().BatchCompute(caller_.MakeContext().get(), request, &response).ok());
  EXPECT_EQ(response.results(0).error().code(), grpc::StatusCode::FAILED_PRECONDITION);
}

// A thread that keeps writing all kinds of numbers into an object.
class Scribbler {
 public:
  explicit Scribbler(const SharedObject& object)
      : thread_([&object](const std::stop_token& stop) {
          std::mt19937_64 random(7);
          auto* const words = reinterpret_cast<uint64_t*>(object.data());
          const uint64_t count = object.size_bytes() / sizeof(uint64_t);
          while (!stop.stop_requested()) {
            const uint64_t first = random() % count;
            const uint64_t pattern = random() >> random() % 64;
            for (uint64_t i = first; i < std::min(first + 512, count); ++i) {
              std::atomic_ref(words[i]).store(pattern ^ (random() & (random() >> random() % 64)),
                                              std::memory_order_relaxed);
            }
          }
        }) {}

 private:
  std::jthread thread_;
};

// What an operation reads twice may differ. Answers are worth nothing then; that there are some, or
// errors of the elements, is all that is asked.
TEST_F(RegionComputeTest, ACallerThatWritesMeanwhileHarmsNobody) {
  SharedObject object(uint64_t{1} << 19);
  ASSERT_TRUE(Register("x", object).ok());
  const Scribbler scribbler(object);
  for (int type = v1::ELEMENT_TYPE_INT8; type <= v1::ELEMENT_TYPE_FLOAT64; ++type) {
    const auto element_type = static_cast<v1::ElementType>(type);
    for (const uint64_t rows : {uint64_t{1}, uint64_t{30}, uint64_t{900}}) {
      const uint64_t columns = 30'000 / rows;
      const v1::ArraySource source = InRegion("x", element_type, 8, {rows, columns});
      for (const int axis : {-1, 0, 1}) {
        v1::ReduceArrayRequest reduce = AllStatistics(source);
        if (axis >= 0) reduce.mutable_grouping()->set_axis(static_cast<uint32_t>(axis));
        if (axis == 0 && columns > 1000) continue;
        reduce.set_overflow_policy(v1::OVERFLOW_POLICY_WRAP);
        reduce.set_nan_policy(rows == 30 ? v1::NAN_POLICY_IGNORE : v1::NAN_POLICY_PROPAGATE);
        for (const bool accumulate : {false, true}) {
          reduce.set_return_accumulator(accumulate);
          const grpc::Status status = caller_.Compute(reduce);
          EXPECT_TRUE(status.ok() || status.error_code() == grpc::StatusCode::INVALID_ARGUMENT)
              << status.error_message();
        }
        v1::ScanArrayRequest scan = Scan(source);
        if (axis >= 0) scan.mutable_grouping()->set_axis(static_cast<uint32_t>(axis));
        scan.set_overflow_policy(v1::OVERFLOW_POLICY_WRAP);
        scan.mutable_destination()->mutable_region()->set_name("x");
        scan.mutable_destination()->mutable_region()->set_offset_bytes(264'192);
        for (int operation = 1; operation <= 4; ++operation) {
          scan.set_operation(static_cast<v1::ScanOperation>(operation));
          EXPECT_TRUE(caller_.Compute(scan).ok());
        }
        if (type >= v1::ELEMENT_TYPE_FLOAT16) {
          scan.set_operation(v1::SCAN_OPERATION_SUM);
          scan.set_exact(true);
          EXPECT_TRUE(caller_.Compute(scan).ok());
        }
      }
    }
    const v1::ArraySource samples = InRegion("x", element_type, 8, {30'000});
    v1::ComputeHistogramRequest histogram = Histogram(samples);
    for (int round = 0; round < 3; ++round) {
      histogram.mutable_quantiles()->Clear();
      if (round < 2) histogram.add_quantiles(0.5);
      if (round == 1) *histogram.mutable_weights() = samples;
      if (round == 2) {
        histogram.clear_weights();
        *histogram.mutable_y_array() = samples;
        histogram.mutable_bins(0)->mutable_even()->set_bin_count(20);
      }
      const grpc::Status status = caller_.Compute(histogram);
      EXPECT_TRUE(status.ok() || status.error_code() == grpc::StatusCode::INVALID_ARGUMENT)
          << status.error_message();
    }
  }
}

}  // namespace
}  // namespace gridfold::server
