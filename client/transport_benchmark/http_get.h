// HTTP and ports of this machine, for the sections that start servers.
#ifndef GRIDFOLD_CLIENT_TRANSPORT_BENCHMARK_HTTP_GET_H_
#define GRIDFOLD_CLIENT_TRANSPORT_BENCHMARK_HTTP_GET_H_

#include <string>

namespace gridfold::transport_benchmark {

// What a server of this machine answers to a GET of `path`, headers included; empty where there is
// none.
std::string HttpGet(int port, const std::string& path);

// A port of the loopback address that nobody listens on now; 0 where there is none.
int FreePort();

}  // namespace gridfold::transport_benchmark

#endif  // GRIDFOLD_CLIENT_TRANSPORT_BENCHMARK_HTTP_GET_H_
