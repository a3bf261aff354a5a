// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "engine/run/finished_reply.h"
#include "engine/run/pair_vectors.h"
#include "engine/trace/sight.h"
#include "engine/workbench/service/work.h"

#include <stop_token>

namespace spanscope::workbench {

/// Computes the query of one token of a prompt or its reply and the key of another one, on the model of the
/// session that gave the reply (run::pairVectors). That session's cache and trace stay as they are.
class TurnWork final : public Work {
 public:
  TurnWork(run::FinishedReply reply, trace::TokenPlace row, trace::TokenPlace key);

  Begun begin(Workplace& place, const std::stop_token& stop) override;

  /// What was computed, once the work has ended.
  const run::PairVectors& found() const { return m_found; }

 private:
  run::FinishedReply m_reply;
  trace::TokenPlace m_row;
  trace::TokenPlace m_key;
  run::PairVectors m_found;
};

}  // namespace spanscope::workbench
