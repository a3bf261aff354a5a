// SPDX-License-Identifier: GPL-3.0-or-later
// Files that become children of a plus: which, where, under which names, and how long that takes.
#include "engine/query/json/json.h"
#include "engine/workbench/document/document_query.h"
#include "tests/engine/retrieve/pdf_writer.h"
#include "tests/support/test_program.h"
#include "tests/ui/editor/canvas_driver.h"
#include "ui/document/text_files.h"
#include "ui/editor/clipboard.h"

#include <QDir>
#include <QElapsedTimer>
#include <QFile>
#include <QFileInfo>
#include <QObject>
#include <QString>
#include <QStringList>
#include <QStringLiteral>
#include <QTemporaryDir>
#include <QTest>

#include <stop_token>
#include <string>
#include <vector>

using namespace spanscope;
using namespace spanscope::ui;
using document::Document;
using document::kNoNode;
using document::NodeId;

namespace {

Document documentOf(const std::string& json) {
  const query::ParseResult parsed = query::parseJson(json);
  if (!parsed.query) qFatal("not a query: %s", json.c_str());
  return document::fromQuery(*parsed.query);
}

std::string jsonOf(const Document& document) {
  return query::writeCanonical(document::toTree(document, document.root()));
}

std::string canonical(const std::string& json) {
  return jsonOf(documentOf(json));
}

const std::vector<TextFile> kTwo{{.name = "a.txt", .text = "one"}, {.name = "b.txt", .text = "two"}};
const char* const kPlus = R"({"plus":[{"user":"one"},{"user":"two"}]})";

}  // namespace

class TestAddedDocuments : public QObject {
  Q_OBJECT

 private:
  QTemporaryDir m_folder;

  QString write(const QString& name, const QByteArray& bytes) {
    const QString path = m_folder.filePath(name);
    QDir().mkpath(QFileInfo(path).absolutePath());
    QFile file(path);
    if (!file.open(QIODevice::WriteOnly) || file.write(bytes) != bytes.size())
      qFatal("cannot write %s", qPrintable(path));
    return path;
  }

 private Q_SLOTS:
  void theyGoBeforeTheQuestion_data() {
    QTest::addColumn<QString>("before");
    QTest::addColumn<QString>("after");
    const QString generate = QStringLiteral(R"({"g":{"model":"m","input":%1}})");
    const auto row = [&generate](const char* name, const char* before, const char* after) {
      QTest::newRow(name) << generate.arg(QLatin1String(before))
                          << generate.arg(QString::fromLatin1(after).arg(QLatin1String(kPlus)));
    };
    row("a question alone", R"({"user":"Where?"})", R"({"cross":[%1,{"user":"Where?"}]})");
    row("a join", R"({"cross":[{"system":"s"},{"user":"Where?"}]})",
        R"({"cross":[{"system":"s"},%1,{"user":"Where?"}]})");
    row("another list", R"({"cross":[{"plus":[]},{"user":"Where?"}]})",
        R"({"cross":[%1,{"user":"Where?"}]})");
  }
  void theyGoBeforeTheQuestion() {
    QFETCH(QString, before);
    QFETCH(QString, after);
    Document document = documentOf(before.toStdString());
    const NodeId root = document.root();
    const std::vector<NodeId> added = addDocuments(document, kTwo, kNoNode);
    QCOMPARE(QString::fromStdString(jsonOf(document)),
             QString::fromStdString(canonical(after.toStdString())));
    QCOMPARE(document.root(), root);
    QCOMPARE(document.tops().size(), std::size_t{1});
    QCOMPARE(added.size(), std::size_t{2});
    QCOMPARE(document.at(added[0]).name, std::string("a.txt"));
    QCOMPARE(document.at(added[1]).name, std::string("b.txt"));
  }

  void anEmptyQueryBecomesThePlus() {
    Document document;
    addDocuments(document, kTwo, kNoNode);
    QCOMPARE(jsonOf(document), canonical(kPlus));
  }

  /// Documents alone would be asked nothing: what is missing is the question, which is selected.
  void anEmptyCanvasGetsAQuestionAboutThem() {
    test::CanvasDriver driver(Document{});
    driver.canvas().addDocuments(kTwo);
    // The query is ready for its question: documents are named as the source, and answers do not vary.
    const query::Node asked = document::toTree(driver.document(), driver.document().root());
    const auto* generate = std::get_if<query::Generate>(&asked.value);
    QVERIFY(generate != nullptr);
    QVERIFY(generate->settings.temperature == query::Setting<float>(0.0F));
    const auto* cross = std::get_if<query::Join>(&generate->input->value);
    QVERIFY(cross != nullptr && cross->kind == query::JoinKind::Cross);
    QCOMPARE(cross->children.size(), std::size_t{3});
    const auto* system = std::get_if<query::Message>(&cross->children[0].value);
    QVERIFY(system != nullptr && system->role == query::Role::System && !system->text.empty());
    QCOMPARE(query::writeCanonical(cross->children[1]), canonical(kPlus));
    QCOMPARE(query::writeCanonical(cross->children[2]), canonical(R"({"user":""})"));
    QCOMPARE(driver.model().undoStack().count(), 1);
    const std::vector<NodeId> selected = driver.selection();
    QCOMPARE(selected.size(), std::size_t{1});
    QCOMPARE(driver.document().at(selected.front()).parent,
             driver.document().at(driver.document().root()).children.front());
  }

