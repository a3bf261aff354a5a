// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/workbench/service/replay_work.h"

#include "engine/run/session.h"
#include "engine/workbench/service/workplace.h"

#include <utility>

namespace spanscope::workbench {

ReplayWork::ReplayWork(run::AttentionReplayRequest request) : m_request(std::move(request)) {}

Begun ReplayWork::begin(Workplace& place, const std::stop_token& stop) {
  place.sessionOf(m_request.reply.run).beginReplay(m_request, stop);
  return Begun::GoesOn;
}

bool ReplayWork::canBeginBeside(const Workplace& place) const {
  return !place.openSession().isReplaying();
}

bool ReplayWork::hasEnded(run::Session& session) {
  return session.takeReplay().has_value();
}

}  // namespace spanscope::workbench
