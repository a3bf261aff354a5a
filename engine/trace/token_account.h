// SPDX-License-Identifier: GPL-3.0-or-later
// How the tokens of a prompt get their keys and values. Every place that says so counts with this.
#pragma once

#include "engine/base/shared.h"
#include "engine/trace/event.h"

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <utility>
#include <vector>

namespace spanscope::trace {

/// Numbers of tokens. Each token of a prompt is in one of the first four, which sum up to it; the prompt is
/// the chat template's text, with what the layout added and without what it left out.
struct TokenAccount {
  std::int64_t hit = 0;        ///< found where they stand now
  std::int64_t relocated = 0;  ///< found at another position
  std::int64_t computed = 0;   ///< not found
  /// Computed although they were found, because the policy computes them anew in view of the whole prompt.
  std::int64_t again = 0;
  std::int64_t padded = 0;   ///< of all these, what only the layout put there: pads and markers
  std::int64_t cropped = 0;  ///< none of these: tokens of the text that the layout left out of the prompt
  std::int64_t total() const { return hit + relocated + computed + again; }
  std::int64_t cached() const { return hit + relocated; }
  TokenAccount& operator+=(const TokenAccount& other);
  bool operator==(const TokenAccount&) const = default;
};

/// The account of a whole prompt, or of several.
struct PromptAccount {
  /// Of the tokens that stand in the prompt. With `unread` it sums up to the prompt.
  TokenAccount prompt;
  /// Tokens of the prompt that were not found and that no pass has computed: the request was stopped, failed,
  /// or is not done.
  std::int64_t unread = 0;
  /// How many tokens only the policy needs: hidden segments and hidden beginnings, which are masked for the
  /// answer, and tokens of `prompt.computed` that were computed a second time in view of the whole prompt.
  std::int64_t beside = 0;
  std::int64_t total() const { return prompt.total() + unread; }
  /// What the same prompt has in the exact layout.
  std::int64_t text() const { return total() - prompt.padded + prompt.cropped; }
  PromptAccount& operator+=(const PromptAccount& other);
  bool operator==(const PromptAccount&) const = default;
};

/// The tokens that were found in one block of a segment.
struct FoundTokens {
  std::int64_t begin = 0;  ///< index of the first found token within the segment
  std::int64_t count = 0;  ///< number of found tokens from `begin` on
  bool relocated = false;
};
/// Reads a lookup event. `blockSize` is in tokens and at least 1.
FoundTokens foundTokens(const BlockLookedUp& block, std::int64_t blockSize);

/// Tokens [begin, end) of a segment. `found` holds what was found of that segment; `again` holds the local
/// tokens that were computed again, ascending; all others count as computed.
TokenAccount accountOf(const std::vector<FoundTokens>& found, const std::vector<std::int32_t>& again,
                       std::int64_t begin, std::int64_t end);

/// What the events of one request say of the tokens of its segments.
class RequestTokens {
 public:
  /// Tells which segments hold beginnings that are computed once more, in view of the whole prompt (policy
  /// link).
  void take(const SpanTableLaidOut& table) { takeTable(table.segments); }
  void takeTable(std::span<const SegmentInfo> segments);
  /// How many tokens of these segments are such beginnings.
  static std::int64_t linkedTokens(std::span<const SegmentInfo> segments);
  /// What the layout added and left out.
  void take(const LayoutApplied& applied);
  /// Only the first lookup of a block counts: if a request is resumed after a preemption, it finds mostly
  /// what it computed itself. `blockSize` is in tokens and at least 1.
  void take(const BlockLookedUp& block, std::int64_t blockSize);
  /// The last of these events counts.
  void take(const TokensRecomputed& told);
  /// Rows of a pass.
  void take(const BatchEntry& entry);
  /// A prompt was read as a whole when its first token is generated, or its step ends as it should.
  void setRead() { m_isRead = true; }
  bool isRead() const { return m_isRead; }

  /// Tokens [begin, end) of a segment. Those that were not found count as computed, whether a pass has
  /// computed them yet or not. What was cropped belongs to no segment: it counts for the whole prompt only.
  TokenAccount of(std::uint32_t segment, std::int64_t begin, std::int64_t end) const;
  /// The local tokens of a segment that count as computed again, ascending.
  std::vector<std::int32_t> again(std::uint32_t segment) const;
  /// Number of tokens of a message or reply that were cropped.
  std::int64_t cropped(const NodePath& node) const;
  /// How many of tokens [begin, end) were not found and not computed by any pass.
  std::int64_t unread(std::uint32_t segment, std::int64_t begin, std::int64_t end) const;
  /// The tokens that stand in the prompt, as of() counts.
  TokenAccount prompt(std::span<const SegmentInfo> segments) const;
  /// The same, without those that are unread. `promptTokens`: how many the engine counts.
  PromptAccount account(std::span<const SegmentInfo> segments, std::int64_t promptTokens) const;

 private:
  using Ranges = std::vector<std::pair<std::int64_t, std::int64_t>>;  ///< begin and end of local tokens
  struct Segment {
    std::vector<FoundTokens> found;
    std::set<std::int32_t> lookedUp;  ///< virtual blocks
    std::vector<std::int32_t> again;  ///< local tokens, ascending
    Ranges computed;                  ///< in the order of passes
  };
  /// Where the tokens of a segment stand a second time, computed in view of less.
  struct Original {
    std::uint32_t segment = 0;
    std::int64_t shift = 0;   ///< local token j of the segment is token j + shift of the original
    std::int64_t length = 0;  ///< of the segment, in tokens
  };

  Ranges foundIn(std::uint32_t segment) const;
  /// How many of tokens [begin, end) are in none of `known`, but were found in the original of the segment.
  std::int64_t repeated(std::uint32_t segment, const Ranges& known, std::int64_t begin,
                        std::int64_t end) const;

  std::map<std::uint32_t, Segment> m_segments;
  std::map<std::uint32_t, Original> m_originals;
  std::map<std::uint32_t, Ranges> m_padded;
  std::map<NodePath, std::int64_t> m_cropped;
  bool m_isRead = false;
};

/// How many tokens stand in the prompt of these segments.
std::int64_t visibleTokens(std::span<const SegmentInfo> segments);

/// The account of a prompt of which no segments were told: what its admission says of it.
PromptAccount accountOf(const RequestAdmitted& admitted);
/// The admission of a request of which only its metrics were told.
RequestAdmitted admittedBy(const StepMetrics& metrics);

/// The accounts of requests, event by event.
class TokenAccounts {
 public:
  /// `blockSize`: tokens of a block, at least 1, until an event tells the pool.
  explicit TokenAccounts(std::int32_t blockSize = 16) : m_blockSize(blockSize) {}

  /// `request`: Event::request of the payload.
  void take(RequestId request, const Payload& payload);
  /// All are 0 until the request was admitted.
  PromptAccount of(RequestId request) const;
  void forget(RequestId request) { m_requests.erase(request); }

 private:
  struct Request {
    SharedList<SegmentInfo> segments;
    RequestTokens tokens;
    std::optional<RequestAdmitted> admitted;  ///< the first time
  };
  std::int32_t m_blockSize;
  std::map<RequestId, Request> m_requests;
};

}  // namespace spanscope::trace
