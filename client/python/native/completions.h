// How calls end for which no thread of Python's waits: an event loop fetches their answers.
#ifndef GRIDFOLD_CLIENT_PYTHON_NATIVE_COMPLETIONS_H_
#define GRIDFOLD_CLIENT_PYTHON_NATIVE_COMPLETIONS_H_

#include <atomic>
#include <cstdint>
#include <functional>
#include <utility>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/synchronization/mutex.h"
#include "pybind11/pybind11.h"

namespace gridfold::python {

// The answers that have come and have not been fetched. Threads of the client add them without the
// GIL, and a file becomes readable, so that a loop is woken once for many. Thread-safe.
class Completions {
 public:
  // Makes the answer of Python's, or throws the error. Called with the GIL, destroyed without it:
  // it holds nothing of Python's.
  using Answer = std::function<pybind11::object()>;

  Completions();
  ~Completions();
  Completions(const Completions&) = delete;
  Completions& operator=(const Completions&) = delete;

  // Readable while there are answers.
  int file() const { return file_; }

  // A number that no other call has.
  uint64_t NextNumber() { return next_number_.fetch_add(1, std::memory_order_relaxed); }

  void Add(uint64_t number, Answer answer);

  // All that have come: (number of the call, its value, None) or (number, None, its exception).
  pybind11::list Fetch();

 private:
  const int file_;
  std::atomic<uint64_t> next_number_ = 0;
  absl::Mutex mutex_;
  std::vector<std::pair<uint64_t, Answer>> answers_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace gridfold::python

#endif  // GRIDFOLD_CLIENT_PYTHON_NATIVE_COMPLETIONS_H_
