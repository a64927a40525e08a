// A connection that breaks: passes bytes between a client and a server until a number of them has
// gone to the server, and then resets both sides, as a client's death or a cut cable does.
#ifndef GRIDFOLD_SERVER_TESTING_CUTTING_PROXY_H_
#define GRIDFOLD_SERVER_TESTING_CUTTING_PROXY_H_

#include <cstdint>
#include <thread>

namespace gridfold::server {

class CuttingProxy {
 public:
  // Takes one connection on port() and passes it on to `server_port` of the loopback address.
  CuttingProxy(int server_port, uint64_t bytes_to_server_max);
  // Resets what is left.
  ~CuttingProxy();

  int port() const { return port_; }

 private:
  void Run(int server_port);
  void Pass(int client, int server);

  const uint64_t bytes_to_server_max_;
  int listener_ = -1;
  int stop_event_ = -1;
  int port_ = 0;
  std::thread thread_;
};

}  // namespace gridfold::server

#endif  // GRIDFOLD_SERVER_TESTING_CUTTING_PROXY_H_
