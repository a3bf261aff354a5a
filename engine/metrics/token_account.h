// SPDX-License-Identifier: GPL-3.0-or-later
// Counts how the tokens of a prompt get their keys and values, also as predicted with bounds, and the tokens
// that a layout adds to prompts and truncates. Open this file when a count of hits, computed or added tokens
// is wrong.
#pragma once

#include "engine/base/shared.h"
#include "engine/trace/event.h"

#include <cstdint>
#include <limits>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace spanscope::metrics {

/// Numbers of tokens. Each token of a prompt is in exactly one of the first four counts. The prompt includes
/// the tokens that the layout adds. The prompt does not include the tokens that the layout truncates.
struct TokenAccount {
  std::int64_t hit = 0;        ///< cache hits at the stored position
  std::int64_t relocated = 0;  ///< cache hits at another position
  std::int64_t computed = 0;   ///< misses
  /// Cache hits that the policy recomputes, so that they attend to the whole prompt.
  std::int64_t again = 0;
  std::int64_t padding = 0;     ///< padding tokens in the counts above
  std::int64_t delimiters = 0;  ///< delimiter tokens in the counts above
  std::int64_t cropped = 0;     ///< tokens that the layout truncates; the other counts do not include them
  std::int64_t total() const { return hit + relocated + computed + again; }
  std::int64_t cached() const { return hit + relocated; }
  TokenAccount& operator+=(const TokenAccount& other);
  bool operator==(const TokenAccount&) const = default;
};

/// The account of a whole prompt, or of several.
struct PromptAccount {
  /// The visible tokens, except the tokens that `unread` counts.
  TokenAccount prompt;
  /// Misses that no forward pass has computed, because the request was stopped, failed or still runs.
  std::int64_t unread = 0;
  /// Number of tokens that only the policy needs. Such tokens are in hidden segments and hidden beginnings,
  /// to which the answer does not attend. Tokens of `prompt.computed` also count here if the policy
  /// recomputed them.
  std::int64_t beside = 0;
  std::int64_t total() const { return prompt.total() + unread; }
  /// Returns the number of tokens of the same prompt in the exact layout.
  std::int64_t text() const { return total() - prompt.padding - prompt.delimiters + prompt.cropped; }
  PromptAccount& operator+=(const PromptAccount& other);
  bool operator==(const PromptAccount&) const = default;
};

/// The hits in one block of a segment.
struct FoundTokens {
  std::int64_t begin = 0;  ///< index of the first hit within the segment
  std::int64_t count = 0;  ///< number of hits from `begin` on
  bool relocated = false;
};
/// Returns the hits of a lookup event. `blockSize` is in tokens, at least 1.
FoundTokens foundTokens(const trace::BlockLookedUp& block, std::int64_t blockSize);

/// Counts tokens [begin, end) of a segment. The hits in that segment are in `found`.
/// The list `again` has the positions of recomputed tokens, ascending. All other tokens count as computed.
TokenAccount accountOf(const std::vector<FoundTokens>& found, const std::vector<std::int32_t>& again,
                       std::int64_t begin, std::int64_t end);

/// Follows the events of one request and counts the tokens of its segments.
class RequestTokens {
 public:
  /// Finds the segments whose first tokens are recomputed (policy link).
  void take(const trace::SpanTableLaidOut& table) { takeTable(table.segments); }
  void takeTable(std::span<const trace::SegmentInfo> segments);
  /// Returns the number of recomputed first tokens in these segments.
  static std::int64_t linkedTokens(std::span<const trace::SegmentInfo> segments);
  /// Takes the tokens that the layout added and truncated.
  void take(const trace::LayoutApplied& applied);
  /// Takes a lookup. Only the first lookup of a block counts, because a resumed request finds mostly its own
  /// blocks. `blockSize` is in tokens, at least 1.
  void take(const trace::BlockLookedUp& block, std::int64_t blockSize);
  /// Takes the recomputed tokens. Only the last such event counts.
  void take(const trace::TokensRecomputed& recomputed);
  /// Takes the rows of a forward pass.
  void take(const trace::BatchEntry& entry);
  /// Call this at the first generated token, or when the step finishes. The whole prompt is then computed.
  void setRead() { m_isRead = true; }
  bool isRead() const { return m_isRead; }

  /// Counts tokens [begin, end) of a segment. Misses count as computed, even before a forward pass computes
  /// these tokens. Truncated tokens belong to no segment and count only for the whole prompt.
  TokenAccount of(std::uint32_t segment, std::int64_t begin, std::int64_t end) const;
  /// Returns the positions of the recomputed tokens of a segment, ascending.
  std::vector<std::int32_t> again(std::uint32_t segment) const;
  /// Returns the number of truncated tokens of a message or answer.
  std::int64_t cropped(const NodePath& node) const;
  /// Returns the number of misses among tokens [begin, end) that no forward pass has computed.
  std::int64_t unread(std::uint32_t segment, std::int64_t begin, std::int64_t end) const;
  /// Counts all visible tokens, as of() does.
  TokenAccount prompt(std::span<const trace::SegmentInfo> segments) const;
  /// Returns the account of the prompt. Unread tokens are a separate count. `promptTokens` is the engine's
  /// count.
  PromptAccount account(std::span<const trace::SegmentInfo> segments, std::int64_t promptTokens) const;

