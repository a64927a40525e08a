// `gridfold scan` against a fake server: what is asked of it, and where its results go.
#include <dlfcn.h>
#include <pthread.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <string>

#include "client/command_line/exit_code.h"
#include "client/command_line/input/file.h"
#include "client/command_line/program_test_fixture.h"
#include "gmock/gmock.h"
#include "google/protobuf/text_format.h"
#include "gtest/gtest.h"
#include "nlohmann/json.hpp"

namespace gridfold::client {
namespace {

using testing::HasSubstr;

// Whether this thread gets no other by way of the C++ library, as ours are started and gRPC's are
// not.
thread_local bool refuses_threads = false;

}  // namespace

// Sanitizers have one of their own.
#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
#define GRIDFOLD_CAN_REFUSE_THREADS
extern "C" int pthread_create(pthread_t* thread, const pthread_attr_t* attributes,
                              void* (*run)(void*), void* argument) noexcept {
  static auto* const create =
      reinterpret_cast<decltype(&pthread_create)>(dlsym(RTLD_NEXT, "pthread_create"));
  Dl_info library;
  if (refuses_threads && dladdr(reinterpret_cast<void*>(run), &library) != 0 &&
      std::strstr(library.dli_fname, "libstdc++") != nullptr) {
    return EAGAIN;
  }
  return create(thread, attributes, run, argument);
}
#endif

namespace {

TEST_F(ProgramTest, ScanFlagsReachTheServer) {
  EXPECT_EQ(Run({"scan", "@in.csv", "--shape", "1,2", "--axis", "1", "--op", "max", "--exclusive",
                 "--reverse", "--output-type", "int64"}),
            ExitCode::kSuccess);
  EXPECT_EQ(scan_request_.operation(), v1::SCAN_OPERATION_MAX);
  EXPECT_FALSE(scan_request_.exact());
  EXPECT_EQ(scan_request_.mode(), v1::SCAN_MODE_EXCLUSIVE);
  EXPECT_EQ(scan_request_.direction(), v1::SCAN_DIRECTION_REVERSE);
  EXPECT_EQ(scan_request_.output_type(), v1::ELEMENT_TYPE_INT64);
  EXPECT_EQ(scan_request_.grouping().axis(), 1u);
  EXPECT_THAT(scan_request_.array().inline_array().shape(), testing::ElementsAre(1, 2));
}

TEST_F(ProgramTest, ExactScansAreAskedFor) {
  EXPECT_EQ(Run({"scan", "@in.csv", "--exact"}), ExitCode::kSuccess);
  EXPECT_TRUE(scan_request_.exact());
}

TEST_F(ProgramTest, ScanWritesFiles) {
  const std::string elements("\1\0\0\0\0\0\0\0\3\0\0\0\0\0\0\0", 16);
  Write("out.npy", "");
  EXPECT_EQ(Run({"scan", "@in.csv", "--output", "@out.npy"}), ExitCode::kSuccess);
  const std::string npy = *ReadFile(Path("out.npy"), 1000, nullptr);
  EXPECT_EQ(npy.substr(0, 6), "\x93NUMPY");
  EXPECT_EQ(npy.substr(npy.size() - 16), elements);
  Write("out.bin", "");
  EXPECT_EQ(Run({"scan", "@in.csv", "--output", "@out.bin"}), ExitCode::kSuccess);
  EXPECT_EQ(*ReadFile(Path("out.bin"), 1000, nullptr), elements);
  EXPECT_EQ(Run({"scan", "@in.csv", "--output", "/nonexistent/out.npy"}), ExitCode::kInputOutput);
}

TEST_F(ProgramTest, ScansLeaveTheirResultsOnTheServer) {
  server_.on_scan = [this](grpc::ServerContext&, const v1::ScanArrayRequest& request,
                           v1::ScanArrayResponse& response) {
    scan_request_ = request;
    EXPECT_TRUE(google::protobuf::TextFormat::ParseFromString(kDescription,
                                                              response.mutable_resident_array()));
    return grpc::Status::OK;
  };
  EXPECT_EQ(Run({"scan", "@in.csv", "--to-array", "x"}), ExitCode::kSuccess);
  ExpectMessage(scan_request_.destination(), "resident_array { name: 'x' }");
  EXPECT_THAT(out_.str(), HasSubstr("the server has 2 int64 elements in array x\n"));
  EXPECT_EQ(Run({"scan", "@in.csv", "--in-place", "--json"}), ExitCode::kSuccess);
  ExpectMessage(scan_request_.destination(), "in_place { }");
  EXPECT_EQ(nlohmann::json::parse(out_.str())["result"]["array"], "x");
}

TEST_F(ProgramTest, AStreamedScanDoesNotWriteWhatItReads) {
  const std::string link = Path("link.bin");
  Write("in.bin", "abc");
  ASSERT_EQ(symlink(Path("in.bin").c_str(), link.c_str()), 0);
  for (const char* output : {"@in.bin", "@link.bin"}) {
    EXPECT_EQ(Run({"scan", "@in.bin", "--type", "int8", "--stream", "--output", output}),
              ExitCode::kUsage);
    EXPECT_THAT(error_out_.str(), HasSubstr("--output: is FILE"));
    EXPECT_EQ(ReadFile(Path("in.bin"), 100, nullptr).value(), "abc");
  }
  std::remove(link.c_str());
}

#ifdef GRIDFOLD_CAN_REFUSE_THREADS
TEST_F(ProgramTest, AStreamedScanWithoutAThreadToSendFails) {
  server_.on_info = [](grpc::ServerContext&, const v1::GetServerInfoRequest&,
                       v1::GetServerInfoResponse& response) {
    response.mutable_limits()->set_message_bytes_max(1 << 20);
    response.mutable_limits()->set_array_chunk_bytes_max(1 << 19);
    return grpc::Status::OK;
  };
  Write("in.bin", "abc");
  Write("out.bin", "");
  refuses_threads = true;
  const ExitCode code =
      Run({"scan", "@in.bin", "--type", "int8", "--stream", "--output", "@out.bin"});
  refuses_threads = false;
  EXPECT_EQ(code, ExitCode::kRequestFailed);
  EXPECT_THAT(error_out_.str(), HasSubstr("there is no thread to send the elements"));
}
#endif

}  // namespace
}  // namespace gridfold::client
