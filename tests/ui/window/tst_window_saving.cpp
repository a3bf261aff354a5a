// SPDX-License-Identifier: GPL-3.0-or-later
// Saving: files that others touch, and what a file cannot hold.
#include "engine/policy/policies.h"
#include "tests/support/product_text.h"
#include "tests/support/test_program.h"
#include "tests/ui/window/file_window.h"
#include "ui/editor/clipboard.h"
#include "ui/session/model_choices.h"
#include "ui/window/dialogs.h"
#include "ui/window/document_saver.h"

#include <QDir>
#include <QFile>
#include <QJsonArray>
#include <QJsonDocument>
#include <QJsonObject>
#include <QObject>
#include <QString>
#include <QStringList>
#include <QStringLiteral>
#include <QTest>

using namespace spanscope;
using namespace spanscope::ui;
using spanscope::product_text::says;
using spanscope::product_text::worded;

class TestWindowSaving : public QObject, private FileWindow {
  Q_OBJECT

 private Q_SLOTS:
  void init() { setUp(); }
  void cleanup() { tearDown(); }

  void aPolicyThatFollowsTheModelIsANotice() {
    const std::string any = policy::policyForAnyCheckpoint().name;
    const Notice untrained = noticeOf(PolicyChange{.from = "spans", .to = any, .model = "m"});
    QVERIFY(says(untrained.text, "<policy-follows-untrained|m|spans>"));
    const Notice trained = noticeOf(PolicyChange{.from = any, .to = "spans", .model = "m"});
    QVERIFY(says(trained.text, "<policy-follows-trained|m>"));
    QVERIFY(trained.answers.front() == NoticeAnswer::RestorePolicy);
  }

  void aChangeOutsideIsReloaded() {
    QVERIFY(m_window->openFile(m_path));
    QVERIFY(bar().isHidden());
    rename(model(), "mine");
    writeOutside("theirs");
    QTRY_VERIFY(bar().isVisible());
    QVERIFY(bar().notice().text.contains(QStringLiteral("unsaved")));
    QVERIFY(QApplication::activeModalWidget() == nullptr);
    button(bar(), worded("<reload-file>"))->click();
    QCOMPARE(nameIn(model().document()), std::string("theirs"));
    QVERIFY(!model().isModified());
    QVERIFY(bar().isHidden());
    // What was here is not lost.
    model().undoStack().undo();
    QCOMPARE(nameIn(model().document()), std::string("mine"));
  }

  void whatIsHereIsKept() {
    QVERIFY(m_window->openFile(m_path));
    writeOutside("theirs");
    QTRY_VERIFY(bar().isVisible());
    {
      Answers answers({QStringLiteral("Close")});
      button(bar(), worded("<compare-versions>"))->click();
      QVERIFY(answers.isDone());
    }
    button(bar(), worded("<keep-my-version>"))->click();
    QVERIFY(bar().isHidden());
    QVERIFY2(model().isModified(), "the file holds something else");
    // Asked once: the user wants to save now.
    Answers none({QStringLiteral("Cancel")});
    m_window->perform(QStringLiteral("file.save"));
    QVERIFY(!none.isDone());
    QCOMPARE(nameIn(*openDocument(m_path).document), std::string());
    QVERIFY(!model().isModified());
  }

  void savingOverAsks() {
    QVERIFY(m_window->openFile(m_path));
    rename(model(), "mine");
    writeOutside("theirs");
    // At once, before the bar could be seen.
    Answers cancel({QStringLiteral("Cancel")});
    m_window->perform(QStringLiteral("file.save"));
    QVERIFY(cancel.isDone());
    QVERIFY2(says(cancel.said().join(QLatin1Char(' ')), "Another program changed"),
             qPrintable(cancel.said().join(QLatin1Char(' '))));
    QCOMPARE(nameIn(*openDocument(m_path).document), std::string("theirs"));
    Answers over(
        {worded("<compare-before-saving>"), QStringLiteral("Close"), worded("<overwrite-changed-file>")});
    m_window->perform(QStringLiteral("file.save"));
    QVERIFY(over.isDone());
    QCOMPARE(nameIn(*openDocument(m_path).document), std::string("mine"));
    QVERIFY(!model().isModified());
    QTest::qWait(300);
    QVERIFY2(bar().isHidden(), "what was written here is no change of another program");
  }

