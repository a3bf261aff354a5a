// SPDX-License-Identifier: GPL-3.0-or-later
// Has the page of a lesson written by a second process of the program, so that the lesson's runs touch
// nothing of the session that a person has open.
#pragma once

#include <QObject>
#include <QProcess>
#include <QString>
#include <QTemporaryDir>

namespace spanscope::ui {

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
