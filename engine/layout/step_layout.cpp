// SPDX-License-Identifier: GPL-3.0-or-later

#include "engine/base/counted.h"
#include "engine/base/error.h"
#include "engine/layout/layout.h"
#include "engine/layout/layouts.h"
#include "engine/plan/prompt_children.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <limits>
#include <optional>
#include <string>
#include <unordered_map>
#include <utility>

namespace spanscope::layout {
namespace {

/// A scope while its segments are laid out in order.
struct Scope {
  std::uint32_t number = 0;
  std::uint32_t depth = 0;
  NodePath node;                      ///< the plus child that opened it
  std::vector<std::uint32_t> view;    ///< the segments that the next segment of this scope attends to
  std::optional<std::uint32_t> open;  ///< the segment that the next run of this scope continues
};

/// Whether the prompt contains no message and no output.
bool isEmpty(const plan::PromptNode& prompt) {
  return !isLeaf(prompt) && std::ranges::all_of(childrenOf(prompt), isEmpty);
}

/// Whether the prompt is a subquery result: the prompt of an earlier step, followed by its answer.
bool isSubqueryResult(const plan::PromptNode& prompt) {
  const auto* run = std::get_if<plan::PromptRun>(&prompt.value);
  if (run == nullptr || run->children.size() < 2) return false;
  const auto* output = std::get_if<plan::PromptOutput>(&run->children.back().value);
  return output != nullptr && output->form == plan::OutputForm::Continuation;
}

/// Consecutive tokens of one source.
struct Part {
  std::span<const TokenId> ids;
  TokenRun::Source source = TokenRun::Source::Text;
};

/// Keeps the first `length` tokens.
void cut(Segment& segment, std::size_t length) {
  segment.tokens.resize(length);
  auto left = static_cast<std::int32_t>(length);
  for (TokenRun& run : segment.runs) {
    run.count = std::min(run.count, left);
    left -= run.count;
  }
  std::erase_if(segment.runs, [](const TokenRun& run) { return run.count == 0; });
}

class StepLayout {
 public:
  StepLayout(std::span<const StepOutput> outputs, MessageRenderer& renderer, Visibility visibility)
      : m_outputs(outputs), m_renderer(renderer), m_visibility(visibility), m_rules(renderer.rules()) {}

  SpanTable layOut(const plan::Step& step) {
    Scope request;
    if (m_renderer.rendersConversations()) {
      renderConversation(step.prompt);
    } else {
      std::vector<MessageRenderer::Message> messages;
      collect(step.prompt, firstMessage(step.prompt), messages);
      m_renderer.prepare(messages);
    }
    open(step.prompt, step.node, request);
    lay(step.prompt, request);
    if (m_lastMarker == m_rules.markers.plus) {
      openPart(step.node);
      markPlus(request, step.node);
    }
    // The generation prompt belongs to the message before it.
    if (m_table.parts.empty() || m_table.parts[m_part].inPlus) openPart(step.node);
    const auto conversation = m_conversations.find(&step.prompt);
    append(request,
           conversation == m_conversations.end() ? m_renderer.generationPrompt()
                                                 : conversation->second.generationPrompt,
           TokenRun::Source::Template, step.node);
    return std::move(m_table);
  }

 private:
  bool hasIndependentSpans() const {
    return m_visibility == Visibility::Spans || m_visibility == Visibility::SpansAtOneBase;
  }

  /// Whether the prompt gives no tokens: some templates leave out a system message without text.
  bool isSilent(const plan::PromptNode& prompt) const {
    if (const auto* message = std::get_if<plan::PromptMessage>(&prompt.value)) {
      return message->text.empty() && rendered(*message).ids.empty();
    }
    return !isLeaf(prompt) && std::ranges::all_of(childrenOf(prompt), [this](const plan::PromptNode& child) {
      return isSilent(child);
    });
  }

  /// The last message that gives tokens; null if there is none.
  const plan::PromptNode* lastFilled(const std::vector<plan::PromptNode>& children) const {
    const auto found = std::find_if_not(children.rbegin(), children.rend(),
                                        [this](const plan::PromptNode& child) { return isSilent(child); });
    return found == children.rend() ? nullptr : &*found;
  }

