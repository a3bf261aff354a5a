// SPDX-License-Identifier: GPL-3.0-or-later
#include "tests/engine/run/whole_runs/plain_prompt.h"

#include <algorithm>
#include <map>
#include <utility>

namespace spanscope::test {

using testing::KeyValue;
using testing::Numbers;

namespace {

const std::vector<plan::PromptNode>* childrenOf(const plan::PromptNode& prompt) {
  if (const auto* run = std::get_if<plan::PromptRun>(&prompt.value)) return &run->children;
  if (const auto* plus = std::get_if<plan::PromptPlus>(&prompt.value)) return &plus->children;
  return nullptr;
}

bool isFilled(const plan::PromptNode& prompt) {
  const auto* children = childrenOf(prompt);
  return children == nullptr || std::any_of(children->begin(), children->end(), isFilled);
}

bool isSubqueryResult(const plan::PromptNode& prompt) {
  const auto* run = std::get_if<plan::PromptRun>(&prompt.value);
  if (run == nullptr || run->children.size() < 2) return false;
  const auto* output = std::get_if<plan::PromptOutput>(&run->children.back().value);
  return output != nullptr && output->form == plan::OutputForm::Continuation;
}

/// The leaf that a prompt begins with; null if there is none.
const plan::PromptNode* firstLeaf(const plan::PromptNode& prompt) {
  const auto* children = childrenOf(prompt);
  if (children == nullptr) return &prompt;
  const auto first = std::find_if(children->begin(), children->end(), isFilled);
  return first == children->end() ? nullptr : firstLeaf(*first);
}

}  // namespace

/// Writes the rows of one prompt.
class PlainLayout {
 public:
  PlainLayout(PlainPrompts& prompts, layout::MessageRenderer& renderer)
      : m_prompts(prompts), m_renderer(renderer), m_rules(renderer.rules()) {}

  std::vector<PlainRow> layOut(const plan::Step& step) {
    open(step.prompt);
    lay(step.prompt);
    if (m_lastMark == m_rules.markers.plus && m_rules.marks()) mark(m_rules.markers.plus);
    put(m_renderer.generationPrompt());
    return std::move(m_rows);
  }

 private:
  void open(const plan::PromptNode& prompt) {
    const plan::PromptNode* first = firstLeaf(prompt);
    m_first = first == nullptr ? nullptr : std::get_if<plan::PromptMessage>(&first->value);
    put(m_renderer.opening(m_first != nullptr && m_first->role == query::Role::System));
  }

  void lay(const plan::PromptNode& prompt) {
    if (const auto* message = std::get_if<plan::PromptMessage>(&prompt.value)) {
      const text::RenderedMessage& rendered = m_renderer.message(
          message->role, message->text, message == m_first ? text::Place::First : text::Place::Later);
      const bool isCropped = m_rules.crops() && message->role == query::Role::Assistant;
      putFirst(rendered.ids, isCropped, m_renderer.assistantSuffix().size());
    } else if (const auto* output = std::get_if<plan::PromptOutput>(&prompt.value)) {
      layOutput(*output);
    } else if (const auto* run = std::get_if<plan::PromptRun>(&prompt.value)) {
      const plan::PromptNode* last = nullptr;
      for (const plan::PromptNode& child : run->children) last = isFilled(child) ? &child : last;
      for (const plan::PromptNode& child : run->children) {
        if (run->isCross && &child == last && m_rules.marks()) mark(m_rules.markers.cross);
        lay(child);
      }
    } else {
      layPlus(std::get<plan::PromptPlus>(prompt.value));
    }
  }

  void layPlus(const plan::PromptPlus& plus) {
    const bool isCausal = m_prompts.m_policy.mask == PlainMask::Causal;
    const std::size_t number = m_nextPlus++;
    for (std::size_t i = 0; i < plus.children.size(); ++i) {
      const plan::PromptNode& child = plus.children[i];
      if (!isFilled(child)) continue;
      // The tokens that fill up a block belong to the text before.
      if (m_rules.marks()) pad();
      const plan::PromptMessage* first = m_first;
      if (!isCausal)
        m_path.push_back({.plus = number, .child = i, .isSubqueryResult = isSubqueryResult(child)});
      if (m_rules.marks()) mark(m_rules.markers.plus);
      if (!isCausal && isSubqueryResult(child)) open(child);
      lay(child);
      if (!isCausal) m_path.pop_back();
      m_first = first;
    }
  }

