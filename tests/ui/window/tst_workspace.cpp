// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/query/json/json.h"
#include "engine/workbench/document/edits.h"
#include "tests/support/backends.h"
#include "tests/support/product_text.h"
#include "tests/support/test_program.h"
#include "ui/document/document_file.h"
#include "ui/session/problem_finder.h"
#include "ui/session/run_list.h"
#include "ui/views/common/segment_names.h"
#include "ui/window/status_line.h"
#include "ui/window/workspace.h"

#include <QByteArray>
#include <QDir>
#include <QFile>
#include <QFileInfo>
#include <QIODevice>
#include <QObject>
#include <QSignalSpy>
#include <QString>
#include <QStringList>
#include <QStringLiteral>
#include <QTemporaryDir>
#include <QTest>

#include <set>

using namespace spanscope;
using namespace spanscope::ui;
using spanscope::product_text::worded;

namespace {

constexpr int kPatience = 60'000;  // milliseconds

std::unique_ptr<DocumentModel> example(const QString& name) {
  document::OpenedDocument opened =
      openDocument(QStringLiteral(SPANSCOPE_SOURCE_DIR "/resources/queries/") + name);
  return std::make_unique<DocumentModel>(std::move(*opened.document));
}

/// Runs the current document to its end; the problem in words if there was one.
QString runToEnd(Workspace& workspace, document::NodeId top = document::kNoNode) {
  QSignalSpy ended(&workspace, &Workspace::jobEnded);
  const RunRecords& known = *workspace.history().records();
  const RunId before = known.empty() ? 0 : known.back()->run;
  const QString problem = workspace.runs().start(top);
  if (!problem.isEmpty()) return problem;
  if (!ended.wait(kPatience)) return QStringLiteral("it did not end");
  const auto isShown = [&workspace, before] {
    const auto& runs = workspace.input().state().progress().runs;
    return !runs.empty() && runs.rbegin()->first > before && runs.rbegin()->second.outcome &&
           workspace.input().position == workspace.input().trace->size();
  };
  if (!QTest::qWaitFor(isShown, kPatience)) return QStringLiteral("its end was not shown");
  return ended.front().front().toString();
}

const trace::RunState& newestRun(const Workspace& workspace) {
  return workspace.input().state().progress().runs.rbegin()->second;
}

const trace::RequestState& newestRequest(const Workspace& workspace) {
  return workspace.input().state().progress().requests.at(newestRun(workspace).requests.back());
}

/// The plus of the RAG example, whose children are the documents.
document::NodeId plusOf(const document::Document& document) {
  for (const document::NodeId id : document.ids()) {
    const auto* join = document.at(id).own.as<query::Join>();
    if (join != nullptr && join->kind == query::JoinKind::Plus) return id;
  }
  return document::kNoNode;
}

document::NodeId innerGenerate(const document::Document& document) {
  for (const document::NodeId id : document.ids()) {
    if (document.at(id).own.as<query::Generate>() != nullptr && id != document.root()) return id;
  }
  return document::kNoNode;
}

}  // namespace

class TestWorkspace : public QObject {
  Q_OBJECT

 private Q_SLOTS:
  /// The purpose of the program: the moved documents are relocated hits, only the question is computed, and
  /// the answer is right.
  void movedDocumentsAreRelocated() {
    Workspace workspace{test::cpuBackends()};
    workspace.open(example(QStringLiteral("rag.json")));
    QCOMPARE(runToEnd(workspace), QString());
    const std::string answer = newestRun(workspace).answer;
    const std::int64_t prompt = newestRequest(workspace).promptTokens;
    QCOMPARE(newestRequest(workspace).cachedTokens, std::int64_t(0));

    const document::NodeId plus = plusOf(workspace.model()->document());
    QVERIFY(workspace.model()->change(QStringLiteral("Move"), [plus](document::Document& document) {
      document::moveChild(document, plus, 0, 2);
    }));
    QCOMPARE(runToEnd(workspace), QString());
    QCOMPARE(newestRun(workspace).answer, answer);
    QCOMPARE(newestRequest(workspace).promptTokens, prompt);
    QVERIFY(newestRequest(workspace).relocatedTokens > 0);
    const std::int64_t computed = prompt - newestRequest(workspace).cachedTokens;
    const auto& question = newestRequest(workspace).segments.back();
    QVERIFY(computed <= static_cast<std::int64_t>(question.tokens.size()));
  }

  /// A text has one number and one hue in all tabs, whichever of them is run, and when.
  void tabsAgreeOnNumbers() {
    Workspace workspace{test::cpuBackends()};
    workspace.open(example(QStringLiteral("rag.json")));
    workspace.open(example(QStringLiteral("rag-swapped.json")));
    const auto shown = [&workspace] {
      std::map<std::string, SegmentIdentity> found;
      const document::Document& document = *workspace.input().document;
      for (const document::NodeId id : document.at(plusOf(document)).children)
        found[*query::textOf(document.at(id).own)] = *workspace.input().identities->ofNode(id);
      return found;
    };
    const auto show = [&workspace](std::size_t tab) {
      workspace.setCurrent(workspace.documents()[tab].get());
      return QTest::qWaitFor([&] {
        return workspace.input().document == workspace.documents()[tab]->model->snapshot() &&
               workspace.input().identities != nullptr;
      });
    };
    QVERIFY(show(1));
    const auto before = shown();
    QCOMPARE(before.size(), std::size_t(3));
    QVERIFY(show(0));
    QVERIFY(shown() == before);
    QVERIFY(show(1));
    QCOMPARE(runToEnd(workspace), QString());
    QVERIFY(shown() == before);
    QVERIFY(show(0));
    QVERIFY(shown() == before);
  }

