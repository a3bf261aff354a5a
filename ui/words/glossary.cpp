// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/words/glossary.h"

#include "ui/words/metric_words.h"
#include "ui/words/tr.h"

#include <algorithm>

namespace spanscope::ui {
namespace {

std::vector<Term> makeGlossary() {
  std::vector<Term> terms;
  const auto add = [&terms](const char* id, const QString& word, const QString& meaning) {
    terms.push_back({.id = QString::fromLatin1(id), .word = word, .meaning = meaning});
  };

  add("query", tr("query"), tr("The tree that you write: messages, joins and generate nodes."));
  add("node", tr("node"), tr("One operator or message of a query. The canvas shows the nodes as a tree."));
  add("plus", tr("plus"),
      tr("The children are independent: no child attends to another child, and the order does not matter. "
         "The cache stores each child alone and reuses the child at any position."));
  add("cross", tr("cross"),
      tr("The children build on each other: each child attends to all earlier children. The cache reuses a "
         "child only after the same earlier children."));
  add("seq", tr("sequence"),
      tr("The children are in order, and each child attends to all earlier children."));
  add("generate", tr("generate"), tr("Asks the model for an answer to its input."));
  add("document", tr("document"), tr("A text that a query contains, usually a child of a plus."));
  add("augment", tr("augment"),
      tr("Searches documents and puts the passages that match the question under a plus."));
  add("passage", tr("passage"), tr("A piece of a searched document, as it is in the prompt."));
  add("freeze", tr("frozen"), tr("A stored answer replaces a run of the node."));
  add("mute", tr("muted"), tr("Runs leave out the node and everything under it."));

  add("plan", tr("plan"),
      tr("The query after rewriting: its generation steps in dependency order, each with its prompt."));
  add("step", tr("step"), tr("One call of the model in a plan, with its prompt."));
  add("ply", tr("level"),
      tr("Steps of a plan that do not depend on each other. Steps of one level can run at the same time."));
  add("locality", tr("attention locality"),
      tr("A rewrite of the plan. A tree of steps, each with few candidates, replaces one step that compares "
         "many candidates. A model can overlook some of many candidates."));
  add("closure", tr("subquery result"),
      tr("The prompt and the answer of a subquery, as one scope in the prompt of an outer step. The cache "
         "already has all tokens of this scope except the last tokens."));

  add("token", tr("token"),
      tr("A piece of text that the model reads as one unit, on average about four letters of English."));
  add("prompt", tr("prompt"), tr("The tokens that the model reads before it answers."));
  add("prefill", tr("prefill"),
      tr("The phase in which the model computes the keys and values of the prompt."));
  add("decode", tr("decoding"), tr("The phase in which the model generates the answer, token by token."));
  add("span", tr("span"),
      tr("A sequence of tokens that is computed alone and can be reused at any position."));
  add("segment", tr("segment"),
      tr("One entry of a span table: a sequence of tokens, the start position, and what the tokens can "
         "attend to."));
  add("span-table", tr("span table"), tr("The ordered list of the segments of one prompt."));
  add("scope", tr("scope"),
      tr("A list of segments in order. The whole prompt is a scope, and each child of a plus opens another "
         "scope in this scope."));
  add("independent", tr("independent segment"),
      tr("A segment that attends only to itself. Such a segment opens a scope."));
  add("dependent", tr("dependent segment"),
      tr("A segment that attends to every earlier segment of its scope and of the scopes inside it. Such a "
         "segment attends to nothing outside its scope."));
  add("base", tr("start position"), tr("The position of the first token of a segment in the prompt."));

  add("kv-cache", tr("KV cache"),
      tr("The key-value cache stores the keys and values of computed tokens, so that the model does not "
         "recompute these tokens."));
  add("pool", tr("pool"), tr("The memory of the KV cache, divided into blocks of equal size."));
  add("block", tr("block"), tr("A fixed number of token slots in the pool. Default: 16."));
  add("virtual-block", tr("virtual block"),
      tr("A block by its place in a prompt, also called a logical block."));
  add("physical-block", tr("physical block"), tr("A block by its place in the pool."));
  add("hit", tr("hit"), tr("A block of the prompt that the pool already had."));
  add("relocated", tr("relocated"),
      tr("A hit at another start position than the stored one. The stored keys are rotated by their position "
         "in the segment, so they are valid at any start position."));
  add("computed", tr("computed"), tr("A block that the pool did not have: the model computed its tokens."));
  add("evicted", tr("evicted"),
      tr("Removed from the pool to free space. The least recently used block is removed first."));
  add("cached", metricShortName("cached-tokens"), metricMeaning("cached-tokens"));
  add("prediction", tr("prediction"), tr("A prediction of what the next run will reuse."));

  add("policy", tr("reuse policy"),
      tr("Decides which stored keys and values a run may reuse, and at which positions."));
  add("full-prefill", tr("full prefill"),
      tr("The model computes the whole prompt, and each token attends to all earlier tokens. A server "
         "without a cache does this."));
  add("block-attention", tr("block attention"),
      tr("Independent segments do not attend to each other. A dependent segment attends to all earlier "
         "segments of its scope. Models that were not trained for block attention can give worse answers."));
  add("layout", tr("layout"),
      tr("Decides how a prompt becomes tokens. The tokens are those of the chat template, or have padding "
         "and delimiters for servers with span support."));
  add("marker", tr("padding, delimiter"),
      tr("Tokens that a layout adds to a prompt. A delimiter token begins a section at the start of a block. "
         "Padding fills the block before the delimiter token."));
  add("exactness", tr("match"),
      tr("How a result compares with the result of another computation: ✓ means bit-exact, ≈ means "
         "approximate."));
  add("fidelity", tr("fidelity"), tr("How close a result is to a full prefill of the same text."));

  add("ttft", metricShortName("time-to-first-token"), metricExplanation("time-to-first-token"));
  add("itl", metricShortName("inter-token-latency"), metricExplanation("inter-token-latency"));
  add("queue", metricName("queue-time"), metricMeaning("queue-time"));

  add("attention-mass", tr("attention mass"),
      tr("The share of a token's attention that a section of the prompt gets. The shares of all sections add "
         "up to 1."));
  add("sink", tr("attention sink"),
      tr("The first token of a prompt. Models give this token much attention that no other token needs."));
  add("trace", tr("trace"), tr("The ordered stream of the events of a run. Every view shows this stream."));
  add("event", tr("event"), tr("One thing that the engine did, such as a lookup of a block."));
  add("seed", tr("seed"),
      tr("A number that fixes the random choices of sampling. With the same query, model and settings, the "
         "same number gives the same answer."));
  add("temperature", tr("temperature"),
      tr("How much the sampling varies. At 0, the model always takes the most likely token."));
  return terms;
}

}  // namespace

const std::vector<Term>& glossary() {
  static const std::vector<Term> terms = makeGlossary();
  return terms;
}

const Term* findTerm(QStringView id) {
  const std::vector<Term>& terms = glossary();
  const auto found =
      std::find_if(terms.begin(), terms.end(), [id](const Term& term) { return term.id == id; });
  return found == terms.end() ? nullptr : &*found;
}

QString explain(QStringView id) {
  const Term* term = findTerm(id);
  return term == nullptr ? id.toString() : tr("%1: %2").arg(term->word, term->meaning);
}

}  // namespace spanscope::ui
