// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/window/document_saver.h"

#include "engine/base/error.h"
#include "engine/policy/policies.h"
#include "ui/document/unread_text.h"
#include "ui/session/model_choices.h"
#include "ui/window/dialogs.h"
#include "ui/window/status_line.h"
#include "ui/window/window_parts.h"
#include "ui/window/workspace.h"
#include "ui/words/tr.h"

#include <QCoreApplication>
#include <QFile>
#include <QFileDialog>
#include <QFileInfo>
#include <QMainWindow>
#include <QMessageBox>
#include <QPushButton>
#include <QRegularExpression>
#include <QStringList>

#include <algorithm>
#include <iterator>
#include <utility>

namespace spanscope::ui {

Notice noticeOf(const FileSituation& situation) {
  using enum NoticeAnswer;
  if (situation.isGone) {
    return {
        .text = tr("Another program removed or renamed %1. Your query is still open.").arg(situation.name),
        .answers = {Save, SaveAs, Keep}};
  }
  if (situation.isChanged) {
    const QString text = situation.isModified
                             ? tr("Another program changed %1, and you have unsaved changes.")
                             : tr("Another program changed %1.");
    return {.text = text.arg(situation.name), .answers = {Reload, Compare, Keep}};
  }
  if (!situation.others.empty()) {
    QStringList processes;
    for (const qint64 process : situation.others) processes << QString::number(process);
    const QString text = situation.others.size() == 1
                             ? tr("%1 is also open in another Spanscope window (process %2). You will see a "
                                  "notice when the file is saved there.")
                             : tr("%1 is also open in other Spanscope windows (processes %2). You will see a "
                                  "notice when the file is saved there.");
    return {.text = text.arg(situation.name, processes.join(tr(", "))), .answers = {Dismiss}};
  }
  return {};
}

Notice noticeOf(const PolicyChange& change) {
  using enum NoticeAnswer;
  // Each argument is inserted in the same call, because a name may contain "%1".
  const auto text = [&change](const QString& form) {
    return form.arg(QString::fromStdString(change.model), QString::fromStdString(change.from),
                    QString::fromStdString(change.to));
  };
  return {
      .text =
          change.to == policy::policyForAnyCheckpoint().name
              ? text(tr(/*id:policy-follows-untrained*/
                        "%1 is not trained for block attention, so Spanscope changed the reuse policy from "
                        "%2 to %3. With %2, answers of this model may be less accurate."))
              : text(tr(/*id:policy-follows-trained*/
                        "%1 is trained for block attention, so Spanscope changed the reuse policy from %2 "
                        "to %3.")),
      .answers = {RestorePolicy, KeepPolicy}};
}

QString answerText(NoticeAnswer answer) {
  switch (answer) {
    case NoticeAnswer::Reload:
      return tr(/*id:reload-file*/ "Reload file");
    case NoticeAnswer::Compare:
      return tr(/*id:compare-versions*/ "Compare versions…");
    case NoticeAnswer::Keep:
      return tr(/*id:keep-my-version*/ "Keep my version");
    case NoticeAnswer::Save:
      return tr(/*id:save-file-again*/ "Save file again");
    case NoticeAnswer::SaveAs:
      return tr("Save as…");
    case NoticeAnswer::RestorePolicy:
      return tr("Restore policy");
    case NoticeAnswer::CopyAddress:
      return tr("Copy address");
    case NoticeAnswer::Dismiss:
    case NoticeAnswer::KeepPolicy:
      return tr("OK");
  }
  return {};
}

DocumentFiles::DocumentFiles(const QString& directory, QObject* parent)
    : QObject(parent), m_presence(directory) {
  connect(&m_watch, &FileWatch::changed, this, &DocumentFiles::changed);
  connect(&m_presence, &FilePresence::changed, this, &DocumentFiles::changed);
}

void DocumentFiles::add(std::uint32_t id, const DocumentModel& model, FileStamp read) {
  m_entries[id] = {.model = &model, .path = model.filePath(), .reported = {}};
  m_watch.watch(id, model.filePath(), std::move(read));
  m_presence.enter(id, model.filePath());
  connect(&model, &DocumentModel::stateChanged, this, [this, id] { follow(id); });
}

void DocumentFiles::remove(std::uint32_t id) {
  const auto found = m_entries.find(id);
  if (found == m_entries.end()) return;
  found->second.model->disconnect(this);
  m_entries.erase(found);
  m_watch.forget(id);
  m_presence.leave(id);
}

void DocumentFiles::follow(std::uint32_t id) {
  Entry& entry = m_entries.at(id);
  const QString path = entry.model->filePath();
  if (path == entry.path) return;
  entry.path = path;
  entry.reported.clear();
  m_watch.watch(id, path, stampOf(path));
  m_presence.enter(id, path);
  Q_EMIT changed(id);
}

void DocumentFiles::accept(std::uint32_t id) {
  m_watch.look(id);
  m_watch.accept(id);
  Q_EMIT changed(id);
}

void DocumentFiles::accept(std::uint32_t id, FileStamp read) {
  m_watch.accept(id, std::move(read));
  m_watch.look(id);
  Q_EMIT changed(id);
}

void DocumentFiles::dismiss(std::uint32_t id) {
  const auto found = m_entries.find(id);
  if (found == m_entries.end()) return;
  found->second.reported = m_presence.others(id);
  Q_EMIT changed(id);
}

void DocumentFiles::look() {
  m_watch.look();
  m_presence.look();
}

FileSituation DocumentFiles::situation(std::uint32_t id) const {
  FileSituation situation;
  const auto found = m_entries.find(id);
  if (found == m_entries.end() || found->second.path.isEmpty()) return situation;
  const Entry& entry = found->second;
  situation.name = QFileInfo(entry.path).fileName();
  situation.isModified = entry.model->isModified();
  situation.isChanged = m_watch.isChanged(id);
  situation.isGone = m_watch.isGone(id);
  const std::vector<qint64>& others = m_presence.others(id);
  std::set_difference(others.begin(), others.end(), entry.reported.begin(), entry.reported.end(),
                      std::back_inserter(situation.others));
  return situation;
}

namespace {

/// The content of a file, written like the documents of the window, so that the user can compare the two. If
/// the file is not a document, its text.
QString textOfFile(const QString& path) {
  const document::OpenedDocument opened = openDocument(path);
  if (opened.document) return QString::fromStdString(document::writeDocument(*opened.document));
  constexpr qint64 kMostBytes = 4 << 20;
  QFile file(path);
  return file.open(QIODevice::ReadOnly) ? QString::fromUtf8(file.read(kMostBytes)) : QString();
}

/// The parts of a document that are lost when it is saved as a chat.
QStringList lostOf(const query::RewrittenChat& chat) {
  QStringList texts;
  for (const query::Diagnostic& part : chat.lost) {
    texts += QCoreApplication::translate("DocumentSaver", "line %1: %2")
                 .arg(QString::number(part.position.line), QString::fromStdString(part.found));
  }
  return texts;
}

/// The first parts, one per line.
QString listed(const QStringList& parts) {
  constexpr qsizetype kMost = 8;
  QStringList lines;
  for (const QString& part : parts.first(std::min(kMost, parts.size()))) lines += QStringLiteral("• ") + part;
  if (parts.size() > kMost)
    lines += QCoreApplication::translate("DocumentSaver", "and %1 more").arg(parts.size() - kMost);
  return lines.join(QLatin1Char('\n'));
}

}  // namespace

QString diagnosticsText(const std::vector<query::Diagnostic>& diagnostics, const QString& file) {
  constexpr std::size_t kMost = 8;
  // Errors come first, because the list may be cut.
  std::vector<query::Diagnostic> sorted = diagnostics;
  std::stable_partition(sorted.begin(), sorted.end(), [](const query::Diagnostic& diagnostic) {
    return diagnostic.severity == Severity::Error;
  });
  QStringList lines;
  for (const query::Diagnostic& diagnostic : sorted) {
    if (static_cast<std::size_t>(lines.size()) == kMost) {
      lines << QStringLiteral("…");
      break;
    }
    lines << QString::fromStdString(diagnostic.located(file.toStdString()));
  }
  return lines.join(QLatin1Char('\n'));
}

QString chosenSavePath(QWidget* parent, const QString& title, const QString& proposed,
                       const QString& filters) {
  const QFileInfo file(proposed);
  const bool isFolder = proposed.isEmpty() || file.isDir();
  QFileDialog dialog(parent, title, isFolder ? proposed : file.path(), filters);
  dialog.setAcceptMode(QFileDialog::AcceptSave);
  dialog.setFileMode(QFileDialog::AnyFile);
  const auto useEnding = [&dialog](const QString& filter) {
    const QRegularExpressionMatch ending = QRegularExpression(QStringLiteral("\\*\\.(\\w+)")).match(filter);
    if (ending.hasMatch()) dialog.setDefaultSuffix(ending.captured(1));
  };
  useEnding(dialog.selectedNameFilter());
  QObject::connect(&dialog, &QFileDialog::filterSelected, &dialog, useEnding);
  if (!isFolder) dialog.selectFile(file.fileName());
  if (dialog.exec() != QDialog::Accepted || dialog.selectedFiles().isEmpty()) return {};
  return dialog.selectedFiles().constFirst();
}

DocumentSaver::DocumentSaver(const WindowParts& parts)
    : m_parts(parts), m_files(parts.autosaveDirectory + QStringLiteral("/open")) {
  connect(&m_files, &DocumentFiles::changed, this, &DocumentSaver::changed);
}

DocumentSaver::~DocumentSaver() {
  m_files.disconnect(this);
}

void DocumentSaver::watch(OpenDocument& document, FileStamp read) {
  auto autosave = std::make_unique<Autosave>(*document.model, m_parts.autosaveDirectory);
  connect(autosave.get(), &Autosave::failed, this,
          [this](const Error& error) { m_parts.status.say(QString::fromStdString(error.message())); });
  m_autosaves[document.id] = std::move(autosave);
  connect(&UnreadText::of(*document.model), &UnreadText::changed, this, [this] {
    m_parts.status.forgetComplaint();
    m_parts.status.countSoon();
  });
  m_files.add(document.id, *document.model, std::move(read));
}

void DocumentSaver::forget(const OpenDocument& document) {
  m_files.remove(document.id);
  m_autosaves.erase(document.id);
}

Autosave* DocumentSaver::autosave(const OpenDocument& document) const {
  const auto autosave = m_autosaves.find(document.id);
  return autosave == m_autosaves.end() ? nullptr : autosave->second.get();
}

void DocumentSaver::discardAutosaves() {
  for (auto& [id, autosave] : m_autosaves) autosave->discard();
}

bool DocumentSaver::save(OpenDocument& document, bool askForPath) {
  DocumentModel& model = *document.model;
  if (!settleTyped(document, tr("Save"))) return false;
  QString path = model.filePath();
  if (askForPath || path.isEmpty()) {
    const QString proposed =
        (m_parts.lastFolder.isEmpty() ? QString() : m_parts.lastFolder + QLatin1Char('/')) +
        QFileInfo(model.title()).completeBaseName() + QStringLiteral(".span");
    path = chosenSavePath(&m_parts.window, tr("Save as"), path.isEmpty() ? proposed : path,
                          tr("Query files (*.span);;Plain query, JSON (*.json);;Plain query, YAML "
                             "(*.yaml *.yml);;Plain query, Lisp (*.lisp)"));
    if (path.isEmpty()) return false;
  }
  if (path == model.filePath()) {
    m_files.look();
    const FileSituation situation = m_files.situation(document.id);
    if (!model.isModified() && !situation.isChanged && !situation.isGone) {
      m_parts.status.say(tr("%1 has no changes to save.").arg(model.title()));
      return true;
    }
    switch (maySaveOver(document)) {
      case SaveOver::Yes:
        break;
      case SaveOver::SaveAs:
        return save(document, true);
      case SaveOver::No:
        return false;
    }
  }
  path = pathWithoutLoss(document, path);
  if (path.isEmpty()) return false;
  QString trouble = whyNotWritable(path);
  if (trouble.isEmpty()) {
    if (const std::optional<Error> error = saveDocument(path, model.document(), UnreadText::of(model).file()))
      trouble = QString::fromStdString(error->message());
  }
  if (!trouble.isEmpty()) {
    // The autosave is written before the question, so that no change is lost.
    if (Autosave* own = autosave(document)) own->writeNow();
    QMessageBox box(QMessageBox::Warning, tr("Save"), tr("%1 was not saved.").arg(QFileInfo(path).fileName()),
                    QMessageBox::Cancel, &m_parts.window);
    box.setInformativeText(tr("%1 Save the query under another name or in another folder.").arg(trouble));
    QPushButton* saveAs = box.addButton(tr("Save as…"), QMessageBox::AcceptRole);
    box.setDefaultButton(saveAs);
    box.exec();
    return box.clickedButton() == saveAs && save(document, true);
  }
  const bool isFirst = model.filePath().isEmpty();
  model.setFilePath(QFileInfo(path).absoluteFilePath());
  model.markSaved();
  if (isFirst) m_parts.workspace.traces().nameRuns(document);
  UnreadText& unread = UnreadText::of(model);
  const qsizetype apart = savedForm(path, unread.file()) ? 0 : unread.leftOutOfFile().size();
  if (chatText(path, model.document(), unread.file()))
    unread.noteSavedAsChat(model.filePath(), openDocument(path).diagnostics);
  else
    unread.noteSaved(model.filePath(), savedForm(path, unread.file()));
  m_files.accept(document.id);
  Q_EMIT fileUsed(model.filePath());
  m_parts.status.say(
      apart == 0 ? tr("Saved %1").arg(model.title())
      : apart == 1
          ? tr("Saved %1. One part of the opened file was not saved.").arg(model.title())
          : tr("Saved %1. %2 parts of the opened file were not saved.").arg(model.title()).arg(apart));
  return true;
}

QString DocumentSaver::pathWithoutLoss(OpenDocument& document, const QString& path) {
  DocumentModel& model = *document.model;
  const QFileInfo file(path);
  const QueryFile* opened = UnreadText::of(model).file();
  const bool isDocument = !savedForm(path, opened);
  QStringList lost = isDocument ? QStringList() : lostWhenSavedAsQuery(model.document());
  const std::optional<query::RewrittenChat> kept = chatText(path, model.document(), opened);
  if (opened != nullptr && opened->chat != query::ChatForm::None && !isDocument && !kept) {
    lost += opened->chat == query::ChatForm::Request
                ? tr("the chat request (Spanscope saves a query instead)")
                : tr("the list of chat messages (Spanscope saves a query instead)");
  }
  // Saving to another document removes nothing, because the opened file stays as it is.
  const bool isOwnFile = path == model.filePath();
  const QStringList removed = kept                       ? lostOf(*kept)
                              : isOwnFile || !isDocument ? UnreadText::of(model).leftOutOfFile()
                                                         : QStringList();
  if (lost.isEmpty() && removed.isEmpty()) return path;

  QMessageBox box(QMessageBox::Question, tr("Save"),
                  removed.isEmpty() ? tr("%1 stores only the query. A query file (.span) also stores the "
                                         "positions of the nodes and the settings.")
                                          .arg(file.fileName())
                  : isOwnFile ? tr("Saving to %1 removes the parts of the file that the query does not have.")
                                    .arg(file.fileName())
                              : tr("%1 will not contain all parts of the opened file.").arg(file.fileName()),
                  QMessageBox::Cancel, &m_parts.window);
  QStringList paragraphs;
  if (!removed.isEmpty()) paragraphs += listed(removed);
  if (!lost.isEmpty())
    paragraphs += tr("The file will not contain: %1.").arg(lost.join(QStringLiteral(", ")));
  box.setInformativeText(paragraphs.join(QStringLiteral("\n\n")));
  QPushButton* elsewhere =
      box.addButton(isDocument ? tr("Save as…") : tr("Save as .span"), QMessageBox::AcceptRole);
  const QPushButton* anyway =
      box.addButton(removed.isEmpty() ? tr("Save query only") : tr(/*id:overwrite-file*/ "Overwrite file"),
                    QMessageBox::DestructiveRole);
  box.setDefaultButton(elsewhere);
  box.exec();
  if (box.clickedButton() == anyway) return path;
  if (box.clickedButton() != elsewhere) return {};
  QString other = path;
  if (!file.suffix().isEmpty()) other.chop(file.suffix().size() + 1);
  other += QStringLiteral(".span");
  if (isDocument || QFileInfo::exists(other)) {
    other = chosenSavePath(&m_parts.window, tr("Save as"), other, tr("Query files (*.span)"));
  }
  // The user may have chosen the same name or another query file.
  return other.isEmpty() || other == path ? other : pathWithoutLoss(document, other);
}

bool DocumentSaver::settleTyped(OpenDocument& document, const QString& title) {
  UnreadText& unread = UnreadText::of(*document.model);
  unread.settle();
  if (!unread.typed()) return true;
  QMessageBox box(QMessageBox::Warning, title,
                  tr("The JSON dock has text of %1 that is not a query.").arg(document.model->title()),
                  QMessageBox::Cancel, &m_parts.window);
  box.setInformativeText(unread.refusal());
  QPushButton* show = box.addButton(tr("Show text"), QMessageBox::AcceptRole);
  const QPushButton* discard = box.addButton(tr("Discard text"), QMessageBox::DestructiveRole);
  box.setDefaultButton(show);
  box.exec();
  if (box.clickedButton() == show) Q_EMIT commandWanted(QStringLiteral("view.dock:json"));
  if (box.clickedButton() != discard) return false;
  unread.discardTyped();
  return true;
}

void DocumentSaver::noteUnread(OpenDocument& document, const OpenedFile& file) {
  UnreadText& unread = UnreadText::of(*document.model);
  unread.noteFile(file.diagnostics, file.file);
  const qsizetype count = unread.leftOutOfFile().size();
  if (count == 0) return;
  m_parts.status.say(count == 1
                         ? tr("Spanscope cannot keep one part of %1. The Problems dock lists this part.")
                               .arg(document.model->title())
                         : tr("Spanscope cannot keep %1 parts of %2. The Problems dock lists these parts.")
                               .arg(QString::number(count), document.model->title()));
}

bool DocumentSaver::mayClose(OpenDocument& document) {
  if (!document.source->takesRuns() || !document.model->isModified()) return true;
  m_parts.workspace.setCurrent(&document);
  m_parts.pages.showDocuments();
  QMessageBox box(QMessageBox::Question, tr("Close"),
                  tr("Save the changes to %1?").arg(document.model->title()),
                  QMessageBox::Save | QMessageBox::Discard | QMessageBox::Cancel, &m_parts.window);
  switch (box.exec()) {
    case QMessageBox::Save:
      return save(document, false);
    case QMessageBox::Discard:
      return true;
    default:
      return false;
  }
}

DocumentSaver::SaveOver DocumentSaver::maySaveOver(OpenDocument& document) {
  m_files.look();
  const FileSituation situation = m_files.situation(document.id);
  if (!situation.isChanged || situation.isGone) return SaveOver::Yes;
  for (;;) {
    QMessageBox box(QMessageBox::Warning, tr("Save"),
                    tr("Another program changed %1 after you opened it.").arg(situation.name),
                    QMessageBox::Cancel, &m_parts.window);
    box.setInformativeText(tr("If you save, you overwrite the changes of the other program."));
    const QPushButton* compare =
        box.addButton(tr(/*id:compare-before-saving*/ "Compare versions…"), QMessageBox::ActionRole);
    const QPushButton* over =
        box.addButton(tr(/*id:overwrite-changed-file*/ "Overwrite file"), QMessageBox::DestructiveRole);
    QPushButton* saveAs = box.addButton(tr("Save as…"), QMessageBox::AcceptRole);
    box.setDefaultButton(saveAs);
    box.exec();
    if (box.clickedButton() == over) return SaveOver::Yes;
    if (box.clickedButton() == saveAs) return SaveOver::SaveAs;
    if (box.clickedButton() != compare) return SaveOver::No;
    compareWithFile(document);
  }
}

void DocumentSaver::answer(NoticeAnswer answer) {
  OpenDocument* current = m_parts.workspace.current();
  if (current == nullptr) return;
  switch (answer) {
    case NoticeAnswer::Reload:
      reload(*current);
      break;
    case NoticeAnswer::Compare:
      compareWithFile(*current);
      break;
    case NoticeAnswer::Keep:
      m_files.accept(current->id);
      current->model->markUnsaved();
      break;
    case NoticeAnswer::Save:
      save(*current, false);
      break;
    case NoticeAnswer::SaveAs:
      save(*current, true);
      break;
    case NoticeAnswer::Dismiss:
      m_files.dismiss(current->id);
      break;
    case NoticeAnswer::RestorePolicy:
    case NoticeAnswer::KeepPolicy:
    case NoticeAnswer::CopyAddress:
      return;  // the window handles these answers
  }
  Q_EMIT changed();
}

void DocumentSaver::reload(OpenDocument& document) {
  DocumentModel& model = *document.model;
  FileStamp stamp = stampOf(model.filePath());
  const OpenedFile opened = openDocument(model.filePath());
  if (!opened.document) {
    QMessageBox box(QMessageBox::Warning, tr("Reload"),
                    tr("%1 cannot be read. Your query is unchanged.").arg(model.title()), QMessageBox::Ok,
                    &m_parts.window);
    box.setInformativeText(diagnosticsText(opened.diagnostics, model.title()));
    box.exec();
    return;
  }
  const bool hasOtherSettings = opened.document->settings != model.document().settings;
  // Reloading is a change, so that the user can undo it.
  model.change(tr("Reload"), [&opened](document::Document& changed) { changed = *opened.document; });
  model.markSaved();
  m_files.accept(document.id, std::move(stamp));
  noteUnread(document, opened);
  m_parts.status.say(
      hasOtherSettings
          ? tr("Reloaded %1. Undo restores the previous query. Undo setting restores the previous settings.")
                .arg(model.title())
          : tr("Reloaded %1. Undo restores the previous state.").arg(model.title()));
}

void DocumentSaver::compareWithFile(const OpenDocument& document) {
  const DocumentModel& model = *document.model;
  DifferenceDialog(tr("Compare %1").arg(model.title()),
                   tr("Lines with − are in the file of the other program. Lines with + are in your query."),
                   textOfFile(model.filePath()),
                   QString::fromStdString(document::writeDocument(model.document())),
                   m_parts.workspace.input().theme, &m_parts.window)
      .exec();
}

}  // namespace spanscope::ui
