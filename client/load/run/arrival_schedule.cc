#include "client/load/run/arrival_schedule.h"

namespace gridfold::load {

ArrivalSchedule::ArrivalSchedule(const LoadProfile& profile, Arrivals arrivals, int sender,
                                 int sender_count, uint64_t seed)
    : profile_(profile),
      arrivals_(arrivals),
      sender_count_(sender_count),
      due_(arrivals == Arrivals::kConstant ? sender : 0),
      random_(seed) {
  if (arrivals_ == Arrivals::kPoisson) due_ += sender_count_ * gap_(random_);
}

int64_t ArrivalSchedule::NextNs() {
  const double time_s = profile_.TimeOf(due_);
  due_ += arrivals_ == Arrivals::kConstant ? sender_count_ : sender_count_ * gap_(random_);
  return static_cast<int64_t>(time_s * 1e9);
}

}  // namespace gridfold::load
