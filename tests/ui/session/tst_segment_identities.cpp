// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/query/json/json.h"
#include "engine/workbench/document/document_query.h"
#include "engine/workbench/document/edits.h"
#include "tests/support/test_program.h"
#include "ui/session/run_history.h"
#include "ui/session/segment_identities.h"
#include "ui/session/shown_identities.h"
#include "ui/session/view_input.h"

#include <QObject>
#include <QString>
#include <QStringList>
#include <QStringLiteral>
#include <QTest>

#include <map>
#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

using namespace spanscope;
using namespace spanscope::ui;
using document::Document;
using document::NodeId;

namespace {

query::Node ragOf(const std::vector<std::string>& texts) {
  query::Join plus{.kind = query::JoinKind::Plus, .children = {}};
  for (const std::string& text : texts)
    plus.children.push_back({query::Message{.role = query::Role::User, .text = text}});
  query::Join cross{.kind = query::JoinKind::Cross, .children = {}};
  cross.children.push_back({query::Message{.role = query::Role::System, .text = "Answer."}});
  cross.children.push_back({plus});
  cross.children.push_back({query::Message{.role = query::Role::User, .text = "Where?"}});
  return {query::Generate{.settings = {.model = "m", .maxTokens = {}, .temperature = {}},
                          .input = query::Node{cross}}};
}

/// A document and the runs that were made of it and of others.
class Story {
 public:
  explicit Story(const std::vector<std::string>& texts) : m_document(document::fromQuery(ragOf(texts))) {
    send(0, trace::SessionStarted{});
  }

  Document& document() { return m_document; }
  const TraceStore& trace() const { return m_trace; }
  std::vector<NodeId> documents() const {
    const NodeId cross = m_document.at(m_document.root()).children.at(0);
    return m_document.at(m_document.at(cross).children.at(1)).children;
  }
  RunId run() {
    const document::QueryOf query = document::toQuery(m_document, document::TakeOut::MutedAndFrozen);
    const RunId id = runOther(*query.query);
    m_paths[id] = query.paths;
    return id;
  }
  RunId runOther(const query::Node& query) {
    const RunId id = ++m_runs;
    send(id, trace::RunStarted{.queryJson = query::writeCanonical(query), .policy = "spans", .seed = 0});
    return id;
  }
  SegmentIdentities identities() { return SegmentRecords().read(m_document, m_trace, m_paths); }
  /// "1 2 3": the numbers of the documents in their present order.
  QString numbers() {
    const SegmentIdentities all = identities();
    QStringList text;
    for (const NodeId id : documents()) text.append(QString::number(all.ofNode(id)->number + 1));
    return text.join(QLatin1Char(' '));
  }
  QString numbersOf(RunId run, std::size_t count) {
    const SegmentIdentities all = identities();
    QStringList text;
    for (std::size_t i = 0; i < count; ++i) {
      const SegmentIdentity* own = all.ofRun(run, "/g/input/cross/1/plus/" + std::to_string(i));
      text.append(own == nullptr ? QStringLiteral("–") : QString::number(own->number + 1));
    }
    return text.join(QLatin1Char(' '));
  }

 private:
  void send(RunId run, trace::Payload payload) {
    trace::Event event;
    event.sequence = m_trace.size() + 1;
    event.session = 1;
    event.run = run;
    event.payload = std::move(payload);
    m_trace.append(std::move(event));
  }
  Document m_document;
  TraceStore m_trace;
  std::map<RunId, document::NodePaths> m_paths;
  RunId m_runs = 0;
};

}  // namespace

class TestSegmentIdentities : public QObject {
  Q_OBJECT

 private Q_SLOTS:
  /// A file that was saved after a swap and opened in a later session has its numbers and hues of before.
  void aReopenedFileKeepsItsNumbers() {
    Story before({"a", "b", "c"});
    const RunId run = before.run();
    RunRecord record{.run = run};
    record.metricValues = std::make_shared<const trace::Progress>(before.trace().newest().progress());
    const auto numbersAfter = [&](const std::vector<std::string>& texts) {
      Story after(texts);
      ViewInput input;
      input.document = std::make_shared<const Document>(after.document());
      input.trace = std::make_shared<const TraceStore>();
      input.records =
          std::make_shared<const RunRecords>(RunRecords{std::make_shared<const RunRecord>(record)});
      input.paths[run] = {};
      const OpenDocuments none;
      ShownIdentities shown(input, none);
      shown.update(0);
      QStringList numbers;
      for (const NodeId id : after.documents())
        numbers.append(QString::number(input.identities->ofNode(id)->number + 1));
      return numbers.join(QLatin1Char(' '));
    };
    QCOMPARE(numbersAfter({"b", "a", "c"}), QStringLiteral("2 1 3"));
    QCOMPARE(numbersAfter({"a", "b", "c"}), QStringLiteral("1 2 3"));
    // Other texts have the numbers of their order.
    QCOMPARE(numbersAfter({"d", "a", "c"}), QStringLiteral("1 2 3"));
  }

