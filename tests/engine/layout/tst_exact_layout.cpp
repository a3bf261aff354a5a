// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/base/error.h"
#include "engine/layout/layout.h"
#include "engine/plan/planner.h"
#include "engine/query/json/json.h"
#include "engine/text/program_templates.h"
#include "tests/engine/layout/random_prompts.h"
#include "tests/support/test_program.h"

#include <QFile>
#include <QTest>
#include <QtGlobal>

#include <algorithm>
#include <random>

using namespace spanscope;
using namespace spanscope::layout;
using plan::OutputForm;
using plan::PromptNode;

namespace {

constexpr TokenId kAssistant = 6;
constexpr TokenId kEnd = 7;

struct Model {
  std::filesystem::path directory =
      std::filesystem::path(SPANSCOPE_SOURCE_DIR) / "resources" / "models" / "spanlet";
  std::unique_ptr<text::Tokenizer> tokenizer = text::loadTokenizer(directory);
  const text::ChatTemplate* chat = &text::findChatTemplate(directory);
};

const Model& model() {
  static const Model kModel;
  return kModel;
}

PromptNode user(const std::string& text, const NodePath& node = "/u") {
  return {node, plan::PromptMessage{query::Role::User, text}};
}
PromptNode answer(StepIndex step, OutputForm form, const NodePath& node = "/r") {
  return {node, plan::PromptOutput{step, form}};
}
PromptNode run(std::vector<PromptNode> children, const NodePath& node = "/seq") {
  return {node, plan::PromptRun{std::move(children)}};
}
PromptNode plus(std::vector<PromptNode> children, const NodePath& node = "/plus") {
  return {node, plan::PromptPlus{std::move(children)}};
}

SpanTable layOutIn(const text::ChatTemplate& chat, const PromptNode& prompt,
                   const std::vector<StepOutput>& outputs, Visibility visibility = Visibility::Spans) {
  plan::Step step;
  step.node = "/step";
  step.prompt = prompt;
  return layoutExact(step, outputs, *model().tokenizer, chat, visibility);
}

SpanTable layOut(const PromptNode& prompt, const std::vector<StepOutput>& outputs = {},
                 Visibility visibility = Visibility::Spans) {
  return layOutIn(*model().chat, prompt, outputs, visibility);
}

/// A template that begins a conversation with a marker and, unless the system speaks first, a message of its
/// own; and in which the first message of the system is written otherwise than later ones.
text::ChatTemplate chatWithOpening() {
  text::ChatTemplate chat = *model().chat;
  chat.opening = {{true, "<s>"}};
  chat.defaultSystem = "Be brief.";
  chat.openingSystem = text::TurnForm{{{true, "<|system|>"}, {false, " Rules: "}}, {{true, "<|end|>"}}};
  return chat;
}

std::vector<TokenId> ids(const std::string& text) {
  return model().tokenizer->encode(text);
}

std::vector<TokenId> messageIds(const std::string& text) {
  return text::render(*model().chat, *model().tokenizer, query::Role::User, text).ids;
}

std::vector<TokenId> operator+(std::vector<TokenId> a, const std::vector<TokenId>& b) {
  a.insert(a.end(), b.begin(), b.end());
  return a;
}

/// The answer of a step as a whole message.
std::vector<TokenId> answerIds(const std::vector<TokenId>& sampled) {
  std::vector<TokenId> result = {kAssistant};
  result = result + sampled;
  if (sampled.empty() || sampled.back() != kEnd) result.push_back(kEnd);
  return result;
}

std::vector<TokenId> visibleTokens(const SpanTable& table) {
  std::vector<TokenId> tokens;
  for (const Segment& segment : table.segments) {
    if (!segment.hidden)
      tokens.insert(tokens.end(), segment.tokens.begin() + segment.visibleBegin, segment.tokens.end());
  }
  return tokens;
}

using Sees = std::vector<std::uint32_t>;

std::uint64_t testSeed() {
  bool given = false;
  const std::uint64_t fromEnvironment = qEnvironmentVariable("SPANSCOPE_TEST_SEED").toULongLong(&given);
  const std::uint64_t seed = given ? fromEnvironment : 731;
  qInfo("SPANSCOPE_TEST_SEED=%llu", static_cast<unsigned long long>(seed));
  return seed;
}

/// Random prompts, and the steps that they depend on.
class Generator : public test::RandomPrompts {
 public:
  explicit Generator(std::uint64_t seed)
      : RandomPrompts(seed, {"Mira", " lives", " in Lisbon.", "\n", "😀", "<|end|>", "42", ""}, 4) {}

  std::vector<TokenId> sampled() {
    std::vector<TokenId> tokens(below(6));
    for (TokenId& token : tokens) token = static_cast<TokenId>(8 + below(2040));
    if (below(2) == 0) tokens.push_back(kEnd);
    return tokens;
  }

  /// Outputs of a chain of steps, each laid out over those before it.
  std::vector<StepOutput> outputs(std::size_t steps) {
    std::vector<StepOutput> made;
    for (std::size_t step = 0; step < steps; ++step) {
      SpanTable table = layOut(prompt(step, 3), made);
      made.push_back({std::move(table), sampled()});
    }
    return made;
  }
};

/// One visible token as a reading of the tree gives it: its id and the plus children around it, outermost
/// first.
struct FlatToken {
  TokenId id = 0;
  std::vector<int> scopes;
};

/// Reads a prompt tree token by token; knows nothing of segments.
class FlatReader {
 public:
  explicit FlatReader(const std::vector<StepOutput>& outputs) : m_outputs(&outputs) {}

