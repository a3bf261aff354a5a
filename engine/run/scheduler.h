// SPDX-License-Identifier: GPL-3.0-or-later
// The scheduler: continuous batching. Every forward pass takes one row of each request that decodes. Prefill
// chunks of other requests fill the forward pass. Requests are served by priority; of equal priority, in the
// order of submission. Open this file when requests wait, are preempted or fail, or to add a state of
// requests or teams.
//
// A request is admitted if its prompt fits. The longest answer of the request does not have to fit. If a
// running request needs a block and none is free, another request is preempted (see givesWayTo). The
// preempted request releases its blocks and waits to be resumed. Most of the computed tokens of that request
// are hits then, and the answer continues token for token.
//
// Requests are admitted strictly in the order of service. The hits of a request therefore do not depend on
// the division into forward passes. A request fails because of missing blocks only if an empty pool is too
// small for the request. A team (TeamPlace) fails only if an empty pool is too small for all its members
// together.
#pragma once

#include "engine/base/error.h"
#include "engine/base/ids.h"
#include "engine/cache/kv_cache.h"
#include "engine/compute/sampling.h"
#include "engine/layout/span_table.h"
#include "engine/run/observation.h"
#include "engine/run/request_options.h"
#include "engine/trace/event.h"

#include <algorithm>
#include <cstdint>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <vector>

namespace spanscope::cache {
struct BlockCopy;
class KvCache;
struct Refusal;
struct RequestSpec;
struct Slot;
}  // namespace spanscope::cache
namespace spanscope::compute {
struct QueryRun;
}
namespace spanscope::layout {
struct SpanTable;
}
namespace spanscope::policy {
struct Answer;
}
namespace spanscope::model {
struct ForwardResult;
}
namespace spanscope::trace {
class Sink;
}

namespace spanscope::run {

class Computation;
class Scheduler;
struct ScheduledRequest;

/// Submits requests one at a time. Each request is laid out only shortly before it can begin.
class RequestSource {
 public:
  virtual ~RequestSource() = default;
  /// Whether a request is ready to be submitted.
  virtual bool hasNext() const = 0;
  /// Returns the priority of the next request (RequestOptions).
  virtual std::int32_t nextPriority() const { return 0; }
  /// Submits the next request. Returns false and submits nothing if there is no next request. May throw
  /// Failure.
  virtual bool submitNext(Scheduler& scheduler) = 0;
};

class Scheduler {
 public:
  enum class Progress : std::uint8_t { Idle, Computed, Stopped };

  /// All references must outlive the scheduler. `salt` is part of every root of the cache, unless a request
  /// has its own salt. The first request gets the number `lastRequest` + 1.
  Scheduler(Computation& computation, cache::KvCache& cache, trace::Sink& sink, RequestListener& listener,
            std::int32_t rowsPerPass, std::string salt, RequestId lastRequest = 0);
  ~Scheduler();
  Scheduler(const Scheduler&) = delete;
  Scheduler& operator=(const Scheduler&) = delete;

  /// Adds a request to the queue, in the order of service.
  RequestId submit(layout::SpanTable table, RequestOptions options);

  /// Admits the requests that fit. Takes requests from `source` while the forward pass has rows left for
  /// them. Then computes the forward pass. Returns Idle if there is nothing to compute. After Stopped, all
  /// results of the interrupted forward pass are dropped. After Stopped and after an exception, the requests
  /// still exist until `abort`.
  Progress pass(std::stop_token stop, RequestSource* source = nullptr);

  /// Ends every waiting or running request of the run with outcome Stopped.
  void abort(RunId run);

  /// The effect of emptying the cache on running requests.
  enum class Running : std::uint8_t {
    Keep,    ///< nothing is emptied while a request runs
    Preempt  ///< all running requests wait again, in order, and are recomputed when resumed
  };
  /// Empties the cache. Call this only between forward passes. Returns whether the cache was emptied.
  bool clearCache(Running running);

  RequestId lastRequest() const { return m_lastRequest; }
  /// Later requests have larger numbers than this.
  void countFrom(RequestId lastRequest) { m_lastRequest = std::max(m_lastRequest, lastRequest); }

