// HTTP over a plain socket, for tests: what is sent is what the test says, also where it is wrong.
#ifndef GRIDFOLD_SERVER_TESTING_HTTP_EXCHANGE_H_
#define GRIDFOLD_SERVER_TESTING_HTTP_EXCHANGE_H_

#include <string>

namespace gridfold::server {

// A connection to a port of this machine. Fails the running test where there is none to be had.
class TestSocket {
 public:
  explicit TestSocket(int port);
  ~TestSocket();
  TestSocket(const TestSocket&) = delete;
  TestSocket& operator=(const TestSocket&) = delete;

  void Send(const std::string& bytes);
  // Until the server has closed the connection.
  std::string ReceiveAll();

 private:
  const int socket_;
};

struct HttpAnswer {
  int status = 0;  // 0 where what came back is not HTTP.
  std::string headers;
  std::string body;
};

// Sends the bytes as they are and takes the answer apart.
HttpAnswer HttpExchange(int port, const std::string& request);

HttpAnswer HttpGet(int port, const std::string& path);

}  // namespace gridfold::server

#endif  // GRIDFOLD_SERVER_TESTING_HTTP_EXCHANGE_H_
