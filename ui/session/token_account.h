// SPDX-License-Identifier: GPL-3.0-or-later
// How the tokens of a prompt in the window's trace get their keys and values.
#pragma once

#include "engine/trace/token_account.h"
#include "ui/session/view_input.h"

#include <cstdint>
#include <map>
#include <vector>

namespace spanscope::ui {

using trace::accountOf;
using trace::FoundTokens;
using trace::foundTokens;
using trace::TokenAccount;

/// Local tokens that the policy computed again, ascending, by segment, as the first `input.position` events
/// tell it. If a request was computed twice because of a preemption, the last time counts.
std::map<std::uint32_t, std::vector<std::int32_t>> recomputedTokens(const ViewInput& input,
                                                                    RequestId request);

/// The account of a request, range by range. The input must outlive it.
class RequestAccount {
 public:
  RequestAccount(const ViewInput& input, RequestId request);

  /// Tokens [begin, end) of a segment.
  TokenAccount of(std::uint32_t segment, std::int64_t begin, std::int64_t end);
  /// The tokens that stand in the prompt. All are 0 until the request is admitted.
  TokenAccount prompt();
  /// How many tokens the engine counts besides (trace::RequestState::promptTokens): hidden segments and
  /// hidden beginnings, which stand in nobody's view and only carry what the policy needs.
  std::int64_t beside() const;

 private:
  const ViewInput& m_input;
  const trace::RequestState* m_request = nullptr;  ///< null: it is not known
  std::map<std::uint32_t, std::vector<std::int32_t>> m_again;
  std::map<std::uint32_t, std::vector<FoundTokens>> m_found;  ///< of segments that were asked for
};

}  // namespace spanscope::ui