 private:
  using Request = ScheduledRequest;
  struct Pass;
  struct AnswersInStep;

  static bool isServedBefore(const Request& a, const Request& b);
  Request& newest() const;
  void admit(const std::stop_token& stop, RequestSource* source);
  bool tryAdmit(Request& request);
  std::int64_t wantedRows() const;
  cache::RequestSpec specOf(const Request& request) const;
  bool goesOn(const Request& request) const;
  bool othersGoOn(const Request& request) const;
  std::vector<Request*> unitOf(Request& request) const;
  std::int64_t needOf(Request& request) const;
  bool exceedsPool(Request& request) const;
  std::int64_t usableBlocks() const;
  bool isNext(const Request& request) const;
  bool makeWay(Request& request, const cache::RequestSpec& spec);
  bool restart(Request& request);
  std::optional<cache::Slot> place(Request& request, TokenId token);
  bool makeRoom(Request& request, TokenId token);
  void preempt(Request& request, const Request& requester);
  Request* givesWayTo(Request& request) const;
  void settle(Request& request);
  void collectDecodes(Pass& pass);
  std::vector<Request*> nextOfTeam(Request& member);
  void collectPrefills(Pass& pass);
  void addJoint(Pass& pass, Request& request);
  void addCopy(Pass& pass, Request& request, std::uint32_t segment, std::vector<cache::BlockCopy>& copies);
  void addRow(Pass& pass, TokenId token, std::int32_t local, const std::vector<BlockId>& blocks) const;
  void addRows(Pass& pass, Request& request, std::uint32_t segment, std::int32_t begin, std::int32_t count);
  void addObservedRun(Pass& pass, const Request& request, ObservedRun run);
  void addRun(Pass& pass, const Request& request, std::uint32_t segment, std::int32_t begin,
              std::int32_t count, std::int64_t firstRow);
  static void narrow(Pass& pass);
  policy::Answer answerOf(const Request& request) const;
  std::vector<policy::Answer> answersOf(const std::vector<Request*>& members) const;
  AnswersInStep answersInStepWith(const Request& request) const;
  void reportCopies(const Pass& pass, const model::ForwardResult& result);
  void finishPass(Pass& pass, model::ForwardResult& result);
  void reportPartMass(const Pass& pass, model::ForwardResult& result);
  void reportAnswerMass(const Pass& pass, model::ForwardResult& result) const;
  void reportMass(const Pass& pass, const model::ForwardResult& result);
  void reportRows(const Pass& pass, const model::ForwardResult& result, const ObservedRows& observed);
  QueryPlace placeOf(const Request& request, std::uint32_t segment) const;
  void takeToken(Request& request, const compute::SampledToken& token, std::vector<float> segmentMass);
  void end(Request& request, trace::StepOutcome outcome);
  void release(Request& request);
  void endGivenAnswers();
  void fail(Request& request, const Error& error);
  void removeEnded();
  Error tooLarge(Request& request) const;

  Computation& m_computation;
  cache::KvCache& m_cache;
  trace::Sink& m_sink;
  RequestListener& m_listener;
  std::int32_t m_rowsPerPass;
  std::string m_salt;
  RequestId m_lastRequest;
  std::uint64_t m_releases = 0;     ///< how often a request released its blocks
  std::uint64_t m_preemptions = 0;  ///< how often a request was preempted
  std::uint64_t m_failures = 0;
  std::vector<std::unique_ptr<Request>> m_requests;  ///< in the order of service
};

/// A request, from its submission until it has ended.
struct ScheduledRequest {
  enum class State : std::uint8_t { Waiting, Prefill, Decode, Ended };

