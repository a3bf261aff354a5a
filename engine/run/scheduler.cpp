// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/run/scheduler.h"

#include <algorithm>
#include <chrono>
#include <string>
#include <utility>

namespace spanscope::run {

struct Scheduler::Request {
  enum class State : std::uint8_t { Waiting, Prefill, Decode, Ended };

  RequestId id = 0;
  layout::SpanTable table;
  RequestOptions options;
  cache::RequestSpec spec;
  State state = State::Waiting;
  cache::Refusal::Reason lastRefusal = cache::Refusal::Reason::NeverFits;  ///< NeverFits: not refused yet
  RequestId lastWaitFor = 0;
  std::uint64_t endingsAtRefusal = 0;  ///< how many requests had ended when it was last refused
  std::vector<std::int32_t> computed;  ///< per segment: local tokens [0, computed) are in the store
  std::uint32_t segment = 0;           ///< the segment the prefill has come to
  std::vector<TokenId> generated;      ///< sampled so far; the last one has not been computed yet

  std::uint32_t lastSegment() const { return static_cast<std::uint32_t>(table.segments.size() - 1); }
};

/// One forward pass while it is put together.
struct Scheduler::Pass {
  struct Part {
    Request* request = nullptr;
    std::uint32_t segment = 0;
    std::int32_t begin = 0;
    std::int32_t count = 0;
    bool decode = false;
    std::int32_t firstLogit = -1;  ///< index in the pass's logits, −1: none asked for
    std::int32_t logitCount = 0;
    bool drawn = false;  ///< whether a token is drawn from the last of its logits
  };
  model::Batch batch;
  std::vector<Part> parts;
  std::vector<ObservedRun> observed;

