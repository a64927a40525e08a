#include "server/scheduling/answer_room.h"

#include <algorithm>
#include <iterator>
#include <utility>

namespace gridfold::server {

// A connection of a tenant that holds room or has jobs that wait for it.
struct AnswerConnection {
  explicit AnswerConnection(AnswerTenant& its_tenant) : tenant(its_tenant) {}

  AnswerTenant& tenant;
  uint64_t number = 0;
  uint64_t bytes = 0;
  JobList waiting;
  std::list<AnswerConnection*>::iterator turn;  // Where something waits.
};

struct AnswerTenant {
  std::string name;
  uint64_t weight = kTenantWeightDefault;
  uint64_t bytes = 0;
  std::unordered_map<uint64_t, AnswerConnection> connections;
  std::list<AnswerConnection*> turns;       // Those with jobs that wait, the next one first.
  std::list<AnswerTenant*>::iterator turn;  // Where there are some.
};

AnswerRoom::AnswerRoom(uint64_t bytes_max, TenantWeights weights)
    : weights_(std::move(weights)),
      small_(bytes_max / kAnswerSmallPart),
      part_max_{bytes_max - bytes_max / kAnswerSmallPart - bytes_max / kAnswerTenantsPart -
                    bytes_max / kAnswerConnectionsPart,
                bytes_max / kAnswerTenantsPart, bytes_max / kAnswerConnectionsPart} {}

AnswerRoom::~AnswerRoom() = default;

AnswerSource AnswerRoom::SourceOf(const Job& job) {
  return {.tenant = job.work_.tenant, .connection = job.work_.connection};
}

std::optional<AnswerGrant> AnswerRoom::Take(const AnswerSource& source, uint64_t bytes) {
  std::optional<AnswerGrant> grant = TakeSmall(bytes);
  if (!grant) {
    const std::optional<Part> part = FindRoom(source, bytes);
    if (part) grant = Add(FindOrAdd(source), *part, bytes);
  }
  if (grant) NoteHighWater();
  return grant;
}

std::optional<AnswerGrant> AnswerRoom::TakeSmall(uint64_t bytes) {
  if (!small_.Take(bytes)) return std::nullopt;
  return AnswerGrant{.bytes = bytes, .part = Part::kSmall};
}

void AnswerRoom::NoteHighWater() {
  taken_bytes_high_water_ = std::max(taken_bytes_high_water_, taken_bytes());
}

// The shared part of the room that has so much for whoever comes now.
std::optional<AnswerGrant::Part> AnswerRoom::FindRoom(const AnswerSource& source,
                                                      uint64_t bytes) const {
  if (turns_.empty() && FitsOpenPart(bytes)) return Part::kOpen;
  const auto tenant = tenants_.find(source.tenant);
  const Connection* connection = nullptr;
  if (tenant != tenants_.end()) {
    const auto found = tenant->second.connections.find(source.connection);
    if (found != tenant->second.connections.end()) connection = &found->second;
  }
  if (connection == nullptr || connection->waiting.empty()) {
    const uint64_t held = tenant == tenants_.end() ? 0 : tenant->second.bytes;
    if (FitsTenantShare(held, WeightOf(source.tenant), bytes)) return Part::kTenants;
    if (FitsConnectionShare(connection == nullptr ? 0 : connection->bytes, bytes)) {
      return Part::kConnections;
    }
  }
  return std::nullopt;
}

bool AnswerRoom::FitsOpenPart(uint64_t bytes) const {
  const uint64_t taken = Taken(Part::kOpen);
  return taken == 0 || (taken <= PartMax(Part::kOpen) && bytes <= PartMax(Part::kOpen) - taken);
}

bool AnswerRoom::FitsTenantShare(uint64_t held, uint64_t weight, uint64_t bytes) const {
  const uint64_t weights = holding_weights_ + (held == 0 ? weight : 0) + kTenantWeightDefault;
  const uint64_t max = PartMax(Part::kTenants);
  const double share =
      static_cast<double>(max) * static_cast<double>(weight) / static_cast<double>(weights);
  return bytes <= max - Taken(Part::kTenants) && held + bytes <= static_cast<uint64_t>(share);
}

bool AnswerRoom::FitsConnectionShare(uint64_t held, uint64_t bytes) const {
  const uint64_t sharers = holding_connections_ + (held == 0 ? 1 : 0) + 1;
  const uint64_t max = PartMax(Part::kConnections);
  return bytes <= max - Taken(Part::kConnections) && held + bytes <= max / sharers;
}

AnswerGrant AnswerRoom::Add(Connection& connection, Part part, uint64_t bytes) {
  Tenant& tenant = connection.tenant;
  if (tenant.bytes == 0) holding_weights_ += tenant.weight;
  if (connection.bytes == 0) ++holding_connections_;
  tenant.bytes += bytes;
  connection.bytes += bytes;
  Taken(part) += bytes;
  taken_bytes_ += bytes;
  return {.bytes = bytes, .part = part, .tenant = &tenant, .connection = &connection};
}

void AnswerRoom::Subtract(const AnswerGrant& grant, uint64_t bytes) {
  grant.tenant->bytes -= bytes;
  grant.connection->bytes -= bytes;
  Taken(grant.part) -= bytes;
  taken_bytes_ -= bytes;
  if (grant.tenant->bytes == 0) holding_weights_ -= grant.tenant->weight;
  if (grant.connection->bytes == 0) --holding_connections_;
}

// Nothing at all is no grant: one byte stays.
void AnswerRoom::Shrink(AnswerGrant& grant, uint64_t bytes) {
  const uint64_t kept = std::max<uint64_t>(bytes, 1);
  if (kept >= grant.bytes) return;
  if (grant.part == Part::kSmall) {
    small_.GiveBack(grant.bytes - kept);
  } else {
    Subtract(grant, grant.bytes - kept);
  }
  grant.bytes = kept;
}

void AnswerRoom::GiveBack(AnswerGrant& grant) {
  if (GiveBackSmall(grant)) return;
  Subtract(grant, grant.bytes);
  ForgetIfIdle(*grant.connection);
  grant = {};
}

bool AnswerRoom::GiveBackSmall(AnswerGrant& grant) {
  if (grant.bytes > 0 && grant.part != Part::kSmall) return false;
  small_.GiveBack(grant.bytes);
  grant = {};
  return true;
}

void AnswerRoom::ForgetIfIdle(Connection& connection) {
  if (connection.bytes > 0 || !connection.waiting.empty()) return;
  Tenant& tenant = connection.tenant;
  tenant.connections.erase(connection.number);
  if (tenant.connections.empty()) tenants_.erase(tenant.name);
}

bool AnswerRoom::Grant(Job& job) {
  if (job.work_.answer_bytes == 0 || job.answer_.bytes > 0) return true;
  std::optional<AnswerGrant> grant = Take(SourceOf(job), job.work_.answer_bytes);
  if (grant) job.answer_ = *grant;
  return grant.has_value();
}

void AnswerRoom::Hold(Job& job, JobList& from) {
  Connection& connection = FindOrAdd(SourceOf(job));
  Tenant& tenant = connection.tenant;
  if (connection.waiting.empty()) {
    if (tenant.turns.empty()) tenant.turn = turns_.insert(turns_.end(), &tenant);
    connection.turn = tenant.turns.insert(tenant.turns.end(), &connection);
  }
  connection.waiting.splice(connection.waiting.end(), from, job.position_);
  job.held_by_ = &connection;
  ++waiting_jobs_;
}

void AnswerRoom::Release(const Job& job, JobList& to) {
  Connection& connection = *job.held_by_;
  to.splice(to.end(), connection.waiting, job.position_);
  to.back()->held_by_ = nullptr;
  --waiting_jobs_;
  if (!connection.waiting.empty()) return;
  StopWaiting(connection);
  ForgetIfIdle(connection);
}

void AnswerRoom::StopWaiting(Connection& connection) {
  Tenant& tenant = connection.tenant;
  tenant.turns.erase(connection.turn);
  if (tenant.turns.empty()) turns_.erase(tenant.turn);
}

void AnswerRoom::TakeReady(JobList& to) {
  // The open part goes to whoever is next, and to nobody else.
  while (!turns_.empty()) {
    Tenant& tenant = *turns_.front();
    Connection& connection = *tenant.turns.front();
    if (!FitsOpenPart(connection.waiting.front()->work_.answer_bytes)) break;
    tenant.turns.splice(tenant.turns.end(), tenant.turns, connection.turn);
    turns_.splice(turns_.end(), turns_, tenant.turn);
    GrantFirst(connection,
               Add(connection, Part::kOpen, connection.waiting.front()->work_.answer_bytes), to);
  }
  // The others may have their shares, which they might have had when they came.
  for (auto tenant = turns_.begin(); tenant != turns_.end();) {
    Tenant& sharer = **tenant++;
    size_t left = sharer.turns.size();
    for (auto connection = sharer.turns.begin(); left > 0; --left) {
      GrantShare(**connection++, to);
    }
  }
  NoteHighWater();
}

void AnswerRoom::GrantShare(Connection& connection, JobList& to) {
  const uint64_t bytes = connection.waiting.front()->work_.answer_bytes;
  const Tenant& tenant = connection.tenant;
  if (const std::optional<AnswerGrant> grant = TakeSmall(bytes)) {
    GrantFirst(connection, *grant, to);
  } else if (FitsTenantShare(tenant.bytes, tenant.weight, bytes)) {
    GrantFirst(connection, Add(connection, Part::kTenants, bytes), to);
  } else if (FitsConnectionShare(connection.bytes, bytes)) {
    GrantFirst(connection, Add(connection, Part::kConnections, bytes), to);
  }
}

void AnswerRoom::GrantFirst(Connection& connection, const AnswerGrant& grant, JobList& to) {
  Job& job = *connection.waiting.front();
  job.answer_ = grant;
  Release(job, to);
}

void AnswerRoom::ReleaseAll(JobList& to) {
  while (!turns_.empty()) {
    Connection& connection = *turns_.front()->turns.front();
    const Job& job = *connection.waiting.front();
    Release(job, to);
  }
}

AnswerRoom::Connection& AnswerRoom::FindOrAdd(const AnswerSource& source) {
  const auto [found, is_new] = tenants_.try_emplace(source.tenant);
  Tenant& tenant = found->second;
  if (is_new) {
    tenant.name = source.tenant;
    tenant.weight = WeightOf(source.tenant);
  }
  Connection& connection = tenant.connections.try_emplace(source.connection, tenant).first->second;
  connection.number = source.connection;
  return connection;
}

uint64_t AnswerRoom::WeightOf(const std::string& name) const {
  const auto found = weights_.find(name);
  return found == weights_.end() ? kTenantWeightDefault : found->second;
}

}  // namespace gridfold::server
