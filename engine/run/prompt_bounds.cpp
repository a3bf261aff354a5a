// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/run/prompt_bounds.h"

#include "engine/base/error.h"
#include "engine/layout/layout.h"
#include "engine/plan/prompt_children.h"
#include "engine/policy/recomputation.h"
#include "engine/run/drive_plan.h"

#include <algorithm>
#include <cstddef>

namespace spanscope::run {
namespace {

using layout::Segment;
using layout::SpanTable;
using layout::TokenRun;

/// A placeholder for a token of an answer.
constexpr TokenId kAny = -1;

/// Whether an answer can decide which delimiter is the last one before the generation prompt. Delimiters are
/// recognized by their token, for any origin of the token.
bool endsWithMarkOfAnswer(const SpanTable& table, const layout::MarkerTokens& markers) {
  bool isOpen = false;
  const Segment& last = table.segments.back();
  for (const Segment& segment : table.segments) {
    if (segment.hidden) continue;
    std::int32_t begin = 0;
    for (const TokenRun& run : segment.runs) {
      const std::int32_t from = std::max(begin, segment.visibleBegin);
      begin += run.count;
      // The delimiter of the generation prompt itself does not count.
      const bool isFinal = &segment == &last && begin + last.runs.back().count == last.length() &&
                           run.source == TokenRun::Source::PlusMarker;
      if (from >= begin || isFinal || run.source == TokenRun::Source::Pad) continue;
      if (run.source == TokenRun::Source::Output) {
        isOpen = true;
        continue;
      }
      const auto first = segment.tokens.begin();
      if (std::any_of(first + from, first + begin,
                      [&](TokenId token) { return token == markers.plus || token == markers.cross; }))
        isOpen = false;
    }
  }
  return isOpen;
}

/// Max number of segments that replace one segment. A policy that splits a segment in two may also keep the
/// whole segment.
constexpr std::int64_t kMostCopies = 3;

struct FinalMark {
  std::int64_t view = 0;    ///< tokens of the delimiter and its padding; 0: there is no delimiter
  std::int64_t prompt = 0;  ///< the same tokens, with each copy in the table counted
};

/// Returns the tokens that would be missing with another last delimiter.
FinalMark finalMarkOf(const SpanTable& table) {
  std::int64_t pads = 0;  // number of padding tokens immediately before the current run
  const Segment& last = table.segments.back();
  bool isSplit = false;
  for (const Segment& segment : table.segments) {
    isSplit = isSplit || segment.hidden || segment.visibleBegin > 0;
    if (segment.hidden) continue;
    for (const TokenRun& run : segment.runs) {
      const bool isFinal = &segment == &last && &run + 2 == segment.runs.data() + segment.runs.size() &&
                           run.source == TokenRun::Source::PlusMarker;
      if (isFinal) return {.view = 1 + pads, .prompt = 1 + pads * (isSplit ? kMostCopies : 1)};
      pads = run.source == TokenRun::Source::Pad ? run.count : 0;
    }
  }
  return {};
}

/// Adds the steps whose answers are in the prompt with the keys and values of their generation. A step is
/// added once for each use of its answer.
void addReused(const plan::PromptNode& prompt, const policy::Policy& policy, std::vector<StepIndex>& steps) {
  if (const auto* output = std::get_if<plan::PromptOutput>(&prompt.value)) {
    const bool isReused = output->form == plan::OutputForm::Reused ||
                          (output->form == plan::OutputForm::Recomputed && policy.quotesAsGenerated);
    if (isReused) steps.push_back(output->step);
  }
  for (const plan::PromptNode& child : childrenOf(prompt)) addReused(child, policy, steps);
}

/// Returns the number of answers in a prompt.
std::int64_t answersIn(const plan::PromptNode& prompt) {
  std::int64_t answers = std::holds_alternative<plan::PromptOutput>(prompt.value) ? 1 : 0;
  for (const plan::PromptNode& child : childrenOf(prompt)) answers += answersIn(child);
  return answers;
}

class Bounding {
 public:
  Bounding(const plan::Plan& plan, const RunOptions& options, const model::ModelConfig& model,
           layout::MessageRenderer& renderer, std::int32_t blockSize)
      : m_plan(plan),
        m_options(options),
        m_model(model),
        m_renderer(renderer),
        m_blockSize(blockSize),
        m_ends(model.endTokenIds()),
        m_few(plan.steps.size()),
        m_many(plan.steps.size()),
        m_bounds(plan.steps.size()),
        m_isNeeded(plan.steps.size()),
        m_isInTeam(plan.steps.size()) {
    renderer.useLayout(options.layout, blockSize);
    for (const plan::Step& step : plan.steps) {
      for (const StepIndex need : step.needs) m_isNeeded[need] = true;
    }
    if (const auto teams = options.policy.policy().teams; teams != nullptr) {
      for (const std::vector<StepIndex>& team : teams(plan)) {
        for (const StepIndex step : team) m_isInTeam[step] = true;
      }
    }
  }