  std::int32_t rows() const { return static_cast<std::int32_t>(batch.tokens.size()); }
};

namespace {

cache::RequestSpec makeSpec(RequestId id, const layout::SpanTable& table, const RequestOptions& options,
                            const std::string& salt) {
  cache::RequestSpec spec;
  spec.id = id;
  spec.run = options.run;
  spec.salt = salt;
  // The last sampled token is never computed, so it needs no room.
  spec.maxNewTokens = std::max(0, options.maxNewTokens - 1);
  spec.segments.reserve(table.segments.size());
  for (const layout::Segment& segment : table.segments) {
    cache::SegmentSpec& out = spec.segments.emplace_back();
    out.tokens = segment.tokens;
    out.base = segment.base;
    out.node = segment.node;
    for (const std::uint32_t seen : segment.sees) {
      const layout::Segment& other = table.segments[seen];
      out.sees.push_back(
          {.segment = seen, .distance = segment.base - other.base, .visibleBegin = other.visibleBegin});
    }
  }
  return spec;
}

}  // namespace

Scheduler::Scheduler(Computation& computation, cache::KvCache& cache, trace::Sink& sink,
                     RequestListener& listener, std::int32_t rowsPerPass, std::string salt)
    : m_computation(computation),
      m_cache(cache),
      m_sink(sink),
      m_listener(listener),
      m_rowsPerPass(std::max(1, rowsPerPass)),
      m_salt(std::move(salt)) {}

Scheduler::~Scheduler() = default;

RequestId Scheduler::submit(layout::SpanTable table, RequestOptions options) {
  auto request = std::make_unique<Request>();
  request->id = ++m_lastRequest;
  request->table = std::move(table);
  request->options = std::move(options);
  request->spec = makeSpec(request->id, request->table, request->options, m_salt);
  m_requests.push_back(std::move(request));
  return m_lastRequest;
}

Scheduler::Progress Scheduler::pass(std::stop_token stop) {
  admitWaiting();
  Pass pass;
  collectDecodes(pass);
  collectPrefills(pass);
  if (pass.parts.empty()) {
    removeEnded();
    return Progress::Idle;
  }
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
  const model::ForwardResult result = m_computation.forward(pass.batch, stop);
  if (result.stopped) return Progress::Stopped;
  const auto elapsed = std::chrono::steady_clock::now() - begin;

  trace::BatchComputed computed;
  computed.nanoseconds = std::chrono::duration_cast<std::chrono::nanoseconds>(elapsed).count();
  for (const Pass::Part& part : pass.parts) {
    computed.entries.push_back({.request = part.request->id,
                                .segment = part.segment,
                                .begin = part.begin,
                                .count = part.count,
                                .decode = part.decode});
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

void Scheduler::admitWaiting() {
  for (const auto& request : m_requests) {
    if (request->state != Request::State::Waiting) continue;
    if (!tryAdmit(*request)) break;
  }
}

/// False if those behind it must not be tried either: room goes to the first in the queue.
bool Scheduler::tryAdmit(Request& request) {
  // Room appears only where a request ends; asking the cache costs time that grows with the prompt.
  if (request.lastRefusal == cache::Refusal::Reason::NoRoomNow && request.endingsAtRefusal == m_endings)
    return false;
  const auto answer = m_cache.admit(request.spec);
  if (const auto* refusal = std::get_if<cache::Refusal>(&answer)) {
    const bool othersRun = std::any_of(m_requests.begin(), m_requests.end(), [](const auto& other) {
      return other->state == Request::State::Prefill || other->state == Request::State::Decode;
    });
    if (refusal->reason == cache::Refusal::Reason::NeverFits || !othersRun) {
      fail(request, describe(request, *refusal));
      return true;
    }
    request.endingsAtRefusal = m_endings;
    if (request.lastRefusal != refusal->reason || request.lastWaitFor != refusal->waitFor) {
      request.lastRefusal = refusal->reason;
      request.lastWaitFor = refusal->waitFor;
      const bool waits = refusal->reason == cache::Refusal::Reason::WaitForOther;
      m_sink.send(request.options.run, request.id, request.options.node,
                  trace::RequestDeferred{.reason = waits ? "another request is computing the same blocks"
                                                         : "not enough free blocks while others run",
                                         .waitFor = refusal->waitFor});
    }
    return refusal->reason == cache::Refusal::Reason::WaitForOther;
  }

  const auto& admission = std::get<cache::Admission>(answer);
  for (const cache::BlockCopy& copy : admission.copies) m_computation.copyBlock(copy);
  m_cache.copied(request.id);
  request.computed.clear();
  for (const cache::SegmentBlocks& segment : admission.segments)
    request.computed.push_back(segment.computeFrom);
  request.state = Request::State::Prefill;
  m_listener.onAdmitted(request.id, admission);
  return true;
}

void Scheduler::collectDecodes(Pass& pass) {
  for (const auto& owned : m_requests) {
    Request& request = *owned;
    if (request.state != Request::State::Decode || pass.rows() >= m_rowsPerPass) continue;
    const std::uint32_t segment = request.lastSegment();
    const cache::Slot slot = m_cache.append(request.id, request.generated.back());
    if (slot.copy) {
      m_computation.copyBlock(*slot.copy);
      m_cache.copied(request.id);
    }
    addRows(pass, request, segment, request.computed[segment], 1);
    pass.parts.back().decode = true;
  }
}

void Scheduler::collectPrefills(Pass& pass) {
  for (const auto& owned : m_requests) {
    Request& request = *owned;
    if (request.state != Request::State::Prefill) continue;
    while (request.segment < request.table.segments.size() && pass.rows() < m_rowsPerPass) {
      const std::int32_t length = request.table.segments[request.segment].length();
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
      addRows(pass, request, request.segment, begin, std::min(length - begin, m_rowsPerPass - pass.rows()));
    }
    if (pass.rows() >= m_rowsPerPass) break;
  }
}

void Scheduler::addRows(Pass& pass, Request& request, std::uint32_t segment, std::int32_t begin,
                        std::int32_t count) {
  const layout::Segment& source = request.table.segments[segment];
  const std::vector<BlockId>& blocks = m_cache.blocks(request.id, segment).blocks;
  const std::int32_t blockSize = m_cache.config().blockSize;
  const std::int64_t firstRow = pass.rows();

  Pass::Part part{.request = &request, .segment = segment, .begin = begin, .count = count};
  for (std::int32_t j = begin; j < begin + count; ++j) {
    const std::int32_t prompt = source.length();
    pass.batch.tokens.push_back(j < prompt ? source.tokens[static_cast<std::size_t>(j)]
                                           : request.generated[static_cast<std::size_t>(j - prompt)]);
    pass.batch.localIndices.push_back(j);
    pass.batch.slots.push_back(std::int64_t{blocks[static_cast<std::size_t>(j / blockSize)]} * blockSize +
                               j % blockSize);
    const bool last = segment == request.lastSegment() && j + 1 >= prompt;
    part.drawn = last && request.options.maxNewTokens > 0;
    if (last || request.options.everyLogit) {
      if (part.firstLogit < 0) part.firstLogit = static_cast<std::int32_t>(pass.batch.logitRows.size());
      ++part.logitCount;
      pass.batch.logitRows.push_back(static_cast<std::int32_t>(firstRow) + j - begin);
    }
  }
  pass.parts.push_back(part);

  if (request.options.observedLayers.empty()) {
    addRun(pass, request, segment, begin, count, firstRow);
    return;
  }
  // Single keys only where they are not too many: their number grows with the square of the tokens.
  const bool singleKeys =
      request.options.observeRows && request.table.tokenCount() <= kMostTokensForSingleKeys;
  // One run a query block (or row), so that the backend's sums are the ones that are shown.
  for (std::int32_t j = begin; j < begin + count;) {
    const std::int32_t blockEnd = (j / blockSize + 1) * blockSize;
    const std::int32_t next = request.options.observeRows ? j + 1 : std::min(blockEnd, begin + count);
    pass.observed.push_back({.run = static_cast<std::uint32_t>(pass.batch.runs.size()),
                             .part = pass.parts.size() - 1,
                             .begin = j,
                             .count = next - j,
                             .keySpan = singleKeys ? 1 : 0});
    addRun(pass, request, segment, j, next - j, firstRow + j - begin);
    j = next;
  }
}

void Scheduler::addRun(Pass& pass, const Request& request, std::uint32_t segment, std::int32_t begin,
                       std::int32_t count, std::int64_t firstRow) {
  const layout::Segment& source = request.table.segments[segment];
  compute::QueryRun& run = pass.batch.runs.emplace_back();
  run.firstRow = firstRow;
  run.rowCount = count;
  run.firstLocal = begin;
  run.base = source.base;
  for (const std::uint32_t seen : source.sees) {
    const layout::Segment& other = request.table.segments[seen];
    run.keys.push_back({.blocks = m_cache.blocks(request.id, seen).blocks,
                        .begin = other.visibleBegin,
                        .end = other.length(),
                        .base = other.base,
                        .causal = false});
  }
  run.keys.push_back({.blocks = m_cache.blocks(request.id, segment).blocks,
                      .begin = 0,
                      .end = begin + count,
                      .base = source.base,
                      .causal = true});
}

void Scheduler::finishPass(Pass& pass, const model::ForwardResult& result) {
  const std::int32_t blockSize = m_cache.config().blockSize;
  for (const Pass::Part& part : pass.parts) {
    const std::int32_t end = part.begin + part.count;
    part.request->computed[part.segment] = end;
    // A growing tail is stored when its block is full and once more at the end, not token by token.
    if (!part.decode || end % blockSize == 0) m_cache.computed(part.request->id, part.segment, end);
  }
  reportMass(pass, result);

  const auto vocabulary = static_cast<std::size_t>(m_computation.vocabularySize());
  const std::vector<SampledToken> tokens = drawTokens(pass, result);
  auto nextToken = tokens.begin();
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
      for (std::int32_t i = 0; i < part.logitCount; ++i) m_listener.onLogits(request.id, logitsOf(i));
      const std::int32_t length = request.table.segments.back().length();
      if (part.segment != request.lastSegment() || part.begin + part.count < length) continue;
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
}

void Scheduler::reportMass(const Pass& pass, const model::ForwardResult& result) {
  for (const model::LayerMass& layer : result.mass) {
    for (std::size_t i = 0; i < layer.runs.size(); ++i) {
      const ObservedRun& observed = pass.observed[i];
      const Pass::Part& part = pass.parts[observed.part];
      const RequestOptions& options = part.request->options;
      if (std::find(options.observedLayers.begin(), options.observedLayers.end(), layer.layer) ==
          options.observedLayers.end()) {
        continue;
      }
      m_sink.send(options.run, part.request->id, options.node,
                  massEvent(layer.layer, part.segment, part.request->table.segments[part.segment].sees,
                            observed, m_cache.config().blockSize, options.observeRows || part.decode,
                            m_computation.heads(), layer.runs[i]));
    }
  }
}

std::vector<SampledToken> Scheduler::drawTokens(const Pass& pass, const model::ForwardResult& result) {
  const auto vocabulary = static_cast<std::size_t>(m_computation.vocabularySize());
  std::vector<compute::SamplingRow> rows;
  std::vector<std::int32_t> most;
  for (const Pass::Part& part : pass.parts) {
    if (!part.drawn) continue;
    const auto row = static_cast<std::size_t>(part.firstLogit + part.logitCount - 1);
    rows.push_back({.logits = std::span<const float>(result.logits).subspan(row * vocabulary, vocabulary),
                    .settings = part.request->options.sampling,
                    .index = part.request->generated.size()});
    most.push_back(part.request->options.maxNewTokens);
  }
  std::vector<SampledToken> tokens(rows.size());
  m_computation.draw(rows, most, tokens);
  return tokens;
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
  const bool admitted = request.state == Request::State::Prefill || request.state == Request::State::Decode;
  if (admitted) {
    const std::uint32_t last = request.lastSegment();
    if (request.state == Request::State::Decode) m_cache.computed(request.id, last, request.computed[last]);
    m_cache.finish(request.id);
  }
  request.state = Request::State::Ended;
  ++m_endings;
  m_listener.onFinished(request.id, outcome);
}

void Scheduler::fail(Request& request, const Error& error) {
  const bool admitted = request.state == Request::State::Prefill || request.state == Request::State::Decode;
  if (admitted) m_cache.finish(request.id);
  request.state = Request::State::Ended;
  ++m_endings;
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
          .found = "a prompt of " + std::to_string(request.table.tokenCount()) + " tokens and up to " +
                   std::to_string(request.options.maxNewTokens) + " new ones, which needs " +
                   std::to_string(refusal.neededBlocks) + " blocks of " + std::to_string(blockSize),
          .expected = "at most the " + std::to_string(refusal.availableBlocks) +
                      " blocks of the pool: " + std::to_string(missing) + " blocks (about " +
                      std::to_string(missing * blockSize) + " tokens) too many"};
}

}  // namespace spanscope::run
