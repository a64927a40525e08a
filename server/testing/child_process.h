// A process that does nothing, for tests of what becomes of a process's things when it ends.
#ifndef GRIDFOLD_SERVER_TESTING_CHILD_PROCESS_H_
#define GRIDFOLD_SERVER_TESTING_CHILD_PROCESS_H_

#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

namespace gridfold::server {

class ChildProcess {
 public:
  ChildProcess() : id_(fork()) {
    if (id_ == 0) {
      pause();
      _exit(0);
    }
    EXPECT_GT(id_, 0);
  }
  ~ChildProcess() {
    Kill();
    waitpid(id_, nullptr, 0);
  }
  ChildProcess(const ChildProcess&) = delete;
  ChildProcess& operator=(const ChildProcess&) = delete;

  uint32_t id() const { return static_cast<uint32_t>(id_); }

  // Ends the process, of which the system keeps account until this object goes.
  void Kill() {
    kill(id_, SIGKILL);
    siginfo_t info;
    waitid(P_PID, static_cast<id_t>(id_), &info, WEXITED | WNOWAIT);
  }

 private:
  const pid_t id_;
};

}  // namespace gridfold::server

#endif  // GRIDFOLD_SERVER_TESTING_CHILD_PROCESS_H_
