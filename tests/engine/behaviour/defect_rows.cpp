// SPDX-License-Identifier: GPL-3.0-or-later
// What goes wrong in the reference server's span patch, and must not here. All on a model that computes.
#include "engine/plan/planner.h"
#include "engine/policy/policies.h"
#include "engine/query/json/json.h"
#include "engine/run/run_options.h"
#include "engine/run/run_result.h"
#include "engine/run/session.h"
#include "engine/text/chat_template.h"
#include "engine/text/tokenizer.h"
#include "tests/engine/behaviour/table_row.h"
#include "tests/engine/run/session_fixture.h"

#include <cstring>

namespace spanscope::behaviour {

using test::SpanletSession;
using test::TinySession;
using Tokens = std::vector<TokenId>;

namespace {

/// Tokens of the tiny model, different for different seeds.
Tokens text(std::uint32_t seed, std::size_t count) {
  Tokens tokens;
  for (std::size_t i = 0; i < count; ++i) {
    seed = seed * 1664525U + 1013904223U;
    tokens.push_back(static_cast<TokenId>((seed >> 16U) % 61U));
  }
  return tokens;
}

/// Independent spans and a question that sees them all.
layout::SpanTable tableOf(const std::vector<Tokens>& spans, const Tokens& question) {
  layout::SpanTable table;
  std::int64_t base = 0;
  for (const Tokens& span : spans) {
    layout::Segment& segment = table.segments.emplace_back();
    segment.independent = true;
    segment.scope = static_cast<std::uint32_t>(table.segments.size());
    segment.tokens = span;
    segment.base = base;
    base += segment.length();
  }
  layout::Segment last;
  last.tokens = question;
  last.base = base;
  for (std::uint32_t seen = 0; seen < spans.size(); ++seen) last.sees.push_back(seen);
  table.segments.push_back(last);
  return table;
}

struct Answer {
  std::vector<float> logits;
  std::int64_t cached = 0;
  std::vector<trace::BlockLookedUp> lookups;
};

Answer ask(TinySession& tiny, const layout::SpanTable& table) {
  const std::size_t before = tiny.sink.all<trace::BlockLookedUp>().size();
  const run::LogitsResult result = tiny.session->logits({.table = table});
  const auto all = tiny.sink.all<trace::BlockLookedUp>();
  return {.logits = result.logits.at(0),
          .cached = result.cachedTokens,
          .lookups = {all.begin() + static_cast<std::ptrdiff_t>(before), all.end()}};
}

void sameBits(const Answer& found, const Answer& expected, const char* what) {
  require(
      found.logits.size() == expected.logits.size() &&
          std::memcmp(found.logits.data(), expected.logits.data(), found.logits.size() * sizeof(float)) == 0,
      what);
}

Answer computedCold(const layout::SpanTable& table) {
  TinySession cold(1, {});
  return ask(cold, table);
}

const Tokens kA = text(1, 40);
const Tokens kB = text(2, 32);
const Tokens kC = text(3, 40);
const Tokens kQ = text(4, 20);

/// The patch makes the key of a question of its own block alone: [C,B,Q] finds what [A,B,Q] computed.
void questionBehindAnotherSpan() {
  TinySession tiny(1, {});
  ask(tiny, tableOf({kA, kB}, kQ));
  const layout::SpanTable other = tableOf({kC, kB}, kQ);
  const Answer found = ask(tiny, other);
  same(found.cached, std::int64_t{32}, "B is found, and nothing else");
  sameBits(found, computedCold(other), "the answer is that of a cold cache");
}

/// The patch begins a new chain wherever the text has a marker's token at a multiple of the block.
void markersInTheText() {
  for (const TokenId marker : {10, 31, 27}) {
    TinySession tiny(1, {});
    Tokens rest = text(7, 20);
    rest.front() = marker;
    Tokens first = text(5, 16);
    Tokens second = text(6, 16);
    first.insert(first.end(), rest.begin(), rest.end());
    second.insert(second.end(), rest.begin(), rest.end());
    ask(tiny, tableOf({}, first));
    const layout::SpanTable other = tableOf({}, second);
    const Answer found = ask(tiny, other);
    same(found.cached, std::int64_t{0}, "what stands behind other text is not found");
    sameBits(found, computedCold(other), "the answer is that of a cold cache");
  }
}

/// The patch has no mask: the values of a span inside a prompt depend on the tokens before it.
void spanInsideAPromptAndAlone() {
  TinySession inside(1, {});
  ask(inside, tableOf({kC, kA}, kQ));
  TinySession alone(1, {});
  ask(alone, tableOf({kA}, kQ));
  const layout::SpanTable asked = tableOf({kA, kB}, kQ);
  const Answer one = ask(inside, asked);
  const Answer other = ask(alone, asked);
  require(one.cached >= 40 && other.cached >= 40, "A is found in both");
  sameBits(one, other, "whoever computed it");
  sameBits(one, computedCold(asked), "and as if nobody had");
}

/// The patch ends its lookup at the first missing block, whatever blocks follow.
void missInTheFirstSpan() {
  TinySession tiny(1, {});
  ask(tiny, tableOf({kA, kB, kC}, kQ));
  const layout::SpanTable other = tableOf({text(9, 40), kB, kC}, kQ);
  const Answer found = ask(tiny, other);
  same(found.cached, std::int64_t{72}, "B and C are found");
  sameBits(found, computedCold(other), "the answer is that of a cold cache");
}

/// The text that the model sees, from the trace of a run of this query.
std::string seenText(const std::string& json, const policy::Policy& policy) {
  SpanletSession spanlet({}, 1);
  const auto parsed = query::parseJson(json);
  run::RunOptions options;
  options.policy = policy;
  const run::RunResult result = spanlet.session->run(*plan::makePlan(*parsed.query, {}).plan, options);
  require(result.outcome == trace::RunOutcome::Finished, "the query runs");
  std::string text;
  const auto tables = spanlet.sink.all<trace::SpanTableLaidOut>();
  for (const trace::SegmentInfo& segment : tables.at(0).segments) {
    for (const TokenId token : segment.tokens) {
      const bool isControl = spanlet.tokenizer->isControl(token);
      text += isControl ? spanlet.tokenizer->display(token) : spanlet.tokenizer->bytes(token);
    }
  }
  return text;
}

std::string askingOf(const std::string& model) {
  return R"({"g":{"model":")" + model +
         R"(","max_tokens":2,"temperature":0,"input":{"cross":[{"plus":[{"user":"a"},{"assistant":"hello"},)"
         R"({"user":"The lamp gave little light."}]},{"user":"Where?"}]}}})";
}

/// The patch pads inside of the text and crops what does not fill a block: of "hello" nothing is left.
void nothingIsPaddedOrCropped() {
  const std::string spans = seenText(askingOf("m"), policy::kSpans);
  same(spans, seenText(askingOf("m"), policy::kPrefix), "the text is that of a prompt without spans");
  for (const char* part : {"hello", "The lamp gave little light.", "Where?"})
    require(spans.find(part) != std::string::npos, spans + " has “" + part + "”");
  same(spans,
       std::string("<|user|> a<|end|><|assistant|> hello<|end|><|user|> The lamp gave little light.<|end|>"
                   "<|user|> Where?<|end|><|assistant|>"),
       "the template's text");
}

/// The patch leaves out the text between turns, and takes its template from the name of the model.
void templatesAreThoseOfTheCheckpoint() {
  const text::ChatTemplate& chat = text::chatTemplateNamed("chatml");
  std::string joined;
  joined += text::spellMessage(chat, query::Role::System, "Be brief.", text::Place::First);
  joined += text::spellMessage(chat, query::Role::User, "Hello.");
  joined += text::spell(chat.generationPrompt);
  same(joined,
       std::string("<|im_start|>system\nBe brief.<|im_end|>\n<|im_start|>user\nHello.<|im_end|>\n"
                   "<|im_start|>assistant\n"),
       "messages that are rendered one by one are joined as the template joins them");
  const std::string text = seenText(askingOf("m"), policy::kSpans);
  for (const char* name : {"ibm-granite/granite-3.3-2b-instruct", "meta-llama/Llama-3.1-8B", "qwen"})
    same(seenText(askingOf(name), policy::kSpans), text, "the name of the model changes nothing");
}

/// The patch counts a block that occurs twice in a request twice when it checks for room.
void aSpanTwiceIsCountedOnce() {
  run::SessionConfig config;
  config.blockCount = 1 + 2 + 2;  // the null block, a span of two blocks, a question of two
  TinySession tiny(1, config);
  ask(tiny, tableOf({kB}, kQ));
  const layout::SpanTable twice = tableOf({kB, kB}, kQ);
  const Answer found = ask(tiny, twice);
  same(found.cached, std::int64_t{64}, "the span is found twice");
  sameBits(found, computedCold(twice), "the answer is that of a cold cache");
}

}  // namespace

TableRows defectRows() {
  return {{"D1 the question behind another span", questionBehindAnotherSpan},
          {"D2 marker tokens in the text", markersInTheText},
          {"D3 a span computed inside a prompt", spanInsideAPromptAndAlone},
          {"D4 a miss in the first of several spans", missInTheFirstSpan},
          {"D5 padding and cropping", nothingIsPaddedOrCropped},
          {"D6 chat templates", templatesAreThoseOfTheCheckpoint},
          {"D7 a span that stands twice in a request", aSpanTwiceIsCountedOnce}};
}

}  // namespace spanscope::behaviour
