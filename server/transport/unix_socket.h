// A Unix socket that a server listens on, by the path of its file.
//
// The file outlives a server that was killed, and then keeps the next one from listening. So a file
// that nobody listens at is replaced; one at which a server answers, and one that is no socket, is
// left alone. Servers that start or stop at the same time take turns by a lock on the folder.
#ifndef GRIDFOLD_SERVER_TRANSPORT_UNIX_SOCKET_H_
#define GRIDFOLD_SERVER_TRANSPORT_UNIX_SOCKET_H_

#include <sys/stat.h>
#include <sys/types.h>

#include <chrono>
#include <string>

#include "absl/status/statusor.h"
#include "server/base/descriptor.h"

namespace gridfold::server {

// The server's user and its group may connect.
inline constexpr mode_t kUnixSocketMode = 0660;
// How long a server that starts or stops waits for others that are at it in the same folder.
inline constexpr std::chrono::milliseconds kUnixFolderLockTimeout = std::chrono::seconds(5);

// Removes the socket's file with the object, unless another file has taken its place. Movable only.
// Not thread-safe.
class UnixSocketFile {
 public:
  UnixSocketFile() = default;
  // Takes charge of the file that is at `path` now.
  explicit UnixSocketFile(std::string path);
  UnixSocketFile(UnixSocketFile&& other) noexcept;
  UnixSocketFile& operator=(UnixSocketFile&& other) noexcept;
  ~UnixSocketFile();

 private:
  std::string path_;  // Empty where there is none.
  dev_t device_ = 0;
  ino_t inode_ = 0;
};

struct UnixListener {
  Descriptor socket;  // Listens; does not block.
  UnixSocketFile file;
};

// Listens at `path`, of kUnixPathBytesMax at most, with kUnixSocketMode whatever the umask.
// UNAVAILABLE says why it cannot listen.
absl::StatusOr<UnixListener> ListenOnUnixSocket(const std::string& path);

}  // namespace gridfold::server

#endif  // GRIDFOLD_SERVER_TRANSPORT_UNIX_SOCKET_H_
