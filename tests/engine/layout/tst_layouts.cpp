// SPDX-License-Identifier: GPL-3.0-or-later
// The padded and cropped layouts: token for token what the reference makes of a body, worked out by hand for
// small prompts, and what holds for every prompt.
#include "engine/base/error.h"
#include "engine/layout/layout.h"
#include "engine/layout/layouts.h"
#include "engine/plan/planner.h"
#include "engine/query/json/json.h"
#include "engine/query/node_parts.h"
#include "engine/spnl/prompt_tokens.h"
#include "engine/spnl/request_text.h"
#include "tests/engine/layout/random_prompts.h"
#include "tests/support/product_text.h"
#include "tests/support/test_program.h"

#include <QFile>
#include <QJsonDocument>
#include <QJsonObject>
#include <QTest>

#include <algorithm>
#include <atomic>
#include <random>

using namespace spanscope;
using namespace spanscope::layout;
using plan::OutputForm;
using plan::PromptNode;
using spanscope::product_text::says;
using Source = TokenRun::Source;

namespace {

constexpr TokenId kAssistant = 6;
constexpr TokenId kEnd = 7;

struct Model {
  std::filesystem::path directory =
      std::filesystem::path(SPANSCOPE_SOURCE_DIR) / "resources" / "models" / "spanlet";
  std::unique_ptr<text::Tokenizer> tokenizer = text::loadTokenizer(directory);
  const text::ChatTemplate* chat = &text::findChatTemplate(directory);
  MarkerTokens markers = markerTokens(*tokenizer);
};

const Model& model() {
  static const Model kModel;
  return kModel;
}

std::uint64_t testSeed() {
  bool given = false;
  const std::uint64_t fromEnvironment = qEnvironmentVariable("SPANSCOPE_TEST_SEED").toULongLong(&given);
  const std::uint64_t seed = given ? fromEnvironment : 20261123;
  qInfo("SPANSCOPE_TEST_SEED=%llu", static_cast<unsigned long long>(seed));
  return seed;
}

/// Counts the texts of some length that it is asked for, and refuses one of them.
class WatchedTokenizer final : public text::Tokenizer {
 public:
  void encodeTo(std::string_view text, const std::stop_token& stop,
                const text::TokenSink& sink) const override {
    if (text.size() >= 1000) ++asked;
    if (text.find("refused") != std::string_view::npos)
      throw Failure({"", "text", "a refused text", "another one"});
    model().tokenizer->encodeTo(text, stop, sink);
  }
  TokenId controlId(std::string_view piece) const override { return model().tokenizer->controlId(piece); }
  std::string bytes(TokenId id) const override { return model().tokenizer->bytes(id); }
  std::string display(TokenId id) const override { return model().tokenizer->display(id); }
  bool isControl(TokenId id) const override { return model().tokenizer->isControl(id); }
  std::int32_t vocabularySize() const override { return model().tokenizer->vocabularySize(); }

