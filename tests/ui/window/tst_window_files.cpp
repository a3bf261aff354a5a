// SPDX-License-Identifier: GPL-3.0-or-later
// Files that are opened, dropped and pasted, and what the window says of them.
#include "engine/workbench/resource_paths.h"
#include "tests/support/product_text.h"
#include "tests/support/test_program.h"
#include "tests/ui/window/file_window.h"
#include "ui/export/view_export_dialog.h"
#include "ui/views/common/elided_text.h"

#include <QClipboard>
#include <QFileDialog>
#include <QGuiApplication>
#include <QImage>
#include <QJsonArray>
#include <QJsonDocument>
#include <QLabel>
#include <QList>
#include <QListWidget>
#include <QMimeData>
#include <QObject>
#include <QStatusBar>
#include <QString>
#include <QStringList>
#include <QStringLiteral>
#include <QTest>
#include <QTimer>
#include <QToolButton>
#include <QUndoView>
#include <QUrl>

using namespace spanscope;
using namespace spanscope::ui;
using spanscope::product_text::says;
using spanscope::product_text::worded;

class TestWindowFiles : public QObject, private FileWindow {
  Q_OBJECT

 private Q_SLOTS:
  void init() { setUp(); }
  void cleanup() { tearDown(); }

  /// Text files that are opened are offered as documents.
  void aTextIsOffered() {
    const QString text = writeText(QStringLiteral("notes.txt"), "Some notes: of mine.");
    Answers none({QStringLiteral("Cancel")});
    QVERIFY(!m_window->openFile(text));
    QVERIFY(none.isDone());
    QVERIFY(m_window->workspace().documents().empty());
    Answers fresh({worded("<add-to-new-query>")});
    QVERIFY(m_window->openFile(text));
    QVERIFY(fresh.isDone());
    QCOMPARE(model().document().size(), std::size_t{6});
    QVERIFY(m_window->openFile(m_path));
    const std::size_t before = model().document().size();
    Answers here({worded("<add-query>")});
    QVERIFY(m_window->openFiles({text, writeText(QStringLiteral("more.md"), "# More")}));
    QVERIFY(here.isDone());
    QVERIFY2(says(here.said().join(QString()), "<these-texts-not|2>"),
             qPrintable(here.said().join(QString())));
    QCOMPARE(model().document().size(), before + 2);
    QCOMPARE(model().undoStack().count(), 1);
  }

  /// The dialogs show every kind of file that the window opens, texts and PDFs among them.
  void dialogsShowTextsAndPdfs_data() {
    QTest::addColumn<QString>("command");
    QTest::addColumn<QStringList>("files");
    const QStringList texts{QStringLiteral("a.txt"), QStringLiteral("a.md"), QStringLiteral("a.pdf")};
    QTest::newRow("open") << "file.open"
                          << texts + QStringList{QStringLiteral("a.span"), QStringLiteral("a.trace")};
    QTest::newRow("add") << "file.add-files" << texts;
  }
  void dialogsShowTextsAndPdfs() {
    QFETCH(const QString, command);
    QFETCH(const QStringList, files);
    QStringList patterns;
    QTimer timer;
    QObject::connect(&timer, &QTimer::timeout, [&] {
      auto* dialog = qobject_cast<QFileDialog*>(QApplication::activeModalWidget());
      if (dialog == nullptr) return;
      const QString first = dialog->nameFilters().value(0);
      patterns = first.mid(first.lastIndexOf(QLatin1Char('(')) + 1).chopped(1).split(QLatin1Char(' '));
      dialog->reject();
    });
    timer.start(10);
    m_window->perform(command);
    timer.stop();
    QVERIFY(!patterns.isEmpty());
    for (const QString& file : files)
      QVERIFY2(QDir::match(patterns, file), qPrintable(file + ": " + patterns.join(QLatin1Char(' '))));
  }