  /// The message that the prompt begins with; null if it begins with an output or is empty.
  static const plan::PromptMessage* firstMessage(const plan::PromptNode& prompt) {
    const plan::PromptNode* node = &prompt;
    while (true) {
      if (isLeaf(*node)) return std::get_if<plan::PromptMessage>(&node->value);
      const std::span<const plan::PromptNode> children = childrenOf(*node);
      const auto filled = std::ranges::find_if_not(children, isEmpty);
      if (filled == children.end()) return nullptr;
      node = &*filled;
    }
  }

  static MessageRenderer::Message asked(const plan::PromptMessage& message,
                                        const plan::PromptMessage* first) {
    return {message.role, message.text, &message == first ? text::Place::First : text::Place::Later};
  }

  /// Returns the tokens of a message at its place in its conversation.
  const text::RenderedMessage& rendered(const plan::PromptMessage& message) const {
    if (const auto found = m_messages.find(&message); found != m_messages.end()) return found->second;
    const auto [role, text, place] = asked(message, m_first);
    return m_renderer.message(role, text, place);
  }

  /// The messages and answers of one conversation.
  struct Conversation {
    std::vector<text::ConversationMessage> messages;
    std::vector<const plan::PromptMessage*> sources;  ///< null for an answer
    std::vector<const NodePath*> nodes;
  };

  /// Collects a conversation. Subquery results with independent spans are conversations of their own, which
  /// are rendered directly.
  void collectConversation(const plan::PromptNode& prompt, Conversation& conversation) {
    const auto add = [&](query::Role role, std::string_view text, const plan::PromptMessage* source) {
      conversation.messages.push_back({role, text});
      conversation.sources.push_back(source);
      conversation.nodes.push_back(&prompt.node);
    };
    if (const auto* message = std::get_if<plan::PromptMessage>(&prompt.value)) {
      add(message->role, message->text, message);
    } else if (std::holds_alternative<plan::PromptOutput>(prompt.value)) {
      // The tokens of the answer are those that were sampled. The other messages depend only on its place.
      add(query::Role::Assistant, "(an answer)", nullptr);
    } else {
      const bool isPlus = std::holds_alternative<plan::PromptPlus>(prompt.value);
      for (const plan::PromptNode& child : childrenOf(prompt)) {
        if (isPlus && m_visibility != Visibility::Full && isSubqueryResult(child))
          renderConversation(child);
        else
          collectConversation(child, conversation);
      }
    }
  }

  /// Renders the conversation of a prompt or of a subquery result.
  void renderConversation(const plan::PromptNode& prompt) {
    Conversation conversation;
    collectConversation(prompt, conversation);
    if (conversation.messages.empty()) return;
    try {
      text::RenderedConversation made = m_renderer.conversation(conversation.messages);
      for (std::size_t i = 0; i < made.messages.size(); ++i) {
        if (conversation.sources[i] == nullptr) continue;
        if (made.messages[i].change != text::TextChange::Nothing)
          m_table.changed.push_back({*conversation.nodes[i], made.messages[i].change});
        m_messages.emplace(conversation.sources[i], std::move(made.messages[i]));
      }
      made.messages.clear();
      m_conversations.emplace(&prompt, std::move(made));
    } catch (const text::MessageFailure& failure) {
      Error error = failure.error();
      error.place = *conversation.nodes.at(failure.message());
      throw Failure(std::move(error));
    }
  }

  /// Collects all messages of a conversation that begins with `first`, in the form that layMessage()
  /// requests.
  static void collect(const plan::PromptNode& prompt, const plan::PromptMessage* first,
                      std::vector<MessageRenderer::Message>& messages) {
    if (const auto* message = std::get_if<plan::PromptMessage>(&prompt.value)) {
      messages.push_back(asked(*message, first));
      return;
    }
    const bool isPlus = std::holds_alternative<plan::PromptPlus>(prompt.value);
    for (const plan::PromptNode& child : childrenOf(prompt))
      collect(child, isPlus && isSubqueryResult(child) ? firstMessage(child) : first, messages);
  }

