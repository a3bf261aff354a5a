// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/window/document_controller.h"

#include "engine/base/error.h"
#include "engine/checkpoint/checkpoint.h"
#include "engine/query/node_parts.h"
#include "engine/retrieve/document_text.h"
#include "engine/workbench/model_names.h"
#include "engine/workbench/resource_paths.h"
#include "ui/document/document_file.h"
#include "ui/document/text_files.h"
#include "ui/editor/canvas.h"
#include "ui/export/export_dialog.h"
#include "ui/session/log_diagnosis.h"
#include "ui/session/model_choices.h"
#include "ui/window/dock_host.h"
#include "ui/window/status_line.h"
#include "ui/window/window_parts.h"
#include "ui/window/workspace.h"

#include <QAbstractButton>
#include <QDialog>
#include <QDialogButtonBox>
#include <QEventLoop>
#include <QFile>
#include <QFileDialog>
#include <QFileInfo>
#include <QLabel>
#include <QMainWindow>
#include <QMessageBox>
#include <QProgressDialog>
#include <QPushButton>
#include <QSettings>
#include <QTimer>
#include <QUndoView>
#include <QVBoxLayout>

#include <algorithm>
#include <chrono>
#include <future>
#include <iterator>
#include <optional>
#include <stop_token>
#include <utility>

