// SPDX-License-Identifier: GPL-3.0-or-later
// What of the window has to do with files: open, save, close, recover, record, export.
#include "engine/base/error.h"
#include "engine/workbench/resource_paths.h"
#include "ui/document/document_file.h"
#include "ui/document/recent_files.h"
#include "ui/editor/canvas_view.h"
#include "ui/export/export_dialog.h"
#include "ui/export/view_export_dialog.h"
#include "ui/window/about_box.h"
#include "ui/window/canvas_picture.h"
#include "ui/window/main_window.h"

#include <QCloseEvent>
#include <QDragEnterEvent>
#include <QFileDialog>
#include <QFileInfo>
#include <QMessageBox>
#include <QMimeData>
#include <QTimer>
#include <QUrl>

#include <algorithm>
#include <utility>

namespace spanscope::ui {
namespace {

constexpr int kSettleTime = 50;  // milliseconds, for where the docks have their sizes already

QString diagnosticsText(const std::vector<query::Diagnostic>& diagnostics, const QString& file) {
  constexpr std::size_t kMost = 8;
  QStringList lines;
  for (const query::Diagnostic& diagnostic : diagnostics) {
    if (static_cast<std::size_t>(lines.size()) == kMost) {
      lines << QStringLiteral("…");
      break;
    }
    lines << QString::fromStdString(diagnostic.located(file.toStdString()));
  }
  return lines.join(QLatin1Char('\n'));
}

}  // namespace

void MainWindow::newDocument() {
  watch(m_workspace.open(std::make_unique<document::DocumentModel>()));
  m_canvas->setFocus();
}

bool MainWindow::openFile(const QString& path) {
  const QString whole = QFileInfo(path).absoluteFilePath();
  for (const auto& open : m_workspace.documents()) {
    if (open->model->filePath() != whole) continue;
    m_workspace.setCurrent(open.get());
    m_pages->setCurrentIndex(1);
    refresh();
    return true;
  }
  const QString name = QFileInfo(path).fileName();
  if (name.endsWith(QLatin1String(".trace")) || name.endsWith(QLatin1String(".trace.part"))) {
    try {
      watch(m_workspace.openTrace(whole));
    } catch (const Failure& failure) {
      QMessageBox::warning(this, tr("Open"), QString::fromUtf8(failure.what()));
      return false;
    }
    m_docks->setLayout(LayoutId::Explain);
    remember(whole);
    return true;
  }
  document::OpenedDocument opened = document::openDocument(whole);
  if (!opened.document) {
    QMessageBox box(QMessageBox::Warning, tr("Open"), tr("%1 cannot be opened.").arg(name), QMessageBox::Ok,
                    this);
    box.setInformativeText(diagnosticsText(opened.diagnostics, name));
    box.exec();
    document::RecentFiles(m_settings).remove(whole);
    return false;
  }
  auto model = std::make_unique<document::DocumentModel>(std::move(*opened.document));
  model->setFilePath(whole);
  watch(m_workspace.open(std::move(model)));
  remember(whole);
  m_canvas->setFocus();
  return true;
}

bool MainWindow::openExample(const QString& fileName) {
  QString path;
  try {
    path = QString::fromStdString(
        (workbench::resourceDirectory() / "queries" / fileName.toStdString()).string());
  } catch (const Failure& failure) {
    say(QString::fromUtf8(failure.what()));
    return false;
  }
  document::OpenedDocument opened = document::openDocument(path);
  if (!opened.document) {
    QMessageBox::warning(this, tr("Open"), diagnosticsText(opened.diagnostics, fileName));
    return false;
  }
  auto model = std::make_unique<document::DocumentModel>(std::move(*opened.document));
  // Examples are opened as copies: saving asks for a name.
  model->setTitle(QFileInfo(fileName).completeBaseName());
  watch(m_workspace.open(std::move(model)));
  m_canvas->setFocus();
  return true;
}

void MainWindow::watch(OpenDocument& document) {
  m_pages->setCurrentIndex(1);
  if (!document.recording) {
    auto autosave = std::make_unique<document::Autosave>(*document.model, m_autosaveDirectory);
    connect(autosave.get(), &document::Autosave::failed, this,
            [this](const Error& error) { say(QString::fromStdString(error.message())); });
    m_autosaves[document.id] = std::move(autosave);
  }
  m_fitWanted = true;
  QTimer::singleShot(kSettleTime, this, &MainWindow::fitOnce);
  refresh();
}

void MainWindow::remember(const QString& path) {
  document::RecentFiles(m_settings).add(path);
  m_lastFolder = QFileInfo(path).absolutePath();
  m_welcome->setRecentFiles(document::RecentFiles(m_settings).paths());
}

void MainWindow::openDialog() {
  const QStringList paths = QFileDialog::getOpenFileNames(
      this, tr("Open"), m_lastFolder,
      tr("All that can be opened (*.span *.json *.yaml *.yml *.lisp *.trace *.part);;"
         "Documents (*.span);;Queries (*.json *.yaml *.yml *.lisp);;Recorded runs "
         "(*.trace *.part);;All files (*)"));
  for (const QString& path : paths) openFile(path);
}

bool MainWindow::save(OpenDocument& document, bool askForPath) {
  document::DocumentModel& model = *document.model;
  QString path = model.filePath();
  if (askForPath || path.isEmpty()) {
    const QString proposed = (m_lastFolder.isEmpty() ? QString() : m_lastFolder + QLatin1Char('/')) +
                             QFileInfo(model.title()).completeBaseName() + QStringLiteral(".span");
    path =
        QFileDialog::getSaveFileName(this, tr("Save as"), path.isEmpty() ? proposed : path,
                                     tr("Documents (*.span);;Query alone, JSON (*.json);;Query alone, YAML "
                                        "(*.yaml *.yml);;Query alone, Lisp (*.lisp)"));
    if (path.isEmpty()) return false;
    if (QFileInfo(path).suffix().isEmpty()) path += QStringLiteral(".span");
  }
  const QStringList lost =
      document::isQueryPath(path) ? document::lostWhenSavedAsQuery(model.document()) : QStringList();
  if (!lost.isEmpty()) {
    QMessageBox box(QMessageBox::Question, tr("Save"),
                    tr("A .%1 file holds the query alone. Saved as a document (.span), nothing is lost.")
                        .arg(QFileInfo(path).suffix()),
                    QMessageBox::Cancel, this);
    box.setInformativeText(tr("Not in the file would be: %1.").arg(lost.join(QStringLiteral(", "))));
    QPushButton* asDocument = box.addButton(tr("Save as .span"), QMessageBox::AcceptRole);
    QPushButton* anyway = box.addButton(tr("Save the query alone"), QMessageBox::DestructiveRole);
    box.setDefaultButton(asDocument);
    box.exec();
    if (box.clickedButton() == asDocument)
      path.replace(path.size() - QFileInfo(path).suffix().size(), path.size(), QStringLiteral("span"));
    else if (box.clickedButton() != anyway)
      return false;
  }
  if (const std::optional<Error> error = document::saveDocument(path, model.document())) {
    QMessageBox::warning(this, tr("Save"), QString::fromStdString(error->message()));
    return false;
  }
  model.setFilePath(QFileInfo(path).absoluteFilePath());
  model.markSaved();
  remember(model.filePath());
  say(tr("Saved %1").arg(model.title()));
  return true;
}

bool MainWindow::mayClose(OpenDocument& document) {
  if (document.recording || !document.model->isModified()) return true;
  m_workspace.setCurrent(&document);
  m_pages->setCurrentIndex(1);
  QMessageBox box(QMessageBox::Question, tr("Close"),
                  tr("Save the changes to %1?").arg(document.model->title()),
                  QMessageBox::Save | QMessageBox::Discard | QMessageBox::Cancel, this);
  switch (box.exec()) {
    case QMessageBox::Save:
      return save(document, false);
    case QMessageBox::Discard:
      return true;
    default:
      return false;
  }
}

void MainWindow::closeTab(OpenDocument& document) {
  if (!mayClose(document)) return;
  if (m_workspace.current() == &document) {
    m_canvas->setModel(nullptr);
    for (Dock* dock : m_docks->docks()) {
      if (dock->view() != nullptr) dock->view()->setModel(nullptr);
    }
  }
  m_autosaves.erase(document.id);
  m_places.erase(document.id);
  if (m_shown == document.id) m_shown = 0;
  m_workspace.close(&document);
  showCurrent();
  refresh();
}

void MainWindow::closeEvent(QCloseEvent* event) {
  for (const auto& document : m_workspace.documents()) {
    if (mayClose(*document)) continue;
    event->ignore();
    return;
  }
  if (m_shown != 0) m_places[m_shown] = m_canvas->place();
  QVariantList open;
  for (const auto& document : m_workspace.documents()) {
    if (document->model->filePath().isEmpty()) continue;
    const CanvasPlace place = m_places[document->id];
    open << QVariantMap{{QStringLiteral("path"), document->model->filePath()},
                        {QStringLiteral("zoom"), place.zoom},
                        {QStringLiteral("center"), place.center}};
  }
  m_settings.setValue(QStringLiteral("window/open"), open);
  m_settings.setValue(QStringLiteral("window/geometry"), saveGeometry());
  m_settings.setValue(QStringLiteral("window/folder"), m_lastFolder);
  for (const auto& [name, state] : m_docks->layoutStates())
    m_settings.setValue(QStringLiteral("layouts/") + name, state);
  for (auto& [id, autosave] : m_autosaves) autosave->discard();
  m_workspace.engine().stop();
  event->accept();
}

void MainWindow::restoreSession() {
  for (const QVariant& entry : m_settings.value(QStringLiteral("window/open")).toList()) {
    const QVariantMap kept = entry.toMap();
    const QString path = kept.value(QStringLiteral("path")).toString();
    if (!QFileInfo::exists(path) || !openFile(path)) continue;
    CanvasPlace place;
    place.zoom = std::clamp(kept.value(QStringLiteral("zoom")).toDouble(), kLeastZoom, kMostZoom);
    place.center = kept.value(QStringLiteral("center")).toPointF();
    m_fitWanted = false;
    m_canvas->setPlace(place);
    m_places[m_shown] = place;
  }
}

void MainWindow::offerRecovery() {
  for (const document::Recovery& recovery : document::findRecoveries(m_autosaveDirectory)) {
    QMessageBox box(QMessageBox::Question, tr("Recover"),
                    tr("“%1” has changes that were not saved when Spanscope ended.").arg(recovery.title),
                    QMessageBox::NoButton, this);
    box.setInformativeText(
        tr("They are from %1.").arg(QLocale().toString(recovery.time, QLocale::ShortFormat)));
    QPushButton* take = box.addButton(tr("Open them"), QMessageBox::AcceptRole);
    QPushButton* later = box.addButton(tr("Ask again later"), QMessageBox::RejectRole);
    QPushButton* drop = box.addButton(tr("Delete them"), QMessageBox::DestructiveRole);
    box.setDefaultButton(take);
    box.setEscapeButton(later);
    box.exec();
    if (box.clickedButton() == drop) document::removeRecovery(recovery);
    if (box.clickedButton() != take) continue;
    // Opened as the file was, with what was typed since as one change: it is unsaved and can be undone.
    document::Document before;
    if (!recovery.filePath.isEmpty()) {
      if (document::OpenedDocument opened = document::openDocument(recovery.filePath); opened.document) {
        before = std::move(*opened.document);
      }
    }
    auto model = std::make_unique<document::DocumentModel>(std::move(before));
    if (recovery.filePath.isEmpty())
      model->setTitle(recovery.title);
    else
      model->setFilePath(recovery.filePath);
    document::DocumentModel& opened = *model;
    watch(m_workspace.open(std::move(model)));
    opened.change(tr("Recover changes"),
                  [&recovery](document::Document& document) { document = recovery.document; });
    document::removeRecovery(recovery);
  }
}

void MainWindow::saveTrace() {
  const QString path =
      QFileDialog::getSaveFileName(this, tr("Save run"), m_lastFolder, tr("Recorded runs (*.trace)"));
  if (path.isEmpty()) return;
  const QString problem =
      m_workspace.saveTrace(path.endsWith(QLatin1String(".trace")) ? path : path + QStringLiteral(".trace"));
  say(problem.isEmpty() ? tr("Saved %1").arg(QFileInfo(path).fileName()) : problem);
}

void MainWindow::toggleRecording() {
  EngineHost& engine = m_workspace.engine();
  if (engine.isRecording()) {
    const QString problem = engine.finishRecording();
    say(problem.isEmpty() ? tr("The recording is complete.") : problem);
    return;
  }
  const QString path =
      QFileDialog::getSaveFileName(this, tr("Record"), m_lastFolder, tr("Recorded runs (*.trace)"));
  if (path.isEmpty()) return;
  const QString problem =
      engine.startRecording(path.endsWith(QLatin1String(".trace")) ? path : path + QStringLiteral(".trace"));
  say(problem.isEmpty() ? tr("Recording until “Record” is chosen again.") : problem);
}

void MainWindow::exportQuery() {
  ExportDialog dialog(m_workspace.model()->document(),
                      QFileInfo(m_workspace.model()->title()).completeBaseName(), m_workspace.input().theme,
                      this);
  connect(&dialog, &ExportDialog::nodeWanted, this, [this](document::NodeId node) {
    Selection selection;
    selection.nodes = {node};
    m_workspace.select(selection);
    m_canvas->reveal(node);
  });
  dialog.exec();
}

void MainWindow::exportView(const QString& id) {
  std::vector<ExportItem> items;
  items.push_back(canvasItem(m_workspace.input(), m_canvas->size()));
  for (const ViewInfo& info : viewTable()) {
    const Dock* dock = m_docks->dock(info.id);
    const QSize size = dock != nullptr && dock->isVisible() ? dock->view()->size() : QSize(800, 500);
    items.push_back(exportItem(info, m_workspace.input(), size));
  }
  ViewExportDialog(std::move(items), id, m_workspace.input().theme, this).exec();
}

void MainWindow::showAbout() {
  const LoadedModel& model = m_workspace.engine().model();
  AboutBox(model.device, m_workspace.input().theme, this).exec();
}

void MainWindow::dragEnterEvent(QDragEnterEvent* event) {
  if (event->mimeData()->hasUrls()) event->acceptProposedAction();
}

void MainWindow::dropEvent(QDropEvent* event) {
  for (const QUrl& url : event->mimeData()->urls()) {
    if (url.isLocalFile()) openFile(url.toLocalFile());
  }
}

}  // namespace spanscope::ui