  void everyPartHasItsOwnHue() {
    Story story({"a", "b", "c"});
    const SegmentIdentities all = story.identities();
    std::set<std::size_t> hues;
    std::size_t leaves = 0;
    for (const NodeId id : story.document().ids()) {
      const SegmentIdentity* own = all.ofNode(id);
      if (own == nullptr) continue;
      hues.insert(own->hue);
      ++leaves;
    }
    QCOMPARE(leaves, std::size_t(6));  // system, three documents, question, answer
    QCOMPARE(hues.size(), leaves);
    QCOMPARE(all.count(PartKind::Document), std::size_t(3));
    QCOMPARE(all.ofNode(story.document().root())->kind, PartKind::Answer);
  }

  /// Each answer of a repeated query has a hue, and none of them is that of a part, however many there are.
  void answersShareNoHueWithParts() {
    query::Join plus{.kind = query::JoinKind::Plus, .children = {}};
    for (int i = 0; i < 12; ++i)
      plus.children.push_back({query::Message{.role = query::Role::User, .text = std::to_string(i)}});
    query::Repeat repeat;
    repeat.count = std::uint8_t{3};
    repeat.generate.settings.model = "m";
    repeat.generate.input = query::Node{plus};
    const Document document = document::fromQuery({repeat});
    const TraceStore trace;
    const SegmentIdentities all = SegmentRecords().read(document, trace, {});
    std::set<std::size_t> hues;
    std::size_t wanted = 0;
    for (const NodeId id : document.ids()) {
      const SegmentIdentity* own = all.ofNode(id);
      if (own == nullptr) continue;
      for (std::size_t copy = 0; copy < own->copies; ++copy) hues.insert(own->hue + copy);
      wanted += own->copies;
    }
    QCOMPARE(wanted, std::size_t{15});
    QCOMPARE(hues.size(), wanted);
  }

  void movingChangesNothing() {
    Story story({"a", "b", "c"});
    QCOMPARE(story.numbers(), QStringLiteral("1 2 3"));
    const NodeId plus = story.document().at(story.documents().front()).parent;
    document::moveChild(story.document(), plus, 2, 0);
    QCOMPARE(story.numbers(), QStringLiteral("3 1 2"));
    const RunId first = story.run();
    QCOMPARE(story.numbers(), QStringLiteral("3 1 2"));
    QCOMPARE(story.numbersOf(first, 3), QStringLiteral("3 1 2"));
    document::swapChildren(story.document(), plus, 0, 1);
    const RunId second = story.run();
    QCOMPARE(story.numbersOf(first, 3), QStringLiteral("3 1 2"));
    QCOMPARE(story.numbersOf(second, 3), QStringLiteral("1 3 2"));
  }

  void contentDecides() {
    // Another document that holds the same texts, opened and run before this one.
    Story story({"b", "c", "new"});
    const RunId other = story.runOther(ragOf({"a", "b", "c"}));
    QCOMPARE(story.numbersOf(other, 3), QStringLiteral("1 2 3"));
    QCOMPARE(story.numbers(), QStringLiteral("2 3 4"));
    // One that shares nothing is not counted.
    const RunId foreign = story.runOther(ragOf({"x", "y"}));
    QCOMPARE(story.numbersOf(foreign, 2), QStringLiteral("– –"));
    QCOMPARE(story.numbers(), QStringLiteral("2 3 4"));
  }

  void anEditedDocumentKeepsItsNumber() {
    Story story({"a", "b", "c"});
    story.run();
    const NodeId second = story.documents().at(1);
    document::setOwn(story.document(), second,
                     {query::Message{.role = query::Role::User, .text = "b, longer"}});
    QCOMPARE(story.numbers(), QStringLiteral("1 2 3"));
    const RunId run = story.run();
    QCOMPARE(story.numbersOf(run, 3), QStringLiteral("1 2 3"));
  }

