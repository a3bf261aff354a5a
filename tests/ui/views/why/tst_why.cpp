// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/policy/policies.h"
#include "engine/query/json/json.h"
#include "engine/run/run_options.h"
#include "engine/trace/miss_reasons.h"
#include "engine/workbench/document/document_query.h"
#include "engine/workbench/document/edits.h"
#include "tests/support/product_text.h"
#include "tests/support/test_program.h"
#include "tests/ui/views/common/recorded_runs.h"
#include "tests/ui/views/common/traced_requests.h"
#include "ui/views/why/why_view.h"

#include <QSignalSpy>
#include <QTest>
#include <QTextBrowser>

#include <algorithm>
#include <functional>
#include <string>

using namespace spanscope;
using spanscope::product_text::says;
using spanscope::product_text::worded;
using trace::LookupOutcome;
using trace::MissReason;

namespace {

/// Run 1 stores 8 tokens of the only segment in blocks 1 and 2; run 2 lays out the same segment at start
/// position 4 after a system segment and looks its block up as set.
struct Scene {
  explicit Scene(const std::function<void(trace::BlockLookedUp&)>& change, std::int32_t tokens = 8) {
    maker.computedRequest(1, 1, 8, 1);
    const trace::SegmentInfo system = test::TraceMaker::segment(4, 0, "/g/input/cross/0", 10);
    trace::SegmentInfo child = test::TraceMaker::segment(tokens, 4, "/g/input/cross/1/plus/0");
    child.independent = true;
    child.depth = 1;
    child.scope = 1;
    trace::SegmentInfo question = test::TraceMaker::segment(4, 12, "/g/input/cross/2", 30);
    question.sees = {0, 1};
    maker.startRun(2, 2, {system, child, question});
    trace::BlockLookedUp lookup;
    lookup.segment = 1;
    lookup.wanted = 4;
    lookup.base = 4;
    lookup.storedBase = 4;
    lookup.storedByRun = 1;
    lookup.storedByRequest = 1;
    lookup.storedByNode = "/g/input";
    lookup.block = 1;
    change(lookup);
    maker.send(2, 2, lookup);
    segment = lookup.segment;
    index = lookup.virtualIndex;
  }

  ui::ViewInput input() const {
    ui::ViewInput result = maker.input();
    result.selection.block = ui::BlockRef{2, segment, index};
    return result;
  }
  ui::Why why() const {
    const ui::ViewInput own = input();
    ui::BlockHistory history;
    history.follow(own.trace);
    return ui::why(own, history);
  }

  test::TraceMaker maker;
  std::uint32_t segment = 1;
  std::int32_t index = 0;
};

using Change = std::function<void(trace::BlockLookedUp&)>;

}  // namespace

Q_DECLARE_METATYPE(Change)

class TestWhy : public QObject {
  Q_OBJECT
 private Q_SLOTS:
  void verdicts_data();
  void verdicts();
  void aFactNamesThePolicy_data();
  void aFactNamesThePolicy();
  void recomputedTokensAreNotCopied();
  void evictionNamesEventAndRequest();
  void nothingSelected();
  void linksAskForCommands();
  void childOfPlusOffersCross();
  void generatedBlocks();
  void textThatIsStoredUnderAPlus();
  void swappedChildrenUnderPrefix();
  void textThatIsNewUnderSpans();
  void textThatSharesItsTemplate();
  void aPoolThatWouldHaveKeptIt();
  void aNodeExplainsItsFirstMiss();
  void anEarlierNodeMissed();
  void aSlotOfAServer();
  void theBlockNow();
};

