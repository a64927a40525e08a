// The limits of one tenant, from the file of tokens, and what it uses now.
#ifndef GRIDFOLD_SERVER_TENANTS_TENANT_QUOTA_H_
#define GRIDFOLD_SERVER_TENANTS_TENANT_QUOTA_H_

#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "server/base/job_clock.h"
#include "server/base/limits.h"

namespace gridfold::server {

// 0 sets no bound of its own.
struct TenantLimits {
  uint64_t requests_in_flight = 0;
  uint64_t bytes_per_second = 0;
  uint64_t resident_bytes = 0;
};

class TenantQuota;

// Stands for a call in flight for as long as it exists; null where tenants have no quotas.
using CallPermit = std::shared_ptr<TenantQuota>;

// Bytes are charged after they have arrived: a call of any size is admitted once all earlier bytes
// are paid for, so no call is too large to be ever admitted. Thread-safe.
class TenantQuota : public std::enable_shared_from_this<TenantQuota> {
 public:
  explicit TenantQuota(std::function<JobClock::time_point()> now = JobClock::now)
      : now_(std::move(now)) {}

  void SetLimits(const TenantLimits& limits);
  TenantLimits limits() const;

  // Admits a call. RESOURCE_EXHAUSTED with a retry delay where too many are in flight, or the bytes
  // of earlier ones are not yet paid for.
  absl::StatusOr<CallPermit> Admit();

  // Charges for bytes of a request that have arrived.
  void Charge(uint64_t bytes);

 private:
  void Leave();

  const std::function<JobClock::time_point()> now_;
  mutable std::mutex mutex_;
  // Guarded by mutex_.
  TenantLimits limits_;
  uint64_t in_flight_ = 0;
  JobClock::time_point paid_at_ = JobClock::time_point::min();  // When all bytes are paid for.
};

}  // namespace gridfold::server

#endif  // GRIDFOLD_SERVER_TENANTS_TENANT_QUOTA_H_
