// SPDX-License-Identifier: GPL-3.0-or-later
#include "tests/support/product_text.h"

#include <QDirIterator>
#include <QFile>
#include <QHash>
#include <QIODevice>
#include <QRegularExpression>
#include <QStringLiteral>

#include <algorithm>

namespace spanscope::product_text {
namespace {

const QString kTree = QStringLiteral(SPANSCOPE_SOURCE_DIR "/");

QString unescaped(const QString& literal) {
  static const QRegularExpression escape(QStringLiteral("\\\\(?:x([0-9a-fA-F]{1,2})|(.))"));
  QByteArray bytes;
  qsizetype end = 0;
  for (auto found = escape.globalMatch(literal); found.hasNext();) {
    const QRegularExpressionMatch match = found.next();
    bytes += literal.mid(end, match.capturedStart() - end).toUtf8();
    end = match.capturedEnd();
    const QString byte = match.captured(1);
    const QString sign = match.captured(2);
    if (!byte.isEmpty())
      bytes += static_cast<char>(byte.toInt(nullptr, 16));
    else
      bytes += sign == QLatin1String("n") ? "\n" : sign == QLatin1String("t") ? "\t" : sign.toUtf8();
  }
  return QString::fromUtf8(bytes + literal.mid(end).toUtf8());
}

const QHash<QString, QString>& textsById() {
  static const QHash<QString, QString> texts = [] {
    QHash<QString, QString> found;
    for (const char* folder : {"app", "engine", "kernels", "ui"}) {
      for (const QString& path : sourceFiles(QString::fromLatin1(folder))) {
        const QString code = sourceText(path);
        if (!code.contains(QLatin1String("/*id:"))) continue;
        for (const Literal& literal : literalsOf(code)) {
          if (!literal.id.isEmpty()) found.insert(literal.id, literal.text.trimmed());
        }
      }
    }
    return found;
  }();
  return texts;
}

/// Calls `text` and `place` for the texts between the places of a form, and for each place: "%1", "%n" and
/// the first "{}" are 0.
template <typename Text, typename Place>
void readForm(const QString& form, const Text& text, const Place& place) {
  static const QRegularExpression mark(QStringLiteral("%L?(\\d|n)|\\{[a-z]*(?::[^}\"]*)?\\}"));
  qsizetype end = 0;
  int unnumbered = 0;
  for (auto found = mark.globalMatch(form); found.hasNext();) {
    const QRegularExpressionMatch match = found.next();
    text(form.mid(end, match.capturedStart() - end));
    const QString name = match.captured(1);
    const int index = name.isEmpty() ? unnumbered++ : name == QLatin1String("n") ? 0 : name.toInt() - 1;
    place(index, match.captured());
    end = match.capturedEnd();
  }
  text(form.mid(end));
}

/// Calls `plain` for the texts between references, and `reference` with the text and its arguments.
template <typename Plain, typename Reference>
void readPattern(const QString& pattern, const Plain& plain, const Reference& reference) {
  static const QRegularExpression mark(QStringLiteral("<([a-z0-9][a-z0-9-]*)((?:\\|[^|<>]*)*)>"));
  qsizetype end = 0;
  for (auto found = mark.globalMatch(pattern); found.hasNext();) {
    const QRegularExpressionMatch match = found.next();
    const auto text = textsById().constFind(match.captured(1));
    if (text == textsById().constEnd()) continue;
    plain(pattern.mid(end, match.capturedStart() - end));
    reference(*text, match.captured(2).split(QLatin1Char('|')).mid(1));
    end = match.capturedEnd();
  }
  plain(pattern.mid(end));
}

/// The name before "(" if the "(" is directly before a place in code.
QString callBefore(const QString& code, qsizetype at) {
  qsizetype open = at;
  while (open > 0 && code[open - 1].isSpace()) --open;
  if (open == 0 || code[open - 1] != QLatin1Char('(')) return {};
  qsizetype begin = --open;
  while (begin > 0 && (code[begin - 1].isLetterOrNumber() || code[begin - 1] == QLatin1Char('_'))) --begin;
  return code.mid(begin, open - begin);
}

QRegularExpression expressionOf(const QString& pattern) {
  QString expression;
  const QString any = QStringLiteral(".*");
  const QString dots = QRegularExpression::escape(QStringLiteral("…"));
  const auto add = [&](const QString& plain) {
    expression += QRegularExpression::escape(plain).replace(dots, any);
  };
  readPattern(pattern, add, [&](const QString& form, const QStringList& arguments) {
    readForm(form, add, [&](int index, const QString&) {
      if (index < arguments.size())
        add(arguments[index]);
      else
        expression += any;
    });
  });
  return QRegularExpression(expression, QRegularExpression::DotMatchesEverythingOption);
}

}  // namespace

QList<Literal> literalsOf(const QString& code) {
  // Raw strings, characters and comments are matched too, so that a quote in them begins nothing.
  static const QRegularExpression token(
      QStringLiteral("^[ \\t]*#[ \\t]*include[^\n]*|R\"([^(\\s]*)\\((?<raw>.*?)\\)\\1\""
                     "|(?<![0-9])'(?:[^'\\\\\n]|\\\\.)+'|\"(?<string>(?:[^\"\\\\\n]|\\\\.)*)\""
                     "|//[^\n]*|/\\*(?:id:(?<id>[a-z0-9-]+)\\*/|.*?\\*/)"),
      QRegularExpression::DotMatchesEverythingOption | QRegularExpression::MultilineOption);
  QList<Literal> literals;
  QString id;
  qsizetype end = -1;  // of the last literal, and of comments and spaces after it
  qsizetype counted = 0;
  int line = 1;
  for (auto found = token.globalMatch(code); found.hasNext();) {
    const QRegularExpressionMatch match = found.next();
    const bool isRaw = match.capturedStart(QStringLiteral("raw")) >= 0;
    const bool isString = match.capturedStart(QStringLiteral("string")) >= 0;
    const bool isComment = !isRaw && !isString && match.captured().startsWith(QLatin1Char('/'));
    const bool follows =
        end >= 0 && QStringView(code).mid(end, match.capturedStart() - end).trimmed().isEmpty();
    if (match.capturedStart(QStringLiteral("id")) >= 0) id = match.captured(QStringLiteral("id"));
    if (isComment) {
      if (follows) end = match.capturedEnd();
      continue;
    }
    if (!isRaw && !isString) {
      end = -1;
      continue;
    }
    const QString text =
        isRaw ? match.captured(QStringLiteral("raw")) : unescaped(match.captured(QStringLiteral("string")));
    line += static_cast<int>(QStringView(code).mid(counted, match.capturedStart() - counted).count(u'\n'));
    counted = match.capturedStart();
    if (follows && id.isEmpty())
      literals.last().text += text;
    else
      literals.append({id, text, callBefore(code, match.capturedStart()), line});
    id.clear();
    end = match.capturedEnd();
  }
  return literals;
}

QStringList sourceFiles(const QString& folder) {
  QStringList paths;
  QDirIterator files(kTree + folder, {QStringLiteral("*.h"), QStringLiteral("*.cpp")}, QDir::Files,
                     QDirIterator::Subdirectories);
  while (files.hasNext()) paths += files.next().mid(kTree.size());
  paths.sort();
  return paths;
}

QString sourceText(const QString& path) {
  QFile file(kTree + path);
  return file.open(QIODevice::ReadOnly) ? QString::fromUtf8(file.readAll()) : QString();
}

QString worded(const QString& pattern) {
  QString result;
  const auto add = [&result](const QString& text) { result += text; };
  readPattern(pattern, add, [&](const QString& form, const QStringList& arguments) {
    readForm(form, add, [&](int index, const QString& place) { result += arguments.value(index, place); });
  });
  return result;
}

QString worded(const char* pattern) {
  return worded(QString::fromUtf8(pattern));
}

std::string worded(const std::string& pattern) {
  return worded(QString::fromStdString(pattern)).toStdString();
}

QStringList worded(const QStringList& patterns) {
  QStringList texts;
  for (const QString& pattern : patterns) texts += worded(pattern);
  return texts;
}

bool says(const QString& text, const QString& pattern) {
  return expressionOf(pattern).match(text).hasMatch();
}

bool matches(const QString& text, const QString& pattern) {
  const QRegularExpression expression = expressionOf(pattern);
  return QRegularExpression(QRegularExpression::anchoredPattern(expression.pattern()),
                            expression.patternOptions())
      .match(text)
      .hasMatch();
}

bool says(const QString& text, const char* pattern) {
  return says(text, QString::fromUtf8(pattern));
}

bool says(const std::string& text, const QString& pattern) {
  return says(QString::fromStdString(text), pattern);
}

bool says(const std::string& text, const std::string& pattern) {
  return says(QString::fromStdString(text), QString::fromStdString(pattern));
}

bool says(const std::string& text, const char* pattern) {
  return says(QString::fromStdString(text), QString::fromUtf8(pattern));
}

}  // namespace spanscope::product_text
