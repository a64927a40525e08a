#include "server/calls/serving_state.h"

#include "gridfold/v1/array_service.grpc.pb.h"
#include "gridfold/v1/compute_service.grpc.pb.h"
#include "gridfold/v1/region_service.grpc.pb.h"
#include "gridfold/v1/server_service.grpc.pb.h"

namespace gridfold::server {

void ServingState::BeginServing(grpc::HealthCheckServiceInterface& health) {
  const std::lock_guard lock(mutex_);
  health_ = &health;
  // Names make the services known one by one; the server as a whole is known by itself.
  health.SetServingStatus(v1::ComputeService::service_full_name(), !ended_);
  health.SetServingStatus(v1::ArrayService::service_full_name(), !ended_);
  health.SetServingStatus(v1::RegionService::service_full_name(), !ended_);
  health.SetServingStatus(v1::ServerService::service_full_name(), !ended_);
  health.SetServingStatus(!ended_);
}

void ServingState::EndServing() {
  const std::lock_guard lock(mutex_);
  ended_ = true;
  if (health_ != nullptr) health_->SetServingStatus(false);
}

bool ServingState::serving() const {
  const std::lock_guard lock(mutex_);
  return health_ != nullptr && !ended_;
}

}  // namespace gridfold::server
