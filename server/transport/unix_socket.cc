#include "server/transport/unix_socket.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <cstring>
#include <filesystem>
#include <thread>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "server/transport/listen_address.h"

namespace gridfold::server {

namespace {

absl::Status CannotListenAt(const std::string& path, absl::string_view reason) {
  return absl::UnavailableError(absl::StrCat("cannot listen on unix:", path, ": ", reason));
}

sockaddr_un UnixAddress(const std::string& path) {
  sockaddr_un address = {};
  address.sun_family = AF_UNIX;
  std::memcpy(address.sun_path, path.data(), path.size());
  return address;
}

// 0, or the error. Never waits: a full backlog is an error too (EAGAIN).
int TryConnect(const std::string& path) {
  const Descriptor probe(socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0));
  const sockaddr_un address = UnixAddress(path);
  const bool connected =
      connect(probe.get(), reinterpret_cast<const sockaddr*>(&address), sizeof(address)) == 0;
  return connected ? 0 : errno;
}

// Locks the folder of `path` for as long as the result exists. Without a descriptor where the
// folder cannot be locked in time, or not opened; errno says why.
Descriptor LockFolderOf(const std::string& path) {
  const std::string folder = std::filesystem::path(path).parent_path();
  Descriptor opened(
      open(folder.empty() ? "." : folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (opened.get() < 0) return opened;
  const auto deadline = std::chrono::steady_clock::now() + kUnixFolderLockTimeout;
  while (flock(opened.get(), LOCK_EX | LOCK_NB) != 0) {
    if (errno != EWOULDBLOCK || std::chrono::steady_clock::now() > deadline) return Descriptor();
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  }
  return opened;
}

// Of what is at `path`. Removes it where it is the socket of a server that has gone.
absl::Status MakeRoom(const std::string& path) {
  struct stat found = {};
  if (lstat(path.c_str(), &found) != 0) return absl::OkStatus();
  if (!S_ISSOCK(found.st_mode)) return CannotListenAt(path, "a file that is no socket is there");
  if (const int error = TryConnect(path); error != ECONNREFUSED) {
    return CannotListenAt(
        path, error == 0 || error == EAGAIN ? "another server listens there" : strerror(error));
  }
  if (unlink(path.c_str()) != 0) return CannotListenAt(path, strerror(errno));
  return absl::OkStatus();
}

// Whoever may not connect must not be able to in between, whatever the umask: the mode comes before
// the first connection is taken.
absl::Status BindAndListen(int socket, const std::string& path) {
  const sockaddr_un address = UnixAddress(path);
  if (bind(socket, reinterpret_cast<const sockaddr*>(&address), sizeof(address)) != 0 ||
      chmod(path.c_str(), kUnixSocketMode) != 0 || listen(socket, SOMAXCONN) != 0) {
    return CannotListenAt(path, strerror(errno));
  }
  return absl::OkStatus();
}

}  // namespace

UnixSocketFile::UnixSocketFile(std::string path) {
  struct stat found = {};
  if (lstat(path.c_str(), &found) != 0) return;
  path_ = std::move(path);
  device_ = found.st_dev;
  inode_ = found.st_ino;
}

UnixSocketFile::UnixSocketFile(UnixSocketFile&& other) noexcept { *this = std::move(other); }

UnixSocketFile& UnixSocketFile::operator=(UnixSocketFile&& other) noexcept {
  std::swap(path_, other.path_);
  std::swap(device_, other.device_);
  std::swap(inode_, other.inode_);
  return *this;
}

UnixSocketFile::~UnixSocketFile() {
  if (path_.empty()) return;
  const Descriptor lock = LockFolderOf(path_);
  struct stat found = {};
  if (lstat(path_.c_str(), &found) == 0 && found.st_dev == device_ && found.st_ino == inode_) {
    unlink(path_.c_str());
  }
}

absl::StatusOr<UnixListener> ListenOnUnixSocket(const std::string& path) {
  if (path.size() > kUnixPathBytesMax) return CannotListenAt(path, "the path is too long");
  const Descriptor lock = LockFolderOf(path);
  if (lock.get() < 0) return CannotListenAt(path, strerror(errno));
  if (absl::Status status = MakeRoom(path); !status.ok()) return status;
  UnixListener listener;
  listener.socket = Descriptor(socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0));
  if (listener.socket.get() < 0) return CannotListenAt(path, strerror(errno));
  if (absl::Status status = BindAndListen(listener.socket.get(), path); !status.ok()) return status;
  listener.file = UnixSocketFile(path);
  return listener;
}

}  // namespace gridfold::server
