// SPDX-License-Identifier: GPL-3.0-or-later
// Files that others touch, and what outlives the window: bars, questions, recovery, tabs.
#include "engine/workbench/document/edits.h"
#include "engine/workbench/resource_paths.h"
#include "tests/support/backends.h"
#include "tests/support/test_program.h"
#include "ui/document/document_file.h"
#include "ui/document/unread_text.h"
#include "ui/export/view_export_dialog.h"
#include "ui/views/json/json_editor.h"
#include "ui/views/problems/problem_list_model.h"
#include "ui/window/checklist_dialog.h"
#include "ui/window/difference_dialog.h"
#include "ui/window/main_window.h"
#include "ui/window/notice_bar.h"

#include <QClipboard>
#include <QDir>
#include <QFile>
#include <QFileInfo>
#include <QGuiApplication>
#include <QJsonArray>
#include <QJsonDocument>
#include <QJsonObject>
#include <QLabel>
#include <QList>
#include <QListWidget>
#include <QMessageBox>
#include <QMimeData>
#include <QObject>
#include <QPushButton>
#include <QSettings>
#include <QStatusBar>
#include <QString>
#include <QStringList>
#include <QStringLiteral>
#include <QTemporaryDir>
#include <QTest>
#include <QTimer>
#include <QToolButton>
#include <QUndoView>
#include <QUrl>

#include <algorithm>
#include <random>

using namespace spanscope;
using namespace spanscope::ui;

namespace {

QPushButton* button(const QWidget& parent, const QString& text) {
  for (QPushButton* each : parent.findChildren<QPushButton*>()) {
    if (each->text() == text && !each->isHidden()) return each;
  }
  return nullptr;
}

/// Answers the dialogs that come up, in this order, by the texts of their buttons; keeps what they said.
class Answers : public QObject {
 public:
  explicit Answers(QStringList buttons, QList<int> unchecked = {})
      : m_buttons(std::move(buttons)), m_unchecked(std::move(unchecked)) {
    m_timer.setInterval(10);
    connect(&m_timer, &QTimer::timeout, this, &Answers::look);
    m_timer.start();
  }
  ~Answers() override { m_timer.stop(); }
  bool isDone() const { return m_buttons.isEmpty(); }
  const QStringList& said() const { return m_said; }

 private:
  void look() {
    QWidget* dialog = QApplication::activeModalWidget();
    if (dialog == nullptr || m_buttons.isEmpty()) return;
    if (auto* list = dialog->findChild<QListWidget*>()) {
      for (const int row : m_unchecked) list->item(row)->setCheckState(Qt::Unchecked);
      m_unchecked.clear();
      for (int row = 0; row < list->count(); ++row) m_said << list->item(row)->text();
    }
    if (auto* box = qobject_cast<QMessageBox*>(dialog))
      m_said << box->text() + QLatin1Char(' ') + box->informativeText();
    QPushButton* wanted = button(*dialog, m_buttons.front());
    if (wanted == nullptr) {
      m_said << QStringLiteral("no button “%1”").arg(m_buttons.front());
      m_buttons.prepend(QStringLiteral("?"));
      qobject_cast<QDialog*>(dialog)->reject();
      return;
    }
    m_buttons.removeFirst();
    wanted->click();
  }

  QStringList m_buttons;
  QList<int> m_unchecked;
  QStringList m_said;
  QTimer m_timer;
};

void rename(DocumentModel& model, const std::string& name) {
  model.change(QStringLiteral("Rename"),
               [&name](document::Document& document) { document.parameters["name"] = name; });
}

/// What Qt had to say.
QStringList& messages() {
  static QStringList said;
  return said;
}

QByteArray bytesOf(const QString& path) {
  QFile file(path);
  return file.open(QIODevice::ReadOnly) ? file.readAll() : QByteArray();
}

/// Edits the first message, which every form of a query can hold.
void editMessage(DocumentModel& model, const char* text) {
  model.change(QStringLiteral("Edit"), [text](document::Document& next) {
    for (const document::NodeId id : next.ids()) {
      const auto* message = next.at(id).own.as<query::Message>();
      if (message == nullptr) continue;
      document::setOwn(next, id, {query::Message{.role = message->role, .text = text}});
      return;
    }
  });
}

std::string nameIn(const document::Document& document) {
  const auto found = document.parameters.find("name");
  return found == document.parameters.end() ? std::string() : std::string(found->second);
}

}  // namespace

