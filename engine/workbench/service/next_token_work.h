// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "engine/base/ids.h"
#include "engine/run/finished_reply.h"
#include "engine/workbench/service/work.h"

#include <cstdint>
#include <optional>
#include <stop_token>
#include <string>
#include <vector>

namespace spanscope::workbench {

/// A token that might have stood at a place of a reply, with its probability under both policies, before
/// temperature and filters.
struct Alternative {
  TokenId token = 0;
  std::string text;  ///< how the token is shown
  double own = 0;    ///< 0 … 1, under the policy of the reply
  double other = 0;  ///< under what it is compared with
};

/// One place of a reply.
struct NextToken {
  TokenId drawn = 0;                      ///< the token that stands there
  std::vector<Alternative> alternatives;  ///< the likeliest of either side and the drawn one, likeliest first
  double divergence = 0;                  ///< KL(other ‖ own) in nats
  TokenId ownBest = 0;
  TokenId otherBest = 0;

  const Alternative* find(TokenId token) const;  ///< nullptr: it is not among them
};

/// Puts a finished reply through the model twice, its tokens given: as its policy has it, and as another one
/// has it or as a full prefill does. The cache of the session is used as Session::replayReply says.
class NextTokenWork final : public Work {
 public:
  /// The likeliest tokens of each side that are told.
  static constexpr std::size_t kMostAlternatives = 6;

  /// `other`: the same visible prompt as another policy has it, with the tokens of `reply`; nothing: a full
  /// prefill.
  NextTokenWork(run::FinishedReply reply, std::optional<run::FinishedReply> other);

  Begun begin(Workplace& place, const std::stop_token& stop) override;

  /// By place of the reply, once the work has ended.
  const std::vector<NextToken>& found() const { return m_found; }

 private:
  run::FinishedReply m_reply;
  std::optional<run::FinishedReply> m_other;
  std::vector<NextToken> m_found;
};

}  // namespace spanscope::workbench
