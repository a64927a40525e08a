// What planning a request needs beside its message.
#ifndef GRIDFOLD_SERVER_PLANNING_CONTEXT_H_
#define GRIDFOLD_SERVER_PLANNING_CONTEXT_H_

#include "server/array_store.h"
#include "server/detached_data.h"
#include "server/limits.h"
#include "server/region_store.h"

namespace gridfold::server {

struct PlanningContext {
  const Limits& limits;
  TenantArrays arrays;
  TenantRegions regions = {};
  // Data of arrays that is not in the message; null: there is none. Plans point into it.
  const DetachedData* detached = nullptr;
};

}  // namespace gridfold::server

#endif  // GRIDFOLD_SERVER_PLANNING_CONTEXT_H_