class TestWindowFiles : public QObject {
  Q_OBJECT

 private:
  std::unique_ptr<QTemporaryDir> m_folder;
  std::unique_ptr<QSettings> m_settings;
  std::unique_ptr<MainWindow> m_window;
  QString m_path;

  QString sideFiles() const { return m_folder->filePath(QStringLiteral("autosave")); }
  QStringList sideFilesThere() const {
    return QDir(sideFiles()).entryList({QStringLiteral("*.span-autosave")}, QDir::Files);
  }
  std::unique_ptr<MainWindow> makeWindow() {
    auto window = std::make_unique<MainWindow>(*m_settings, sideFiles(), test::cpuBackends());
    window->resize(1280, 800);
    window->show();
    return window;
  }
  void restart() {
    m_window.reset();
    m_window = makeWindow();
    m_window->restoreSession();
  }
  DocumentModel& model() { return *m_window->workspace().model(); }
  NoticeBar& bar() { return *m_window->findChild<NoticeBar*>(); }

  /// Another program writes the file, with this name in it.
  void writeOutside(const std::string& name) {
    document::OpenedDocument opened = openDocument(m_path);
    QVERIFY(opened.document.has_value());
    opened.document->parameters["name"] = name;
    QVERIFY(!saveDocument(m_path, *opened.document).has_value());
  }
  QString writeText(const QString& name, const QByteArray& bytes) {
    const QString path = m_folder->filePath(name);
    QDir().mkpath(QFileInfo(path).absolutePath());
    QFile file(path);
    if (!file.open(QIODevice::WriteOnly) || file.write(bytes) != bytes.size())
      qFatal("cannot write %s", qPrintable(path));
    return path;
  }
  JsonEditor& json() {
    m_window->perform(QStringLiteral("view.dock:json"));
    return *m_window->findChild<JsonEditor*>();
  }
  /// The rows of the list of problems, once it has been found.
  std::size_t problemRows(const QString& containing) {
    m_window->perform(QStringLiteral("view.dock:problems"));
    QTest::qWait(300);
    const auto* list = m_window->findChild<ProblemListModel*>();
    const auto& rows = list->rows();
    return static_cast<std::size_t>(std::count_if(rows.begin(), rows.end(), [&](const ProblemRow& row) {
      return row.problem.text.contains(containing);
    }));
  }
  QStringList titles() {
    QStringList titles;
    for (const auto& document : m_window->workspace().documents())
      titles << document->model->title() + (document->model->isModified() ? QStringLiteral("*") : QString());
    return titles;
  }

 private Q_SLOTS:
  void init() {
    m_folder = std::make_unique<QTemporaryDir>();
    m_settings =
        std::make_unique<QSettings>(m_folder->filePath(QStringLiteral("settings.ini")), QSettings::IniFormat);
    m_path = m_folder->filePath(QStringLiteral("query.span"));
    document::OpenedDocument example =
        openDocument(QStringLiteral(SPANSCOPE_SOURCE_DIR "/resources/queries/rag.json"));
    QVERIFY(!saveDocument(m_path, *example.document).has_value());
    m_window = makeWindow();
  }
  void cleanup() {
    m_window.reset();
    m_settings.reset();
    m_folder.reset();
  }

