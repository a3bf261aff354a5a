// SPDX-License-Identifier: GPL-3.0-or-later
// Goes through a lesson in the window without a person, and writes it as a web page with pictures of what
// each step shows, in both themes.
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

/// Each lesson wants a window of its own, whose session has nothing of other lessons.
class LessonPageWriter : public QObject {
  Q_OBJECT
 public:
  /// `folder` gets a page of the same name as the lesson's file, with the suffix html.
  LessonPageWriter(MainWindow& window, QString file, QString folder, QObject* parent = nullptr);
  ~LessonPageWriter() override;

  /// Starts the lesson. finished() is sent at the end.
  void start();

 Q_SIGNALS:
  /// `error` is empty if the page was written and everything that the lesson claims holds.
  void finished(const QString& error);

 private:
  void begin();
  void goOn();
  /// The docks that a step brings into view. Where it brings none: the last one before, if it selects
  /// something; the canvas, if it changes the query.
  std::vector<ExportItem> itemsOf(const lesson::Step& step) const;
  /// Return why it could not be drawn; empty: it was.
  QString draw(const lesson::Step& step);
  QString draw(const lesson::Step& step, const ExportItem& item);
  void writePage();

  MainWindow& m_window;
  QString m_file;
  QString m_folder;
  std::unique_ptr<WindowStage> m_stage;
  std::unique_ptr<LessonCourse> m_course;
  std::size_t m_drawn = 0;  ///< steps whose pictures are made
  std::map<std::size_t, std::vector<lesson::PagePicture>> m_pictures;
};

// Has the page of a lesson written by a second process of the program, so that the lesson's runs touch
// nothing of the session that a person has open.

/// One page, once. Destroyed before its end, it ends the process and writes nothing.
class LessonPageJob : public QObject {
  Q_OBJECT
 public:
  /// `program`: the window's program. `lesson`: the lesson's file. `page`: the file that is to hold the page;
  /// it is replaced when the whole page is there.
  LessonPageJob(QString program, QString lesson, QString page, QObject* parent = nullptr);
  ~LessonPageJob() override;

  void start();
  const QString& page() const { return m_page; }

 Q_SIGNALS:
  /// `problem` is empty if the page is there; else why it is not, in words.
  void finished(const QString& problem);

 private:
  void end(const QString& problem);
  void take();  ///< the page that the process has written

  QString m_program;
  QString m_lesson;
  QString m_page;
  QTemporaryDir m_folder;
  QProcess m_process;
  bool m_hasEnded = false;
};

}  // namespace spanscope::ui
