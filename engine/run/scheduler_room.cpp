// SPDX-License-Identifier: GPL-3.0-or-later
// Decides which request is preempted if no block is free, and which requests are too large for the pool.
#include "engine/base/counted.h"
#include "engine/run/computation.h"
#include "engine/run/scheduler.h"

#include <algorithm>
#include <cstddef>
#include <span>
#include <string>

namespace spanscope::run {
namespace {

bool areTeammates(const ScheduledRequest& a, const ScheduledRequest& b) {
  return a.options.team && b.options.team && a.options.run == b.options.run &&
         a.options.team->team == b.options.team->team;
}

}  // namespace

/// Returns the cache request of a scheduler request. The cache request includes the answer so far, with which
/// a preempted request continues. For a member of a team, it includes only the tokens of the answer that will
/// be computed.
cache::RequestSpec Scheduler::specOf(const Request& request) const {
  const layout::SpanTable& table = request.table;
  cache::RequestSpec spec;
  spec.id = request.id;
  spec.run = request.options.run;
  spec.computedBefore = request.computedBefore;
  spec.salt = request.options.salt.value_or(m_salt);
  spec.segments.reserve(table.segments.size());
  for (std::uint32_t i = 0; i < table.segments.size(); ++i) {
    const layout::Segment& segment = table.segments[i];
    cache::SegmentSpec& out = spec.segments.emplace_back();
    out.tokens = segment.tokens;
    out.base = segment.base;
    out.node = segment.node;
    out.repeats = request.options.rows.copyOf(i);
    out.isPrivate = request.options.rows.isJoint(i);
    for (const std::uint32_t seen : segment.sees) {
      const layout::Segment& other = table.segments[seen];
      out.sees.push_back(
          {.segment = seen, .distance = segment.base - other.base, .visibleBegin = other.visibleBegin});
    }
  }
  const std::size_t rows = request.options.team ? static_cast<std::size_t>(std::max(0, request.wantedRows()))
                                                : request.generated.size();
  std::vector<TokenId>& last = spec.segments.back().tokens;
  last.insert(last.end(), request.generated.begin(),
              request.generated.begin() + static_cast<std::ptrdiff_t>(rows));
  if (request.options.replay) {
    spec.alwaysFrom = request.options.replay->firstRow;
  } else if (request.answerIsItsOwn() && rows > 0) {
    // The same tokens of another request read other blocks or other answers.
    spec.alwaysFrom = table.segments.back().length();
  }
  return spec;
}

/// Whether the request runs and does not wait for other members of its team.
bool Scheduler::goesOn(const Request& request) const {
  if (!request.running()) return false;
  const bool mayWait = request.options.team && request.state == Request::State::Decode;
  return !mayWait || Team(m_requests, request).isReady();
}

/// Whether another request continues, so that its blocks may become free.
bool Scheduler::othersGoOn(const Request& request) const {
  return std::ranges::any_of(m_requests,
                             [&](const auto& other) { return other.get() != &request && goesOn(*other); });
}

/// The requests that must be in the pool together with this request, including this request.
std::vector<Scheduler::Request*> Scheduler::unitOf(Request& request) const {
  if (!request.options.team) return {&request};
  return Team(m_requests, request).members();
}

/// Returns the blocks that the request needs in a pool without other contents, including the tokens that are
/// computed next. For a member of a team, returns the blocks that all members need together.
std::int64_t Scheduler::needOf(Request& request) const {
  std::vector<cache::RequestSpec> specs;
  for (const Request* each : unitOf(request)) specs.push_back(specOf(*each));
  return m_cache.blocksTogether(specs);
}

/// Whether even an empty pool is too small for the request, or for all members of its team together. The
/// contents of the pool do not matter. The result is therefore the same after any other runs.
bool Scheduler::exceedsPool(Request& request) const {
  std::int64_t most = 0;
  for (const Request* each : unitOf(request)) most += m_cache.blocksPerRequest(specOf(*each));
  return most > usableBlocks() && needOf(request) > usableBlocks();
}

std::int64_t Scheduler::usableBlocks() const {
  return std::int64_t{m_cache.config().blockCount} - 1;
}

/// Whether the request or a member of its team is the first that can continue with more blocks. Called while
/// no request continues. A team cannot continue while one of its members is not submitted.
bool Scheduler::isNext(const Request& request) const {
  const auto first = std::ranges::find_if(m_requests, [this](const auto& each) {
    return each->state != Request::State::Ended && (!each->options.team || Team(m_requests, *each).isWhole());
  });
  return first != m_requests.end() && (first->get() == &request || areTeammates(**first, request));
}

/// Frees blocks for the next request. Returns false if nothing can be freed. First tries requests that have
/// blocks but wait for others. Then tries contents that are not in use. Last tries the request's own team,
/// which then begins again.
bool Scheduler::makeWay(Request& request, const cache::RequestSpec& spec) {
  for (auto other = m_requests.rbegin(); other != m_requests.rend(); ++other) {
    if (!(*other)->running() || areTeammates(**other, request)) continue;
    preempt(**other, request);
    return true;
  }
  return m_cache.evictUnused(spec) > 0 || restart(request);
}

/// Releases all blocks of the request, or of all members of its team. The cache drops all contents that are
/// not in use. Later admissions then contain no content twice. Returns false if none of the requests was
/// running.
bool Scheduler::restart(Request& request) {
  bool anyRan = false;
  const std::vector<Request*> unit = unitOf(request);
  for (auto each = unit.rbegin(); each != unit.rend(); ++each) {
    if (!(*each)->running()) continue;
    preempt(**each, request);
    anyRan = true;
  }
  m_cache.evictUnused(specOf(request));
  return anyRan;
}

/// Returns the request that is preempted if a running request needs a block. Null if no other request has
/// blocks.
///
/// Requests are preempted in this order:
/// 1. The last request without a team, in the order of service. For a request without a team, only later
///    requests are preempted. For a member of a team, any request without a team is preempted. Otherwise the
///    whole team would wait for its member.
/// 2. A member of another team that waits for another request anyway.
/// 3. For a member of a team: a member of a later team.
/// 4. The request that needs the block; for a team, the last member.
///
/// The first team therefore always continues, or the first request if there is no team.
Scheduler::Request* Scheduler::givesWayTo(Request& request) const {
  const auto last = [this](const auto& may) -> Request* {
    const auto found = std::find_if(m_requests.rbegin(), m_requests.rend(),
                                    [&](const auto& other) { return other->running() && may(*other); });
    return found == m_requests.rend() ? nullptr : found->get();
  };
  const auto isInUnit = [&](const Request& other) {
    return &other == &request || areTeammates(other, request);
  };
  const bool asksForTeam = request.options.team.has_value();
  if (Request* const other = last([&](const Request& each) {
        return !each.options.team && (asksForTeam || isServedBefore(request, each));
      }))
    return other;
  if (Request* const other = last([&](const Request& each) { return !isInUnit(each) && !goesOn(each); }))
    return other;
  if (asksForTeam) {
    const auto firstOf = [this](const Request& member) {
      const Team team(m_requests, member);
      const auto first = std::ranges::min_element(
          team.members(), [](const Request* a, const Request* b) { return isServedBefore(*a, *b); });
      return *first;
    };
    const Request& own = *firstOf(request);
    if (Request* const other =
            last([&](const Request& each) { return !isInUnit(each) && isServedBefore(own, *firstOf(each)); }))
      return other;
  }
  const bool othersRun = last([&](const Request& each) { return !isInUnit(each); }) != nullptr;
  return othersRun ? last(isInUnit) : nullptr;
}

/// Finds a slot for a sampled token, with blocks of other requests if necessary. Returns nothing if the
/// request or a member of its team was preempted. Returns nothing if the request failed because even the
/// whole pool is too small for it.
std::optional<cache::Slot> Scheduler::place(Request& request, TokenId token) {
  const std::int32_t placed =
      request.options.team ? request.placed : request.length(request.lastSegment()) - 1;
  if (placed % m_cache.config().blockSize == 0 && exceedsPool(request)) {
    fail(request, tooLarge(request));
    return std::nullopt;
  }
  while (true) {
    std::optional<cache::Slot> slot = m_cache.append(request.id, token);
    if (slot) return slot;
    Request* const other = givesWayTo(request);
    if (other == nullptr) {
      if (!restart(request)) fail(request, tooLarge(request));
      return std::nullopt;
    }
    preempt(*other, request);
    if (other == &request || areTeammates(*other, request)) return std::nullopt;
  }
}

/// Finds a slot for the next row of an answer. Returns whether a slot was found.
bool Scheduler::makeRoom(Request& request, TokenId token) {
  const std::optional<cache::Slot> slot = place(request, token);
  if (slot && slot->copy) {
    m_computation.copyBlocks(std::span(&*slot->copy, 1));
    m_cache.copied(request.id);
  }
  return slot.has_value();
}

void Scheduler::preempt(Request& request, const Request& requester) {
  const std::uint32_t last = request.lastSegment();
  if (request.state == Request::State::Decode)
    m_cache.computed(request.id, last, request.storable(last, request.computed[last]));
  trace::RequestPreempted event{.requester = requester.id};
  if (request.computedBefore.empty()) request.computedBefore.resize(request.computed.size());
  for (std::uint32_t i = 0; i <= last; ++i) {
    event.blocks += static_cast<std::int64_t>(m_cache.blocks(request.id, i).blocks.size());
    event.computedTokens += request.computed[i];
    request.computedBefore[i] = std::max(request.computedBefore[i], request.computed[i]);
  }
  m_sink.send(request.options.run, request.id, request.options.node, event);
  m_cache.finish(request.id);
  request.state = Request::State::Waiting;
  ++m_releases;
  ++m_preemptions;
  m_listener.onPreempted(request.id);
}

/// The error for a request that, alone or with its team, needs more blocks than an empty pool has.
Error Scheduler::tooLarge(Request& request) const {
  const std::int64_t blockSize = m_cache.config().blockSize;
  const std::int64_t usable = usableBlocks();
  const std::int64_t needed = needOf(request);
  const std::int64_t missing = needed - usable;
  const std::string blocks = counted(needed, "block") + " of " + counted(blockSize, "token") + ".";
  const std::string tooMany = /*id:pool-has*/ "The pool has " + counted(usable, "usable block") + ": " +
                              counted(missing, "block") + " (about " + counted(missing * blockSize, "token") +
                              ") too few.";
  if (request.options.team) {
    std::int64_t prompts = 0;
    std::int64_t answers = 0;
    const std::vector<Request*> members = unitOf(request);
    for (const Request* each : members) {
      prompts += each->table.tokenCount();
      answers += static_cast<std::int64_t>(each->generated.size());
    }
    return {.file = {},
            .place = request.options.node,
            .found = "The " + counted(members.size(), "request") + " of this group generate together. " +
                     "The prompts have " + counted(prompts, "token") +
                     (answers > 0 ? ", the answers so far " + counted(answers, "token") : "") +
                     ", and together need " + blocks,
            .expected = tooMany};
  }
  const std::string prompt = "The prompt has " + counted(request.table.tokenCount(), "token");
  if (request.generated.empty()) {
    return {.file = {},
            .place = request.options.node,
            .found = prompt + " and needs " + blocks,
            .expected = tooMany};
  }
  return {.file = {},
          .place = request.options.node,
          .found = prompt + ", and the answer has " + std::to_string(request.generated.size()) +
                   " of at most " + std::to_string(request.options.maxNewTokens) +
                   " tokens. Together these tokens need " + blocks,
          .expected = /*id:reply-ends-within*/ "The answer must end within the " +
                      counted(usable, "usable block") +
                      /*id:that-the-pool*/ " that the pool has."};
}

}  // namespace spanscope::run
