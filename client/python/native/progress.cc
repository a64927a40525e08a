#include "client/python/native/progress.h"

#include <utility>

#include "client/python/native/call.h"

namespace gridfold::python {

namespace py = pybind11;

Progress::~Progress() {
  if (!report_) return;
  // An exception that is on its way through here stays what it is.
  const py::error_scope other;
  try {
    report_.attr("close")();
  } catch (py::error_already_set& error) {
    error.discard_as_unraisable("closing the report of progress");
  }
}

std::function<void(uint64_t, uint64_t)> Progress::reports() {
  if (!make_) return nullptr;
  return [this](uint64_t sent_bytes, uint64_t size_bytes) { Report(sent_bytes, size_bytes); };
}

void Progress::End() {
  if (error_) throw py::error_already_set(*std::exchange(error_, std::nullopt));
}

void Progress::Report(uint64_t sent_bytes, uint64_t size_bytes) {
  if (has_failed() || IsProcessEnding()) return;
  const py::gil_scoped_acquire gil;
  try {
    if (!report_) report_ = make_();
    report_(sent_bytes, size_bytes);
  } catch (py::error_already_set& error) {
    error_.emplace(std::move(error));
    has_failed_.store(true, std::memory_order_relaxed);
  }
}

}  // namespace gridfold::python
