#include "client/library/test_server.h"

#include <cstdlib>
#include <filesystem>
#include <iostream>
#include <utility>

#include "absl/strings/str_cat.h"
#include "gtest/gtest.h"

namespace gridfold::client {

TestServer::TestServer(const std::vector<std::string>& options)
    : folder_(std::filesystem::temp_directory_path() / "gridfold_test_XXXXXX") {
  const char* const program = std::getenv("GRIDFOLD_SERVER_BINARY");
  if (program == nullptr || mkdtemp(folder_.data()) == nullptr) {
    std::cerr << "GRIDFOLD_SERVER_BINARY is not set, or there is no temporary folder\n";
    std::abort();
  }
  const std::string port_file = folder_ + "/port";
  std::vector<std::string> arguments = {
      program,   "--engine",          "cpu", "--listen",    "127.0.0.1:0", "--port-file",
      port_file, "--metrics-address", "off", "--log-level", "error"};
  arguments.insert(arguments.end(), options.begin(), options.end());
  auto process = transport_benchmark::ChildProcess::Start(arguments, folder_ + "/log");
  const auto port = process.ok() ? transport_benchmark::AwaitPort(*process, port_file)
                                 : absl::StatusOr<int>(process.status());
  if (!port.ok()) {
    std::cerr << port.status() << "\n";
    std::abort();
  }
  process_.emplace(*std::move(process));
  target_ = absl::StrCat("127.0.0.1:", *port);
}

TestServer::~TestServer() {
  process_.reset();
  std::filesystem::remove_all(folder_);
}

std::unique_ptr<Client> ConnectClient(const std::string& target, ClientOptions options) {
  options.target = target;
  if (options.stream_count == 0) options.stream_count = 3;
  auto client = Client::Connect(options);
  EXPECT_TRUE(client.ok()) << client.status();
  return *std::move(client);
}

}  // namespace gridfold::client