  std::vector<FlatToken> read(const PromptNode& prompt) {
    visit(prompt, {});
    add({kAssistant}, {});
    return m_tokens;
  }

 private:
  void add(const std::vector<TokenId>& tokens, const std::vector<int>& scopes) {
    for (const TokenId id : tokens) m_tokens.push_back({id, scopes});
  }

  void visit(const PromptNode& prompt, const std::vector<int>& scopes) {
    if (const auto* message = std::get_if<plan::PromptMessage>(&prompt.value)) {
      const TokenId marker = message->role == query::Role::System ? 4
                             : message->role == query::Role::User ? 5
                                                                  : 6;
      add({marker}, scopes);
      add(ids(" " + message->text), scopes);
      add({kEnd}, scopes);
    } else if (const auto* output = std::get_if<plan::PromptOutput>(&prompt.value)) {
      std::vector<int> around = scopes;
      // A reused answer attends to nothing of the prompt that contains it.
      if (output->form == OutputForm::Reused) around.push_back(m_nextScope++);
      add(answerIds((*m_outputs)[output->step].tokens), around);
    } else if (const auto* inOrder = std::get_if<plan::PromptRun>(&prompt.value)) {
      for (const PromptNode& child : inOrder->children) visit(child, scopes);
    } else if (const auto* each = std::get_if<plan::PromptPlus>(&prompt.value)) {
      for (const PromptNode& child : each->children) {
        std::vector<int> around = scopes;
        around.push_back(m_nextScope++);
        visit(child, around);
      }
    }
  }

  const std::vector<StepOutput>* m_outputs;
  std::vector<FlatToken> m_tokens;
  int m_nextScope = 0;
};

/// Whether token `row` sees token `column`: itself, or one before it in its own scope or a scope nested in
/// that.
bool seesByTree(const std::vector<FlatToken>& tokens, std::size_t row, std::size_t column) {
  const std::vector<int>& own = tokens[row].scopes;
  const std::vector<int>& other = tokens[column].scopes;
  return column <= row && own.size() <= other.size() && std::equal(own.begin(), own.end(), other.begin());
}

/// Which visible tokens each visible token sees by the table, as [row][column].
std::vector<std::vector<bool>> maskOf(const SpanTable& table) {
  std::vector<std::size_t> begin(table.segments.size());
  std::size_t total = 0;
  for (std::size_t s = 0; s < table.segments.size(); ++s) {
    const Segment& segment = table.segments[s];
    begin[s] = total;
    if (!segment.hidden) total += static_cast<std::size_t>(segment.length() - segment.visibleBegin);
  }
  std::vector<std::vector<bool>> mask(total, std::vector<bool>(total, false));
  for (std::size_t s = 0; s < table.segments.size(); ++s) {
    const Segment& segment = table.segments[s];
    if (segment.hidden) continue;
    const auto count = static_cast<std::size_t>(segment.length() - segment.visibleBegin);
    for (std::size_t j = 0; j < count; ++j) {
      std::vector<bool>& row = mask[begin[s] + j];
      for (const std::uint32_t seen : segment.sees) {
        const Segment& other = table.segments[seen];
        if (other.hidden) continue;
        for (std::size_t k = 0; k < static_cast<std::size_t>(other.length() - other.visibleBegin); ++k) {
          row[begin[seen] + k] = true;
        }
      }
      for (std::size_t k = 0; k <= j; ++k) row[begin[s] + k] = true;
    }
  }
  return mask;
}

bool startsWith(const std::vector<TokenId>& whole, const std::vector<TokenId>& beginning) {
  return whole.size() >= beginning.size() && std::equal(beginning.begin(), beginning.end(), whole.begin());
}

/// What every table must be, whatever it was made from.
void checkInvariants(const SpanTable& table) {
  QVERIFY(!table.segments.empty());
  std::int64_t position = 0;
  for (std::size_t s = 0; s < table.segments.size(); ++s) {
    const Segment& segment = table.segments[s];
    QVERIFY(!segment.tokens.empty());
    if (!segment.hidden) {
      QCOMPARE(segment.base + segment.visibleBegin, position);
      position += segment.length() - segment.visibleBegin;
    }
    QVERIFY(segment.visibleBegin >= 0 && segment.visibleBegin <= segment.length());
    QVERIFY(std::is_sorted(segment.sees.begin(), segment.sees.end()));
    for (const std::uint32_t seen : segment.sees) QVERIFY(seen < s);
    QCOMPARE(segment.independent, segment.scope != 0 && segment.sees.empty());
    QVERIFY((segment.depth == 0 && segment.scope == 0) || segment.scope != 0);
    std::int64_t covered = 0;
    for (const TokenRun& tokens : segment.runs) {
      QVERIFY(tokens.count > 0);
      covered += tokens.count;
    }
    QCOMPARE(covered, std::int64_t{segment.length()});
  }
  QCOMPARE(table.tokenCount(), position);
  const Segment& last = table.segments.back();
  QCOMPARE(last.scope, 0U);
  QCOMPARE(last.tokens.back(), kAssistant);
  QVERIFY(!last.hidden);
}

}  // namespace

class TestExactLayout : public QObject {
  Q_OBJECT

