#include "server/regions/mapping_guard.h"

#include <signal.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <mutex>

namespace gridfold::server {

// What the handler knows of a guarded mapping. Slots are used again, and never freed: the handler
// may look at them at any moment, without a lock.
struct MappingGuard::Slot {
  // Odd while the bounds change. A mapping's own slot does not change while it is accessed.
  std::atomic<uint64_t> version = 0;
  std::atomic<uintptr_t> begin = 0;
  std::atomic<uintptr_t> end = 0;
  std::atomic<bool> has_faulted = false;
  bool in_use = false;   // Guarded by the mutex of Slots.
  Slot* next = nullptr;  // Constant once the slot is in the list.

  void SetBounds(uintptr_t new_begin, uintptr_t new_end) {
    ++version;
    begin = new_begin;
    end = new_end;
    ++version;
  }
};

class MappingGuard::Slots {
 public:
  static Slot& Take() {
    const std::lock_guard lock(mutex_);
    if (!installed_) Install();
    for (Slot* slot = first_; slot != nullptr; slot = slot->next) {
      if (slot->in_use) continue;
      slot->in_use = true;
      return *slot;
    }
    auto* const slot = new Slot;
    slot->in_use = true;
    slot->next = first_;
    first_ = slot;
    return *slot;
  }

  static void Return(Slot& slot) {
    const std::lock_guard lock(mutex_);
    slot.in_use = false;
  }

 private:
  static void Install() {
    struct sigaction action = {};
    action.sa_sigaction = OnSignal;
    action.sa_flags = SA_SIGINFO | SA_ONSTACK;
    sigemptyset(&action.sa_mask);
    sigaction(SIGBUS, &action, &previous_);
    installed_ = true;
  }

  // From here on: what a signal's handler may do only.
  static void OnSignal(int number, siginfo_t* info, void* context) {
    const int saved_errno = errno;
    // Others can send the signal too, and then it has no address.
    const bool is_access = info->si_code > 0;
    if (!is_access || !Replace(reinterpret_cast<uintptr_t>(info->si_addr))) {
      PassOn(number, info, context);
    }
    errno = saved_errno;
  }

  // Whether `address` was in a guarded mapping, which zero pages have taken the place of.
  static bool Replace(uintptr_t address) {
    for (Slot* slot = first_; slot != nullptr; slot = slot->next) {
      const uint64_t version = slot->version;
      const uintptr_t begin = slot->begin;
      const uintptr_t end = slot->end;
      if (slot->version != version || version % 2 != 0) continue;
      if (address < begin || address >= end) continue;
      slot->has_faulted = true;
      // The system call itself: what stands in its place in a sanitized program is not for
      // handlers.
      const long replaced = syscall(SYS_mmap, begin, end - begin, PROT_READ | PROT_WRITE,
                                    MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED | MAP_NORESERVE, -1, 0);
      return replaced == static_cast<long>(begin);
    }
    return false;
  }

  static void PassOn(int number, siginfo_t* info, void* context) {
    if ((previous_.sa_flags & SA_SIGINFO) != 0) {
      previous_.sa_sigaction(number, info, context);
    } else if (previous_.sa_handler != SIG_DFL && previous_.sa_handler != SIG_IGN) {
      previous_.sa_handler(number);
    } else {
      // The access is made again and ends the program.
      sigaction(SIGBUS, &previous_, nullptr);
      if (info->si_code <= 0) raise(number);
    }
  }

  static inline std::mutex mutex_;
  static inline bool installed_ = false;  // Guarded by mutex_.
  static inline struct sigaction previous_ = {};
  static inline std::atomic<Slot*> first_ = nullptr;
};

MappingGuard::MappingGuard(std::byte* data, uint64_t size_bytes) : slot_(Slots::Take()) {
  const auto begin = reinterpret_cast<uintptr_t>(data);
  slot_.has_faulted = false;
  slot_.SetBounds(begin, begin + size_bytes);
}

MappingGuard::~MappingGuard() {
  slot_.SetBounds(0, 0);
  Slots::Return(slot_);
}

bool MappingGuard::HasFaulted() const { return slot_.has_faulted; }

}  // namespace gridfold::server
