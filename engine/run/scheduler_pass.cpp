// SPDX-License-Identifier: GPL-3.0-or-later
// Chooses the rows of a forward pass and the keys that these rows read. Reports the results of the forward
// pass to the trace.
#include "engine/run/scheduler_pass.h"

#include "engine/run/computation.h"
#include "engine/run/request_options.h"

#include <algorithm>
#include <cmath>
#include <utility>

namespace spanscope::run {

void Scheduler::collectDecodes(Pass& pass) {
  std::vector<Request*> chosen;
  for (const auto& owned : m_requests) {
    Request& request = *owned;
    const std::size_t rows = static_cast<std::size_t>(pass.rows()) + chosen.size();
    if (request.state != Request::State::Decode || rows >= static_cast<std::size_t>(m_rowsPerPass)) continue;
    if (request.options.team) {
      const std::vector<Request*> next = nextOfTeam(request);
      chosen.insert(chosen.end(), next.begin(), next.end());
    } else if (makeRoom(request, request.generated.back())) {
      chosen.push_back(&request);
    }
  }
  // Some requests may have been preempted since they were chosen.
  for (Request* each : chosen) {
    if (each->state == Request::State::Decode && goesOn(*each))
      addRows(pass, *each, each->lastSegment(), each->computed.back(), 1);
  }
}

/// Returns the members of a team with a row in the team's next step. Each has a slot for that row. The rows
/// may exceed the remaining rows of the forward pass, because each member reads the rows of the others. Empty
/// if a member must wait. Also empty for every member except the first, which represents all members.
std::vector<Scheduler::Request*> Scheduler::nextOfTeam(Request& member) {
  const Team team(m_requests, member);
  if (team.members().front() != &member || !team.isReady()) return {};
  if (!member.isReported && member.options.given.empty()) {
    trace::TeamFormed event;
    for (const Request* each : team.members()) event.requests.push_back(each->id);
    m_sink.send(member.options.run, member.id, member.options.node, std::move(event));
  }
  member.isReported = true;
  std::vector<Request*> going;
  const policy::AnswerRows& answer = *member.options.rows.answer;
  for (const std::size_t index : answer.next(answersOf(team.members()))) {
    Request* const each = team.members()[index];
    // When the last answer of a team ends, all members end.
    if (each->state != Request::State::Decode) return {};
    const std::int32_t row = each->repliedRows();
    // An answer that ends here changes what later answers attend to.
    const std::int64_t position = answer.positionOf(answersOf(team.members()), index, row);
    if (each->options.given.empty() && position >= each->options.team->positions) {
      end(*each, trace::StepOutcome::ContextLimit);
      continue;
    }
    const bool hasRoom = each->placed > each->generatedFrom() + row;
    if (!hasRoom && !makeRoom(*each, each->generated[static_cast<std::size_t>(row)])) return {};
    if (!hasRoom) ++each->placed;
    going.push_back(each);
  }
  return going;
}

void Scheduler::collectPrefills(Pass& pass) {
  for (const auto& owned : m_requests) {
    Request& request = *owned;
    if (request.state != Request::State::Prefill) continue;
    while (request.prefillPlace < request.prefillOrder.size() && pass.rows() < m_rowsPerPass) {
      const std::uint32_t segment = request.prefillOrder[request.prefillPlace];
      const std::int32_t length = request.prefillLength(segment);
      // Rows of the segment that are already in this forward pass count as computed for later rows.
      std::int32_t begin = request.computed[segment];
      if (!pass.parts.empty() && pass.parts.back().request == &request &&
          pass.parts.back().segment == segment) {
        begin = pass.parts.back().begin + pass.parts.back().count;
      }
      if (begin >= length) {
        ++request.prefillPlace;
        continue;
      }
      if (request.options.rows.isJoint(segment) && begin == 0) {
        // The source of a copy must be computed before the forward pass begins. A forward pass is narrowed
        // for one request only.
        const bool isPassFree = !pass.joint && std::ranges::none_of(pass.parts, [&](const Pass::Part& part) {
          return part.request == &request;
        });
        if (isPassFree) addJoint(pass, request);
        break;
      }
      // Recomputed rows are an entry of their own.
      const std::int32_t repeated = request.repeatedEnd(segment);
      const std::int32_t end = begin < repeated ? std::min(repeated, length) : length;
      addRows(pass, request, segment, begin, std::min(end - begin, m_rowsPerPass - pass.rows()));
    }
    if (pass.rows() >= m_rowsPerPass) break;
  }
}

/// Adds all joint segments of the request. The added rows may exceed the remaining rows of the forward pass,
/// because rows are chosen among all rows of the segments.
void Scheduler::addJoint(Pass& pass, Request& request) {
  pass.joint = Pass::Joint{.request = &request, .copies = {}};
  std::vector<cache::BlockCopy> copies;
  for (std::uint32_t segment = 0; segment <= request.lastSegment(); ++segment) {
    if (!request.options.rows.isJoint(segment)) continue;
    if (request.options.rows.copyOf(segment)) {
      addCopy(pass, request, segment, copies);
      continue;
    }
    const std::int32_t length = request.prefillLength(segment);
    const std::int32_t repeated = std::min(request.repeatedEnd(segment), length);
    if (repeated > 0) addRows(pass, request, segment, 0, repeated);
    if (repeated < length) addRows(pass, request, segment, repeated, length - repeated);
  }
  m_computation.copyBlocks(copies);
  request.prefillPlace = static_cast<std::uint32_t>(request.prefillOrder.size()) - 1;
}

/// Adds the visible rows of a segment that begins as a copy, and the blocks to be copied.
void Scheduler::addCopy(Pass& pass, Request& request, std::uint32_t segment,
                        std::vector<cache::BlockCopy>& copies) {
  const std::int32_t blockSize = m_cache.config().blockSize;
  const layout::Segment& source = request.table.segments[segment];
  const std::vector<BlockId>& from = m_cache.blocks(request.id, *request.options.rows.copyOf(segment)).blocks;
  const std::vector<BlockId>& to = m_cache.blocks(request.id, segment).blocks;
  for (std::size_t block = 0; block < to.size(); ++block) {
    const std::int32_t begin = static_cast<std::int32_t>(block) * blockSize;
    copies.push_back({from[block], to[block], std::min(blockSize, source.length() - begin)});
    m_sink.send(request.options.run, request.id, source.node,
                trace::BlockCopied{from[block], to[block], copies.back().slots});
  }
  const std::int32_t first = source.visibleBegin;
  const std::int32_t count = source.length() - first;
  if (count == 0) return;
  const std::int64_t firstRow = pass.rows();
  for (std::int32_t j = first; j < source.length(); ++j)
    addRow(pass, source.tokens[static_cast<std::size_t>(j)], j, to);
  pass.joint->copies.push_back({.run = pass.batch.runs.size(),
                                .part = pass.parts.size(),
                                .group = request.options.rows.segments[segment].group});
  pass.parts.push_back(
      {.request = &request, .segment = segment, .begin = first, .count = count, .repeated = true});
  addRun(pass, request, segment, first, count, firstRow);
}

/// Sets for the whole forward pass which rows remain in which layers. All rows remain except rows of copies.
/// The compute plan sets how many rows of copies remain.
void Scheduler::narrow(Pass& pass) {
  if (!pass.joint) return;
  const policy::ComputePlan& plan = pass.joint->request->options.rows;
  pass.batch.narrowedBy = plan.comparedPart;
  for (const policy::Narrowing& narrowing : plan.narrowings) {
    std::vector<compute::RowGroup>& groups = pass.batch.narrowings.emplace_back();
    std::optional<std::uint32_t> group;  // group of the run before
    auto copy = pass.joint->copies.begin();
    for (std::size_t run = 0; run < pass.batch.runs.size(); ++run) {
      const bool isCopy = copy != pass.joint->copies.end() && copy->run == run;
      const std::optional<std::uint32_t> own = isCopy ? std::optional((copy++)->group) : std::nullopt;
      if (run == 0 || own != group) groups.push_back({.runs = 0, .kept = own ? narrowing.kept[*own] : 0});
      ++groups.back().runs;
      if (!own) groups.back().kept += pass.batch.runs[run].rowCount;
      group = own;
    }
    pass.batch.narrowingLayers.push_back(narrowing.layer);
  }
}

/// Puts a row into the forward pass. `blocks`: the blocks of the row's segment.
void Scheduler::addRow(Pass& pass, TokenId token, std::int32_t local,
                       const std::vector<BlockId>& blocks) const {
  const std::int32_t blockSize = m_cache.config().blockSize;
  pass.batch.tokens.push_back(token);
  pass.batch.localIndices.push_back(local);
  pass.batch.slots.push_back(std::int64_t{blocks[static_cast<std::size_t>(local / blockSize)]} * blockSize +
                             local % blockSize);
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
    addRow(pass,
           j < prompt ? source.tokens[static_cast<std::size_t>(j)]
                      : request.generated[static_cast<std::size_t>(j - prompt)],
           j, blocks);
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
  const bool reports = (part.logitCount > 0 && request.options.logits != LogitReport::None) ||
                       (part.drawn && (request.options.alternatives > 0 || request.barsEnd()));
  pass.batch.logitsWanted = pass.batch.logitsWanted || reports;
  if (part.drawn) {
    pass.batch.draws.push_back({.logits = part.firstLogit + part.logitCount - 1,
                                .settings = request.options.sampling,
                                .index = request.generated.size()});
    pass.mostTokens.push_back(request.options.maxNewTokens);
  }
  pass.parts.push_back(part);

  // Recomputed rows were already reported.
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
                    .answer = drawsFrom ? static_cast<std::int32_t>(request.generated.size()) : -1});
    addRun(pass, request, segment, from, to - from, firstRow + from - begin);
  };
  if (request.options.replay) {
    const bool isLast = segment == request.lastSegment();
    const std::int32_t first = isLast ? std::clamp(request.options.replay->firstRow, begin, end) : end;
    if (first > begin) addRun(pass, request, segment, begin, first - begin, firstRow);
    const std::int64_t observed =
        std::int64_t{request.options.replay->firstRow} + request.options.replay->observedRows;
    const auto observedEnd = static_cast<std::int32_t>(std::clamp<std::int64_t>(observed, first, end));
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
  // One run per query block or row. The views show the backend's sums over each run.
  for (std::int32_t j = begin; j < end;) {
    const std::int32_t blockEnd = (j / blockSize + 1) * blockSize;
    std::int32_t next = request.options.observeRows ? j + 1 : std::min(blockEnd, end);
    // The row from which the first token is sampled is also observed alone, and is reported with its block.
    const bool drawsFrom = segment == request.lastSegment() && next == length;
    if (drawsFrom && next - j > 1) --next;
    observe(j, next, !request.options.observeRows && j > begin && j % blockSize != 0);
    j = next;
  }
}

