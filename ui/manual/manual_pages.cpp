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

namespace {

bool isFence(const QString& line) {
  return line.trimmed().startsWith(QLatin1String("```"));
}

/// A link or a picture; its text is the first group.
const QRegularExpression& link() {
  static const QRegularExpression expression(QStringLiteral("!?\\[([^\\]]*)\\]\\([^)]*\\)"));
  return expression;
}

/// Emphasis may begin on one line and end on another: each mark is taken by itself.
QString withoutMarks(QString text) {
  static const QRegularExpression mark(
      QStringLiteral("\\*\\*|(?<![\\w*])[*_](?=\\w)|(?<=[\\w.…])[*_](?![\\w*])"));
  return text.replace(link(), QStringLiteral("\\1")).remove(mark);
}

bool holdsAll(const QString& text, const QStringList& words) {
  return std::all_of(words.begin(), words.end(),
                     [&text](const QString& word) { return text.contains(word, Qt::CaseInsensitive); });
}

enum class Kind { Prose, Heading, Code };

struct Text {
  Kind kind = Kind::Prose;
  QString markdown;
};

/// Joins the lines of a paragraph or a list item. Headings, table rows and lines of code stay alone.
std::vector<Text> textsOf(const QStringList& lines) {
  static const QRegularExpression item(QStringLiteral("^\\s*([-*]|\\d+\\.)\\s"));
  std::vector<Text> texts;
  bool code = false;
  bool goesOn = false;  // the next line of prose continues the last text
  for (const QString& line : lines) {
    const bool isHeading = line.startsWith(QLatin1Char('#'));
    const bool isRow = line.startsWith(QLatin1Char('|'));
    if (isFence(line)) {
      code = !code;
      goesOn = false;
    } else if (code) {
      texts.push_back({.kind = Kind::Code, .markdown = line});
    } else if (line.trimmed().isEmpty()) {
      goesOn = false;
    } else if (goesOn && !isHeading && !isRow && !item.match(line).hasMatch()) {
      texts.back().markdown += QLatin1Char(' ') + line.trimmed();
    } else {
      texts.push_back({.kind = isHeading ? Kind::Heading : Kind::Prose, .markdown = line});
      goesOn = !isHeading && !isRow;
    }
  }
  return texts;
}

}  // namespace

QStringList searchWords(const QString& typed) {
  return typed.split(QLatin1Char(' '), Qt::SkipEmptyParts);
}

QString shownLine(const QString& markdown) {
  static const QRegularExpression start(QStringLiteral("^\\s*(#{1,6}\\s+|[-*]\\s+|\\d+\\.\\s+|>\\s*)"));
  static const QRegularExpression rule(QStringLiteral("^\\s*\\|?[\\s:|-]+\\|?\\s*$"));
  if (rule.match(markdown).hasMatch()) return {};
  QString text = markdown;
  text.remove(start);
  // What stands between backticks is shown as it is.
  QStringList parts = text.split(QLatin1Char('`'));
  for (qsizetype i = 0; i < parts.size(); i += 2) parts[i] = withoutMarks(parts[i]);
  text = parts.join(QString()).replace(link(), QStringLiteral("\\1"));
  const QString bar(QLatin1Char('\x1f'));  // one that separates no cells
  text.replace(QStringLiteral("\\|"), bar);
  if (text.startsWith(QLatin1Char('|'))) {
    QStringList cells;
    for (const QString& cell : text.split(QLatin1Char('|'))) {
      if (!cell.trimmed().isEmpty()) cells += cell.trimmed();
    }
    text = cells.join(QStringLiteral("  "));
  }
  return text.replace(bar, QStringLiteral("|")).trimmed();
}

std::vector<ManualHit> searchManual(const std::vector<ManualPage>& pages, const QString& typed) {
  const QStringList words = searchWords(typed);
  const QString phrase = words.join(QLatin1Char(' '));
  std::vector<ManualHit> headings;
  std::vector<ManualHit> phrases;
  std::vector<ManualHit> others;
  if (words.isEmpty()) return headings;
  for (std::size_t page = 0; page < pages.size(); ++page) {
    QString heading;
    for (const Text& text : textsOf(pages[page].lines)) {
      const QString shown = text.kind == Kind::Code ? text.markdown.trimmed() : shownLine(text.markdown);
      if (text.kind == Kind::Heading) heading = shown;
      if (shown.isEmpty() || !holdsAll(shown, words)) continue;
      auto& list = text.kind == Kind::Heading                    ? headings
                   : shown.contains(phrase, Qt::CaseInsensitive) ? phrases
                                                                 : others;
      list.push_back({.page = page, .heading = heading, .text = shown});
    }
  }
  headings.insert(headings.end(), phrases.begin(), phrases.end());
  headings.insert(headings.end(), others.begin(), others.end());
  return headings;
}

QString excerptOf(const QString& text, const QStringList& words, qsizetype length) {
  if (text.size() <= length) return text;
  qsizetype first = text.size();
  for (const QString& word : words) {
    if (const qsizetype at = text.indexOf(word, 0, Qt::CaseInsensitive); at >= 0) first = std::min(first, at);
  }
  qsizetype begin = std::clamp<qsizetype>(first - length / 3, 0, text.size() - length);
  // Begin with a whole word.
  if (begin > 0) begin = std::min(text.indexOf(QLatin1Char(' '), begin) + 1, first);
  const QString part = text.mid(begin, length).trimmed();
  return (begin > 0 ? QStringLiteral("…") : QString()) + part +
         (begin + length < text.size() ? QStringLiteral("…") : QString());
}

QString withBoldWords(const QString& text, const QStringList& words) {
  QStringList patterns;
  for (const QString& word : words) patterns += QRegularExpression::escape(word);
  if (patterns.isEmpty()) return text.toHtmlEscaped();
  const QRegularExpression any(patterns.join(QLatin1Char('|')), QRegularExpression::CaseInsensitiveOption);
  QString html;
  qsizetype from = 0;
  for (auto found = any.globalMatch(text); found.hasNext();) {
    const QRegularExpressionMatch match = found.next();
    html += text.mid(from, match.capturedStart() - from).toHtmlEscaped() + QStringLiteral("<b>") +
            match.captured().toHtmlEscaped() + QStringLiteral("</b>");
    from = match.capturedEnd();
  }
  return html + text.mid(from).toHtmlEscaped();
}

}  // namespace spanscope::ui
