// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/lessons/lesson_answers.h"

#include "ui/words/tr.h"

#include <QLocale>
#include <QRegularExpression>
#include <QTextDocument>

#include <algorithm>
#include <cmath>
#include <optional>

namespace spanscope::ui {
namespace {

constexpr double kClose = 0.1;  // of the right number

/// The number that a text begins with: "2.9 ms", "1,024" is none.
std::optional<double> numberIn(const QString& text) {
  static const QRegularExpression number(QStringLiteral(R"(^\s*([0-9]+(?:\.[0-9]+)?))"));
  const QRegularExpressionMatch match = number.match(text);
  return match.hasMatch() ? std::optional(match.captured(1).toDouble()) : std::nullopt;
}

QString escaped(const QString& text) {
  static const QString marks = QStringLiteral("\\`*_{}[]()<>#+-!|~&");
  QString out;
  bool isCounting = true;  // so far: "1." at the beginning of a line is an entry of a list
  for (const QChar c : text.simplified()) {
    const bool endsNumber = isCounting && !out.isEmpty() && c == QLatin1Char('.');
    if (marks.contains(c) || endsNumber) out += QLatin1Char('\\');
    isCounting = isCounting && c >= QLatin1Char('0') && c <= QLatin1Char('9');
    out += c;
  }
  return out;
}

QString rightAnswer(const lesson::FilledQuestion& question) {
  if (question.kind != lesson::Question::Kind::Choice) {
    const QString answer = QString::fromStdString(question.answer);
    return question.kind == lesson::Question::Kind::Block ? tr("block %1").arg(answer) : answer;
  }
  for (const lesson::FilledChoice& choice : question.choices) {
    if (choice.isRight.value_or(false)) return QString::fromStdString(choice.text);
  }
  return {};
}

}  // namespace

bool isNumber(const QString& text) {
  return numberIn(text).has_value();
}

Verdict judge(const lesson::FilledQuestion& question, const LessonAnswer& answer, bool decided) {
  if (!answer.isGiven()) return Verdict::None;
  if (!decided) return Verdict::Open;
  if (!question.isAnswered()) return Verdict::Unknown;
  if (question.kind == lesson::Question::Kind::Choice) {
    if (!answer.choice || *answer.choice >= question.choices.size()) return Verdict::None;
    return question.choices[*answer.choice].isRight.value_or(false) ? Verdict::Right : Verdict::Wrong;
  }
  const std::optional<double> said = numberIn(answer.number);
  const std::optional<double> right = numberIn(QString::fromStdString(question.answer));
  if (!said || !right) return Verdict::Unknown;
  const double distance = std::abs(*said - *right);
  if (distance < 1e-9 * std::max(1.0, *right)) return Verdict::Right;
  const bool isClose =
      question.kind == lesson::Question::Kind::Number && distance <= kClose * std::abs(*right);
  return isClose ? Verdict::Close : Verdict::Wrong;
}

QString verdictText(const lesson::FilledQuestion& question, const LessonAnswer& answer, Verdict verdict) {
  const QString right = rightAnswer(question);
  QString said = answer.number;
  if (answer.choice && *answer.choice < question.choices.size())
    said = QString::fromStdString(question.choices[*answer.choice].text);
  switch (verdict) {
    case Verdict::Right:
      return tr("✓ Right: %1").arg(right);
    case Verdict::Close:
      return tr("≈ Close: you said %1, it is %2").arg(said, right);
    case Verdict::Wrong:
      return tr("✗ You said: %1. It is: %2").arg(said, right);
    case Verdict::Open:
      return tr("You said: %1. The run will tell.").arg(said);
    case Verdict::Unknown:
      return tr("You said: %1. What it is cannot be had: %2.")
          .arg(said, QString::fromStdString(question.missing));
    case Verdict::None:
      return tr("Passed over.");
  }
  return {};
}

QString markdownOf(const lesson::FilledProse& prose) {
  QString text;
  for (const lesson::FilledPiece& piece : prose.pieces) {
    const QString own = QString::fromStdString(piece.text);
    switch (piece.kind) {
      case lesson::FilledPiece::Kind::Text:
        text += own;
        break;
      case lesson::FilledPiece::Kind::Figure:
        text += escaped(own);
        break;
      case lesson::FilledPiece::Kind::Missing:
        text += QLatin1Char('*') + escaped(tr("not known: %1").arg(own)) + QLatin1Char('*');
        break;
    }
  }
  return text;
}

QString plainText(const QString& markdown) {
  QTextDocument document;
  document.setMarkdown(markdown, QTextDocument::MarkdownNoHTML);
  return document.toPlainText();
}

}  // namespace spanscope::ui
