// Which calls are made for a request whose arrays are of the caller's memory: none that is not
// needed, and of arrays that go to the server as such all, with every element. The server answers
// as the test says.
#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/synchronization/mutex.h"
#include "client/library/array_route.h"
#include "client/library/fake_server.h"
#include "gmock/gmock.h"
#include "gridfold/client.h"
#include "gtest/gtest.h"

namespace gridfold::client {
namespace {

using testing::ElementsAre;

// Where an array of a request is: "1000 bytes" in the request, or its name on the server.
std::string PlaceOf(const v1::ArraySource& source) {
  if (source.has_resident_array()) return source.resident_array().name();
  return source.has_inline_array() ? absl::StrCat(source.inline_array().data().size(), " bytes")
                                   : "none";
}

class ArrayWayTest : public testing::Test {
 protected:
  ArrayWayTest() {
    server_.on_info = [this](auto&, auto&, v1::GetServerInfoResponse& response) {
      Note("info");
      response.mutable_limits()->set_message_bytes_max(message_bytes_max_);
      response.mutable_limits()->set_array_chunk_bytes_max(uint64_t{1} << 20);
      return grpc::Status::OK;
    };
    server_.on_create_array = [this](auto&, const v1::CreateArrayRequest& request,
                                     v1::CreateArrayResponse& response) {
      const absl::MutexLock lock(&mutex_);
      response.mutable_array()->set_name(absl::StrCat("array", created_++));
      response.mutable_array()->set_element_type(request.element_type());
      *response.mutable_array()->mutable_shape() = request.shape();
      return grpc::Status::OK;
    };
    server_.on_write_array = [this](auto&, const std::vector<v1::WriteArrayRequest>& messages,
                                    v1::WriteArrayResponse& response) {
      std::string bytes;
      for (const v1::WriteArrayRequest& message : messages) bytes += message.data();
      Note(absl::StrCat("write ", bytes.size(), " of ", bytes.substr(0, 1)));
      response.set_written_bytes(bytes.size());
      return grpc::Status::OK;
    };
    server_.on_delete_array = [this](auto&, const v1::DeleteArrayRequest& request, auto&) {
      Note(absl::StrCat("delete ", request.name()));
      return grpc::Status::OK;
    };
    server_.on_reduce = [this](auto&, const v1::ReduceArrayRequest& request,
                               v1::ReduceArrayResponse& response) {
      Note(absl::StrCat("reduce ", PlaceOf(request.array())));
      response.set_group_count(1);
      return grpc::Status::OK;
    };
    server_.on_relate = [this](auto&, const v1::RelateArraysRequest& request,
                               v1::RelateArraysResponse& response) {
      Note(absl::StrCat("relate ", PlaceOf(request.x()), ", ", PlaceOf(request.y()), ", ",
                        PlaceOf(request.weights())));
      response.set_column_count(2);
      v1::PairedStatisticValues& values = *response.add_results();
      values.set_statistic(v1::PAIRED_STATISTIC_VARIANCE);
      values.mutable_values()->mutable_double_values()->add_values(1);
      values.mutable_values()->mutable_double_values()->add_values(2);
      return grpc::Status::OK;
    };
    server_.on_quantiles = [this](auto&, const v1::ComputeQuantilesRequest& request,
                                  v1::ComputeQuantilesResponse& response) {
      Note(absl::StrCat("quantiles ", PlaceOf(request.array()), ", ", PlaceOf(request.weights())));
      response.set_group_count(1);
      response.add_quantile_values()->mutable_double_values()->add_values(1);
      return grpc::Status::OK;
    };
    server_.on_top = [this](auto&, const v1::SelectTopRequest& request,
                            v1::SelectTopResponse& response) {
      Note(absl::StrCat("top ", PlaceOf(request.array())));
      response.set_group_count(1);
      response.mutable_values()->mutable_int64_values()->add_values(1);
      response.add_indices(0);
      return grpc::Status::OK;
    };
  }