  /// Begins a conversation.
  void open(const plan::PromptNode& prompt, const NodePath& node, Scope& scope) {
    m_first = firstMessage(prompt);
    const bool startsWithSystem = m_first != nullptr && m_first->role == query::Role::System;
    const auto conversation = m_conversations.find(&prompt);
    const std::span<const TokenId> opening = conversation == m_conversations.end()
                                                 ? m_renderer.opening(startsWithSystem)
                                                 : conversation->second.opening;
    if (!m_inPlus && !opening.empty()) openPart(node);
    append(scope, opening, TokenRun::Source::Template, node);
  }

  // ---- sections
  // --------------------------------------------------------------------------------------------------

  void beginPart(const NodePath& node, bool inPlus) {
    m_part = static_cast<std::uint32_t>(m_table.parts.size());
    m_table.parts.push_back({.node = node, .inPlus = inPlus});
    m_isOpen = false;
  }

  /// Begins a section with tokens of the template or layout before a message. beginMessage() makes this
  /// section the message's section.
  void openPart(const NodePath& node) {
    if (m_isOpen && !m_table.parts.empty()) return;
    beginPart(node, false);
    m_isOpen = true;
  }

  /// A message or answer outside of any plus is a section. In a plus, the whole child is one section.
  void beginMessage(const NodePath& node) {
    if (m_inPlus) return;
    if (m_isOpen) {
      m_table.parts[m_part].node = node;
      m_isOpen = false;
      return;
    }
    beginPart(node, false);
  }

  /// Lays out a child of a plus as its own section.
  template <class Lay>
  void layChild(const NodePath& node, Lay lay) {
    const std::uint32_t outer = m_part;
    const bool wasInPlus = std::exchange(m_inPlus, true);
    beginPart(node, true);
    lay();
    m_inPlus = wasInPlus;
    // Outside of any plus, the next message begins its own section.
    if (wasInPlus) m_part = outer;
  }

  void lay(const plan::PromptNode& prompt, Scope& scope) {
    if (const auto* message = std::get_if<plan::PromptMessage>(&prompt.value)) {
      layMessage(*message, prompt.node, scope);
    } else if (const auto* output = std::get_if<plan::PromptOutput>(&prompt.value)) {
      layOutput(*output, prompt.node, scope);
    } else if (const auto* run = std::get_if<plan::PromptRun>(&prompt.value)) {
      const plan::PromptNode* const marked = run->isCross ? lastFilled(run->children) : nullptr;
      for (const plan::PromptNode& child : run->children) {
        if (&child == marked) markCross(scope, child.node);
        lay(child, scope);
      }
    } else if (const auto* plus = std::get_if<plan::PromptPlus>(&prompt.value)) {
      layPlus(*plus, scope);
    }
  }

  void layMessage(const plan::PromptMessage& message, const NodePath& node, Scope& scope) {
    const text::RenderedMessage& made = rendered(message);
    if (made.ids.empty()) return;
    beginMessage(node);
    const std::span<const TokenId> ids(made.ids);
    const auto begin = static_cast<std::size_t>(made.textBegin);
    const auto count = static_cast<std::size_t>(made.textCount);
    std::size_t kept = ids.size();
    if (m_rules.crops() && message.role == query::Role::Assistant)
      kept = keptOf(ids.size(), m_renderer.assistantSuffix().size());
    appendFirst(scope, kept,
                std::array{Part{ids.first(begin), TokenRun::Source::Template},
                           Part{ids.subspan(begin, count), TokenRun::Source::Text},
                           Part{ids.subspan(begin + count), TokenRun::Source::Template}},
                node);
  }

  // ---- padding, delimiters and truncation

  /// Padding belongs to the tokens before it. The cache then finds both together at every position.
  void padToBlock() {
    const std::int64_t over = m_count % m_rules.blockSize;
    if (over == 0) return;
    Segment& segment = m_table.segments[*m_last];
    const std::vector<TokenId> pads(static_cast<std::size_t>(m_rules.blockSize - over), m_rules.markers.pad);
    const std::uint32_t part = std::exchange(m_part, segment.runs.back().part);
    extend(segment, pads, TokenRun::Source::Pad, segment.node);
    m_part = part;
  }

