// SPDX-License-Identifier: GPL-3.0-or-later
// How the tokens of a prompt in the window's trace get their keys and values.
#pragma once

#include "engine/metrics/token_account.h"
#include "ui/session/trace_store.h"
#include "ui/session/view_input.h"

#include <QStringList>

#include <cstddef>
#include <cstdint>
#include <vector>

namespace spanscope::ui {

using metrics::accountOf;
using metrics::FoundTokens;
using metrics::foundTokens;
using metrics::PromptAccount;
using metrics::TokenAccount;

/// What an account says beside found and computed tokens, a few words each: "12 recomputed", "30 padded",
/// "8 cropped". Counts of 0 are left out.
QStringList accountWords(const TokenAccount& account);

/// The account of a request of whose segments nothing is known: what its sums say.
PromptAccount toldAccount(const trace::RequestState& request);

/// The account of a request, range by range. The trace must outlive it, and must not be asked for the state
/// at another position meanwhile.
class RequestAccount {
 public:
  RequestAccount(const ViewInput& input, RequestId request);
  /// As the first `position` events of a trace tell it.
  RequestAccount(const TraceStore& trace, std::size_t position, RequestId request);

  /// Tokens [begin, end) of a segment. Those that were not found count as computed, whether a pass has
  /// computed them yet or not.
  TokenAccount of(std::uint32_t segment, std::int64_t begin, std::int64_t end) const;
  /// The local tokens of a segment that the policy computed again, ascending. If a request was computed twice
  /// because of a preemption, the last time counts.
  std::vector<std::int32_t> again(std::uint32_t segment) const { return m_tokens.again(segment); }
  /// Number of tokens of a message or reply that the layout cropped.
  std::int64_t cropped(const NodePath& node) const { return m_tokens.cropped(node); }
  /// The tokens that stand in the prompt, as of() counts. All are 0 until the request is admitted.
  TokenAccount prompt() const;
  /// See metrics::PromptAccount::beside.
  std::int64_t beside() const;

  /// The account of what was done: what no pass has computed is unread.
  PromptAccount done();
  /// How many of tokens [begin, end) of a segment were neither found nor computed.
  std::int64_t unread(std::uint32_t segment, std::int64_t begin, std::int64_t end);

 private:
  void readPasses();

  const TraceStore& m_trace;
  std::size_t m_position;
  RequestId m_id;
  const trace::RequestState* m_request = nullptr;  ///< null: it is not known
  metrics::RequestTokens m_tokens;
  bool m_hasPasses = false;
};

}  // namespace spanscope::ui
