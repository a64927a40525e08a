// A small HTTP server for one page of text that is made anew for each request: the metrics. One
// thread, nothing in it blocks, and every connection has its times, so that no client can keep
// another one waiting, be it silent, slow or one of many.
//
// GET and HEAD of one path are answered, HTTP/1.0 and 1.1, without keep-alive. Bounds:
// base/fixed_limits.h.
#ifndef GRIDFOLD_SERVER_TRANSPORT_SCRAPE_SERVER_H_
#define GRIDFOLD_SERVER_TRANSPORT_SCRAPE_SERVER_H_

#include <netinet/in.h>

#include <chrono>
#include <functional>
#include <list>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "absl/status/statusor.h"
#include "server/transport/listener.h"

namespace gridfold::server {

class ScrapeServer {
 public:
  // The page as it is now. Called in the server's thread.
  using Render = std::function<std::string()>;

  // Listens on `address` ("host:port"; port 0 takes any that is free). Errors: those of
  // ListenOnHost.
  static absl::StatusOr<std::unique_ptr<ScrapeServer>> Start(const std::string& address,
                                                             const std::string& path,
                                                             const std::string& content_type,
                                                             Render render);
  // Closes every connection, after the page that is being made.
  ~ScrapeServer();

  int port() const { return port_; }

 private:
  using Clock = std::chrono::steady_clock;
  struct Connection {
    Descriptor socket;
    std::string peer;  // Its address, without the port.
    Clock::time_point deadline;
    std::string request = {};
    std::string answer = {};  // What is left of it to send.
    bool is_answered = false;
  };

  ScrapeServer(std::vector<Descriptor> sockets, Descriptor stop, std::string path,
               std::string content_type, Render render);

  void Run();
  void AcceptAll(int listening);
  void MakeRoom();
  // These say whether the connection goes on.
  bool Proceed(Connection& connection);
  bool Receive(Connection& connection);
  static bool Send(Connection& connection);
  std::string AnswerTo(const std::string& request) const;

  const std::string path_;
  const std::string content_type_;
  const Render render_;
  const std::vector<Descriptor> sockets_;
  const Descriptor stop_;
  const int port_;
  std::list<Connection> connections_;  // The thread's alone; the oldest first.
  std::thread thread_;
};

}  // namespace gridfold::server

#endif  // GRIDFOLD_SERVER_TRANSPORT_SCRAPE_SERVER_H_
