// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/run/scheduler.h"

#include "engine/base/counted.h"
#include "engine/run/scheduled_request.h"
#include "engine/run/team.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <string>
#include <utility>

namespace spanscope::run {

/// One forward pass while it is put together.
struct Scheduler::Pass {
  struct Part {
    Request* request = nullptr;
    std::uint32_t segment = 0;
    std::int32_t begin = 0;
    std::int32_t count = 0;
    bool decode = false;
    bool repeated = false;         ///< computed before a preemption
    std::int32_t firstLogit = -1;  ///< index in the pass's logits, −1: none asked for
    std::int32_t logitCount = 0;
    bool drawn = false;  ///< whether a token is drawn from the last of its logits
  };
  /// Rows of which some may be left out on the way.
  struct Blend {
    const Request* request = nullptr;
    std::size_t firstRun = 0;
    std::size_t runs = 0;
    std::size_t firstPart = 0;
    std::size_t parts = 0;
    std::int64_t rows = 0;
  };
  model::Batch batch;
  std::optional<Blend> blend;
  std::vector<std::int32_t> mostTokens;  ///< of the reply that each draw is for
  std::vector<Part> parts;
  std::vector<ObservedRun> observed;

  std::int32_t rows() const { return static_cast<std::int32_t>(batch.tokens.size()); }
};

namespace {

/// Prompt tokens that are laid out and looked up for new requests before a pass. Looking one up takes well
/// under a microsecond, so this bounds how long the requests that run already have to wait.
constexpr std::int64_t kMostTokensLaidOut = 1 << 20;

/// `generated`: the reply so far, with which a preempted request goes on.
cache::RequestSpec makeSpec(RequestId id, const layout::SpanTable& table, const RequestOptions& options,
                            const std::string& salt, const std::vector<TokenId>& generated) {
  cache::RequestSpec spec;
  spec.id = id;
  spec.run = options.run;
  if (options.replay) {
    spec.alwaysFrom = options.replay->firstRow;
  } else if ((table.mostBlocks > 0 || options.team) && !generated.empty()) {
    // The same tokens of another request read other blocks, or other replies.
    spec.alwaysFrom = table.segments.back().length();
  }
  spec.salt = salt;
  spec.segments.reserve(table.segments.size());
  for (const layout::Segment& segment : table.segments) {
    cache::SegmentSpec& out = spec.segments.emplace_back();
    out.tokens = segment.tokens;
    out.base = segment.base;
    out.node = segment.node;
    out.repeats = segment.repeats;
    out.isPrivate = segment.repeats || (table.blending && &segment == &table.segments.back());
    for (const std::uint32_t seen : segment.sees) {
      const layout::Segment& other = table.segments[seen];
      out.sees.push_back(
          {.segment = seen, .distance = segment.base - other.base, .visibleBegin = other.visibleBegin});
    }
  }
  std::vector<TokenId>& last = spec.segments.back().tokens;
  last.insert(last.end(), generated.begin(), generated.end());
  return spec;
}

}  // namespace

// NOLINTNEXTLINE(performance-unnecessary-value-param): who listens may keep it.
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
  auto request = std::make_unique<Request>();
  request->id = ++m_lastRequest;
  request->table = std::move(table);
  request->options = std::move(options);
  request->generated = request->options.given;
  m_requests.push_back(std::move(request));
  return m_lastRequest;
}

