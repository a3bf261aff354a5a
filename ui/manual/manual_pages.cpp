// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/manual/manual_pages.h"

#include <QDir>
#include <QFile>
#include <QFileInfo>
#include <QRegularExpression>

#include <algorithm>

namespace spanscope::ui {
namespace {

std::optional<QStringList> readLines(const QString& path) {
  QFile file(path);
  if (!file.open(QIODevice::ReadOnly)) return std::nullopt;
  return QString::fromUtf8(file.readAll()).split(QLatin1Char('\n'));
}

}  // namespace

std::vector<ManualPage> readManual(const QString& folder) {
  std::vector<ManualPage> pages;
  const QString index = QString::fromLatin1(kManualIndex);
  const std::optional<QStringList> list = readLines(folder + QLatin1Char('/') + index);
  if (!list) return pages;
  static const QRegularExpression heading(QStringLiteral("^##\\s+(.*\\S)\\s*$"));
  static const QRegularExpression title(QStringLiteral("^#\\s+(.*\\S)\\s*$"));
  static const QRegularExpression link(QStringLiteral("\\[([^\\]]+)\\]\\(([^)#:]+\\.md)\\)"));
  pages.push_back({.path = index, .title = index, .section = {}, .lines = *list});
  QString section;
  for (const QString& line : *list) {
    if (const auto match = title.match(line); match.hasMatch()) pages.front().title = match.captured(1);
    if (const auto match = heading.match(line); match.hasMatch()) section = match.captured(1);
    for (auto found = link.globalMatch(line); found.hasNext();) {
      const QRegularExpressionMatch match = found.next();
      const QString path = resolvedManualPath(index, match.captured(2));
      if (findManualPage(pages, path)) continue;
      if (auto lines = readLines(folder + QLatin1Char('/') + path))
        pages.push_back(
            {.path = path, .title = match.captured(1), .section = section, .lines = std::move(*lines)});
    }
  }
  return pages;
}

std::optional<std::size_t> findManualPage(const std::vector<ManualPage>& pages, const QString& path) {
  const auto found =
      std::find_if(pages.begin(), pages.end(), [&path](const ManualPage& page) { return page.path == path; });
  if (found == pages.end()) return std::nullopt;
  return static_cast<std::size_t>(found - pages.begin());
}

QString manualPageOfDock(const QString& dockId) {
  return QStringLiteral("docks/%1.md").arg(dockId);
}

QString headingAnchor(const QString& heading) {
  QString anchor;
  for (const QChar letter : heading.toLower()) {
    if (letter.isLetterOrNumber() || letter == QLatin1Char('-') || letter == QLatin1Char('_'))
      anchor += letter;
    else if (letter == QLatin1Char(' '))
      anchor += QLatin1Char('-');
  }
  return anchor;
}

QString resolvedManualPath(const QString& page, const QString& link) {
  return QDir::cleanPath(QFileInfo(page).path() + QLatin1Char('/') + link);
}

}  // namespace spanscope::ui
