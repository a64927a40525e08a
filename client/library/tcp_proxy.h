// A TCP proxy of a test, which can be slow, and loses connections when it is told to.
#ifndef GRIDFOLD_CLIENT_LIBRARY_TCP_PROXY_H_
#define GRIDFOLD_CLIENT_LIBRARY_TCP_PROXY_H_

#include <atomic>
#include <cstdint>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "absl/synchronization/mutex.h"

namespace gridfold::client {

// Listens on a loopback port until it is destroyed. Requires that the client has gone before.
class TcpProxy {
 public:
  // `server` is "127.0.0.1:port".
  explicit TcpProxy(const std::string& server);
  ~TcpProxy();

  // "127.0.0.1:port".
  const std::string& target() const { return target_; }

  // The connection that is the first to have carried so many bytes to the server is closed, both
  // ways; once.
  void KillAfter(uint64_t bytes) { kill_after_bytes_ = bytes; }
  bool has_killed() const { return has_killed_; }

  // Each connection carries no more to the server than so many bytes a second; 0: as many as it
  // can.
  void SetRate(uint64_t bytes_per_second) { bytes_per_second_ = bytes_per_second; }

  // How many connections have carried at least so many bytes to the server.
  int ConnectionsWith(uint64_t bytes) const;

 private:
  void Accept();
  void Carry(int from, int to, std::atomic<uint64_t>* carried);

  const std::string server_;
  std::string target_;
  int listener_ = -1;
  std::atomic<uint64_t> kill_after_bytes_ = 0;
  std::atomic<bool> has_killed_ = false;
  std::atomic<uint64_t> bytes_per_second_ = 0;
  mutable absl::Mutex mutex_;
  std::vector<int> sockets_ ABSL_GUARDED_BY(mutex_);
  std::vector<std::unique_ptr<std::atomic<uint64_t>>> carried_ ABSL_GUARDED_BY(mutex_);
  std::vector<std::thread> carriers_ ABSL_GUARDED_BY(mutex_);
  std::thread acceptor_;
};

}  // namespace gridfold::client

#endif  // GRIDFOLD_CLIENT_LIBRARY_TCP_PROXY_H_
