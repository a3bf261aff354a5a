// SPDX-License-Identifier: GPL-3.0-or-later
#include "tests/support/golden_picture.h"

#include "tests/support/picture_compare.h"

#include <QDir>
#include <QFileInfo>

namespace spanscope::test {
namespace {

/// What became of the pictures that show a difference, for the end of a message.
QString saveDifference(const QImage& expected, const QImage& found, const PictureComparison& comparison,
                       const QString& name) {
  const QString folder = qEnvironmentVariable("SPANSCOPE_PICTURE_DIFFERENCES");
  if (folder.isEmpty()) return QStringLiteral("SPANSCOPE_PICTURE_DIFFERENCES=FOLDER shows where");
  const QString path = QDir(folder).filePath(name);
  bool isSaved = QDir().mkpath(folder) && found.save(path + QStringLiteral("-found.png"));
  if (comparison.expected == comparison.found) {
    isSaved = isSaved &&
              differencePicture(expected, found, comparison).save(path + QStringLiteral("-difference.png"));
  }
  return isSaved ? QStringLiteral("see %1-*.png").arg(path)
                 : QStringLiteral("%1 cannot be written").arg(folder);
}

}  // namespace

QString goldenProblem(const QImage& found, const QString& golden) {
  if (!qEnvironmentVariableIsEmpty("SPANSCOPE_WRITE_GOLDEN")) {
    const bool isWritten = QDir().mkpath(QFileInfo(golden).path()) && found.save(golden);
    return isWritten ? QString() : QStringLiteral("%1 cannot be written").arg(golden);
  }
  const QImage expected(golden);
  if (expected.isNull()) {
    return QStringLiteral("%1 is no picture; SPANSCOPE_WRITE_GOLDEN=1 makes it").arg(golden);
  }
  const PictureComparison comparison = comparePictures(expected, found);
  if (comparison.areAlike()) return {};
  const QString name = QFileInfo(golden).completeBaseName();
  return QStringLiteral("%1 %2; %3")
      .arg(name, comparisonText(comparison), saveDifference(expected, found, comparison, name));
}

}  // namespace spanscope::test