  void markPlus(Scope& scope, const NodePath& node) {
    if (!m_rules.marks()) return;
    padToBlock();
    append(scope, std::span(&m_rules.markers.plus, 1), TokenRun::Source::PlusMarker, node);
  }

  void markCross(Scope& scope, const NodePath& node) {
    if (!m_rules.marks()) return;
    padToBlock();
    if (!m_inPlus) openPart(node);
    append(scope, std::span(&m_rules.markers.cross, 1), TokenRun::Source::CrossMarker, node);
  }

  /// Returns how many of the next `tokens` tokens remain without their suffix if they must end a block.
  std::size_t keptOf(std::size_t tokens, std::size_t suffix) const {
    const std::int64_t end = m_count + static_cast<std::int64_t>(tokens - std::min(tokens, suffix));
    return static_cast<std::size_t>(std::max(m_count, end - end % m_rules.blockSize) - m_count);
  }

  /// Appends the first `kept` tokens of the parts. Notes the truncated ones.
  void appendFirst(Scope& scope, std::size_t kept, std::span<const Part> parts, const NodePath& node) {
    Cropped cropped;
    for (const Part& part : parts) {
      const std::size_t count = std::min(kept, part.ids.size());
      append(scope, part.ids.first(count), part.source, node);
      cropped.tokens.insert(cropped.tokens.end(), part.ids.begin() + static_cast<std::ptrdiff_t>(count),
                            part.ids.end());
      kept -= count;
    }
    noteCropped(std::move(cropped), node);
  }

  void noteCropped(Cropped cropped, const NodePath& node) {
    if (cropped.tokens.empty()) return;
    cropped.before = m_count;
    cropped.node = node;
    m_table.cropped.push_back(std::move(cropped));
  }

  /// Recognizes delimiters by their token, as a server does. The same token in a text also counts.
  void noteMarkers(std::span<const TokenId> ids) {
    if (!m_rules.marks()) return;
    for (const TokenId id : ids) {
      if (id == m_rules.markers.plus || id == m_rules.markers.cross) m_lastMarker = id;
    }
  }

  // ---- the tree
  // --------------------------------------------------------------------------------------------------

  void layPlus(const plan::PromptPlus& plus, Scope& scope) {
    if (m_visibility == Visibility::Full) {
      for (const plan::PromptNode& child : plus.children) {
        if (isSilent(child)) continue;
        layChild(child.node, [&] {
          markPlus(scope, child.node);
          lay(child, scope);
        });
      }
      return;
    }
    // The padding before the first child ends the tokens before the plus.
    if (m_rules.marks() && lastFilled(plus.children) != nullptr) padToBlock();
    const std::size_t before = m_table.segments.size();
    const std::vector<std::uint32_t> prefix = scope.view;
    const std::int64_t base = m_position;
    const std::int64_t countBefore = m_count;
    for (const plan::PromptNode& child : plus.children) {
      // A child without tokens changes nothing.
      if (isSilent(child)) continue;
      if (m_rules.marks()) padToBlock();
      if (m_visibility == Visibility::SpansAtOneBase) m_position = base;
      Scope inner;
      inner.number = m_nextScope++;
      inner.depth = scope.depth + 1;
      inner.node = child.node;
      const plan::PromptMessage* first = m_first;
      if (m_visibility == Visibility::SpansBehindPrefix && !isSubqueryResult(child)) inner.view = prefix;
      const std::size_t inherited = inner.view.size();
      layChild(child.node, [&] {
        markPlus(inner, child.node);
        // The prompt of the inner step began with these tokens. The keys and values of the answer are
        // therefore hits only after these tokens.
        if (isSubqueryResult(child)) open(child, child.node, inner);
        lay(child, inner);
      });
      m_first = first;
      scope.view.insert(scope.view.end(), inner.view.begin() + static_cast<std::ptrdiff_t>(inherited),
                        inner.view.end());
    }
    m_position = base + m_count - countBefore;
    if (m_table.segments.size() != before) scope.open.reset();
  }

