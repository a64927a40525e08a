// What the libraries below the server have to say goes to the server's own log: as events with a
// level, at a bounded rate, and without anybody waiting for whoever reads it.
#ifndef GRIDFOLD_SERVER_TRANSPORT_LIBRARY_LOGS_H_
#define GRIDFOLD_SERVER_TRANSPORT_LIBRARY_LOGS_H_

namespace gridfold::server {

// Call it once, after ConfigureLog and before the libraries are used. gRPC's errors, of which
// handshakes that fail are most, become the event "transport" at level warning, at most
// kRefusedLinesEachSecond of them in the long run; Protobuf's complaints about messages become
// "protobuf" at level debug.
void RedirectLibraryLogs();

}  // namespace gridfold::server

#endif  // GRIDFOLD_SERVER_TRANSPORT_LIBRARY_LOGS_H_