 private Q_SLOTS:
  void chatIsOneSegment();
  void partsOfThePrompt();
  void openingOfTheConversation_data();
  void openingOfTheConversation();
  void documentsAndAQuestion();
  void promptThatEndsInAPlus();
  void nestedScopes();
  void emptyChildrenLeaveNoTrace();
  void systemMessagesWithoutText();
  void answersInTheirForms();
  void sampledEndTokenIsNotDoubled();
  void reusedAnswerCarriesItsChain();
  void reusedInsideReused();
  void fullIsOneSegment();
  void missingOutputs();
  void randomTrees();
  void closureRepeatsTheInnerTable_data();
  void closureRepeatsTheInnerTable();
  void everyPlaceIsANode_data();
  void everyPlaceIsANode();
  void jinjaGivesTheSameTable_data();
  void jinjaGivesTheSameTable();
  void jinjaReportsChangedTexts();
  void jinjaRefusesAMessage();
  void exampleQueries_data();
  void exampleQueries();
};

void TestExactLayout::chatIsOneSegment() {
  const SpanTable table = layOut(run({user("Hello", "/seq/0"), user("Who lives in Porto?", "/seq/1")}));
  checkInvariants(table);
  QCOMPARE(table.segments.size(), std::size_t{1});
  const Segment& segment = table.segments.front();
  QCOMPARE(segment.tokens, messageIds("Hello") + messageIds("Who lives in Porto?") + std::vector{kAssistant});
  QVERIFY(!segment.independent);
  QCOMPARE(segment.node, NodePath("/seq/0"));
  using Source = TokenRun::Source;
  const auto text = [](const char* words) { return static_cast<std::int32_t>(ids(words).size()); };
  const std::vector<TokenRun> expected = {{1, Source::Template, "/seq/0", 0},
                                          {text(" Hello"), Source::Text, "/seq/0", 0},
                                          {1, Source::Template, "/seq/0", 0},
                                          {1, Source::Template, "/seq/1", 1},
                                          {text(" Who lives in Porto?"), Source::Text, "/seq/1", 1},
                                          {1, Source::Template, "/seq/1", 1},
                                          {1, Source::Template, "/step", 1}};
  QVERIFY(segment.runs == expected);
  QVERIFY((table.parts == std::vector<PromptPart>{{"/seq/0", false}, {"/seq/1", false}}));
}

/// A child of a plus is one part with all its messages, an inner child one of its own; what the template adds
/// at the end belongs to the question.
void TestExactLayout::partsOfThePrompt() {
  const auto prompt =
      run({user("Be brief.", "/seq/0"),
           plus({run({user("Mira", "/seq/1/plus/0/seq/0"), user("Otto", "/seq/1/plus/0/seq/1")}),
                 user("Inga", "/seq/1/plus/1")}),
           user("Who?", "/seq/2")});
  for (const Visibility visibility : {Visibility::Spans, Visibility::Full, Visibility::SpansBehindPrefix}) {
    const SpanTable table = layOut(prompt, {}, visibility);
    QCOMPARE(table.parts.size(), std::size_t{4});
    std::vector<bool> inPlus;
    for (const PromptPart& part : table.parts) inPlus.push_back(part.inPlus);
    QVERIFY((inPlus == std::vector{false, true, true, false}));
    QCOMPARE(table.parts[0].node, NodePath("/seq/0"));
    QCOMPARE(table.parts[2].node, NodePath("/seq/1/plus/1"));
    QCOMPARE(table.parts[3].node, NodePath("/seq/2"));
    std::vector<std::uint32_t> parts;
    for (const Segment& segment : table.segments) {
      for (const TokenRun& each : segment.runs) {
        if (parts.empty() || parts.back() != each.part) parts.push_back(each.part);
      }
    }
    QVERIFY((parts == std::vector<std::uint32_t>{0, 1, 2, 3}));
  }
  // With no text after the documents, the generation prompt is a separate segment.
  const SpanTable last = layOut(plus({user("Mira"), user("Otto")}), {}, Visibility::Full);
  QCOMPARE(last.parts.size(), std::size_t{3});
  QVERIFY(!last.parts.back().inPlus);
  QCOMPARE(last.segments.back().runs.back().part, std::uint32_t{2});
}

void TestExactLayout::openingOfTheConversation_data() {
  QTest::addColumn<bool>("system");
  QTest::addColumn<int>("shape");
  for (const bool system : {false, true}) {
    for (int shape = 0; shape < 3; ++shape) QTest::addRow("%d %d", system, shape) << system << shape;
  }
}

void TestExactLayout::openingOfTheConversation() {
  QFETCH(bool, system);
  QFETCH(int, shape);
  const text::ChatTemplate chat = chatWithOpening();
  const auto first = system ? query::Role::System : query::Role::User;
  const PromptNode one{"/one", plan::PromptMessage{first, "Hello"}};
  const PromptNode two{"/two", plan::PromptMessage{query::Role::System, "Hello"}};
  const std::vector<PromptNode> shapes = {run({one, two}), run({run({}), plus({run({one}), two})}),
                                          plus({plus({}), one, two})};
  plan::Step step;
  step.node = "/step";
  step.prompt = shapes[static_cast<std::size_t>(shape)];
  const SpanTable table = layoutExact(step, {}, *model().tokenizer, chat, Visibility::Spans);
  checkInvariants(table);
  const auto render = [&](query::Role role, text::Place place) {
    return text::render(chat, *model().tokenizer, role, "Hello", place).ids;
  };
  std::vector<TokenId> expected = text::renderOpening(chat, *model().tokenizer, system);
  QCOMPARE(expected.size() == 1, system);
  expected = expected + render(first, text::Place::First) + render(query::Role::System, text::Place::Later) +
             std::vector{kAssistant};
  QCOMPARE(visibleTokens(table), expected);
  QVERIFY(render(query::Role::System, text::Place::First) != render(query::Role::System, text::Place::Later));
}

