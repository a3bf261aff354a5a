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
  add("node", tr("node"), tr("One operator or message of a query. The canvas shows it as a card."));
  add("plus", tr("plus"),
      tr("Its children are independent: none attends to another, and their order does not matter. The cache "
         "stores each child alone and reuses it at any position."));
  add("cross", tr("cross"),
      tr("Its children build on each other: each attends to all earlier ones. The cache reuses a child only "
         "after the same earlier children."));
  add("seq", tr("sequence"), tr("Its children are in order, and each attends to all earlier ones."));
  add("generate", tr("generate"), tr("Asks the model for an answer to its input."));
  add("augment", tr("augment"),
      tr("Searches documents and puts the passages that match the question under a plus."));
  add("fragment", tr("fragment"), tr("A passage of a searched document, as it is in the prompt."));
  add("freeze", tr("frozen"), tr("A stored answer replaces a run of the node."));
  add("mute", tr("muted"), tr("Runs leave out the node and everything under it."));

  add("plan", tr("plan"),
      tr("The query after rewriting: its generation steps, in the order in which they need each other."));
  add("step", tr("step"), tr("One generation step of a plan, with its prompt: one call of the model."));
  add("ply", tr("level"), tr("Steps that do not need each other and can run at the same time."));
  add("locality", tr("attention locality"),
      tr("Turns a judge of many candidates into a tree of judges of few. Models compare few candidates "
         "better than many."));
  add("closure", tr("subquery result"),
      tr("The prompt and the answer of an inner step, as one scope in the prompt of an outer step. The cache "
         "has all of it except the last tokens."));

  add("token", tr("token"), tr("A piece of text as the model reads it: about four letters."));
  add("prompt", tr("prompt"), tr("The text that a step reads before it answers."));
  add("prefill", tr("prefill"), tr("Computes the keys and values of the prompt."));
  add("decode", tr("decoding"), tr("Generates the answer, token by token."));
  add("span", tr("span"), tr("A run of tokens that is computed alone and can be reused at any position."));
  add("segment", tr("segment"),
      tr("One entry of a span table: a run of tokens, its start position, and what it can attend to."));
  add("span-table", tr("span table"), tr("The ordered list of the segments of one prompt."));
  add("scope", tr("scope"), tr("A list of segments in order. Each child of a plus opens one."));
  add("independent", tr("independent segment"),
      tr("A segment that attends only to itself. It opens a scope."));
  add("dependent", tr("dependent segment"),
      tr("A segment that attends to every earlier segment of its scope."));
  add("base", tr("start position"), tr("The position of the first token of a segment in the prompt."));

  add("kv-cache", tr("KV cache"),
      tr("The key-value cache stores the keys and values of computed tokens, so that the model does not "
         "compute them again."));
  add("pool", tr("pool"), tr("The memory of the KV cache, divided into blocks of equal size."));
  add("block", tr("block"), tr("A fixed number of token slots in the pool. Default: 16."));
  add("virtual-block", tr("virtual block"),
      tr("A block by its place in a prompt, also called a logical block."));
  add("physical-block", tr("physical block"), tr("A block by its place in the pool."));
  add("hit", tr("hit"), tr("A block of the prompt that the pool already had."));
  add("relocated", tr("relocated"),
      tr("A hit at another position than the stored one. Keys are rotated by the position in their segment, "
         "so they are valid at any start position."));
  add("computed", tr("computed"), tr("A block that the pool did not have: the model computed its tokens."));
  add("evicted", tr("evicted"),
      tr("Removed from the pool to free space. The least recently used block is removed first."));
  add("cached", metricShortName("cached-tokens"), metricMeaning("cached-tokens"));
  add("prediction", tr("prediction"), tr("A prediction of what the next run will reuse."));

  add("policy", tr("reuse policy"),
      tr("Decides which computed tokens a run may reuse, and at which positions."));
  add("full-prefill", tr("full prefill"),
      tr("The model computes the whole prompt, and each token attends to all earlier ones. A server without "
         "a cache does this."));
  add("block-attention", tr("block attention"),
      tr("Independent segments do not attend to each other. Later segments attend to all of them. Models "
         "that were not trained for it give worse answers."));
  add("layout", tr("layout"),
      tr("Decides how a prompt becomes tokens. It is the exact text of the chat template, or adds padding "
         "and delimiter tokens for servers with span support."));
  add("marker", tr("padding, delimiter"),
      tr("Tokens that only a layout adds to a prompt. Padding fills up a block, and a delimiter token begins "
         "a section at the start of a block."));
  add("exactness", tr("match"),
      tr("How a result relates to another way to compute it: ✓ means bit-exact, ≈ means approximate."));
  add("fidelity", tr("fidelity"), tr("How close a result is to a full prefill of the same text."));

  add("ttft", metricShortName("time-to-first-token"), metricExplanation("time-to-first-token"));
  add("itl", metricShortName("inter-token-latency"), metricExplanation("inter-token-latency"));
  add("queue", metricName("queue-time"), metricMeaning("queue-time"));

  add("attention-mass", tr("attention mass"),
      tr("The share of its attention that a token gives to a section of the prompt. All shares together are "
         "1."));
  add("sink", tr("attention sink"),
      tr("The first token of a prompt. Models give it the attention that no other token needs."));
  add("trace", tr("trace"), tr("The ordered stream of the events of a run. Every view is drawn from it."));
  add("event", tr("event"), tr("One thing that the engine did, such as a lookup of a block."));
  add("seed", tr("seed"),
      tr("A number that fixes the random choices: the same seed, query and model give the same answer."));
  add("temperature", tr("temperature"),
      tr("How freely the answer is sampled. 0 always takes the most likely token."));
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