  mutable std::atomic<int> asked = 0;
};

/// Of two hundred thousand bytes, each another one.
std::vector<std::string> longDocuments(int count) {
  std::vector<std::string> documents;
  for (int i = 0; i < count; ++i) {
    std::string text = "Document " + std::to_string(i) + ".";
    while (text.size() < 200'000)
      text += " The lamp gave little light " + std::to_string(text.size() * 7 + 1) + ".";
    documents.push_back(text);
  }
  return documents;
}

PromptNode message(query::Role role, const std::string& text, const NodePath& node = "/m") {
  return {node, plan::PromptMessage{role, text}};
}
PromptNode user(const std::string& text) {
  return message(query::Role::User, text, "/u");
}
PromptNode assistant(const std::string& text) {
  return message(query::Role::Assistant, text, "/a");
}
PromptNode answer(StepIndex step, OutputForm form) {
  return {"/r", plan::PromptOutput{step, form}};
}
PromptNode cross(std::vector<PromptNode> children) {
  return {"/cross", plan::PromptRun{.children = std::move(children), .isCross = true}};
}
PromptNode seq(std::vector<PromptNode> children) {
  return {"/seq", plan::PromptRun{.children = std::move(children)}};
}
PromptNode plus(std::vector<PromptNode> children) {
  return {"/plus", plan::PromptPlus{std::move(children)}};
}

SpanTable layOutAs(Layout layout, std::int32_t blockSize, const PromptNode& prompt,
                   const std::vector<StepOutput>& outputs = {}, Visibility visibility = Visibility::Spans) {
  MessageRenderer renderer(*model().tokenizer, *model().chat);
  renderer.useLayout(layout, blockSize);
  plan::Step step;
  step.node = "/step";
  step.prompt = prompt;
  return layOut(step, outputs, renderer, visibility);
}

/// A visible token and what it is for.
struct Seen {
  TokenId id = 0;
  Source source = Source::Text;
};

std::vector<Seen> visible(const SpanTable& table) {
  std::vector<Seen> tokens;
  for (const Segment& segment : table.segments) {
    if (segment.hidden) continue;
    std::int32_t local = 0;
    for (const TokenRun& run : segment.runs) {
      for (std::int32_t i = 0; i < run.count; ++i, ++local) {
        if (local < segment.visibleBegin) continue;
        tokens.push_back({segment.tokens[static_cast<std::size_t>(local)], run.source});
      }
    }
  }
  return tokens;
}

std::vector<TokenId> idsOf(const SpanTable& table) {
  std::vector<TokenId> ids;
  for (const Seen& token : visible(table)) ids.push_back(token.id);
  return ids;
}

bool isMark(const Seen& token) {
  return token.source == Source::Pad || token.source == Source::PlusMarker ||
         token.source == Source::CrossMarker;
}

/// What was there before the layout: without pads and markers, with what was cropped at its place.
std::vector<TokenId> undone(const SpanTable& table) {
  std::vector<TokenId> ids;
  const std::vector<Seen> tokens = visible(table);
  auto cropped = table.cropped.begin();
  for (std::size_t i = 0; i <= tokens.size(); ++i) {
    for (; cropped != table.cropped.end() && cropped->before == static_cast<std::int64_t>(i); ++cropped)
      ids.insert(ids.end(), cropped->tokens.begin(), cropped->tokens.end());
    if (i < tokens.size() && !isMark(tokens[i])) ids.push_back(tokens[i].id);
  }
  return cropped == table.cropped.end() ? ids : std::vector<TokenId>{};
}

/// A letter for each token, with a bar between blocks of the view: t template, x text, o answer, . padding, +
/// and @ markers.
QString drawing(const SpanTable& table, std::int32_t blockSize) {
  QString text;
  std::int32_t count = 0;
  for (const Seen& token : visible(table)) {
    if (count > 0 && count % blockSize == 0) text += QLatin1Char('|');
    constexpr std::array kLetters{'t', 'x', 'o', '.', '+', '@'};
    text += QLatin1Char(kLetters.at(static_cast<std::size_t>(token.source)));
    ++count;
  }
  return text;
}

/// Random prompts, and the steps that they depend on.
class Generator : public test::RandomPrompts {
 public:
  explicit Generator(std::uint64_t seed)
      : RandomPrompts(seed, {"Mira", " lives", " in Lisbon.", "\n", " 3 + 4", "@", "<"}, 9) {}

  /// Outputs of a chain of steps, each laid out over those before it.
  std::vector<StepOutput> outputs(std::size_t steps, Layout layout, std::int32_t blockSize,
                                  std::uint64_t seed) {
    std::vector<StepOutput> made;
    Generator trees(seed);
    for (std::size_t step = 0; step < steps; ++step) {
      SpanTable table = layOutAs(layout, blockSize, trees.prompt(step, 2), made);
      std::vector<TokenId> tokens(trees.below(24));
      for (TokenId& token : tokens) token = static_cast<TokenId>(300 + trees.below(1700));
      if (trees.below(2) == 0) tokens.push_back(kEnd);
      made.push_back({std::move(table), std::move(tokens)});
    }
    return made;
  }
};

bool hasEmptyPart(const query::Node& node) {
  if (const auto* message = node.as<query::Message>()) return message->text.empty();
  const std::vector<query::ChildRef> children = query::childrenOf(node);
  return (children.empty() && node.as<query::Join>() != nullptr) ||
         std::any_of(children.begin(), children.end(),
                     [](const query::ChildRef& child) { return hasEmptyPart(*child.node); });
}

/// The only step of a generate, with the query as it was written.
std::optional<plan::Step> unrewritten(const query::Generate& generate) {
  plan::PlanOptions options;
  options.distribute = false;
  for (const char* rule : {"drop empty", "unwrap", "flatten", "flatten plus"}) options.rules[rule] = false;
  const plan::PlanResult made = plan::makePlan(query::Node{generate}, options);
  if (!made.plan || made.plan->steps.size() != 1) return std::nullopt;
  return made.plan->steps.front();
}

}  // namespace

class TestLayouts : public QObject {
  Q_OBJECT

