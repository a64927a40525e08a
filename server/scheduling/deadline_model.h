// What is learnt of how jobs fare against their deadlines, so that a server with too much to do
// serves those that can still be in time: how fast lanes get through what waits, and how much of
// the time until a deadline is not to be spent waiting.
//
// Both are means over some 64 jobs. Calls take constant time and no memory. Not thread-safe.
#ifndef GRIDFOLD_SERVER_SCHEDULING_DEADLINE_MODEL_H_
#define GRIDFOLD_SERVER_SCHEDULING_DEADLINE_MODEL_H_

#include <algorithm>
#include <chrono>

namespace gridfold::server {

class DeadlineModel {
 public:
  // A lane was held for `taken`, by jobs that were estimated to cost `cost` together: running them,
  // and what the lane did until the next ones. Costs err on the low side (cost_model.h), and know
  // nothing of what comes between two jobs.
  void LearnLane(std::chrono::nanoseconds cost, std::chrono::nanoseconds taken) {
    if (cost <= std::chrono::nanoseconds(0)) return;
    // One job that hung says little of the others.
    taken_ns_ = taken_ns_ * kFading + static_cast<double>(std::min(taken, cost * kPaceMax).count());
    cost_ns_ = cost_ns_ * kFading + static_cast<double>(cost.count());
  }

  // A job that had waited for a good part of its time was in time, or ran and was too late.
  void LearnEnd(bool in_time) {
    reserve_ = in_time ? std::max(reserve_ - kLateStep * kLatePart, kReserveMin)
                       : std::min(reserve_ + kLateStep, kReserveMax);
  }

  // Time that lanes take for one of estimated cost.
  double pace() const { return cost_ns_ > 0 ? std::max(taken_ns_ / cost_ns_, kPaceMin) : 1; }

  // The part of the time until its deadline that a job may be expected to wait. The rest is for its
  // own cost, for the answer's way, and for what is not foreseen.
  double wait_part() const { return 1 - reserve_; }

 private:
  static constexpr double kFading = 1 - 1.0 / 64;
  static constexpr int kPaceMax = 16;
  static constexpr double kPaceMin = 0.5;
  // The reserve grows by a step with every job that is late, and shrinks by this part of one with
  // every other: it settles where one job of 64 is late.
  static constexpr double kReserveMin = 1.0 / 8;
  static constexpr double kReserveMax = 1.0 / 2;
  static constexpr double kLateStep = 1.0 / 64;
  static constexpr double kLatePart = 1.0 / 64;

  double taken_ns_ = 0;
  double cost_ns_ = 0;
  double reserve_ = kReserveMin;
};

}  // namespace gridfold::server

#endif  // GRIDFOLD_SERVER_SCHEDULING_DEADLINE_MODEL_H_
