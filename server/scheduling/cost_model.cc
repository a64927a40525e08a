#include "server/scheduling/cost_model.h"

#include <algorithm>

#include "server/base/fixed_limits.h"

namespace gridfold::server {

namespace {

// What is left of a job's say when another one has come: some 64 jobs count.
constexpr double kFading = 1 - 1.0 / 64;

// Of what the determinant would be if sizes and times had nothing to do with each other; below it
// the jobs are too alike in size to tell a fixed time from one for each byte.
constexpr double kDeterminantMin = 0.01;

}  // namespace

void CostModel::Learn(Rpc rpc, uint64_t size_bytes, std::chrono::nanoseconds run_time,
                      JobClock::time_point now) {
  Fit& fit = fits_[static_cast<size_t>(rpc)];
  const double u = 1 / static_cast<double>(std::max(run_time, kJobCostMin).count());
  const double v = static_cast<double>(size_bytes) * u;
  ++fit.job_count;
  fit.last_learnt_at = now;
  fit.u = fit.u * kFading + u;
  fit.v = fit.v * kFading + v;
  fit.uu = fit.uu * kFading + u * u;
  fit.uv = fit.uv * kFading + u * v;
  fit.vv = fit.vv * kFading + v * v;
}

std::optional<std::chrono::nanoseconds> CostModel::Estimate(Rpc rpc, uint64_t size_bytes,
                                                            JobClock::time_point now) const {
  const Fit& fit = fits_[static_cast<size_t>(rpc)];
  if (fit.job_count < kCostJobsMin || now - fit.last_learnt_at >= kCostLifetime) {
    return std::nullopt;
  }
  const double longest = static_cast<double>(std::chrono::nanoseconds(kJobCostMax).count());
  return std::chrono::nanoseconds(
      static_cast<int64_t>(std::min(fit.Predict(static_cast<double>(size_bytes)), longest)));
}

double CostModel::Fit::Predict(double size_bytes) const {
  const double constant = u / uu;
  if (vv == 0) return constant;
  const double proportional = v / vv * size_bytes;
  const double determinant = uu * vv - uv * uv;
  if (determinant < kDeterminantMin * uu * vv) return std::min(constant, proportional);
  const double fixed_time = (u * vv - v * uv) / determinant;
  const double byte_time = (v * uu - u * uv) / determinant;
  if (fixed_time < 0) return proportional;
  if (byte_time < 0) return constant;
  return fixed_time + byte_time * size_bytes;
}

}  // namespace gridfold::server
