// SPDX-License-Identifier: GPL-3.0-or-later
// Runs whose augments take vectors from a server.
#include "tests/engine/remote/stand_in_server.h"
#include "tests/support/backends.h"
#include "tests/support/product_text.h"
#include "tests/support/test_program.h"
#include "ui/document/document_file.h"
#include "ui/window/workspace.h"

#include <QByteArray>
#include <QCoreApplication>
#include <QDebug>
#include <QElapsedTimer>
#include <QObject>
#include <QSignalSpy>
#include <QString>
#include <QStringList>
#include <QStringLiteral>
#include <QTest>

using namespace spanscope;
using namespace spanscope::ui;
using spanscope::product_text::worded;
using spanscope::remote::test::http;
using spanscope::remote::test::letterVectors;
using spanscope::remote::test::Server;

namespace {

constexpr int kPatience = 60'000;  // milliseconds

std::unique_ptr<DocumentModel> retrieving(const std::string& url, const std::string& ranking) {
  document::OpenedDocument opened = document::readDocument(
      R"({"g": {"model": "spnl/spanlet", "max_tokens": 4, "temperature": 0.0, "input": {
           "augment": {"embedding_model": "minilm", "body": {"user": "Where does Mira live?"},
                       "doc": ["people.csv", {"Text": "Otto bakes.\nMira lives in Lisbon.\nTarek drums."}]}}}})");
  document::RunSettings& settings = opened.document->settings;
  settings.ranking = ranking;
  settings.embeddings = "server";
  settings.embeddingsUrl = url;
  settings.embeddingsModel = "minilm";
  return std::make_unique<DocumentModel>(std::move(*opened.document));
}

void set(Workspace& workspace, const std::function<void(document::RunSettings&)>& change) {
  workspace.model()->change(QStringLiteral("Settings"),
                            [&](document::Document& document) { change(document.settings); });
}

/// The problem in words if there was one.
QString runToEnd(Workspace& workspace) {
  QSignalSpy ended(&workspace, &Workspace::jobEnded);
  const QString problem = workspace.runs().start();
  if (!problem.isEmpty()) return problem;
  if (!ended.wait(kPatience)) return QStringLiteral("it did not end");
  QTest::qWait(50);
  return ended.front().front().toString();
}

trace::PassagesRetrieved newestFound(const Workspace& workspace) {
  const auto& runs = workspace.input().state().progress().runs;
  if (runs.empty() || runs.rbegin()->second.retrieved.empty()) return {};
  return *runs.rbegin()->second.retrieved.begin()->second;
}

}  // namespace

class TestServerEmbeddings : public QObject {
  Q_OBJECT

 private Q_SLOTS:
  void vectorsAreTheServers() {
    const Server server([](const QByteArray& request) { return letterVectors(request); });
    Workspace workspace{test::cpuBackends()};
    workspace.open(retrieving(server.address(), "auto"));
    QCOMPARE(runToEnd(workspace), QString());
    const trace::PassagesRetrieved found = newestFound(workspace);
    QVERIFY(found.ranking == trace::PassageRanking::Embedding);
    QCOMPARE(found.passages.size(), std::size_t(3));
    QCOMPARE(found.passages[0].text, std::string("Mira lives in Lisbon."));
    QVERIFY(server.request().contains("\"minilm\""));
    // Once for the documents, which are indexed then, and once for each question.
    QCOMPARE(server.requests(), 2);
    QCOMPARE(runToEnd(workspace), QString());
    QCOMPARE(server.requests(), 3);
  }

  /// Of all rows of the dock, what is changed there is applied by the next run.
  void settingsAreApplied() {
    const Server server([](const QByteArray& request) { return letterVectors(request); });
    Workspace workspace{test::cpuBackends()};
    workspace.open(retrieving(server.address(), "hybrid"));
    QCOMPARE(runToEnd(workspace), QString());
    QVERIFY(newestFound(workspace).ranking == trace::PassageRanking::Hybrid);
    set(workspace, [](document::RunSettings& settings) {
      settings.ranking = "lexical";
      settings.chunk = 8;
      settings.overlap = 0;
    });
    const int before = server.requests();
    QCOMPARE(runToEnd(workspace), QString());
    QCOMPARE(server.requests(), before);
    QVERIFY(newestFound(workspace).ranking == trace::PassageRanking::Lexical);
    set(workspace, [](document::RunSettings& settings) {
      settings.ranking = "embedding";
      settings.embeddings = "checkpoint";
      settings.summaries = true;
    });
    QCOMPARE(runToEnd(workspace), QString());
    QCOMPARE(server.requests(), before);
    const trace::PassagesRetrieved found = newestFound(workspace);
    QVERIFY(std::any_of(found.passages.begin(), found.passages.end(),
                        [](const trace::PassageInfo& passage) { return passage.level > 0; }));
  }

