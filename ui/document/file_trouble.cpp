// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/document/file_trouble.h"

#include "ui/words/tr.h"

#include <QDir>
#include <QFileInfo>
#include <QStorageInfo>

namespace spanscope::ui {

QString whyNotWritable(const QString& path) {
  const QFileInfo file(path);
  const QString name = file.fileName();
  const QString folder = QDir::toNativeSeparators(file.absolutePath());
  if (file.isDir()) return tr("“%1” is a folder.").arg(name);
  if (!QFileInfo::exists(file.absolutePath())) return tr("The folder %1 is not there any more.").arg(folder);
  // Not WriteUser, which an administrator always has.
  const QFile::Permissions writers = QFile::WriteOwner | QFile::WriteGroup | QFile::WriteOther;
  if (file.exists() && (file.permissions() & writers) == 0)
    return tr("“%1” is read-only: it was protected against changes.").arg(name);
  if (file.exists() && !file.isWritable()) return tr("You have no right to change “%1”.").arg(name);
  if (!QFileInfo(file.absolutePath()).isWritable())
    return tr("You have no right to write into the folder %1.").arg(folder);
  const QStorageInfo storage(file.absolutePath());
  if (storage.isValid() && storage.isReadOnly()) return tr("The drive of %1 is read-only.").arg(folder);
  if (storage.isValid() && storage.bytesAvailable() == 0) return tr("The drive of %1 is full.").arg(folder);
  return {};
}

}  // namespace spanscope::ui
