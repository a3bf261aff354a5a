// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "engine/run/finished_reply.h"
#include "engine/workbench/service/work.h"

#include <stop_token>

namespace spanscope::workbench {

/// Computes the attention of a reply again, in the session that gave the reply (Session::beginReplay), beside
/// the runs there. A session has one replay at a time, so that another one waits for it. What it finds is in
/// the events of that session.
class ReplayWork final : public Work {
 public:
  explicit ReplayWork(run::AttentionReplayRequest request);

  Begun begin(Workplace& place, const std::stop_token& stop) override;
  bool canBeginBeside(const Workplace& place) const override;
  bool canPass() const override { return true; }
  /// Throws Failure for a replay that failed or was stopped.
  bool hasEnded(run::Session& session) override;

 private:
  run::AttentionReplayRequest m_request;
};

}  // namespace spanscope::workbench
