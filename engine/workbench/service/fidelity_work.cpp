// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/workbench/service/fidelity_work.h"

#include "engine/experiment/fidelity.h"
#include "engine/run/session.h"
#include "engine/workbench/service/workplace.h"

#include <utility>

namespace spanscope::workbench {

FidelityWork::FidelityWork(std::vector<run::FinishedReply> replies) : m_replies(std::move(replies)) {}

Begun FidelityWork::begin(Workplace& place, const std::stop_token& stop) {
  for (const run::FinishedReply& reply : m_replies) {
    run::Session& session = place.sessionOf(reply.run);
    const ModelBundle& bundle = *place.model();
    const experiment::FidelityModel model{
        .decoder = *bundle.decoder, .backend = *bundle.backend, .tokenizer = bundle.tokenizer.get()};
    const auto progress = [this](double share) {
      m_share = (static_cast<double>(m_measured) + share) / static_cast<double>(m_replies.size());
      tellProgress();
    };
    m_found.push_back(experiment::measureFidelity(session, model, reply, stop, progress));
    place.recorder()->send(reply.run, reply.request, reply.node, m_found.back());
    ++m_measured;
    progress(0);
  }
  return Begun::Done;
}

}  // namespace spanscope::workbench
