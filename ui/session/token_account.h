// SPDX-License-Identifier: GPL-3.0-or-later
// Counts how the tokens of a prompt in the window's trace get their keys and values.
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

/// Texts of the other counts above 0, without cached and computed tokens: "12 recomputed", "30 padding", "8
/// cropped".
QStringList accountWords(const TokenAccount& account);

/// The account of a request whose segments are not reported. The sums of the account have the counts.
PromptAccount reportedAccount(const trace::RequestState& request);

/// The account of a request, range by range. The trace must outlive this object. While this object exists, do
/// not request the trace's state at another position.
class RequestAccount {
 public:
  RequestAccount(const ViewInput& input, RequestId request);
  /// Uses the first `position` events of the trace.
  RequestAccount(const TraceStore& trace, std::size_t position, RequestId request);

  /// Counts tokens [begin, end) of a segment. Misses count as computed, even before a forward pass computes
  /// these tokens.
  TokenAccount of(std::uint32_t segment, std::int64_t begin, std::int64_t end) const;
  /// The positions of the recomputed tokens of a segment, ascending. After a preemption, only the last
  /// recomputation counts.
  std::vector<std::int32_t> again(std::uint32_t segment) const { return m_tokens.again(segment); }
  /// Number of tokens of a message or answer that the layout cropped.
  std::int64_t cropped(const NodePath& node) const { return m_tokens.cropped(node); }
  /// Counts all visible tokens, as of() does. All counts are 0 until the request is admitted.
  TokenAccount prompt() const;
  /// See metrics::PromptAccount::beside.
  std::int64_t beside() const;

  /// The account so far: misses that no forward pass has computed are unread.
  PromptAccount done();
  /// Number of tokens [begin, end) of a segment that were neither reused nor computed.
  std::int64_t unread(std::uint32_t segment, std::int64_t begin, std::int64_t end);

 private:
  void readPasses();

  const TraceStore& m_trace;
  std::size_t m_position;
  RequestId m_id;
  const trace::RequestState* m_request = nullptr;  ///< null: the trace does not have the request
  metrics::RequestTokens m_tokens;
  bool m_hasPasses = false;
};

}  // namespace spanscope::ui
