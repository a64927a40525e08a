// Shows ThreadSanitizer the locks of Abseil, by which gRPC hands calls from thread to thread.
//
// The distribution's Abseil and gRPC are compiled without ThreadSanitizer, which therefore does not
// see what they order, and takes two uses of a call, one after the other, for a race. In a program
// that is linked with them, the functions here stand in for those of Abseil, also where gRPC calls
// them: each says what it orders, and calls the one of the library.
//
// For tests with ThreadSanitizer only.
#include <sanitizer/tsan_interface.h>

#include "absl/synchronization/mutex.h"
#include "absl/time/time.h"
#include "server/testing/library_function.h"

using gridfold::server::OfLibrary;

namespace absl {
ABSL_NAMESPACE_BEGIN

void Mutex::Lock() {
  static const auto lock = OfLibrary<void(Mutex*)>();
  lock(this);
  __tsan_acquire(this);
}

bool Mutex::TryLock() {
  static const auto try_lock = OfLibrary<bool(Mutex*)>();
  const bool locked = try_lock(this);
  if (locked) __tsan_acquire(this);
  return locked;
}

void Mutex::Unlock() {
  static const auto unlock = OfLibrary<void(Mutex*)>();
  __tsan_release(this);
  unlock(this);
}

// A wait gives its mutex up and takes it again inside the library.

void CondVar::Wait(Mutex* mutex) {
  static const auto wait = OfLibrary<void(CondVar*, Mutex*)>();
  __tsan_release(mutex);
  wait(this, mutex);
  __tsan_acquire(mutex);
}

bool CondVar::WaitWithTimeout(Mutex* mutex, Duration timeout) {
  static const auto wait = OfLibrary<bool(CondVar*, Mutex*, Duration)>();
  __tsan_release(mutex);
  const bool timed_out = wait(this, mutex, timeout);
  __tsan_acquire(mutex);
  return timed_out;
}

bool CondVar::WaitWithDeadline(Mutex* mutex, Time deadline) {
  static const auto wait = OfLibrary<bool(CondVar*, Mutex*, Time)>();
  __tsan_release(mutex);
  const bool timed_out = wait(this, mutex, deadline);
  __tsan_acquire(mutex);
  return timed_out;
}

ABSL_NAMESPACE_END
}  // namespace absl