void TestWhy::verdicts_data() {
  QTest::addColumn<Change>("change");
  QTest::addColumn<QString>("verdict");
  QTest::addColumn<QString>("title");
  QTest::addColumn<QStringList>("says");
  const auto verdictOf = [](MissReason reason) {
    return "miss: " + std::string(trace::infoOf(reason).words);
  };
  const auto row = [](const char* name, const Change& change, const std::string& verdict, const char* title,
                      const QStringList& says) {
    QTest::newRow(name) << change << QString::fromStdString(verdict) << QString::fromUtf8(title) << says;
  };
  const auto miss = [](MissReason reason) {
    return [reason](trace::BlockLookedUp& lookup) {
      lookup.outcome = LookupOutcome::Miss;
      lookup.reason = reason;
    };
  };
  const char* isMiss = "<would-be>";
  const char* isHit = "<it-would-be>";
  row("hit",
      [](trace::BlockLookedUp& lookup) {
        lookup.outcome = LookupOutcome::Hit;
        lookup.tokens = 4;
      },
      "hit", isMiss, {"4 of 4 tokens", "Stored by: run 1", "position 4 (not moved)", "<cache-were-emptied>"});
  row("relocated",
      [](trace::BlockLookedUp& lookup) {
        lookup.outcome = LookupOutcome::Relocated;
        lookup.tokens = 4;
        lookup.storedBase = 0;
      },
      "relocated hit", isMiss,
      {"at position 0", "position 4 (moved by +4)", "<none-query-rotated>", "at any position"});
  row("moved back",
      [](trace::BlockLookedUp& lookup) {
        lookup.outcome = LookupOutcome::Relocated;
        lookup.tokens = 4;
        lookup.storedBase = 24;
      },
      "relocated hit", isMiss, {"(moved by −20)"});
  row("partial",
      [](trace::BlockLookedUp& lookup) {
        lookup.outcome = LookupOutcome::Partial;
        lookup.reason = MissReason::TokensDiffer;
        lookup.tokens = 3;
        lookup.differsAt = 3;
        lookup.tokenWanted = 103;
        lookup.tokenStored = 104;
      },
      "partial hit: tokens differ", "<all-of-it>",
      {"3 of 4 tokens, copied from #1", "Copied from: #1, stored by run 1", "first 3 of", "token 3 of",
       "requested “ w103”, stored “ w104”"});
  row("never seen",
      [&](trace::BlockLookedUp& lookup) {
        lookup = test::lookupOf(4, 1, 0, 4);
        lookup.reason = MissReason::NeverSeen;
      },
      "miss: never seen", isHit, {"0 of 4 tokens", "<same-tokens-came>"});
  row("tokens differ",
      [](trace::BlockLookedUp& lookup) {
        lookup.reason = MissReason::TokensDiffer;
        lookup.differsAt = 2;
        lookup.tokenWanted = 102;
        lookup.tokenStored = 107;
      },
      "miss: tokens differ", isHit,
      {"Nearest block: #1, stored by run 1", "stored “ w107”", "token 2 on were"});
  row("stored block is shorter",
      [](trace::BlockLookedUp& lookup) {
        lookup.reason = MissReason::TokensDiffer;
        lookup.differsAt = 2;
        lookup.tokenWanted = 102;
      },
      "miss: tokens differ", isHit, {"<stored-block-ends>", "<ended-before-token||2>"});
  row("context differs",
      [](trace::BlockLookedUp& lookup) {
        lookup.segment = 2;
        lookup.base = 12;
        lookup.reason = MissReason::ContextDiffers;
        lookup.contextDiffersAt = 1;
      },
      verdictOf(MissReason::ContextDiffers), isHit,
      {"Same tokens in: #1", "<number-sees|2> document", "<everything-sees-were>"});
  row("sees fewer segments",
      [](trace::BlockLookedUp& lookup) {
        lookup.segment = 2;
        lookup.reason = MissReason::ContextDiffers;
        lookup.contextDiffersAt = 2;
      },
      verdictOf(MissReason::ContextDiffers), isHit, {"<fewer-segments-stored|2>"});
  row("after a miss",
      [](trace::BlockLookedUp& lookup) {
        lookup.virtualIndex = 1;
        lookup.block = 2;
        lookup.reason = MissReason::AfterMiss;
      },
      "miss: after a miss", isHit, {"An earlier block", "<those-after-found|2>"});
  row("last token", miss(MissReason::LastToken), "miss: last token", "<it-is-always>",
      {"<last-token-prompt>"});
  row("cache off", miss(MissReason::CacheOff), "miss: caching is off", isHit, {"caching were on"});
  row("tail with caching off",
      [](trace::BlockLookedUp& lookup) {
        lookup.wanted = 2;
        lookup.reason = MissReason::CacheOff;
      },
      "miss: caching is off", isHit, {trace::infoOf(MissReason::CacheOff).specialCase, "<blocks-not-full>"});
  row("evicted",
      [](trace::BlockLookedUp& lookup) {
        lookup = test::lookupOf(4, 1, 0, 4);
        lookup.reason = MissReason::Evicted;
        lookup.evictedBy = 999;
      },
      "miss: evicted", isHit, {"<event-not-recording|999>", "it has 15 blocks of 4 tokens"});
}

