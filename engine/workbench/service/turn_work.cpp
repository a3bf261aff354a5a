// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/workbench/service/turn_work.h"

#include "engine/run/session.h"
#include "engine/run/trace_values.h"
#include "engine/workbench/service/workplace.h"

#include <utility>

namespace spanscope::workbench {

TurnWork::TurnWork(run::FinishedReply reply, trace::TokenPlace row, trace::TokenPlace key)
    : m_reply(std::move(reply)), m_row(row), m_key(key) {}

Begun TurnWork::begin(Workplace& place, const std::stop_token& stop) {
  // Throws if the model that gave the reply is not the one that is loaded.
  (void)place.sessionOf(m_reply.run);
  const ModelBundle& bundle = *place.model();
  run::PairRequest request{
      .table = run::spanTableOf(m_reply.segments, bundle.config.vocabularySize), .row = m_row, .key = m_key};
  std::vector<TokenId>& last = request.table.segments.back().tokens;
  last.insert(last.end(), m_reply.tokens.begin(), m_reply.tokens.end());
  m_found = run::pairVectors(*bundle.decoder, *bundle.backend, request, stop);
  return Begun::Done;
}

}  // namespace spanscope::workbench
