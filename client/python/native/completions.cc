#include "client/python/native/completions.h"

#include <sys/eventfd.h>
#include <unistd.h>

#include <cerrno>
#include <exception>
#include <system_error>

namespace gridfold::python {

namespace py = pybind11;

namespace {

int OpenEventFile() {
  const int file = eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC);
  if (file < 0) throw std::system_error(errno, std::generic_category(), "eventfd");
  return file;
}

py::tuple Told(uint64_t number, const Completions::Answer& answer) {
  try {
    return py::make_tuple(number, answer(), py::none());
  } catch (py::error_already_set& error) {
    return py::make_tuple(number, py::none(), error.value());
  } catch (const std::exception& error) {
    // Other answers are told all the same.
    return py::make_tuple(number, py::none(), py::handle(PyExc_RuntimeError)(error.what()));
  }
}

}  // namespace

Completions::Completions() : file_(OpenEventFile()) {}

Completions::~Completions() { close(file_); }

void Completions::Add(uint64_t number, Answer answer) {
  const absl::MutexLock lock(&mutex_);
  answers_.emplace_back(number, std::move(answer));
  // Fails only where the file is readable already.
  if (answers_.size() == 1) (void)eventfd_write(file_, 1);
}

py::list Completions::Fetch() {
  std::vector<std::pair<uint64_t, Answer>> answers;
  {
    const absl::MutexLock lock(&mutex_);
    eventfd_t count = 0;
    (void)eventfd_read(file_, &count);
    answers.swap(answers_);
  }
  py::list told;
  for (const auto& [number, answer] : answers) told.append(Told(number, answer));
  return told;
}

}  // namespace gridfold::python
