// A client is gone as soon as it is let go of, whatever gRPC still watches.
#include <vector>

#include "absl/time/clock.h"
#include "client/library/stalling_server.h"
#include "gridfold/client.h"
#include "gtest/gtest.h"

namespace gridfold::client {
namespace {

// The server takes no more bytes after the first, so gRPC has a thread of its own watch the socket.
// Nothing else in this process uses gRPC.
TEST(ExitTest, NobodyWaitsForThreadsThatWatchASocket) {
  StallingServer server;
  const std::vector<int8_t> elements(64 << 20);
  absl::Time end;
  for (int i = 0; i < 3; ++i) {
    auto client = Client::Connect({.target = server.target(), .stall_timeout = absl::Seconds(1)});
    ASSERT_TRUE(client.ok()) << client.status();
    EXPECT_TRUE(absl::IsDeadlineExceeded((*client)
                                             ->ReduceArray(elements, {},
                                                           {.timeout = absl::Milliseconds(300),
                                                            .transport = ArrayTransport::kInline})
                                             .status()));
    end = absl::Now();
    client->reset();
    EXPECT_LT(absl::Now() - end, absl::Seconds(1));
  }
}

}  // namespace
}  // namespace gridfold::client
