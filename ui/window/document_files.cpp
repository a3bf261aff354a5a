// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/window/document_files.h"

#include "ui/words/tr.h"

#include <QFileInfo>
#include <QStringList>

#include <algorithm>
#include <iterator>
#include <utility>

namespace spanscope::ui {

FileNotice noticeOf(const FileSituation& situation) {
  using enum FileAnswer;
  if (situation.isGone) {
    return {
        .text = tr("Another program removed or renamed %1. Your document is still open.").arg(situation.name),
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

QString answerText(FileAnswer answer) {
  switch (answer) {
    case FileAnswer::Reload:
      return tr(/*id:reload-file*/ "Reload file");
    case FileAnswer::Compare:
      return tr(/*id:compare-versions*/ "Compare versions…");
    case FileAnswer::Keep:
      return tr(/*id:keep-my-version*/ "Keep my version");
    case FileAnswer::Save:
      return tr(/*id:save-file-again*/ "Save file again");
    case FileAnswer::SaveAs:
      return tr("Save as…");
    case FileAnswer::Dismiss:
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

}  // namespace spanscope::ui