  void layOutput(const plan::PromptOutput& output) {
    std::vector<TokenId> tokens = m_renderer.generationPrompt();
    const std::vector<TokenId>& answer = m_prompts.m_answers[output.step];
    tokens.insert(tokens.end(), answer.begin(), answer.end());
    // A suffix that the answer already has is not added again.
    const std::vector<TokenId>& suffix = m_renderer.answerSuffix();
    std::size_t have = std::min(suffix.size(), answer.size());
    while (!std::equal(answer.end() - static_cast<std::ptrdiff_t>(have), answer.end(), suffix.begin(),
                       suffix.begin() + static_cast<std::ptrdiff_t>(have)))
      --have;
    tokens.insert(tokens.end(), suffix.begin() + static_cast<std::ptrdiff_t>(have), suffix.end());
    const PlainMask mask = m_prompts.m_policy.mask;
    const bool isReused =
        output.form == plan::OutputForm::Reused && (mask == PlainMask::Spans || mask == PlainMask::Linked);
    if (isReused) {
      m_answer = m_prompts.m_reused.size();
      m_prompts.m_reused.push_back({.step = output.step, .tokens = {}});
      m_path.push_back({.plus = m_nextPlus++, .child = 0, .isSubqueryResult = false});
    }
    putFirst(tokens, m_rules.crops(), suffix.size());
    if (isReused) {
      m_path.pop_back();
      m_answer.reset();
    }
  }

  /// Cropped, tokens end with a block or are not there; what they end with goes first.
  void putFirst(std::vector<TokenId> tokens, bool isCropped, std::size_t suffix) {
    if (isCropped) {
      const auto before = static_cast<std::int64_t>(m_rows.size());
      const std::int64_t end =
          before + static_cast<std::int64_t>(tokens.size() - std::min(tokens.size(), suffix));
      const std::int64_t kept = std::max<std::int64_t>(0, end - end % m_rules.blockSize - before);
      tokens.resize(static_cast<std::size_t>(kept));
    }
    put(tokens);
  }

  void put(const std::vector<TokenId>& tokens) {
    for (const TokenId token : tokens) add(token, m_path, m_answer);
    for (const TokenId token : tokens) {
      if (token == m_rules.markers.plus || token == m_rules.markers.cross) m_lastMark = token;
    }
  }

  void mark(TokenId marker) {
    pad();
    put({marker});
  }

  void pad() {
    while (static_cast<std::int64_t>(m_rows.size()) % m_rules.blockSize != 0) {
      const PlainRow last = m_rows.back();
      add(m_rules.markers.pad, last.path, last.answer);
    }
  }

  void add(TokenId token, const std::vector<PlainRow::Child>& path, std::optional<std::size_t> answer) {
    PlainRow row{.token = token, .position = static_cast<std::int64_t>(m_rows.size()), .path = path};
    if (!m_rows.empty() && m_rows.back().path == path) row.local = m_rows.back().local + 1;
    if (answer) {
      std::vector<TokenId>& tokens = m_prompts.m_reused[*answer].tokens;
      row.answer = answer;
      row.answerRow = tokens.size();
      tokens.push_back(token);
    }
    m_rows.push_back(std::move(row));
  }