  // What a new client, which knows nothing of the server, does by `call(client, options)`; fails
  // where its answer does not say `told`.
  template <typename Call>
  std::vector<std::string> CallsBy(ArrayTransport wanted, ArrayTransport told, Call call) {
    auto client = Client::Connect({.target = server_.target(), .stream_count = 2});
    EXPECT_TRUE(client.ok()) << client.status();
    {
      const absl::MutexLock lock(&mutex_);
      calls_.clear();
      created_ = 0;
    }
    const auto result = call(**client, CallOptions{.transport = wanted});
    EXPECT_TRUE(result.ok()) << result.status();
    if (result.ok()) {
      EXPECT_EQ(result->execution.transport, told);
      EXPECT_EQ(result->execution.streams, 1u);
    }
    const absl::MutexLock lock(&mutex_);
    return calls_;
  }

  void Note(std::string call) {
    const absl::MutexLock lock(&mutex_);
    calls_.push_back(std::move(call));
  }

  uint64_t message_bytes_max_ = uint64_t{1} << 20;
  FakeServer server_;

 private:
  absl::Mutex mutex_;
  std::vector<std::string> calls_ ABSL_GUARDED_BY(mutex_);
  int created_ ABSL_GUARDED_BY(mutex_) = 0;
};

constexpr ArrayTransport kEveryWay[] = {ArrayTransport::kAuto,   ArrayTransport::kInline,
                                        ArrayTransport::kStream, ArrayTransport::kStreams,
                                        ArrayTransport::kRegion, ArrayTransport::kResident};

TEST_F(ArrayWayTest, NothingElseIsAskedWhereARequestCarriesTheArray) {
  const auto reduce = [this](ArrayTransport wanted, size_t count) {
    const std::vector<int8_t> elements(count, 'x');
    return CallsBy(wanted, ArrayTransport::kInline, [&](Client& client, const CallOptions& how) {
      return client.ReduceArray(ArrayView(elements), {.statistics = {Statistic::kSum}}, how);
    });
  };
  for (const ArrayTransport wanted : kEveryWay) {
    EXPECT_THAT(reduce(wanted, 0), ElementsAre("reduce 0 bytes")) << ArrayTransportName(wanted);
  }
  for (const size_t count : {size_t{1}, size_t{kInlineBytesMax}, size_t{kInlineBytesMax} + 1}) {
    EXPECT_THAT(reduce(ArrayTransport::kInline, count),
                ElementsAre(absl::StrCat("reduce ", count, " bytes")));
  }
  EXPECT_THAT(reduce(ArrayTransport::kAuto, kInlineBytesMax), ElementsAre("reduce 49152 bytes"));
  EXPECT_THAT(reduce(ArrayTransport::kAuto, kInlineBytesMax + 1),
              ElementsAre("info", "reduce 49153 bytes"));
}

TEST_F(ArrayWayTest, OneArrayThatIsNotCut) {
  const auto both = [this](ArrayTransport wanted, ArrayTransport told, size_t count) {
    const std::vector<int8_t> elements(count, 'x');
    std::vector<std::string> calls =
        CallsBy(wanted, told, [&](Client& client, const CallOptions& how) {
          return client.SelectTop(ArrayView(elements), {.count = 1}, how);
        });
    const std::vector<std::string> quantiles =
        CallsBy(wanted, told, [&](Client& client, const CallOptions& how) {
          return client.ComputeQuantiles(ArrayView(elements), {.quantiles = {0.5}}, how);
        });
    calls.insert(calls.end(), quantiles.begin(), quantiles.end());
    return calls;
  };
  const ArrayTransport in_request = ArrayTransport::kInline;
  for (const ArrayTransport wanted : kEveryWay) {
    EXPECT_THAT(both(wanted, in_request, 0), ElementsAre("top 0 bytes", "quantiles 0 bytes, none"));
  }
  EXPECT_THAT(both(ArrayTransport::kInline, in_request, 49153),
              ElementsAre("top 49153 bytes", "quantiles 49153 bytes, none"));
  EXPECT_THAT(both(ArrayTransport::kAuto, in_request, 49152),
              ElementsAre("top 49152 bytes", "quantiles 49152 bytes, none"));
  EXPECT_THAT(both(ArrayTransport::kAuto, in_request, 49153),
              ElementsAre("info", "top 49153 bytes", "info", "quantiles 49153 bytes, none"));
  EXPECT_THAT(both(ArrayTransport::kResident, ArrayTransport::kResident, 1),
              ElementsAre("info", "write 1 of x", "top array0", "delete array0", "info",
                          "write 1 of x", "quantiles array0, none", "delete array0"));
  message_bytes_max_ = 60'000;
  EXPECT_THAT(both(ArrayTransport::kAuto, ArrayTransport::kResident, 60'001),
              ElementsAre("info", "write 60001 of x", "top array0", "delete array0", "info",
                          "write 60001 of x", "quantiles array0, none", "delete array0"));
}

TEST_F(ArrayWayTest, ArraysTravelTogether) {
  const auto relate = [this](ArrayTransport wanted, ArrayTransport told, size_t count) {
    const std::vector<int8_t> x(count, 'x');
    const std::vector<int8_t> y(count, 'y');
    const std::vector<int8_t> weights(count, 'w');
    return CallsBy(wanted, told, [&](Client& client, const CallOptions& how) {
      return client.RelateArrays(ArrayView(x),
                                 {.statistics = {PairedStatistic::kVariance},
                                  .y = ArrayView(y),
                                  .weights = ArrayView(weights)},
                                 how);
    });
  };
  const ArrayTransport in_request = ArrayTransport::kInline;
  EXPECT_THAT(relate(ArrayTransport::kInline, in_request, 20'000),
              ElementsAre("relate 20000 bytes, 20000 bytes, 20000 bytes"));
  EXPECT_THAT(relate(ArrayTransport::kResident, in_request, 0),
              ElementsAre("relate 0 bytes, 0 bytes, 0 bytes"));
  // All of them together make the size.
  EXPECT_THAT(relate(ArrayTransport::kAuto, in_request, 16'384),
              ElementsAre("relate 16384 bytes, 16384 bytes, 16384 bytes"));
  EXPECT_THAT(relate(ArrayTransport::kAuto, in_request, 16'385),
              ElementsAre("info", "relate 16385 bytes, 16385 bytes, 16385 bytes"));
  const std::vector<std::string> moved =
      relate(ArrayTransport::kResident, ArrayTransport::kResident, 3);
  EXPECT_THAT(moved, ElementsAre("info", "write 3 of x", "write 3 of y", "write 3 of w",
                                 "relate array0, array1, array2", "delete array0", "delete array1",
                                 "delete array2"));
  message_bytes_max_ = 60'000;
  EXPECT_THAT(relate(ArrayTransport::kAuto, ArrayTransport::kResident, 20'001),
              ElementsAre("info", "write 20001 of x", "write 20001 of y", "write 20001 of w",
                          "relate array0, array1, array2", "delete array0", "delete array1",
                          "delete array2"));
}

TEST_F(ArrayWayTest, EachOfSeveralArraysIsItsOwn) {
  const std::vector<int8_t> x(2, 'x');
  const std::vector<int8_t> other(3, 'o');
  const auto relate = [&](const RelateOptions& options) {
    return CallsBy(ArrayTransport::kResident, ArrayTransport::kResident,
                   [&](Client& client, const CallOptions& how) {
                     return client.RelateArrays(ArrayView(x), options, how);
                   });
  };
  const std::vector<PairedStatistic> variance = {PairedStatistic::kVariance};
  EXPECT_THAT(relate({.statistics = variance}),
              ElementsAre("info", "write 2 of x", "relate array0, none, none", "delete array0"));
  EXPECT_THAT(relate({.statistics = variance, .y = ArrayView(other)}),
              ElementsAre("info", "write 2 of x", "write 3 of o", "relate array0, array1, none",
                          "delete array0", "delete array1"));
  EXPECT_THAT(relate({.statistics = variance, .weights = ArrayView(other)}),
              ElementsAre("info", "write 2 of x", "write 3 of o", "relate array0, none, array1",
                          "delete array0", "delete array1"));
  // What is on the server stays there.
  EXPECT_THAT(relate({.statistics = variance, .y = ResidentArray{"kept"}}),
              ElementsAre("info", "write 2 of x", "relate array0, kept, none", "delete array0"));
  EXPECT_THAT(CallsBy(ArrayTransport::kResident, ArrayTransport::kResident,
                      [&](Client& client, const CallOptions& how) {
                        return client.ComputeQuantiles(
                            ArrayView(x), {.quantiles = {0.5}, .weights = ArrayView(other)}, how);
                      }),
              ElementsAre("info", "write 2 of x", "write 3 of o", "quantiles array0, array1",
                          "delete array0", "delete array1"));
}

}  // namespace
}  // namespace gridfold::client