Scheduler::Progress Scheduler::pass(std::stop_token stop, RequestSource* source) {
  admit(stop, source);
  endGivenReplies();
  if (stop.stop_requested()) return Progress::Stopped;
  Pass pass;
  pass.batch.logitsWanted = false;
  collectDecodes(pass);
  collectPrefills(pass);
  if (pass.parts.empty()) {
    removeEnded();
    return Progress::Idle;
  }
  closeBlend(pass);
  if (!pass.observed.empty()) {
    // Every request of a pass is observed at the union of the layers asked for; what was not asked for is not
    // sent.
    for (const ObservedRun& run : pass.observed) {
      pass.batch.mass.runs.push_back(run.run);
      pass.batch.mass.keySpans.push_back(run.keySpan);
    }
    for (const Pass::Part& part : pass.parts) {
      const auto& layers = part.request->options.observedLayers;
      pass.batch.massLayers.insert(pass.batch.massLayers.end(), layers.begin(), layers.end());
    }
    std::sort(pass.batch.massLayers.begin(), pass.batch.massLayers.end());
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

/// Rows that the running requests would take of a pass.
std::int64_t Scheduler::wantedRows() const {
  std::int64_t rows = 0;
  for (const auto& request : m_requests) {
    if (request->state == Request::State::Decode && goesOn(*request)) ++rows;
    if (request->state != Request::State::Prefill) continue;
    for (std::uint32_t i = request->segment; i <= request->lastSegment(); ++i)
      rows += std::max(0, request->prefillLength(i) - request->computed[i]);
  }
  return rows;
}

/// Admits requests in order as long as the pass has rows for them: those that wait, then new ones.
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
  for (const auto& request : m_requests) {
    if (request->state != Request::State::Waiting) continue;
    if (!hasTime() || !admitted(*request)) return;
  }
  while (source != nullptr && hasTime() && source->submitNext(*this)) {
    if (!admitted(*m_requests.back())) return;
  }
}

/// False if it has to wait; those behind it must not be tried then.
bool Scheduler::tryAdmit(Request& request) {
  // Asking the cache costs time that grows with the prompt, so it is asked when the answer can be another
  // one.
  if (request.lastRefusal && othersGoOn(request)) {
    const cache::Refusal& last = *request.lastRefusal;
    if (last.reason == cache::Refusal::Reason::NoRoomNow && request.releasesAtRefusal == m_releases)
      return false;
    if (last.reason == cache::Refusal::Reason::WaitForOther && m_cache.isBeingComputed(last.waitFor))
      return false;
  }
  cache::RequestSpec spec = makeSpec(request.id, request.table, request.options, m_salt, request.generated);
  spec.computedBefore = request.computedBefore;
  // One that was preempted would be again, did it not leave the others some room to grow.
  std::int64_t spareBlocks = 0;
  if (!request.computedBefore.empty()) {
    spareBlocks = std::count_if(m_requests.begin(), m_requests.end(),
                                [](const auto& other) { return other->running(); });
  }
  const auto answer = m_cache.admit(spec, spareBlocks);
  if (const auto* refusal = std::get_if<cache::Refusal>(&answer)) {
    if (refusal->reason == cache::Refusal::Reason::NeverFits || !othersGoOn(request)) {
      fail(request, request.generated.empty() ? describe(request, *refusal) : outgrown(request));
      return true;
    }
    const bool isNew = !request.lastRefusal || request.lastRefusal->reason != refusal->reason ||
                       request.lastRefusal->waitFor.request != refusal->waitFor.request;
    request.releasesAtRefusal = m_releases;
    request.lastRefusal = *refusal;
    if (isNew) {
      const bool waits = refusal->reason == cache::Refusal::Reason::WaitForOther;
      m_sink.send(request.options.run, request.id, request.options.node,
                  trace::RequestDeferred{.reason = waits ? "another request is computing the same tokens"
                                                         : "not enough free blocks while others run",
                                         .waitFor = refusal->waitFor.request});
    }
    return false;
  }

  // From here on it has blocks to give back, whatever else goes wrong.
  const auto& admission = std::get<cache::Admission>(answer);
  request.state = Request::State::Prefill;
  request.lastRefusal.reset();
  request.segment = 0;
  request.computed.clear();
  for (const cache::SegmentBlocks& segment : admission.segments)
    request.computed.push_back(segment.computeFrom);
  request.placed = request.length(request.lastSegment());
  settle(request);
  if (!admission.copies.empty()) m_computation.copyBlocks(admission.copies);
  m_cache.copied(request.id);
  m_listener.onAdmitted(request.id, admission);
  return true;
}

bool Scheduler::othersRun(const Request& request) const {
  return std::any_of(m_requests.begin(), m_requests.end(),
                     [&](const auto& other) { return other.get() != &request && other->running(); });
}

/// It runs, and does not wait for others of its team.
bool Scheduler::goesOn(const Request& request) const {
  if (!request.running()) return false;
  const bool mayWait = request.options.team && request.state == Request::State::Decode;
  return !mayWait || Team(m_requests, request).isReady();
}

/// Somebody else's blocks may yet come free.
bool Scheduler::othersGoOn(const Request& request) const {
  return std::any_of(m_requests.begin(), m_requests.end(),
                     [&](const auto& other) { return other.get() != &request && goesOn(*other); });
}

/// Who gives way to a request that needs a block; null if nobody can. Members of teams never do: all of a
/// team would have to wait for them.
Scheduler::Request* Scheduler::youngestFor(const Request& request) const {
  for (auto other = m_requests.rbegin(); other != m_requests.rend(); ++other) {
    // Those before a member of a team may be in the pass already.
    if (request.options.team && other->get() == &request) return nullptr;
    if ((*other)->running() && !(*other)->options.team) return other->get();
  }
  return nullptr;
}

/// Makes room for a token that was sampled, taking it from the youngest requests. Nothing if the request
/// itself had to give way, or ended because even the whole pool is too small for it.
std::optional<cache::Slot> Scheduler::place(Request& request, TokenId token) {
  while (true) {
    std::optional<cache::Slot> slot = m_cache.append(request.id, token);
    if (slot) return slot;
    Request* const youngest = youngestFor(request);
    if (youngest != nullptr && youngest != &request) {
      preempt(*youngest, request);
      continue;
    }
    if (youngest == &request && othersRun(request)) {
      preempt(request, request);
    } else {
      fail(request, outgrown(request));
    }
    return std::nullopt;
  }
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
  m_listener.onPreempted(request.id);
}

/// A member of a team whose prompt is computed and whose reply has begun, be it that it gave way, waits for
/// the others from here on.
void Scheduler::settle(Request& request) {
  if (!request.options.team || request.state != Request::State::Prefill || request.generated.empty()) return;
  for (std::uint32_t i = 0; i <= request.lastSegment(); ++i) {
    if (request.computed[i] < request.prefillLength(i)) return;
  }
  request.state = Request::State::Decode;
}

/// Whether there is a slot for the next row of a reply.
bool Scheduler::makeRoom(Request& request, TokenId token) {
  const std::optional<cache::Slot> slot = place(request, token);
  if (slot && slot->copy) {
    m_computation.copyBlocks(std::span(&*slot->copy, 1));
    m_cache.copied(request.id);
  }
  return slot.has_value();
}

void Scheduler::collectDecodes(Pass& pass) {
  for (const auto& owned : m_requests) {
    Request& request = *owned;
    if (request.state != Request::State::Decode || pass.rows() >= m_rowsPerPass) continue;
    if (request.options.team) {
      collectTeam(pass, request);
    } else if (makeRoom(request, request.generated.back())) {
      addRows(pass, request, request.lastSegment(), request.computed.back(), 1);
    }
  }
}

/// Of a team all rows of one step, be they more than a pass else has: each reads what the others have in it.
void Scheduler::collectTeam(Pass& pass, Request& member) {
  const Team team(m_requests, member);
  if (team.members().front() != &member || !team.isReady()) return;
  if (!member.isTold && member.options.given.empty()) {
    trace::TeamFormed event;
    for (const Request* each : team.members()) event.requests.push_back(each->id);
    m_sink.send(member.options.run, member.id, member.options.node, std::move(event));
  }
  member.isTold = true;
  std::vector<Request*> going;
  for (Request* each : team.next()) {
    const std::int32_t row = each->repliedRows();
    const std::int64_t position =
        each->table.segments.back().base + each->generatedFrom() + team.seenBy(*each, row) + row;
    if (each->options.given.empty() && position >= each->options.team->positions) {
      end(*each, trace::StepOutcome::ContextLimit);
      continue;
    }
    const bool hasRoom = each->placed > each->generatedFrom() + row;
    if (!hasRoom && !makeRoom(*each, each->generated[static_cast<std::size_t>(row)])) return;
    if (!hasRoom) ++each->placed;
    going.push_back(each);
  }
  for (Request* each : going) addRows(pass, *each, each->lastSegment(), each->computed.back(), 1);
}

void Scheduler::collectPrefills(Pass& pass) {
  for (const auto& owned : m_requests) {
    Request& request = *owned;
    if (request.state != Request::State::Prefill) continue;
    while (request.segment < request.table.segments.size() && pass.rows() < m_rowsPerPass) {
      const std::int32_t length = request.prefillLength(request.segment);
      // What this pass already took of the segment counts as computed for the rows that follow.
      std::int32_t begin = request.computed[request.segment];
      if (!pass.parts.empty() && pass.parts.back().request == &request &&
          pass.parts.back().segment == request.segment) {
        begin = pass.parts.back().begin + pass.parts.back().count;
      }
      if (begin >= length) {
        ++request.segment;
        continue;
      }
      if (request.isBlended(request.segment) && begin == 0) {
        // What it repeats has to be there before the pass begins, and a pass is narrowed for one request.
        const bool isPassFree =
            !pass.blend && std::none_of(pass.parts.begin(), pass.parts.end(),
                                        [&](const Pass::Part& part) { return part.request == &request; });
        if (isPassFree) addBlend(pass, request);
        break;
      }
      // Rows that were computed before are a part of their own.
      const std::int32_t repeated = request.repeatedEnd(request.segment);
      const std::int32_t end = begin < repeated ? std::min(repeated, length) : length;
      addRows(pass, request, request.segment, begin, std::min(end - begin, m_rowsPerPass - pass.rows()));
    }
    if (pass.rows() >= m_rowsPerPass) break;
  }
}

/// Everything that is computed together: the segments that repeat others, as copies of them to begin with,
/// and the last one. It may be more rows than a pass else has: of all of them it is chosen which go on.
void Scheduler::addBlend(Pass& pass, Request& request) {
  const std::int32_t blockSize = m_cache.config().blockSize;
  Pass::Blend blend{.request = &request, .firstRun = pass.batch.runs.size(), .firstPart = pass.parts.size()};
  std::vector<cache::BlockCopy> copies;
  for (std::uint32_t s = request.segment; s < request.lastSegment(); ++s) {
    const layout::Segment& segment = request.table.segments[s];
    const std::vector<BlockId>& from = m_cache.blocks(request.id, *segment.repeats).blocks;
    const std::vector<BlockId>& to = m_cache.blocks(request.id, s).blocks;
    for (std::size_t block = 0; block < to.size(); ++block) {
      const std::int32_t begin = static_cast<std::int32_t>(block) * blockSize;
      copies.push_back({from[block], to[block], std::min(blockSize, segment.length() - begin)});
      m_sink.send(request.options.run, request.id, segment.node,
                  trace::BlockCopied{from[block], to[block], copies.back().slots});
    }
    const std::int32_t first = segment.visibleBegin;
    const std::int32_t count = segment.length() - first;
    if (count == 0) continue;
    const std::int64_t firstRow = pass.rows();
    for (std::int32_t j = first; j < segment.length(); ++j) {
      pass.batch.tokens.push_back(segment.tokens[static_cast<std::size_t>(j)]);
      pass.batch.localIndices.push_back(j);
      pass.batch.slots.push_back(std::int64_t{to[static_cast<std::size_t>(j / blockSize)]} * blockSize +
                                 j % blockSize);
    }
    pass.parts.push_back(
        {.request = &request, .segment = s, .begin = first, .count = count, .repeated = true});
    addRun(pass, request, s, first, count, firstRow);
    blend.rows += count;
  }
  m_computation.copyBlocks(copies);
  blend.runs = pass.batch.runs.size() - blend.firstRun;
  blend.parts = pass.parts.size() - blend.firstPart;
  pass.blend = blend;
  request.segment = request.lastSegment();
  addRows(pass, request, request.segment, 0, request.length(request.segment));
}

/// Says of the whole pass which rows go on. Of n rows with a share r to be kept in k steps, step i keeps
/// n · r^(i/k).
void Scheduler::closeBlend(Pass& pass) const {
  if (!pass.blend) return;
  const layout::Blending& blending = *pass.blend->request->table.blending;
  const Pass::Blend& blend = *pass.blend;
  const auto rows = static_cast<double>(blend.rows);
  if (blend.runs == 0 || std::floor(blending.share * rows) >= rows) return;
  const std::size_t behind = blend.firstRun + blend.runs;
  std::int32_t behindRows = 0;
  for (std::size_t run = behind; run < pass.batch.runs.size(); ++run)
    behindRows += pass.batch.runs[run].rowCount;
  for (std::int32_t step = 1; step <= blending.steps; ++step) {
    const double share = std::pow(blending.share, static_cast<double>(step) / blending.steps);
    std::vector<compute::RowGroup>& groups = pass.batch.narrowings.emplace_back();
    if (blend.firstRun > 0) {
      groups.push_back({.runs = static_cast<std::uint32_t>(blend.firstRun),
                        .kept = static_cast<std::int32_t>(pass.batch.runs[blend.firstRun].firstRow)});
    }
    groups.push_back({.runs = static_cast<std::uint32_t>(blend.runs),
                      .kept = static_cast<std::int32_t>(std::floor(share * rows))});
    groups.push_back(
        {.runs = static_cast<std::uint32_t>(pass.batch.runs.size() - behind), .kept = behindRows});
    pass.batch.narrowingLayers.push_back(blending.layer + step - 1);
  }
  pass.batch.narrowedBy = blending.score == layout::Blending::Score::Keys ? compute::StoredPart::Keys
                                                                          : compute::StoredPart::Values;
}

void Scheduler::reportBlend(const Pass& pass, const model::ForwardResult& result) {
  if (!pass.blend) return;
  const Pass::Blend& blend = *pass.blend;
  const Request& request = *blend.request;
  trace::TokensRecomputed event{.layer = request.table.blending->layer, .tokens = blend.rows, .segments = {}};
  auto kept = result.keptRows.begin();
  std::int64_t firstRow = blend.runs == 0 ? 0 : pass.batch.runs[blend.firstRun].firstRow;
  for (std::size_t p = blend.firstPart; p < blend.firstPart + blend.parts; ++p) {
    const Pass::Part& part = pass.parts[p];
    trace::RecomputedTokens own{.segment = part.segment, .tokens = {}};
    for (std::int32_t j = 0; j < part.count; ++j) {
      const std::int64_t row = firstRow + j;
      while (kept != result.keptRows.end() && *kept < row) ++kept;
      const bool isKept = pass.batch.narrowings.empty() || (kept != result.keptRows.end() && *kept == row);
      if (isKept) own.tokens.push_back(part.begin + j);
    }
    firstRow += part.count;
    if (!own.tokens.empty()) event.segments.push_back(std::move(own));
  }
  m_sink.send(request.options.run, request.id, request.options.node, std::move(event));
}

void Scheduler::addRows(Pass& pass, Request& request, std::uint32_t segment, std::int32_t begin,
                        std::int32_t count) {
  const layout::Segment& source = request.table.segments[segment];
  const std::vector<BlockId>& blocks = m_cache.blocks(request.id, segment).blocks;
  const std::int32_t blockSize = m_cache.config().blockSize;
  const std::int64_t firstRow = pass.rows();

  Pass::Part part{.request = &request, .segment = segment, .begin = begin, .count = count};
  const std::int32_t prompt = source.length();
  const std::int32_t length = request.length(segment);
  part.decode = begin >= prompt && count == 1 && begin + 1 == length;
  part.repeated = begin < request.repeatedEnd(segment);
  for (std::int32_t j = begin; j < begin + count; ++j) {
    pass.batch.tokens.push_back(j < prompt ? source.tokens[static_cast<std::size_t>(j)]
                                           : request.generated[static_cast<std::size_t>(j - prompt)]);
    pass.batch.localIndices.push_back(j);
    pass.batch.slots.push_back(std::int64_t{blocks[static_cast<std::size_t>(j / blockSize)]} * blockSize +
                               j % blockSize);
    const bool last = segment == request.lastSegment() && j + 1 == length;
    part.drawn = last && request.options.maxNewTokens > 0;
    const bool replayed = request.options.logits == LogitReport::Replayed &&
                          segment == request.lastSegment() && j >= request.options.replay->firstRow;
    if (last || replayed || request.options.logits == LogitReport::Every) {
      if (part.firstLogit < 0) part.firstLogit = static_cast<std::int32_t>(pass.batch.logitRows.size());
      ++part.logitCount;
      pass.batch.logitRows.push_back(static_cast<std::int32_t>(firstRow) + j - begin);
    }
  }
  const bool reports = part.logitCount > 0 && request.options.logits != LogitReport::None;
  pass.batch.logitsWanted = pass.batch.logitsWanted || reports;
  if (part.drawn) {
    pass.batch.draws.push_back({.logits = part.firstLogit + part.logitCount - 1,
                                .settings = request.options.sampling,
                                .index = request.generated.size()});
    pass.mostTokens.push_back(request.options.maxNewTokens);
  }
  pass.parts.push_back(part);

  // What was computed before has been reported.
  if (request.options.observedLayers.empty() || part.repeated) {
    addRun(pass, request, segment, begin, count, firstRow);
    return;
  }
  const std::int32_t end = begin + count;
  const auto observe = [&](std::int32_t from, std::int32_t to, bool joinsPrevious) {
    const bool drawsFrom = part.drawn && to == length && to - from == 1;
    addObservedRun(pass, request,
                   {.begin = from,
                    .count = to - from,
                    .joinsPrevious = joinsPrevious,
                    .reply = drawsFrom ? static_cast<std::int32_t>(request.generated.size()) : -1});
    addRun(pass, request, segment, from, to - from, firstRow + from - begin);
  };
  if (request.options.replay) {
    const bool isLast = segment == request.lastSegment();
    const std::int32_t first = isLast ? std::clamp(request.options.replay->firstRow, begin, end) : end;
    if (first > begin) addRun(pass, request, segment, begin, first - begin, firstRow);
    const std::int64_t told =
        std::int64_t{request.options.replay->firstRow} + request.options.replay->observedRows;
    const auto observedEnd = static_cast<std::int32_t>(std::clamp<std::int64_t>(told, first, end));
    for (std::int32_t j = first; j < observedEnd; ++j) observe(j, j + 1, false);
    if (observedEnd < end)
      addRun(pass, request, segment, observedEnd, end - observedEnd, firstRow + observedEnd - begin);
    return;
  }
  if (request.options.attentionDetail == AttentionDetail::Answer) {
    const std::int32_t unobserved = part.drawn ? count - 1 : count;
    if (unobserved > 0) addRun(pass, request, segment, begin, unobserved, firstRow);
    if (part.drawn) observe(end - 1, end, false);
    return;
  }
  // One run a query block (or row), so that the backend's sums are the ones that are shown.
  for (std::int32_t j = begin; j < end;) {
    const std::int32_t blockEnd = (j / blockSize + 1) * blockSize;
    std::int32_t next = request.options.observeRows ? j + 1 : std::min(blockEnd, end);
    // The row that the first token is drawn from is looked at alone, too, and reported with its block.
    const bool drawsFrom = segment == request.lastSegment() && next == length;
    if (drawsFrom && next - j > 1) --next;
    observe(j, next, !request.options.observeRows && j > begin && j % blockSize != 0);
    j = next;
  }
}

/// The next run of the pass is observed.
void Scheduler::addObservedRun(Pass& pass, const Request& request, ObservedRun run) {
  // Single keys only where they are not too many: their number grows with the square of the tokens.
  const bool singleKeys = request.options.replay ? request.options.replay->singleKeys
                                                 : request.options.observeRows &&
                                                       request.table.tokenCount() <= kMostTokensForSingleKeys;
  run.run = static_cast<std::uint32_t>(pass.batch.runs.size());
  run.part = pass.parts.size() - 1;
  run.keySpan = singleKeys ? 1 : 0;
  pass.observed.push_back(run);
}

void Scheduler::addRun(Pass& pass, const Request& request, std::uint32_t segment, std::int32_t begin,
                       std::int32_t count, std::int64_t firstRow) {
  const layout::Segment& source = request.table.segments[segment];
  const bool mayChoose = request.table.mostBlocks > 0 && segment == request.lastSegment();
  if (const std::int32_t own = request.generatedFrom() - begin; mayChoose && own > 0 && own < count) {
    addRun(pass, request, segment, begin, own, firstRow);
    addRun(pass, request, segment, begin + own, count - own, firstRow + own);
    return;
  }
  compute::QueryRun& run = pass.batch.runs.emplace_back();
  if (mayChoose && begin >= request.generatedFrom()) run.mostBlocks = request.table.mostBlocks;
  run.firstRow = firstRow;
  run.rowCount = count;
  run.base = source.base;
  for (const std::uint32_t seen : source.sees) {
    const layout::Segment& other = request.table.segments[seen];
    run.keys.push_back({.blocks = m_cache.blocks(request.id, seen).blocks,
                        .begin = other.visibleBegin,
                        .end = other.length(),
                        .base = other.base,
                        .causal = false});
  }
  if (request.options.team && segment == request.lastSegment() && begin >= request.generatedFrom()) {
    addTeamKeys(run, request, begin - request.generatedFrom());
    return;
  }
  run.keys.push_back({.blocks = m_cache.blocks(request.id, segment).blocks,
                      .begin = source.repeats ? source.visibleBegin : 0,
                      .end = begin + count,
                      .base = source.base,
                      .causal = true});
}

/// What generated row `row` of a member of a team reads behind the segments before its own: its own prompt
/// where it was computed, up to the words that ask for a reply; then these words and the reply of each of the
/// others; then its own.
void Scheduler::addTeamKeys(compute::QueryRun& run, const Request& request, std::int32_t row) const {
  const layout::Segment& source = request.table.segments.back();
  const std::int32_t turn = request.turnFrom();
  const std::vector<BlockId>& own = m_cache.blocks(request.id, request.lastSegment()).blocks;
  run.keys.push_back({.blocks = own, .begin = 0, .end = turn, .base = source.base, .causal = false});
  std::int64_t position = source.base + turn;
  const Team team(m_requests, request);
  for (const Request* other : team.members()) {
    if (other == &request) continue;
    const std::int32_t from = other->turnFrom();
    const std::int32_t end = other->generatedFrom() + Team::seenOf(*other, row);
    run.keys.push_back({.blocks = m_cache.blocks(other->id, other->lastSegment()).blocks,
                        .begin = from,
                        .end = end,
                        .base = position - from,
                        .causal = false});
    position += end - from;
  }
  run.base = position - turn;
  run.keys.push_back({.blocks = own,
                      .begin = turn,
                      .end = request.generatedFrom() + row + 1,
                      .base = run.base,
                      .causal = true});
}

/// Of rows of teams the events tell their own segments as one, and what lies on the others' replies apart.
void Scheduler::joinTeamMass(const Pass& pass, model::ForwardResult& result) const {
  if (result.mass.empty()) return;
  for (std::size_t i = 0; i < pass.observed.size(); ++i) {
    const ObservedRun& observed = pass.observed[i];
    const Pass::Part& part = pass.parts[observed.part];
    const Request& request = *part.request;
    if (!request.options.team || part.segment != request.lastSegment() ||
        observed.begin < request.generatedFrom())
      continue;
    const std::size_t sees = request.table.segments.back().sees.size();
    const auto& asked = request.options.observedLayers;
    std::vector<double> shares(request.options.team->members - 1, 0.0);
    double rows = 0;
    for (model::LayerMass& layer : result.mass) {
      const std::vector<double> own = takeTeammates(layer.runs[i], sees);
      if (std::find(asked.begin(), asked.end(), layer.layer) == asked.end()) continue;
      for (std::size_t other = 0; other < shares.size(); ++other) shares[other] += own[other];
      rows += m_computation.heads();
    }
    if (request.options.replay || observed.reply < 0 || rows == 0) continue;
    trace::TeammateAttention event{.index = observed.reply, .requests = {}, .mass = {}};
    const Team team(m_requests, request);
    for (const Request* other : team.members()) {
      if (other == &request) continue;
      event.mass.push_back(static_cast<float>(shares[event.requests.size()] / rows));
      event.requests.push_back(other->id);
    }
    m_sink.send(request.options.run, request.id, request.options.node, std::move(event));
  }
}

/// Replies that were given end when all of them is computed.
void Scheduler::endGivenReplies() {
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
    // A growing tail is stored when its block is full and once more at the end, not token by token.
    const bool growing = part.request->state == Request::State::Decode;
    if (!growing || end % blockSize == 0)
      m_cache.computed(part.request->id, part.segment, part.request->storable(part.segment, end));
  }
  for (const Pass::Part& part : pass.parts) settle(*part.request);
  reportBlend(pass, result);
  joinTeamMass(pass, result);
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
    takeToken(request, token,
              segmentMass(request.table.segments.size(), request.table.segments[part.segment].sees,
                          part.segment, pass.observed, p, part.begin + part.count - 1, result.mass,
                          request.options.observedLayers));
  }
  endGivenReplies();
}

