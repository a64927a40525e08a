// ArrayService over a real socket: arrays are made, described, listed and deleted; what is refused,
// and by which words.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <limits>
#include <thread>

#include "absl/strings/str_cat.h"
#include "server/testing/array_service_fixture.h"

namespace gridfold::server {
namespace {

using testing::ElementsAre;
using testing::MatchesRegex;

TEST_F(ArrayServiceTest, ANewArrayIsZeroAndDescribed) {
  ASSERT_TRUE(caller_.Create("x", v1::ELEMENT_TYPE_INT32, {3, 5}).ok());
  const v1::ArrayDescription& array = caller_.created.array();
  EXPECT_EQ(array.name(), "x");
  EXPECT_EQ(array.element_type(), v1::ELEMENT_TYPE_INT32);
  EXPECT_THAT(array.shape(), ElementsAre(3, 5));
  EXPECT_EQ(array.size_bytes(), 60u);
  EXPECT_EQ(array.idle_expiry().seconds(), 3600);
  EXPECT_EQ(caller_.ReadBytes(Resident("x")), std::string(60, '\0'));
  ASSERT_TRUE(caller_.Get("x").ok());
  EXPECT_THAT(caller_.got.array().shape(), ElementsAre(3, 5));
}

TEST_F(ArrayServiceTest, MemoryThatIsUsedAgainIsZeroAgain) {
  for (int round = 0; round < 3; ++round) {
    ASSERT_TRUE(caller_.Create("x", v1::ELEMENT_TYPE_UINT8, {500'000}).ok());
    EXPECT_EQ(caller_.ReadBytes(Resident("x")), std::string(500'000, '\0'));
    ASSERT_TRUE(caller_.Write("x", {Chunk(0, std::string(500'000, 'x'))}).ok());
    ASSERT_TRUE(caller_.Delete("x").ok());
  }
}

TEST_F(ArrayServiceTest, TheServerChoosesANameWhereNoneIsGiven) {
  ASSERT_TRUE(caller_.Create("", v1::ELEMENT_TYPE_INT8, {1}).ok());
  const std::string name = caller_.created.array().name();
  EXPECT_THAT(name, MatchesRegex("array-[0-9a-f]+"));
  EXPECT_TRUE(caller_.Get(name).ok());
}

TEST_F(ArrayServiceTest, BytesThatAreNoMessage) {
  for (const char* const method :
       {"CreateArray", "WriteArray", "ReadArray", "GetArray", "ListArrays", "DeleteArray"}) {
    const grpc::Status status =
        CallRaw(server_.channel(), absl::StrCat("/gridfold.v1.ArrayService/", method),
                "\xFF\xFF\xFF")
            .status;
    ExpectError(status, grpc::StatusCode::INVALID_ARGUMENT, kReasonInvalidRequest);
  }
}

TEST_F(ArrayServiceTest, NamesThatAreNoText) {
  // GetArrayRequest{name: "\xFF"}: a Protobuf string is UTF-8.
  const grpc::Status status =
      CallRaw(server_.channel(), "/gridfold.v1.ArrayService/GetArray", "\x0A\x01\xFF").status;
  ExpectError(status, grpc::StatusCode::INVALID_ARGUMENT, kReasonInvalidRequest);
}

TEST_F(ArrayServiceTest, ArraysThatCannotBeMade) {
  const auto create = [&](const std::string& name, int type, const std::vector<uint64_t>& shape) {
    return caller_.Create(name, static_cast<v1::ElementType>(type), shape);
  };
  ExpectInvalidField(create("x", 0, {1}), "element_type");
  ExpectInvalidField(create("x", 77, {1}), "element_type");
  ExpectInvalidField(create("x", 1, {}), "shape");
  ExpectInvalidField(create("x", 1, {1, 2, 3, 4, 5, 6, 7, 8, 9}), "shape");
  ExpectInvalidField(create("x", 1, {kMax, kMax}), "shape");
  ExpectInvalidField(create("x", 12, {uint64_t{1} << 32, uint64_t{1} << 29}), "shape");
  ExpectInvalidField(create("two words", 1, {1}), "name");
  ExpectInvalidField(create("x[1]", 1, {1}), "name");
  ExpectInvalidField(create(std::string(129, 'x'), 1, {1}), "name");
  EXPECT_TRUE(create(std::string(128, 'x'), 1, {1}).ok());
  EXPECT_TRUE(create("a/b.c-D_9", 1, {0}).ok());
  ASSERT_TRUE(create("x", 1, {1}).ok());
  ExpectError(create("x", 1, {1}), grpc::StatusCode::ALREADY_EXISTS, kReasonArrayExists);
  // 2^62 bytes fit in 64 bits, but in no server.
  ExpectError(create("y", 1, {uint64_t{1} << 61}), grpc::StatusCode::RESOURCE_EXHAUSTED,
              kReasonArrayQuota);
}

TEST_F(ArrayServiceTest, IdleExpiriesThatMakeNoSense) {
  const struct {
    int64_t seconds;
    int32_t nanos;
  } cases[] = {{0, 0},
               {-1, 0},
               {30 * 86400, 1},
               {std::numeric_limits<int64_t>::max(), 0},
               {1, -1},
               {1, 1'000'000'000},
               {std::numeric_limits<int64_t>::min(), 0}};
  v1::CreateArrayRequest request;
  request.set_element_type(v1::ELEMENT_TYPE_INT8);
  request.add_shape(1);
  for (const auto& [whole_seconds, nanos] : cases) {
    request.mutable_idle_expiry()->set_seconds(whole_seconds);
    request.mutable_idle_expiry()->set_nanos(nanos);
    ExpectInvalidField(caller_.Create(request), "idle_expiry");
  }
  request.mutable_idle_expiry()->set_seconds(30 * 86400);
  request.mutable_idle_expiry()->set_nanos(0);
  EXPECT_TRUE(caller_.Create(request).ok());
  EXPECT_EQ(caller_.created.array().idle_expiry().seconds(), 30 * 86400);
}

TEST_F(ArrayServiceTest, AnIdleArrayGoes) {
  v1::CreateArrayRequest request;
  request.set_name("x");
  request.set_element_type(v1::ELEMENT_TYPE_INT8);
  request.add_shape(1);
  request.mutable_idle_expiry()->set_nanos(20'000'000);
  ASSERT_TRUE(caller_.Create(request).ok());
  while (caller_.Get("x").ok()) std::this_thread::sleep_for(std::chrono::milliseconds(1));
  ExpectNotFound(caller_.Get("x"));
}

TEST_F(ArrayServiceTest, AQuotaThatIsFullSaysSoAndWhenToComeBack) {
  ASSERT_TRUE(caller_.Create("x", v1::ELEMENT_TYPE_UINT8, {2 * kMiB}).ok());
  const grpc::Status full = caller_.Create("y", v1::ELEMENT_TYPE_UINT8, {2 * kMiB});
  ExpectError(full, grpc::StatusCode::RESOURCE_EXHAUSTED, kReasonArrayQuota);
  EXPECT_TRUE(DecodeDetails(full).retry_info.has_value());
  ArrayCaller other(server_, "other");
  const grpc::Status pool_full = other.Create("y", v1::ELEMENT_TYPE_UINT8, {3 * kMiB});
  ExpectError(pool_full, grpc::StatusCode::RESOURCE_EXHAUSTED, kReasonArrayQuota);
  ASSERT_TRUE(caller_.Delete("x").ok());
  EXPECT_TRUE(other.Create("y", v1::ELEMENT_TYPE_UINT8, {3 * kMiB}).ok());
}

TEST_F(ArrayServiceTest, TenantsDoNotSeeEachOther) {
  ArrayCaller a(server_, "a");
  ArrayCaller b(server_, "b");
  a.Put("x", v1::ELEMENT_TYPE_INT8, {3}, std::vector<int8_t>{1, 2, 3});
  for (ArrayCaller* const other : {&b, &caller_}) {
    ExpectNotFound(other->Get("x"));
    ExpectNotFound(other->Read(Resident("x")));
    ExpectNotFound(other->Write("x", {Chunk(0, "a")}));
    ExpectNotFound(other->Delete("x"));
    v1::ReduceArrayRequest sum;
    *sum.mutable_array() = Resident("x");
    sum.add_statistics(v1::STATISTIC_SUM);
    ExpectNotFound(other->Compute(sum));
    ASSERT_TRUE(other->List().ok());
    EXPECT_EQ(other->listed.arrays_size(), 0);
  }
  b.Put("x", v1::ELEMENT_TYPE_INT8, {2}, std::vector<int8_t>{8, 9});
  EXPECT_EQ(a.ReadBytes(Resident("x")), std::string("\1\2\3"));
  EXPECT_EQ(b.ReadBytes(Resident("x")), std::string("\10\11"));
}

TEST_F(ArrayServiceTest, TenantsThatAreNoNames) {
  for (const std::string& tenant : {std::string("two words"), std::string(65, 'x')}) {
    ArrayCaller caller(server_, tenant);
    ExpectInvalidField(caller.Create("x", v1::ELEMENT_TYPE_INT8, {1}), "gridfold-tenant");
    ExpectInvalidField(caller.Get("x"), "gridfold-tenant");
    ExpectInvalidField(caller.Read(Resident("x")), "gridfold-tenant");
    ExpectInvalidField(caller.Write("x", {}), "gridfold-tenant");
    ExpectInvalidField(caller.Compute(SmallReduction()), "gridfold-tenant");
  }
  grpc::ClientContext twice;
  twice.AddMetadata("gridfold-tenant", "a");
  twice.AddMetadata("gridfold-tenant", "b");
  v1::ListArraysResponse response;
  ExpectInvalidField(server_.arrays().ListArrays(&twice, {}, &response), "gridfold-tenant");
}

TEST_F(ArrayServiceTest, ListsPageByPage) {
  std::vector<std::string> names;
  for (int i = 0; i < 250; ++i) {
    names.push_back(absl::StrCat("n", 1000 + i));
    ASSERT_TRUE(caller_.Create(names.back(), v1::ELEMENT_TYPE_INT8, {0}).ok());
  }
  for (const uint32_t page_size : {0u, 1u, 7u, 250u, 1'000'000u}) {
    std::vector<std::string> listed;
    std::string token;
    do {
      ASSERT_TRUE(caller_.List(page_size, token).ok());
      for (const auto& array : caller_.listed.arrays()) listed.push_back(array.name());
      token = caller_.listed.next_page_token();
    } while (!token.empty());
    EXPECT_EQ(listed, names) << page_size;
  }
  ASSERT_TRUE(caller_.List().ok());
  EXPECT_EQ(caller_.listed.arrays_size(), 100);
  ExpectInvalidField(caller_.List(0, "no token"), "page_token");
}

TEST_F(ArrayServiceTest, ADeletedArrayIsGone) {
  ASSERT_TRUE(caller_.Create("x", v1::ELEMENT_TYPE_INT8, {1}).ok());
  EXPECT_TRUE(caller_.Delete("x").ok());
  ExpectNotFound(caller_.Delete("x"));
  ExpectNotFound(caller_.Get("x"));
  ExpectInvalidField(caller_.Delete("x y"), "name");
  ExpectInvalidField(caller_.Get(""), "name");
  EXPECT_TRUE(caller_.Create("x", v1::ELEMENT_TYPE_INT8, {2}).ok());
}

TEST_F(ArrayServiceTest, TheServerTellsItsLimits) {
  grpc::ClientContext context;
  v1::GetServerInfoResponse info;
  ASSERT_TRUE(server_.server_service().GetServerInfo(&context, {}, &info).ok());
  EXPECT_EQ(info.limits().resident_bytes_max(), 4 * kMiB);
  EXPECT_EQ(info.limits().tenant_resident_bytes_max(), 3 * kMiB);
  EXPECT_EQ(info.limits().array_count_max(), 300u);
  EXPECT_EQ(info.limits().array_chunk_bytes_max(), TestLimits().array_chunk_bytes_max());
}

}  // namespace
}  // namespace gridfold::server
