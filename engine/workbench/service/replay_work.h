// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "engine/run/finished_reply.h"
#include "engine/workbench/service/work.h"

#include <optional>
#include <stop_token>

namespace spanscope::workbench {

/// Computes the attention of a reply again, in the session that gave the reply (Session::replayAttention).
/// What it finds is in the events of that session.
class ReplayWork final : public Work {
 public:
  explicit ReplayWork(run::AttentionReplayRequest request);

  std::optional<RunId> begin(Workplace& place, const std::stop_token& stop) override;

 private:
  run::AttentionReplayRequest m_request;
};

}  // namespace spanscope::workbench
