#include "server/tenants/tenant_quota.h"

#include <algorithm>
#include <chrono>

#include "absl/strings/str_cat.h"
#include "server/base/error_reason.h"

namespace gridfold::server {

namespace {

absl::Status Refusal(absl::string_view message, std::chrono::milliseconds retry_delay) {
  return WithRetryDelay(WithReason(absl::ResourceExhaustedError(message), kReasonTenantQuota),
                        std::clamp(retry_delay, kRetryDelayMin, kRetryDelayMax));
}

}  // namespace

void TenantQuota::SetLimits(const TenantLimits& limits) {
  const std::lock_guard lock(mutex_);
  limits_ = limits;
}

TenantLimits TenantQuota::limits() const {
  const std::lock_guard lock(mutex_);
  return limits_;
}

absl::StatusOr<CallPermit> TenantQuota::Admit() {
  {
    const std::lock_guard lock(mutex_);
    if (limits_.requests_in_flight != 0 && in_flight_ >= limits_.requests_in_flight) {
      return Refusal(absl::StrCat("the tenant has ", in_flight_,
                                  " requests in flight, as many as it may have"),
                     kRetryDelay);
    }
    const JobClock::time_point now = now_();
    if (limits_.bytes_per_second != 0 && paid_at_ > now) {
      return Refusal(absl::StrCat("the tenant has sent more than its ", limits_.bytes_per_second,
                                  " bytes a second"),
                     std::chrono::ceil<std::chrono::milliseconds>(paid_at_ - now));
    }
    ++in_flight_;
  }
  const std::shared_ptr<TenantQuota> self = shared_from_this();
  return CallPermit(self.get(), [self](TenantQuota*) { self->Leave(); });
}

void TenantQuota::Charge(uint64_t bytes) {
  const std::lock_guard lock(mutex_);
  if (limits_.bytes_per_second == 0) return;
  const JobClock::time_point now = now_();
  const std::chrono::duration<double> price(static_cast<double>(bytes) /
                                            static_cast<double>(limits_.bytes_per_second));
  const auto price_at_most = std::chrono::duration_cast<std::chrono::nanoseconds>(
      std::min<std::chrono::duration<double>>(price, kTenantDebtMax + kTenantBurst));
  paid_at_ = std::min(std::max(paid_at_, now - kTenantBurst) + price_at_most, now + kTenantDebtMax);
}

void TenantQuota::Leave() {
  const std::lock_guard lock(mutex_);
  --in_flight_;
}

}  // namespace gridfold::server