/// Marks the next run of the forward pass as observed.
void Scheduler::addObservedRun(Pass& pass, const Request& request, ObservedRun run) {
  // Single keys are observed only in short prompts, because the data grow with the square of the tokens.
  const bool singleKeys = request.options.replay ? request.options.replay->singleKeys
                                                 : request.options.observeRows &&
                                                       request.table.tokenCount() <= kMostTokensForSingleKeys;
  run.run = static_cast<std::uint32_t>(pass.batch.runs.size());
  run.part = pass.parts.size() - 1;
  run.tellsParts =
      run.answer >= 0 && !request.options.replay && seesSeveralParts(request.table, request.lastSegment());
  run.onlyForParts = run.tellsParts && !singleKeys;
  run.keySpan = singleKeys || run.tellsParts ? 1 : 0;
  pass.observed.push_back(run);
}

void Scheduler::addRun(Pass& pass, const Request& request, std::uint32_t segment, std::int32_t begin,
                       std::int32_t count, std::int64_t firstRow) {
  const layout::Segment& source = request.table.segments[segment];
  const std::int32_t generatedFrom = request.generatedFrom();
  if (request.readsAsAnswer(segment, begin + count - 1) && begin < generatedFrom) {
    const std::int32_t own = generatedFrom - begin;
    addRun(pass, request, segment, begin, own, firstRow);
    addRun(pass, request, segment, generatedFrom, count - own, firstRow + own);
    return;
  }
  compute::QueryRun& run = pass.batch.runs.emplace_back();
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
  if (request.readsAsAnswer(segment, begin)) {
    const AnswersInStep inStep = answersInStepWith(request);
    request.options.rows.answer->addKeys(run, inStep.answers, inStep.own, begin - generatedFrom, count);
    return;
  }
  run.keys.push_back({.blocks = m_cache.blocks(request.id, segment).blocks,
                      .begin = request.options.rows.copyOf(segment) ? source.visibleBegin : 0,
                      .end = begin + count,
                      .base = source.base,
                      .causal = true});
}

