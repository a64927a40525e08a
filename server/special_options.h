// Options whose values have a form of their own: addresses, GPUs, and weights of tenants. Used by
// options.cc only.
#ifndef GRIDFOLD_SERVER_SPECIAL_OPTIONS_H_
#define GRIDFOLD_SERVER_SPECIAL_OPTIONS_H_

#include <CLI/CLI.hpp>
#include <optional>
#include <string>
#include <vector>

#include "server/base/limits.h"

namespace gridfold::server {

// "--listen": host:port or unix:path.
void AddListen(CLI::App& app, std::string& target);

// "--metrics-address": host:port, or "off", which is none.
void AddMetricsAddress(CLI::App& app, std::optional<std::string>& target);

// "--cuda-devices": numbers of GPUs with commas between them, or "all", which is none by number.
void AddCudaDevices(CLI::App& app, std::vector<int>& target);

// "--tenant-weight": NAME=W; an empty name means those who name no tenant.
void AddTenantWeights(CLI::App& app, TenantWeights& target);

}  // namespace gridfold::server

#endif  // GRIDFOLD_SERVER_SPECIAL_OPTIONS_H_
