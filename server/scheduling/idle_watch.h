// Ends streams whose callers have sent nothing for too long: each holds a place that others may
// need.
//
//   class Call : IdleWatch::Waiter { ... };
//   watch.Begin(call);  // The call can do nothing before its caller sends something.
//   watch.End(call);    // Its caller has.
#ifndef GRIDFOLD_SERVER_SCHEDULING_IDLE_WATCH_H_
#define GRIDFOLD_SERVER_SCHEDULING_IDLE_WATCH_H_

#include <chrono>
#include <condition_variable>
#include <list>
#include <mutex>
#include <optional>
#include <thread>
#include <utility>

#include "absl/status/status.h"
#include "server/base/job_clock.h"
#include "server/base/sweeper.h"

namespace gridfold::server {

// Thread-safe. Calls take constant time.
class IdleWatch {
 public:
  // A call that waits for its caller, at times. Forgotten before it is destroyed.
  class Waiter {
   public:
    // It has waited for too long. In a thread of the watch, which holds no lock: by then the wait
    // may have ended, and even another one begun.
    virtual void OnIdle() = 0;

    virtual ~Waiter() = default;

   private:
    friend class IdleWatch;
    // Of the watch.
    bool waits_ = false;
    std::list<std::pair<JobClock::time_point, Waiter*>>::iterator place_;
  };

  // None is too long where `timeout` is 0.
  explicit IdleWatch(std::chrono::milliseconds timeout);
  IdleWatch(const IdleWatch&) = delete;
  IdleWatch& operator=(const IdleWatch&) = delete;

  // The waiter waits from now on, also where it did so already.
  void Begin(Waiter& waiter);
  // It does not wait any more. OnIdle may be on its way.
  void End(Waiter& waiter);
  // The same, and OnIdle has returned, or is what calls this.
  void Forget(Waiter& waiter);

  // DEADLINE_EXCEEDED: what a stream that waits for too long ends with.
  absl::Status Error() const;

 private:
  void Sweep();
  void Unlink(Waiter& waiter);  // Requires `mutex_`.

  const std::chrono::milliseconds timeout_;
  std::mutex mutex_;
  std::condition_variable told_;
  // Guarded by mutex_. Who waits, by when that is too long: the first who began first.
  std::list<std::pair<JobClock::time_point, Waiter*>> waiting_;
  Waiter* telling_ = nullptr;  // Whose OnIdle runs, in this thread.
  std::thread::id telling_thread_;
  std::optional<Sweeper> sweeper_;  // Last: its thread ends before what it uses.
};

}  // namespace gridfold::server

#endif  // GRIDFOLD_SERVER_SCHEDULING_IDLE_WATCH_H_
