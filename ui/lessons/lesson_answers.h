// SPDX-License-Identifier: GPL-3.0-or-later
// What runs say of a learner's answers, and the texts of a lesson with the figures in them.
#pragma once

#include "engine/lesson/filled.h"
#include "ui/lessons/lesson_course.h"

#include <QString>

#include <cstdint>

namespace spanscope::ui {

enum class Verdict : std::uint8_t {
  Unknown,  ///< the run that decides was made, and says nothing
  Open,     ///< the run that decides was not made yet, or says nothing
  Right,
  Close,  ///< a number within a tenth
  Wrong,
  None,  ///< the question was passed over
};

/// `decided`: whether the run that answers has been made.
Verdict judge(const lesson::FilledQuestion& question, const LessonAnswer& answer, bool decided);
/// "✓ Right: 70." – a sign and a sentence.
QString verdictText(const lesson::FilledQuestion& question, const LessonAnswer& answer, Verdict verdict);
/// Whether a text can be a number that answers a question.
bool isNumber(const QString& text);

/// Markdown in which what figures say is plain text, whatever characters it has.
QString markdownOf(const lesson::FilledProse& prose);
/// The same without marks, for people who hear it.
QString plainText(const QString& markdown);

}  // namespace spanscope::ui