  RequestId id = 0;
  layout::SpanTable table;
  RequestOptions options;
  State state = State::Waiting;
  std::optional<cache::Refusal> lastRefusal;  ///< the last refusal since the request began to wait
  std::uint64_t releasesAtRefusal = 0;        ///< value of m_releases at that refusal
  std::vector<std::int32_t> computed;         ///< per segment: positions [0, computed) are in the store
  std::vector<std::int32_t> computedBefore;  ///< per segment: largest `computed` at a preemption; empty: none
  std::vector<std::uint32_t> prefillOrder;   ///< all segments, the joint segments last
  std::uint32_t prefillPlace = 0;            ///< index in prefillOrder: the segment of the current prefill
  std::vector<TokenId> generated;  ///< tokens sampled so far; the last one has not been computed yet
  std::int32_t placed = 0;         ///< for members of teams: tokens of the last segment that have a slot
  bool isOver = false;      ///< the answer has ended; other members of the team may still read this answer
  bool isReported = false;  ///< the trace has the event that the team has formed

  /// Whether the next token of the answer must not be an end token.
  bool barsEnd() const {
    return static_cast<std::int64_t>(generated.size()) < options.minNewTokens && !options.endTokens.empty();
  }
  bool running() const { return state == State::Prefill || state == State::Decode; }
  std::uint32_t lastSegment() const { return static_cast<std::uint32_t>(table.segments.size() - 1); }
  /// Returns the tokens of a segment, including those of the answer.
  std::int32_t length(std::uint32_t index) const {
    const std::int32_t prompt = table.segments[index].length();
    return index == lastSegment() ? prompt + static_cast<std::int32_t>(generated.size()) : prompt;
  }
  /// Returns the position in the last segment at which the generated tokens begin.
  std::int32_t generatedFrom() const {
    return options.replay ? options.replay->firstRow + 1 : table.segments.back().length();
  }
  /// Whether keys and values of the answer belong to this request alone. The policy then chooses the keys
  /// that the rows of the answer read.
  bool answerIsItsOwn() const { return options.rows.answer != nullptr; }
  /// Whether position `begin` of the segment is a generated token for which the policy chooses the keys to
  /// read.
  bool readsAsAnswer(std::uint32_t index, std::int32_t begin) const {
    return answerIsItsOwn() && index == lastSegment() && begin >= generatedFrom();
  }
  /// Returns the tokens of a segment that are computed before any token is generated, or recomputed after a
  /// preemption.
  std::int32_t prefillLength(std::uint32_t index) const {
    return options.team && index == lastSegment() ? table.segments[index].length() : length(index);
  }
  /// For a member of a team: returns the number of its generated tokens that are computed.
  std::int32_t repliedRows() const { return computed.back() - generatedFrom(); }
  /// For a member of a team: returns the number of its generated tokens that will be computed.
  std::int32_t wantedRows() const {
    const bool hasLast = isOver || !options.given.empty();  // no token comes after the last one
    return static_cast<std::int32_t>(generated.size()) - (hasLast ? 1 : 0);
  }
  /// Returns how many of the computed positions [0, end) of a segment may be hits of other requests.
  std::int32_t storable(std::uint32_t index, std::int32_t end) const {
    if (index != lastSegment()) return end;
    if (options.replay) end = std::min(end, options.replay->firstRow);
    return answerIsItsOwn() ? std::min(end, generatedFrom()) : end;
  }
  /// Returns the end of the positions that were already computed before a preemption.
  std::int32_t repeatedEnd(std::uint32_t index) const {
    return computedBefore.empty() ? 0 : computedBefore[index];
  }
};

// Requests that generate together (TeamPlace).

class Team {
 public:
  /// The team of `member`, among the submitted requests that have not ended.
  Team(const std::vector<std::unique_ptr<ScheduledRequest>>& requests, const ScheduledRequest& member);

  /// Returns the members in the order of their places.
  const std::vector<ScheduledRequest*>& members() const { return m_members; }
  /// Whether all members have been submitted and none has failed.
  bool isWhole() const { return m_members.size() == m_size; }
  /// Whether the team is whole and all members have computed their prompts.
  bool isReady() const;
  /// Whether the team is whole and all answers have ended.
  bool isOver() const;

 private:
  std::vector<ScheduledRequest*> m_members;
  std::uint32_t m_size = 0;
};

}  // namespace spanscope::run