policy::Answer Scheduler::answerOf(const Request& request) const {
  const bool hasBlocks = request.running();
  return {.request = request.id,
          .table = &request.table,
          .blocks = hasBlocks ? &m_cache.blocks(request.id, request.lastSegment()).blocks : nullptr,
          .from = request.generatedFrom(),
          .computed = hasBlocks ? request.repliedRows() : 0,
          .wanted = request.wantedRows()};
}

std::vector<policy::Answer> Scheduler::answersOf(const std::vector<Request*>& members) const {
  std::vector<policy::Answer> answers;
  for (const Request* each : members) answers.push_back(answerOf(*each));
  return answers;
}

/// Returns the answers that are generated together with the answer of the request. Without a team, that
/// answer is alone.
Scheduler::AnswersInStep Scheduler::answersInStepWith(const Request& request) const {
  if (!request.options.team) return {.answers = {answerOf(request)}, .own = 0};
  const Team team(m_requests, request);
  const auto own = std::ranges::find(team.members(), &request);
  return {.answers = answersOf(team.members()),
          .own = static_cast<std::size_t>(own - team.members().begin())};
}

// Reports of a computed forward pass to the trace.

/// Reports which rows of copies were computed in all layers.
void Scheduler::reportCopies(const Pass& pass, const model::ForwardResult& result) {
  if (!pass.joint) return;
  const Request& request = *pass.joint->request;
  trace::TokensRecomputed event{.layer = request.options.rows.checkLayer, .tokens = 0, .segments = {}};
  auto kept = result.keptRows.begin();
  for (const Pass::Copy& copy : pass.joint->copies) {
    const Pass::Part& part = pass.parts[copy.part];
    const std::int64_t firstRow = pass.batch.runs[copy.run].firstRow;
    event.tokens += part.count;
    trace::RecomputedTokens own{.segment = part.segment, .tokens = {}};
    for (std::int32_t j = 0; j < part.count; ++j) {
      const std::int64_t row = firstRow + j;
      while (kept != result.keptRows.end() && *kept < row) ++kept;
      const bool isKept = pass.batch.narrowings.empty() || (kept != result.keptRows.end() && *kept == row);
      if (isKept) own.tokens.push_back(part.begin + j);
    }
    if (!own.tokens.empty()) event.segments.push_back(std::move(own));
  }
  m_sink.send(request.options.run, request.id, request.options.node, std::move(event));
}