void Scheduler::reportMass(const Pass& pass, const model::ForwardResult& result) {
  if (result.mass.empty()) return;
  std::vector<ObservedRows> told;
  for (std::size_t i = 0; i < pass.observed.size(); ++i) {
    if (pass.observed[i].joinsPrevious) continue;
    ObservedRows rows{.rows = pass.observed[i], .first = i};
    if (i + 1 < pass.observed.size() && pass.observed[i + 1].joinsPrevious) {
      rows.rows.count += pass.observed[i + 1].count;
      rows.number = 2;
    }
    told.push_back(rows);
  }
  for (const model::LayerMass& layer : result.mass) {
    for (const ObservedRows& rows : told) {
      const Pass::Part& part = pass.parts[rows.rows.part];
      const RequestOptions& options = part.request->options;
      const bool isAsked = std::find(options.observedLayers.begin(), options.observedLayers.end(),
                                     layer.layer) != options.observedLayers.end();
      const bool isTold = options.replay || options.attentionDetail == AttentionDetail::Heads;
      if (!isTold || !isAsked) continue;
      trace::AttentionMass mass =
          massEvent(placeOf(*part.request, part.segment), rows,
                    options.replay || options.observeRows || part.decode, m_computation.heads(), layer);
      if (options.replay) {
        m_listener.onReplayed(part.request->id, std::move(mass));
      } else {
        m_sink.send(options.run, part.request->id, options.node, std::move(mass));
      }
    }
  }
  for (const ObservedRows& rows : told) {
    if (pass.parts[rows.rows.part].request->options.replay) continue;
    reportRows(pass, result, rows);
    // The row that a token is drawn from is told of alone, too.
    const std::size_t last = rows.first + rows.number - 1;
    if (rows.number > 1 && pass.observed[last].reply >= 0) {
      reportRows(pass, result, {.rows = pass.observed[last], .first = last});
    }
  }
}

