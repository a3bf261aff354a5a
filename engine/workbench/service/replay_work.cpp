// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/workbench/service/replay_work.h"

#include "engine/run/session.h"
#include "engine/workbench/service/workplace.h"

#include <utility>

namespace spanscope::workbench {

ReplayWork::ReplayWork(run::AttentionReplayRequest request) : m_request(std::move(request)) {}

std::optional<RunId> ReplayWork::begin(Workplace& place, const std::stop_token& stop) {
  place.sessionOf(m_request.reply.run).replayAttention(m_request, stop);
  return std::nullopt;
}

}  // namespace spanscope::workbench