  void aChangeOutsideIsReloaded() {
    QVERIFY(m_window->openFile(m_path));
    QVERIFY(bar().isHidden());
    rename(model(), "mine");
    writeOutside("theirs");
    QTRY_VERIFY(bar().isVisible());
    QVERIFY(bar().notice().text.contains(QStringLiteral("not saved")));
    QVERIFY(QApplication::activeModalWidget() == nullptr);
    button(bar(), QStringLiteral("Reload"))->click();
    QCOMPARE(nameIn(model().document()), std::string("theirs"));
    QVERIFY(!model().isModified());
    QVERIFY(bar().isHidden());
    // What was here is not lost.
    model().undoStack().undo();
    QCOMPARE(nameIn(model().document()), std::string("mine"));
  }

  /// Text files that are opened are offered as documents.
  void aTextIsOffered() {
    const QString text = writeText(QStringLiteral("notes.txt"), "Some notes: of mine.");
    Answers none({QStringLiteral("Cancel")});
    QVERIFY(!m_window->openFile(text));
    QVERIFY(none.isDone());
    QVERIFY(m_window->workspace().documents().empty());
    Answers fresh({QStringLiteral("New query")});
    QVERIFY(m_window->openFile(text));
    QVERIFY(fresh.isDone());
    QCOMPARE(model().document().size(), std::size_t{5});
    QVERIFY(m_window->openFile(m_path));
    const std::size_t before = model().document().size();
    Answers here({QStringLiteral("Add to this query")});
    QVERIFY(m_window->openFiles({text, writeText(QStringLiteral("more.md"), "# More")}));
    QVERIFY(here.isDone());
    QVERIFY2(here.said().join(QString()).contains(QStringLiteral("2 of these are texts")),
             qPrintable(here.said().join(QString())));
    QCOMPARE(model().document().size(), before + 2);
    QCOMPARE(model().undoStack().count(), 1);
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
    // A person may choose another for it, and a query of their own goes on with what they use.
    model().change(QStringLiteral("Model"),
                   [](document::Document& next) { next.settings.model = "/models/another"; });
    QCOMPARE(model().document().settings.model, std::string("/models/another"));
    m_window->perform(QStringLiteral("file.new"));
    QCOMPARE(model().document().settings.model, std::string("/models/another"));
  }

  /// What is complained of goes from the status bar once it is mended or out of view.
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