  /// Documents keep their identities while the user types. A text that becomes equal to another gets its
  /// identity after a pause, and an added one has an identity at once.
  void identitiesFollowWhatIsTyped() {
    Workspace workspace{test::cpuBackends()};
    workspace.open(example(QStringLiteral("rag.json")));
    const document::NodeId plus = plusOf(workspace.model()->document());
    const std::vector<document::NodeId> documents = workspace.model()->document().at(plus).children;
    const auto identityOf = [&workspace](document::NodeId id) {
      const SegmentIdentity* own = workspace.input().identities->ofNode(id);
      return own == nullptr ? SegmentIdentity{.hue = 999} : *own;
    };
    const auto type = [&](document::NodeId id, const std::string& text) {
      return workspace.model()->change(QStringLiteral("Type"), [&](document::Document& document) {
        *query::textOf(document.edit(id).own) = text;
      });
    };
    const SegmentIdentity first = identityOf(documents[0]);
    const SegmentIdentity second = identityOf(documents[1]);
    QVERIFY(!(first == second));
    const auto before = workspace.input().identities;
    QVERIFY(type(documents[1], "Something else."));
    QTRY_COMPARE(workspace.input().document->at(documents[1]),
                 workspace.model()->document().at(documents[1]));
    QCOMPARE(workspace.input().identities, before);
    QTest::qWait(400);
    QCOMPARE(workspace.input().identities, before);

    QSignalSpy reported(&workspace, &Workspace::inputChanged);
    QVERIFY(type(documents[1], *query::textOf(workspace.model()->document().at(documents[0]).own)));
    QTRY_COMPARE(identityOf(documents[1]), first);
    QVERIFY(reported.count() >= 2);

    document::NodeId added = document::kNoNode;
    QVERIFY(workspace.model()->change(QStringLiteral("Add"), [&](document::Document& document) {
      added = document::addNode(document, document::makeOperator("user"));
      document::connect(document, added, {.parent = plus, .index = documents.size()});
    }));
    QTRY_VERIFY(workspace.input().document->contains(added));
    QVERIFY(workspace.input().identities->ofNode(added) != nullptr);
  }

  /// The paths of a run's events lead to the nodes of the document, also after the document has changed.
  void eventsLeadToNodes() {
    Workspace workspace{test::cpuBackends()};
    workspace.open(example(QStringLiteral("rag.json")));
    QCOMPARE(runToEnd(workspace), QString());
    const document::NodeId plus = plusOf(workspace.model()->document());
    const document::NodeId second = workspace.model()->document().at(plus).children[1];
    const auto nodeOfSecond = [&] {
      const trace::RequestState& request = newestRequest(workspace);
      for (const trace::SegmentInfo& segment : request.segments) {
        if (segment.independent && workspace.input().nodeOf(request.run, segment.node) == second) return true;
      }
      return false;
    };
    QVERIFY(nodeOfSecond());
    workspace.model()->change(QStringLiteral("Move"), [plus](document::Document& document) {
      document::moveChild(document, plus, 1, 0);
    });
    QVERIFY(nodeOfSecond());
    workspace.model()->change(QStringLiteral("Delete"), [second](document::Document& document) {
      document::removeSubtrees(document, {second});
    });
    QSignalSpy shown(&workspace, &Workspace::inputChanged);
    QVERIFY(shown.wait(kPatience));
    QVERIFY(!nodeOfSecond());
  }

  /// Views of one request show the one that was pointed at, else that of the selected node, else the newest.
  void selectionChoosesTheRequest() {
    Workspace workspace{test::cpuBackends()};
    workspace.open(example(QStringLiteral("list-and-combine.json")));
    QCOMPARE(runToEnd(workspace), QString());
    const auto& requests = workspace.input().state().progress().requests;
    const RequestId newest = requests.rbegin()->first;
    QVERIFY(newest >= 3);
    QCOMPARE(workspace.input().shownRequest(), newest);
    Selection selection;
    selection.nodes = {innerGenerate(workspace.model()->document())};
    workspace.select(selection);
    QCOMPARE(workspace.input().nodeOf(1, requests.at(workspace.input().shownRequest()).node),
             selection.nodes[0]);
    selection.block = BlockRef{.request = newest, .segment = 0, .virtualIndex = 0};
    workspace.select(selection);
    QCOMPARE(workspace.input().shownRequest(), newest);
    selection.block =
        BlockRef{.request = newest + 7, .segment = 0, .virtualIndex = 0};  // of a trace that is gone
    selection.nodes.clear();
    workspace.select(selection);
    QCOMPARE(workspace.input().shownRequest(), newest);
  }

  void twoDocumentsShareOneCache() {
    Workspace workspace{test::cpuBackends()};
    workspace.open(example(QStringLiteral("rag.json")));
    QCOMPARE(runToEnd(workspace), QString());
    OpenDocument& first = *workspace.current();
    workspace.open(example(QStringLiteral("rag-swapped.json")));
    QCOMPARE(runToEnd(workspace), QString());
    QVERIFY(newestRequest(workspace).relocatedTokens > 0);
    // Each document knows its own runs only.
    QCOMPARE(workspace.input().paths.size(), std::size_t(1));
    QVERIFY(workspace.input().paths.contains(2));
    workspace.setCurrent(&first);
    QVERIFY(workspace.input().paths.contains(1));
    QVERIFY(!workspace.input().paths.contains(2));
  }

  void runsASubtree() {
    Workspace workspace{test::cpuBackends()};
    workspace.open(example(QStringLiteral("list-and-combine.json")));
    const document::NodeId inner = innerGenerate(workspace.model()->document());
    QVERIFY(inner != document::kNoNode);
    QCOMPARE(runToEnd(workspace, inner), QString());
    QCOMPARE(newestRun(workspace).requests.size(), std::size_t(1));
    QCOMPARE(workspace.input().nodeOf(1, newestRequest(workspace).node), inner);
  }

  void frozenAnswersAreNotRun() {
    Workspace workspace{test::cpuBackends()};
    workspace.open(example(QStringLiteral("list-and-combine.json")));
    QCOMPARE(runToEnd(workspace), QString());
    const std::size_t all = newestRun(workspace).requests.size();
    const document::NodeId inner = innerGenerate(workspace.model()->document());
    workspace.model()->change(QStringLiteral("Freeze"), [inner](document::Document& document) {
      document::setFrozen(document, inner, {"a frozen answer"});
    });
    QCOMPARE(runToEnd(workspace), QString());
    QCOMPARE(newestRun(workspace).requests.size(), all - 1);
    QVERIFY(newestRun(workspace).queryJson->find("a frozen answer") != std::string::npos);
  }