/// If the policy chooses the keys of a row, the attention events have one range for the row's own segment.
/// The policy itself reports the other ranges of such a row.
void Scheduler::reportAnswerMass(const Pass& pass, model::ForwardResult& result) const {
  if (result.mass.empty()) return;
  for (std::size_t i = 0; i < pass.observed.size(); ++i) {
    const ObservedRun& observed = pass.observed[i];
    const Request& request = *pass.parts[observed.part].request;
    if (!request.readsAsAnswer(pass.parts[observed.part].segment, observed.begin)) continue;
    const policy::AnswerRows& answer = *request.options.rows.answer;
    const std::size_t sees = request.table.segments.back().sees.size();
    const auto& asked = request.options.observedLayers;
    std::vector<double> sums;
    double rows = 0;
    for (model::LayerMass& layer : result.mass) {
      const std::vector<double> own = answer.joinMass(layer.runs[i], sees);
      if (std::ranges::find(asked, layer.layer) == asked.end()) continue;
      sums.resize(own.size());
      for (std::size_t range = 0; range < own.size(); ++range) sums[range] += own[range];
      rows += m_computation.heads();
    }
    if (request.options.replay || observed.answer < 0 || rows == 0) continue;
    std::vector<float> shares;
    for (const double sum : sums) shares.push_back(static_cast<float>(sum / rows));
    const AnswersInStep inStep = answersInStepWith(request);
    if (auto event = answer.report(observed.answer, inStep.answers, inStep.own, shares))
      m_sink.send(request.options.run, request.id, request.options.node, std::move(*event));
  }
}