  /// However many warnings there are: the error is in the list.
  void whatRefusesAFileComesFirst() {
    std::vector<query::Diagnostic> diagnostics(20);
    for (query::Diagnostic& diagnostic : diagnostics) {
      diagnostic.severity = Severity::Warning;
      diagnostic.found = "a field";
    }
    diagnostics.back().severity = Severity::Error;
    diagnostics.back().found = "a tool";
    const QString first =
        diagnosticsText(diagnostics, QStringLiteral("a.json")).section(QLatin1Char('\n'), 0, 0);
    QVERIFY(first.contains(QStringLiteral("a tool")));
  }

  /// What is said before the window is shown covers no label of the status line.
  void whatIsSaidEarlyHidesWhatIsBelow() {
    m_window = std::make_unique<MainWindow>(*m_settings, sideFiles(), test::cpuBackends());
    QVERIFY(m_window->openFile(writeText(QStringLiteral("a.yaml"), "# mine\nuser: Hi\n")));
    const QStatusBar& line = *m_window->statusBar();
    QVERIFY(!line.currentMessage().isEmpty());
    m_window->show();
    const auto* label = line.findChild<ElidedLabel*>();
    QVERIFY(label != nullptr);
    QTRY_VERIFY(!label->isVisible());
    QVERIFY(!line.currentMessage().isEmpty());
  }

  /// Dropped on a query, texts and folders become its documents without a question; what cannot be read is
  /// named, and keeps nothing else out.
  void droppedTextsAreAdded() {
    QVERIFY(m_window->openFile(m_path));
    const std::size_t before = model().document().size();
    const QString text = writeText(QStringLiteral("texts/notes.txt"), "Some notes.");
    const QString bytes = writeText(QStringLiteral("bytes.bin"), "\xFF\xFE");
    Q_EMIT m_window->canvas().filesDropped({m_folder->filePath(QStringLiteral("texts"))});
    QCOMPARE(model().document().size(), before + 1);
    Q_EMIT m_window->canvas().filesDropped({text, bytes});
    QVERIFY2(m_window->statusBar()->currentMessage().contains(QStringLiteral("bytes.bin")),
             qPrintable(m_window->statusBar()->currentMessage()));
    QCOMPARE(model().document().size(), before + 2);
    Answers refused({QStringLiteral("OK")});
    Q_EMIT m_window->canvas().filesDropped({bytes});
    QVERIFY(refused.isDone());
    QVERIFY2(refused.said().join(QString()).contains(QStringLiteral("bytes.bin")),
             qPrintable(refused.said().join(QString())));
    QCOMPARE(model().document().size(), before + 2);
    QCOMPARE(m_window->workspace().documents().size(), std::size_t{1});
  }