  void aFileThatIsGoneIsSavedAgain() {
    QVERIFY(m_window->openFile(m_path));
    QVERIFY(QFile::remove(m_path));
    QTRY_VERIFY(bar().isVisible());
    button(bar(), worded("<save-file-again>"))->click();
    QVERIFY(QFile::exists(m_path));
    QVERIFY(bar().isHidden());
  }

  void aReadOnlyFileOffersAnotherName() {
    QVERIFY(QFile::setPermissions(m_path, QFile::ReadOwner));
    QVERIFY(m_window->openFile(m_path));
    rename(model(), "mine");
    Answers answers({QStringLiteral("Cancel")});
    m_window->perform(QStringLiteral("file.save"));
    QVERIFY(answers.isDone());
    QVERIFY(answers.said().join(QLatin1Char(' ')).contains(QStringLiteral("read-only")));
    QVERIFY(model().isModified());
  }

  /// Not a few seconds later: there may be a reason why saving failed.
  void aFailedSaveKeepsTheChangesAtOnce() {
    QVERIFY(m_window->openFile(m_path));
    rename(model(), "first");
    QTRY_VERIFY(!sideFilesThere().isEmpty());
    rename(model(), "mine");
    QVERIFY(QFile::setPermissions(m_path, QFile::ReadOwner));
    Answers answers({QStringLiteral("Cancel")});
    m_window->perform(QStringLiteral("file.save"));
    QVERIFY(answers.isDone());
    QVERIFY(model().isModified());
    const QStringList there = sideFilesThere();
    QCOMPARE(there.size(), 1);
    QFile file(sideFiles() + QLatin1Char('/') + there.front());
    QVERIFY(file.open(QIODevice::ReadOnly));
    file.readLine();
    const document::OpenedDocument kept = document::readDocument(file.readAll().toStdString());
    QVERIFY(kept.document.has_value());
    QCOMPARE(nameIn(*kept.document), std::string("mine"));
  }

  /// Whatever real files hold: without an edit, Save writes nothing.
  void anUneditedFileIsNotRewritten() {
    const QDir cases(QStringLiteral(SPANSCOPE_GOLDEN_DIR "/../cases/queries"));
    const QStringList names = cases.entryList(QDir::Files);
    if (names.isEmpty()) QSKIP("no cases/queries: set SPANSCOPE_GOLDEN_DIR");
    int opened = 0;
    for (const QString& name : names) {
      const QByteArray before = bytesOf(cases.filePath(name));
      const QString path = writeText(name, before);
      if (!openDocument(path).document) continue;
      QVERIFY2(m_window->openFile(path), qPrintable(name));
      ++opened;
      QVERIFY2(!model().isModified(), qPrintable(name));
      m_window->perform(QStringLiteral("file.save"));
      QVERIFY2(QApplication::activeModalWidget() == nullptr, qPrintable(name));
      QVERIFY2(bytesOf(path) == before, qPrintable(name));
      m_window->perform(QStringLiteral("file.close"));
    }
    QVERIFY(opened > 20);
  }

  /// What the document cannot hold is listed, and asked about before it goes.
  void savingAsksAboutWhatIsLeftOut_data() {
    QTest::addColumn<QString>("name");
    QTest::addColumn<QByteArray>("text");
    QTest::addColumn<int>("parts");
    QTest::newRow("comments") << QStringLiteral("a.yaml") << QByteArray("# mine\nuser: Hi # here\n") << 1;
    QTest::newRow("documents") << QStringLiteral("a.yml") << QByteArray("user: Hi\n---\nuser: more\n") << 1;
    QTest::newRow("foreach") << QStringLiteral("a.lisp")
                             << QByteArray("; mine\n(seq (foreach i 1 3 (user (format \"{i}\"))))") << 2;
    QTest::newRow("chat request in YAML")
        << QStringLiteral("a.yaml")
        << QByteArray("model: m\ntemperature: 0\nmessages: [{role: user, content: hi, name: t}]\nstop: [x]\n")
        << 3;
    QTest::newRow("field") << QStringLiteral("a.json")
                           << QByteArray(R"({"g": {"model": "m", "input": {"user": "Hi"}, "my": 1}})") << 1;
  }