  /// Frozen answers are where the run had put them: the prompt above is the same, token for token, and so is
  /// the answer. Nothing is computed for the frozen node.
  void frozenAnswersAreLaidOutAsTheyWereRun_data() {
    QTest::addColumn<QByteArray>("node");
    QTest::addColumn<int>("answers");
    QTest::addColumn<bool>("distributes");
    // With distribution the judge also reads the question. The model was trained for this: its answers read
    // again are the same tokens. A word that begins in the middle would have other tokens.
    const QByteArray written = R"("g": {"model": "spnl/spanlet", "max_tokens": 60, "temperature": 0.8,
        "input": {"cross": [{"system": "You write an introductory email for a job application."},
        {"user": "My name is Shiloh. I am a data scientist with 10 years of experience and apply to IBM."}]}})";
    for (const bool distributes : {false, true}) {
      const QByteArray how = distributes ? ", with what was asked" : "";
      QTest::newRow("repeat" + how) << R"({"repeat": {"n": 3, )" + written + "}}" << 3 << distributes;
      QTest::newRow("repeat of one" + how) << R"({"repeat": {"n": 1, )" + written + "}}" << 1 << distributes;
      QTest::newRow("map" + how) << QByteArray(R"({"map": {"metadata": {"model": "spnl/spanlet",
          "max_tokens": 60, "temperature": 0},
          "inputs": ["Where does Priya live?", "What is the name of the pet of Tarek?"]}})")
                                 << 2 << distributes;
      QTest::newRow("generate in a plus" + how) << R"({"plus": [{)" + written + "}]}" << 1 << distributes;
    }
  }
  void frozenAnswersAreLaidOutAsTheyWereRun() {
    QFETCH(QByteArray, node);
    QFETCH(int, answers);
    QFETCH(bool, distributes);
    Workspace workspace{test::cpuBackends()};
    document::Document query = document::fromQuery(
        *query::parseJson(
             (R"({"g": {"model": "spnl/spanlet", "input": {"cross": [{"system": "You judge."}, )" + node +
              R"(, {"user": "Which is the best?"}]}, "max_tokens": 20, "temperature": 0}})")
                 .toStdString())
             .query);
    document::NodeId frozen = query.at(query.at(query.root()).children[0]).children[1];
    if (query.at(frozen).own.as<query::Join>() != nullptr) frozen = query.at(frozen).children[0];
    query.settings.distribute = distributes;
    workspace.open(std::make_unique<DocumentModel>(std::move(query)));
    QCOMPARE(runToEnd(workspace), QString());
    QCOMPARE(newestRun(workspace).requests.size(), static_cast<std::size_t>(answers) + 1);
    const std::string answer = newestRun(workspace).answer;
    const std::vector<trace::SegmentInfo> segments = newestRequest(workspace).segments;
    std::vector<std::string> texts;
    for (const RequestId id : newestRun(workspace).requests) {
      const trace::RequestState& request = workspace.input().state().progress().requests.at(id);
      if (workspace.input().nodeOf(request.run, request.node) == frozen) texts.push_back(request.text);
    }
    QCOMPARE(texts.size(), static_cast<std::size_t>(answers));
    workspace.model()->change(QStringLiteral("Freeze"), [&](document::Document& document) {
      document::setFrozen(document, frozen, texts);
    });
    QCOMPARE(runToEnd(workspace), QString());
    QCOMPARE(newestRun(workspace).requests.size(), std::size_t(1));
    QCOMPARE(newestRun(workspace).answer, answer);
    const std::vector<trace::SegmentInfo>& now = newestRequest(workspace).segments;
    QCOMPARE(now.size(), segments.size());
    for (std::size_t i = 0; i < now.size(); ++i) {
      QCOMPARE(now[i].tokens, segments[i].tokens);
      QCOMPARE(now[i].base, segments[i].base);
      QCOMPARE(now[i].sees, segments[i].sees);
    }
  }

  void mutedBranchesAreLeftOut() {
    Workspace workspace{test::cpuBackends()};
    workspace.open(example(QStringLiteral("rag.json")));
    QCOMPARE(runToEnd(workspace), QString());
    const std::size_t segments = newestRequest(workspace).segments.size();
    const document::NodeId plus = plusOf(workspace.model()->document());
    workspace.model()->change(QStringLiteral("Mute"), [plus](document::Document& document) {
      document::setMuted(document, {document.at(plus).children[0]}, true);
    });
    QCOMPARE(runToEnd(workspace), QString());
    QCOMPARE(newestRequest(workspace).segments.size(), segments - 1);
  }

  void saysWhyItDoesNotRun_data() {
    QTest::addColumn<QString>("op");
    QTest::addColumn<QString>("part");
    QTest::newRow("empty") << QString() << QStringLiteral("empty");
    QTest::newRow("no input") << QStringLiteral("g") << QStringLiteral("has no input");
    QTest::newRow("no generate") << QStringLiteral("user") << QStringLiteral("nothing to generate");
    QTest::newRow("file") << QStringLiteral("file") << worded("<file-no-path>");
  }

  void saysWhyItDoesNotRun() {
    QFETCH(QString, op);
    QFETCH(QString, part);
    Workspace workspace{test::cpuBackends()};
    workspace.open(std::make_unique<DocumentModel>());
    if (!op.isEmpty()) {
      workspace.model()->change(QStringLiteral("Add"), [&op](document::Document& document) {
        document::addNode(document, document::makeOperator(op.toStdString()));
      });
    }
    const QString problem = workspace.runs().start();
    QVERIFY2(problem.contains(part), qPrintable(problem));
    QCOMPARE(workspace.engine().state() == EngineState::Running, false);
  }

  /// Run refuses with the text in the list of problems, also where the file of a document matters.
  void refusesWhatTheProblemsSay() {
    QTemporaryDir folder;
    Workspace workspace{test::cpuBackends()};
    workspace.open(std::make_unique<DocumentModel>());
    const query::ParseResult query =
        query::parseJson(R"({"g": {"model": "", "max_tokens": 1, "input": {"file": "a.txt"}}})");
    QVERIFY(query.query.has_value());
    QVERIFY(query.diagnostics.empty());
    workspace.model()->change(QStringLiteral("Add"), [&query](document::Document& document) {
      document::addTree(document, *query.query);
    });
    ProblemFinder finder;
    const auto problems = [&] {
      return finder.find(workspace.model()->document(), nullptr, nullptr, nullptr, workspace.documentPath());
    };
    QVERIFY2(refusalOf(problems()).contains(worded("<document-saved>")), qPrintable(refusalOf(problems())));
    QCOMPARE(workspace.runs().start(), refusalOf(problems()));
    workspace.model()->setFilePath(folder.filePath(QStringLiteral("query.span")));
    QVERIFY2(refusalOf(problems()).contains(QStringLiteral("a.txt")), qPrintable(refusalOf(problems())));
    QCOMPARE(workspace.runs().start(), refusalOf(problems()));
    QFile file(folder.filePath(QStringLiteral("a.txt")));
    QVERIFY(file.open(QIODevice::WriteOnly));
    QVERIFY(file.write("Hello") > 0);
    file.close();
    QCOMPARE(refusalOf(problems()), QString());
    QCOMPARE(runToEnd(workspace), QString());
  }

  /// The same for documents that are searched, and for what is run below a node.
  void refusesBelowANode() {
    Workspace workspace{test::cpuBackends()};
    workspace.open(std::make_unique<DocumentModel>());
    const query::ParseResult query = query::parseJson(
        R"({"g": {"model": "", "max_tokens": 1, "input": {"cross": [{"user": "a"}, {"augment":
        {"embedding_model": "", "body": {"user": "q"}, "doc": ["a.txt", {"Text": ""}]}}]}}})");
    QVERIFY(query.query.has_value());
    workspace.model()->change(QStringLiteral("Add"), [&query](document::Document& document) {
      document::addTree(document, *query.query);
    });
    const document::Document& document = workspace.model()->document();
    QVERIFY2(workspace.runs().start().contains(worded("<document-saved>")),
             qPrintable(workspace.runs().start()));
    const document::NodeId join = document.at(document.root()).children.front();
    const QString below = workspace.runs().start(document.at(join).children.front());
    QVERIFY2(below.startsWith(worded("<nothing-to-generate>")), qPrintable(below));
  }

  /// A question is put once, a file is read beside the document, and both are in the prompt that runs.
  void asksAndReads() {
    QTemporaryDir folder;
    const auto write = [&folder](const char* name, const char* text) {
      QFile file(folder.filePath(QString::fromLatin1(name)));
      QVERIFY(file.open(QIODevice::WriteOnly));
      file.write(text);
    };
    write("tarek.txt", "Tarek is a baker. The pet of Tarek is called Biscuit.");
    write("query.yaml",
          "g:\n  model: spnl/spanlet\n  max_tokens: 20\n  temperature: 0.0\n  input:\n    cross:\n"
          "    - system: You are a helpful assistant. Answer from the documents.\n"
          "    - plus:\n      - file: tarek.txt\n    - ask: What do you want to know?\n");
    const QString path = folder.filePath(QStringLiteral("query.yaml"));
    document::OpenedDocument opened = openDocument(path);
    QVERIFY(opened.document);
    auto model = std::make_unique<DocumentModel>(std::move(*opened.document));
    model->setFilePath(path);
    Workspace workspace{test::cpuBackends()};
    workspace.open(std::move(model));
    QStringList questions;
    QSignalSpy ended(&workspace, &Workspace::jobEnded);
    QCOMPARE(workspace.runs().start(document::kNoNode,
                                    [&questions](const QString& question) -> std::optional<QString> {
                                      questions += question;
                                      return QStringLiteral("What is the name of the pet of Tarek?");
                                    }),
             QString());
    QVERIFY(ended.wait(kPatience));
    QCOMPARE(questions, QStringList{QStringLiteral("What do you want to know?")});
    const auto isShown = [&workspace] {
      const auto& runs = workspace.input().state().progress().runs;
      return !runs.empty() && runs.rbegin()->second.outcome.has_value();
    };
    QVERIFY(QTest::qWaitFor(isShown, kPatience));
    QVERIFY2(newestRun(workspace).answer.find("Biscuit") != std::string::npos,
             newestRun(workspace).answer.c_str());
    QCOMPARE(workspace.runs().start(document::kNoNode, [](const QString&) { return std::nullopt; }).isEmpty(),
             false);
  }

  /// An augment is replaced by what it finds in its document before the query runs.
  void retrieves() {
    Workspace workspace{test::cpuBackends()};
    const document::OpenedDocument opened = document::readDocument(
        R"({"g": {"model": "spnl/spanlet", "max_tokens": 20, "temperature": 0.0, "input": {"cross": [
             {"system": "You are a helpful assistant. Answer from the documents."},
             {"augment": {"embedding_model": "", "body": {"user": "What is the name of the pet of Tarek?"},
                          "doc": ["people.txt", {"Text": "Tarek is a baker. The pet of Tarek is called Biscuit."}]}},
             {"user": "What is the name of the pet of Tarek?"}]}}})");
    QVERIFY(opened.document);
    workspace.open(std::make_unique<DocumentModel>(*opened.document));
    QCOMPARE(runToEnd(workspace), QString());
    QVERIFY2(newestRun(workspace).answer.find("Biscuit") != std::string::npos,
             newestRun(workspace).answer.c_str());
    const auto names = segmentNames(workspace.input(), workspace.input().shownRequest());
    QCOMPARE(names.at(1).name, QStringLiteral("document"));
  }

  /// What was found is in the trace; a dropped passage is not in the next prompt, a pinned one is.
  void pinsAndDropsAreApplied() {
    Workspace workspace{test::cpuBackends()};
    const document::OpenedDocument opened = document::readDocument(
        R"({"g": {"model": "spnl/spanlet", "max_tokens": 4, "temperature": 0.0, "input": {
             "augment": {"embedding_model": "", "body": {"user": "Where does Mira live?"},
                         "doc": ["people.csv", {"Text": "Mira lives in Lisbon.\nOtto lives in Porto.\nTarek bakes."}]}}}})");
    QVERIFY(opened.document);
    workspace.open(std::make_unique<DocumentModel>(*opened.document));
    QCOMPARE(runToEnd(workspace), QString());
    const std::string path = "/g/input";
    QCOMPARE(newestRun(workspace).retrieved.size(), std::size_t(1));
    const trace::PassagesRetrieved first = *newestRun(workspace).retrieved.at(path);
    QCOMPARE(first.passages.size(), std::size_t(2));
    QCOMPARE(first.passages[0].text, std::string("Mira lives in Lisbon."));
    QCOMPARE(first.passages[0].place, std::string("record 1"));
    const document::NodeId node = workspace.input().nodeOf(1, path);
    QVERIFY(workspace.model()->document().at(node).own.as<query::Augment>() != nullptr);

    workspace.model()->change(QStringLiteral("Drop"), [&](document::Document& document) {
      document.settings.passages = 1;
      document::setPassageMark(document, node, first.passages[0].hash, document::PassageMark::Dropped);
    });
    QCOMPARE(runToEnd(workspace), QString());
    QVERIFY(newestRun(workspace).queryJson->find("Lisbon") == std::string::npos);
    QVERIFY(newestRun(workspace).queryJson->find("Porto") != std::string::npos);
    workspace.model()->change(QStringLiteral("Pin"), [&](document::Document& document) {
      document::setPassageMark(document, node, first.passages[0].hash, document::PassageMark::Pinned);
    });
    QCOMPARE(runToEnd(workspace), QString());
    QVERIFY(newestRun(workspace).queryJson->find("Lisbon") != std::string::npos);
    QVERIFY(newestRun(workspace).retrieved.at(path)->passages[0].pinned);
    workspace.model()->undoStack().undo();
    workspace.model()->undoStack().undo();
    workspace.model()->settingsUndoStack().undo();
    QVERIFY(workspace.model()->document() == *opened.document);
  }

  /// A folder is indexed while the window continues, reports its progress, and stops on request.
  void indexesWhileTheWindowGoesOn() {
    const QTemporaryDir folder;
    for (int i = 0; i < 300; ++i) {
      QFile file(folder.filePath(QStringLiteral("%1.txt").arg(i)));
      QVERIFY(file.open(QIODevice::WriteOnly));
      for (int line = 0; line < 60; ++line)
        file.write(QByteArray("The lamp gave little light on day ") + QByteArray::number(i * 60 + line) +
                   ". ");
    }
    document::OpenedDocument opened = document::readDocument(
        R"({"g": {"model": "spnl/spanlet", "max_tokens": 4, "temperature": 0.0, "input": {
             "augment": {"embedding_model": "", "body": {"user": "lamp"}, "doc": ["*.txt", {"Text": ""}]}}}})");
    QVERIFY(opened.document);
    opened.document->settings.ranking = "hybrid";
    auto model = std::make_unique<DocumentModel>(std::move(*opened.document));
    model->setFilePath(folder.filePath(QStringLiteral("query.span")));
    Workspace workspace{test::cpuBackends()};
    workspace.open(std::move(model));
    QSignalSpy ended(&workspace, &Workspace::jobEnded);
    QStringList reported;
    connect(&workspace.engine(), &EngineHost::stateChanged, this, [&] {
      const QString activity = workspace.engine().activity(workspace.current()->id);
      if (!activity.isEmpty()) reported << activity;
      if (activity.startsWith(QStringLiteral("Embedding"))) workspace.engine().stop(workspace.current()->id);
    });
    QCOMPARE(workspace.runs().start(), QString());
    QVERIFY(ended.wait(kPatience));
    QCOMPARE(ended.front().front().toString(), QString());
    QVERIFY2(reported.join('\n').contains(QStringLiteral("of 300 documents")),
             qPrintable(reported.join('\n')));
    QVERIFY(reported.back().startsWith(QStringLiteral("Embedding")));
    QVERIFY(workspace.engine().activity(workspace.current()->id).isEmpty());
    QVERIFY(workspace.input().state().progress().runs.empty());
    // What a run cannot find is said when it ends.
    workspace.model()->change(QStringLiteral("Name"), [](document::Document& document) {
      for (const document::NodeId id : document.ids()) {
        if (auto* augment = document.edit(id).own.as<query::Augment>()) augment->document.name = "*.pdf";
      }
    });
    ended.clear();
    QCOMPARE(workspace.runs().start(), QString());
    QVERIFY(ended.wait(kPatience));
    const QString problem = ended.front().front().toString();
    QVERIFY2(problem.contains(worded("<no-file-fits>")), qPrintable(problem));
  }

  /// A judge of four becomes judges of two, and the plan says what that costs.
  void localityMakesJudgesOfFew() {
    Workspace workspace{test::cpuBackends()};
    workspace.open(example(QStringLiteral("judge-4.json")));
    QCOMPARE(runToEnd(workspace), QString());
    const std::size_t plain = newestRun(workspace).plan->steps.size();
    workspace.model()->change(QStringLiteral("Settings"),
                              [](document::Document& document) { document.settings.locality = 2; });
    QCOMPARE(runToEnd(workspace), QString());
    QCOMPARE(newestRun(workspace).plan->steps.size(), plain + 2);
    QVERIFY2(newestRun(workspace).plan->explain.find("attention locality") != std::string::npos,
             newestRun(workspace).plan->explain.c_str());
  }

  void scrubsAndFollows() {
    Workspace workspace{test::cpuBackends()};
    workspace.open(example(QStringLiteral("chat.json")));
    QCOMPARE(runToEnd(workspace), QString());
    const std::size_t size = workspace.input().trace->size();
    QCOMPARE(workspace.input().position, size);
    workspace.setPosition(3);
    QCOMPARE(workspace.input().position, std::size_t(3));
    QCOMPARE(workspace.input().state().progress().sequence, std::uint64_t(3));
    workspace.setPosition(size + 10);
    QCOMPARE(workspace.input().position, size);
    QVERIFY(workspace.current()->following);
    workspace.setPosition(3);
    QCOMPARE(runToEnd(workspace), QString());  // a run is followed from its start
    QCOMPARE(workspace.input().position, workspace.input().trace->size());
  }

  /// Another block size begins another session, with another trace. The runs before stay: in the lists, with
  /// numbers of their own, and to be shown again.
  void runsStayWhenTheSessionChanges() {
    Workspace workspace{test::cpuBackends()};
    workspace.open(example(QStringLiteral("rag.json")));
    QCOMPARE(runToEnd(workspace), QString());
    const std::string answer = newestRun(workspace).answer;
    const RequestId request = newestRun(workspace).requests.back();
    workspace.model()->change(QStringLiteral("Block size"),
                              [](document::Document& document) { document.settings.blockSize = 8; });
    QCOMPARE(runToEnd(workspace), QString());
    std::vector<ListedRun> runs = listRuns(workspace.input());
    QCOMPARE(runs.size(), std::size_t(2));
    QCOMPARE(runs[0].run, RunId(1));
    QCOMPARE(runs[1].run, RunId(2));
    QVERIFY(runs[0].trace != runs[1].trace);
    QCOMPARE(runs[0].state().answer, answer);
    QCOMPARE(runs[0].record->settings.blockSize, 16);
    QCOMPARE(runs[1].record->settings.blockSize, 8);
    QVERIFY(runs[1].state().requests.back() > request);
    QCOMPARE(differencesOf(runs[1], runs[0]), QStringList{QStringLiteral("blocks of 16 tokens")});
    QCOMPARE(workspace.input().state().pool().blockSize(), 8);

    workspace.showRun(1);
    QCOMPARE(workspace.input().state().pool().blockSize(), 16);
    QCOMPARE(workspace.input().shownRequest(), request);
    QCOMPARE(workspace.shownRun(), RunId(1));
    QCOMPARE(listRuns(workspace.input()).size(), std::size_t(2));
    QCOMPARE(workspace.runBeside(1), RunId(2));
    QCOMPARE(workspace.runBeside(-1), RunId(0));
    workspace.showRun(2);
    QCOMPARE(workspace.input().state().pool().blockSize(), 8);
    // An answer that is clicked brings its session along.
    Selection selection;
    selection.request = request;
    workspace.select(selection);
    QCOMPARE(workspace.input().state().pool().blockSize(), 16);
    // The next run is followed.
    QCOMPARE(runToEnd(workspace), QString());
    QCOMPARE(workspace.shownRun(), RunId(3));
    QCOMPARE(workspace.input().state().pool().blockSize(), 8);
  }

  /// Runs of another tab in another session do not replace the visible runs of this one.
  void tabsKeepTheirRuns() {
    Workspace workspace{test::cpuBackends()};
    OpenDocument& first = workspace.open(example(QStringLiteral("rag.json")));
    QCOMPARE(runToEnd(workspace), QString());
    workspace.open(example(QStringLiteral("chat.json")));
    workspace.model()->change(QStringLiteral("Block size"),
                              [](document::Document& document) { document.settings.blockSize = 8; });
    QCOMPARE(runToEnd(workspace), QString());
    workspace.setCurrent(&first);
    QCOMPARE(workspace.input().state().pool().blockSize(), 16);
    QCOMPARE(workspace.shownRun(), RunId(1));
    QVERIFY(workspace.input().nodeOf(1, newestRequest(workspace).node) != document::kNoNode);
    const std::vector<ListedRun> runs = listRuns(workspace.input());
    QCOMPARE(runs.size(), std::size_t(2));
    QVERIFY(runs[0].isOwn);
    QVERIFY(!runs[1].isOwn);
  }

  /// Older runs of one session are shown as they were at their end, and none is missing from the lists for
  /// it.
  void olderRunsAreShownAtTheirEnd() {
    Workspace workspace{test::cpuBackends()};
    workspace.open(example(QStringLiteral("rag.json")));
    QCOMPARE(runToEnd(workspace), QString());
    QCOMPARE(runToEnd(workspace), QString());
    workspace.showRun(1);
    QVERIFY(workspace.input().position < workspace.input().trace->size());
    QCOMPARE(workspace.input().state().progress().runs.size(), std::size_t(1));
    QCOMPARE(listRuns(workspace.input()).size(), std::size_t(2));
    QCOMPARE(makeStatusModel(workspace.input()).run, RunId(1));
    // Going back in time by hand hides what comes later.
    workspace.setPosition(workspace.input().position - 1);
    QCOMPARE(listRuns(workspace.input()).size(), std::size_t(1));
    QVERIFY(makeStatusModel(workspace.input()).events > 0);
    QVERIFY(statusText(makeStatusModel(workspace.input())).startsWith(QStringLiteral("Earlier state")));
  }

  /// Runs of several tabs are in progress at once: each tab shows, and stops, its own.
  void tabsRunAtOnce() {
    const QTemporaryDir folder;
    Workspace workspace{test::cpuBackends()};
    workspace.traces().keepRuns(folder.path());
    // Hundreds of answers of noise, which end when they are stopped.
    const auto openLong = [&workspace](const QString& title) {
      const query::ParseResult parsed = query::parseJson(
          R"({"plus":[{"repeat":{"n":250,"g":{"model":"m","max_tokens":900,"temperature":5.0,
              "input":{"user":")" +
          title.toStdString() + R"("}}}},{"repeat":{"n":250,"g":{"model":"m","max_tokens":900,
              "temperature":5.0,"input":{"user":"Where does Mira live?"}}}}]})");
      auto model = std::make_unique<DocumentModel>(document::fromQuery(*parsed.query));
      model->setTitle(title);
      return &workspace.open(std::move(model));
    };
    OpenDocument* const one = openLong(QStringLiteral("one"));
    QCOMPARE(workspace.runs().start(), QString());
    OpenDocument* const two = openLong(QStringLiteral("two"));
    QCOMPARE(workspace.runs().start(), QString());
    QVERIFY(!workspace.runs().start().isEmpty());  // one at a time in each
    EngineHost& engine = workspace.engine();
    const auto tokensOf = [&workspace](const OpenDocument& document) {
      const trace::Progress& progress = workspace.input().trace->newest().progress();
      std::int64_t tokens = 0;
      for (const auto& [run, paths] : document.paths) {
        for (const RequestId request : progress.runs.at(run).requests)
          tokens += progress.requests.at(request).generatedTokens;
      }
      return tokens;
    };
    QTRY_VERIFY_WITH_TIMEOUT(tokensOf(*one) > 0 && tokensOf(*two) > 0, kPatience);
    QVERIFY(engine.isBusy(one->id) && engine.isBusy(two->id));
    const RunId first = one->paths.begin()->first;
    const RunId second = two->paths.begin()->first;
    // Each shows its own, though the events of both are in one trace.
    for (const auto& [document, run] : {std::pair{one, first}, std::pair{two, second}}) {
      workspace.setCurrent(document);
      QCOMPARE(workspace.shownRun(), run);
      const RequestId request = workspace.input().shownRequest();
      QCOMPARE(workspace.input().state().progress().requests.at(request).run, run);
      QCOMPARE(makeStatusModel(workspace.input()).run, run);
      QVERIFY(workspace.input().replay.engineIsBusy);
    }
    // A third one with another cache waits, and is taken out of the queue.
    OpenDocument* const three = openLong(QStringLiteral("three"));
    workspace.model()->change(QStringLiteral("Blocks"),
                              [](document::Document& document) { document.settings.blockSize = 8; });
    QCOMPARE(workspace.runs().start(), QString());
    QCOMPARE(engine.activity(three->id), worded("<waiting-until-other>"));
    engine.stop(three->id);
    QTRY_VERIFY_WITH_TIMEOUT(!engine.isBusy(three->id), kPatience);
    QVERIFY(three->paths.empty() && three->failure.isEmpty());

    const auto outcomeOf = [&workspace](RunId run) {
      return workspace.input().trace->newest().progress().runs.at(run).outcome;
    };
    workspace.setCurrent(two);
    engine.stop(two->id);
    QTRY_VERIFY_WITH_TIMEOUT(!engine.isBusy(two->id), kPatience);
    QVERIFY(outcomeOf(second));
    QVERIFY(!workspace.input().replay.engineIsBusy);
    engine.stop(one->id);
    QTRY_VERIFY_WITH_TIMEOUT(!engine.isBusy(one->id), kPatience);
    QVERIFY(outcomeOf(first));
    // As each was at its end.
    for (const auto& [document, run] : {std::pair{one, first}, std::pair{two, second}}) {
      workspace.setCurrent(document);
      workspace.showRun(run);
      QVERIFY(workspace.input().state().progress().runs.at(run).outcome.has_value());
      QCOMPARE(workspace.shownRun(), run);
    }
    // What is kept of each is whole, with parts of the other beside it.
    for (const RunId run : {first, second}) {
      QTRY_VERIFY_WITH_TIMEOUT(!workspace.history().find(run)->file.isEmpty(), kPatience);
      const TraceStore kept = TraceStore::open(workspace.history().find(run)->file.toStdString());
      QVERIFY2(kept.contradictions().empty(),
               kept.contradictions().empty() ? "" : kept.contradictions().front().message().c_str());
      QCOMPARE(kept.newest().progress().runs.at(run).answer,
               workspace.input().trace->newest().progress().runs.at(run).answer);
    }
  }

  /// The run of a tab that waited for another session is shown where that one begins; the tab that ran before
  /// goes on showing its own.
  void aWaitingRunBeginsItsOwnSession() {
    Workspace workspace{test::cpuBackends()};
    OpenDocument& one = workspace.open(example(QStringLiteral("rag.json")));
    QCOMPARE(workspace.runs().start(), QString());
    OpenDocument& two = workspace.open(example(QStringLiteral("rag.json")));
    two.model->change(QStringLiteral("Blocks"),
                      [](document::Document& document) { document.settings.blockSize = 8; });
    QCOMPARE(workspace.runs().start(), QString());
    QTRY_VERIFY_WITH_TIMEOUT(!workspace.engine().isBusy(), kPatience);
    QCOMPARE(one.paths.size(), std::size_t{1});
    QCOMPARE(two.paths.size(), std::size_t{1});
    QCOMPARE(one.source->origin(), TraceOrigin::EndedSession);
    QCOMPARE(two.source->origin(), TraceOrigin::Session);
    QCOMPARE(workspace.input().state().pool().blockSize(), 8);
    QCOMPARE(workspace.shownRun(), RunId{2});
    workspace.setCurrent(&one);
    QCOMPARE(workspace.shownRun(), RunId{1});
    QCOMPARE(newestRequest(workspace).cachedTokens, std::int64_t{0});
  }

  /// Nobody could stop what a closed tab runs.
  void closingATabStopsItsRun() {
    Workspace workspace{test::cpuBackends()};
    OpenDocument& document = workspace.open(example(QStringLiteral("list-and-combine.json")));
    QCOMPARE(workspace.runs().start(), QString());
    workspace.close(&document);
    QTRY_VERIFY_WITH_TIMEOUT(!workspace.engine().isBusy(), kPatience);
  }

  /// Two programs at once that keep their runs in one folder: each run has a number of its own, and the next
  /// program lists all of them.
  void programsAtOnceNumberTheirRuns() {
    const QTemporaryDir folder;
    std::set<RunId> numbers;
    std::set<RequestId> requests;
    {
      Workspace one{test::cpuBackends()};
      Workspace two{test::cpuBackends()};
      for (Workspace* workspace : {&one, &two}) {
        workspace->traces().keepRuns(folder.path());
        workspace->open(example(QStringLiteral("rag.json")));
      }
      for (Workspace* workspace : {&one, &two, &one, &two}) {
        QCOMPARE(runToEnd(*workspace), QString());
        numbers.insert(workspace->shownRun());
        requests.insert(workspace->input().state().progress().requests.rbegin()->first);
      }
    }
    QCOMPARE(numbers, std::set<RunId>({1, 2, 3, 4}));
    QCOMPARE(requests.size(), std::size_t(4));
    Workspace next{test::cpuBackends()};
    next.traces().keepRuns(folder.path());
    QCOMPARE(next.history().records()->size(), std::size_t(4));
  }

  /// Runs that are kept are there for the next program, with their events, and its own go on counting.
  void keptRunsComeBack() {
    const QTemporaryDir folder;
    std::string answer;
    {
      Workspace workspace{test::cpuBackends()};
      workspace.traces().keepRuns(folder.path());
      workspace.open(example(QStringLiteral("rag.json")));
      workspace.model()->setTitle(QStringLiteral("rag"));
      QCOMPARE(runToEnd(workspace), QString());
      QCOMPARE(runToEnd(workspace), QString());
      answer = newestRun(workspace).answer;
    }
    Workspace workspace{test::cpuBackends()};
    workspace.traces().keepRuns(folder.path());
    auto model = example(QStringLiteral("rag.json"));
    model->setTitle(QStringLiteral("rag"));
    workspace.open(std::move(model));
    std::vector<ListedRun> runs = listRuns(workspace.input());
    QCOMPARE(runs.size(), std::size_t(2));
    QVERIFY(runs[0].isOwn && runs[1].isOwn);
    QCOMPARE(runs[1].state().answer, answer);
    QVERIFY(runs[1].record->hasEvents());
    QVERIFY(valuesOf(*runs[1].progress, runs[1].state()).cachedTokens > 0);
    workspace.showRun(2);
    QVERIFY(workspace.input().state().pool().blockCount() > 0);
    QVERIFY(workspace.input().nodeOf(2, newestRequest(workspace).node) != document::kNoNode);
    QCOMPARE(runToEnd(workspace), QString());
    QCOMPARE(workspace.shownRun(), RunId(3));
    workspace.traces().forgetKeptRuns();
    QVERIFY(QDir(folder.path()).entryList(QDir::Files).isEmpty());
  }

  /// The first save of a query names its earlier runs, so that the file has these runs when it is opened
  /// again, also by the next program.
  void firstSaveNamesTheRuns() {
    const QTemporaryDir folder;
    const QString path = folder.filePath(QStringLiteral("facts.span"));
    const auto ownRuns = [](Workspace& workspace) {
      std::size_t own = 0;
      for (const ListedRun& run : listRuns(workspace.input())) own += run.isOwn ? 1 : 0;
      return own;
    };
    const auto openSaved = [&path](Workspace& workspace) {
      auto model = example(QStringLiteral("rag.json"));
      model->setFilePath(path);
      workspace.open(std::move(model));
    };
    {
      Workspace workspace{test::cpuBackends()};
      workspace.traces().keepRuns(folder.path());
      workspace.open(example(QStringLiteral("rag.json")));
      QCOMPARE(runToEnd(workspace), QString());
      QCOMPARE(runToEnd(workspace), QString());
      workspace.model()->setFilePath(path);
      workspace.traces().nameRuns(*workspace.current());
      QCOMPARE(ownRuns(workspace), std::size_t(2));
      openSaved(workspace);
      QCOMPARE(ownRuns(workspace), std::size_t(2));
    }
    Workspace next{test::cpuBackends()};
    next.traces().keepRuns(folder.path());
    openSaved(next);
    QCOMPARE(ownRuns(next), std::size_t(2));
  }

  /// A saved run opens without an engine and shows what the live one showed.
  void savedRunOpens() {
    const QTemporaryDir folder;
    const QString path = folder.filePath(QStringLiteral("saved.trace"));
    Workspace live{test::cpuBackends()};
    live.open(example(QStringLiteral("rag.json")));
    QCOMPARE(runToEnd(live), QString());
    QCOMPARE(live.saveTrace(path), QString());

    Workspace workspace{test::cpuBackends()};
    workspace.openTrace(path);
    QCOMPARE(newestRun(workspace).answer, newestRun(live).answer);
    QCOMPARE(newestRequest(workspace).text, newestRequest(live).text);
    QVERIFY(workspace.input().nodeOf(1, newestRequest(workspace).node) != document::kNoNode);
    QVERIFY(!workspace.runs().start().isEmpty());  // a recording does not run
    // It names the model that was recorded.
    QCOMPARE(workspace.model()->document().settings.model, workspace.input().state().progress().model);
    QVERIFY_EXCEPTION_THROWN(workspace.openTrace(folder.filePath(QStringLiteral("none"))), Failure);
  }

  /// The saved run is the visible one: nothing of other documents and other runs is in the file.
  void savesTheRunInView() {
    const QTemporaryDir folder;
    const QString path = folder.filePath(QStringLiteral("saved.trace"));
    Workspace live{test::cpuBackends()};
    live.open(example(QStringLiteral("rag.json")));
    QCOMPARE(runToEnd(live), QString());
    const std::string answer = newestRun(live).answer;
    OpenDocument& first = *live.current();
    live.open(example(QStringLiteral("chat.json")));
    QVERIFY(!live.saveTrace(path).isEmpty());  // it has not run
    QVERIFY(!QFileInfo::exists(path));
    QCOMPARE(runToEnd(live), QString());
    live.setCurrent(&first);
    QCOMPARE(live.saveTrace(path), QString());

    Workspace workspace{test::cpuBackends()};
    workspace.openTrace(path);
    const auto& runs = workspace.input().trace->newest().progress().runs;
    QCOMPARE(runs.size(), std::size_t{1});
    QCOMPARE(runs.begin()->second.answer, answer);
    QVERIFY(workspace.input().trace->contradictions().empty());
  }
};

SPANSCOPE_TEST(tst_workspace, TestWorkspace, QApplication)
#include "tst_workspace.moc"
