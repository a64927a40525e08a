// Threads that make work faster and without which it can be done.
#ifndef GRIDFOLD_CLIENT_LIBRARY_HELPER_THREAD_H_
#define GRIDFOLD_CLIENT_LIBRARY_HELPER_THREAD_H_

#include <optional>
#include <system_error>
#include <thread>
#include <utility>

namespace gridfold::client {

// Starts a thread that does `work`. Nothing where the system has no thread to give: the caller then
// does the work by itself.
template <typename Work>
std::optional<std::thread> TryStartThread(Work work) {
  try {
    return std::thread(std::move(work));
  } catch (const std::system_error&) {
    return std::nullopt;
  }
}

}  // namespace gridfold::client

#endif  // GRIDFOLD_CLIENT_LIBRARY_HELPER_THREAD_H_