void TestExactLayout::documentsAndAQuestion() {
  const PromptNode prompt =
      run({user("Answer.", "/s"), plus({user("Mira lives in Lisbon.", "/d0"), user("Tarek.", "/d1")}),
           user("Where?", "/q")});
  const SpanTable table = layOut(prompt);
  checkInvariants(table);
  QCOMPARE(table.segments.size(), std::size_t{4});
  const std::vector<Segment>& segments = table.segments;
  QCOMPARE(segments[0].tokens, messageIds("Answer."));
  QCOMPARE(segments[1].tokens, messageIds("Mira lives in Lisbon."));
  QCOMPARE(segments[3].tokens, messageIds("Where?") + std::vector{kAssistant});
  QVERIFY(segments[0].sees.empty() && !segments[0].independent && segments[0].scope == 0);
  QVERIFY(segments[1].sees.empty() && segments[1].independent && segments[1].scope == 1 &&
          segments[1].depth == 1);
  QVERIFY(segments[2].sees.empty() && segments[2].independent && segments[2].scope == 2);
  QVERIFY((segments[3].sees == Sees{0, 1, 2}) && !segments[3].independent && segments[3].scope == 0);
  QCOMPARE(segments[1].node, NodePath("/d0"));
  QCOMPARE(segments[1].base, std::int64_t{segments[0].length()});
  QCOMPARE(segments[2].base, segments[1].base + segments[1].length());
}

void TestExactLayout::promptThatEndsInAPlus() {
  const SpanTable table = layOut(plus({user("a"), user("b")}));
  checkInvariants(table);
  QCOMPARE(table.segments.size(), std::size_t{3});
  QCOMPARE(table.segments[2].tokens, std::vector{kAssistant});
  QVERIFY((table.segments[2].sees == Sees{0, 1}));
  QCOMPARE(table.segments[2].node, NodePath("/step"));
}

void TestExactLayout::nestedScopes() {
  const PromptNode inner = run({user("i0"), plus({user("x"), user("y")}), user("i1")}, "/inner");
  const SpanTable table = layOut(run({user("o"), plus({inner, user("z")}), user("q")}));
  checkInvariants(table);
  // 0 o | 1 i0 | 2 x | 3 y | 4 i1 | 5 z | 6 q
  QCOMPARE(table.segments.size(), std::size_t{7});
  const auto at = [&](std::size_t i) -> const Segment& { return table.segments[i]; };
  QVERIFY(at(1).scope == 1 && at(2).scope == 2 && at(3).scope == 3 && at(4).scope == 1 && at(5).scope == 4);
  QVERIFY(at(1).depth == 1 && at(2).depth == 2 && at(4).depth == 1 && at(6).depth == 0);
  QVERIFY(at(1).independent && at(2).independent && !at(4).independent && at(5).independent);
  QVERIFY((at(4).sees == Sees{1, 2, 3}));
  QVERIFY((at(6).sees == Sees{0, 1, 2, 3, 4, 5}));
  QCOMPARE(at(4).node, NodePath("/inner"));
}

void TestExactLayout::emptyChildrenLeaveNoTrace() {
  const SpanTable bare = layOut(run({user("a"), user("b")}));
  const SpanTable table = layOut(run({user("a"), plus({}), plus({run({}), plus({})}), user("b")}));
  QVERIFY(bare == table);
  const SpanTable some = layOut(plus({run({}), user("x"), plus({run({})}), user("y")}));
  QCOMPARE(some.segments.size(), std::size_t{3});
  QCOMPARE(some.segments[1].scope, 2U);
  const SpanTable nothing = layOut(run({}));
  QCOMPARE(nothing.segments.size(), std::size_t{1});
  QCOMPARE(nothing.segments[0].tokens, std::vector{kAssistant});
}

/// A system message without text is not the same as no system message: templates write its turn, or leave it
/// out, and it replaces the default system message of the template.
void TestExactLayout::systemMessagesWithoutText() {
  const auto prompt = [](const std::string& json) {
    const auto query = query::parseJson(json).query;
    return plan::makePlan(*query, {}).plan->steps.back().prompt;
  };
  const auto spelled = [&](const text::ChatTemplate& chat, const std::string& json) {
    std::string text;
    for (const Segment& segment : layOutIn(chat, prompt(json), {}).segments) {
      for (const TokenId id : segment.tokens) text += model().tokenizer->display(id);
    }
    return text;
  };
  const std::string empty =
      R"({"g":{"model":"m","input":{"seq":[{"system":""},{"user":""},{"user":"Where?"}]}}})";
  const std::string none = R"({"g":{"model":"m","input":{"user":"Where?"}}})";
  text::ChatTemplate chat = *model().chat;
  chat.defaultSystem = "Be brief.";
  const std::string turn = "<|user|> Where?<|end|><|assistant|>";
  QCOMPARE(spelled(chat, none), "<|system|> Be brief.<|end|>" + turn);
  QCOMPARE(spelled(chat, empty), "<|system|> <|end|>" + turn);
  chat.emptySystem = text::EmptySystem::Default;
  QCOMPARE(spelled(chat, empty), spelled(chat, none));
  chat.defaultSystem.reset();
  for (const auto left : {text::EmptySystem::Omitted, text::EmptySystem::OmittedAnywhere}) {
    chat.emptySystem = left;
    QCOMPARE(spelled(chat, empty), turn);
    // It leaves no trace, as a child of a plus neither.
    const SpanTable table = layOutIn(chat, prompt(empty), {});
    QCOMPARE(table.parts.size(), std::size_t{1});
  }
  const SpanTable inPlus = layOutIn(
      chat,
      prompt(R"({"g":{"model":"m","input":{"cross":[{"plus":[{"system":""},{"user":"a"}]},{"user":"b"}]}}})"),
      {});
  QCOMPARE(inPlus.segments.size(), std::size_t{2});
  QCOMPARE(inPlus.parts.size(), std::size_t{2});
}

