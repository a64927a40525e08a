// Arrays on the server, as the client asks for them: against a server that answers as the test
// says.
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "client/library/expect_message.h"
#include "client/library/fake_server.h"
#include "gmock/gmock.h"
#include "google/protobuf/text_format.h"
#include "gridfold/client.h"
#include "gtest/gtest.h"

namespace gridfold::client {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

class ArrayClientTest : public testing::Test {
 protected:
  ArrayClientTest() {
    server_.on_info = [this](grpc::ServerContext&, const v1::GetServerInfoRequest&,
                             v1::GetServerInfoResponse& response) {
      ++info_count_;
      response.mutable_limits()->set_array_chunk_bytes_max(server_chunk_bytes_max_);
      return grpc::Status::OK;
    };
    Connect({});
  }

  void Connect(ClientOptions options) {
    options.target = server_.target();
    auto client = Client::Connect(options);
    EXPECT_TRUE(client.ok()) << client.status();
    client_ = *std::move(client);
  }

  static v1::ArrayDescription Description(const std::string& text) {
    v1::ArrayDescription description;
    EXPECT_TRUE(google::protobuf::TextFormat::ParseFromString(text, &description)) << text;
    return description;
  }

  // Answers reads of an array [4] of int16 by these messages.
  void AnswerReads(std::vector<std::string> data) {
    server_.on_read_array = [this, data](grpc::ServerContext&, const v1::ReadArrayRequest& request,
                                         std::vector<v1::ReadArrayResponse>& messages) {
      read_request_ = request;
      for (const std::string& bytes : data) {
        if (messages.empty()) {
          *messages.emplace_back().mutable_array() =
              Description("name: 'x' element_type: ELEMENT_TYPE_INT16 shape: 4 size_bytes: 8");
        } else {
          messages.emplace_back();
        }
        messages.back().set_data(bytes);
      }
      return grpc::Status::OK;
    };
  }

