// A piece of the room for answers (scheduling/answer_room.h), as whoever it was granted to keeps
// it.
#ifndef GRIDFOLD_SERVER_BASE_ANSWER_GRANT_H_
#define GRIDFOLD_SERVER_BASE_ANSWER_GRANT_H_

#include <cstddef>
#include <cstdint>
#include <string>

namespace gridfold::server {

struct AnswerTenant;
struct AnswerConnection;

// Who takes the answer: a tenant, by a connection.
struct AnswerSource {
  const std::string& tenant;
  uint64_t connection = 0;
};

struct AnswerGrant {
  enum class Part : uint8_t { kOpen, kTenants, kConnections, kSmall };
  static constexpr size_t kSharedPartCount = 3;  // All but kSmall.

  uint64_t bytes = 0;  // None where it is 0.
  Part part = Part::kOpen;
  // The room's own; none in kSmall.
  AnswerTenant* tenant = nullptr;
  AnswerConnection* connection = nullptr;
};

}  // namespace gridfold::server

#endif  // GRIDFOLD_SERVER_BASE_ANSWER_GRANT_H_
