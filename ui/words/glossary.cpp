// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/words/glossary.h"

#include "ui/words/tr.h"

#include <algorithm>

namespace spanscope::ui {
namespace {

std::vector<Term> makeGlossary() {
  std::vector<Term> terms;
  const auto add = [&terms](const char* id, const QString& word, const QString& meaning) {
    terms.push_back({.id = QString::fromLatin1(id), .word = word, .meaning = meaning});
  };

  add("query", tr("query"), tr("The tree that is written: messages, joins and generates."));
  add("node", tr("node"), tr("One operator or message of a query: a card on the canvas."));
  add("plus", tr("plus"),
      tr("Parts that are independent of each other: none sees another, and their order does not matter. Each "
         "is stored by itself and found again wherever it stands."));
  add("cross", tr("cross"),
      tr("Parts that build on each other: each sees all before it, so a part is found again only behind the "
         "same parts."));
  add("seq", tr("sequence"), tr("Parts one after the other, each seeing those before it."));
  add("generate", tr("generate"), tr("Asks the model for an answer to what stands below it."));
  add("augment", tr("augment"), tr("Searches a document and puts what fits the question under a plus."));
  add("fragment", tr("fragment"), tr("A piece of a searched document, as it stands in the prompt."));
  add("freeze", tr("frozen"), tr("An answer that was kept stands in for running the node again."));
  add("mute", tr("muted"), tr("Left out of runs, with everything under it."));
  add("plan", tr("plan"),
      tr("The query after rewriting: generate steps in the order in which they need each other."));
  add("step", tr("step"), tr("One generate of a plan, with its prompt."));
  add("ply", tr("ply"), tr("Steps that need nothing of each other and can run at the same time."));
  add("locality", tr("attention locality"),
      tr("A judge of many candidates becomes a tree of judges of few, as a model attends to few better than "
         "to many."));
  add("closure", tr("closure"),
      tr("An inner prompt together with its answer, held by an outer prompt as one part: every block of it "
         "is found in the cache."));

  add("token", tr("token"), tr("A piece of text as the model reads it: about four letters."));
  add("prompt", tr("prompt"), tr("What a step reads before it answers."));
  add("prefill", tr("prefill"), tr("Reading the prompt: computing keys and values of its tokens."));
  add("decode", tr("decoding"), tr("Generating the answer, token by token."));
  add("span", tr("span"),
      tr("A run of tokens that is computed on its own and can be reused at any position."));
  add("segment", tr("segment"),
      tr("One entry of a span table: a run of tokens, its place in this prompt, what it may see."));
  add("span-table", tr("span table"), tr("The ordered list of segments that make up one prompt."));
  add("scope", tr("scope"), tr("A list of segments laid out in order; each child of a plus opens one."));
  add("independent", tr("independent segment"), tr("It sees only itself."));
  add("dependent", tr("dependent segment"), tr("It sees everything before it in its scope."));
  add("base", tr("base position"), tr("Where in the prompt a segment begins, in tokens."));

  add("kv-cache", tr("KV cache"),
      tr("Keys and values of tokens that were computed, kept so that they need not be computed again."));
  add("pool", tr("pool"), tr("The memory of the KV cache, cut into blocks of equal size."));
  add("block", tr("block"), tr("A fixed number of token slots in the pool, 16 unless set otherwise."));
  add("virtual-block", tr("virtual block"), tr("A block by its place in a prompt."));
  add("physical-block", tr("physical block"), tr("A block by its place in the pool."));
  add("hit", tr("hit"), tr("A block of the prompt that was found in the pool."));
  add("relocated", tr("relocated"),
      tr("A hit at another position than the one it was stored at; keys are stored without their position, "
         "so this costs nothing."));
  add("computed", tr("computed"), tr("A block that was not found: the model has read its tokens."));
  add("evicted", tr("evicted"),
      tr("Taken out of the pool to make room; the one used longest ago goes first."));
  add("cached", tr("cached"), tr("Tokens of the prompt that were found, relocated ones included."));
  add("forecast", tr("forecast"), tr("What the next run would find in the cache, known before it runs."));

  add("policy", tr("reuse policy"), tr("Which computed tokens may be used again, and where."));
  add("full-prefill", tr("full prefill"),
      tr("The model reads the whole prompt, each token seeing all before it: what a server without reuse "
         "does."));
  add("block-attention", tr("block attention"),
      tr("Independent parts do not see each other; only what follows them sees all. A model that was not "
         "trained for it answers worse."));
  add("layout", tr("layout"),
      tr("How a prompt becomes tokens: exactly the chat template's text, or with pads and markers as span "
         "servers want them."));
  add("marker", tr("pad, marker"),
      tr("Tokens that only a layout puts into a prompt: pads fill up a block, a marker begins a part at the "
         "beginning of one."));
  add("exactness", tr("exactness"),
      tr("What a result is equal to: ✓ means the same numbers as this way of computing, ≈ means close to "
         "them."));
  add("fidelity", tr("fidelity"), tr("How close a result is to a full prefill of the same text."));

  add("ttft", tr("TTFT"),
      tr("Time to first token, from the moment the step could start. What reuse makes shorter."));
  add("itl", tr("ITL"), tr("Inter-token latency: the mean time between two generated tokens of a step."));
  add("queue", tr("queue"), tr("Time that a step waited though it could have started."));

  add("attention-mass", tr("attention mass"),
      tr("How much of its attention a token gave to a part of the prompt; all parts together are 1."));
  add("sink", tr("sink"),
      tr("The first token of a prompt, on which models put attention that they need nowhere else."));
  add("trace", tr("trace"), tr("The ordered stream of events of a run; every view is drawn from it."));
  add("event", tr("event"), tr("One thing that the engine did, such as looking up a block."));
  add("seed", tr("seed"), tr("Fixes the dice: the same seed, query and model give the same answer."));
  add("temperature", tr("temperature"),
      tr("How freely the answer is chosen; 0: always the likeliest token."));
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
