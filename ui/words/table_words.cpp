// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/words/table_words.h"

#include <type_traits>
#include <variant>

namespace spanscope::ui {

namespace {

/// Returns a text as one line, and shortens a long text.
QString shortened(const std::string& text) {
  constexpr qsizetype kMost = 160;
  QString line = QString::fromStdString(text).simplified();
  if (line.size() > kMost) line = line.left(kMost - 1) + QStringLiteral("…");
  return line;
}

}  // namespace

QString eventText(const trace::EventWords& words, const std::function<QString(StepIndex)>& stepName) {
  QStringList values;
  for (const trace::EventWords::Value& value : words.values) {
    values.append(std::visit(
        [&stepName]<class T>(const T& one) {
          if constexpr (std::is_arithmetic_v<T>) {
            return QString::number(one);
          } else if constexpr (std::is_same_v<T, trace::ShortText>) {
            return shortened(one.text);
          } else if constexpr (std::is_same_v<T, trace::StepName>) {
            return stepName ? stepName(one.step) : QString::number(one.step);
          } else {
            return QString::fromStdString(one);
          }
        },
        value));
  }
  if (*words.text == '\0') return {};
  const QString text = QCoreApplication::translate("Events", words.text);
  // Fills all placeholders in one step, because a text of the user or the model may contain "%1".
  switch (values.size()) {
    case 0:
      return text;
    case 1:
      return text.arg(values[0]);
    case 2:
      return text.arg(values[0], values[1]);
    default:
      return text.arg(values[0], values[1], values[2]);
  }
}

QString experimentWord(const char* text) {
  return QCoreApplication::translate("Experiments", text);
}

QString missWord(const char* text) {
  return *text == '\0' ? QString() : QCoreApplication::translate("Misses", text);
}

QString policyWord(const char* text) {
  return QCoreApplication::translate("Policies", text);
}

QString causeWord(const char* text) {
  return *text == '\0' ? QString() : QCoreApplication::translate("Causes", text);
}

}  // namespace spanscope::ui
