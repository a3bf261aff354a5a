// SPDX-License-Identifier: GPL-3.0-or-later
// The list of lessons, with the progress of the learner in each.
#pragma once

#include "ui/theme/theme.h"

#include <QScrollArea>
#include <QString>

#include <cstddef>
#include <optional>
#include <vector>

class QSettings;
class QVBoxLayout;

namespace spanscope::ui {

struct LessonFile;

/// The progress of a learner in a lesson.
struct LessonProgress {
  std::size_t step = 0;     ///< the last current step, from 0
  std::size_t reached = 0;  ///< the last step that the learner reached, from 0
  std::size_t steps = 0;    ///< number of steps at that time; 0: the lesson was not begun
  bool isDone() const { return steps > 0 && reached + 1 >= steps; }
};

LessonProgress lessonProgress(const QSettings& settings, const QString& key);
void keepLessonProgress(QSettings& settings, const QString& key, const LessonProgress& progress);

struct ListedLesson {
  QString path;
  QString key;  ///< LessonFile::key()
  QString title;
  int minutes = 0;
  QString after;  ///< what the learner knows after the lesson
};

/// Returns the bundled lessons, in order. Empty: the lessons are missing.
std::vector<ListedLesson> listedLessons();

class LessonList : public QScrollArea {
  Q_OBJECT
 public:
  explicit LessonList(QWidget* parent = nullptr);

  void showLessons(const std::vector<ListedLesson>& lessons, const QSettings& settings, const Theme& theme);
  /// Shows the reasons why a file cannot be opened in the place of the lessons, one per line.
  void showProblems(const QString& file, const QStringList& problems, const Theme& theme);
  void takeFocus();

 Q_SIGNALS:
  void lessonWanted(const QString& path);
  void fileWanted();
  void listWanted();  ///< the user returns from the problems to the lessons

 private:
  QVBoxLayout* begin(const Theme& theme);
};

}  // namespace spanscope::ui
