// SPDX-License-Identifier: GPL-3.0-or-later
// What the trace is told of a pass that was computed.
#include "engine/run/attention_detail.h"
#include "engine/run/computation.h"
#include "engine/run/request_listener.h"
#include "engine/run/request_options.h"
#include "engine/run/scheduled_request.h"
#include "engine/run/scheduler.h"
#include "engine/run/scheduler_pass.h"
#include "engine/run/team.h"

#include <algorithm>
#include <utility>

namespace spanscope::run {

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

}  // namespace spanscope::run