void TestExactLayout::answersInTheirForms() {
  const std::vector<TokenId> sampled = ids(" Lisbon");
  const std::vector<StepOutput> outputs = {{layOut(user("inner")), sampled}};
  // Continuation and Anew write the same ids at different positions.
  const SpanTable continued =
      layOut(plus({run({user("inner"), answer(0, OutputForm::Continuation)})}), outputs);
  checkInvariants(continued);
  QCOMPARE(continued.segments[0].tokens, messageIds("inner") + answerIds(sampled));
  QVERIFY(continued.segments[0].independent);
  const SpanTable recomputed = layOut(plus({answer(0, OutputForm::Recomputed)}), outputs);
  checkInvariants(recomputed);
  QCOMPARE(recomputed.segments[0].tokens, answerIds(sampled));
  using Source = TokenRun::Source;
  const std::vector<TokenRun> expected = {{1, Source::Template, "/r"},
                                          {static_cast<std::int32_t>(sampled.size()), Source::Output, "/r"},
                                          {1, Source::Template, "/r"}};
  QVERIFY(recomputed.segments[0].runs == expected);
}

void TestExactLayout::sampledEndTokenIsNotDoubled() {
  for (const OutputForm form : {OutputForm::Continuation, OutputForm::Recomputed, OutputForm::Reused}) {
    for (const std::vector<TokenId>& sampled : {std::vector<TokenId>{}, {kEnd}, {100, kEnd}, {kEnd, 100}}) {
      const std::vector<StepOutput> outputs = {{layOut(user("inner")), sampled}};
      const SpanTable table = layOut(run({user("a"), answer(0, form), user("b")}), outputs);
      checkInvariants(table);
      QCOMPARE(visibleTokens(table),
               messageIds("a") + answerIds(sampled) + messageIds("b") + std::vector{kAssistant});
    }
  }
}

void TestExactLayout::reusedAnswerCarriesItsChain() {
  const PromptNode innerPrompt = run({user("i", "/i"), plus({user("x", "/x")}), user("j", "/j")});
  const SpanTable inner = layOut(innerPrompt);
  const std::vector<TokenId> sampled = ids(" Porto");
  const std::vector<StepOutput> outputs = {{inner, sampled}};
  const SpanTable table = layOut(run({user("a"), answer(0, OutputForm::Reused, "/g"), user("b")}), outputs);
  checkInvariants(table);
  // 0 a | 1 i (hidden) | 2 x (hidden) | 3 j and the answer | 4 b
  QCOMPARE(table.segments.size(), std::size_t{5});
  const auto at = [&](std::size_t i) -> const Segment& { return table.segments[i]; };
  QVERIFY(!at(0).hidden && at(1).hidden && at(2).hidden && !at(3).hidden && !at(4).hidden);
  QCOMPARE(at(3).tokens, inner.segments[2].tokens + sampled + std::vector{kEnd});
  QCOMPARE(at(3).tokens[static_cast<std::size_t>(at(3).visibleBegin)], kAssistant);
  QVERIFY((at(3).sees == Sees{1, 2}));
  QVERIFY((at(4).sees == Sees{0, 3}));
  QCOMPARE(at(3).base + at(3).visibleBegin, std::int64_t{at(0).length()});
  QCOMPARE(at(3).base - at(1).base, inner.segments[2].base - inner.segments[0].base);
  QVERIFY(at(1).base < 0);
  QVERIFY(at(1).independent && at(1).scope == 1 && at(2).scope == 2 && at(3).scope == 1);
  QCOMPARE(at(3).node, NodePath("/g"));
  // New scopes get numbers after those of the answer.
  const SpanTable more = layOut(run({answer(0, OutputForm::Reused), plus({user("x"), user("y")})}), outputs);
  checkInvariants(more);
  QCOMPARE(more.segments[3].scope, 3U);
  QCOMPARE(more.segments[4].scope, 4U);
}

void TestExactLayout::reusedInsideReused() {
  const std::vector<StepOutput> first = {{layOut(user("i")), ids(" one")}};
  const SpanTable second = layOut(run({answer(0, OutputForm::Reused), user("j")}), first);
  const std::vector<StepOutput> outputs = {first[0], {second, ids(" two")}};
  const SpanTable table = layOut(run({user("a"), answer(1, OutputForm::Reused)}), outputs);
  checkInvariants(table);
  // 0 a | 1 i and " one" (hidden, its own visible part begins later) | 2 j and " two" | 3 the generation
  // prompt
  QCOMPARE(table.segments.size(), std::size_t{4});
  QVERIFY(table.segments[1].hidden);
  QCOMPARE(table.segments[1].visibleBegin, second.segments[0].visibleBegin);
  QVERIFY((table.segments[2].sees == Sees{1}));
  QVERIFY((table.segments[3].sees == Sees{0, 2}));
}

