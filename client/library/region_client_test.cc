// Shared-memory regions, as the client asks for them: against a server that answers as the test
// says, and looks into the memory.
#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <memory>
#include <numeric>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "absl/synchronization/mutex.h"
#include "absl/time/time.h"
#include "client/library/expect_message.h"
#include "client/library/fake_server.h"
#include "client/library/region_pool.h"
#include "gmock/gmock.h"
#include "gridfold/client.h"
#include "gridfold/shared_region.h"
#include "gtest/gtest.h"

namespace gridfold::client {
namespace {

using testing::ElementsAre;
using testing::MatchesRegex;

class RegionClientTest : public testing::Test {
 protected:
  RegionClientTest() {
    server_.on_register_region = [this](grpc::ServerContext&,
                                        const v1::RegisterRegionRequest& request,
                                        v1::RegisterRegionResponse& response) {
      registration_ = request;
      mapped_file_ = OpenObject(request.posix_shared_memory().object_name());
      response.mutable_region()->set_name(request.name().empty() ? "chosen" : request.name());
      response.mutable_region()->set_size_bytes(request.size_bytes());
      response.mutable_region()->set_owner_process_id(request.owner_process_id());
      return status_;
    };
    server_.on_unregister_region = [this](grpc::ServerContext&,
                                          const v1::UnregisterRegionRequest& request,
                                          v1::UnregisterRegionResponse&) {
      unregistered_.push_back(request.name());
      return grpc::Status::OK;
    };
    auto client = Client::Connect({.target = server_.target()});
    EXPECT_TRUE(client.ok()) << client.status();
    client_ = *std::move(client);
  }

  ~RegionClientTest() override { close(mapped_file_); }

  // What whoever knows the object's name sees; -1 where there is none.
  static int OpenObject(const std::string& name) { return shm_open(name.c_str(), O_RDWR, 0); }

