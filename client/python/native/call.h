// How a call of Python waits for a server: without the GIL, and so that it can be given up.
#ifndef GRIDFOLD_CLIENT_PYTHON_NATIVE_CALL_H_
#define GRIDFOLD_CLIENT_PYTHON_NATIVE_CALL_H_

#include <atomic>
#include <functional>
#include <memory>
#include <thread>
#include <utility>

#include "absl/status/status.h"
#include "absl/time/time.h"
#include "client/python/native/error.h"
#include "gridfold/client.h"
#include "pybind11/pybind11.h"

namespace gridfold::python {

// Gives up the calls of a thread, from any thread. A thread's calls look at the one that is set
// for it (`Use`), which must live until they have ended.
class Cancellation {
 public:
  void Cancel() { is_cancelled_.store(true, std::memory_order_relaxed); }
  bool is_cancelled() const { return is_cancelled_.load(std::memory_order_relaxed); }

  // Sets the one of the calls that this thread makes from now on; nullptr: none.
  static void Use(const Cancellation* cancellation);
  static const Cancellation* Current();

 private:
  std::atomic<bool> is_cancelled_ = false;
};

// Gives up all calls of the process and waits up to `timeout` until they have returned to Python;
// calls that begin later fail with CANCELLED. For the end of the interpreter, when a thread that
// came back from C++ would be ended by force. Requires the GIL, and releases it meanwhile.
void EndCalls(absl::Duration timeout);

// Whether that has begun, so that a thread without the GIL must not ask for it.
bool IsProcessEnding();

// Forgets the calls of the parent in a process that fork has made.
void ForgetCalls();

// One call, from construction to destruction, which require the GIL. It is released in between.
class WaitingCall {
 public:
  // Fails as a Python exception where the process is ending.
  WaitingCall();
  // Takes the GIL again.
  ~WaitingCall();
  WaitingCall(const WaitingCall&) = delete;
  WaitingCall& operator=(const WaitingCall&) = delete;

  // For CallOptions: whether the call is given up, by a signal whose handler raises (Ctrl-C), by
  // its Cancellation, or by the end of the process. Must not outlive the call.
  std::function<bool()> is_cancelled() {
    return [this] { return IsCancelled(); };
  }

 private:
  bool IsCancelled();

  const std::thread::id thread_ = std::this_thread::get_id();
  const Cancellation* const cancellation_ = Cancellation::Current();
  std::atomic<bool> is_interrupted_ = false;
  PyThreadState* state_ = nullptr;
};

inline const absl::Status& StatusOf(const absl::Status& status) { return status; }
template <typename Value>
const absl::Status& StatusOf(const absl::StatusOr<Value>& result) {
  return result.status();
}

// What `call`, a function of the predicate for CallOptions::is_cancelled, returns: an absl::Status
// or StatusOr, which is OK. Runs it without the GIL. Throws errors as Python exceptions, and those
// that the handlers of signals have raised. `end` may throw an exception that goes before errors.
template <typename Call, typename End>
auto RunCall(const Call& call, const End& end) {
  auto result = [&] {
    WaitingCall waiting;
    return call(waiting.is_cancelled());
  }();
  if (PyErr_Occurred() != nullptr) throw pybind11::error_already_set();
  end();
  if (!StatusOf(result).ok()) Throw(StatusOf(result));
  return result;
}

}  // namespace gridfold::python

#endif  // GRIDFOLD_CLIENT_PYTHON_NATIVE_CALL_H_
