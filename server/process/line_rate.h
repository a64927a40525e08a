// How many lines of a kind may be logged: a burst, and then so many each second. Not thread-safe.
#ifndef GRIDFOLD_SERVER_PROCESS_LINE_RATE_H_
#define GRIDFOLD_SERVER_PROCESS_LINE_RATE_H_

#include <algorithm>
#include <chrono>

namespace gridfold::server {

class LineRate {
 public:
  using Time = std::chrono::steady_clock::time_point;

  LineRate(double burst, double each_second)
      : burst_(burst), each_second_(each_second), tokens_(burst) {}

  // Whether a line may be logged at `now`, which then counts.
  bool Admit(Time now) {
    tokens_ = TokensAt(now);
    last_ = std::max(last_, now);
    if (tokens_ < 1) return false;
    tokens_ -= 1;
    return true;
  }

  // Whether nothing was logged for so long that a whole burst may be.
  bool IsRested(Time now) const { return TokensAt(now) >= burst_; }

 private:
  double TokensAt(Time now) const {
    const std::chrono::duration<double> passed = now - last_;
    return std::min(burst_, tokens_ + std::max(0.0, passed.count()) * each_second_);
  }

  double burst_;
  double each_second_;
  double tokens_;
  Time last_{};
};

}  // namespace gridfold::server

#endif  // GRIDFOLD_SERVER_PROCESS_LINE_RATE_H_