  void droppedLogsAreDiagnosed_data() {
    QTest::addColumn<QString>("name");
    QTest::addColumn<QByteArray>("log");
    QTest::addColumn<int>("requests");
    const QByteArray body =
        R"({"model":"m","messages":[{"role":"system","content":"Be brief."},{"role":"user","content":"Why?"}]})";
    const QByteArray quoted =
        QJsonDocument(QJsonArray{QString::fromUtf8(body)}).toJson(QJsonDocument::Compact);
    const QByteArray text = quoted.mid(1, quoted.size() - 2);
    const QByteArray record = R"({"request":)" + body + R"(,"response":{"choices":[]}})";
    const auto row = [](const char* kind, const QByteArray& log, int requests, const QStringList& names) {
      for (const QString& name : names)
        QTest::addRow("%s, %s", kind, qPrintable(name)) << name << log << requests;
    };
    row("JSON lines", record + "\n" + record + "\n", 2, {"log.jsonl", "log.txt", "log"});
    row("JSON", "[\n" + record + ",\n" + record + "\n]\n", 2, {"log.json", "log.txt", "log"});
    row("HAR",
        R"({"log":{"entries":[{"startedDateTime":"2026-08-31T14:03:00Z","request":{"method":"POST",)"
        R"("url":"http://h/v1/chat/completions","postData":{"text":)" +
            text + R"(}},"response":{"status":200,"content":{}}}]}})",
        1, {"log.har", "log.json", "log"});
    row("OpenTelemetry",
        R"({"resourceSpans":[{"scopeSpans":[{"spans":[{"spanId":"1","name":"chat","attributes":[)"
        // Not a raw string: moc does not read escaped quotes in a raw string.
        "{\"key\":\"gen_ai.input.messages\",\"value\":{\"stringValue\":"
        "\"[{\\\"role\\\":\\\"user\\\",\\\"content\\\":\\\"Why?\\\"}]\"}}]}]}]}]}",
        1, {"spans.json", "spans.txt", "spans"});
    row("curl", "curl http://h/v1/chat/completions -d '" + body + "'\n", 1,
        {"requests.sh", "log.txt", "log"});
    row("Claude Code",
        R"({"type":"user","uuid":"1","parentUuid":null,"sessionId":"s","message":{"role":"user","content":"Why?"}})"
        "\n"
        R"({"type":"assistant","uuid":"2","parentUuid":"1","sessionId":"s","message":{"id":"m1","model":"x",)"
        R"("role":"assistant","content":[{"type":"text","text":"So."}],"usage":{"input_tokens":3}}})"
        "\n",
        1, {"session.jsonl", "session.txt", "session"});
    row("Codex",
        R"({"type":"session_meta","payload":{"id":"s"}})"
        "\n"
        R"({"type":"response_item","payload":{"type":"message","role":"user","content":[{"type":"input_text","text":"Why?"}]}})"
        "\n"
        R"({"type":"response_item","payload":{"type":"message","role":"assistant","content":[{"type":"output_text","text":"So."}]}})"
        "\n",
        1, {"rollout.jsonl", "rollout"});
  }
  /// A log is recognized by its content. Its name does not decide.
  void droppedLogsAreDiagnosed() {
    QFETCH(QString, name);
    QFETCH(QByteArray, log);
    QFETCH(int, requests);
    QVERIFY(m_window->openFile(m_path));
    const std::size_t before = model().document().size();
    Q_EMIT m_window->canvas().filesDropped({writeText(name, log)});
    QCOMPARE(model().document().size(), before);
    const LogDiagnosis& diagnosis = m_window->workspace().log();
    QTRY_VERIFY_WITH_TIMEOUT(diagnosis.state()->isComplete(), 60'000);
    QCOMPARE(int(diagnosis.state()->report->requests.size()), requests);
    QVERIFY(m_window->docks().layout() == LayoutId::Diagnose);
  }

  /// A model that is dropped is no text: the document runs on it from then on.
  void droppedModelsAreChosen() {
    QVERIFY(m_window->openFile(m_path));
    const std::size_t before = model().document().size();
    const QString gguf = writeText(QStringLiteral("small.Q4_K_M.gguf"), "GGUF");
    Q_EMIT m_window->canvas().filesDropped({gguf});
    QCOMPARE(model().document().settings.model, gguf.toStdString());
    QCOMPARE(model().document().size(), before);
    const QString folder = QString::fromStdString(workbench::bundledModelDirectory().string());
    Q_EMIT m_window->canvas().filesDropped({folder});
    QCOMPARE(model().document().settings.model, folder.toStdString());
    model().settingsUndoStack().undo();
    QCOMPARE(model().document().settings.model, gguf.toStdString());
  }

  /// Files copied in a file manager become documents as dropped ones do: all of them in one step.
  void pastedFilesAreAdded() {
    QVERIFY(m_window->openFile(m_path));
    const std::size_t before = model().document().size();
    constexpr int kFiles = 200;
    QList<QUrl> urls;
    for (int i = 0; i < kFiles; ++i) {
      const QString name = QStringLiteral("pasted/%1.txt").arg(i);
      urls += QUrl::fromLocalFile(writeText(name, "Some notes."));
    }
    auto data = std::make_unique<QMimeData>();
    data->setUrls(urls);
    // NOLINTNEXTLINE(cppcoreguidelines-owning-memory): the clipboard takes it.
    QGuiApplication::clipboard()->setMimeData(data.release());
    m_window->perform(QStringLiteral("edit.paste"));
    QCOMPARE(model().document().size(), before + kFiles);
    QCOMPARE(model().undoStack().count(), 1);
  }

  /// An example that names the bundled model runs on it, whatever model the document before it was run on.
  void examplesRunOnTheModelTheyName() {
    m_window->perform(QStringLiteral("file.new"));
    model().change(QStringLiteral("Model"),
                   [](document::Document& next) { next.settings.model = "/models/another"; });
    QVERIFY(m_window->openExample(QStringLiteral("rag.json")));
    QCOMPARE(model().document().settings.model, std::string());
    // The user may choose another for it, and the user's own query continues with its present settings.
    model().change(QStringLiteral("Model"),
                   [](document::Document& next) { next.settings.model = "/models/another"; });
    QCOMPARE(model().document().settings.model, std::string("/models/another"));
    m_window->perform(QStringLiteral("file.new"));
    QCOMPARE(model().document().settings.model, std::string("/models/another"));
  }

  /// A complaint leaves the status bar once its cause is corrected or no longer visible.
  void complaintsGoWithTheirCause() {
    m_window->perform(QStringLiteral("file.new"));
    m_window->perform(QStringLiteral("run.run"));
    const auto said = [this] { return m_window->statusBar()->currentMessage(); };
    QVERIFY2(said().contains(QStringLiteral("empty")), qPrintable(said()));
    m_window->perform(QStringLiteral("node.add:user"));
    QTRY_COMPARE(said(), QString());
    m_window->perform(QStringLiteral("run.run"));
    QVERIFY2(said().contains(QStringLiteral("nothing to generate")), qPrintable(said()));
    m_window->perform(QStringLiteral("file.new"));
    QTRY_COMPARE(said(), QString());
  }

  /// Back and forward go through what was selected, by command and by the buttons of the top bar.
  void backAndForward() {
    QVERIFY(m_window->openFile(m_path));
    Workspace& workspace = m_window->workspace();
    const std::vector<document::NodeId> ids = model().document().ids();
    for (const document::NodeId id : {ids[0], ids[1]}) m_window->canvas().reveal(id);
    const auto current = [&workspace] { return workspace.current()->selection.currentNode(); };
    QTRY_COMPARE(current(), ids[1]);
    m_window->perform(QStringLiteral("view.back"));
    QCOMPARE(current(), ids[0]);
    auto* forward = m_window->findChild<QToolButton*>(QStringLiteral("forward"));
    QTRY_VERIFY(forward != nullptr && forward->isEnabled());
    forward->click();
    QCOMPARE(current(), ids[1]);
    QTRY_VERIFY(!forward->isEnabled());
  }

  /// The history lists every change by its name, and goes to any of them.
  void undoShowsItsHistory() {
    QVERIFY(m_window->openFile(m_path));
    rename(model(), "one");
    rename(model(), "two");
    QTimer::singleShot(50, this, [this] {
      auto* list = QApplication::activeModalWidget()->findChild<QUndoView*>();
      QCOMPARE(list->model()->rowCount(), 3);
      QCOMPARE(list->model()->index(1, 0).data().toString(), QStringLiteral("Rename"));
      list->setCurrentIndex(list->model()->index(1, 0));
      QCOMPARE(nameIn(model().document()), std::string("one"));
      qobject_cast<QDialog*>(QApplication::activeModalWidget())->reject();
    });
    m_window->perform(QStringLiteral("edit.history"));
    QCOMPARE(nameIn(model().document()), std::string("one"));
  }

  /// A PDF that takes long is read beside the window. The user can cancel it.
  void openingASlowPdfCanBeCancelled() {
    QString pdf = QStringLiteral(
        "%PDF-1.4\n1 0 obj\n<</Type/Catalog/Pages 2 0 R>>\nendobj\n2 0 obj\n<</Type/Pages/Kids[3 0 R]/Count "
        "1>>\nendobj\n3 0 obj\n<</Type/Page/Parent 2 0 R/MediaBox[0 0 9 9]/Contents 4 0 "
        "R/Resources<</XObject<</X "
        "5 0 R>>>>>>\nendobj\n4 0 obj\n<</Length 5>>\nstream\n/X Do\nendstream\nendobj\n");
    const QString shown = QStringLiteral("/X Do ").repeated(10);
    for (int i = 5; i < 17; ++i) {
      pdf +=
          QStringLiteral(
              "%1 0 obj\n<</Length %2/Type/XObject/Subtype/Form/BBox[0 0 9 9]/Resources<</XObject<</X %3 0 "
              "R>>>>>>\nstream\n%4\nendstream\nendobj\n")
              .arg(i)
              .arg(shown.size())
              .arg(i + 1)
              .arg(shown);
    }
    const QString path = writeText(QStringLiteral("slow.pdf"),
                                   (pdf + QStringLiteral("trailer\n<</Root 1 0 R>>\n%%EOF\n")).toLatin1());
    const std::size_t tabs = m_window->workspace().documents().size();
    Answers answers({worded("<add-to-new-query>"), QStringLiteral("Cancel")});
    QVERIFY(!m_window->openFile(path));
    QVERIFY2(answers.isDone(), qPrintable(answers.said().join(QLatin1Char('\n'))));
    QCOMPARE(m_window->workspace().documents().size(), tabs);
  }

  /// What a pasted text lost is listed until the paste is undone.
  void pastingListsWhatIsLeftOut() {
    QVERIFY(m_window->openFile(m_path));
    QGuiApplication::clipboard()->setText(QStringLiteral(
        R"({"model": "m", "messages": [{"role": "user", "content": "hi"}], "stop": ["x"], "seed": 3})"));
    m_window->perform(QStringLiteral("edit.paste"));
    const UnreadText& unread = UnreadText::of(model());
    QCOMPARE(unread.problems().size(), std::size_t{3});
    QVERIFY2(unread.leftOutOfFile().isEmpty(), "saving destroys nothing of a clipboard");
    QCOMPARE(problemRows(QStringLiteral("stop")), std::size_t{1});
    model().undoStack().undo();
    QVERIFY(unread.problems().empty());
    // A list of chat messages is pasted whole.
    const std::size_t before = model().document().size();
    QGuiApplication::clipboard()->setText(
        QStringLiteral(R"([{"role": "user", "content": "a"}, {"role": "assistant", "content": "b"}])"));
    m_window->perform(QStringLiteral("edit.paste"));
    QCOMPARE(model().document().size(), before + 3);
    QVERIFY(unread.problems().empty());
    // The window is closed with entries in the list.
    QGuiApplication::clipboard()->setText(
        QStringLiteral(R"({"model": "m", "messages": [{"role": "user", "content": "hi"}], "stop": ["x"]})"));
    m_window->perform(QStringLiteral("edit.paste"));
    QVERIFY(!unread.problems().empty());
    m_window.reset();
  }

  /// JSON text that is no query is kept with its tab. Nothing goes on with the older query meanwhile.
  void brokenJsonIsKeptWithItsTab() {
    QVERIFY(m_window->openFile(m_path));
    OpenDocument& first = *m_window->workspace().current();
    const QByteArray saved = bytesOf(m_path);
    const QString broken = json().toPlainText().replace(QStringLiteral("\"g\""), QStringLiteral("\"g"));
    json().setPlainText(broken);
    QVERIFY(model().isModified());
    QVERIFY(!m_window->workspace().runs().start().isEmpty());
    QVERIFY(!m_window->workspace().runs().measuringRefusal().isEmpty());
    QVERIFY(m_window->workspace().engine().state() != EngineState::Running);
    Answers save({QStringLiteral("Cancel"), QStringLiteral("Cancel")});
    m_window->perform(QStringLiteral("file.save"));
    m_window->perform(QStringLiteral("file.export"));
    QVERIFY(save.isDone());
    QCOMPARE(bytesOf(m_path), saved);
    QCOMPARE(problemRows(QStringLiteral("JSON")), std::size_t{1});
    m_window->newDocument();
    QVERIFY(json().toPlainText().isEmpty());
    m_window->workspace().setCurrent(&first);
    QCOMPARE(json().toPlainText(), broken);
    // The next start has it, too.
    m_window->leave();
    restart();
    QCOMPARE(titles().front(), QStringLiteral("query.span*"));
    m_window->workspace().setCurrent(m_window->workspace().documents().front().get());
    QCOMPARE(json().toPlainText(), broken);
    // Discarded, nothing is unsaved.
    UnreadText::of(model()).discardTyped();
    QVERIFY(json().toPlainText() != broken);
    QVERIFY(!model().isModified());
    QVERIFY(m_window->workspace().runs().refusal().isEmpty());
    // Text that is a query is read before it is saved, without a pause.
    json().setPlainText(
        json().toPlainText().replace(QStringLiteral("What is the"), QStringLiteral("Why the")));
    m_window->perform(QStringLiteral("file.save"));
    QVERIFY(!model().isModified());
    QVERIFY(bytesOf(m_path).contains("Why the"));
  }

  /// A document without a node was just created: that is no error yet. Run says so all the same.
  void aNewDocumentHasNoErrors() {
    m_window->newDocument();
    QCOMPARE(problemRows(QString()), std::size_t{0});
    json();
    QTRY_COMPARE(m_window->findChild<QListWidget*>(QStringLiteral("errors"))->count(), 0);
    QVERIFY(!m_window->workspace().runs().start().isEmpty());
    const auto* greeting = m_window->canvas().findChild<QLabel*>(QStringLiteral("greeting"));
    QVERIFY(greeting->isVisible());
    m_window->perform(QStringLiteral("node.add:plus"));
    QTRY_VERIFY(problemRows(QString()) > 0);
    QVERIFY(!greeting->isVisible());
  }

  void newDocumentsHaveNamesOfTheirOwn() {
    for (int i = 0; i < 3; ++i) m_window->newDocument();
    QStringList names = titles();
    QCOMPARE(names.removeDuplicates(), 0);
    // A name that is free again is used again.
    m_window->workspace().setCurrent(m_window->workspace().documents()[1].get());
    m_window->perform(QStringLiteral("file.close"));
    m_window->newDocument();
    std::sort(names.begin(), names.end());
    QStringList again = titles();
    std::sort(again.begin(), again.end());
    QCOMPARE(again, names);
  }

  void aPictureOpensAsItsDocument() {
    QVERIFY(m_window->openFile(m_path));
    rename(model(), "in the picture");
    const QString picture = m_folder->filePath(QStringLiteral("window.png"));
    QTimer::singleShot(0, this, [&picture] {
      auto* dialog = qobject_cast<ViewExportDialog*>(QApplication::activeModalWidget());
      if (dialog == nullptr) return;
      dialog->saveTo(picture);
      dialog->reject();
    });
    m_window->perform(QStringLiteral("file.export-window"));
    const QImage image(picture);
    QCOMPARE(image.size(), m_window->size() * 2);
    QVERIFY(m_window->openFile(picture));
    QCOMPARE(model().title(), QStringLiteral("window"));
    QVERIFY(model().filePath().isEmpty());
    QCOMPARE(nameIn(model().document()), std::string("in the picture"));
  }
};

SPANSCOPE_TEST(tst_window_files, TestWindowFiles, QApplication)
#include "tst_window_files.moc"
