#include "client/command_line/output/pending_file.h"

#include <fcntl.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cerrno>
#include <climits>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <random>

#include "absl/memory/memory.h"
#include "absl/strings/str_cat.h"

namespace gridfold::client {
namespace {

constexpr int kSignals[] = {SIGHUP, SIGINT, SIGTERM};
constexpr int kNameAttempts = 100;

// Names of pending files where a signal's handler may read them. A program writes a file or two at
// a time; what finds no slot is left behind by a signal.
struct Slot {
  enum : int { kFree, kTaken, kFilled };
  std::atomic<int> state = kFree;
  std::array<char, PATH_MAX> name;
};
std::array<Slot, 8> slots;
static_assert(std::atomic<int>::is_always_lock_free);

// Only what is safe in a handler.
void RemoveAndEnd(int signal) {
  for (Slot& slot : slots) {
    if (slot.state.load() == Slot::kFilled) unlink(slot.name.data());
  }
  // The handler was reset when it was called.
  raise(signal);
}

void HandleSignals() {
  for (const int signal : kSignals) {
    struct sigaction present = {};
    if (sigaction(signal, nullptr, &present) != 0 || (present.sa_flags & SA_SIGINFO) != 0 ||
        present.sa_handler != SIG_DFL) {
      continue;
    }
    struct sigaction action = {};
    action.sa_handler = &RemoveAndEnd;
    action.sa_flags = static_cast<int>(SA_RESETHAND | SA_NODEFER);
    sigemptyset(&action.sa_mask);
    sigaction(signal, &action, nullptr);
  }
}

// The index of a slot that has the name now; the number of slots where none is free.
size_t Remember(const std::string& name) {
  if (name.size() >= PATH_MAX) return slots.size();
  for (size_t i = 0; i < slots.size(); ++i) {
    int free = Slot::kFree;
    if (!slots[i].state.compare_exchange_strong(free, Slot::kTaken)) continue;
    std::memcpy(slots[i].name.data(), name.c_str(), name.size() + 1);
    slots[i].state.store(Slot::kFilled);
    return i;
  }
  return slots.size();
}

void Forget(size_t slot) {
  if (slot < slots.size()) slots[slot].state.store(Slot::kFree);
}

std::string FolderOf(const std::string& path) {
  const size_t slash = path.rfind('/');
  return slash == std::string::npos ? "" : path.substr(0, slash + 1);
}

}  // namespace

std::unique_ptr<PendingFile> PendingFile::Create(const std::string& path) {
  HandleSignals();
  std::random_device random;
  for (int i = 0; i < kNameAttempts; ++i) {
    std::string name = absl::StrCat(FolderOf(path), ".gridfold-", getpid(), "-",
                                    absl::Hex(random(), absl::kZeroPad8));
    const int descriptor = open(name.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    if (descriptor >= 0) {
      return absl::WrapUnique(new PendingFile(path, std::move(name), descriptor));
    }
    if (errno != EEXIST) return nullptr;
  }
  return nullptr;
}

PendingFile::PendingFile(std::string path, std::string name, int descriptor)
    : path_(std::move(path)),
      name_(std::move(name)),
      descriptor_(descriptor),
      slot_(Remember(name_)) {}

PendingFile::~PendingFile() {
  if (!is_done_) unlink(name_.c_str());
  Forget(slot_);
}

bool PendingFile::TakePlace() {
  is_done_ = rename(name_.c_str(), path_.c_str()) == 0;
  return is_done_;
}

}  // namespace gridfold::client
