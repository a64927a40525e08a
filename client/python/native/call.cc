#include "client/python/native/call.h"

#include "absl/synchronization/mutex.h"
#include "absl/time/clock.h"

namespace gridfold::python {
namespace {

// The calls of the process; never destroyed, since threads may come back while it ends.
struct Calls {
  absl::Mutex mutex;
  int in_flight ABSL_GUARDED_BY(mutex) = 0;
  std::atomic<bool> is_ending = false;
};

Calls& AllCalls() {
  static Calls& calls = *new Calls();
  return calls;
}

thread_local const Cancellation* current_cancellation = nullptr;

bool IsInterpreterEnding() {
#if PY_VERSION_HEX >= 0x030D0000
  return Py_IsFinalizing() != 0;
#else
  return _Py_IsFinalizing() != 0;
#endif
}

// Python ends a thread that asks for the GIL now, through frames of C++ that cannot be unwound: so
// it asks no more.
void RestoreThread(PyThreadState* state) {
  while (IsInterpreterEnding()) absl::SleepFor(absl::Seconds(60));
  PyEval_RestoreThread(state);
}

}  // namespace

void Cancellation::Use(const Cancellation* cancellation) { current_cancellation = cancellation; }
const Cancellation* Cancellation::Current() { return current_cancellation; }

void EndCalls(absl::Duration timeout) {
  Calls& calls = AllCalls();
  calls.is_ending.store(true);
  PyThreadState* const state = PyEval_SaveThread();
  {
    const absl::MutexLock lock(&calls.mutex);
    calls.mutex.AwaitWithTimeout(
        absl::Condition(
            +[](int* in_flight) { return *in_flight == 0; }, &calls.in_flight),
        timeout);
  }
  PyEval_RestoreThread(state);
}

bool IsProcessEnding() { return AllCalls().is_ending.load() || IsInterpreterEnding(); }

void ForgetCalls() {
  // Only the thread that forked is here, which makes no call: nobody holds the mutex.
  Calls& calls = AllCalls();
  new (&calls.mutex) absl::Mutex();
  const absl::MutexLock lock(&calls.mutex);
  calls.in_flight = 0;
}

WaitingCall::WaitingCall() {
  Calls& calls = AllCalls();
  // EndCalls announces the end while it has the GIL, as this call has here: a call that does not
  // see the end is counted before EndCalls waits.
  if (calls.is_ending.load()) Throw(absl::CancelledError("the process is ending"));
  {
    const absl::MutexLock lock(&calls.mutex);
    ++calls.in_flight;
  }
  state_ = PyEval_SaveThread();
}

WaitingCall::~WaitingCall() {
  RestoreThread(state_);
  Calls& calls = AllCalls();
  const absl::MutexLock lock(&calls.mutex);
  --calls.in_flight;
}

bool WaitingCall::IsCancelled() {
  if (is_interrupted_.load() || AllCalls().is_ending.load()) return true;
  if (cancellation_ != nullptr && cancellation_->is_cancelled()) return true;
  // Signals are handled by Python's main thread only, and only here does it wait for a call.
  if (std::this_thread::get_id() != thread_) return false;
  RestoreThread(state_);
  if (PyErr_CheckSignals() != 0) is_interrupted_.store(true);
  state_ = PyEval_SaveThread();
  return is_interrupted_.load();
}

}  // namespace gridfold::python
