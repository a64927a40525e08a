// A server that opens every window of HTTP/2 and then stops reading.
#ifndef GRIDFOLD_CLIENT_LIBRARY_STALLING_SERVER_H_
#define GRIDFOLD_CLIENT_LIBRARY_STALLING_SERVER_H_

#include <string>
#include <thread>
#include <vector>

namespace gridfold::client {

// Accepts connections from construction to destruction.
class StallingServer {
 public:
  StallingServer();
  ~StallingServer();

  // "127.0.0.1:port".
  const std::string& target() const { return target_; }

 private:
  void Accept();

  int listener_;
  std::string target_;
  std::vector<int> connections_;
  std::thread thread_;
};

}  // namespace gridfold::client

#endif  // GRIDFOLD_CLIENT_LIBRARY_STALLING_SERVER_H_