  void savingAsksAboutWhatIsLeftOut() {
    QFETCH(QString, name);
    QFETCH(QByteArray, text);
    QFETCH(int, parts);
    const QString path = writeText(name, text);
    const QString document = m_folder->filePath(QStringLiteral("a.span"));
    QVERIFY(m_window->openFile(path));
    const UnreadText& unread = UnreadText::of(model());
    QCOMPARE(unread.leftOutOfFile().size(), parts);
    QCOMPARE(problemRows(name), static_cast<std::size_t>(parts));
    editMessage(model(), "mine");
    Answers cancel({QStringLiteral("Cancel")});
    m_window->perform(QStringLiteral("file.save"));
    QVERIFY(cancel.isDone());
    for (const QString& part : unread.leftOutOfFile())
      QVERIFY2(cancel.said().join(QString()).contains(part), qPrintable(part));
    QCOMPARE(bytesOf(path), text);
    QVERIFY(model().isModified());
    // Another file leaves this one as it is, and has all that the document has.
    Answers elsewhere({QStringLiteral("Save as .span")});
    m_window->perform(QStringLiteral("file.save"));
    QVERIFY(elsewhere.isDone());
    QCOMPARE(bytesOf(path), text);
    QVERIFY(QFile::exists(document));
    QCOMPARE(model().filePath(), document);
    QCOMPARE(problemRows(name), std::size_t{0});
    // Once the user has overwritten it, nothing more can be lost.
    m_window->perform(QStringLiteral("file.close"));
    QVERIFY(m_window->openFile(path));
    editMessage(model(), "mine");
    Answers over({worded("<overwrite-file>")});
    m_window->perform(QStringLiteral("file.save"));
    QVERIFY(over.isDone());
    QVERIFY(bytesOf(path) != text);
    editMessage(model(), "again");
    m_window->perform(QStringLiteral("file.save"));
    QVERIFY(!model().isModified());
  }

  /// What the document has is not left out, however odd it is.
  void emptyPartsAreNotLeftOut_data() {
    QTest::addColumn<QString>("name");
    QTest::addColumn<QByteArray>("text");
    QTest::newRow("plus") << QStringLiteral("a.json")
                          << QByteArray(R"({"g": {"model": "m", "input": {"cross": [{"plus": []}, )"
                                        R"({"user": "Hi"}]}}})");
    QTest::newRow("repeat") << QStringLiteral("a.json")
                            << QByteArray(
                                   R"({"seq": [{"repeat": {"n": 0, "g": {"model": "m", "max_tokens": -3, )"
                                   R"("input": {"user": "Hi"}}}}]})");
    QTest::newRow("YAML") << QStringLiteral("a.yaml")
                          << QByteArray("g: {model: m, input: {cross: [{plus: []}, {user: Hi}]}}\n");
  }

  void emptyPartsAreNotLeftOut() {
    QFETCH(QString, name);
    QFETCH(QByteArray, text);
    const QString path = writeText(name, text);
    QVERIFY(m_window->openFile(path));
    QCOMPARE(UnreadText::of(model()).leftOutOfFile(), QStringList());
    editMessage(model(), "mine");
    m_window->perform(QStringLiteral("file.save"));
    QVERIFY(!model().isModified());
    QVERIFY(bytesOf(path).contains("mine"));
    QCOMPARE(nodesFromText(text.toStdString()).warnings.size(), std::size_t{0});
  }

