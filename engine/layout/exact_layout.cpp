// SPDX-License-Identifier: GPL-3.0-or-later

#include "engine/base/counted.h"
#include "engine/base/error.h"
#include "engine/layout/layout.h"

#include <algorithm>
#include <limits>
#include <optional>
#include <string>
#include <utility>

namespace spanscope::layout {
namespace {

/// A list of segments laid out in order, while it is being filled.
struct Scope {
  std::uint32_t number = 0;
  std::uint32_t depth = 0;
  NodePath node;                      ///< the plus child that opened it
  std::vector<std::uint32_t> view;    ///< what the next segment of this scope sees
  std::optional<std::uint32_t> open;  ///< the segment that the next run of this scope continues
};

/// The children of a run or a plus; null for a leaf.
const std::vector<plan::PromptNode>* childrenOf(const plan::PromptNode& prompt) {
  if (const auto* run = std::get_if<plan::PromptRun>(&prompt.value)) return &run->children;
  if (const auto* plus = std::get_if<plan::PromptPlus>(&prompt.value)) return &plus->children;
  return nullptr;
}

bool isEmpty(const plan::PromptNode& prompt) {
  const std::vector<plan::PromptNode>* children = childrenOf(prompt);
  return children != nullptr && std::all_of(children->begin(), children->end(), isEmpty);
}

/// Whether the prompt is that of an earlier step with the reply right after it.
bool isClosure(const plan::PromptNode& prompt) {
  const auto* run = std::get_if<plan::PromptRun>(&prompt.value);
  if (run == nullptr || run->children.size() < 2) return false;
  const auto* output = std::get_if<plan::PromptOutput>(&run->children.back().value);
  return output != nullptr && output->form == plan::OutputForm::Continuation;
}

class ExactLayout {
 public:
  ExactLayout(std::span<const StepOutput> outputs, MessageRenderer& renderer, Visibility visibility)
      : m_outputs(outputs), m_renderer(renderer), m_visibility(visibility) {}

  SpanTable layOut(const plan::Step& step) {
    Scope request;
    open(step.prompt, step.node, request);
    lay(step.prompt, request);
    append(request, m_renderer.generationPrompt(), TokenRun::Source::Template, step.node);
    return std::move(m_table);
  }

 private:
  bool hasIndependentSpans() const {
    return m_visibility == Visibility::Spans || m_visibility == Visibility::SpansAtOneBase;
  }

  /// The message that the prompt begins with; null if it begins with an output or is empty.
  static const plan::PromptMessage* firstMessage(const plan::PromptNode& prompt) {
    const plan::PromptNode* node = &prompt;
    while (true) {
      const std::vector<plan::PromptNode>* children = childrenOf(*node);
      if (children == nullptr) return std::get_if<plan::PromptMessage>(&node->value);
      const auto filled = std::find_if_not(children->begin(), children->end(), isEmpty);
      if (filled == children->end()) return nullptr;
      node = &*filled;
    }
  }

  /// Begins a conversation.
  void open(const plan::PromptNode& prompt, const NodePath& node, Scope& scope) {
    m_first = firstMessage(prompt);
    const bool startsWithSystem = m_first != nullptr && m_first->role == query::Role::System;
    append(scope, m_renderer.opening(startsWithSystem), TokenRun::Source::Template, node);
  }

  void lay(const plan::PromptNode& prompt, Scope& scope) {
    if (const auto* message = std::get_if<plan::PromptMessage>(&prompt.value)) {
      layMessage(*message, prompt.node, scope);
    } else if (const auto* output = std::get_if<plan::PromptOutput>(&prompt.value)) {
      layOutput(*output, prompt.node, scope);
    } else if (const auto* run = std::get_if<plan::PromptRun>(&prompt.value)) {
      for (const plan::PromptNode& child : run->children) lay(child, scope);
    } else if (const auto* plus = std::get_if<plan::PromptPlus>(&prompt.value)) {
      layPlus(*plus, scope);
    }
  }

  void layMessage(const plan::PromptMessage& message, const NodePath& node, Scope& scope) {
    const text::RenderedMessage& rendered = m_renderer.message(
        message.role, message.text, &message == m_first ? text::Place::First : text::Place::Later);
    const std::span<const TokenId> ids(rendered.ids);
    const auto begin = static_cast<std::size_t>(rendered.textBegin);
    const auto count = static_cast<std::size_t>(rendered.textCount);
    append(scope, ids.first(begin), TokenRun::Source::Template, node);
    append(scope, ids.subspan(begin, count), TokenRun::Source::Text, node);
    append(scope, ids.subspan(begin + count), TokenRun::Source::Template, node);
  }

