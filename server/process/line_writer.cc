#include "server/process/line_writer.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <condition_variable>
#include <cstring>
#include <mutex>
#include <thread>
#include <utility>

#include "absl/strings/str_cat.h"
#include "server/base/descriptor.h"
#include "server/base/fixed_limits.h"

namespace gridfold::server {

namespace {

// A file that others may not read is made; one that is there keeps its mode.
absl::StatusOr<Descriptor> OpenForAppending(const std::string& path) {
  // Without O_NONBLOCK a FIFO that nobody reads would be waited for.
  Descriptor file(open(path.c_str(), O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC | O_NONBLOCK,
                       S_IRUSR | S_IWUSR));
  const auto is_no_file = [&path] {
    return absl::InvalidArgumentError(absl::StrCat(path, " is not a regular file"));
  };
  // What it says of a FIFO that nobody reads.
  if (file.get() < 0 && errno == ENXIO) return is_no_file();
  if (file.get() < 0) {
    return absl::InvalidArgumentError(absl::StrCat(path, " cannot be written: ", strerror(errno)));
  }
  struct stat status = {};
  if (fstat(file.get(), &status) != 0 || !S_ISREG(status.st_mode)) return is_no_file();
  return file;
}

// False where the bytes cannot be written at all. Waits for as long as it takes.
bool WriteAll(int descriptor, absl::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t written = write(descriptor, bytes.data(), bytes.size());
    if (written >= 0) {
      bytes.remove_prefix(static_cast<size_t>(written));
    } else if (errno == EAGAIN) {
      // Another program that has the same pipe or terminal may have made it non-blocking.
      pollfd wanted{descriptor, POLLOUT, 0};
      (void)poll(&wanted, 1, -1);
    } else if (errno != EINTR) {
      return false;
    }
  }
  return true;
}

uint64_t CountLines(absl::string_view text) {
  return static_cast<uint64_t>(std::count(text.begin(), text.end(), '\n'));
}

}  // namespace

struct LineWriter::State {
  State(int a_descriptor, std::string a_path, size_t bytes_max, TellDropped tell,
        OnReopened reopened)
      : path(std::move(a_path)),
        buffer_bytes_max(bytes_max),
        tell_dropped(std::move(tell)),
        on_reopened(std::move(reopened)),
        descriptor(a_descriptor) {}
  ~State() {
    if (!path.empty()) close(descriptor);
  }

  // What the thread does next.
  struct Turn {
    std::string text;
    uint64_t lines = 0;    // Of `text`, without the one that tells what was dropped.
    uint64_t dropped = 0;  // That it tells.
    uint64_t flushes = 0;  // That it serves.
    bool reopen = false;
    bool stop = false;
  };

  void Run();
  Turn WaitForTurn(bool has_failed);
  void ReopenFile();
  bool IsNearlyFull() const { return buffer.size() > buffer_bytes_max / 2; }

  const std::string path;  // Empty where there is only a descriptor.
  const size_t buffer_bytes_max;
  const TellDropped tell_dropped;
  const OnReopened on_reopened;
  int descriptor;  // The thread's alone.

  std::mutex mutex;
  std::condition_variable wakes;
  std::condition_variable is_written;
  // Guarded by mutex.
  std::string buffer;
  uint64_t dropped = 0;
  uint64_t untold = 0;  // Of those that were dropped.
  uint64_t wanted_flushes = 0;
  uint64_t done_flushes = 0;
  bool sleeping = false;  // Until somebody wakes the thread.
  bool reopen = false;
  bool stop = false;
};

// While lines come often the thread looks for them at intervals, so that whoever writes one does
// not have to wake it.
LineWriter::State::Turn LineWriter::State::WaitForTurn(bool has_failed) {
  std::unique_lock lock(mutex);
  const auto has_orders = [this] {
    return stop || reopen || wanted_flushes != done_flushes || IsNearlyFull();
  };
  wakes.wait_for(lock, has_failed ? kLogRetryInterval : kLogInterval, has_orders);
  sleeping = true;
  wakes.wait(lock, [&] { return has_orders() || !buffer.empty() || untold > 0; });
  sleeping = false;
  Turn turn{.text = std::exchange(buffer, {}),
            .dropped = std::exchange(untold, 0),
            .flushes = wanted_flushes,
            .reopen = std::exchange(reopen, false),
            .stop = stop};
  turn.lines = CountLines(turn.text);
  if (turn.dropped > 0) absl::StrAppend(&turn.text, tell_dropped(turn.dropped), "\n");
  return turn;
}

void LineWriter::State::ReopenFile() {
  if (path.empty()) return;
  absl::StatusOr<Descriptor> file = OpenForAppending(path);
  if (file.ok()) close(std::exchange(descriptor, file->release()));
  on_reopened(file.status());
}

void LineWriter::State::Run() {
  bool has_failed = false;
  while (true) {
    const Turn turn = WaitForTurn(has_failed);
    if (turn.reopen) ReopenFile();
    has_failed = !WriteAll(descriptor, turn.text);
    const std::lock_guard lock(mutex);
    if (has_failed) {
      dropped += turn.lines;
      untold += turn.lines + turn.dropped;
    }
    done_flushes = turn.flushes;
    is_written.notify_all();
    if (turn.stop) return;
  }
}

LineWriter::LineWriter(std::shared_ptr<State> state) : state_(std::move(state)) {
  std::thread([state = state_] { state->Run(); }).detach();
}

LineWriter::LineWriter(int descriptor, size_t buffer_bytes_max, TellDropped tell_dropped)
    : LineWriter(std::make_shared<State>(descriptor, "", buffer_bytes_max, std::move(tell_dropped),
                                         OnReopened())) {}

absl::StatusOr<std::unique_ptr<LineWriter>> LineWriter::Append(const std::string& path,
                                                               size_t buffer_bytes_max,
                                                               TellDropped tell_dropped,
                                                               OnReopened on_reopened) {
  absl::StatusOr<Descriptor> file = OpenForAppending(path);
  if (!file.ok()) return file.status();
  return std::unique_ptr<LineWriter>(new LineWriter(std::make_shared<State>(
      file->release(), path, buffer_bytes_max, std::move(tell_dropped), std::move(on_reopened))));
}

LineWriter::~LineWriter() {
  const std::lock_guard lock(state_->mutex);
  state_->stop = true;
  state_->wakes.notify_one();
}

void LineWriter::Write(absl::string_view line) {
  const std::lock_guard lock(state_->mutex);
  if (line.size() + 1 > state_->buffer_bytes_max - state_->buffer.size()) {
    ++state_->dropped;
    ++state_->untold;
  } else {
    absl::StrAppend(&state_->buffer, line, "\n");
  }
  if (state_->sleeping || state_->IsNearlyFull()) state_->wakes.notify_one();
}

void LineWriter::Reopen() {
  const std::lock_guard lock(state_->mutex);
  state_->reopen = true;
  state_->wakes.notify_one();
}

bool LineWriter::Flush(std::chrono::milliseconds limit) {
  std::unique_lock lock(state_->mutex);
  const uint64_t mine = ++state_->wanted_flushes;
  state_->wakes.notify_one();
  return state_->is_written.wait_for(lock, limit, [&] { return state_->done_flushes >= mine; });
}

uint64_t LineWriter::dropped_lines() const {
  const std::lock_guard lock(state_->mutex);
  return state_->dropped;
}

}  // namespace gridfold::server
