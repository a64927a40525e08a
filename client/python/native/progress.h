// What a call tells Python of its progress.
#ifndef GRIDFOLD_CLIENT_PYTHON_NATIVE_PROGRESS_H_
#define GRIDFOLD_CLIENT_PYTHON_NATIVE_PROGRESS_H_

#include <atomic>
#include <cstdint>
#include <functional>
#include <optional>

#include "pybind11/pybind11.h"

namespace gridfold::python {

// The reports of one call. Construction, End and destruction require the GIL.
class Progress {
 public:
  // `make`, a function without arguments, makes what is called with the bytes sent and those that
  // there are, and has a method `close`; it is called at the first report. Null: nobody is told.
  explicit Progress(pybind11::object make) : make_(std::move(make)) {}
  ~Progress();  // Closes what was called.
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;

  // For CallOptions::progress, from any thread without the GIL. Must not outlive this object.
  std::function<void(uint64_t, uint64_t)> reports();

  // Whether a report has raised an exception: the call is to be given up.
  bool has_failed() const { return has_failed_.load(std::memory_order_relaxed); }

  // Throws that exception.
  void End();

 private:
  void Report(uint64_t sent_bytes, uint64_t size_bytes);

  pybind11::object make_;
  pybind11::object report_;
  std::atomic<bool> has_failed_ = false;
  std::optional<pybind11::error_already_set> error_;
};

}  // namespace gridfold::python

#endif  // GRIDFOLD_CLIENT_PYTHON_NATIVE_PROGRESS_H_
