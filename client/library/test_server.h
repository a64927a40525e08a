// The gridfold_server of the same build, as a process of its own, for tests of the library.
#ifndef GRIDFOLD_CLIENT_LIBRARY_TEST_SERVER_H_
#define GRIDFOLD_CLIENT_LIBRARY_TEST_SERVER_H_

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "client/transport_benchmark/child_process.h"
#include "gridfold/client.h"

namespace gridfold::client {

// Runs from construction to destruction. The environment variable GRIDFOLD_SERVER_BINARY says where
// the program is.
class TestServer {
 public:
  // With the CPU engine, on a loopback port that is free, and with `options`.
  explicit TestServer(const std::vector<std::string>& options = {});
  ~TestServer();
  TestServer(const TestServer&) = delete;
  TestServer& operator=(const TestServer&) = delete;

  // "127.0.0.1:port".
  const std::string& target() const { return target_; }

 private:
  std::string folder_;
  std::optional<transport_benchmark::ChildProcess> process_;
  std::string target_;
};

// A connected client; large arrays have three connections where `options` do not say how many.
std::unique_ptr<Client> ConnectClient(const std::string& target, ClientOptions options = {});

}  // namespace gridfold::client

#endif  // GRIDFOLD_CLIENT_LIBRARY_TEST_SERVER_H_
