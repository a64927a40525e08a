// Shows ThreadSanitizer how gRPC hands a call's operations from thread to thread.
//
// gRPC passes them on by atomics, in a library that is compiled without ThreadSanitizer: what was
// done before an operation was started then seems to race with what its callback does. The
// functions here stand in for those of gRPC, as in visible_locks.cc, and say what they order: an
// operation's start comes before its end, the making of a call before its OnCancel, everything that
// was done for a call before its OnDone, and all calls before the end of their server.
//
// For tests with ThreadSanitizer only.
#include <grpc/grpc.h>
#include <grpcpp/server.h>
#include <grpcpp/support/server_callback.h>
#include <link.h>
#include <sanitizer/tsan_interface.h>

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdlib>
#include <utility>
#include <vector>

#include "server/testing/library_function.h"

namespace gridfold::server {
namespace {

using Callback = void(grpc_completion_queue_functor*, int);

// What gRPC's C++ library calls when an operation has ended: a few functions, all of its own.
constexpr size_t kCallbacksMax = 8;
std::array<std::atomic<Callback*>, kCallbacksMax> callbacks;

template <size_t kIndex>
void RunAfterStart(grpc_completion_queue_functor* functor, int ok) {
  __tsan_acquire(functor);
  callbacks[kIndex].load(std::memory_order_relaxed)(functor, ok);
}

constexpr auto kSubstitutes = []<size_t... kIndex>(std::index_sequence<kIndex...>) {
  return std::array<Callback*, kCallbacksMax>{RunAfterStart<kIndex>...};
}
(std::make_index_sequence<kCallbacksMax>());

struct CodeRange {
  uintptr_t begin;
  uintptr_t end;
};

// Where the functions of the program and its libraries lie.
std::vector<CodeRange> FindCode() {
  std::vector<CodeRange> code;
  const auto add = [](dl_phdr_info* object, size_t, void* found) {
    for (int i = 0; i < object->dlpi_phnum; ++i) {
      const ElfW(Phdr)& part = object->dlpi_phdr[i];
      if (part.p_type != PT_LOAD || (part.p_flags & PF_X) == 0) continue;
      const uintptr_t begin = object->dlpi_addr + part.p_vaddr;
      static_cast<std::vector<CodeRange>*>(found)->push_back({begin, begin + part.p_memsz});
    }
    return 0;
  };
  dl_iterate_phdr(add, &code);
  return code;
}

bool IsCode(const void* address) {
  static const std::vector<CodeRange> code = FindCode();
  const auto at = reinterpret_cast<uintptr_t>(address);
  for (const CodeRange& range : code) {
    if (range.begin <= at && at < range.end) return true;
  }
  return false;
}

Callback* SubstituteFor(Callback* callback) {
  for (size_t i = 0; i < kCallbacksMax; ++i) {
    if (callback == kSubstitutes[i]) return callback;
    Callback* free = nullptr;
    if (callbacks[i].compare_exchange_strong(free, callback) || free == callback) {
      return kSubstitutes[i];
    }
  }
  abort();
}

// A tag begins with a function where the operation ends in a callback, and with the address of a
// table of virtual functions where a thread waits for it.
[[gnu::no_sanitize_thread]] void ShowStart(void* tag) {
  auto* const functor = static_cast<grpc_completion_queue_functor*>(tag);
  if (!IsCode(reinterpret_cast<const void*>(functor->functor_run))) return;
  functor->functor_run = SubstituteFor(functor->functor_run);
  __tsan_release(functor);
}

}  // namespace
}  // namespace gridfold::server

extern "C" grpc_call_error grpc_call_start_batch(grpc_call* call, const grpc_op* operations,
                                                 size_t count, void* tag, void* reserved) {
  static const auto start_batch = gridfold::server::OfLibrary<grpc_call_error(
      grpc_call*, const grpc_op*, size_t, void*, void*)>();
  gridfold::server::ShowStart(tag);
  return start_batch(call, operations, count, tag, reserved);
}

namespace grpc::internal {

namespace {

// Stands in for a reactor whose OnCancel is called, and says when that is over. It is called once,
// and deletes itself.
class VisibleCancellation : public ServerReactor {
 public:
  VisibleCancellation(ServerReactor& reactor, void* outstanding)
      : reactor_(reactor), outstanding_(outstanding) {}

  void OnCancel() override {
    reactor_.OnCancel();
    __tsan_release(outstanding_);
    delete this;
  }
  void OnDone() override { abort(); }
  bool InternalInlineable() override { return reactor_.InternalInlineable(); }

 private:
  ServerReactor& reactor_;
  void* const outstanding_;
};

}  // namespace

// Whoever made the reactor counts down for OnCancel, and so does whoever learns of the
// cancellation; the last of them comes here.
void ServerCallbackCall::CallOnCancel(ServerReactor* reactor) {
  static const auto call = gridfold::server::OfLibrary<void(ServerCallbackCall*, ServerReactor*)>();
  __tsan_acquire(&on_cancel_conditions_remaining_);
  call(this, new VisibleCancellation(*reactor, &callbacks_outstanding_));
}

// Whoever ends its part in a call counts it down; the last one comes here.
void ServerCallbackCall::ScheduleOnDone(bool inline_ondone) {
  static const auto schedule = gridfold::server::OfLibrary<void(ServerCallbackCall*, bool)>();
  __tsan_acquire(&callbacks_outstanding_);
  schedule(this, inline_ondone);
}

}  // namespace grpc::internal

namespace grpc {

// Calls that have ended before a server that waits for them to end.

void Server::UnrefWithPossibleNotify() {
  static const auto unref = gridfold::server::OfLibrary<void(Server*)>();
  __tsan_release(this);
  unref(this);
}

void Server::UnrefAndWaitLocked() {
  static const auto wait = gridfold::server::OfLibrary<void(Server*)>();
  wait(this);
  __tsan_acquire(this);
}

}  // namespace grpc
