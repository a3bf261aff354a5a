// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "engine/lesson/lesson.h"
#include "engine/lesson/lesson_folder.h"
#include "engine/query/diagnostic.h"

#include <QString>

#include <memory>
#include <vector>

namespace spanscope::ui {

/// A lesson that was read and checked.
struct LessonFile {
  QString path;
  lesson::Lesson lesson;
  lesson::LessonFolder folder;
  /// What is wrong with it, in the order of the text; with an error it cannot be opened.
  std::vector<query::Diagnostic> diagnostics;

  /// Its name in settings: the file name of a bundled lesson, else the path.
  QString key() const;
};

/// Throws Failure if the file cannot be read.
std::shared_ptr<const LessonFile> openLesson(const QString& path);

}  // namespace spanscope::ui