  void layOutput(const plan::PromptOutput& output, const NodePath& node, Scope& scope) {
    const StepOutput& inner = outputOf(output.step, node);
    beginMessage(node);
    if (output.form == plan::OutputForm::Reused && hasIndependentSpans()) {
      layReused(inner, output.step, node, scope);
      return;
    }
    const std::array parts{Part{m_renderer.generationPrompt(), TokenRun::Source::Template},
                           Part{inner.tokens, TokenRun::Source::Output},
                           Part{closingAfter(inner.tokens), TokenRun::Source::Template}};
    appendFirst(scope, keptOfAnswer(inner.tokens), parts, node);
  }

  /// Returns how many tokens of an answer are in the prompt, including its generation prompt and closing
  /// tokens.
  std::size_t keptOfAnswer(const std::vector<TokenId>& sampled) {
    const std::size_t tokens =
        m_renderer.generationPrompt().size() + sampled.size() + closingAfter(sampled).size();
    return m_rules.crops() ? keptOf(tokens, m_renderer.answerSuffix().size()) : tokens;
  }

  /// Adds the table of the inner step's run. Everything except the answer is hidden. The distances in the
  /// table stay the same, so that the answer keeps the keys and values from its generation.
  void layReused(const StepOutput& inner, StepIndex step, const NodePath& node, Scope& scope) {
    const std::vector<Segment>& segments = inner.table.segments;
    const std::vector<TokenId>& generationPrompt = m_renderer.generationPrompt();
    const std::size_t promptLength = generationPrompt.size();
    if (segments.empty() || segments.back().tokens.size() < promptLength ||
        !std::equal(generationPrompt.begin(), generationPrompt.end(),
                    segments.back().tokens.end() - static_cast<std::ptrdiff_t>(promptLength))) {
      throw Failure({"", node,
                     "a span table of step " + std::to_string(step) + " that does not end with the " +
                         "generation prompt",
                     "the span table of the step's run"});
    }
    const std::span<const TokenId> sampled(inner.tokens);
    const std::span<const TokenId> closing = closingAfter(inner.tokens);
    const std::size_t kept = keptOfAnswer(inner.tokens);
    std::array<std::span<const TokenId>, 3> rest{generationPrompt, sampled, closing};
    std::array<std::size_t, 3> counts{};
    Cropped cropped;
    for (std::size_t i = 0, left = kept; i < rest.size(); ++i) {
      counts[i] = std::min(left, rest[i].size());
      left -= counts[i];
      const std::span<const TokenId> lost = rest[i].subspan(counts[i]);
      cropped.tokens.insert(cropped.tokens.end(), lost.begin(), lost.end());
    }
    if (kept == 0) {
      noteCropped(std::move(cropped), node);
      return;
    }
    const Segment& replied = segments.back();
    const auto offset = static_cast<std::uint32_t>(m_table.segments.size());
    const std::int32_t visibleBegin = replied.length() - static_cast<std::int32_t>(promptLength);
    const std::int64_t shift = m_position - visibleBegin - replied.base;
    const std::uint32_t firstScope = m_nextScope;
    for (const Segment& original : segments) {
      Segment segment = original;
      segment.scope += firstScope;
      segment.depth += scope.depth;
      segment.base += shift;
      for (std::uint32_t& seen : segment.sees) seen += offset;
      segment.independent = segment.sees.empty();
      segment.hidden = true;
      for (TokenRun& run : segment.runs) run.part = m_part;
      m_nextScope = std::max(m_nextScope, segment.scope + 1);
      m_table.segments.push_back(std::move(segment));
    }
    Segment& answer = m_table.segments.back();
    answer.hidden = false;
    answer.visibleBegin = visibleBegin;
    answer.node = node;
    cut(answer, static_cast<std::size_t>(visibleBegin) + counts[0]);
    // In the inner step, these tokens were the generation prompt. Here the same tokens begin a message of
    // this prompt.
    m_position += static_cast<std::int64_t>(counts[0]);
    m_count += static_cast<std::int64_t>(counts[0]);
    m_last = static_cast<std::uint32_t>(m_table.segments.size() - 1);
    noteMarkers(rest[0].first(counts[0]));
    extend(answer, rest[1].first(counts[1]), TokenRun::Source::Output, node);
    extend(answer, rest[2].first(counts[2]), TokenRun::Source::Template, node);
    noteCropped(std::move(cropped), node);
    scope.view.push_back(*m_last);
    scope.open.reset();
  }

