// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "engine/run/finished_reply.h"
#include "engine/trace/event.h"
#include "engine/workbench/service/work.h"

#include <atomic>
#include <cstddef>
#include <stop_token>
#include <vector>

namespace spanscope::workbench {

/// Measures how close replies are to a full prefill, one after the other, in the session that gave them
/// (experiment::measureFidelity). What it finds is in the events of that session, also where a later reply
/// cannot be measured.
class FidelityWork final : public Work {
 public:
  /// `replies`: of one session.
  explicit FidelityWork(std::vector<run::FinishedReply> replies);

  Begun begin(Workplace& place, const std::stop_token& stop) override;

  std::size_t replies() const { return m_replies.size(); }
  /// How many of them have been measured.
  std::size_t measured() const { return m_measured; }
  /// What share of all replies is measured, from 0 to 1.
  double share() const { return m_share; }
  /// What was found, reply by reply, once the work has ended.
  const std::vector<trace::FidelityMeasured>& found() const { return m_found; }

 private:
  std::vector<run::FinishedReply> m_replies;
  std::atomic<std::size_t> m_measured = 0;
  std::atomic<double> m_share = 0;
  std::vector<trace::FidelityMeasured> m_found;
};

}  // namespace spanscope::workbench
