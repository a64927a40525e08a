// The calls that connections have open, as gRPC's own transport counts them (channelz), whether a
// message has come or not: handlers of calls hear of a call only with its first message.
// Thread-safe.
#ifndef GRIDFOLD_SERVER_TRANSPORT_TRANSPORT_CALLS_H_
#define GRIDFOLD_SERVER_TRANSPORT_TRANSPORT_CALLS_H_

#include <cstdint>
#include <string>
#include <unordered_map>

namespace gridfold::server {

// Of all servers of this process. Takes some 20 us.
uint64_t OpenTransportCalls();

// By the connection's other end, as grpc::ServerContext::peer() names it; those that have none are
// not there. Takes some 20 us for each connection.
std::unordered_map<std::string, uint64_t> OpenTransportCallsByPeer();

// The other end of a connection by TCP, in the same form; empty where it is none.
std::string PeerOf(int descriptor);

}  // namespace gridfold::server

#endif  // GRIDFOLD_SERVER_TRANSPORT_TRANSPORT_CALLS_H_