void TestExactLayout::fullIsOneSegment() {
  const std::vector<StepOutput> outputs = {{layOut(plus({user("x"), user("y")})), ids(" z")}};
  const PromptNode prompt = run({user("a"), plus({user("b"), answer(0, OutputForm::Reused)}), user("c")});
  const SpanTable full = layOut(prompt, outputs, Visibility::Full);
  checkInvariants(full);
  QCOMPARE(full.segments.size(), std::size_t{1});
  QCOMPARE(visibleTokens(full), visibleTokens(layOut(prompt, outputs)));
  QVERIFY(full.segments[0].sees.empty());
  QVERIFY(!full.segments[0].independent);
}

void TestExactLayout::missingOutputs() {
  const auto failsAt = [](const PromptNode& prompt, const std::vector<StepOutput>& outputs) -> NodePath {
    try {
      layOut(prompt, outputs);
    } catch (const Failure& failure) {
      return failure.error().place;
    }
    return "nowhere";
  };
  QCOMPARE(failsAt(answer(1, OutputForm::Recomputed, "/g"), {StepOutput{}}), NodePath("/g"));
  QCOMPARE(failsAt(answer(0, OutputForm::Reused, "/g"), {StepOutput{}}), NodePath("/g"));
  StepOutput cut{layOut(user("x")), {}};
  cut.table.segments.back().tokens.pop_back();
  QCOMPARE(failsAt(answer(0, OutputForm::Reused, "/g"), {cut}), NodePath("/g"));
}

void TestExactLayout::randomTrees() {
  Generator generator(testSeed());
  for (int round = 0; round < 400; ++round) {
    const std::vector<StepOutput> outputs = generator.outputs(generator.below(4));
    const PromptNode prompt = generator.prompt(outputs.size(), 4);
    const SpanTable table = layOut(prompt, outputs);
    checkInvariants(table);
    if (QTest::currentTestFailed()) return;

    const std::vector<FlatToken> flat = FlatReader(outputs).read(prompt);
    const std::vector<TokenId> tokens = visibleTokens(table);
    QCOMPARE(tokens.size(), flat.size());
    for (std::size_t i = 0; i < flat.size(); ++i) QCOMPARE(tokens[i], flat[i].id);

    const std::vector<std::vector<bool>> mask = maskOf(table);
    for (std::size_t row = 0; row < flat.size(); ++row) {
      for (std::size_t column = 0; column < flat.size(); ++column) {
        if (mask[row][column] != seesByTree(flat, row, column)) {
          QFAIL(
              qPrintable(QStringLiteral("round %1: token %2 and token %3").arg(round).arg(row).arg(column)));
        }
      }
    }

    const SpanTable full = layOut(prompt, outputs, Visibility::Full);
    checkInvariants(full);
    QCOMPARE(full.segments.size(), std::size_t{1});
    QCOMPARE(visibleTokens(full), tokens);
    std::vector<TokenRun> spanRuns;
    std::vector<TokenRun> fullRuns = full.segments[0].runs;
    for (const Segment& segment : table.segments) {
      std::int32_t end = 0;
      for (const TokenRun& part : segment.runs) {
        end += part.count;
        if (!segment.hidden && end > segment.visibleBegin) spanRuns.push_back(part);
      }
    }
    // The user sees the same segments, whatever the cache sees.
    QVERIFY(full.parts == table.parts);
    QCOMPARE(spanRuns.size(), fullRuns.size());
    for (std::size_t i = 0; i < spanRuns.size(); ++i) {
      QCOMPARE(spanRuns[i].part, fullRuns[i].part);
      QCOMPARE(spanRuns[i].count, fullRuns[i].count);
      QVERIFY(spanRuns[i].source == fullRuns[i].source);
    }
  }
}

void TestExactLayout::closureRepeatsTheInnerTable_data() {
  QTest::addColumn<bool>("opening");
  QTest::newRow("no opening") << false;
  QTest::newRow("opening") << true;
}

void TestExactLayout::closureRepeatsTheInnerTable() {
  QFETCH(const bool, opening);
  const text::ChatTemplate chat = opening ? chatWithOpening() : *model().chat;
  Generator generator(testSeed());
  for (int round = 0; round < 300; ++round) {
    std::vector<StepOutput> outputs = generator.outputs(generator.below(3));
    const PromptNode inner = generator.prompt(outputs.size(), 3);
    const SpanTable innerTable = layOutIn(chat, inner, outputs);
    const auto step = static_cast<StepIndex>(outputs.size());
    outputs.push_back({innerTable, generator.sampled()});
    const PromptNode before = generator.prompt(outputs.size(), 3);
    const PromptNode beside = generator.prompt(outputs.size(), 3);
    const PromptNode closure = run({inner, answer(step, OutputForm::Continuation)}, "/closure");
    const SpanTable outer = layOutIn(chat, run({before, plus({beside, closure}), user("q")}), outputs);
    checkInvariants(outer);
    if (QTest::currentTestFailed()) return;

    // The segments of the subquery result are the last ones before the question's.
    QVERIFY(outer.segments.size() > innerTable.segments.size());
    const std::size_t offset = outer.segments.size() - 1 - innerTable.segments.size();
    const Segment& anchor = innerTable.segments.back();
    const Segment& outerAnchor = outer.segments[offset + innerTable.segments.size() - 1];
    for (std::size_t i = 0; i < innerTable.segments.size(); ++i) {
      const Segment& a = innerTable.segments[i];
      const Segment& b = outer.segments[offset + i];
      const bool last = i + 1 == innerTable.segments.size();
      QVERIFY(last ? startsWith(b.tokens, a.tokens) : b.tokens == a.tokens);
      if (last)
        QCOMPARE(
            b.tokens, a.tokens + [&] {
              const std::vector<TokenId> whole = answerIds(outputs[step].tokens);
              return std::vector<TokenId>(whole.begin() + 1, whole.end());
            }());
      QCOMPARE(b.base - outerAnchor.base, a.base - anchor.base);
      QCOMPARE(b.visibleBegin, a.visibleBegin);
      QCOMPARE(b.hidden, a.hidden);
      QCOMPARE(b.depth, a.depth + 1);
      Sees shifted = a.sees;
      for (std::uint32_t& seen : shifted) seen += static_cast<std::uint32_t>(offset);
      QVERIFY(b.sees == shifted);
      // Scopes are the same ones, numbered on.
      QCOMPARE(b.scope - outerAnchor.scope, a.scope);
    }
    QVERIFY(outerAnchor.scope != 0);
  }
}