  PromptBounds bound(StepIndex index) {
    const plan::Step& step = m_plan.steps[index];
    SpanTable few = m_options.policy.layOut(step, m_few, m_renderer);
    SpanTable many = step.needs.empty() ? few : m_options.policy.layOut(step, m_many, m_renderer);
    PromptBounds bounds;
    bounds.prompt = {tokensOf(few), tokensOf(many)};
    bounds.view = {few.tokenCount(), many.tokenCount()};
    const layout::LayoutRules& rules = m_renderer.rules();
    // The last delimiter depends on answers, and on the truncation of the texts after them.
    const bool crops = !step.needs.empty() && rules.crops();
    if (crops || (!step.needs.empty() && rules.marks() && endsWithMarkOfAnswer(many, rules.markers))) {
      const FinalMark mark = finalMarkOf(few);
      bounds.prompt.least -= mark.prompt;
      bounds.view.least -= mark.view;
    }
    // An inner prompt may end in a block because its own answers were truncated away. The answer to this
    // inner prompt then begins a segment of its own.
    if (crops) bounds.mostBlocks += kMostCopies * answersIn(step.prompt);
    if (crops && finalMarkOf(many).view == 0) {
      bounds.prompt.most += (m_options.policy.policy().hasIndependentSpans ? kMostCopies : 1) * m_blockSize;
      bounds.view.most += m_blockSize;
      bounds.mostBlocks += kMostCopies;
    }
    if (rules.marks() && m_options.policy.policy().hasIndependentSpans) boundHidden(step, few, many, bounds);
    bounds.prompt.least = std::max<std::int64_t>(1, bounds.prompt.least);
    // Every admitted prompt fits the context.
    const std::int64_t mostView = std::max(bounds.view.least, m_model.maxPositions - 1);
    if (bounds.view.most > mostView) {
      const std::int64_t besides = bounds.prompt.most - bounds.view.most;
      bounds.prompt.most = std::max(bounds.prompt.least, mostView + besides);
    }
    bounds.answer = answerOf(step, index, bounds.view);
    bounds.mostBlocks += mostBlocksOf(many, static_cast<std::int32_t>(bounds.answer.most), m_blockSize);
    if (m_isNeeded[index]) {
      m_few[index].tokens = fewestTokens(bounds.answer);
      // A delimiter at the end of the answer makes the prompt with this answer longest.
      m_many[index].tokens.assign(static_cast<std::size_t>(bounds.answer.most),
                                  rules.marks() ? rules.markers.plus : kAny);
      // A prompt that quotes the answer does not contain copies of segments of this prompt.
      m_few[index].table = policy::withoutCopies(few);
      m_many[index].table = policy::withoutCopies(many);
    }
    m_bounds[index] = bounds;
    return bounds;
  }

 private:
  /// Tokens of a table that the policy laid out.
  std::int64_t tokensOf(const SpanTable& table) const {
    return allTokens(table, m_options.policy.planRows(table, false));
  }

  /// Whether the policy makes other segments for the step than block attention does.
  bool changesSegments(const plan::Step& step, const SpanTable& few, const SpanTable& many) {
    const auto plain = [&](const std::vector<layout::StepOutput>& outputs) {
      return allTokens(layout::layOut(step, outputs, m_renderer, layout::Visibility::Spans), {});
    };
    return plain(m_few) != tokensOf(few) || plain(m_many) != tokensOf(many);
  }

  /// Bounds the hidden tokens in the prompt. The tables with the shortest and the longest answers do not
  /// determine these bounds:
  /// - The inner prompt of a reused answer may have a delimiter or not.
  /// - The answer may be truncated away with that prompt. The truncation depends on the position of the
  ///   answer's beginning in its block.
  /// - A policy may keep more tokens, or leave tokens out.
  void boundHidden(const plan::Step& step, const SpanTable& few, const SpanTable& many,
                   PromptBounds& bounds) {
    std::vector<StepIndex> reused;
    addReused(step.prompt, m_options.policy.policy(), reused);
    const bool isOther = changesSegments(step, few, many);
    const bool crops = m_renderer.rules().crops();
    if (reused.empty() && !isOther) return;
    const std::int64_t most = bounds.prompt.most;
    if (isOther) bounds.prompt.most += kMostCopies * bounds.view.most;
    if (isOther || crops) bounds.prompt.least = bounds.view.least;
    const auto opening = static_cast<std::int64_t>(m_renderer.generationPrompt().size());
    const auto closing = static_cast<std::int64_t>(m_renderer.answerSuffix().size());
    for (const StepIndex index : reused) {
      const PromptBounds& inner = m_bounds[index];
      if (!isOther && !crops) {
        bounds.prompt.least -= tokensOf(m_few[index].table) - inner.prompt.least;
        bounds.prompt.most += std::max<std::int64_t>(0, inner.prompt.most - tokensOf(m_many[index].table));
      } else if (!isOther && opening + inner.answer.least - closing >= m_blockSize) {
        bounds.prompt.least += inner.prompt.least - opening;
      } else {
        bounds.prompt.most += inner.prompt.most - opening;
      }
    }
    const auto segments = static_cast<std::int64_t>(many.segments.size());
    if (bounds.prompt.most > most)
      bounds.mostBlocks +=
          (bounds.prompt.most - most + m_blockSize - 1) / m_blockSize + kMostCopies * segments;
  }

