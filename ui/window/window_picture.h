// SPDX-License-Identifier: GPL-3.0-or-later
// Pictures of the window and its views.
#pragma once

#include "ui/export/view_picture.h"
#include "ui/session/view_input.h"
#include "ui/theme/theme.h"

#include <QObject>
#include <QSize>
#include <QString>
#include <QStringList>

#include <functional>
#include <memory>

namespace spanscope::ui {

class MainWindow;
struct LogState;

/// An item for the whole window in its current state, without dialogs and floating docks. The item can be
/// painted in any theme. The window must outlive the item.
ExportItem windowItem(MainWindow& window);

/// An item for the canvas with this input. The item can be painted in any theme. Each painting makes a new
/// canvas, so that the canvas on the screen does not change.
ExportItem canvasItem(const ViewInput& input, const QSize& size);

// Takes pictures of the window and its views without a user: opens files, runs them, and saves pictures.

struct ScreenshotOptions {
  /// The id of a view or a layout, "canvas", "welcome", or "all". "lesson" and "presentation" save a picture
  /// of the window at each step of a lesson.
  QString view = QStringLiteral("all");
  QSize size{1280, 800};
  QString folder = QStringLiteral(".");
  /// The files to run, one after the other in the same session. The last file is shown. For pictures of the
  /// benchmark, the last file is also measured. For "lesson" and "presentation", the files are lessons. Logs
  /// of requests are diagnosed.
  QStringList files;
};

/// The possible values of ScreenshotOptions::view besides "all".
QStringList screenshotNames();

class Screenshots : public QObject {
  Q_OBJECT
 public:
  Screenshots(MainWindow& window, ScreenshotOptions options, QObject* parent = nullptr);

  /// Starts taking pictures. finished() is sent at the end.
  void start();

 Q_SIGNALS:
  /// `error` is empty if all pictures were saved.
  void finished(const QString& error);

 private:
  void next();
  bool measure();
  void waitForPrediction();
  /// Waits until the diagnosis of the newest log is complete. `earlier`: the diagnosis before it; may be
  /// null.
  void waitForLog(const std::shared_ptr<const LogState>& earlier);
  void selectSomething();
  void takeAll();
  QString take(const QString& name);
  bool showsLessons() const;
  void openLesson();
  /// Takes a picture when a step waits or has ended, and then continues the lesson.
  void goOnInLesson();
  /// Answers, carries out actions, or goes to the next step. Returns false at the end of the lesson.
  bool continueLesson();
  /// Writes the image as PNG into the folder. Returns the error; empty: the image was saved.
  QString save(const QString& name, const QImage& image);

  MainWindow& m_window;
  ScreenshotOptions m_options;
  qsizetype m_file = 0;
  bool m_isMeasured = false;
  bool m_isTaking = false;  ///< the events during a picture do not continue the lesson
};

}  // namespace spanscope::ui
