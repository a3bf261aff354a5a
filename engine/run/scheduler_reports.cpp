// SPDX-License-Identifier: GPL-3.0-or-later
// What the trace is told of a pass that was computed.
#include "engine/run/attention_detail.h"
#include "engine/run/computation.h"
#include "engine/run/request_listener.h"
#include "engine/run/request_options.h"
#include "engine/run/scheduled_request.h"
#include "engine/run/scheduler.h"
#include "engine/run/scheduler_pass.h"

#include <algorithm>
#include <utility>

namespace spanscope::run {

/// Tells which rows of copies were computed in all layers.
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

/// For rows that read in the way of their policy, the events on attention tell the row's own segment as one
/// range. The policy itself tells what else such a row reads.
void Scheduler::reportReplyMass(const Pass& pass, model::ForwardResult& result) const {
  if (result.mass.empty()) return;
  for (std::size_t i = 0; i < pass.observed.size(); ++i) {
    const ObservedRun& observed = pass.observed[i];
    const Request& request = *pass.parts[observed.part].request;
    if (!request.readsAsReply(pass.parts[observed.part].segment, observed.begin)) continue;
    const policy::ReplyRows& reply = *request.options.rows.reply;
    const std::size_t sees = request.table.segments.back().sees.size();
    const auto& asked = request.options.observedLayers;
    std::vector<double> sums;
    double rows = 0;
    for (model::LayerMass& layer : result.mass) {
      const std::vector<double> own = reply.joinMass(layer.runs[i], sees);
      if (std::find(asked.begin(), asked.end(), layer.layer) == asked.end()) continue;
      sums.resize(own.size());
      for (std::size_t range = 0; range < own.size(); ++range) sums[range] += own[range];
      rows += m_computation.heads();
    }
    if (request.options.replay || observed.reply < 0 || rows == 0) continue;
    std::vector<float> shares;
    for (const double sum : sums) shares.push_back(static_cast<float>(sum / rows));
    const RepliesInStep inStep = repliesInStepWith(request);
    if (auto event = reply.tell(observed.reply, inStep.replies, inStep.own, shares))
      m_sink.send(request.options.run, request.id, request.options.node, std::move(*event));
  }
}

/// Tells the attention on parts of the prompt, for which single keys were asked for. From then on the mass of
/// these rows is by key block, as that of all others, unless single keys were asked for anyway.
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
    // The row from which a token is drawn is also told by itself.
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
          .blockSize = m_cache.config().blockSize,
          .table = &request.table};
}

}  // namespace spanscope::run