void TestWhy::verdicts() {
  QFETCH(Change, change);
  QFETCH(QString, verdict);
  QFETCH(QString, title);
  QFETCH(QStringList, says);
  Scene scene(change);
  if (scene.index == 1) {
    // The block before it, so that the chain has a miss to follow.
    scene.maker.send(2, 2, test::lookupOf(4, 1, 0, 4));
  }
  const ui::Why why = scene.why();
  QVERIFY(why.empty.isEmpty());
  QCOMPARE(why.verdict, verdict);
  QCOMPARE(why.otherwiseTitle, worded(title));
  QVERIFY(!why.otherwise.empty());
  const QString text = ui::whyText(why);
  for (const QString& part : says)
    QVERIFY2(product_text::says(text, part), qPrintable(part + QStringLiteral("\nnot in\n") + text));
  QVERIFY(!text.contains(QStringLiteral("%1")));
  QVERIFY(!ui::whyCsv(why).isEmpty());
  // The difference is before the sentence.
  const bool hasDifference = why.fact(worded("<why-differs-at>")) != nullptr;
  QCOMPARE(why.leadingFacts, std::size_t{hasDifference ? 1U : 0U});
  QVERIFY(!hasDifference || why.facts.front().label == worded("<why-differs-at>"));
  QCOMPARE(hasDifference, verdict.contains(QString::fromUtf8(trace::infoOf(MissReason::TokensDiffer).words)));
}

void TestWhy::aFactNamesThePolicy_data() {
  QTest::addColumn<QString>("policy");
  QTest::addColumn<QString>("label");
  QTest::addColumn<QString>("text");
  const auto brief = [](const char* name) {
    return QStringLiteral(": ") + QString::fromUtf8(policy::findPolicy(name)->brief);
  };
  QTest::newRow("spans") << "spans" << worded("<why-policy>") << "spans" + brief("spans");
  QTest::newRow("with values") << "link(4)" << worded("<why-policy>") << "link(4)" + brief("link");
  QTest::newRow("servers") << "vLLM on gpu-3" << worded("<why-cache-of>") << "vLLM on gpu-3";
}

void TestWhy::aFactNamesThePolicy() {
  QFETCH(const QString, policy);
  QFETCH(const QString, label);
  QFETCH(const QString, text);
  test::TraceMaker maker;
  maker.startRun(1, 1, {test::TraceMaker::segment(8, 0, "/g/input")}, "", policy.toStdString());
  maker.send(1, 1, test::lookupOf(4));
  ui::ViewInput input = maker.input();
  input.selection.block = ui::BlockRef{1, 0, 0};
  ui::BlockHistory history;
  history.follow(input.trace);
  const ui::Why why = ui::why(input, history);
  const ui::WhyFact* fact = why.fact(label);
  QVERIFY(fact != nullptr);
  QCOMPARE(fact->value.text, text);
}

/// A policy can recompute some of the copied tokens. The counts do not include generated tokens.
void TestWhy::recomputedTokensAreNotCopied() {
  test::TraceMaker maker;
  maker.startRun(1, 1, {test::TraceMaker::segment(3, 0, "/g/input")}, "", "blend(0.5)");
  trace::BlockLookedUp lookup = test::lookupOf(3);
  lookup.outcome = LookupOutcome::Partial;
  lookup.reason = MissReason::None;
  lookup.tokens = 3;
  maker.send(1, 1, lookup);
  maker.send(1, 1, trace::TokensRecomputed{1, 3, {{0, {1}}}});
  trace::TokenGenerated token;
  token.token = 200;
  token.shown = " generated";
  maker.send(1, 1, token);
  ui::ViewInput input = maker.input();
  input.selection.block = ui::BlockRef{1, 0, 0};
  ui::BlockHistory history;
  history.follow(input.trace);
  const ui::Why why = ui::why(input, history);
  const ui::WhyFact* reused = why.fact(QStringLiteral("Reused"));
  QVERIFY(reused != nullptr);
  QVERIFY2(reused->value.text.startsWith(QStringLiteral("2 of 3")), qPrintable(reused->value.text));
  QVERIFY2(reused->value.text.contains(QLatin1Char('1')), qPrintable(reused->value.text));
  QVERIFY2(!why.sentence.contains(QStringLiteral("%")), qPrintable(why.sentence));
  QVERIFY2(why.sentence.contains(QLatin1Char('2')), qPrintable(why.sentence));
  QVERIFY(!why.fact(QStringLiteral("Tokens"))->value.text.contains(QStringLiteral("generated")));
}

