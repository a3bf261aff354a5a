// SPDX-License-Identifier: GPL-3.0-or-later
// Runs a lesson in a window without a user. Writes the lesson as a web page with pictures of each step in
// both themes.
#pragma once

#include "engine/lesson/page.h"
#include "ui/export/view_picture.h"
#include "ui/lessons/lesson_course.h"
#include "ui/window/window_stage.h"

#include <QObject>
#include <QProcess>
#include <QString>
#include <QTemporaryDir>

#include <cstddef>
#include <map>
#include <memory>
#include <vector>

namespace spanscope::ui {

class MainWindow;

/// Writes the page of one lesson. Each lesson needs its own window, so that its session has nothing of other
/// lessons.
class LessonPageWriter : public QObject {
  Q_OBJECT
 public:
  /// Writes the page to `folder`, under the name of the lesson's file with the suffix html.
  LessonPageWriter(MainWindow& window, QString file, QString folder, QObject* parent = nullptr);
  ~LessonPageWriter() override;

  /// Starts the lesson. finished() is sent at the end.
  void start();

 Q_SIGNALS:
  /// `error` is empty if the page was written and all claims of the lesson are true.
  void finished(const QString& error);

 private:
  void begin();
  void goOn();
  /// The pictures of a step: the docks that the step shows. A step without such docks has the dock of an
  /// earlier step if the step selects something. If the step changes the query, the picture shows the canvas.
  std::vector<ExportItem> itemsOf(const lesson::Step& step) const;
  /// Draws pictures. Returns why a picture could not be drawn; empty: no error.
  QString draw(const lesson::Step& step);
  QString draw(const lesson::Step& step, const ExportItem& item);
  void writePage();

  MainWindow& m_window;
  QString m_file;
  QString m_folder;
  std::unique_ptr<WindowStage> m_stage;
  std::unique_ptr<LessonCourse> m_course;
  std::size_t m_drawn = 0;  ///< number of steps with finished pictures
  std::map<std::size_t, std::vector<lesson::PagePicture>> m_pictures;
};

/// Writes the page of a lesson once, in a second process of the program. So the lesson's runs do not change
/// the user's session. The destructor ends a running process, and then writes nothing.
class LessonPageJob : public QObject {
  Q_OBJECT
 public:
  /// `program`: the path of this program. `lesson`: the lesson's file. `page`: the file for the page. The job
  /// replaces this file when the whole page exists.
  LessonPageJob(QString program, QString lesson, QString page, QObject* parent = nullptr);
  ~LessonPageJob() override;

  void start();
  const QString& page() const { return m_page; }

 Q_SIGNALS:
  /// `problem` is the reason why the page was not written; empty: the page was written.
  void finished(const QString& problem);

 private:
  void end(const QString& problem);
  void take();  ///< copies the page that the process has written

  QString m_program;
  QString m_lesson;
  QString m_page;
  QTemporaryDir m_folder;
  QProcess m_process;
  bool m_hasEnded = false;
};

}  // namespace spanscope::ui
