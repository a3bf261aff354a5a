// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/plan/rules/rules.h"

#include <algorithm>
#include <iterator>

namespace spanscope::plan {
namespace {

/// Child indices of the path from the input of a generate node to the judged plus. Empty: the input itself is
/// this plus.
using Route = std::vector<std::size_t>;

bool isRun(const Draft& draft) {
  return draft.is<query::Join>() && draft.join != query::JoinKind::Plus;
}

/// Whether a plus has more entries than one judge may read. A tree of judges has only generated texts as
/// entries. In the map/reduce shape, documents are entries too.
bool isTooWide(const Draft& plus, const LocalityOptions& options) {
  std::size_t entries = 0;
  for (const Draft& child : plus.children) {
    if (givesNothing(child)) continue;
    if (options.shape == LocalityShape::Tree && !child.is<query::Generate>()) return false;
    ++entries;
  }
  return entries > options.fanIn;
}

void findWide(const Draft& draft, const LocalityOptions& options, Route& route, std::vector<Route>& found) {
  if (draft.isJoin(query::JoinKind::Plus)) {
    if (isTooWide(draft, options)) found.push_back(route);
    return;
  }
  if (!isRun(draft)) return;
  for (std::size_t i = 0; i < draft.children.size(); ++i) {
    route.push_back(i);
    findWide(draft.children[i], options, route, found);
    route.pop_back();
  }
}

std::vector<Route> widePluses(const Draft& judge, const LocalityOptions& options) {
  Route route;
  std::vector<Route> found;
  findWide(judge.input(), options, route, found);
  return found;
}

Draft& follow(Draft& input, const Route& route) {
  Draft* place = &input;
  for (const std::size_t index : route) place = &place->children[index];
  return *place;
}

/// The question: the last user message after the plus. nullptr if there is none.
Draft* lastUserMessage(Draft& draft) {
  if (draft.is<query::Message>()) return draft.role == query::Role::User ? &draft : nullptr;
  if (!isRun(draft)) return nullptr;
  for (std::size_t i = draft.children.size(); i-- > 0;) {
    if (Draft* found = lastUserMessage(draft.children[i])) return found;
  }
  return nullptr;
}

Draft* questionAfter(Draft& input, const Route& route, std::size_t step) {
  if (step == route.size()) return nullptr;
  for (std::size_t i = input.children.size(); i-- > route[step] + 1;) {
    if (Draft* found = lastUserMessage(input.children[i])) return found;
  }
  return questionAfter(input.children[route[step]], route, step + 1);
}

/// A judge without its entries, and the place for the entries.
struct Pattern {
  Draft judge;
  Route route;

  Draft fill(std::vector<Draft> entries) const {
    Draft filled = judge;
    follow(filled.children.front(), route).children = std::move(entries);
    return filled;
  }
};

/// Replaces the last user message after the entries by a question. If there is no such message, the question
/// comes after everything.
void ask(Pattern& pattern, const std::string& text) {
  Draft& input = pattern.judge.children.front();
  if (Draft* question = questionAfter(input, pattern.route, 0)) {
    question->text = text;
    return;
  }
  Draft message;
  message.op = query::kIndexOf<query::Message>;
  message.node = pattern.judge.node;
  message.text = text;
  if (isRun(input)) {
    input.children.push_back(std::move(message));
    return;
  }
  Draft seq;
  seq.node = input.node;
  seq.join = query::JoinKind::Seq;
  seq.children.push_back(std::move(input));
  seq.children.push_back(std::move(message));
  input = std::move(seq);
  pattern.route = {0};
}

class JudgeTree {
 public:
  JudgeTree(const Draft& judge, Route route, RewriteState& state)
      : m_options(state.locality()), m_state(&state), m_first{judge, std::move(route)} {
    Draft& plus = follow(m_first.judge.children.front(), m_first.route);
    std::vector<Draft> entries = std::move(plus.children);
    plus.children.clear();
    for (Draft& entry : entries) (givesNothing(entry) ? m_silent : m_entries).push_back(std::move(entry));
    m_further = m_first;
    if (m_options.reducePrompt) ask(m_further, *m_options.reducePrompt);
  }