  /// A model that is chosen is no edit of the request. A setting that the user chose is asked about.
  void aModelIsNoEdit() {
    const QByteArray text(
        "{\"model\": \"m\", \"messages\": [{\"role\": \"user\", \"content\": \"hi\"}], \"temperature\": 0}");
    const QString path = writeText(QStringLiteral("chat.json"), text);
    QVERIFY(m_window->openFile(path));
    chooseModel(model(), QStringLiteral(SPANSCOPE_SOURCE_DIR "/tests/engine/model/data/bf16_gqa_tied"));
    QCOMPARE(model().document().settings.policy, std::string("prefix"));
    QVERIFY(!model().isModified());
    m_window->perform(QStringLiteral("file.save"));
    QCOMPARE(bytesOf(path), text);
    editMessage(model(), "mine");
    m_window->perform(QStringLiteral("file.save"));
    QVERIFY(!model().isModified());
    QVERIFY(bytesOf(path).contains("mine"));
    bool isReported = false;
    connect(&model(), &DocumentModel::stateChanged, this, [&] { isReported = model().isModified(); });
    model().change(QStringLiteral("Seed"), [](document::Document& next) { next.settings.seed = 7; });
    QVERIFY(isReported);
    Answers cancel({QStringLiteral("Cancel")});
    m_window->perform(QStringLiteral("file.save"));
    QVERIFY(cancel.isDone());
    model().settingsUndoStack().undo();
    QVERIFY(!model().isModified());
  }

  void aChatListStaysOne() {
    const QString path = writeText(QStringLiteral("chat.json"),
                                   "[{\"role\": \"system\", \"content\": \"Be brief.\"},\n"
                                   " {\"role\": \"user\", \"content\": \"Say \\\"hi\\\"\\n\"}]");
    QVERIFY(m_window->openFile(path));
    QVERIFY(UnreadText::of(model()).leftOutOfFile().isEmpty());
    editMessage(model(), "Be long.");
    m_window->perform(QStringLiteral("file.save"));
    QVERIFY(!model().isModified());
    const QJsonArray list = QJsonDocument::fromJson(bytesOf(path)).array();
    QCOMPARE(list.size(), 2);
    QCOMPARE(list[0].toObject(), (QJsonObject{{QStringLiteral("role"), QStringLiteral("system")},
                                              {QStringLiteral("content"), QStringLiteral("Be long.")}}));
    QCOMPARE(list[1].toObject().value(QStringLiteral("content")).toString(), QStringLiteral("Say \"hi\"\n"));
    // A plus has no place in such a list.
    model().change(QStringLiteral("Add"), [](document::Document& next) {
      const document::NodeId plus = document::addNode(next, document::makeOperator("plus"));
      document::connect(next, plus, {.parent = next.root(), .index = 0});
    });
    Answers cancel({QStringLiteral("Cancel")});
    m_window->perform(QStringLiteral("file.save"));
    QVERIFY(cancel.isDone());
    QCOMPARE(QJsonDocument::fromJson(bytesOf(path)).array(), list);
  }