  FakeServer server_;
  std::unique_ptr<Client> client_;
  grpc::Status status_ = grpc::Status::OK;
  v1::RegisterRegionRequest registration_;
  int mapped_file_ = -1;  // What the server has of the object.
  std::vector<std::string> unregistered_;
};

TEST_F(RegionClientTest, ARegionIsSharedFromItsMakingToItsEnd) {
  std::string object_name;
  {
    absl::StatusOr<SharedRegion> region =
        SharedRegion::Create(*client_, {.size_bytes = 4000, .idle_expiry = absl::Seconds(5)});
    ASSERT_TRUE(region.ok()) << region.status();
    object_name = registration_.posix_shared_memory().object_name();
    EXPECT_THAT(object_name, MatchesRegex("/gridfold-[0-9a-f]{32}"));
    EXPECT_EQ(registration_.size_bytes(), 4000u);
    EXPECT_EQ(registration_.owner_process_id(), static_cast<uint32_t>(getpid()));
    EXPECT_EQ(registration_.idle_expiry().seconds(), 5);
    EXPECT_EQ(region->name(), "chosen");
    EXPECT_EQ(region->bytes().size(), 4000u);
    const std::span<float> values = region->As<float>();
    ASSERT_EQ(values.size(), 1000u);
    std::iota(values.begin(), values.end(), 0.0f);
    ASSERT_GE(mapped_file_, 0);
    float last = 0;
    EXPECT_EQ(pread(mapped_file_, &last, sizeof(last), 3996), 4);
    EXPECT_EQ(last, 999);
    EXPECT_LT(OpenObject(object_name), 0) << "a program that is killed would leave it behind";
    const SharedRegion moved = *std::move(region);
    EXPECT_EQ(moved.As<float>()[7], 7);
    EXPECT_TRUE(unregistered_.empty());
  }
  EXPECT_THAT(unregistered_, ElementsAre("chosen"));
}

// Each call waits for the others, which come only where none waits for another one's answer.
TEST_F(RegionClientTest, APoolEndsItsRegionsTogether) {
  constexpr size_t kRegionCount = 3;
  absl::Mutex mutex;
  std::set<std::string> ended;
  server_.on_register_region = [](grpc::ServerContext&, const v1::RegisterRegionRequest& request,
                                  v1::RegisterRegionResponse& response) {
    response.mutable_region()->set_name(request.posix_shared_memory().object_name());
    response.mutable_region()->set_size_bytes(request.size_bytes());
    return grpc::Status::OK;
  };
  server_.on_unregister_region = [&](grpc::ServerContext&,
                                     const v1::UnregisterRegionRequest& request,
                                     v1::UnregisterRegionResponse&) {
    const absl::MutexLock lock(&mutex);
    ended.insert(request.name());
    const auto all_are_here = [&ended] { return ended.size() == kRegionCount; };
    EXPECT_TRUE(mutex.AwaitWithTimeout(absl::Condition(&all_are_here), absl::Seconds(20)));
    return grpc::Status::OK;
  };
  {
    RegionPool pool(*client_);
    std::vector<SharedRegion> regions;
    for (size_t i = 0; i < kRegionCount; ++i) {
      absl::StatusOr<SharedRegion> region = pool.Take(4096, {});
      ASSERT_TRUE(region.ok()) << region.status();
      regions.push_back(*std::move(region));
    }
    for (SharedRegion& region : regions) pool.Keep(std::move(region));
  }
  EXPECT_EQ(ended.size(), kRegionCount);
}

TEST_F(RegionClientTest, ARegionThatTheServerDoesNotTakeLeavesNothing) {
  status_ = grpc::Status(grpc::StatusCode::FAILED_PRECONDITION, "no");
  EXPECT_TRUE(
      absl::IsFailedPrecondition(SharedRegion::Create(*client_, {.size_bytes = 1}).status()));
  EXPECT_LT(OpenObject(registration_.posix_shared_memory().object_name()), 0);
  EXPECT_TRUE(unregistered_.empty());
  EXPECT_TRUE(absl::IsInvalidArgument(SharedRegion::Create(*client_, {}).status()));
  EXPECT_TRUE(absl::IsResourceExhausted(
      SharedRegion::Create(*client_, {.size_bytes = uint64_t{1} << 60}).status()));
}

TEST_F(RegionClientTest, SlicesAreInputAndDestination) {
  const absl::StatusOr<SharedRegion> region =
      SharedRegion::Create(*client_, {.size_bytes = 4000, .name = "x", .end_with_process = false});
  ASSERT_TRUE(region.ok());
  EXPECT_EQ(registration_.owner_process_id(), 0u);
  server_.on_reduce = [](grpc::ServerContext&, const v1::ReduceArrayRequest& request,
                         v1::ReduceArrayResponse&) {
    ExpectMessage(request.array(),
                  "region_slice { name: 'x' offset_bytes: 8 element_type: ELEMENT_TYPE_INT16 "
                  "shape: 12 }");
    return grpc::Status::OK;
  };
  EXPECT_TRUE(client_->ReduceArray(region->Slice<int16_t>(12, 8), {}).ok());
  server_.on_scan = [](grpc::ServerContext&, const v1::ScanArrayRequest& request,
                       v1::ScanArrayResponse& response) {
    ExpectMessage(request.array(),
                  "region_slice { name: 'x' element_type: ELEMENT_TYPE_FLOAT64 shape: [2, 3] }");
    ExpectMessage(request.destination(), "region { name: 'x' offset_bytes: 80 }");
    *response.mutable_region_slice() = request.array().region_slice();
    response.mutable_region_slice()->set_offset_bytes(80);
    return grpc::Status::OK;
  };
  const absl::StatusOr<ScanResult> scanned = client_->ScanArray(
      region->Slice(ElementType::kFloat64, {2, 3}), {.destination = region->Destination(80)});
  ASSERT_TRUE(scanned.ok()) << scanned.status();
  ASSERT_TRUE(scanned->region_slice.has_value());
  EXPECT_EQ(scanned->region_slice->offset_bytes, 80u);
  EXPECT_THAT(scanned->shape, ElementsAre(2, 3));
  EXPECT_TRUE(scanned->data.empty());
}

TEST_F(RegionClientTest, DeviceMemoryIsRegisteredByItsHandle) {
  const std::string handle(64, 'h');
  ASSERT_TRUE(client_
                  ->RegisterRegion({.size_bytes = 4096,
                                    .owner_process_id = 7,
                                    .cuda_ipc = CudaIpcMemory{.handle = handle, .device = 2}})
                  .ok());
  EXPECT_EQ(registration_.cuda_ipc().handle(), handle);
  EXPECT_EQ(registration_.cuda_ipc().device(), 2u);
  EXPECT_EQ(registration_.size_bytes(), 4096u);
  EXPECT_EQ(registration_.owner_process_id(), 7u);
}

TEST_F(RegionClientTest, AllPagesAreListed) {
  server_.on_list_regions = [](grpc::ServerContext&, const v1::ListRegionsRequest& request,
                               v1::ListRegionsResponse& response) {
    v1::RegionDescription& region = *response.add_regions();
    const bool is_first = request.page_token().empty();
    region.set_name(is_first ? "a" : "b");
    region.set_size_bytes(77);
    region.mutable_idle_time()->set_seconds(3);
    if (is_first) {
      region.set_owner_process_id(5);
      response.set_next_page_token("a");
    }
    return grpc::Status::OK;
  };
  const absl::StatusOr<std::vector<RegionDescription>> regions = client_->ListRegions();
  ASSERT_TRUE(regions.ok());
  ASSERT_EQ(regions->size(), 2u);
  EXPECT_EQ((*regions)[0].owner_process_id, 5u);
  EXPECT_EQ((*regions)[0].idle_time, absl::Seconds(3));
  EXPECT_EQ((*regions)[1].name, "b");
  EXPECT_FALSE((*regions)[1].owner_process_id.has_value());
}

TEST_F(RegionClientTest, AnAnswerThatMakesNoSense) {
  server_.on_scan = [](grpc::ServerContext&, const v1::ScanArrayRequest&,
                       v1::ScanArrayResponse& response) {
    response.mutable_region_slice()->set_name("x");
    return grpc::Status::OK;
  };
  EXPECT_TRUE(absl::IsInternal(client_->ScanArray(std::vector<int8_t>{1}, {}).status()));
}

}  // namespace
}  // namespace gridfold::client
