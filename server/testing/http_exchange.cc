#include "server/testing/http_exchange.h"

#include <arpa/inet.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cstdio>

namespace gridfold::server {

TestSocket::TestSocket(int port) : socket_(socket(AF_INET, SOCK_STREAM, 0)) {
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(static_cast<uint16_t>(port));
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  EXPECT_EQ(connect(socket_, reinterpret_cast<sockaddr*>(&address), sizeof(address)), 0);
}

TestSocket::~TestSocket() { close(socket_); }

void TestSocket::Send(const std::string& bytes) {
  // The server may have hung up already; what it answered tells.
  (void)send(socket_, bytes.data(), bytes.size(), MSG_NOSIGNAL);
}

std::string TestSocket::ReceiveAll() {
  std::string received;
  char buffer[4096];
  while (true) {
    const ssize_t count = recv(socket_, buffer, sizeof(buffer), 0);
    if (count <= 0) return received;
    received.append(buffer, static_cast<size_t>(count));
  }
}

HttpAnswer HttpExchange(int port, const std::string& request) {
  TestSocket socket(port);
  socket.Send(request);
  const std::string received = socket.ReceiveAll();
  HttpAnswer answer;
  const size_t headers_end = received.find("\r\n\r\n");
  if (headers_end == std::string::npos ||
      std::sscanf(received.c_str(), "HTTP/1.1 %d", &answer.status) != 1) {
    return {};
  }
  answer.headers = received.substr(0, headers_end);
  answer.body = received.substr(headers_end + 4);
  return answer;
}

HttpAnswer HttpGet(int port, const std::string& path) {
  return HttpExchange(port, "GET " + path + " HTTP/1.1\r\nHost: localhost\r\n\r\n");
}

}  // namespace gridfold::server
