// SPDX-License-Identifier: GPL-3.0-or-later
#include "tests/app/cli/console_examples.h"

#include <QProcess>
#include <QRegularExpression>

#include <algorithm>
#include <utility>

namespace spanscope::test {
namespace {

const QString kAny = QStringLiteral("…");

/// What is the machine's, out of the way: times, rates, the device; and the width of columns with it.
QString comparable(QString line) {
  static const QRegularExpression decimal(QStringLiteral("\\d+\\.\\d+"));
  static const QRegularExpression device(QStringLiteral("(on \\w+), .* threads?$"));
  static const QRegularExpression blanks(QStringLiteral("\\s+"));
  line.replace(device, QStringLiteral("\\1"));
  line.replace(decimal, QStringLiteral("#"));
  return line.replace(blanks, QStringLiteral(" ")).trimmed();
}

bool fits(const QString& shown, const QString& written) {
  if (!shown.endsWith(kAny)) return comparable(shown) == comparable(written);
  return comparable(written).startsWith(comparable(shown.chopped(kAny.size())));
}

ConsoleExample commandOf(const QString& text) {
  ConsoleExample example;
  QStringList words = QProcess::splitCommand(text);
  const auto redirection = std::find_if(words.begin(), words.end(), [](const QString& word) {
    return word.startsWith(QLatin1Char('>')) || word == QLatin1String("|");
  });
  example.isQuiet = redirection != words.end() && *redirection == QLatin1String(">/dev/null");
  example.isWhole = redirection == words.end() || example.isQuiet;
  words.erase(redirection, words.end());
  example.command = words;
  return example;
}

}  // namespace

ExamplePage examplesIn(const QString& markdown) {
  ExamplePage page;
  QString fence;
  int number = 0;
  for (const QString& line : markdown.split(QLatin1Char('\n'))) {
    ++number;
    if (line.startsWith(QLatin1String("```"))) {
      fence = fence.isEmpty() ? line.mid(3) + QLatin1Char(' ') : QString();
      const QString name = fence.section(QStringLiteral(" file="), 1).trimmed();
      if (!name.isEmpty()) page.files.push_back({name, {}});
      continue;
    }
    if (fence.contains(QLatin1String(" file="))) {
      page.files.back().text += line + QLatin1Char('\n');
    } else if (fence.startsWith(QLatin1String("console "))) {
      if (line.startsWith(QLatin1String("$ "))) {
        ConsoleExample example = commandOf(line.mid(2));
        example.line = number;
        if (fence.contains(QLatin1String("no-test"))) example.isRun = false;
        example.exitCode = fence.section(QStringLiteral(" exit="), 1).trimmed().toInt();
        page.examples.push_back(std::move(example));
      } else if (!page.examples.empty()) {
        page.examples.back().output.append(line);
      }
    }
  }
  return page;
}

QString differenceOf(const QStringList& shown, const QStringList& written) {
  qsizetype at = 0;
  bool skips = false;
  for (const QString& line : shown) {
    if (line.trimmed() == kAny) {
      skips = true;
      continue;
    }
    if (skips) {
      while (at < written.size() && !fits(line, written[at])) ++at;
      skips = false;
    }
    if (at == written.size()) return QStringLiteral("there is no line “%1”").arg(line);
    if (!fits(line, written[at]))
      return QStringLiteral("shown is “%1”, written was “%2”").arg(line, written[at]);
    ++at;
  }
  if (!skips && at < written.size()) return QStringLiteral("“%1” is not shown").arg(written[at]);
  return {};
}

}  // namespace spanscope::test