  void whatIsHereIsKept() {
    QVERIFY(m_window->openFile(m_path));
    writeOutside("theirs");
    QTRY_VERIFY(bar().isVisible());
    {
      Answers answers({QStringLiteral("Close")});
      button(bar(), QStringLiteral("Compare…"))->click();
      QVERIFY(answers.isDone());
    }
    button(bar(), QStringLiteral("Keep mine"))->click();
    QVERIFY(bar().isHidden());
    QVERIFY2(model().isModified(), "the file holds something else");
    // Asked once: saving is what the person wants now.
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
    QVERIFY2(cancel.said().join(QLatin1Char(' ')).contains(QStringLiteral("changed by another program")),
             qPrintable(cancel.said().join(QLatin1Char(' '))));
    QCOMPARE(nameIn(*openDocument(m_path).document), std::string("theirs"));
    Answers over({QStringLiteral("Compare…"), QStringLiteral("Close"), QStringLiteral("Save over it")});
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
    button(bar(), QStringLiteral("Save again"))->click();
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

  /// The system ends the program: nobody answers questions, and all is there at the next start.
  void leavingKeepsAllWithoutAQuestion() {
    QVERIFY(m_window->openFile(m_path));
    rename(model(), "of a file");
    m_window->newDocument();
    rename(model(), "new");
    m_window->leave();
    QVERIFY(QApplication::activeModalWidget() == nullptr);
    QCOMPARE(nameIn(*openDocument(m_path).document), std::string());
    restart();
    QCOMPARE(titles(), (QStringList{QStringLiteral("query.span*"), QStringLiteral("Untitled*")}));
    QCOMPARE(nameIn(m_window->workspace().documents()[0]->model->document()), std::string("of a file"));
    QCOMPARE(nameIn(model().document()), std::string("new"));
    QVERIFY(findRecoveries(sideFiles()).empty());
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
    // Once the person has overwritten it, nothing more can be lost.
    m_window->perform(QStringLiteral("file.close"));
    QVERIFY(m_window->openFile(path));
    editMessage(model(), "mine");
    Answers over({QStringLiteral("Overwrite")});
    m_window->perform(QStringLiteral("file.save"));
    QVERIFY(over.isDone());
    QVERIFY(bytesOf(path) != text);
    editMessage(model(), "again");
    m_window->perform(QStringLiteral("file.save"));
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
    button(bar(), QStringLiteral("Reload"))->click();
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
    Answers answers({QStringLiteral("New query"), QStringLiteral("Cancel")});
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
    QVERIFY(!m_window->workspace().run().isEmpty());
    QVERIFY(!m_window->workspace().measuringRefusal().isEmpty());
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
    QVERIFY(m_window->workspace().refusal().isEmpty());
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
    QVERIFY(!m_window->workspace().run().isEmpty());
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

  void twoWindowsKnowOfEachOther() {
    QVERIFY(m_window->openFile(m_path));
    const std::unique_ptr<MainWindow> second = makeWindow();
    QVERIFY(second->openFile(m_path));
    QVERIFY(second->findChild<NoticeBar*>()->isVisible());
    QTRY_VERIFY(bar().isVisible());
    QVERIFY(bar().notice().text.contains(QStringLiteral("another Spanscope window")));
    button(bar(), QStringLiteral("OK"))->click();
    QVERIFY(bar().isHidden());
    // What is saved in one is told in the other.
    rename(*second->workspace().model(), "theirs");
    second->perform(QStringLiteral("file.save"));
    QTRY_VERIFY(bar().isVisible());
    QVERIFY(bar().notice().answers.front() == FileAnswer::Reload);
  }

  void quittingAsksOnceAndKeepsTheRest() {
    QVERIFY(m_window->openFile(m_path));
    rename(model(), "saved");
    QVERIFY(m_window->openExample(QStringLiteral("judge-2.json")));
    rename(model(), "dropped");
    m_window->newDocument();
    rename(model(), "kept");
    QVERIFY(m_window->openExample(QStringLiteral("rag.json")));
    Answers cancel({QStringLiteral("Cancel")});
    QVERIFY(!m_window->close());
    QCOMPARE(cancel.said().size(), 3);
    // Of three, one is saved and the others come back.
    Answers save({QStringLiteral("Save checked")}, {1, 2});
    QVERIFY(m_window->close());
    QVERIFY(save.isDone());
    QCOMPARE(nameIn(*openDocument(m_path).document), std::string("saved"));
    restart();
    QCOMPARE(titles(), (QStringList{QStringLiteral("query.span"), QStringLiteral("judge-2*"),
                                    QStringLiteral("Untitled*"), QStringLiteral("rag")}));
    QCOMPARE(m_window->workspace().current()->model->title(), QStringLiteral("rag"));
    QCOMPARE(nameIn(m_window->workspace().documents()[2]->model->document()), std::string("kept"));
    QVERIFY(findRecoveries(sideFiles()).empty());
    // Dropped is dropped.
    Answers drop({QStringLiteral("Discard checked")});
    QVERIFY(m_window->close());
    restart();
    QCOMPARE(titles(), (QStringList{QStringLiteral("query.span"), QStringLiteral("rag")}));
  }

  void changesOfAFileAreKept() {
    QVERIFY(m_window->openFile(m_path));
    rename(model(), "mine");
    Answers keep({QStringLiteral("Keep all")});
    QVERIFY(m_window->close());
    QCOMPARE(nameIn(*openDocument(m_path).document), std::string());
    restart();
    QCOMPARE(titles(), QStringList{QStringLiteral("query.span*")});
    QCOMPARE(nameIn(model().document()), std::string("mine"));
    model().undoStack().undo();
    QCOMPARE(nameIn(model().document()), std::string());
    QVERIFY(!model().isModified());
  }

  /// The second of two windows keeps no tabs, and nothing that is kept is lost.
  void theFirstWindowKeepsTheTabs() {
    QVERIFY(m_window->openFile(m_path));
    QTRY_VERIFY(!m_settings->value(QStringLiteral("window/tabs")).toStringList().isEmpty());
    std::unique_ptr<MainWindow> second = makeWindow();
    second->restoreSession();
    QVERIFY(second->isWelcome());
    QVERIFY(second->openExample(QStringLiteral("rag.json")));
    rename(*second->workspace().model(), "of the second");
    {
      Answers keep({QStringLiteral("Keep all")});
      QVERIFY(second->close());
    }
    second.reset();
    QVERIFY(m_window->close());
    restart();
    QCOMPARE(titles(), QStringList{QStringLiteral("query.span")});
    Answers open({QStringLiteral("Open checked")});
    m_window->offerRecovery();
    QVERIFY(open.isDone());
    QCOMPARE(titles(), (QStringList{QStringLiteral("query.span"), QStringLiteral("rag*")}));
  }

  /// Whatever the file of settings holds: a person at a terminal could do nothing with a line of Qt's.
  void damagedSettingsSayNothing() {
    QVERIFY(m_window->openFile(m_path));
    m_window->newDocument();
    rename(model(), "kept");
    m_window->leave();
    m_window.reset();
    const QString file = m_settings->fileName();
    m_settings.reset();
    QFile whole(file);
    QVERIFY(whole.open(QIODevice::ReadOnly));
    const QByteArray good = whole.readAll();
    QVERIFY(good.contains("tabs="));
    constexpr std::uint32_t kSeed = 20;
    qInfo("seed %u", kSeed);
    std::mt19937 random(kSeed);
    messages().clear();
    const QtMessageHandler before = qInstallMessageHandler(
        [](QtMsgType, const QMessageLogContext&, const QString& text) { messages() << text; });
    for (int i = 0; i < 16; ++i) {
      QByteArray damaged = good;
      for (int k = 0; k < 12; ++k)
        damaged[static_cast<qsizetype>(random() % static_cast<std::uint32_t>(damaged.size()))] =
            static_cast<char>(' ' + random() % 95);
      QFile written(file);
      if (!written.open(QIODevice::WriteOnly) || written.write(damaged) != damaged.size()) break;
      written.close();
      m_settings = std::make_unique<QSettings>(file, QSettings::IniFormat);
      m_window = makeWindow();
      m_window->restoreSession();
      m_window.reset();
      m_settings.reset();
    }
    qInstallMessageHandler(before);
    messages().removeAll(QStringLiteral("This plugin does not support propagateSizeHints()"));
    QCOMPARE(messages(), QStringList());
  }

  void recoveryIsOneDialog() {
    // Side files as a killed program leaves them.
    for (const char* name : {"first", "second", "third"}) {
      DocumentModel lost;
      lost.setTitle(QString::fromLatin1(name));
      rename(lost, name);
      Autosave autosave(lost, sideFiles());
      QVERIFY(!autosave.keep().isEmpty());
    }
    QCOMPARE(findRecoveries(sideFiles()).size(), std::size_t{3});
    {
      Answers later({QStringLiteral("Ask again later")});
      m_window->offerRecovery();
      QCOMPARE(later.said().size(), 3);
    }
    {
      Answers drop(
          {QStringLiteral("Delete checked…"), QStringLiteral("Delete"), QStringLiteral("Open checked")},
          {0, 1});
      m_window->offerRecovery();
      QVERIFY(drop.isDone());
    }
    QCOMPARE(m_window->workspace().documents().size(), std::size_t{2});
    QVERIFY(findRecoveries(sideFiles()).empty());
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
