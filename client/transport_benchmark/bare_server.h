// What gRPC by itself can do on this machine: the server of the ceilings.
//
// A service with the methods of gridfold's that does nothing: unary calls are
// echoed, or answered with nothing, which a client can take for an answer;
// streams of requests are read and dropped, and where a stream goes both ways
// each message comes back. Over gRPC's callback API and raw byte buffers, as
// gridfold's own services.
#ifndef GRIDFOLD_CLIENT_TRANSPORT_BENCHMARK_BARE_SERVER_H_
#define GRIDFOLD_CLIENT_TRANSPORT_BENCHMARK_BARE_SERVER_H_

#include <string>

namespace gridfold::transport_benchmark {

enum class UnaryAnswer { kEcho, kNothing };

// Serves on a free port of the loopback address, whose number it writes to
// `port_file`, until SIGTERM comes. Returns the exit code.
int RunBareServer(const std::string& port_file, UnaryAnswer answer);

}  // namespace gridfold::transport_benchmark

#endif  // GRIDFOLD_CLIENT_TRANSPORT_BENCHMARK_BARE_SERVER_H_