namespace {

/// The template, rendered by Jinja; null if there is no Jinja.
const text::ChatTemplate* byJinja(const std::string& source) {
  try {
    return &text::programTemplateOf(source, R"({"bos_token": "<s>"})");
  } catch (const Failure&) {
    if (text::sharedTemplateProcess().isMissing()) return nullptr;
    throw;
  }
}

/// Renders the turns of the bundled model.
std::string bundledSource() {
  return "{% for m in messages %}<|{{ m.role }}|> {{ m.content }}<|end|>{% endfor %}"
         "{% if add_generation_prompt %}<|assistant|>{% endif %}";
}

}  // namespace

void TestExactLayout::jinjaGivesTheSameTable_data() {
  QTest::addColumn<int>("visibility");
  for (const Visibility each :
       {Visibility::Full, Visibility::Spans, Visibility::SpansAtOneBase, Visibility::SpansBehindPrefix})
    QTest::addRow("%d", static_cast<int>(each)) << static_cast<int>(each);
}

/// Whole conversations, and the conversations of subqueries in them, have the tokens of separate messages.
void TestExactLayout::jinjaGivesTheSameTable() {
  QFETCH(int, visibility);
  const text::ChatTemplate* chat = byJinja(bundledSource());
  if (chat == nullptr) QSKIP("the Debian package python3-jinja2 is not here");
  Generator generator(testSeed());
  for (int round = 0; round < 100; ++round) {
    std::vector<StepOutput> outputs = generator.outputs(generator.below(3));
    const PromptNode inner = generator.prompt(outputs.size(), 3);
    const auto step = static_cast<StepIndex>(outputs.size());
    outputs.push_back({layOut(inner, outputs), generator.sampled()});
    const PromptNode prompt = run({generator.prompt(outputs.size(), 3),
                                   plus({generator.prompt(outputs.size(), 2),
                                         run({inner, answer(step, OutputForm::Continuation)}, "/closure")}),
                                   user("q")});
    const auto how = static_cast<Visibility>(visibility);
    const SpanTable expected = layOutIn(*model().chat, prompt, outputs, how);
    const SpanTable found = layOutIn(*chat, prompt, outputs, how);
    if (how == Visibility::Spans) checkInvariants(found);
    QCOMPARE(found.segments.size(), expected.segments.size());
    for (std::size_t i = 0; i < expected.segments.size(); ++i) {
      const Segment& a = found.segments[i];
      const Segment& b = expected.segments[i];
      QCOMPARE(a.tokens, b.tokens);
      QCOMPARE(a.base, b.base);
      QCOMPARE(a.sees, b.sees);
      QCOMPARE(a.node, b.node);
      QCOMPARE(a.scope, b.scope);
      QCOMPARE(a.hidden, b.hidden);
    }
    QVERIFY(found.parts == expected.parts);
  }
}

void TestExactLayout::jinjaReportsChangedTexts() {
  const text::ChatTemplate* chat = byJinja(
      "{% for m in messages %}<|{{ m.role }}|> {{ m.content.split('</think>')[-1] | trim }}<|end|>{% endfor "
      "%}"
      "{% if add_generation_prompt %}<|assistant|>{% endif %}");
  if (chat == nullptr) QSKIP("the Debian package python3-jinja2 is not here");
  const PromptNode thought{"/a", plan::PromptMessage{query::Role::Assistant, "<think>x</think>Lisbon"}};
  const SpanTable table = layOutIn(*chat, run({user("Where?", "/u0"), thought, user(" Sure? ", "/u1")}), {});
  const std::vector<ChangedText> expected = {{"/a", text::TextChange::Changed},
                                             {"/u1", text::TextChange::Trimmed}};
  QVERIFY(table.changed == expected);
  const auto answerOf = [&](const std::string& text) {
    return text::render(*model().chat, *model().tokenizer, query::Role::Assistant, text).ids;
  };
  QCOMPARE(visibleTokens(table),
           messageIds("Where?") + answerOf("Lisbon") + messageIds("Sure?") + std::vector{kAssistant});
}

void TestExactLayout::jinjaRefusesAMessage() {
  const text::ChatTemplate* chat = byJinja(
      "{% for m in messages %}{% if 'secret' in m.content %}{{ raise_exception('no secrets') }}{% endif %}"
      "<|{{ m.role }}|> {{ m.content }}<|end|>{% endfor %}");
  if (chat == nullptr) QSKIP("the Debian package python3-jinja2 is not here");
  try {
    layOutIn(*chat, run({user("a", "/u0"), plus({user("b", "/d0"), user("secret", "/d1")}), user("q")}), {});
    QFAIL("a refused message was laid out");
  } catch (const Failure& failure) {
    QCOMPARE(failure.error().place, std::string("/d1"));
    QVERIFY2(failure.error().found.find("no secrets") != std::string::npos, failure.what());
  }
}

