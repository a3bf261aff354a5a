// SPDX-License-Identifier: GPL-3.0-or-later
// A document whose passages were pinned and dropped has the same prompt in the window and on the command
// line.
#include "engine/base/hash.h"
#include "engine/workbench/document/document_query.h"
#include "engine/workbench/document/document_text.h"
#include "engine/workbench/document/edits.h"
#include "engine/workbench/document/plan_options.h"
#include "tests/app/cli/spanq_process.h"
#include "tests/support/backends.h"
#include "tests/support/test_program.h"
#include "ui/document/document_file.h"
#include "ui/session/engine_host.h"
#include "ui/session/run_inputs.h"
#include "ui/session/run_request.h"

#include <QCoreApplication>
#include <QObject>
#include <QSignalSpy>
#include <QString>
#include <QStringList>
#include <QStringLiteral>
#include <QTemporaryDir>
#include <QTest>

#include <memory>
#include <string>
#include <utility>
#include <variant>
#include <vector>

using namespace spanscope;
using document::PassageMark;

namespace {

constexpr int kPatience = 60'000;  // milliseconds

const std::string kQuery =
    R"({"g": {"model": "spnl/spanlet", "max_tokens": 4, "temperature": 0.0, "input": {"cross": [
         {"user": "muted"},
         {"augment": {"embedding_model": "", "body": {"user": "Where does Mira live?"}, "doc": ["people.csv",
           {"Text": "Mira lives in Lisbon.\nOtto lives in Porto.\nMira plays the cello.\nTarek is a baker."}]}},
         {"user": "Where does Mira live?"}]}}})";

document::NodeId nodeWith(const document::Document& document, const NodePath& path) {
  for (const auto& [place, id] : document::pathsInTree(document, document.root())) {
    if (place == path) return id;
  }
  return document::kNoNode;
}

/// The canonical query that the engine of the window runs: what was retrieved is in it.
std::string runInWindow(const document::Document& document) {
  document::QueryOf taken = document::toQuery(document, document::TakeOut::MutedAndFrozen);
  ui::RunRequest request;
  request.settings = document.settings;
  workbench::RetrievalRequest& retrieval = request.retrieval.emplace();
  retrieval.query = std::move(*taken.query);
  retrieval.options = document::retrievalOptionsOf(document.settings);
  retrieval.options.choices = document::passageChoicesOf(document, taken.paths);
  retrieval.files = std::make_shared<ui::RunInputs>(QString(), ui::Asker());
  retrieval.planOptions = document::planOptionsOf(document.settings);
  ui::EngineHost host{test::cpuBackends()};
  QSignalSpy ended(&host, &ui::EngineHost::jobEnded);
  if (!host.submit({.work = ui::makeRunJob(std::move(request))}) || !ended.wait(kPatience)) return {};
  std::vector<trace::Event> events;
  host.drain(events);
  for (const trace::Event& event : events) {
    if (const auto* started = std::get_if<trace::RunStarted>(&event.payload)) return started->queryJson;
  }
  return {};
}

}  // namespace

class TestSpanqPins : public QObject {
  Q_OBJECT

 private Q_SLOTS:
  void windowAndCommandLineAgree_data() {
    QTest::addColumn<QStringList>("pinned");
    QTest::addColumn<QStringList>("dropped");
    QTest::newRow("nothing") << QStringList{} << QStringList{};
    QTest::newRow("pinned") << QStringList{"Tarek is a baker."} << QStringList{};
    QTest::newRow("dropped") << QStringList{} << QStringList{"Mira lives in Lisbon."};
    QTest::newRow("both") << QStringList{"Tarek is a baker.", "Otto lives in Porto."}
                          << QStringList{"Mira lives in Lisbon."};
  }

  void windowAndCommandLineAgree() {
    QFETCH(QStringList, pinned);
    QFETCH(QStringList, dropped);
    document::Document document = *document::readDocument(kQuery).document;
    document.settings.passages = 2;
    const document::NodeId augment = nodeWith(document, "/g/input/cross/1");
    document.edit(nodeWith(document, "/g/input/cross/0")).muted = true;
    const auto mark = [&](const QStringList& texts, PassageMark given) {
      for (const QString& text : texts)
        document::setPassageMark(document, augment, hash128(text.toStdString()).hex(), given);
    };
    mark(pinned, PassageMark::Pinned);
    mark(dropped, PassageMark::Dropped);

    const QTemporaryDir folder;
    const QString path = folder.filePath(QStringLiteral("query.span"));
    QVERIFY(!ui::saveDocument(path, document));
    const test::SpanqResult exported =
        test::spanq({"export", "--to", "spnl", "--retrieve", "--passages", "2", path.toStdString()});
    QVERIFY2(exported.code == 0, exported.err.c_str());
    for (const QString& text : pinned) QVERIFY(exported.out.find(text.toStdString()) != std::string::npos);
    for (const QString& text : dropped) QVERIFY(exported.out.find(text.toStdString()) == std::string::npos);
    QCOMPARE(QString::fromStdString(exported.out), QString::fromStdString(runInWindow(document) + "\n"));
  }
};

SPANSCOPE_TEST(tst_spanq_pins, TestSpanqPins, QCoreApplication)
#include "tst_spanq_pins.moc"

#include <nlohmann/json.hpp>