void TestWhy::evictionNamesEventAndRequest() {
  test::TraceMaker maker(4, 3);
  maker.computedRequest(1, 1, 4, 1);
  maker.startRun(2, 2, {test::TraceMaker::segment(4, 0, "/g/input", 50)});
  const std::uint64_t removed =
      maker.send(2, 2, trace::BlockRemoved{1, {1, 1}, trace::RemovalReason::Evicted});
  maker.finish(2, 2);
  maker.startRun(3, 3, {test::TraceMaker::segment(4, 0, "/g/input")});
  trace::BlockLookedUp lookup = test::lookupOf(4);
  lookup.reason = MissReason::Evicted;
  lookup.evictedBy = removed;
  maker.send(3, 3, lookup);
  ui::ViewInput input = maker.input();
  input.selection.block = ui::BlockRef{3, 0, 0};
  ui::BlockHistory history;
  history.follow(input.trace);
  const ui::Why why = ui::why(input, history);
  const ui::WhyFact* fact = why.fact(QStringLiteral("Evicted by"));
  QVERIFY(fact != nullptr);
  QCOMPARE(fact->value.linkText, QStringLiteral("event %1").arg(removed));
  QVERIFY(product_text::says(fact->value.after, "<make-room|run 2>"));
  QVERIFY(fact->value.link.position.has_value());
  QCOMPARE(input.trace->event(*fact->value.link.position - 1).sequence, removed);

  // The request that was evicted says so of its own block too.
  input.selection.block = ui::BlockRef{1, 0, 0};
  const ui::Why first = ui::why(input, history);
  QVERIFY(first.fact(QStringLiteral("Since then")) != nullptr);
  QVERIFY(first.fact(QStringLiteral("Key")) == nullptr);
}

void TestWhy::nothingSelected() {
  ui::ViewInput input;
  input.document = std::make_shared<const document::Document>();
  input.trace = std::make_shared<const ui::TraceStore>();
  ui::BlockHistory history;
  history.follow(input.trace);
  QVERIFY(ui::why(input, history).empty.startsWith(QStringLiteral("Run a query")));
  test::TraceMaker maker;
  maker.computedRequest(1, 1, 6, 1);
  input = maker.input();
  history.follow(input.trace);
  // Without a selection, the dock explains the prompt.
  QCOMPARE(ui::why(input, history).block, std::optional(ui::BlockRef{1, 0, 0}));
  QVERIFY(says(ui::why(input, history).ofNode, "<why-prompt-misses|2|2>"));
  // A token selects its block, a block of the pool its place in the shown request.
  input.selection.token = ui::TokenRef{1, 0, 5};
  QCOMPARE(ui::why(input, history).block, std::optional(ui::BlockRef{1, 0, 1}));
  input.selection = {};
  input.selection.physical = 1;
  QCOMPARE(ui::why(input, history).block, std::optional(ui::BlockRef{1, 0, 0}));
  // What is not there (any more) selects nothing.
  input.selection = {};
  input.selection.block = ui::BlockRef{7, 3, 9};
  QVERIFY(!ui::why(input, history).empty.isEmpty());
}

void TestWhy::linksAskForCommands() {
  Scene scene([](trace::BlockLookedUp& lookup) {
    lookup.outcome = LookupOutcome::Relocated;
    lookup.tokens = 4;
    lookup.storedBase = 0;
  });
  ui::WhyView view;
  view.resize(500, 500);
  view.setInput(scene.input());
  view.show();
  QSignalSpy commands(&view, &ui::View::commandWanted);
  QSignalSpy selections(&view, &ui::View::selectionWanted);
  for (const ui::WhyText& text : view.shown().otherwise) view.follow(text.link);
  QCOMPARE(commands.size(), 1);
  QCOMPARE(commands.first().first().toString(), QStringLiteral("run.clear-cache"));

  // By keyboard: the first link is who stored it.
  auto* browser = view.findChild<QTextBrowser*>();
  QVERIFY(browser != nullptr);
  view.activateWindow();
  QVERIFY(QTest::qWaitForWindowActive(&view));
  browser->setFocus();
  QTest::keyClick(browser, Qt::Key_Tab);
  QTest::keyClick(browser, Qt::Key_Return);
  QCOMPARE(selections.size(), 1);
  QCOMPARE(selections.first().first().value<ui::Selection>().block, std::optional(ui::BlockRef{1, 0, 0}));
}