  /// Returns the closing tokens that an answer lacks: all closing tokens except the sampled ones.
  std::span<const TokenId> closingAfter(const std::vector<TokenId>& sampled) const {
    const std::span<const TokenId> suffix(m_renderer.answerSuffix());
    for (std::size_t have = std::min(suffix.size(), sampled.size()); have > 0; --have) {
      if (std::equal(suffix.begin(), suffix.begin() + static_cast<std::ptrdiff_t>(have),
                     sampled.end() - static_cast<std::ptrdiff_t>(have))) {
        return suffix.subspan(have);
      }
    }
    return suffix;
  }

  const StepOutput& outputOf(StepIndex step, const NodePath& node) const {
    if (step >= m_outputs.size()) {
      throw Failure({"", node, "outputs of " + counted(m_outputs.size(), "step"),
                     "the output of step " + std::to_string(step)});
    }
    return m_outputs[step];
  }

  void append(Scope& scope, std::span<const TokenId> ids, TokenRun::Source source, const NodePath& node) {
    if (ids.empty()) return;
    if (!scope.open) {
      Segment segment;
      segment.scope = scope.number;
      segment.depth = scope.depth;
      segment.base = m_position;
      segment.sees = scope.view;
      segment.independent = scope.number != 0 && scope.view.empty();
      segment.node = scope.number == 0 ? node : scope.node;
      scope.open = static_cast<std::uint32_t>(m_table.segments.size());
      scope.view.push_back(*scope.open);
      m_table.segments.push_back(std::move(segment));
    }
    m_last = scope.open;
    extend(m_table.segments[*scope.open], ids, source, node);
  }

  void extend(Segment& segment, std::span<const TokenId> ids, TokenRun::Source source, const NodePath& node) {
    if (ids.empty()) return;
    constexpr auto kMost = static_cast<std::size_t>(std::numeric_limits<std::int32_t>::max());
    if (ids.size() > kMost - segment.tokens.size()) {
      throw Failure(
          {"", node, "a segment of more than " + std::to_string(kMost) + " tokens", "a shorter prompt"});
    }
    segment.tokens.insert(segment.tokens.end(), ids.begin(), ids.end());
    segment.runs.push_back({static_cast<std::int32_t>(ids.size()), source, node, m_part});
    m_position += static_cast<std::int64_t>(ids.size());
    m_count += static_cast<std::int64_t>(ids.size());
    m_renderer.checkLength(m_count);
    if (source != TokenRun::Source::Pad) noteMarkers(ids);
  }

  std::span<const StepOutput> m_outputs;
  MessageRenderer& m_renderer;
  Visibility m_visibility;
  LayoutRules m_rules;
  SpanTable m_table;
  /// With a template that renders conversations: the tokens by message, and what is around the messages of
  /// each conversation.
  std::unordered_map<const plan::PromptMessage*, text::RenderedMessage> m_messages;
  std::unordered_map<const plan::PromptNode*, text::RenderedConversation> m_conversations;
  const plan::PromptMessage* m_first = nullptr;  ///< the message that begins the conversation
  std::uint32_t m_nextScope = 1;
  std::int64_t m_position = 0;          ///< of the next visible token
  std::int64_t m_count = 0;             ///< visible tokens so far
  std::optional<std::uint32_t> m_last;  ///< the segment with the last visible token
  std::optional<TokenId> m_lastMarker;
  std::uint32_t m_part = 0;  ///< the section of the next tokens
  bool m_inPlus = false;     ///< a child of a plus is being laid out
  bool m_isOpen = false;     ///< the last section has no message yet
};

}  // namespace

SpanTable layoutExact(const plan::Step& step, std::span<const StepOutput> outputs,
                      const text::Tokenizer& tokenizer, const text::ChatTemplate& chat,
                      Visibility visibility) {
  MessageRenderer renderer(tokenizer, chat);
  return layOut(step, outputs, renderer, visibility);
}

SpanTable layOut(const plan::Step& step, std::span<const StepOutput> outputs, MessageRenderer& renderer,
                 Visibility visibility) {
  return StepLayout(outputs, renderer, visibility).layOut(step);
}

}  // namespace spanscope::layout
