// The watchdog of every test program: ends the program, naming the test, when one test has run for
// longer than GRIDFOLD_TEST_SECONDS (120 unless set; 0: without end). A wait in a test that nothing
// ends is thereby a failure with a name, not a program that its caller has to kill.
#include <gtest/gtest.h>

#include <chrono>
#include <condition_variable>
#include <cstdio>
#include <cstdlib>
#include <mutex>
#include <string>
#include <thread>

namespace {

constexpr int kDefaultSeconds = 120;

std::chrono::seconds Limit() {
  const char* text = std::getenv("GRIDFOLD_TEST_SECONDS");
  return std::chrono::seconds(text == nullptr ? kDefaultSeconds : std::atoi(text));
}

class Watchdog final : public testing::EmptyTestEventListener {
 private:
  void OnTestStart(const testing::TestInfo& test) override {
    const std::chrono::seconds limit = Limit();
    if (limit.count() == 0) return;
    ended_ = false;
    const std::string name = std::string(test.test_suite_name()) + "." + test.name();
    watcher_ = std::thread([this, limit, name] { Watch(limit, name); });
  }

  void OnTestEnd(const testing::TestInfo&) override {
    if (!watcher_.joinable()) return;
    {
      const std::lock_guard lock(mutex_);
      ended_ = true;
    }
    wake_.notify_one();
    watcher_.join();
  }

  void Watch(std::chrono::seconds limit, const std::string& name) {
    std::unique_lock lock(mutex_);
    if (wake_.wait_for(lock, limit, [this] { return ended_; })) return;
    std::fprintf(stderr, "%s has run for %lld s and does not end\n", name.c_str(),
                 static_cast<long long>(limit.count()));
    std::abort();
  }

  std::mutex mutex_;
  std::condition_variable wake_;
  bool ended_ = false;
  std::thread watcher_;
};

// Registered before main, so that programs need no main of their own. GoogleTest owns it.
[[maybe_unused]] const bool is_registered = [] {
  testing::UnitTest::GetInstance()->listeners().Append(new Watchdog);
  return true;
}();

}  // namespace