namespace {

/// The query of Scene: a system message, a plus with two children, and a question.
document::Document sceneDocument() {
  const auto message = [](query::Role role, const char* text) {
    return query::Node{query::Message{role, text}};
  };
  query::Node plus{
      query::Join{query::JoinKind::Plus, {message(query::Role::User, "a"), message(query::Role::User, "b")}}};
  query::Node cross{query::Join{query::JoinKind::Cross,
                                {message(query::Role::System, "s"), plus, message(query::Role::User, "q")}}};
  query::Generate generate;
  generate.input = Box<query::Node>(cross);
  return document::fromQuery(query::Node{generate});
}

}  // namespace

/// The nearest block is another message that begins with the same tokens of the template.
void TestWhy::textThatSharesItsTemplate() {
  Scene scene([](trace::BlockLookedUp& lookup) {
    lookup.reason = MissReason::TokensDiffer;
    lookup.differsAt = 1;
    lookup.tokenWanted = 101;
    lookup.tokenStored = 107;
    lookup.storedBase = 0;
  });
  const document::Document document = sceneDocument();
  ui::ViewInput input = scene.input();
  input.document = std::make_shared<const document::Document>(document);
  input.paths[1] = input.paths[2] = document::toQuery(document, document::TakeOut::Nothing).paths;
  ui::BlockHistory history;
  history.follow(input.trace);
  const ui::Why why = ui::why(input, history);
  const QString text = ui::whyText(why);
  QVERIFY2(product_text::says(text, "<text-stored-before>"), qPrintable(text));
  QVERIFY(std::ranges::none_of(
      why.otherwise, [](const ui::WhyText& one) { return one.link.command == QStringLiteral("node.edit"); }));
}

void TestWhy::childOfPlusOffersCross() {
  const document::Document document = sceneDocument();
  const document::QueryOf of = document::toQuery(document, document::TakeOut::Nothing);

  Scene scene([](trace::BlockLookedUp& lookup) {
    lookup.outcome = LookupOutcome::Relocated;
    lookup.tokens = 4;
    lookup.storedBase = 0;
  });
  ui::ViewInput input = scene.input();
  input.document = std::make_shared<const document::Document>(document);
  input.paths[2] = of.paths;
  ui::BlockHistory history;
  history.follow(input.trace);
  const ui::Why why = ui::why(input, history);
  const auto offer = std::find_if(why.otherwise.begin(), why.otherwise.end(), [](const ui::WhyText& text) {
    return text.link.command == QStringLiteral("node.plus-cross");
  });
  QVERIFY(offer != why.otherwise.end());
  QCOMPARE(offer->link.node, of.paths.byPath.at("/g/input/cross/1"));
  QVERIFY(why.sentence.contains(QStringLiteral("a child of <b>plus</b>")));
}

void TestWhy::generatedBlocks() {
  test::TraceMaker maker;
  maker.startRun(1, 1, {test::TraceMaker::segment(4, 0, "/g/input")});
  for (std::int32_t i = 0; i < 3; ++i) {
    trace::TokenGenerated token;
    token.index = i;
    token.token = 200 + i;
    token.shown = " t" + std::to_string(i);
    maker.send(1, 1, token);
  }
  ui::ViewInput input = maker.input();
  input.selection.block = ui::BlockRef{1, 0, 1};
  ui::BlockHistory history;
  history.follow(input.trace);
  const ui::Why why = ui::why(input, history);
  QCOMPARE(why.verdict, QStringLiteral("generated"));
  QVERIFY(why.fact(QStringLiteral("Tokens")) != nullptr);
  QCOMPARE(why.fact(QStringLiteral("Tokens"))->value.text, QStringLiteral("t0 t1"));
}

