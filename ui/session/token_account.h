// SPDX-License-Identifier: GPL-3.0-or-later
// How the tokens of a prompt get their keys and values. Every place that says so counts with this.
#pragma once

#include "ui/session/view_input.h"

#include <cstdint>
#include <map>
#include <vector>

namespace spanscope::ui {

/// Numbers of tokens.
struct TokenAccount {
  std::int64_t hit = 0;        ///< found where they stand now
  std::int64_t relocated = 0;  ///< found at another position
  std::int64_t computed = 0;   ///< not found
  /// Computed although they were found, because the policy computes them anew in view of the whole prompt.
  std::int64_t again = 0;
  std::int64_t total() const { return hit + relocated + computed + again; }
  std::int64_t cached() const { return hit + relocated; }
  TokenAccount& operator+=(const TokenAccount& other);
  bool operator==(const TokenAccount&) const = default;
};

/// The tokens that were found in one block of a segment.
struct FoundTokens {
  std::int64_t begin = 0;  ///< index of the first found token within the segment
  std::int64_t count = 0;  ///< number of found tokens from `begin` on
  bool relocated = false;
};
/// Reads a lookup event. `blockSize` is in tokens and at least 1.
FoundTokens foundTokens(const trace::BlockLookedUp& block, std::int64_t blockSize);

/// Tokens [begin, end) of a segment. `found` holds what was found of that segment; `again` holds the local
/// tokens that were computed again, ascending; all others count as computed.
TokenAccount accountOf(const std::vector<FoundTokens>& found, const std::vector<std::int32_t>& again,
                       std::int64_t begin, std::int64_t end);

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