 private:
  using Ranges = std::vector<std::pair<std::int64_t, std::int64_t>>;  ///< begin and end of local tokens
  struct Segment {
    std::vector<FoundTokens> found;
    std::set<std::int32_t> lookedUp;  ///< virtual blocks
    std::vector<std::int32_t> again;  ///< local tokens, ascending
    Ranges computed;                  ///< in the order of forward passes
  };
  /// Another segment with the same tokens, computed with fewer earlier tokens.
  struct Original {
    std::uint32_t segment = 0;
    std::int64_t shift = 0;   ///< local token j of the segment is token j + shift of the original
    std::int64_t length = 0;  ///< length of the segment in tokens
  };

  Ranges foundIn(std::uint32_t segment) const;
  /// Returns the number of tokens [begin, end) that are hits in the segment's original but not in `known`.
  std::int64_t repeated(std::uint32_t segment, const Ranges& known, std::int64_t begin,
                        std::int64_t end) const;

  std::map<std::uint32_t, Segment> m_segments;
  std::map<std::uint32_t, Original> m_originals;
  std::map<std::uint32_t, Ranges> m_padding;
  std::map<std::uint32_t, Ranges> m_delimiters;
  std::map<NodePath, std::int64_t> m_cropped;
  bool m_isRead = false;
};

/// Returns the number of visible tokens of these segments.
std::int64_t visibleTokens(std::span<const trace::SegmentInfo> segments);

/// Returns the account of a prompt whose segments are not reported. The counts come from the admission.
PromptAccount accountOf(const trace::RequestAdmitted& admitted);
/// Makes the admission of a request for which the trace has only step metrics.
trace::RequestAdmitted admittedBy(const trace::StepMetrics& metrics);

/// Collects the accounts of requests from events.
class TokenAccounts {
 public:
  /// `blockSize` is in tokens, at least 1. An event with the pool's state replaces this number.
  explicit TokenAccounts(std::int32_t blockSize = 16) : m_blockSize(blockSize) {}

  /// Takes a payload. `request` is the number in Event::request.
  void take(RequestId request, const trace::Payload& payload);
  /// Returns the account of a request. All counts are 0 before its admission.
  PromptAccount of(RequestId request) const;
  void forget(RequestId request) { m_requests.erase(request); }

 private:
  struct Request {
    SharedList<trace::SegmentInfo> segments;
    RequestTokens tokens;
    std::optional<trace::RequestAdmitted> admitted;  ///< the first admission
  };
  std::int32_t m_blockSize;
  std::map<RequestId, Request> m_requests;
};

/// A count: exact, or with bounds.
struct CountRange {
  static constexpr std::int64_t kUnbounded = std::numeric_limits<std::int64_t>::max();

  std::int64_t least = 0;
  std::int64_t most = 0;  ///< kUnbounded: there is no upper bound
  bool bounded() const { return most != kUnbounded; }
  bool known() const { return least == most; }
  bool holds(std::int64_t count) const { return least <= count && count <= most; }
  CountRange& operator+=(const CountRange& other) {
    least += other.least;
    most = bounded() && other.bounded() ? most + other.most : kUnbounded;
    return *this;
  }
  bool operator==(const CountRange&) const = default;
};

/// The predicted account of one prompt, or of several. TokenAccount has the same counts after the run.
struct PredictedAccount {
  CountRange prompt;  ///< visible tokens
  CountRange cached;  ///< cache hits that are not recomputed
  CountRange relocated;
  CountRange again;  ///< cache hits that are recomputed
  CountRange computed;
  CountRange beside;
  // Counts of the layout. Absent: the lengths of answers decide the count.
  std::optional<std::int64_t> padding = 0;
  std::optional<std::int64_t> delimiters = 0;
  std::optional<std::int64_t> cropped = 0;
  CountRange evicted{};                     ///< blocks
  PredictedAccount& operator+=(const PredictedAccount& other);
  bool operator==(const PredictedAccount&) const = default;
};

/// The values of one prompt, or the sums of several. Only visible tokens count.
struct LayoutMetrics {
  std::int64_t tokens = 0;  ///< tokens of the prompt in this layout
  std::int64_t pads = 0;
  std::int64_t padBlocks = 0;  ///< virtual blocks that have padding
  std::int64_t markers = 0;
  std::int64_t cropped = 0;  ///< tokens of the exact layout that this layout truncates

  /// Returns the number of tokens of the same prompt in the exact layout.
  std::int64_t exactTokens() const { return tokens - pads - markers + cropped; }
  /// Returns the number of added tokens divided by exactTokens(). Negative: the layout has fewer tokens.
  double added() const;
  LayoutMetrics& operator+=(const LayoutMetrics& other);
  bool operator==(const LayoutMetrics&) const = default;
};

/// Returns the counts of one prompt. `segments` is its span table. `blockSize` is in tokens, at least 1.
LayoutMetrics layoutMetrics(const trace::LayoutApplied& applied, std::span<const trace::SegmentInfo> segments,
                            std::int32_t blockSize);

/// Returns e.g. "17 padding tokens in 9 blocks, 12 delimiter tokens, 23 tokens truncated: 4.1 % more tokens
/// than the exact layout".
std::string layoutText(const LayoutMetrics& counts);

}  // namespace spanscope::metrics