void TestExactLayout::exampleQueries_data() {
  QTest::addColumn<QString>("name");
  for (const char* name :
       {"chat", "rag", "rag-swapped", "needle", "judge-2", "judge-4", "list-and-combine"}) {
    QTest::newRow(name) << QString(name);
  }
}

/// The whole path from the query: wherever an outer prompt contains a subquery result, it contains each
/// segment of the inner step.
void TestExactLayout::exampleQueries() {
  QFETCH(QString, name);
  QFile file(QStringLiteral(SPANSCOPE_SOURCE_DIR) + "/resources/queries/" + name + ".json");
  QVERIFY(file.open(QIODevice::ReadOnly));
  const query::ParseResult parsed = query::parseJson(file.readAll().toStdString());
  QVERIFY(parsed.query.has_value());
  const plan::PlanResult planned = plan::makePlan(*parsed.query);
  QVERIFY(planned.plan.has_value());
  Generator generator(testSeed());
  std::vector<StepOutput> outputs;
  for (const plan::Step& step : planned.plan->steps) {
    SpanTable table = layoutExact(step, outputs, *model().tokenizer, *model().chat, Visibility::Spans);
    checkInvariants(table);
    for (const StepIndex need : step.needs) {
      for (const Segment& inner : outputs[need].table.segments) {
        const bool found =
            std::any_of(table.segments.begin(), table.segments.end(), [&](const Segment& segment) {
              return startsWith(segment.tokens, inner.tokens) && segment.sees.size() == inner.sees.size();
            });
        QVERIFY(found);
      }
    }
    outputs.push_back({std::move(table), generator.sampled()});
  }
}

void TestExactLayout::everyPlaceIsANode_data() {
  QTest::addColumn<QByteArray>("json");
  QTest::addColumn<int>("fanIn");
  const auto outer = [](const QByteArray& candidates) {
    return R"({"g":{"model":"m","input":{"cross":[{"system":"s"},{"plus":[)" + candidates +
           R"(]},{"user":"q"}]}}})";
  };
  const QByteArray inner = R"({"model":"m","max_tokens":3,"input":{"cross":[{"system":"t"},)"
                           R"({"plus":[{"user":"a"},{"user":"b"}]},{"user":"r"}]}})";
  QTest::newRow("generate") << outer(R"({"g":)" + inner + "}") << 0;
  QTest::newRow("repeat") << outer(R"({"repeat":{"n":3,"g":)" + inner + "}}") << 0;
  QTest::newRow("repeat of one message")
      << outer(R"({"repeat":{"n":2,"g":{"model":"m","input":{"user":"a"}}}})") << 0;
  QTest::newRow("repeat of a repeat")
      << outer(R"({"repeat":{"n":2,"g":{"model":"m","input":{"plus":[{"repeat":{"n":2,"g":)" + inner +
               "}}]}}}}")
      << 0;
  QTest::newRow("map") << outer(R"({"map":{"metadata":{"model":"m"},"inputs":["a","b"]}})") << 0;
  QTest::newRow("attention locality") << outer(R"({"repeat":{"n":5,"g":)" + inner + "}}") << 2;
}

/// What a view links to the canvas by its node path is a node of the query, and where a nested generation is
/// distributed, the segments of the outer prompt name the same node as its step.
void TestExactLayout::everyPlaceIsANode() {
  QFETCH(QByteArray, json);
  QFETCH(int, fanIn);
  const query::ParseResult parsed = query::parseJson(json.toStdString());
  QVERIFY(parsed.query.has_value());
  plan::PlanOptions options;
  options.locality.fanIn = static_cast<std::uint32_t>(fanIn);
  const plan::PlanResult planned = plan::makePlan(*parsed.query, options);
  QVERIFY(planned.plan.has_value());
  const auto isNode = [&parsed](NodePath path) {
    const std::size_t input = path.find("/map/inputs/");  // a part of a map, not a node
    if (input != NodePath::npos) path.resize(input);
    return query::nodeAt(*parsed.query, path) != nullptr;
  };
  Generator generator(testSeed());
  std::vector<StepOutput> outputs;
  for (const plan::Step& step : planned.plan->steps) {
    QVERIFY2(isNode(step.node), step.node.c_str());
    SpanTable table = layoutExact(step, outputs, *model().tokenizer, *model().chat, Visibility::Spans);
    for (const Segment& segment : table.segments) {
      QVERIFY2(isNode(segment.node), segment.node.c_str());
      for (const TokenRun& run : segment.runs) QVERIFY2(isNode(run.node), run.node.c_str());
    }
    for (const StepIndex need : step.needs) {
      const NodePath& inner = planned.plan->steps[need].node;
      QVERIFY2(std::any_of(table.segments.begin(), table.segments.end(),
                           [&inner](const Segment& segment) {
                             return std::any_of(
                                 segment.runs.begin(), segment.runs.end(), [&inner](const TokenRun& run) {
                                   return run.source == TokenRun::Source::Output && run.node == inner;
                                 });
                           }),
               inner.c_str());
    }
    outputs.push_back({std::move(table), generator.sampled()});
  }
}

SPANSCOPE_TEST(tst_exact_layout, TestExactLayout)
#include "tst_exact_layout.moc"
