// SPDX-License-Identifier: GPL-3.0-or-later
// The lessons that there are, and how far a learner has come in each.
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

/// How far a learner has come.
struct LessonProgress {
  std::size_t step = 0;     ///< that was in view last, from 0
  std::size_t reached = 0;  ///< the furthest
  std::size_t steps = 0;    ///< that there were then; 0: the lesson was not begun
  bool isDone() const { return steps > 0 && reached + 1 >= steps; }
};

LessonProgress lessonProgress(const QSettings& settings, const QString& key);
void keepLessonProgress(QSettings& settings, const QString& key, const LessonProgress& progress);

struct ListedLesson {
  QString path;
  QString key;  ///< LessonFile::key()
  QString title;
  int minutes = 0;
  QString after;  ///< what one knows after it
};

/// The bundled lessons, in order; none where they are not there.
std::vector<ListedLesson> listedLessons();

class LessonList : public QScrollArea {
  Q_OBJECT
 public:
  explicit LessonList(QWidget* parent = nullptr);

  void showLessons(const std::vector<ListedLesson>& lessons, const QSettings& settings, const Theme& theme);
  /// In the place of the lessons: why a file cannot be opened, a line each.
  void showProblems(const QString& file, const QStringList& problems, const Theme& theme);
  void takeFocus();

 Q_SIGNALS:
  void lessonWanted(const QString& path);
  void fileWanted();
  void listWanted();  ///< from the problems back to the lessons

 private:
  QVBoxLayout* begin(const Theme& theme);
};

}  // namespace spanscope::ui