namespace {

ui::Why whyOf(const test::Recorded& runs, RequestId request, std::uint32_t segment, std::int32_t block) {
  ui::ViewInput input = runs.input();
  input.selection.block = ui::BlockRef{request, segment, block};
  ui::BlockHistory history;
  history.follow(input.trace);
  return ui::why(input, history);
}

/// The example without its plus: its documents are messages like the others.
document::Document withoutPlus() {
  const char* const json =
      R"({"g":{"model":"m","max_tokens":4,"temperature":0.0,"input":{"cross":[)"
      R"({"system":"You are a helpful assistant. Answer from the documents."},)"
      R"({"user":"Tarek is a baker. The pet of Tarek is called Biscuit. The garden needs water."},)"
      R"({"user":"What is the name of the pet of Tarek?"}]}}})";
  return document::fromQuery(*query::parseJson(json).query);
}

}  // namespace

void TestWhy::textThatIsStoredUnderAPlus() {
  test::RunRecorder recorder;
  recorder.run(test::exampleDocument("rag.json"));
  recorder.forgetPaths();
  recorder.run(withoutPlus());
  const test::Recorded runs = recorder.recorded();
  const ui::Why why = whyOf(runs, 2, 0, 1);
  QCOMPARE(why.otherwiseTitle, worded("<it-would-be>"));
  const auto offer = std::find_if(why.otherwise.begin(), why.otherwise.end(), [](const ui::WhyText& text) {
    return product_text::says(text.text, "<stood-under-plus>");
  });
  QVERIFY(offer != why.otherwise.end());
  QVERIFY2(offer->text.contains(worded("<tokens-stored|20>")), qPrintable(offer->text));
  // The link leads to the document of the first run.
  QVERIFY(offer->link.block.has_value());
  QCOMPARE(offer->link.block->request, RequestId{1});
  QCOMPARE(offer->link.block->segment, 2U);
  // Repeated from the stored result, it is the same; another block is calculated again.
  ui::ViewInput input = runs.input();
  ui::BlockHistory history;
  history.follow(input.trace);
  ui::WhyChangesMemo memo;
  for (const std::int32_t block : {1, 1, 0, 1}) {
    input.selection.block = ui::BlockRef{2, 0, block};
    QVERIFY(ui::why(input, history, &memo) == ui::why(input, history));
  }
  // The first run had nothing to be found in.
  const ui::Why first = whyOf(runs, 1, 1, 0);
  QVERIFY(std::none_of(first.otherwise.begin(), first.otherwise.end(), [](const ui::WhyText& text) {
    return product_text::says(text.text, "<stood-under-plus>");
  }));
}

/// The reason is the order of the documents. No text has to be edited.
void TestWhy::swappedChildrenUnderPrefix() {
  test::RunRecorder recorder;
  const document::Document rag = test::exampleDocument("rag.json");
  recorder.run(rag, policy::kPrefix);
  recorder.run(test::swapped(rag), policy::kPrefix);
  const test::Recorded runs = recorder.recorded();
  const ui::Why why = whyOf(runs, 2, 0, 0);
  QVERIFY2(why.verdict.contains(QString::fromUtf8(trace::infoOf(MissReason::TokensDiffer).words)),
           qPrintable(why.verdict));
  const QString text = ui::whyText(why);
  QVERIFY2(product_text::says(text, "<policy-were-spans>"), qPrintable(text));
  const auto other = std::ranges::find_if(why.otherwise, [](const ui::WhyText& one) {
    return product_text::says(one.text, "<other-text-here>");
  });
  QVERIFY2(other != why.otherwise.end(), qPrintable(text));
  QCOMPARE(other->link.block->request, RequestId{1});
  QVERIFY(std::ranges::none_of(
      why.otherwise, [](const ui::WhyText& one) { return one.link.command == QStringLiteral("node.edit"); }));
}

/// The first tokens of a block are those of the template, as in another message. No text has to be edited.
void TestWhy::textThatIsNewUnderSpans() {
  test::RunRecorder recorder;
  const document::Document rag = test::exampleDocument("rag.json");
  recorder.run(rag, policy::kPrefix);
  recorder.run(rag);
  const test::Recorded runs = recorder.recorded();
  for (std::uint32_t segment = 1; segment <= 3; ++segment) {
    const ui::Why why = whyOf(runs, 2, segment, 0);
    const QString text = ui::whyText(why);
    QVERIFY2(std::ranges::none_of(
                 why.otherwise,
                 [](const ui::WhyText& one) { return one.link.command == QStringLiteral("node.edit"); }),
             qPrintable(text));
    QVERIFY2(!product_text::says(text, "<policy-were-spans>"), qPrintable(text));
  }
}