 private Q_SLOTS:
  void longDocumentsAreEncodedTogether();
  void whatIsEncodedTogetherFailsAlone();
  void tableOfLayouts();
  void marksAreSingleTokens();
  void tokensAreThoseOfTheReference_data();
  void tokensAreThoseOfTheReference();
  void byHand_data();
  void byHand();
  void randomTrees_data();
  void randomTrees();
  void answersAreCropped();
  void padsGoWithWhatTheyStandBehind();
};

void TestLayouts::longDocumentsAreEncodedTogether() {
  const std::vector<std::string> documents = longDocuments(5);
  std::vector<PromptNode> nodes;
  for (const std::string& text : documents) nodes.push_back(user(text));
  nodes.push_back(user(documents.front()));
  plan::Step step;
  step.prompt =
      cross({message(query::Role::System, "Answer from the documents."), plus(nodes), user("Which?")});
  const WatchedTokenizer watched;
  MessageRenderer together(watched, *model().chat);
  const SpanTable table = layOut(step, {}, together, Visibility::Spans);
  // Each text once, though one is there twice.
  QCOMPARE(watched.asked.load(), 5);
  // One after the other, as nothing was prepared.
  MessageRenderer alone(*model().tokenizer, *model().chat);
  for (const std::string& text : documents) alone.message(query::Role::User, text, text::Place::Later);
  const SpanTable expected = layOut(step, {}, alone, Visibility::Spans);
  QCOMPARE(table.segments.size(), expected.segments.size());
  for (std::size_t i = 0; i < table.segments.size(); ++i)
    QVERIFY(table.segments[i].tokens == expected.segments[i].tokens);
}

/// With the error that it has one after the other, and without more than the limits allow.
void TestLayouts::whatIsEncodedTogetherFailsAlone() {
  std::vector<std::string> documents = longDocuments(6);
  documents[2] += " refused";
  documents[4] += " refused";
  std::vector<MessageRenderer::Message> messages;
  for (const std::string& text : documents) messages.push_back({.text = text});
  const WatchedTokenizer watched;
  MessageRenderer renderer(watched, *model().chat);
  renderer.prepare(messages);
  for (std::size_t i = 0; i < documents.size(); ++i) {
    try {
      const text::RenderedMessage& rendered =
          renderer.message(query::Role::User, documents[i], text::Place::Later);
      QVERIFY(rendered.ids ==
              text::render(*model().chat, *model().tokenizer, query::Role::User, documents[i]).ids);
      QVERIFY(i != 2 && i != 4);
    } catch (const Failure& failure) {
      QCOMPARE(failure.error().found, std::string("a refused text"));
      QVERIFY(i == 2 || i == 4);
    }
  }

  MessageRenderer limited(*model().tokenizer, *model().chat);
  limited.useLimits({.mostTokens = 1000, .tooLong = {"", "prompt", "too much", "less"}});
  limited.prepare(messages);
  try {
    limited.message(query::Role::User, documents.front(), text::Place::Later);
    QFAIL("message() accepted a text over the limit");
  } catch (const Failure& failure) {
    QCOMPARE(failure.error().found, std::string("too much"));
  }
  std::stop_source stop;
  stop.request_stop();
  MessageRenderer stopped(*model().tokenizer, *model().chat);
  stopped.useLimits({.stop = stop.get_token()});
  stopped.prepare(messages);
  QVERIFY_EXCEPTION_THROWN(stopped.message(query::Role::User, documents.front(), text::Place::Later),
                           Failure);
}

void TestLayouts::tableOfLayouts() {
  for (const LayoutInfo& info : layouts()) {
    QVERIFY(findLayout(info.name) == info.layout);
    QCOMPARE(&infoOf(info.layout), &info);
    for (const char* words : {info.brief, info.help}) QVERIFY(*words != '\0');
    QCOMPARE(*info.over == '\0', info.layout == Layout::Exact);
  }
  QVERIFY(layouts().front().layout == Layout::Exact);
  QVERIFY(!findLayout("squeezed"));
  QCOMPARE(exactnessOver("full prefill ✓", Layout::Exact), std::string("full prefill ✓"));
  QVERIFY(says(exactnessOver("full prefill ✓", Layout::Padded), "not <chat-templates-text>"));
}

void TestLayouts::marksAreSingleTokens() {
  const text::Tokenizer& tokenizer = *model().tokenizer;
  QCOMPARE(tokenizer.bytes(model().markers.pad), std::string("<"));
  QCOMPARE(tokenizer.bytes(model().markers.plus), std::string("+"));
  QCOMPARE(tokenizer.bytes(model().markers.cross), std::string("@"));
}

void TestLayouts::tokensAreThoseOfTheReference_data() {
  QTest::addColumn<int>("blockSize");
  for (const int size : {1, 2, 4, 16, 32}) QTest::addRow("blocks of %d", size) << size;
}

/// Another test compares spnl::promptTokens with the reference's recorded rows, id for id.
void TestLayouts::tokensAreThoseOfTheReference() {
  QFETCH(int, blockSize);
  QFile file(QStringLiteral(SPANSCOPE_SOURCE_DIR "/tests/engine/spnl/data/spnl-layout.jsonl"));
  QVERIFY(file.open(QIODevice::ReadOnly));
  const MarkerTokens& markers = model().markers;
  int compared = 0;
  int cropped = 0;
  while (!file.atEnd()) {
    const QJsonObject row = QJsonDocument::fromJson(file.readLine()).object();
    const QByteArray json = QJsonDocument(row["query"].toObject()).toJson();
    const auto parsed = query::parseJson(json.toStdString());
    QVERIFY(parsed.query);
    const query::Generate* generate = query::generateOf(*parsed.query);
    if (generate == nullptr || query::inputsOf(*parsed.query) != nullptr) continue;
    if (hasEmptyPart(*parsed.query)) continue;
    const auto step = unrewritten(*generate);
    QVERIFY(step);
    const auto calls = spnl::promptTokens(
        query::Node{*generate}, *model().tokenizer, *model().chat,
        {.blockSize = blockSize, .pad = markers.pad, .plus = markers.plus, .cross = markers.cross});
    QCOMPARE(calls.size(), std::size_t{1});
    MessageRenderer renderer(*model().tokenizer, *model().chat);
    renderer.useLayout(Layout::Cropped, blockSize);
    for (const Visibility visibility :
         {Visibility::Spans, Visibility::Full, Visibility::SpansAtOneBase, Visibility::SpansBehindPrefix}) {
      const SpanTable table = layOut(*step, {}, renderer, visibility);
      QVERIFY2(idsOf(table) == calls.front().prompts.front(),
               qPrintable(row["id"].toString() + ' ' + drawing(table, blockSize)));
      cropped += table.cropped.empty() ? 0 : 1;
    }
    ++compared;
  }
  QVERIFY2(compared > 80 && cropped > 80, qPrintable(QString("%1 %2").arg(compared).arg(cropped)));
}

void TestLayouts::byHand_data() {
  QTest::addColumn<int>("layout");
  QTest::addColumn<int>("blockSize");
  QTest::addColumn<QString>("expected");
  const auto row = [](Layout layout, int size, const char* drawn) {
    QTest::addRow("%s, %d", infoOf(layout).name, size)
        << static_cast<int>(layout) << size << QString::fromLatin1(drawn);
  };
  // A user's message "a": t x t. The assistant's "b c d": t xxx t. The question "e": t x t, then t of the
  // generation prompt.
  row(Layout::Exact, 2, "tx|tt|xx|xt|tx|tt|xt|t");
  row(Layout::Exact, 4, "txtt|xxxt|txtt|xtt");
  row(Layout::Exact, 16, "txttxxxttxttxtt");
  // A child of the plus after a marker; the first child is at the beginning, so that it gets no padding.
  row(Layout::Padded, 2, "+t|xt|+t|xx|xt|+t|xt|@t|xt|t");
  row(Layout::Padded, 4, "+txt|+txx|xt..|+txt|@txt|t");
  row(Layout::Padded, 16, "+txt............|+txxxt..........|+txt............|@txtt");
  // The assistant's marker, t and xxx are 5 tokens without the closing one: blocks of 2 keep 4, of 4 keep 4,
  // of 16 none but the marker.
  row(Layout::Cropped, 2, "+t|xt|+t|xx|+t|xt|@t|xt|t");
  row(Layout::Cropped, 4, "+txt|+txx|+txt|@txt|t");
  row(Layout::Cropped, 16, "+txt............|+...............|+txt............|@txtt");
}

void TestLayouts::byHand() {
  QFETCH(int, layout);
  QFETCH(int, blockSize);
  QFETCH(QString, expected);
  const PromptNode prompt = cross({plus({user("a"), assistant("b c d"), user("a")}), user("e")});
  const SpanTable table = layOutAs(static_cast<Layout>(layout), blockSize, prompt);
  QCOMPARE(drawing(table, blockSize), expected);
}

void TestLayouts::randomTrees_data() {
  QTest::addColumn<int>("layout");
  for (const LayoutInfo& info : layouts()) QTest::newRow(info.name) << static_cast<int>(info.layout);
}

/// Whatever the prompt: without what a layout put in, and with what it took away, it is the exact one; each
/// child of a plus begins a block with its marker; what is cropped leaves a whole block, or nothing.
void TestLayouts::randomTrees() {
  QFETCH(int, layout);
  const auto as = static_cast<Layout>(layout);
  Generator generator(testSeed());
  int marked = 0;
  int cropped = 0;
  for (int round = 0; round < 600; ++round) {
    const auto visibility = static_cast<Visibility>(generator.below(4));
    const std::int32_t blockSize = std::array{2, 4, 16, 5}.at(generator.below(4));
    const std::size_t steps = generator.below(3);
    const std::uint64_t seed = generator.below(1'000'000);
    const std::vector<StepOutput> outputs = generator.outputs(steps, as, blockSize, seed);
    const std::vector<StepOutput> exactOutputs = generator.outputs(steps, Layout::Exact, blockSize, seed);
    const PromptNode prompt = generator.prompt(steps, 3);
    const SpanTable exact = layOutAs(Layout::Exact, blockSize, prompt, exactOutputs, visibility);
    const SpanTable table = layOutAs(as, blockSize, prompt, outputs, visibility);
    const QByteArray where = "round " + QByteArray::number(round);
    QVERIFY2(undone(table) == idsOf(exact), where);

    std::int64_t place = 0;
    for (const Segment& segment : table.segments) {
      std::int32_t covered = 0;
      for (const TokenRun& run : segment.runs) {
        QVERIFY2(run.count > 0, where);
        const std::int64_t at = place + covered - segment.visibleBegin;
        const bool isMarker = run.source == Source::PlusMarker || run.source == Source::CrossMarker;
        if (isMarker && !segment.hidden && covered >= segment.visibleBegin) {
          QVERIFY2(at % blockSize == 0, where);
          ++marked;
        }
        covered += run.count;
      }
      QCOMPARE(covered, segment.length());
      // A reused answer has a separate scope, but is after the marker of the child that contains it.
      const bool opens = !segment.hidden && segment.independent && segment.visibleBegin == 0 &&
                         segment.tokens.front() != kAssistant;
      if (opens && as != Layout::Exact) {
        QVERIFY2(place % blockSize == 0, where);
        QVERIFY2(segment.runs.front().source == Source::PlusMarker, where);
        if (visibility == Visibility::Spans) QCOMPARE(segment.base % blockSize, 0);
      }
      if (!segment.hidden) place += segment.length() - segment.visibleBegin;
    }
    const std::vector<Seen> tokens = visible(table);
    for (const Cropped& one : table.cropped) {
      QVERIFY2(as == Layout::Cropped && !one.tokens.empty(), where);
      // The rest of the message ends a block; if there is no rest, other tokens are before.
      const bool isWhole = one.tokens.front() == kAssistant;
      QVERIFY2(isWhole || one.before % blockSize == 0, where);
      ++cropped;
    }
  }
  QVERIFY(as == Layout::Exact ? marked == 0 : marked > 500);
  QVERIFY(as == Layout::Cropped ? cropped > 200 : cropped == 0);
}

/// An answer of six tokens in each of its forms, in blocks of four.
void TestLayouts::answersAreCropped() {
  const std::vector<TokenId> sampled{400, 401, 402, 403, 404, 405, kEnd};
  const SpanTable inner = layOutAs(Layout::Cropped, 4, user("a"));
  QCOMPARE(drawing(inner, 4), QStringLiteral("txtt"));
  const std::vector<StepOutput> outputs{{inner, sampled}};
  for (const OutputForm form : {OutputForm::Recomputed, OutputForm::Reused}) {
    const SpanTable table = layOutAs(Layout::Cropped, 4, plus({answer(0, form)}), outputs);
    // The marker, the generation prompt and six tokens fill two blocks: only the end token is lost.
    QCOMPARE(drawing(table, 4), QStringLiteral("+too|oooo|+t"));
    QCOMPARE(table.cropped.size(), std::size_t{1});
    QVERIFY(table.cropped.front().tokens == std::vector<TokenId>{kEnd});
    QCOMPARE(table.cropped.front().before, 8);
    QCOMPARE(table.cropped.front().node, NodePath("/r"));
    const SpanTable few = layOutAs(Layout::Cropped, 4, plus({answer(0, form)}), {{inner, {400, kEnd}}});
    QCOMPARE(drawing(few, 4), QStringLiteral("+...|+t"));
    QVERIFY((few.cropped.front().tokens == std::vector<TokenId>{6, 400, kEnd}));
  }
  // A reused answer keeps the values it was generated with: it keeps its chain up to the cut.
  const SpanTable reused = layOutAs(Layout::Cropped, 4, plus({answer(0, OutputForm::Reused)}),
                                    {{inner, {400, 401, 402, 403, kEnd}}});
  QCOMPARE(drawing(reused, 4), QStringLiteral("+too|+t"));
  const auto carried = std::find_if(reused.segments.begin(), reused.segments.end(),
                                    [](const Segment& segment) { return segment.visibleBegin > 0; });
  QVERIFY(carried != reused.segments.end());
  QVERIFY(std::equal(inner.segments.back().tokens.begin(), inner.segments.back().tokens.end(),
                     carried->tokens.begin()));
  QCOMPARE(carried->length(), inner.segments.back().length() + 2);
  // A subquery result continues after its inner prompt.
  const PromptNode closure = seq({user("a"), answer(0, OutputForm::Continuation)});
  const SpanTable whole = layOutAs(Layout::Cropped, 4, plus({closure}), outputs);
  QCOMPARE(drawing(whole, 4), QStringLiteral("+txt|tooo|+t"));
}

/// A document is the same run of tokens anywhere under its plus, and all of its blocks are full.
void TestLayouts::padsGoWithWhatTheyStandBehind() {
  const PromptNode a = user("Mira lives in Lisbon.");
  const PromptNode b = user("b");
  const auto tableOf = [](const PromptNode& first, const PromptNode& second) {
    return layOutAs(Layout::Padded, 4,
                    cross({message(query::Role::System, "s", "/s"), plus({first, second}), user("q")}));
  };
  const SpanTable forward = tableOf(a, b);
  const SpanTable swapped = tableOf(b, a);
  QCOMPARE(forward.segments.size(), std::size_t{4});
  QCOMPARE(forward.segments[1].tokens, swapped.segments[2].tokens);
  QCOMPARE(forward.segments[2].tokens, swapped.segments[1].tokens);
  for (std::size_t i = 0; i < 3; ++i) QCOMPARE(forward.segments[i].length() % 4, 0);
  // What begins with a marker is of the node that is marked.
  QCOMPARE(forward.segments[3].node, NodePath("/u"));
  QCOMPARE(forward.segments[1].node, NodePath("/u"));
  // Not so in a seq, where no marker follows: nothing is padded at the end.
  const SpanTable open = layOutAs(Layout::Padded, 4, seq({plus({a, b}), user("q")}));
  QCOMPARE(open.segments[1].length(), 4);
  QCOMPARE(open.segments.back().runs.front().source, Source::Template);
}

SPANSCOPE_TEST(tst_layouts, TestLayouts)
#include "tst_layouts.moc"
