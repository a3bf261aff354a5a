// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/window/session_keeper.h"

#include "engine/query/json/json.h"
#include "ui/document/document_file.h"
#include "ui/document/unread_text.h"
#include "ui/editor/canvas_view.h"
#include "ui/window/dialogs.h"
#include "ui/window/document_controller.h"
#include "ui/window/window_parts.h"
#include "ui/window/workspace.h"

#include <QDir>
#include <QFileInfo>
#include <QJsonDocument>
#include <QJsonObject>
#include <QLocale>
#include <QLockFile>
#include <QMainWindow>
#include <QMessageBox>
#include <QPushButton>
#include <QSettings>

#include <algorithm>
#include <utility>

namespace spanscope::ui {
namespace {

constexpr QLatin1String kSave("save");
constexpr QLatin1String kDrop("drop");
constexpr QLatin1String kKeep("keep");
constexpr QLatin1String kOpen("open");

/// Key of the settings: a line of JSON for each tab. Qt's variants are not used, because reading a damaged
/// variant writes to standard error.
constexpr const char* kTabs = "window/tabs";

constexpr int kKeepTabs = 500;  // milliseconds after which a change of tabs is saved

bool isEmpty(const document::Document& document) {
  return document.ids().empty() && document.notes.empty() && document.frames.empty();
}

}  // namespace

SessionKeeper::SessionKeeper(const WindowParts& parts, DocumentController& documents)
    : m_parts(parts), m_documents(documents) {
  m_keepTabs.setSingleShot(true);
  m_keepTabs.setInterval(kKeepTabs);
  connect(&m_keepTabs, &QTimer::timeout, this, [this] { keepTabs(false); });
  connect(&m_parts.workspace, &Workspace::documentsChanged, &m_keepTabs, qOverload<>(&QTimer::start));
  connect(&m_parts.workspace, &Workspace::currentChanged, &m_keepTabs, qOverload<>(&QTimer::start));
}

SessionKeeper::~SessionKeeper() = default;

void SessionKeeper::keepAtEnd() {
  m_keepTabs.stop();
  keepTabs(true);
}

bool SessionKeeper::settleUnsaved() {
  OpenDocument* const shown = m_parts.workspace.current();
  if (!saveUnsaved()) {
    m_dropped.clear();
    return false;
  }
  if (m_parts.workspace.current() != shown) m_parts.workspace.setCurrent(shown);
  return true;
}

bool SessionKeeper::saveUnsaved() {
  std::vector<OpenDocument*> unsaved;
  std::vector<ChecklistDialog::Item> items;
  for (const auto& document : m_parts.workspace.documents()) {
    if (!document->source->takesRuns() || !document->model->isModified()) continue;
    const QString path = document->model->filePath();
    unsaved.push_back(document.get());
    items.push_back({.title = document->model->title(),
                     .detail = path.isEmpty() ? tr("never saved") : QDir::toNativeSeparators(path)});
  }
  m_dropped.clear();
  if (unsaved.empty()) return true;
  ChecklistDialog dialog(
      tr("Quit"),
      unsaved.size() == 1 ? tr("One query has unsaved changes.")
                          : tr("%1 queries have unsaved changes.").arg(unsaved.size()),
      tr("Save writes the checked queries to their files. Discard deletes the changes of the checked "
         "queries. Other queries keep their changes, and Spanscope opens these queries at the next "
         "start."),
      items,
      {{.id = kDrop,
        .text = tr(/*id:quit-discard*/ "Discard changes"),
        .needsChecked = true,
        .isDefault = false},
       {.id = kKeep,
        .text = tr(/*id:quit-keep*/ "Keep all changes"),
        .needsChecked = false,
        .isDefault = false},
       {.id = kSave,
        .text = tr(/*id:quit-save*/ "Save checked queries"),
        .needsChecked = true,
        .isDefault = true}},
      tr("Cancel"), m_parts.workspace.input().theme, &m_parts.window);
  if (dialog.exec() != QDialog::Accepted) return false;
  if (dialog.choice() == kKeep) return true;
  for (const std::size_t index : dialog.checked()) {
    OpenDocument& document = *unsaved[index];
    if (dialog.choice() == kDrop) {
      m_dropped.insert(document.id);
      continue;
    }
    // The document is shown, because saving may ask more questions.
    m_parts.workspace.setCurrent(&document);
    m_parts.pages.showDocuments();
    if (!m_documents.saver().save(document, false)) return false;
  }
  return true;
}

bool SessionKeeper::ownsSession() {
  if (m_sessionLock != nullptr) return true;
  if (!QDir().mkpath(m_parts.autosaveDirectory)) return false;
  auto lock = std::make_unique<QLockFile>(m_parts.autosaveDirectory + QStringLiteral("/session.lock"));
  lock->setStaleLockTime(0);
  if (lock->tryLock(0)) m_sessionLock = std::move(lock);
  return m_sessionLock != nullptr;
}

void SessionKeeper::keepTabs(bool atEnd) {
  const bool isOwner = ownsSession();
  m_parts.places.note();
  QStringList open;
  for (const auto& document : m_parts.workspace.documents()) {
    // A client's request is kept only if the user has kept or used it.
    if (document->isPreview && !m_parts.workspace.isUsed(*document)) continue;
    const DocumentModel& model = *document->model;
    const bool isDropped = m_dropped.count(document->id) != 0;
    QString path = model.filePath();
    if (const QString trace = m_documents.tracePath(document->id); !trace.isEmpty()) path = trace;
    QString sideFile;
    const bool isUnnamed = path.isEmpty() && !document->isOfLesson && !isEmpty(model.document());
    const bool isWanted = model.isModified() ? !isDropped : isUnnamed;
    if (atEnd && isWanted && document->source->takesRuns()) {
      if (Autosave* autosave = m_documents.saver().autosave(*document)) sideFile = autosave->keep();
    }
    if (path.isEmpty() && sideFile.isEmpty()) continue;
    QJsonObject entry{{QLatin1String("path"), path},
                      {QLatin1String("kept"), sideFile},
                      {QLatin1String("modified"), model.isModified()},
                      {QLatin1String("current"), document.get() == m_parts.workspace.current()}};
    // During the first layout of the window, the places of the canvas are not the user's.
    if (const CanvasPlace* place = m_parts.places.find(document->id); atEnd && place != nullptr) {
      entry.insert(QLatin1String("zoom"), place->zoom);
      entry.insert(QLatin1String("x"), place->center.x());
      entry.insert(QLatin1String("y"), place->center.y());
      entry.insert(QLatin1String("whole"), place->isWhole);
    }
    open << QString::fromUtf8(QJsonDocument(entry).toJson(QJsonDocument::Compact));
  }
  // The next start finds the unsaved work of other windows like work after a crash.
  if (isOwner) m_parts.settings.setValue(QLatin1String(kTabs), open);
}

void SessionKeeper::restore() {
  if (!ownsSession()) return;
  OpenDocument* current = nullptr;
  for (const QString& entry : m_parts.settings.value(QLatin1String(kTabs)).toStringList()) {
    const QJsonObject kept = QJsonDocument::fromJson(entry.toUtf8()).object();
    const QString path = kept.value(QLatin1String("path")).toString();
    const QString sideFile = kept.value(QLatin1String("kept")).toString();
    const std::optional<Recovery> recovery = sideFile.isEmpty() ? std::nullopt : findRecovery(sideFile);
    if (recovery)
      openRecovered(*recovery, kept.value(QLatin1String("modified")).toBool(true));
    else if (path.isEmpty() || !QFileInfo::exists(path) || !m_documents.openFile(path))
      continue;
    if (kept.value(QLatin1String("current")).toBool()) current = m_parts.workspace.current();
    if (!kept.contains(QLatin1String("zoom"))) continue;
    CanvasPlace place;
    place.zoom = std::clamp(kept.value(QLatin1String("zoom")).toDouble(), kLeastZoom, kMostZoom);
    place.center = {kept.value(QLatin1String("x")).toDouble(), kept.value(QLatin1String("y")).toDouble()};
    place.isWhole = kept.value(QLatin1String("whole")).toBool();
    m_parts.places.put(place);
  }
  if (current != nullptr) m_parts.workspace.setCurrent(current);
  m_parts.places.putAgain();
}

void SessionKeeper::offerDocuments() {
  for (;;) {
    const std::vector<Recovery> recoveries = findRecoveries(m_parts.autosaveDirectory);
    if (recoveries.empty()) return;
    std::vector<ChecklistDialog::Item> items;
    for (const Recovery& recovery : recoveries) {
      const QFileInfo file(recovery.filePath);
      QString detail =
          tr("from %1").arg(QLocale().toString(recovery.time.toLocalTime(), QLocale::ShortFormat));
      if (recovery.filePath.isEmpty())
        detail += tr(" · never saved");
      else if (!file.exists())
        detail += tr(" · its file no longer exists: %1").arg(QDir::toNativeSeparators(recovery.filePath));
      else if (file.lastModified() > recovery.time)
        detail += tr(" · its file was changed later: %1").arg(QDir::toNativeSeparators(recovery.filePath));
      else
        detail += QStringLiteral(" · ") + QDir::toNativeSeparators(recovery.filePath);
      items.push_back({.title = recovery.title, .detail = detail});
    }
    ChecklistDialog dialog(
        tr("Recover"),
        recoveries.size() == 1
            ? tr("One query had unsaved changes when Spanscope ended.")
            : tr("%1 queries had unsaved changes when Spanscope ended.").arg(recoveries.size()),
        tr("Open the queries to see, save or undo the changes. Queries that you do not check are offered "
           "again at the next start."),
        items,
        {{.id = kDrop, .text = tr("Delete checked…"), .needsChecked = true, .isDefault = false},
         {.id = kOpen, .text = tr("Open checked"), .needsChecked = true, .isDefault = true}},
        tr("Ask again later"), m_parts.workspace.input().theme, &m_parts.window);
    if (dialog.exec() != QDialog::Accepted) return;
    const std::vector<std::size_t> checked = dialog.checked();
    if (dialog.choice() == kOpen) {
      for (const std::size_t index : checked) openRecovered(recoveries[index], true);
      return;
    }
    QMessageBox box(QMessageBox::Warning, tr("Recover"),
                    checked.size() == 1
                        ? tr("Delete the unsaved changes of one query?")
                        : tr("Delete the unsaved changes of %1 queries?").arg(checked.size()),
                    QMessageBox::Cancel, &m_parts.window);
    box.setInformativeText(tr("You cannot undo this."));
    const QPushButton* drop =
        box.addButton(tr(/*id:delete-changes*/ "Delete changes"), QMessageBox::DestructiveRole);
    box.setDefaultButton(QMessageBox::Cancel);
    box.exec();
    if (box.clickedButton() != drop) continue;
    for (const std::size_t index : checked) removeRecovery(recoveries[index]);
  }
}

void SessionKeeper::openRecovered(const Recovery& recovery, bool isModified) {
  OpenDocument* open = nullptr;
  for (const auto& document : m_parts.workspace.documents()) {
    if (!recovery.filePath.isEmpty() && document->model->filePath() == recovery.filePath &&
        !document->model->isModified())
      open = document.get();
  }
  if (open == nullptr) {
    // The document is opened as in the file. The recovered state is one change, which is unsaved and can be
    // undone.
    document::Document before;
    if (!isModified) before = recovery.document;
    FileStamp stamp;
    OpenedFile file;
    if (isModified && !recovery.filePath.isEmpty()) {
      stamp = stampOf(recovery.filePath);
      file = openDocument(recovery.filePath);
      if (file.document) before = *file.document;
    }
    auto model = std::make_unique<DocumentModel>(std::move(before));
    if (recovery.filePath.isEmpty())
      model->setTitle(recovery.title);
    else
      model->setFilePath(recovery.filePath);
    open = &m_parts.workspace.open(std::move(model));
    m_documents.watch(*open, std::move(stamp));
    if (file.document) m_documents.saver().noteUnread(*open, file);
  }
  m_parts.workspace.setCurrent(open);
  // If only typed text was recovered, the document equals the file.
  const bool isOther =
      document::writeDocument(open->model->document()) != document::writeDocument(recovery.document);
  if (isModified && (isOther || !recovery.typed))
    open->model->change(tr("Recover changes"),
                        [&recovery](document::Document& document) { document = recovery.document; });
  UnreadText::of(*open->model).forgetNodes();
  if (recovery.typed) {
    UnreadText& unread = UnreadText::of(*open->model);
    unread.setTyped(*recovery.typed);
    unread.setTypedErrors(query::parseJson(recovery.typed->toStdString()).diagnostics);
  }
  // The changes are always in a side file.
  if (Autosave* autosave = m_documents.saver().autosave(*open)) autosave->writeNow();
  removeRecovery(recovery);
}

}  // namespace spanscope::ui