  FakeServer server_;
  std::unique_ptr<Client> client_;
  v1::ReadArrayRequest read_request_;
  uint64_t server_chunk_bytes_max_ = uint64_t{16} << 20;
  int info_count_ = 0;
};

TEST_F(ArrayClientTest, CreateSaysAllThatIsKnown) {
  v1::CreateArrayRequest asked;
  server_.on_create_array = [&](grpc::ServerContext&, const v1::CreateArrayRequest& request,
                                v1::CreateArrayResponse& response) {
    asked = request;
    *response.mutable_array() = Description(
        "name: 'x' element_type: ELEMENT_TYPE_FLOAT32 shape: [2, 3] size_bytes: 24 "
        "idle_expiry { seconds: 90 nanos: 5 } idle_time { nanos: 7 } device: 2");
    return grpc::Status::OK;
  };
  const auto array = client_->CreateArray({.name = "x",
                                           .element_type = ElementType::kFloat32,
                                           .shape = {2, 3},
                                           .idle_expiry = absl::Seconds(90) + absl::Nanoseconds(5),
                                           .device = 0});
  ASSERT_TRUE(array.ok()) << array.status();
  ExpectMessage(asked,
                "name: 'x' element_type: ELEMENT_TYPE_FLOAT32 shape: [2, 3] "
                "idle_expiry { seconds: 90 nanos: 5 } device: 0");
  EXPECT_EQ(array->name, "x");
  EXPECT_EQ(array->element_type, ElementType::kFloat32);
  EXPECT_THAT(array->shape, ElementsAre(2, 3));
  EXPECT_EQ(array->size_bytes, 24u);
  EXPECT_EQ(array->idle_expiry, absl::Seconds(90) + absl::Nanoseconds(5));
  EXPECT_EQ(array->idle_time, absl::Nanoseconds(7));
  EXPECT_EQ(array->device, 2u);
  ASSERT_TRUE(client_->CreateArray({.name = "x", .shape = {1}}).ok());
  EXPECT_FALSE(asked.has_device()) << "the server chooses";
  EXPECT_EQ(asked.placement(), v1::ARRAY_PLACEMENT_UNSPECIFIED);
  EXPECT_TRUE(array->shards.empty());
  EXPECT_EQ(client_->CreateArray({.idle_expiry = absl::InfiniteDuration()}).status().code(),
            absl::StatusCode::kInvalidArgument);
}

TEST_F(ArrayClientTest, AsksForShardsAndTellsOfThem) {
  v1::CreateArrayRequest asked;
  server_.on_create_array = [&](grpc::ServerContext&, const v1::CreateArrayRequest& request,
                                v1::CreateArrayResponse& response) {
    asked = request;
    *response.mutable_array() = Description(
        "name: 'x' element_type: ELEMENT_TYPE_INT8 shape: 5 size_bytes: 5 device: 1 "
        "shards { device: 1 element_count: 3 } "
        "shards { device: 4 first_element: 3 element_count: 2 }");
    return grpc::Status::OK;
  };
  const auto array = client_->CreateArray({.name = "x",
                                           .element_type = ElementType::kInt8,
                                           .shape = {5},
                                           .placement = ArrayPlacement::kSharded});
  ASSERT_TRUE(array.ok()) << array.status();
  ExpectMessage(asked,
                "name: 'x' element_type: ELEMENT_TYPE_INT8 shape: 5 "
                "placement: ARRAY_PLACEMENT_SHARDED");
  ASSERT_EQ(array->shards.size(), 2u);
  EXPECT_EQ(array->shards[1].device, 4u);
  EXPECT_EQ(array->shards[1].first_element, 3u);
  EXPECT_EQ(array->shards[1].element_count, 2u);
}

TEST_F(ArrayClientTest, WritesInChunksBehindOneHeader) {
  std::vector<v1::WriteArrayRequest> sent;
  server_.on_write_array = [&](grpc::ServerContext&,
                               const std::vector<v1::WriteArrayRequest>& messages,
                               v1::WriteArrayResponse& response) {
    sent = messages;
    for (const auto& message : messages) {
      response.set_written_bytes(response.written_bytes() + message.data().size());
    }
    return grpc::Status::OK;
  };
  Connect({.write_chunk_bytes = 11});
  const std::vector<int32_t> elements = {1, 2, 3, 4, 5};
  ASSERT_TRUE(client_->WriteArray("x", 100, elements).ok());
  ASSERT_EQ(sent.size(), 3u);
  for (size_t i = 0; i < sent.size(); ++i) {
    EXPECT_EQ(sent[i].has_header(), i == 0);
    EXPECT_EQ(sent[i].first_element(), 100 + 2 * i);
    EXPECT_EQ(sent[i].data().size(), i < 2 ? 8u : 4u);
  }
  EXPECT_EQ(sent[0].header().name(), "x");
  ASSERT_TRUE(client_->WriteArray("x", 0, std::vector<double>()).ok());
  EXPECT_EQ(sent.size(), 1u) << "the server is to say whether there is such an array";
  // Larger than what is copied on its way.
  Connect({});
  const std::vector<int8_t> large(5'000'000, 7);
  ASSERT_TRUE(client_->WriteArray("x", 0, large).ok());
  EXPECT_EQ(sent.size(), 3u);
  EXPECT_EQ(sent[0].data(), std::string(size_t{2} << 20, 7));
  // As the server would have it.
  server_chunk_bytes_max_ = 1'000'000;
  info_count_ = 0;
  Connect({});
  for (int i = 0; i < 2; ++i) {
    ASSERT_TRUE(client_->WriteArray("x", 0, large).ok());
    EXPECT_EQ(sent.size(), 5u);
  }
  EXPECT_EQ(info_count_, 1);
}

TEST_F(ArrayClientTest, AWriteThatIsNotCompleteIsAnError) {
  server_.on_write_array = [](grpc::ServerContext&, const std::vector<v1::WriteArrayRequest>&,
                              v1::WriteArrayResponse& response) {
    response.set_written_bytes(3);
    return grpc::Status::OK;
  };
  EXPECT_EQ(client_->WriteArray("x", 0, std::vector<int32_t>{1}).code(),
            absl::StatusCode::kInternal);
  server_.on_write_array = [](grpc::ServerContext&, const std::vector<v1::WriteArrayRequest>&,
                              v1::WriteArrayResponse&) {
    return grpc::Status(grpc::StatusCode::NOT_FOUND, "no such array");
  };
  EXPECT_EQ(client_->WriteArray("x", 0, std::vector<int32_t>{1}).code(),
            absl::StatusCode::kNotFound);
}

TEST_F(ArrayClientTest, ReadPutsChunksTogether) {
  AnswerReads({std::string("\1\0\2\0", 4), "", std::string("\3\0\4\0", 4)});
  const auto array = client_->ReadArray({"x"});
  ASSERT_TRUE(array.ok()) << array.status();
  EXPECT_THAT(array->shape, ElementsAre(4));
  EXPECT_THAT(*array->Values<int16_t>(), ElementsAre(1, 2, 3, 4));
  EXPECT_EQ(array->Values<float>().status().code(), absl::StatusCode::kFailedPrecondition);
  ExpectMessage(read_request_, "array { name: 'x' }");
}

TEST_F(ArrayClientTest, ReadsASlice) {
  AnswerReads({std::string("\2\0", 2)});
  const auto array = client_->ReadArray({"x", {{1, 1}}});
  ASSERT_TRUE(array.ok()) << array.status();
  EXPECT_THAT(array->shape, ElementsAre(1));
  EXPECT_THAT(*array->Values<int16_t>(), ElementsAre(2));
  ExpectMessage(read_request_, "array { name: 'x' slice { first: 1 count: 1 } }");
}

TEST_F(ArrayClientTest, ReadsAView) {
  AnswerReads({std::string("\4\0", 2), std::string("\2\0", 2)});
  ResidentArray backwards{.name = "x", .view = StridedView{{3}, {{0, 2, -2}}}};
  const auto array = client_->ReadArray(backwards);
  ASSERT_TRUE(array.ok()) << array.status();
  EXPECT_THAT(array->shape, ElementsAre(2));
  EXPECT_THAT(*array->Values<int16_t>(), ElementsAre(4, 2));
  ExpectMessage(read_request_,
                "array { name: 'x' view { first: 3 dimensions { axis: 0 count: 2 step: -2 } } }");
  backwards.view->dimensions[0].count = 1;
  EXPECT_EQ(client_->ReadArray(backwards).status().code(), absl::StatusCode::kInternal)
      << "more elements than were asked for";
  AnswerReads({std::string("\2\0", 2)});
  const auto element = client_->ReadArray({.name = "x", .view = StridedView{{1}, {}}});
  ASSERT_TRUE(element.ok()) << element.status();
  EXPECT_THAT(element->shape, IsEmpty());
  EXPECT_THAT(*element->Values<int16_t>(), ElementsAre(2));
  ExpectMessage(read_request_, "array { name: 'x' view { first: 1 } }");
}

TEST_F(ArrayClientTest, AnswersThatMakeNoSenseGoNoFurther) {
  for (const std::vector<std::string>& data :
       std::vector<std::vector<std::string>>{{}, {"1234"}, {"123456789"}, {"12345678", "9"}}) {
    AnswerReads(data);
    EXPECT_EQ(client_->ReadArray({"x"}).status().code(), absl::StatusCode::kInternal);
  }
}

TEST_F(ArrayClientTest, ListsAllPages) {
  const std::map<std::string, std::string> next = {{"", "a"}, {"a", "b"}, {"b", ""}};
  server_.on_list_arrays = [&](grpc::ServerContext&, const v1::ListArraysRequest& request,
                               v1::ListArraysResponse& response) {
    *response.add_arrays() =
        Description("name: 'after" + request.page_token() + "' element_type: ELEMENT_TYPE_INT8");
    response.set_next_page_token(next.at(request.page_token()));
    return grpc::Status::OK;
  };
  const auto arrays = client_->ListArrays();
  ASSERT_TRUE(arrays.ok()) << arrays.status();
  std::vector<std::string> names;
  for (const ArrayDescription& array : *arrays) names.push_back(array.name);
  EXPECT_THAT(names, ElementsAre("after", "aftera", "afterb"));
}

TEST_F(ArrayClientTest, TheTenantTravelsWithEveryCall) {
  std::vector<std::string> tenants;
  const auto remember = [&](grpc::ServerContext& context) {
    const auto found = context.client_metadata().find("gridfold-tenant");
    tenants.push_back(found == context.client_metadata().end()
                          ? ""
                          : std::string(found->second.data(), found->second.size()));
  };
  server_.on_delete_array = [&](grpc::ServerContext& context, const v1::DeleteArrayRequest&,
                                v1::DeleteArrayResponse&) {
    remember(context);
    return grpc::Status::OK;
  };
  server_.on_write_array = [&](grpc::ServerContext& context,
                               const std::vector<v1::WriteArrayRequest>&, v1::WriteArrayResponse&) {
    remember(context);
    return grpc::Status::OK;
  };
  for (const std::string& tenant : {std::string(), std::string("me")}) {
    Connect({.tenant = tenant});
    EXPECT_TRUE(client_->DeleteArray("x").ok());
    EXPECT_TRUE(client_->WriteArray("x", 0, std::vector<float>()).ok());
  }
  EXPECT_THAT(tenants, ElementsAre("", "", "me", "me"));
}

TEST_F(ArrayClientTest, ThePriorityTravelsUnlessItIsNormal) {
  std::vector<std::string> priorities;
  server_.on_delete_array = [&](grpc::ServerContext& context, const v1::DeleteArrayRequest&,
                                v1::DeleteArrayResponse&) {
    const auto found = context.client_metadata().find("gridfold-priority");
    priorities.push_back(found == context.client_metadata().end()
                             ? ""
                             : std::string(found->second.data(), found->second.size()));
    return grpc::Status::OK;
  };
  Connect({.priority = Priority::kLow});
  EXPECT_TRUE(client_->DeleteArray("x").ok());
  EXPECT_TRUE(client_->DeleteArray("x", {.priority = Priority::kHigh}).ok());
  EXPECT_TRUE(client_->DeleteArray("x", {.priority = Priority::kNormal}).ok());
  EXPECT_THAT(priorities, ElementsAre("low", "high", ""));
}

TEST_F(ArrayClientTest, OperationsTakeArraysByTheirNames) {
  v1::ReduceArrayRequest reduced;
  server_.on_reduce = [&](grpc::ServerContext&, const v1::ReduceArrayRequest& request,
                          v1::ReduceArrayResponse&) {
    reduced = request;
    return grpc::Status::OK;
  };
  EXPECT_TRUE(client_->ReduceArray(ResidentArray{"x", {{7, 9}}}, {}).ok());
  ExpectMessage(reduced.array(), "resident_array { name: 'x' slice { first: 7 count: 9 } }");
  ReductionOptions masked;
  masked.where = ResidentArray{.name = "m", .view = StridedView{{5}, {{.count = 2}}}};
  EXPECT_TRUE(client_
                  ->ReduceArray(ResidentArray{.name = "x",
                                              .view = StridedView{{1, 2, 3}, {{2, 4, -1}, {0, 5}}}},
                                masked)
                  .ok());
  ExpectMessage(reduced.array(),
                "resident_array { name: 'x' view { first: [1, 2, 3] "
                "dimensions { axis: 2 count: 4 step: -1 } "
                "dimensions { axis: 0 count: 5 step: 1 } } }");
  ExpectMessage(reduced.where(),
                "resident_array { name: 'm' view { first: 5 "
                "dimensions { axis: 0 count: 2 step: 1 } } }");
  v1::ComputeHistogramRequest counted;
  server_.on_histogram = [&](grpc::ServerContext&, const v1::ComputeHistogramRequest& request,
                             v1::ComputeHistogramResponse&) {
    counted = request;
    return grpc::Status(grpc::StatusCode::ABORTED, "asked");
  };
  HistogramOptions options;
  options.weights = ResidentArray{"w"};
  const std::vector<int8_t> y = {1};
  options.y_array = y;
  (void)client_->ComputeHistogram(ResidentArray{"x"}, options);
  ExpectMessage(counted.array(), "resident_array { name: 'x' }");
  ExpectMessage(counted.weights(), "resident_array { name: 'w' }");
  EXPECT_TRUE(counted.y_array().has_inline_array());
}

TEST_F(ArrayClientTest, ScansLeaveTheirResultsWhereTheyAreAskedTo) {
  v1::ScanArrayRequest scanned;
  server_.on_scan = [&](grpc::ServerContext&, const v1::ScanArrayRequest& request,
                        v1::ScanArrayResponse& response) {
    scanned = request;
    *response.mutable_resident_array() =
        Description("name: 'sums' element_type: ELEMENT_TYPE_INT64 shape: 3 size_bytes: 24");
    return grpc::Status::OK;
  };
  ScanOptions options;
  options.destination = ResidentDestination{.name = "sums", .idle_expiry = absl::Seconds(5)};
  const auto result = client_->ScanArray(ResidentArray{"x"}, options);
  ASSERT_TRUE(result.ok()) << result.status();
  ExpectMessage(scanned.destination(),
                "resident_array { name: 'sums' idle_expiry { seconds: 5 } }");
  ASSERT_TRUE(result->resident_array.has_value());
  EXPECT_EQ(result->resident_array->name, "sums");
  EXPECT_THAT(result->shape, ElementsAre(3));
  EXPECT_THAT(result->data, IsEmpty());
  options.destination = InPlaceDestination{};
  EXPECT_TRUE(client_->ScanArray(ResidentArray{"x"}, options).ok());
  ExpectMessage(scanned.destination(), "in_place { }");
}

// As gRPC answers for a server that stops.
TEST_F(ArrayClientTest, TransfersThatAreCutOffAreTriedAgain) {
  int calls = 0;
  const grpc::Status cut_off(grpc::StatusCode::CANCELLED, "");
  server_.on_write_array = [&](auto&&...) { return ++calls, cut_off; };
  server_.on_read_array = [&](auto&&...) { return ++calls, cut_off; };
  Connect({.retry = {.attempts_max = 3, .initial_backoff = absl::Milliseconds(1)}});
  const std::vector<float> elements = {1, 2};
  EXPECT_TRUE(absl::IsUnavailable(client_->WriteArray("x", 0, elements)));
  EXPECT_EQ(calls, 3);
  EXPECT_TRUE(absl::IsUnavailable(client_->ReadArray({"x"}).status()));
  EXPECT_EQ(calls, 6);
}

// A server that was lost may have carried the call out.
TEST_F(ArrayClientTest, CallsThatChangeArraysAreTriedOnce) {
  int calls = 0;
  const grpc::Status lost(grpc::StatusCode::UNAVAILABLE, "lost");
  server_.on_create_array = [&](auto&&...) { return ++calls, lost; };
  server_.on_delete_array = [&](auto&&...) { return ++calls, lost; };
  server_.on_scan = [&](auto&&...) { return ++calls, lost; };
  server_.on_get_array = [&](auto&&...) { return ++calls, lost; };
  Connect({.retry = {.attempts_max = 3, .initial_backoff = absl::Milliseconds(1)}});
  EXPECT_TRUE(absl::IsUnavailable(client_->CreateArray({.name = "x"}).status()));
  EXPECT_TRUE(absl::IsUnavailable(client_->DeleteArray("x")));
  ScanOptions in_place;
  in_place.destination = InPlaceDestination{};
  EXPECT_TRUE(absl::IsUnavailable(client_->ScanArray(ResidentArray{"x"}, in_place).status()));
  EXPECT_EQ(calls, 3);
  EXPECT_TRUE(absl::IsUnavailable(client_->GetArray("x").status()));
  EXPECT_EQ(calls, 6);
}

}  // namespace
}  // namespace gridfold::client