  void stopAnswersAtOnce() {
    const Server server{QByteArray()};
    Workspace workspace{test::cpuBackends()};
    workspace.open(retrieving(server.address(), "embedding"));
    QSignalSpy ended(&workspace, &Workspace::jobEnded);
    QCOMPARE(workspace.runs().start(), QString());
    QVERIFY(QTest::qWaitFor([&] { return server.requests() == 1; }, kPatience));
    QElapsedTimer clock;
    clock.start();
    workspace.engine().stop(workspace.current()->id);
    QVERIFY(ended.count() == 1 || ended.wait(kPatience));
    qInfo("answered after %lld ms", clock.elapsed());
    // The documented limit is 100 ms; a busy machine may take longer.
    QVERIFY(clock.elapsed() < 20'000);
    QCOMPARE(ended.front().front().toString(), QString());
    set(workspace, [](document::RunSettings& settings) { settings.ranking = "lexical"; });
    QCOMPARE(runToEnd(workspace), QString());
  }

  void defectsAreSaidAndLeft() {
    std::atomic<bool> isWell = false;
    const Server server([&isWell](const QByteArray& request) {
      return isWell ? letterVectors(request) : http(500, "out of memory");
    });
    Workspace workspace{test::cpuBackends()};
    workspace.open(retrieving(server.address(), "embedding"));
    const QString problem = runToEnd(workspace);
    QVERIFY2(problem.contains(QString::fromStdString(server.address() + "/embeddings")), qPrintable(problem));
    QVERIFY2(problem.contains(QStringLiteral("status 500: out of memory")), qPrintable(problem));
    isWell = true;
    QCOMPARE(runToEnd(workspace), QString());
    QCOMPARE(newestFound(workspace).passages[0].text, std::string("Mira lives in Lisbon."));
  }

  /// A document may come from anyone: before texts leave this machine, the user is asked.
  void otherMachinesAreAskedAbout() {
    Workspace workspace{test::cpuBackends()};
    workspace.open(retrieving("http://192.0.2.1/v1", "auto"));
    QVERIFY(!workspace.runs().start().isEmpty());
    QStringList asked;
    bool answer = false;
    workspace.runs().setServerConsent([&](const QString& endpoint) {
      asked += endpoint;
      return answer;
    });
    QVERIFY(workspace.runs().start().contains(QStringLiteral("http://192.0.2.1/v1/embeddings")));
    QCOMPARE(asked, QStringList{QStringLiteral("http://192.0.2.1/v1/embeddings")});
    QCOMPARE(workspace.engine().state(), EngineState::Idle);
    answer = true;
    QSignalSpy ended(&workspace, &Workspace::jobEnded);
    QCOMPARE(workspace.runs().start(), QString());
    workspace.engine().stop(workspace.current()->id);
    QVERIFY(ended.count() == 1 || ended.wait(kPatience));
    // Not where nothing would be sent.
    asked.clear();
    set(workspace, [](document::RunSettings& settings) { settings.embeddingsModel = "other"; });
    QCOMPARE(runToEnd(workspace), QString());
    QVERIFY(newestFound(workspace).ranking == trace::PassageRanking::Lexical);
    QVERIFY(asked.isEmpty());
  }

  void whatIsMissingIsSaid() {
    Workspace workspace{test::cpuBackends()};
    workspace.open(retrieving("", "embedding"));
    QVERIFY(workspace.runs().start().contains(QStringLiteral("no address")));
    set(workspace, [](document::RunSettings& settings) {
      settings.embeddingsUrl = "http://localhost:1/v1";
      settings.embeddingsModel.clear();
    });
    QCOMPARE(workspace.runs().start(), worded(QStringLiteral("<embeddings-model-missing>")));
  }
};

SPANSCOPE_TEST(tst_server_embeddings, TestServerEmbeddings, QCoreApplication)
#include "tst_server_embeddings.moc"