  /// An edited body of a request is written back with the fields that a query does not have.
  void aChatRequestStaysOne_data() {
    QTest::addColumn<QByteArray>("text");
    QTest::newRow("OpenAI") << QByteArray(R"({"model": "m", "stop": ["x"], "messages": [
  {"role": "user", "content": "first", "name": "t"}
], "seed": 3, "top_p": 0.50, "temperature": 1})");
    QTest::newRow("Anthropic") << QByteArray(
        R"({"model": "m", "max_tokens": 9, "system": "first", "messages": [
  {"role": "user", "content": [{"type": "text", "text": "hi", "cache_control": {"type": "ephemeral"}}]}],
  "metadata": {"user_id": "u"}})");
  }

  void aChatRequestStaysOne() {
    QFETCH(QByteArray, text);
    const QString path = writeText(QStringLiteral("chat.json"), text);
    QVERIFY(m_window->openFile(path));
    // Runs lack the fields, so the list of problems has them.
    const std::size_t rows = problemRows(QStringLiteral("chat.json"));
    QVERIFY(rows > 0);
    for (const QByteArray& words : {QByteArray("second"), QByteArray("third")}) {
      editMessage(model(), words.constData());
      const Answers none({QStringLiteral("Cancel")});
      m_window->perform(QStringLiteral("file.save"));
      QVERIFY(!none.isDone());
      QVERIFY(!model().isModified());
      QCOMPARE(bytesOf(path), QByteArray(text).replace("first", words));
      QCOMPARE(problemRows(QStringLiteral("chat.json")), rows);
    }
    // What was removed and brought back has its fields again.
    model().change(QStringLiteral("Remove"), [](document::Document& next) {
      const document::NodeId list = next.at(next.root()).children.front();
      document::removeSubtrees(next, {next.at(list).children.back()});
    });
    m_window->perform(QStringLiteral("file.save"));
    QVERIFY(!model().isModified());
    QVERIFY(!bytesOf(path).contains("\"user\""));
    model().undoStack().undo();
    m_window->perform(QStringLiteral("file.save"));
    QCOMPARE(bytesOf(path), QByteArray(text).replace("first", "third"));
    // A plus has no place in a request.
    model().change(QStringLiteral("Add"), [](document::Document& next) {
      const document::NodeId plus = document::addNode(next, document::makeOperator("plus"));
      document::connect(next, plus, {.parent = next.at(next.root()).children.front(), .index = 0});
    });
    Answers cancel({QStringLiteral("Cancel")});
    m_window->perform(QStringLiteral("file.save"));
    QVERIFY(cancel.isDone());
    QCOMPARE(bytesOf(path), QByteArray(text).replace("first", "third"));
  }

  /// After a reload the document has other nodes, and after its undo the former ones.
  void aChatRequestThatWasReloadedStaysOne() {
    const QByteArray text(R"({"model": "m", "messages": [{"role": "user", "name": "A", "content": "a"},
  {"role": "user", "content": "b"}], "temperature": 0})");
    const QString path = writeText(QStringLiteral("chat.json"), text);
    QVERIFY(m_window->openFile(path));
    const QByteArray other(R"({"model": "m", "messages": [{"role": "user", "content": "b"},
  {"role": "user", "name": "A", "content": "a"}], "temperature": 0})");
    QCOMPARE(writeText(QStringLiteral("chat.json"), other), path);
    QTRY_VERIFY(bar().isVisible());
    button(bar(), worded("<reload-file>"))->click();
    QVERIFY(!model().isModified());
    model().undoStack().undo();
    m_window->perform(QStringLiteral("file.save"));
    QVERIFY(!model().isModified());
    const QJsonArray list =
        QJsonDocument::fromJson(bytesOf(path)).object().value(QStringLiteral("messages")).toArray();
    QCOMPARE(list.size(), 2);
    for (const QJsonValue& message : list)
      QCOMPARE(message.toObject().contains(QStringLiteral("name")),
               message.toObject().value(QStringLiteral("content")).toString() == QStringLiteral("a"));
  }

  /// A name that says nothing of a form: the file keeps the one that it has.
  void aQueryInAFileOfAnyNameStaysOne() {
    const QString path = writeText(QStringLiteral("prompt.txt"), "plus:\n  - user: first\n  - user: b\n");
    QVERIFY(m_window->openFile(path));
    editMessage(model(), "second");
    m_window->perform(QStringLiteral("file.save"));
    QVERIFY(!model().isModified());
    QCOMPARE(bytesOf(path), QByteArray("plus:\n  - user: second\n  - user: b\n"));
    // What the form cannot hold is asked about.
    rename(model(), "kept");
    Answers elsewhere({QStringLiteral("Save as .span")});
    m_window->perform(QStringLiteral("file.save"));
    QVERIFY(elsewhere.isDone());
    QCOMPARE(bytesOf(path), QByteArray("plus:\n  - user: second\n  - user: b\n"));
    QCOMPARE(model().filePath(), m_folder->filePath(QStringLiteral("prompt.span")));
  }
};

SPANSCOPE_TEST(tst_window_saving, TestWindowSaving, QApplication)
#include "tst_window_saving.moc"