  PlainPrompts& m_prompts;
  layout::MessageRenderer& m_renderer;
  layout::LayoutRules m_rules;
  std::vector<PlainRow> m_rows;
  std::vector<PlainRow::Child> m_path;
  std::optional<std::size_t> m_answer;
  std::size_t m_nextPlus = 0;
  const plan::PromptMessage* m_first = nullptr;
  std::optional<TokenId> m_lastMark;
};

PlainPrompts::PlainPrompts(const plan::Plan& plan, const std::vector<std::vector<TokenId>>& answers,
                           layout::MessageRenderer& renderer, const testing::PlainTransformer& plain,
                           PlainPolicy policy)
    : m_plain(plain),
      m_policy(policy),
      m_answers(answers),
      m_generationPrompt(renderer.generationPrompt().size()) {
  for (const plan::Step& step : plan.steps) m_prompts.push_back(PlainLayout(*this, renderer).layOut(step));
}

/// The first rows of a prompt, and tokens after them in the outermost scope.
std::vector<PlainRow> PlainPrompts::rowsOf(StepIndex step, std::size_t promptRows,
                                           const std::vector<TokenId>& behind) const {
  std::vector<PlainRow> rows(m_prompts[step].begin(),
                             m_prompts[step].begin() + static_cast<std::ptrdiff_t>(promptRows));
  for (const TokenId token : behind) {
    PlainRow row{.token = token, .position = static_cast<std::int64_t>(rows.size()), .path = {}};
    if (!rows.empty() && rows.back().path.empty()) row.local = rows.back().local + 1;
    rows.push_back(std::move(row));
  }
  return rows;
}

bool PlainPrompts::sees(const PlainRow& row, const PlainRow& earlier) const {
  if (m_policy.mask == PlainMask::Causal) return true;
  const std::size_t shared = std::min(row.path.size(), earlier.path.size());
  std::size_t same = 0;
  while (same < shared && row.path[same] == earlier.path[same]) ++same;
  // The earlier one is in the row's scope or in one that is nested there.
  if (same == row.path.size()) return true;
  if (m_policy.mask != PlainMask::BehindPrefix) return false;
  const bool areSiblings = same < earlier.path.size() && row.path[same].plus == earlier.path[same].plus;
  const bool isApart = std::any_of(row.path.begin() + static_cast<std::ptrdiff_t>(same), row.path.end(),
                                   [](const PlainRow::Child& child) { return child.isSubqueryResult; });
  return !areSiblings && !isApart;
}

/// Every row that is not reused, with the attention that its mask allows; with `before`, of Linked the second
/// time.
PlainPrompts::Passed PlainPrompts::passOnce(const std::vector<PlainRow>& rows,
                                            const std::vector<Passed>& reused, const Passed* before) const {
  const auto isComputed = [&](const PlainRow& row) {
    if (before == nullptr) return !row.answer;
    const bool isFirstSegment = &row - rows.data() == row.local;
    return row.path.empty() || (!isFirstSegment && row.local < m_policy.linked) ||
           (isFirstSegment && !row.answer);
  };
  Passed passed;
  for (const PlainRow& row : rows) passed.hidden.push_back(m_plain.embed(row.token));
  for (std::int32_t layer = 0; layer < m_plain.layers(); ++layer) {
    const auto at = static_cast<std::size_t>(layer);
    std::vector<Numbers>& entering = passed.entering.emplace_back();
    std::vector<KeyValue> own;
    for (std::size_t i = 0; i < rows.size(); ++i) {
      const PlainRow& row = rows[i];
      if (isComputed(row)) {
        entering.push_back(passed.hidden[i]);
      } else if (row.answer) {
        const std::vector<Numbers>& inner = reused[*row.answer].entering[at];
        const std::size_t length = m_reused[*row.answer].tokens.size();
        entering.push_back(inner[inner.size() - length + row.answerRow]);
      } else {
        entering.push_back(before->entering[at][i]);
      }
      own.push_back(m_plain.keyValue(layer, entering.back(), row.position));
    }
    for (std::size_t i = 0; i < rows.size(); ++i) {
      if (!isComputed(rows[i])) continue;
      std::vector<const KeyValue*> seen;
      for (std::size_t j = 0; j <= i; ++j) {
        if (before != nullptr || sees(rows[i], rows[j])) seen.push_back(&own[j]);
      }
      passed.hidden[i] = m_plain.next(layer, entering[i], rows[i].position, seen);
    }
  }
  return passed;
}

PlainPrompts::Passed PlainPrompts::pass(const std::vector<PlainRow>& rows) const {
  // Of reused answers, their rows under their own prompts.
  std::vector<Passed> reused(m_reused.size());
  for (const PlainRow& row : rows) {
    if (!row.answer || !reused[*row.answer].entering.empty()) continue;
    const Reused& answer = m_reused[*row.answer];
    reused[*row.answer] =
        pass(rowsOf(answer.step, m_prompts[answer.step].size() - m_generationPrompt, answer.tokens));
  }
  const Passed spans = passOnce(rows, reused, nullptr);
  return m_policy.mask == PlainMask::Linked ? passOnce(rows, reused, &spans) : spans;
}

std::vector<Numbers> PlainPrompts::logits(StepIndex step) const {
  const std::vector<TokenId>& answer = m_answers[step];
  const std::size_t prompt = m_prompts[step].size();
  const Passed passed = pass(rowsOf(step, prompt, {answer.begin(), answer.end() - 1}));
  std::vector<Numbers> logits;
  for (std::size_t i = 0; i < answer.size(); ++i)
    logits.push_back(m_plain.logits(passed.hidden[prompt - 1 + i]));
  return logits;
}

}  // namespace spanscope::test
