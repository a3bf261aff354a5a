// SPDX-License-Identifier: GPL-3.0-or-later
// Which rows a pass computes, and which keys they read.
#include "engine/run/attention_detail.h"
#include "engine/run/computation.h"
#include "engine/run/request_listener.h"
#include "engine/run/request_options.h"
#include "engine/run/scheduled_request.h"
#include "engine/run/scheduler.h"
#include "engine/run/scheduler_pass.h"
#include "engine/run/team.h"

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
  // Some may have given way to others since they were chosen.
  for (Request* each : chosen) {
    if (each->state == Request::State::Decode && goesOn(*each))
      addRows(pass, *each, each->lastSegment(), each->computed.back(), 1);
  }
}

/// Of a team, asked by its first member, all that have a row in its next step, each with room for it, be they
/// more than a pass else has rows: each reads what the others have in it. None if somebody has to wait.
std::vector<Scheduler::Request*> Scheduler::nextOfTeam(Request& member) {
  const Team team(m_requests, member);
  if (team.members().front() != &member || !team.isReady()) return {};
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
  const std::int32_t length = request.length(request.segment);
  const std::int32_t repeated = std::min(request.repeatedEnd(request.segment), length);
  if (repeated > 0) addRows(pass, request, request.segment, 0, repeated);
  if (repeated < length) addRows(pass, request, request.segment, repeated, length - repeated);
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

}  // namespace spanscope::run
