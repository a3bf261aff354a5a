// SPDX-License-Identifier: GPL-3.0-or-later
// Prompts and replies in double precision, as policies and layouts are defined: row by row, from the plan's
// tree. Nothing here knows segments, span tables, blocks or a cache.
#pragma once

#include "engine/layout/message_renderer.h"
#include "engine/plan/plan.h"
#include "tests/support/plain_transformer.h"

#include <cstdint>
#include <optional>
#include <vector>

namespace spanscope::test {

/// Which rows see which.
enum class PlainMask : std::uint8_t {
  Causal,        ///< all before
  Spans,         ///< the children of a plus see themselves alone
  BehindPrefix,  ///< and what stands before their plus
  Linked         ///< as Spans; then the first of each child, and what stands around, once more in full view
};

struct PlainPolicy {
  PlainMask mask = PlainMask::Spans;
  std::int32_t linked = 0;  ///< tokens of each child, for Linked
};

/// One row of a prompt or reply, as it is seen.
struct PlainRow {
  TokenId token = 0;
  std::int64_t position = 0;
  /// The children of plus around it, from the outermost. A reply that is reused is like one of a plus of its
  /// own.
  struct Child {
    std::size_t plus = 0;
    std::size_t child = 0;
    bool isClosure = false;  ///< it began as a conversation and sees nothing before it
    bool operator==(const Child&) const = default;
  };
  std::vector<Child> path;
  std::int32_t local = 0;              ///< among rows of one path that follow each other
  std::optional<std::size_t> reply{};  ///< a reply that is reused, of PlainPrompts
  std::size_t replyRow = 0;            ///< of its rows
};

/// The prompts and replies of one plan.
class PlainPrompts {
 public:
  /// All must outlive it. `replies[i]`: the sampled tokens of step i. The renderer has the layout.
  PlainPrompts(const plan::Plan& plan, const std::vector<std::vector<TokenId>>& replies,
               layout::MessageRenderer& renderer, const testing::PlainTransformer& plain, PlainPolicy policy);

  /// The rows of a step's prompt.
  const std::vector<PlainRow>& prompt(StepIndex step) const { return m_prompts[step]; }
  /// What each token of a step's reply was drawn from.
  std::vector<testing::Numbers> logits(StepIndex step) const;

 private:
  friend class PlainLayout;

  /// A reply that stands in a prompt with the values that it had under its own.
  struct Reused {
    StepIndex step = 0;
    std::vector<TokenId> tokens;  ///< from the generation prompt to pads behind it, as far as it is there
  };
  /// Rows as they enter each layer, and as they leave the last: [layer][row].
  struct Passed {
    std::vector<std::vector<testing::Numbers>> entering;
    std::vector<testing::Numbers> hidden;
  };

  Passed pass(const std::vector<PlainRow>& rows) const;
  Passed passOnce(const std::vector<PlainRow>& rows, const std::vector<Passed>& reused,
                  const Passed* before) const;
  bool sees(const PlainRow& row, const PlainRow& earlier) const;
  std::vector<PlainRow> rowsOf(StepIndex step, std::size_t promptRows,
                               const std::vector<TokenId>& behind) const;

  const testing::PlainTransformer& m_plain;
  PlainPolicy m_policy;
  const std::vector<std::vector<TokenId>>& m_replies;
  std::size_t m_generationPrompt = 0;  ///< tokens of it
  std::vector<std::vector<PlainRow>> m_prompts;
  std::vector<Reused> m_reused;
};

}  // namespace spanscope::test
