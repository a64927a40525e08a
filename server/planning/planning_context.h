// What planning a request needs beside its message.
#ifndef GRIDFOLD_SERVER_PLANNING_PLANNING_CONTEXT_H_
#define GRIDFOLD_SERVER_PLANNING_PLANNING_CONTEXT_H_

#include "server/arrays/array_store.h"
#include "server/base/limits.h"
#include "server/regions/region_store.h"
#include "server/wire/detached_data.h"

namespace gridfold::server {

struct PlanningContext {
  const Limits& limits;
  TenantArrays arrays;
  TenantRegions regions = {};
  // Data of arrays that is not in the message; null: there is none. Plans point into it.
  const DetachedData* detached = nullptr;
};

}  // namespace gridfold::server

#endif  // GRIDFOLD_SERVER_PLANNING_PLANNING_CONTEXT_H_