  void aNewDocumentTakesTheNextNumber() {
    Story story({"a", "b"});
    story.run();
    Document& document = story.document();
    const NodeId plus = document.at(story.documents().front()).parent;
    const NodeId added =
        document::addNode(document, {query::Message{.role = query::Role::User, .text = "between"}});
    QVERIFY(document::connect(document, added, {.parent = plus, .index = 1}));
    QCOMPARE(story.numbers(), QStringLiteral("1 3 2"));
    document::removeSubtrees(document, {story.documents().front()});
    QCOMPARE(story.numbers(), QStringLiteral("3 2"));
  }

  /// The hue of a message, also of one in an inner prompt, and that of the answer stay when another message
  /// is added. Before anything was run, too.
  void anAddedMessageChangesNoOtherHue() {
    query::Join plus{.kind = query::JoinKind::Plus, .children = {}};
    for (const char* text : {"one", "two", "three"}) {
      plus.children.push_back(
          {query::Generate{.settings = {.model = "m", .maxTokens = {}, .temperature = {}},
                           .input = query::Node{query::Message{.role = query::Role::User, .text = text}}}});
    }
    query::Join cross{.kind = query::JoinKind::Cross, .children = {}};
    cross.children.push_back({query::Message{.role = query::Role::System, .text = "Judge."}});
    cross.children.push_back({plus});
    Document document = document::fromQuery({query::Generate{
        .settings = {.model = "m", .maxTokens = {}, .temperature = {}}, .input = query::Node{cross}}});
    const TraceStore trace;
    const auto hues = [&] {
      const SegmentIdentities identities = SegmentRecords().read(document, trace, {});
      std::map<NodeId, std::size_t> found;
      for (const NodeId id : document.ids()) {
        const SegmentIdentity* identity = identities.ofNode(id);
        if (identity != nullptr) found[id] = identity->hue;
      }
      return found;
    };
    const std::map<NodeId, std::size_t> before = hues();
    QVERIFY(before.size() >= 8 && before.contains(document.root()));
    const NodeId question = document::addNode(
        document, query::Node{query::Message{.role = query::Role::User, .text = "Which is best?"}});
    QVERIFY(document::connect(document, question,
                              {.parent = document.at(document.root()).children[0], .index = 2}));
    std::map<NodeId, std::size_t> after = hues();
    QVERIFY(after.erase(question) == 1);
    QVERIFY(after == before);
  }

  void tabsThatShareADocumentAreNumberedTogether() {
    const std::vector<Document> tabs = {
        document::fromQuery(ragOf({"a", "b", "c"})), document::fromQuery(ragOf({"c", "a", "new"})),
        document::fromQuery(ragOf({"new", "z"})), document::fromQuery(ragOf({"x", "y"}))};
    const TraceStore trace;
    const std::map<RunId, document::NodePaths> none;
    std::vector<SegmentRecords::Open> open;
    for (const Document& each : tabs) open.push_back({.document = &each, .paths = &none});
    const auto numbersIn = [&](std::size_t tab) {
      const SegmentIdentities all = SegmentRecords().read(open, tab, trace);
      const Document& document = tabs[tab];
      QStringList text;
      for (const NodeId id : document.ids()) {
        const auto* message = document.at(id).own.as<query::Message>();
        const SegmentIdentity* own = all.ofNode(id);
        if (message != nullptr && own->kind == PartKind::Document)
          text += QStringLiteral("%1=%2").arg(QString::fromStdString(message->text)).arg(own->number + 1);
      }
      text.sort();
      return text.join(QLatin1Char(' '));
    };
    QCOMPARE(numbersIn(0), QStringLiteral("a=1 b=2 c=3"));
    QCOMPARE(numbersIn(1), QStringLiteral("a=1 c=3 new=4"));
    // It shares nothing with the first one, but a document with one that does.
    QCOMPARE(numbersIn(2), QStringLiteral("new=4 z=5"));
    QCOMPARE(numbersIn(3), QStringLiteral("x=1 y=2"));
  }

  void theSameTextIsTheSameDocument() {
    Story story({"a", "b", "a"});
    QCOMPARE(story.numbers(), QStringLiteral("1 2 1"));
  }
};

SPANSCOPE_TEST(tst_segment_identities, TestSegmentIdentities, QApplication)
#include "tst_segment_identities.moc"