  /// The max number of judges, without the last one.
  std::size_t judges() const {
    std::size_t count = 0;
    for (std::size_t width = m_entries.size(); width > m_options.fanIn;) {
      width = chunksOf(width);
      count += width;
      if (m_options.shape == LocalityShape::MapReduce) break;
    }
    return count;
  }

  DraftSize sizeOfJudge() const {
    const DraftSize first = sizeOf(m_first.judge);
    const DraftSize further = sizeOf(m_further.judge);
    return {std::max(first.nodes, further.nodes), std::max(first.textBytes, further.textBytes)};
  }

  Draft build() {
    // A single entry answers the question of the first level only if all levels have the same question.
    const bool judgeSingles =
        m_options.shape == LocalityShape::MapReduce || m_options.reducePrompt.has_value();
    std::vector<Draft> entries = ply(std::move(m_entries), m_first, judgeSingles);
    while (m_options.shape == LocalityShape::Tree && entries.size() > m_options.fanIn) {
      entries = ply(std::move(entries), m_further, false);
    }
    std::move(m_silent.begin(), m_silent.end(), std::back_inserter(entries));
    Draft last = m_further.fill(std::move(entries));
    last.mark = Draft::Mark::Done;
    return last;
  }

 private:
  std::size_t chunksOf(std::size_t width) const { return (width + m_options.fanIn - 1) / m_options.fanIn; }

  /// Builds one level. Adjacent entries form groups whose sizes differ by at most one, with one judge per
  /// group. A single entry is passed on unchanged, unless it must be judged.
  std::vector<Draft> ply(std::vector<Draft> entries, const Pattern& pattern, bool judgeSingles) {
    const std::size_t chunks = chunksOf(entries.size());
    std::vector<Draft> judged;
    judged.reserve(chunks);
    auto begin = entries.begin();
    for (std::size_t i = 0; i < chunks; ++i) {
      const std::size_t size = entries.size() / chunks + (i < entries.size() % chunks ? 1 : 0);
      const auto end = begin + static_cast<std::ptrdiff_t>(size);
      if (size == 1 && !judgeSingles) {
        judged.push_back(std::move(*begin));
      } else {
        Draft judge = pattern.fill({std::move_iterator(begin), std::move_iterator(end)});
        judge.call = m_state->newCall();
        judge.mark = Draft::Mark::AnswerOnly;
        judged.push_back(std::move(judge));
      }
      begin = end;
    }
    return judged;
  }

  LocalityOptions m_options;
  RewriteState* m_state;
  Pattern m_first;    ///< for the first level
  Pattern m_further;  ///< for the other levels
  std::vector<Draft> m_entries;
  std::vector<Draft> m_silent;  ///< entries without tokens, which run for their side effect
};

bool matches(const Draft& node, const RuleSite& /*around*/, const RewriteState& state) {
  return node.is<query::Generate>() && node.mark == Draft::Mark::None &&
         widePluses(node, state.locality()).size() == 1;
}

void rewrite(Draft& node, const RuleSite& /*around*/, RewriteState& state) {
  JudgeTree tree(node, widePluses(node, state.locality()).front(), state);
  if (!state.grow(tree.sizeOfJudge(), tree.judges())) return;
  node = tree.build();
}

}  // namespace

const Rule kLocalityRule = {
    .name = "attention locality",
    .precondition = "a generate node reads exactly one plus with more than k children",
    .before = "g(plus(g(a), g(b), g(c), g(d)))",
    .after = "g(plus(g(plus(g(a), g(b))), g(plus(g(c), g(d)))))",
    .reason =
        "Each judge reads few candidates, and further judges read the answers. No candidate is lost in "
        "the middle of a long prompt.",
    .meaning = Meaning::ChangesPrompts,
    .byDefault = Default::OnRequest,
    .matches = matches,
    .rewrite = rewrite,
};

}  // namespace spanscope::plan
