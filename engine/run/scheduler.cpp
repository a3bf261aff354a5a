// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/run/scheduler.h"

#include "engine/run/computation.h"
#include "engine/run/scheduler_pass.h"

#include <chrono>
#include <limits>
#include <span>
#include <stdexcept>
#include <utility>

namespace spanscope::run {

namespace {

/// Max prompt tokens that are laid out and looked up for new requests before a forward pass. The lookup of a
/// token takes less than a microsecond. Running requests therefore wait only for a limited time.
constexpr std::int64_t kMostTokensLaidOut = 1 << 20;

/// Samples the next token of an answer that must not end yet. The probability is relative to all tokens, like
/// all probabilities before temperature and filters.
SampledToken drawWithoutEnd(const ScheduledRequest& request, std::span<const float> logits) {
  std::vector<float> barred(logits.begin(), logits.end());
  for (const TokenId end : request.options.endTokens) {
    if (end >= 0 && static_cast<std::size_t>(end) < barred.size())
      barred[static_cast<std::size_t>(end)] = -std::numeric_limits<float>::infinity();
  }
  SampledToken token = compute::sampleRow(
      {.logits = barred, .settings = request.options.sampling, .index = request.generated.size()});
  if (token.fault != compute::LogitFault::None) return token;
  const float best = *std::ranges::max_element(logits);
  const auto powerOf = [&](float logit) {
    return compute::power((logit - best) * compute::exponentScale(1));
  };
  std::uint64_t total = 0;
  for (const float logit : logits) total += compute::weightOf(powerOf(logit));
  token.probability = compute::probabilityOf(powerOf(logits[static_cast<std::size_t>(token.token)]), total);
  return token;
}

}  // namespace

// NOLINTNEXTLINE(performance-unnecessary-value-param): a listener may keep it.
void RequestListener::onAlternatives(RequestId /*request*/, std::int32_t /*index*/,
                                     const std::vector<compute::LikelyToken>& /*tokens*/) {}
void RequestListener::onReplayed(RequestId /*request*/, trace::AttentionMass /*mass*/) {}

Scheduler::Scheduler(Computation& computation, cache::KvCache& cache, trace::Sink& sink,
                     RequestListener& listener, std::int32_t rowsPerPass, std::string salt,
                     RequestId lastRequest)
    : m_computation(computation),
      m_cache(cache),
      m_sink(sink),
      m_listener(listener),
      m_rowsPerPass(std::max(1, rowsPerPass)),
      m_salt(std::move(salt)),
      m_lastRequest(lastRequest) {}

Scheduler::~Scheduler() = default;

RequestId Scheduler::submit(layout::SpanTable table, RequestOptions options) {
  if (options.team && !options.rows.answer)
    throw std::logic_error("a team needs a compute plan for its answers");
  auto request = std::make_unique<Request>();
  request->id = ++m_lastRequest;
  request->table = std::move(table);
  request->options = std::move(options);
  request->generated = request->options.given;
  for (const bool joint : {false, true}) {
    for (std::uint32_t i = 0; i <= request->lastSegment(); ++i) {
      if (request->options.rows.isJoint(i) == joint) request->prefillOrder.push_back(i);
    }
  }
  const auto place = std::ranges::upper_bound(
      m_requests, request, [](const auto& a, const auto& b) { return isServedBefore(*a, *b); });
  m_requests.insert(place, std::move(request));
  return m_lastRequest;
}

bool Scheduler::isServedBefore(const Request& a, const Request& b) {
  const std::int32_t priorityOfA = a.options.priority;
  const std::int32_t priorityOfB = b.options.priority;
  return priorityOfA != priorityOfB ? priorityOfA > priorityOfB : a.id < b.id;
}

/// The request that was submitted last.
Scheduler::Request& Scheduler::newest() const {
  const auto found = std::find_if(m_requests.rbegin(), m_requests.rend(),
                                  [this](const auto& request) { return request->id == m_lastRequest; });
  return **found;
}

Scheduler::Progress Scheduler::pass(std::stop_token stop, RequestSource* source) {
  Pass pass;
  pass.batch.logitsWanted = false;
  while (pass.parts.empty()) {
    const std::uint64_t preemptions = m_preemptions;
    const std::uint64_t failures = m_failures;
    admit(stop, source);
    endGivenAnswers();
    if (stop.stop_requested()) return Progress::Stopped;
    collectDecodes(pass);
    collectPrefills(pass);
    if (!pass.parts.empty()) break;
    removeEnded();
    // If all requests were preempted, one request can begin again.
    if (m_preemptions == preemptions || m_failures != failures) return Progress::Idle;
  }
  narrow(pass);
  if (!pass.observed.empty()) {
    // Every request of a forward pass is observed at all layers that any request needs. A request gets only
    // the layers that its options name.
    for (const ObservedRun& run : pass.observed) {
      pass.batch.mass.runs.push_back(run.run);
      pass.batch.mass.keySpans.push_back(run.keySpan);
    }
    for (const Pass::Part& part : pass.parts) {
      const auto& layers = part.request->options.observedLayers;
      pass.batch.massLayers.insert(pass.batch.massLayers.end(), layers.begin(), layers.end());
    }
    std::ranges::sort(pass.batch.massLayers);
    pass.batch.massLayers.erase(std::unique(pass.batch.massLayers.begin(), pass.batch.massLayers.end()),
                                pass.batch.massLayers.end());
  }

  const auto begin = std::chrono::steady_clock::now();
  model::ForwardResult result = m_computation.forward(pass.batch, pass.mostTokens, stop);
  if (result.stopped) return Progress::Stopped;
  const auto elapsed = std::chrono::steady_clock::now() - begin;

  trace::BatchComputed computed;
  computed.nanoseconds = std::chrono::duration_cast<std::chrono::nanoseconds>(elapsed).count();
  for (const Pass::Part& part : pass.parts) {
    computed.entries.push_back({.request = part.request->id,
                                .segment = part.segment,
                                .begin = part.begin,
                                .count = part.count,
                                .decode = part.decode,
                                .repeated = part.repeated});
  }
  m_sink.send(pass.parts.front().request->options.run, 0, {}, std::move(computed));
  finishPass(pass, result);
  removeEnded();
  return Progress::Computed;
}

void Scheduler::abort(RunId run) {
  for (const auto& request : m_requests) {
    if (request->options.run == run && request->state != Request::State::Ended) {
      end(*request, trace::StepOutcome::Stopped);
    }
  }
  removeEnded();
}

bool Scheduler::clearCache(Running running) {
  if (running == Running::Preempt) {
    for (auto request = m_requests.rbegin(); request != m_requests.rend(); ++request) {
      if ((*request)->running()) preempt(**request, **request);
    }
  }
  return m_cache.clear();
}

/// Returns how many rows of a forward pass the running requests need.
std::int64_t Scheduler::wantedRows() const {
  std::int64_t rows = 0;
  for (const auto& request : m_requests) {
    if (request->state == Request::State::Decode && goesOn(*request)) ++rows;
    if (request->state != Request::State::Prefill) continue;
    for (std::uint32_t place = request->prefillPlace; place < request->prefillOrder.size(); ++place) {
      const std::uint32_t i = request->prefillOrder[place];
      rows += std::max(0, request->prefillLength(i) - request->computed[i]);
    }
  }
  return rows;
}

/// Admits requests in the order of service, as long as the forward pass has rows for them. Of equal priority,
/// waiting requests come before new ones.
void Scheduler::admit(const std::stop_token& stop, RequestSource* source) {
  std::int64_t rows = wantedRows();
  std::int64_t laidOut = 0;
  const auto hasTime = [&] {
    return rows < m_rowsPerPass && laidOut < kMostTokensLaidOut && !stop.stop_requested();
  };
  const auto admitted = [&](Request& request) {
    laidOut += request.table.tokenCount();
    if (!tryAdmit(request)) return false;
    for (std::uint32_t i = 0; request.running() && i <= request.lastSegment(); ++i)
      rows += std::max(0, request.prefillLength(i) - request.computed[i]);
    return true;
  };
  // Returns false if no other request may be tried.
  const auto takeNew = [&](const auto& mayBeTaken) {
    while (source != nullptr && hasTime() && source->hasNext() && mayBeTaken(source->nextPriority())) {
      if (!source->submitNext(*this)) break;
      if (!admitted(newest())) return false;
    }
    return true;
  };
  std::vector<Request*> waiting;
  for (const auto& request : m_requests) {
    if (request->state == Request::State::Waiting) waiting.push_back(request.get());
  }
  for (Request* const request : waiting) {
    if (!takeNew([&](std::int32_t priority) { return priority > request->options.priority; })) return;
    if (request->state != Request::State::Waiting) continue;
    if (!hasTime() || !admitted(*request)) return;
  }
  takeNew([](std::int32_t) { return true; });
}

/// Returns false if the request must wait for running requests. After false, do not try later requests.
bool Scheduler::tryAdmit(Request& request) {
  // The time of a cache lookup grows with the prompt. The lookup is therefore repeated only if its result can
  // have changed.
  if (request.lastRefusal && othersGoOn(request)) {
    const cache::Refusal& last = *request.lastRefusal;
    if (last.reason == cache::Refusal::Reason::NoRoomNow && request.releasesAtRefusal == m_releases)
      return false;
    if (last.reason == cache::Refusal::Reason::WaitForOther && m_cache.isBeingComputed(last.waitFor))
      return false;
  }
  const cache::RequestSpec spec = specOf(request);
  // Only one member of a team is in this cache request.
  if (request.options.team && exceedsPool(request)) {
    fail(request, tooLarge(request));
    return true;
  }
  // A resumed request would be preempted again if it left no space for the answers of the others.
  std::int64_t spareBlocks = 0;
  if (!request.computedBefore.empty() && othersGoOn(request)) {
    spareBlocks = std::ranges::count_if(m_requests, [](const auto& other) { return other->running(); });
  }
  auto answer = m_cache.admit(spec, spareBlocks);
  while (const auto* refusal = std::get_if<cache::Refusal>(&answer)) {
    if (refusal->reason == cache::Refusal::Reason::NeverFits) {
      fail(request, tooLarge(request));
      return true;
    }
    const bool waitsInVain = !othersGoOn(request);
    if (waitsInVain && isNext(request)) {
      if (!makeWay(request, spec)) {
        fail(request, tooLarge(request));
        return true;
      }
      answer = m_cache.admit(spec);
      continue;
    }
    const bool isNew = !request.lastRefusal || request.lastRefusal->reason != refusal->reason ||
                       request.lastRefusal->waitFor.request != refusal->waitFor.request;
    request.releasesAtRefusal = m_releases;
    request.lastRefusal = *refusal;
    if (isNew) {
      const bool waits = refusal->reason == cache::Refusal::Reason::WaitForOther;
      m_sink.send(request.options.run, request.id, request.options.node,
                  trace::RequestDeferred{.reason = waits ? "another request is computing the same tokens"
                                                         : "not enough free blocks while other requests run",
                                         .waitFor = refusal->waitFor.request});
    }
    // If no request continues, the running requests wait for a request that may come later in the queue.
    return waitsInVain;
  }

  // From here on, the request has blocks that must be released, even after an exception.
  const auto& admission = std::get<cache::Admission>(answer);
  request.state = Request::State::Prefill;
  request.lastRefusal.reset();
  request.prefillPlace = 0;
  request.computed.clear();
  for (const cache::SegmentBlocks& segment : admission.segments)
    request.computed.push_back(segment.computeFrom);
  request.placed = static_cast<std::int32_t>(spec.segments.back().tokens.size());
  settle(request);
  if (!admission.copies.empty()) m_computation.copyBlocks(admission.copies);
  m_cache.copied(request.id);
  m_listener.onAdmitted(request.id, admission);
  return true;
}

/// After its prompt is computed and its answer has begun, a member of a team waits for the others. A resumed
/// member also waits for the others.
void Scheduler::settle(Request& request) {
  if (!request.options.team || request.state != Request::State::Prefill || request.generated.empty()) return;
  for (std::uint32_t i = 0; i <= request.lastSegment(); ++i) {
    if (request.computed[i] < request.prefillLength(i)) return;
  }
  request.state = Request::State::Decode;
}

/// Ends the given answers when all tokens of these answers are computed.
void Scheduler::endGivenAnswers() {
  for (const auto& request : m_requests) {
    const bool isDone = !request->options.given.empty() && !request->isOver &&
                        request->state == Request::State::Decode &&
                        request->repliedRows() >= request->wantedRows();
    if (isDone) end(*request, request->options.limitOutcome);
  }
}

void Scheduler::finishPass(Pass& pass, model::ForwardResult& result) {
  const std::int32_t blockSize = m_cache.config().blockSize;
  for (const Pass::Part& part : pass.parts) {
    const std::int32_t end = part.begin + part.count;
    part.request->computed[part.segment] = end;
    // A growing partial block is stored when the block is full and again at the end, not token by token.
    const bool growing = part.request->state == Request::State::Decode;
    if (!growing || end % blockSize == 0)
      m_cache.computed(part.request->id, part.segment, part.request->storable(part.segment, end));
  }
  for (const Pass::Part& part : pass.parts) settle(*part.request);
  reportCopies(pass, result);
  reportAnswerMass(pass, result);
  reportPartMass(pass, result);
  reportMass(pass, result);

  const auto vocabulary = static_cast<std::size_t>(m_computation.vocabularySize());
  auto nextToken = result.tokens.begin();
  for (std::size_t p = 0; p < pass.parts.size(); ++p) {
    const Pass::Part& part = pass.parts[p];
    Request& request = *part.request;
    const SampledToken token = part.drawn ? *nextToken++ : SampledToken{};
    if (part.logitCount == 0 || request.state == Request::State::Ended) continue;
    const auto logitsOf = [&](std::int32_t i) {
      return std::span<const float>(result.logits)
          .subspan(static_cast<std::size_t>(part.firstLogit + i) * vocabulary, vocabulary);
    };
    if (!part.decode) {
      const std::int32_t reported = request.options.logits == LogitReport::None ? 0 : part.logitCount;
      for (std::int32_t i = 0; i < reported; ++i) m_listener.onLogits(request.id, logitsOf(i));
      if (part.segment != request.lastSegment() || part.begin + part.count < request.length(part.segment))
        continue;
    }
    if (request.options.maxNewTokens <= 0) {
      this->end(request, request.options.limitOutcome);
      continue;
    }
    if (part.drawn && request.options.alternatives > 0) {
      m_listener.onAlternatives(request.id, static_cast<std::int32_t>(request.generated.size()),
                                compute::topTokens(logitsOf(part.logitCount - 1),
                                                   static_cast<std::size_t>(request.options.alternatives)));
    }
    // A simulated computation samples tokens without logits.
    const bool isRedrawn =
        request.barsEnd() && token.fault == compute::LogitFault::None && !result.logits.empty();
    takeToken(request, isRedrawn ? drawWithoutEnd(request, logitsOf(part.logitCount - 1)) : token,
              segmentMass(request.table.segments.size(), request.table.segments[part.segment].sees,
                          part.segment, pass.observed, p, part.begin + part.count - 1, result.mass,
                          request.options.observedLayers));
  }
  endGivenAnswers();
}

void Scheduler::takeToken(Request& request, const SampledToken& token, std::vector<float> segmentMass) {
  if (token.fault != compute::LogitFault::None) {
    fail(request, compute::describeFault(token, request.generated.size(), m_computation.vocabularySize()));
    return;
  }
  request.state = Request::State::Decode;
  request.generated.push_back(token.token);
  m_listener.onToken(request.id, static_cast<std::int32_t>(request.generated.size()) - 1, token,
                     std::move(segmentMass));
  const auto& ends = request.options.endTokens;
  const auto count = static_cast<std::int32_t>(request.generated.size());
  const bool isEnd = std::ranges::find(ends, token.token) != ends.end();
  if (isEnd && count > request.options.minNewTokens) {
    end(request, trace::StepOutcome::EndToken);
  } else if (count >= request.options.maxNewTokens) {
    end(request, request.options.limitOutcome);
  }
}

void Scheduler::end(Request& request, trace::StepOutcome outcome) {
  const bool wasOver = std::exchange(request.isOver, true);
  if (!request.options.team || outcome == trace::StepOutcome::Stopped) {
    release(request);
  } else if (const Team team(m_requests, request); team.isOver()) {
    for (Request* member : team.members()) release(*member);
  }
  if (!wasOver) m_listener.onFinished(request.id, outcome);
}

void Scheduler::release(Request& request) {
  if (request.running()) {
    const std::uint32_t last = request.lastSegment();
    if (request.state == Request::State::Decode)
      m_cache.computed(request.id, last, request.storable(last, request.computed[last]));
    m_cache.finish(request.id);
  }
  request.state = Request::State::Ended;
  ++m_releases;
}

void Scheduler::fail(Request& request, const Error& error) {
  if (request.running()) m_cache.finish(request.id);
  request.state = Request::State::Ended;
  ++m_releases;
  ++m_failures;
  m_listener.onFailed(request.id, error);
}

void Scheduler::removeEnded() {
  std::erase_if(m_requests, [](const auto& request) { return request->state == Request::State::Ended; });
}

Team::Team(const std::vector<std::unique_ptr<ScheduledRequest>>& requests, const ScheduledRequest& member)
    : m_size(member.options.team->members) {
  for (const auto& request : requests) {
    const bool isIn = request->options.team && request->options.run == member.options.run &&
                      request->options.team->team == member.options.team->team &&
                      request->state != ScheduledRequest::State::Ended;
    if (isIn) m_members.push_back(request.get());
  }
  std::ranges::sort(m_members, [](const ScheduledRequest* a, const ScheduledRequest* b) {
    return a->options.team->place < b->options.team->place;
  });
}

bool Team::isReady() const {
  return isWhole() && std::ranges::all_of(m_members, [](const ScheduledRequest* member) {
           return member->state == ScheduledRequest::State::Decode;
         });
}

bool Team::isOver() const {
  return isWhole() &&
         std::ranges::all_of(m_members, [](const ScheduledRequest* member) { return member->isOver; });
}

}  // namespace spanscope::run