  CountRange answerOf(const plan::Step& step, StepIndex index, const CountRange& view) const {
    const std::int64_t limit = answerLimit(step, m_options, m_model);
    const auto within = [&](std::int64_t prompt) {
      return std::max<std::int64_t>(1, std::min(limit, m_model.maxPositions - prompt));
    };
    // Other answers in the view of a member of a team may end its answer sooner.
    const bool mayEnd = !m_ends.empty() || m_isInTeam[index];
    return {mayEnd ? 1 : within(view.most), within(view.least)};
  }

  /// Returns an answer that adds the fewest tokens to the next prompt. The template does not repeat the
  /// tokens with which the answer ends.
  std::vector<TokenId> fewestTokens(const CountRange& answer) {
    const std::vector<TokenId>& suffix = m_renderer.answerSuffix();
    const auto isEnd = [this](TokenId token) { return std::ranges::find(m_ends, token) != m_ends.end(); };
    // The answer ends with the template's own end, or at its max length.
    const auto end = std::ranges::find_if(suffix, isEnd);
    const auto own = static_cast<std::int64_t>(end - suffix.begin()) + (end == suffix.end() ? 0 : 1);
    if (answer.least == 1 && !suffix.empty()) {
      if (end != suffix.end() && own <= answer.most) return {suffix.begin(), end + 1};
      if (static_cast<std::int64_t>(suffix.size()) >= answer.most)
        return {suffix.begin(), suffix.begin() + static_cast<std::ptrdiff_t>(answer.most)};
      if (!m_ends.empty()) return {m_ends.front()};
    }
    std::vector<TokenId> tokens(static_cast<std::size_t>(answer.least), kAny);
    const std::size_t closing = std::min(tokens.size(), suffix.size());
    std::copy_n(suffix.begin(), closing, tokens.end() - static_cast<std::ptrdiff_t>(closing));
    return tokens;
  }

  const plan::Plan& m_plan;
  const RunOptions& m_options;
  const model::ModelConfig& m_model;
  layout::MessageRenderer& m_renderer;
  std::int32_t m_blockSize;
  std::vector<TokenId> m_ends;
  std::vector<layout::StepOutput> m_few;
  std::vector<layout::StepOutput> m_many;
  std::vector<PromptBounds> m_bounds;
  std::vector<bool> m_isNeeded;
  std::vector<bool> m_isInTeam;
};

}  // namespace

std::int64_t allTokens(const SpanTable& table, const policy::ComputePlan& rows) {
  std::int64_t tokens = 0;
  for (std::size_t i = 0; i < table.segments.size(); ++i) {
    if (!rows.copyOf(i)) tokens += table.segments[i].length();
  }
  return tokens;
}

std::int64_t mostBlocksOf(const layout::SpanTable& table, std::int32_t maxNewTokens, std::int32_t blockSize) {
  std::int64_t blocks = 1;
  for (const Segment& segment : table.segments) {
    const std::int64_t grown = &segment == &table.segments.back() ? maxNewTokens : 0;
    blocks += (segment.length() + grown + blockSize - 1) / blockSize;
  }
  return blocks;
}

std::vector<std::optional<PromptBounds>> promptBounds(const plan::Plan& plan, const RunOptions& options,
                                                      const model::ModelConfig& model,
                                                      layout::MessageRenderer& renderer,
                                                      std::int32_t blockSize, const std::stop_token& stop) {
  std::vector<std::optional<PromptBounds>> bounds(plan.steps.size());
  const bool holdsAnswers =
      std::ranges::any_of(plan.steps, [](const plan::Step& step) { return !step.needs.empty(); });
  if (!holdsAnswers) return bounds;
  try {
    Bounding bounding(plan, options, model, renderer, blockSize);
    for (StepIndex i = 0; i < plan.steps.size() && !stop.stop_requested(); ++i) {
      renderer.useLimits(layoutLimits(plan.steps[i], model, stop));
      bounds[i] = bounding.bound(i);
    }
  } catch (const Failure&) {
    // The real run fails at the same step, and the simulations report the error.
  }
  return bounds;
}

}  // namespace spanscope::run