  void theSelectedPlusIsMeant() {
    Document document = documentOf(R"({"cross":[{"plus":[{"user":"x"}]},{"plus":[{"user":"y"}]}]})");
    const NodeId second = document.at(document.root()).children[1];
    addDocuments(document, kTwo, document.at(second).children.front());
    QCOMPARE(document.at(second).children.size(), std::size_t{3});
  }

  /// One bad file keeps no other out, wherever it comes in the list, and is named.
  void aBadFileIsNamedAndTheOthersAreRead() {
    QStringList chosen;
    for (const char* name : {"one.txt", "two.txt", "bad.txt", "three.txt", "four.txt"}) {
      const bool isBad = QByteArray(name) == "bad.txt";
      chosen << write(QString::fromLatin1(name), isBad ? "\xFF\xFA" : "\xEF\xBB\xBFgood");
    }
    const TextFiles read = readTextFiles(chosen);
    QVERIFY2(read.problem.isEmpty(), qPrintable(read.problem));
    QCOMPARE(read.files.size(), std::size_t{4});
    for (const TextFile& file : read.files) QCOMPARE(file.text, std::string("good"));
    QCOMPARE(read.leftOut.size(), 1);
    QVERIFY2(read.leftOut.front().startsWith(QStringLiteral("bad.txt: ")), qPrintable(read.leftOut.front()));
    const TextFiles refused = readTextFiles({chosen[2]});
    QVERIFY(refused.files.empty());
    QVERIFY2(refused.problem.startsWith(QStringLiteral("bad.txt: ")), qPrintable(refused.problem));
    QVERIFY(!readTextFiles({m_folder.filePath(QStringLiteral("absent.txt"))}).problem.isEmpty());
  }

  void wideTextsAndPdfsAreRead() {
    using namespace std::string_literals;
    const std::string wide = "\xFF\xFEM\0i\0r\0a\0"s;
    const QString text = write(QStringLiteral("wide.txt"), QByteArray::fromStdString(wide));
    const QString pdf = write(
        QStringLiteral("pages.pdf"),
        QByteArray::fromStdString(retrieve::test::pdfOf({"Mira lives in Lisbon.", "", "Tarek bakes."})));
    const TextFiles read = readTextFiles({text, pdf});
    QVERIFY2(read.problem.isEmpty(), qPrintable(read.problem));
    QCOMPARE(read.files.size(), std::size_t{2});
    QCOMPARE(read.files[0].text, std::string("Mira"));
    QCOMPARE(read.files[1].text, std::string("Mira lives in Lisbon.\n\nTarek bakes."));
    // Its second page is a picture, perhaps.
    QCOMPARE(read.leftOut.size(), 1);
    QVERIFY2(read.leftOut.front().startsWith(QStringLiteral("pages.pdf: page 2")),
             qPrintable(read.leftOut.front()));
  }

  void aStopEndsTheReading() {
    std::stop_source stop;
    stop.request_stop();
    const QString text = write(QStringLiteral("stopped.txt"), "text");
    QVERIFY(readTextFiles({text}).problem.isEmpty());
    QVERIFY(readTextFiles({text}, stop.get_token()).files.empty());
  }

  void foldersGiveTheirTexts() {
    write(QStringLiteral("folder/b.txt"), "b");
    write(QStringLiteral("folder/a.txt"), "a");
    write(QStringLiteral("folder/picture.png"), "\x89PNG\xFF");
    write(QStringLiteral("folder/below/a.txt"), "c");
    const TextFiles read = readTextFiles({m_folder.filePath(QStringLiteral("folder"))});
    QVERIFY2(read.problem.isEmpty(), qPrintable(read.problem));
    QStringList names;
    for (const TextFile& file : read.files) names << QString::fromStdString(file.name);
    QCOMPARE(names, QStringList({QStringLiteral("folder/a.txt"), QStringLiteral("b.txt"),
                                 QStringLiteral("below/a.txt")}));
    QCOMPARE(read.leftOut.size(), 1);
    QVERIFY(leftOutText(read.leftOut).contains(QStringLiteral("picture.png")));
  }

  void oneStepTakesThemBack() {
    test::CanvasDriver driver(documentOf(R"({"g":{"model":"m","input":{"user":"Where?"}}})"));
    const Document before = driver.document();
    driver.canvas().addDocuments(kTwo);
    QCOMPARE(driver.model().undoStack().count(), 1);
    QVERIFY(driver.document() != before);
    driver.model().undoStack().undo();
    QVERIFY(driver.document() == before);
  }

  void twoHundredAreQuick() {
    constexpr int kFiles = 200;
    constexpr qint64 kMostMilliseconds = 3'000;  // generous: about 100 were seen
    for (int i = 0; i < kFiles; ++i)
      write(QStringLiteral("many/%1.txt").arg(i, 3, 10, QLatin1Char('0')),
            QByteArray("A sentence of a document. ").repeated(40));
    test::CanvasDriver driver(documentOf(R"({"g":{"model":"m","input":{"user":"Where?"}}})"));
    QElapsedTimer timer;
    timer.start();
    const TextFiles read = readTextFiles({m_folder.filePath(QStringLiteral("many"))});
    QCOMPARE(read.files.size(), std::size_t{kFiles});
    driver.canvas().addDocuments(read.files);
    driver.canvas().grab();
    const qint64 took = timer.elapsed();
    qInfo("200 files: %lld ms", static_cast<long long>(took));
    QVERIFY2(took < kMostMilliseconds, qPrintable(QString::number(took)));
    QCOMPARE(driver.document().size(), std::size_t{kFiles + 4});
  }
};

SPANSCOPE_TEST(tst_added_documents, TestAddedDocuments, QApplication)
#include "tst_added_documents.moc"
