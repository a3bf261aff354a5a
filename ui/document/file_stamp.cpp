// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/document/file_stamp.h"

#include "engine/query/parse_result.h"

#include <QCryptographicHash>
#include <QDateTime>
#include <QFile>
#include <QFileInfo>

namespace spanscope::ui {

FileStamp stampOf(const QString& path) {
  const QFileInfo info(path);
  if (!info.isFile()) return {};
  constexpr auto kMostBytes = static_cast<qint64>(query::ParseLimits{}.maxBytes);
  if (info.size() > kMostBytes) {
    return {.exists = true,
            .content = QByteArray::number(info.size()) + ' ' +
                       QByteArray::number(info.lastModified().toMSecsSinceEpoch())};
  }
  QFile file(path);
  if (!file.open(QIODevice::ReadOnly)) return {};
  QCryptographicHash hash(QCryptographicHash::Sha256);
  if (!hash.addData(&file)) return {};
  return {.exists = true, .content = hash.result()};
}

}  // namespace spanscope::ui