/// Reports the attention to sections of the prompt, for which single keys were requested. Then the mass of
/// these rows is added up by key block, like the mass of all other rows. With an explicit request for single
/// keys, the mass stays by key.
void Scheduler::reportPartMass(const Pass& pass, model::ForwardResult& result) {
  if (result.mass.empty()) return;
  for (std::size_t i = 0; i < pass.observed.size(); ++i) {
    if (!pass.observed[i].tellsParts) continue;
    const Pass::Part& part = pass.parts[pass.observed[i].part];
    const RequestOptions& options = part.request->options;
    const QueryPlace place = placeOf(*part.request, part.segment);
    m_sink.send(
        options.run, part.request->id, options.node,
        partAttention(place, {.rows = pass.observed[i], .first = i}, options.observedLayers, result.mass));
    if (!pass.observed[i].onlyForParts) continue;
    for (model::LayerMass& layer : result.mass) layer.runs[i] = byBlock(layer.runs[i], place.blockSize);
  }
}

void Scheduler::reportMass(const Pass& pass, const model::ForwardResult& result) {
  if (result.mass.empty()) return;
  std::vector<ObservedRows> observed;
  for (std::size_t i = 0; i < pass.observed.size(); ++i) {
    if (pass.observed[i].joinsPrevious) continue;
    ObservedRows rows{.rows = pass.observed[i], .first = i};
    if (i + 1 < pass.observed.size() && pass.observed[i + 1].joinsPrevious) {
      rows.rows.count += pass.observed[i + 1].count;
      rows.number = 2;
    }
    observed.push_back(rows);
  }
  for (const model::LayerMass& layer : result.mass) {
    for (const ObservedRows& rows : observed) {
      const Pass::Part& part = pass.parts[rows.rows.part];
      const RequestOptions& options = part.request->options;
      const bool isAsked =
          std::ranges::find(options.observedLayers, layer.layer) != options.observedLayers.end();
      const bool isReported = options.replay || options.attentionDetail == AttentionDetail::Heads;
      if (!isReported || !isAsked) continue;
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
  for (const ObservedRows& rows : observed) {
    if (pass.parts[rows.rows.part].request->options.replay) continue;
    reportRows(pass, result, rows);
    // The row from which a token is sampled is also reported alone.
    const std::size_t last = rows.first + rows.number - 1;
    if (rows.number > 1 && pass.observed[last].answer >= 0) {
      reportRows(pass, result, {.rows = pass.observed[last], .first = last});
    }
  }
}

void Scheduler::reportRows(const Pass& pass, const model::ForwardResult& result,
                           const ObservedRows& observed) {
  const Pass::Part& part = pass.parts[observed.rows.part];
  const RequestOptions& options = part.request->options;
  const bool singleRow = options.observeRows || observed.rows.answer >= 0;
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
          .blockSize = m_cache.config().blockSize,
          .table = &request.table};
}

}  // namespace spanscope::run
