// A client that streams to a fake server, in small messages. For tests.
#ifndef GRIDFOLD_CLIENT_LIBRARY_STREAM_CLIENT_TEST_FIXTURE_H_
#define GRIDFOLD_CLIENT_LIBRARY_STREAM_CLIENT_TEST_FIXTURE_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <utility>

#include "client/library/expect_message.h"
#include "client/library/fake_server.h"
#include "gridfold/client.h"
#include "gtest/gtest.h"

namespace gridfold::client {

class StreamClientTest : public testing::Test {
 protected:
  StreamClientTest() {
    server_.on_info = [](grpc::ServerContext&, const v1::GetServerInfoRequest&,
                         v1::GetServerInfoResponse& response) {
      response.mutable_limits()->set_array_chunk_bytes_max(uint64_t{16} << 20);
      return grpc::Status::OK;
    };
    auto client = Client::Connect({.target = server_.target(), .write_chunk_bytes = 1000});
    EXPECT_TRUE(client.ok()) << client.status();
    client_ = *std::move(client);
  }

  static std::string Letters(size_t count) {
    std::string letters(count, 'a');
    for (size_t i = 0; i < count; ++i) letters[i] = static_cast<char>('a' + i % 26);
    return letters;
  }
  static std::span<const std::byte> Bytes(const std::string& text) {
    return std::as_bytes(std::span(text));
  }

  FakeServer server_;
  std::unique_ptr<Client> client_;
};

}  // namespace gridfold::client

#endif  // GRIDFOLD_CLIENT_LIBRARY_STREAM_CLIENT_TEST_FIXTURE_H_