void Scheduler::reportRows(const Pass& pass, const model::ForwardResult& result,
                           const ObservedRows& observed) {
  const Pass::Part& part = pass.parts[observed.rows.part];
  const RequestOptions& options = part.request->options;
  const bool singleRow = options.observeRows || observed.rows.reply >= 0;
  m_sink.send(options.run, part.request->id, options.node,
              segmentAttention(placeOf(*part.request, part.segment), observed, singleRow,
                               options.observedLayers, result.mass));
  if (options.attentionDetail == AttentionDetail::Heads) return;
  m_sink.send(options.run, part.request->id, options.node,
              meanMass(placeOf(*part.request, part.segment), observed, singleRow, options.observedLayers,
                       result.mass));
}

QueryPlace Scheduler::placeOf(const Request& request, std::uint32_t segment) const {
  return {.segment = segment,
          .sees = request.table.segments[segment].sees,
          .blockSize = m_cache.config().blockSize};
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
  if (std::find(ends.begin(), ends.end(), token.token) != ends.end()) {
    end(request, trace::StepOutcome::EndToken);
  } else if (static_cast<std::int32_t>(request.generated.size()) >= request.options.maxNewTokens) {
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
  m_listener.onFailed(request.id, error);
}

void Scheduler::removeEnded() {
  std::erase_if(m_requests, [](const auto& request) { return request->state == Request::State::Ended; });
}

Error Scheduler::describe(const Request& request, const cache::Refusal& refusal) const {
  const std::int64_t blockSize = m_cache.config().blockSize;
  const std::int64_t missing = refusal.neededBlocks - refusal.availableBlocks;
  return {.file = {},
          .place = request.options.node,
          .found = "a prompt of " + counted(request.table.tokenCount(), "token") + ", which needs " +
                   counted(refusal.neededBlocks, "block") + " of " + std::to_string(blockSize),
          .expected = "at most the " + counted(refusal.availableBlocks, "block") +
                      " of the pool: " + counted(missing, "block") + " (about " +
                      counted(missing * blockSize, "token") + ") too many"};
}

Error Scheduler::outgrown(const Request& request) const {
  const std::int64_t usable = std::int64_t{m_cache.config().blockCount} - 1;
  return {.file = {},
          .place = request.options.node,
          .found = "a prompt of " + counted(request.table.tokenCount(), "token") + " and a reply that " +
                   "has grown to " + std::to_string(request.generated.size()) + " of at most " +
                   std::to_string(request.options.maxNewTokens),
          .expected = "a reply that ends within the " + counted(usable, "block") + " of " +
                      std::to_string(m_cache.config().blockSize) + " that the pool has"};
}

}  // namespace spanscope::run