namespace spanscope::ui {
namespace {

/// Whether a path can only be a model. A GGUF file alone is not enough for a folder, because a folder of
/// texts may contain a GGUF file.
bool isModel(const QString& path) {
  const QFileInfo info(path);
  if (info.isFile()) return path.endsWith(QLatin1String(".gguf"), Qt::CaseInsensitive);
  return info.isDir() && QFileInfo::exists(path + QLatin1String("/config.json")) &&
         checkpoint::Checkpoint(path.toStdString()).holdsModel();
}

/// A text for a menu, in which "&" in the name of a file marks no key.
QString inMenu(QString text) {
  return text.replace(QLatin1Char('&'), QStringLiteral("&&"));
}

/// The names of files that become documents of a query.
constexpr const char* kTextNames = "*.txt *.md *.rst *.csv *.pdf";

constexpr int kSettleTime = 50;  // milliseconds; enough if the docks already have their sizes

/// Whether the name marks a file as a document, query, picture or recorded run, whatever its content.
bool isOpenedByName(const QString& path) {
  if (QFileInfo(path).isDir()) return false;
  static constexpr const char* kEnds[] = {".span", ".spnl", ".trace", ".trace.part"};
  return isQueryPath(path) || isPicturePath(path) ||
         std::any_of(std::begin(kEnds), std::end(kEnds), [&path](const char* end) {
           return path.endsWith(QLatin1String(end), Qt::CaseInsensitive);
         });
}

/// Whether the name is usual for logs of requests. Texts can have these names, too.
bool hasLogName(const QString& path) {
  static constexpr const char* kEnds[] = {".jsonl", ".ndjson", ".har", ".log", ".gz"};
  return std::any_of(std::begin(kEnds), std::end(kEnds), [&path](const char* end) {
    return path.endsWith(QLatin1String(end), Qt::CaseInsensitive);
  });
}

/// Whether a file that isOpenedByName() does not know is a log of requests, whatever its name.
bool isLogByContent(const QString& path) {
  return hasLogName(path) ? isLog(path) : beginsAsLog(path);
}

bool isPdf(const QString& path) {
  constexpr qint64 kBegin = 16;
  QFile file(path);
  if (!QFileInfo(path).isFile() || !file.open(QIODevice::ReadOnly)) return false;
  return retrieve::formatOf({}, file.read(kBegin).toStdString()) == retrieve::DocumentFormat::Pdf;
}

/// Reads texts on another thread, because a PDF can take many seconds. Returns nothing if the user cancels or
/// the program ends.
std::optional<TextFiles> readWhileShown(const QStringList& paths, QWidget* window) {
  constexpr std::chrono::milliseconds kUnnoticed{200};
  constexpr std::chrono::milliseconds kLook{30};
  std::stop_source stop;
  // If no thread can start, get() reads the files.
  std::future<TextFiles> reading =
      std::async(std::launch::async | std::launch::deferred,
                 [&paths, token = stop.get_token()] { return readTextFiles(paths, token); });
  const auto isRead = [&reading](std::chrono::milliseconds patience) {
    return reading.wait_for(patience) != std::future_status::timeout;
  };
  if (!isRead(kUnnoticed)) {
    QProgressDialog dialog(DocumentController::tr("Reading files…"), DocumentController::tr("Cancel"), 0, 0,
                           window);
    dialog.setWindowTitle(DocumentController::tr("Add files"));
    dialog.setWindowModality(Qt::WindowModal);
    dialog.show();
    QEventLoop loop;
    QTimer look;
    QObject::connect(&look, &QTimer::timeout, &loop, [&] {
      if (isRead({})) loop.quit();
    });
    QObject::connect(&dialog, &QProgressDialog::canceled, &loop, [&stop] { stop.request_stop(); });
    look.start(kLook);
    loop.exec();
    if (!isRead({})) stop.request_stop();
  }
  TextFiles read = reading.get();
  if (stop.stop_requested()) return std::nullopt;
  return read;
}

/// Whether the query names the bundled model and no other model.
bool namesBundledModel(const document::Document& document) {
  const std::string bundled = workbench::modelNameOf({});
  bool isNamed = false;
  for (const document::NodeId id : document.ids()) {
    const query::GenerateSettings* settings = query::settingsOf(document.at(id).own);
    if (settings == nullptr || settings->model.empty()) continue;
    if (!workbench::meansModel(settings->model, bundled)) return false;
    isNamed = true;
  }
  return isNamed;
}

}  // namespace

DocumentController::DocumentController(const WindowParts& parts) : m_parts(parts), m_saver(parts) {
  connect(&m_saver, &DocumentSaver::changed, this, &DocumentController::changed);
  connect(&m_saver, &DocumentSaver::fileUsed, this, &DocumentController::remember);
}

void DocumentController::addCommands(CommandHandlers& rows) {
  rows.add("file.new", [this] { newDocument(); });
  rows.add("file.open", [this] { openDialog(); });
  rows.add("file.add-files", [this] { addFilesDialog(); });
  rows.add("file.add-folder", [this] { addFolderDialog(); });
  rows.addWithArgument(
      "file.open-example", [] { return true; }, [this](const QString& name) { openExample(name); });
  rows.add("file.save", [this] { m_saver.save(*m_parts.workspace.current(), false); });
  rows.add("file.save-as", [this] { m_saver.save(*m_parts.workspace.current(), true); });
  rows.add("file.export", [this] { exportQuery(); });
  rows.add("file.close", [this] { closeTab(*m_parts.workspace.current()); });
  addHistoryCommands(rows);
}

void DocumentController::addHistoryCommands(CommandHandlers& rows) {
  const auto undoStack = [this]() -> QUndoStack& { return m_parts.workspace.model()->undoStack(); };
  const auto settingsStack = [this]() -> QUndoStack& {
    return m_parts.workspace.model()->settingsUndoStack();
  };

  rows.add(
      "edit.undo", [undoStack] { return undoStack().canUndo(); }, [undoStack] { undoStack().undo(); },
      [undoStack] {
        const QString name = undoStack().undoText();
        return name.isEmpty() ? tr("Undo") : tr("Undo “%1”").arg(name);
      });
  rows.add(
      "edit.redo", [undoStack] { return undoStack().canRedo(); }, [undoStack] { undoStack().redo(); },
      [undoStack] {
        const QString name = undoStack().redoText();
        return name.isEmpty() ? tr("Redo") : tr("Redo “%1”").arg(name);
      });
  rows.add(
      "edit.undo-setting", [settingsStack] { return settingsStack().canUndo(); },
      [settingsStack] { settingsStack().undo(); },
      [settingsStack] {
        const QString name = settingsStack().undoText();
        return name.isEmpty() ? tr("Undo setting") : tr("Undo setting “%1”").arg(inMenu(name));
      });
  rows.add(
      "edit.redo-setting", [settingsStack] { return settingsStack().canRedo(); },
      [settingsStack] { settingsStack().redo(); },
      [settingsStack] {
        const QString name = settingsStack().redoText();
        return name.isEmpty() ? tr("Redo setting") : tr("Redo setting “%1”").arg(inMenu(name));
      });
  rows.add(
      "edit.history",
      [undoStack, settingsStack] { return undoStack().count() > 0 || settingsStack().count() > 0; },
      [this] { showUndoHistory(); });
}

QString DocumentController::tracePath(std::uint32_t tab) const {
  const auto trace = m_tracePaths.find(tab);
  return trace == m_tracePaths.end() ? QString() : trace->second;
}

void DocumentController::newDocument() {
  document::Document fresh;
  m_parts.workspace.useModelInUse(fresh.settings);
  auto model = std::make_unique<DocumentModel>(std::move(fresh));
  const QString first = model->title();
  const auto isTaken = [this](const QString& title) {
    const auto& open = m_parts.workspace.documents();
    return std::any_of(open.begin(), open.end(),
                       [&title](const auto& other) { return other->model->title() == title; });
  };
  for (int number = 2; isTaken(model->title()); ++number) model->setTitle(tr("%1 %2").arg(first).arg(number));
  watch(m_parts.workspace.open(std::move(model)));
  m_parts.pages.showDocuments();
  Q_EMIT changed();
  m_parts.canvas.setFocus();
  // New docks are arranged after this, and the canvas loses the focus to them.
  QTimer::singleShot(0, &m_parts.canvas, [this] { m_parts.canvas.setFocus(); });
}

bool DocumentController::openFile(const QString& path) {
  return openFiles({path});
}

bool DocumentController::openFiles(const QStringList& paths) {
  QStringList texts;
  QStringList logs;
  bool isAllOpen = true;
  for (const QString& path : paths) {
    const Opening opening = openOne(path);
    if (opening == Opening::IsText)
      texts << path;
    else if (opening == Opening::IsLog)
      logs << QFileInfo(path).absoluteFilePath();
    else
      isAllOpen = isAllOpen && opening == Opening::Opened;
  }
  if (!logs.isEmpty()) Q_EMIT logsWanted(logs);
  if (!texts.isEmpty()) isAllOpen = offerDocuments(texts) && isAllOpen;
  return isAllOpen;
}

DocumentController::Opening DocumentController::openOne(const QString& path) {
  const QString whole = QFileInfo(path).absoluteFilePath();
  for (const auto& open : m_parts.workspace.documents()) {
    const auto trace = m_tracePaths.find(open->id);
    if (open->model->filePath() != whole && (trace == m_tracePaths.end() || trace->second != whole)) continue;
    m_parts.workspace.setCurrent(open.get());
    m_parts.pages.showDocuments();
    Q_EMIT changed();
    return Opening::Opened;
  }
  const QString name = QFileInfo(path).fileName();
  if (name.endsWith(QLatin1String(".trace")) || name.endsWith(QLatin1String(".trace.part"))) {
    try {
      OpenDocument& trace = m_parts.workspace.openTrace(whole);
      m_tracePaths[trace.id] = whole;
      watch(trace);
    } catch (const Failure& failure) {
      QMessageBox::warning(&m_parts.window, tr("Open"), QString::fromUtf8(failure.what()));
      return Opening::Failed;
    }
    m_parts.docks.setLayout(LayoutId::Explain);
    remember(whole);
    return Opening::Opened;
  }
  if (!isOpenedByName(whole) && isLogByContent(whole)) return Opening::IsLog;
  // Taken before the file is read, so that a write in between counts as a change.
  FileStamp stamp = stampOf(whole);
  OpenedFile opened = openDocument(whole);
  if (!opened.document && isQueryPath(whole) && isLog(whole)) return Opening::IsLog;
  // A PDF can take minutes, so another thread reads a PDF after the user has chosen to add it.
  if (!opened.document && !isOpenedByName(whole) &&
      (isPdf(whole) || readTextFiles({whole}).problem.isEmpty()))
    return Opening::IsText;
  if (!opened.document) {
    QMessageBox box(QMessageBox::Warning, tr("Open"), tr("%1 cannot be opened.").arg(name), QMessageBox::Ok,
                    &m_parts.window);
    // A file without the name of a query was tried as a text, so this problem is shown.
    const QString problem = isOpenedByName(whole) ? QString() : readTextFiles({whole}).problem;
    box.setInformativeText(problem.isEmpty() ? diagnosticsText(opened.diagnostics, name)
                                             : problem + QLatin1Char('.'));
    box.exec();
    RecentFiles(m_parts.settings).remove(whole);
    return Opening::Failed;
  }
  // A query file has no settings.
  if (opened.plainQuery && opened.document->settings == workbench::RunSettings{})
    m_parts.workspace.useModelInUse(opened.document->settings);
  auto model = std::make_unique<DocumentModel>(std::move(*opened.document));
  // Documents are not saved to pictures, so saving asks for a name.
  if (isPicturePath(whole))
    model->setTitle(QFileInfo(whole).completeBaseName());
  else
    model->setFilePath(whole);
  OpenDocument& document = m_parts.workspace.open(std::move(model));
  watch(document, std::move(stamp));
  remember(whole);
  m_parts.canvas.setFocus();
  m_saver.noteUnread(document, opened);
  return Opening::Opened;
}

bool DocumentController::isQueryShown() const {
  const OpenDocument* current = m_parts.workspace.current();
  return current != nullptr && !m_parts.pages.isWelcome() && current->source->takesRuns();
}

bool DocumentController::offerDocuments(const QStringList& paths) {
  QMessageBox box(
      QMessageBox::Question, tr("Open"),
      paths.size() == 1
          ? tr("%1 is a text, not a query.").arg(QFileInfo(paths.front()).fileName())
          : tr(/*id:these-texts-not*/ "%1 of these files are texts, not queries.").arg(paths.size()),
      QMessageBox::Cancel, &m_parts.window);
  box.setInformativeText(
      tr("Add the text to a query? Each file becomes a document (a child of a plus). The document gets the "
         "name of the file."));
  const QAbstractButton* here =
      isQueryShown() ? box.addButton(tr(/*id:add-query*/ "Add to this query"), QMessageBox::AcceptRole)
                     : nullptr;
  const QAbstractButton* fresh =
      box.addButton(tr(/*id:add-to-new-query*/ "Add to new query"), QMessageBox::AcceptRole);
  box.exec();
  if (box.clickedButton() == fresh) return addFiles(paths, AddTo::NewQuery);
  return here != nullptr && box.clickedButton() == here && addFiles(paths, AddTo::ThisQuery);
}

bool DocumentController::addFiles(const QStringList& paths, AddTo where) {
  const std::optional<TextFiles> chosen = readWhileShown(paths, &m_parts.window);
  if (!chosen) return false;
  const TextFiles& read = *chosen;
  if (!read.problem.isEmpty()) {
    QMessageBox box(QMessageBox::Warning, tr("Add files"), tr("Nothing was added."), QMessageBox::Ok,
                    &m_parts.window);
    box.setInformativeText(read.problem + QLatin1Char('.'));
    if (!read.leftOut.isEmpty()) box.setDetailedText(read.leftOut.join(QLatin1Char('\n')));
    box.exec();
    return false;
  }
  if (where == AddTo::NewQuery || !isQueryShown()) newDocument();
  m_parts.canvas.addDocuments(read.files);
  m_parts.lastFolder = QFileInfo(paths.front()).absolutePath();
  const QString added = read.files.size() == 1
                            ? tr("Added %1").arg(QString::fromStdString(read.files.front().name))
                            : tr("Added %1 documents").arg(read.files.size());
  const QString leftOut = leftOutText(read.leftOut);
  if (leftOut.isEmpty())
    m_parts.status.say(added);
  else
    m_parts.status.complain(tr("%1; %2").arg(added, leftOut));
  return true;
}

void DocumentController::takeDropped(const QStringList& paths) {
  if (paths.size() == 1 && isModel(paths.front())) {
    if (m_parts.workspace.model() == nullptr) newDocument();
    chooseModel(*m_parts.workspace.model(), paths.front());
    m_parts.status.say(
        tr("The model of this query is now %1.")
            .arg(QString::fromStdString(checkpoint::Checkpoint(paths.front().toStdString()).name())));
    return;
  }
  QStringList opened;
  QStringList texts;
  for (const QString& path : paths) (isOpenedByName(path) || isLogByContent(path) ? opened : texts) << path;
  openFiles(opened);
  if (texts.isEmpty()) return;
  if (isQueryShown())
    addFiles(texts, AddTo::ThisQuery);
  else
    openFiles(texts);
}

void DocumentController::addFilesDialog() {
  const QStringList paths =
      QFileDialog::getOpenFileNames(&m_parts.window, tr("Add files"), m_parts.lastFolder,
                                    tr("Texts and PDFs (%1);;All files (*)").arg(QLatin1String(kTextNames)));
  if (!paths.isEmpty()) addFiles(paths, AddTo::ThisQuery);
}

void DocumentController::addFolderDialog() {
  const QString folder =
      QFileDialog::getExistingDirectory(&m_parts.window, tr("Add a folder"), m_parts.lastFolder);
  if (!folder.isEmpty()) addFiles({folder}, AddTo::ThisQuery);
}

bool DocumentController::openExample(const QString& fileName) {
  QString path;
  try {
    path = QString::fromStdString(
        (workbench::resourceDirectory() / "queries" / fileName.toStdString()).string());
  } catch (const Failure& failure) {
    m_parts.status.say(QString::fromUtf8(failure.what()));
    return false;
  }
  document::OpenedDocument opened = openDocument(path);
  if (!opened.document) {
    QMessageBox::warning(&m_parts.window, tr("Open"), diagnosticsText(opened.diagnostics, fileName));
    return false;
  }
  if (!namesBundledModel(*opened.document)) m_parts.workspace.useModelInUse(opened.document->settings);
  auto model = std::make_unique<DocumentModel>(std::move(*opened.document));
  // An example opens as a copy, so saving asks for a name.
  model->setTitle(QFileInfo(fileName).completeBaseName());
  watch(m_parts.workspace.open(std::move(model)));
  m_parts.canvas.setFocus();
  return true;
}

void DocumentController::watch(OpenDocument& document, FileStamp read) {
  m_parts.pages.showDocuments();
  if (document.source->takesRuns()) m_saver.watch(document, std::move(read));
  m_parts.places.fitLater(kSettleTime);
  Q_EMIT changed();
}

void DocumentController::remember(const QString& path) {
  RecentFiles(m_parts.settings).add(path);
  m_parts.lastFolder = QFileInfo(path).absolutePath();
  Q_EMIT recentChanged();
}

void DocumentController::openDialog() {
  const QStringList paths = QFileDialog::getOpenFileNames(
      &m_parts.window, tr("Open"), m_parts.lastFolder,
      tr("All supported files (*.span *.json *.yaml *.yml *.lisp *.trace *.part *.png *.svg *.jsonl *.har "
         "%1);;Query files (*.span);;Plain queries (*.json *.yaml *.yml *.lisp);;Recorded runs (*.trace "
         "*.part);;Request logs (*.jsonl *.ndjson *.har *.log *.gz);;Pictures with their query (*.png "
         "*.svg);;Texts and PDFs, as documents of a query (%1);;All files (*)")
          .arg(QLatin1String(kTextNames)));
  openFiles(paths);
}

void DocumentController::closeTab(OpenDocument& document) {
  if (!m_saver.mayClose(document)) return;
  if (m_parts.workspace.current() == &document) {
    m_parts.canvas.setModel(nullptr);
    for (Dock* dock : m_parts.docks.docks()) {
      if (dock->view() != nullptr) dock->view()->setModel(nullptr);
    }
  }
  m_saver.forget(document);
  m_tracePaths.erase(document.id);
  m_parts.places.forget(document.id);
  m_parts.workspace.close(&document);
  Q_EMIT closed();
}

void DocumentController::exportQuery() {
  if (!m_saver.settleTyped(*m_parts.workspace.current(), tr("Export"))) return;
  ExportDialog dialog(m_parts.workspace.model()->document(),
                      QFileInfo(m_parts.workspace.model()->title()).completeBaseName(),
                      m_parts.workspace.input().theme, &m_parts.window, m_parts.workspace.model()->filePath(),
                      m_parts.workspace.runs().problems());
  connect(&dialog, &ExportDialog::nodeWanted, this, [this](document::NodeId node) {
    Selection selection;
    selection.nodes = {node};
    m_parts.workspace.select(selection);
    m_parts.canvas.reveal(node);
  });
  dialog.exec();
}

void DocumentController::showUndoHistory() {
  QDialog dialog(&m_parts.window);
  dialog.setWindowTitle(tr("Undo history"));
  auto* explanation = new QLabel(
      tr("Select a change to return to the state after this change. The Query list restores only the "
         "query. The Settings list restores only the settings. Later changes stay in the list until you make "
         "a new change."),
      &dialog);
  explanation->setWordWrap(true);
  DocumentModel& model = *m_parts.workspace.model();
  auto* lists = new QHBoxLayout;
  lists->setSpacing(3 * kSpace);
  const auto addList = [&](QUndoStack& stack, const QString& title, const QString& accessibleName) {
    auto* header = new QLabel(title, &dialog);
    header->setFont(m_parts.workspace.input().theme.titleFont());
    auto* list = new QUndoView(&stack, &dialog);
    list->setAccessibleName(accessibleName);
    list->setEmptyLabel(tr("Opened query"));
    header->setBuddy(list);
    auto* column = new QVBoxLayout;
    column->setSpacing(kSpace);
    column->addWidget(header);
    column->addWidget(list, 1);
    lists->addLayout(column, 1);
    return list;
  };
  auto* list = addList(model.undoStack(), tr("Query"), tr("Changes of the query, the oldest first"));
  addList(model.settingsUndoStack(), tr("Settings"), tr("Changes of settings, the oldest first"));
  auto* buttons = new QDialogButtonBox(QDialogButtonBox::Close, &dialog);
  connect(buttons, &QDialogButtonBox::rejected, &dialog, &QDialog::reject);
  auto* column = new QVBoxLayout(&dialog);
  column->setContentsMargins(4 * kSpace, 4 * kSpace, 4 * kSpace, 4 * kSpace);
  column->setSpacing(3 * kSpace);
  column->addWidget(explanation);
  column->addLayout(lists, 1);
  column->addWidget(buttons);
  dialog.resize(560, 420);
  list->setFocus();
  dialog.exec();
}

}  // namespace spanscope::ui