void TestWhy::aPoolThatWouldHaveKeptIt() {
  const auto runIn = [](std::int32_t blocks) {
    run::SessionConfig session;
    session.blockCount = blocks;
    test::RunRecorder recorder(session);
    recorder.run(test::exampleDocument("rag.json"));
    recorder.forgetPaths();
    recorder.run(test::exampleDocument("judge-2.json"));
    recorder.forgetPaths();
    recorder.run(test::exampleDocument("rag.json"));
    return recorder.recorded();
  };
  const test::Recorded small = runIn(20);
  const RequestId last = small.input().state().progress().runs.at(3).requests.back();
  int evicted = 0;
  std::int64_t blocks = 0;
  for (std::uint32_t segment = 0; segment < 5; ++segment) {
    const ui::WhyChanges changes = ui::whyChanges(small.input(), ui::BlockRef{last, segment, 0});
    for (const cache::WhatIf& change : changes.changes) {
      if (change.change != cache::Change::LargerPool) continue;
      QVERIFY(change.blockCount > 20);
      blocks = std::max(blocks, change.blockCount);
      const QString said = QStringLiteral("<pool-set-blocks|%1>").arg(change.blockCount);
      QVERIFY(product_text::says(ui::whyText(whyOf(small, last, segment, 0)), said));
      ++evicted;
    }
  }
  QVERIFY(evicted > 0);
  const test::Recorded large = runIn(static_cast<std::int32_t>(blocks));
  const trace::RequestState& request = large.input().state().progress().requests.at(
      large.input().state().progress().runs.at(3).requests.back());
  QCOMPARE(request.cachedTokens, request.promptTokens - 1);
}

/// A selected node explains its first block that was not a full hit. The dock is not empty.
void TestWhy::aNodeExplainsItsFirstMiss() {
  const document::Document document = sceneDocument();
  const document::QueryOf of = document::toQuery(document, document::TakeOut::Nothing);
  test::TraceMaker maker;
  maker.computedRequest(1, 1, 8, 1);
  trace::SegmentInfo child = test::TraceMaker::segment(12, 4, "/g/input/cross/1/plus/0");
  child.independent = true;
  maker.startRun(2, 2, {test::TraceMaker::segment(4, 0, "/g/input/cross/0", 10), child});
  const auto hit = [&](std::uint32_t segment, std::int32_t index) {
    trace::BlockLookedUp lookup = test::lookupOf(4, segment, index, segment == 0 ? 0 : 4);
    lookup.outcome = LookupOutcome::Hit;
    lookup.reason = MissReason::None;
    lookup.tokens = 4;
    maker.send(2, 2, lookup);
  };
  hit(0, 0);
  hit(1, 0);
  maker.send(2, 2, test::lookupOf(4, 1, 1, 4));
  maker.send(2, 2, test::lookupOf(4, 1, 2, 4));
  ui::ViewInput input = maker.input();
  input.document = std::make_shared<const document::Document>(document);
  input.paths[2] = of.paths;
  ui::BlockHistory history;
  history.follow(input.trace);
  const auto whyOf = [&](const char* path) {
    input.selection.nodes = {of.paths.byPath.at(path)};
    return ui::why(input, history);
  };
  const ui::Why ofChild = whyOf("/g/input/cross/1/plus/0");
  QCOMPARE(ofChild.block, std::optional(ui::BlockRef{2, 1, 1}));
  QVERIFY2(says(ofChild.ofNode, "<why-node-misses|2|3>"), qPrintable(ofChild.ofNode));
  QVERIFY(says(ui::whyText(ofChild), "<why-node-misses|2|3>"));
  // A join has the blocks of its children. The message before the join is a hit.
  QCOMPARE(whyOf("/g/input/cross/1").block, ofChild.block);
  const ui::Why ofSystem = whyOf("/g/input/cross/0");
  QCOMPARE(ofSystem.block, std::optional(ui::BlockRef{2, 0, 0}));
  QCOMPARE(ofSystem.verdict, QStringLiteral("hit"));
  QVERIFY(!ofSystem.ofNode.isEmpty());
  // A node that is not in the prompt has a reason.
  const ui::Why ofOther = whyOf("/g/input/cross/2");
  QVERIFY2(says(ofOther.empty, "<why-node-absent|run 2>"), qPrintable(ofOther.empty));
  // A selected block comes before a node.
  input.selection.block = ui::BlockRef{2, 1, 2};
  QCOMPARE(whyOf("/g/input/cross/0").block, input.selection.block);
}

