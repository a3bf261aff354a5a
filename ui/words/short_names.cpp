// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/words/short_names.h"

#include "ui/words/tr.h"

namespace spanscope::ui {
namespace {

/// The short form of a word; empty: the word has none.
QString shortWord(const QString& word) {
  return word == tr("document") ? tr("doc") : QString();
}

}  // namespace

NumberedName splitName(const QString& name) {
  qsizetype digits = 0;
  while (digits < name.size() && name.at(name.size() - 1 - digits).isDigit()) ++digits;
  if (digits == name.size()) return {.family = {}, .number = name};
  return {.family = name.left(name.size() - digits).trimmed(), .number = name.right(digits)};
}

QStringList shortForms(const QString& name) {
  QStringList forms{name};
  const NumberedName parts = splitName(name);
  if (parts.number.isEmpty() || parts.family.isEmpty()) return forms;
  if (const QString word = shortWord(parts.family); !word.isEmpty()) {
    forms += tr("%1 %2").arg(word, parts.number);
  } else {
    for (qsizetype letters = parts.family.size() - 1; letters >= kFewestNameLetters; --letters)
      forms += parts.family.left(letters).trimmed() + QChar(0x2026) + parts.number;
  }
  forms += parts.number;
  return forms;
}

}  // namespace spanscope::ui
