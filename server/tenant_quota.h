// What one tenant may take, as the file of tokens says, and what it takes now.
#ifndef GRIDFOLD_SERVER_TENANT_QUOTA_H_
#define GRIDFOLD_SERVER_TENANT_QUOTA_H_

#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "server/job.h"
#include "server/limits.h"

namespace gridfold::server {

// 0 sets no bound of its own.
struct TenantLimits {
  uint64_t requests_in_flight = 0;
  uint64_t bytes_per_second = 0;
  uint64_t resident_bytes = 0;
};

class TenantQuota;

// A call that is in flight, for as long as it is kept; nothing where tenants have no quotas.
using CallPermit = std::shared_ptr<TenantQuota>;

// Bytes are paid for after they have come, in the order of time: a call is admitted when all that
// came before is paid for, however large it is itself, so no call is too large to be ever admitted.
// Thread-safe.
class TenantQuota : public std::enable_shared_from_this<TenantQuota> {
 public:
  explicit TenantQuota(std::function<JobClock::time_point()> now = JobClock::now)
      : now_(std::move(now)) {}

  void SetLimits(const TenantLimits& limits);
  TenantLimits limits() const;

  // Admits a call. RESOURCE_EXHAUSTED with a retry delay where as many are in flight as may be, or
  // the bytes of earlier ones are not yet paid for.
  absl::StatusOr<CallPermit> Admit();

  // Bytes of a request have come.
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

#endif  // GRIDFOLD_SERVER_TENANT_QUOTA_H_