  void layPlus(const plan::PromptPlus& plus, Scope& scope) {
    if (m_visibility == Visibility::Full) {
      for (const plan::PromptNode& child : plus.children) lay(child, scope);
      return;
    }
    const std::size_t before = m_table.segments.size();
    const std::vector<std::uint32_t> prefix = scope.view;
    const std::int64_t base = m_position;
    std::int64_t end = base;  // where what follows stands
    for (const plan::PromptNode& child : plus.children) {
      const std::size_t childBegin = m_table.segments.size();
      const std::int64_t begin = m_visibility == Visibility::SpansAtOneBase ? base : m_position;
      m_position = begin;
      Scope inner;
      inner.number = m_nextScope++;
      inner.depth = scope.depth + 1;
      inner.node = child.node;
      const plan::PromptMessage* first = m_first;
      if (m_visibility == Visibility::SpansBehindPrefix && !isClosure(child)) inner.view = prefix;
      const std::size_t inherited = inner.view.size();
      // The inner step began with it, so its keys and values are found only behind it.
      if (isClosure(child)) open(child, child.node, inner);
      lay(child, inner);
      m_first = first;
      end += m_position - begin;
      // A child without tokens leaves no trace.
      if (m_table.segments.size() == childBegin) m_nextScope = inner.number;
      scope.view.insert(scope.view.end(), inner.view.begin() + static_cast<std::ptrdiff_t>(inherited),
                        inner.view.end());
    }
    m_position = end;
    if (m_table.segments.size() != before) scope.open.reset();
  }

  void layOutput(const plan::PromptOutput& output, const NodePath& node, Scope& scope) {
    const StepOutput& inner = outputOf(output.step, node);
    if (output.form == plan::OutputForm::Reused && hasIndependentSpans()) {
      layReused(inner, output.step, node, scope);
      return;
    }
    append(scope, m_renderer.generationPrompt(), TokenRun::Source::Template, node);
    append(scope, inner.tokens, TokenRun::Source::Output, node);
    append(scope, closingAfter(inner.tokens), TokenRun::Source::Template, node);
  }

  /// The inner step's table goes in as it was run, all of it hidden but the reply, and keeps its own
  /// distances, so that the reply's values are those it was generated with.
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
                     "the span table as the step was run"});
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
      m_nextScope = std::max(m_nextScope, segment.scope + 1);
      m_table.segments.push_back(std::move(segment));
    }
    Segment& reply = m_table.segments.back();
    reply.hidden = false;
    reply.visibleBegin = visibleBegin;
    reply.node = node;
    // The generation prompt belonged to the inner step; here it is the beginning of a message of this prompt.
    m_position += static_cast<std::int64_t>(promptLength);
    extend(reply, inner.tokens, TokenRun::Source::Output, node);
    extend(reply, closingAfter(inner.tokens), TokenRun::Source::Template, node);
    scope.view.push_back(static_cast<std::uint32_t>(m_table.segments.size() - 1));
    scope.open.reset();
  }

  /// What a reply still lacks to be a whole message: the closing pieces, less those that were sampled.
  std::span<const TokenId> closingAfter(const std::vector<TokenId>& sampled) const {
    const std::span<const TokenId> suffix(m_renderer.replySuffix());
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
    segment.runs.push_back({static_cast<std::int32_t>(ids.size()), source, node});
    m_position += static_cast<std::int64_t>(ids.size());
  }

  std::span<const StepOutput> m_outputs;
  MessageRenderer& m_renderer;
  Visibility m_visibility;
  SpanTable m_table;
  const plan::PromptMessage* m_first = nullptr;  ///< the message that begins the conversation
  std::uint32_t m_nextScope = 1;
  std::int64_t m_position = 0;  ///< visible tokens so far
};

}  // namespace

SpanTable layoutExact(const plan::Step& step, std::span<const StepOutput> outputs,
                      const text::Tokenizer& tokenizer, const text::ChatTemplate& chat,
                      Visibility visibility) {
  MessageRenderer renderer(tokenizer, chat);
  return layoutExact(step, outputs, renderer, visibility);
}

SpanTable layoutExact(const plan::Step& step, std::span<const StepOutput> outputs, MessageRenderer& renderer,
                      Visibility visibility) {
  return ExactLayout(outputs, renderer, visibility).layOut(step);
}

}  // namespace spanscope::layout