/// The first miss of a segment can be in the text of another node.
void TestWhy::anEarlierNodeMissed() {
  const document::Document document = sceneDocument();
  const document::QueryOf of = document::toQuery(document, document::TakeOut::Nothing);
  test::TraceMaker maker;
  maker.computedRequest(1, 1, 8, 1);
  trace::SegmentInfo segment = test::TraceMaker::segment(8, 0, "/g/input/cross/0");
  segment.runs = {{.count = 4, .node = "/g/input/cross/0"}, {.count = 4, .node = "/g/input/cross/2"}};
  maker.startRun(2, 2, {segment});
  maker.send(2, 2,
             trace::PromptDivided{.parts = {{.node = "/g/input/cross/0"}, {.node = "/g/input/cross/2"}},
                                  .ranges = {{.part = 0, .segment = 0, .begin = 0, .end = 4},
                                             {.part = 1, .segment = 0, .begin = 4, .end = 8}}});
  maker.send(2, 2, test::lookupOf(4, 0, 0, 4));
  trace::BlockLookedUp later = test::lookupOf(4, 0, 1, 4);
  later.reason = MissReason::AfterMiss;
  maker.send(2, 2, later);
  ui::ViewInput input = maker.input();
  input.document = std::make_shared<const document::Document>(document);
  input.paths[2] = of.paths;
  ui::BlockHistory history;
  history.follow(input.trace);
  input.selection.block = ui::BlockRef{2, 0, 1};
  const ui::Why own = ui::why(input, history);
  QVERIFY2(says(own.sentence, "<why-miss-elsewhere|0>"), qPrintable(own.sentence));
}

/// llama.cpp replaces the content of a slot. A larger pool would change nothing.
void TestWhy::aSlotOfAServer() {
  for (const bool isSlot : {true, false}) {
    test::TraceMaker maker(4, 3);
    maker.computedRequest(1, 1, 4, 1);
    const std::uint64_t removed =
        maker.send(1, 1, trace::BlockRemoved{1, {1, 1}, trace::RemovalReason::Evicted});
    maker.startRun(2, 2, {test::TraceMaker::segment(4, 0, "/g/input")}, "",
                   isSlot ? "llama.cpp b6100" : "vLLM 0.11");
    trace::BlockLookedUp lookup = test::lookupOf(4);
    lookup.reason = MissReason::Evicted;
    lookup.evictedBy = removed;
    maker.send(2, 2, lookup);
    ui::ViewInput input = maker.input();
    input.selection.block = ui::BlockRef{2, 0, 0};
    ui::BlockHistory history;
    history.follow(input.trace);
    const ui::Why why = ui::why(input, history);
    const QString text = ui::whyText(why);
    QCOMPARE(why.verdict.contains(worded("<why-replaced>")), isSlot);
    QCOMPARE(says(text, "<why-slot-replaced>"), isSlot);
    QCOMPARE(says(text, "<why-more-slots>"), isSlot);
    QCOMPARE(why.fact(worded("<why-replaced-by>")) != nullptr, isSlot);
    QCOMPARE(text.contains(QStringLiteral("pool")), !isSlot);
  }
}

/// The last fact states what the pool has now. "Shared" means at least two requests.
void TestWhy::theBlockNow() {
  test::TraceMaker maker;
  maker.computedRequest(1, 1, 4, 1);
  ui::ViewInput input = maker.input();
  input.selection.block = ui::BlockRef{1, 0, 0};
  ui::BlockHistory history;
  history.follow(input.trace);
  const ui::Why why = ui::why(input, history);
  QVERIFY(why.fact(worded("<why-shared>")) == nullptr);
  const ui::WhyFact* now = why.fact(worded("<why-now>"));
  QVERIFY(now != nullptr);
  QCOMPARE(now->value.text, worded("<why-cached-now>"));
}

SPANSCOPE_TEST(tst_why, TestWhy, QApplication)
#include "tst_why.moc"
