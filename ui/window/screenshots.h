// SPDX-License-Identifier: GPL-3.0-or-later
// Pictures of the window and its views without a person: opens files, runs them, and saves what is seen.
#pragma once

#include "ui/theme/theme.h"

#include <QObject>
#include <QSize>
#include <QString>
#include <QStringList>

#include <functional>

namespace spanscope::ui {

class MainWindow;

struct ScreenshotOptions {
  QString view = QStringLiteral("all");  ///< id of a view or a layout, "canvas", "welcome", or "all"
  QSize size{1280, 800};
  QString folder = QStringLiteral(".");
  /// Run one after the other in the same session; the last one is shown, for its benchmark measured as well.
  QStringList files;
};

/// The names that `view` may have.
QStringList screenshotNames();

class Screenshots : public QObject {
  Q_OBJECT
 public:
  Screenshots(MainWindow& window, ScreenshotOptions options, QObject* parent = nullptr);

  /// Begins; finished() follows.
  void start();

 Q_SIGNALS:
  /// `error` is empty if all pictures were saved.
  void finished(const QString& error);

 private:
  void next();
  bool measure();
  void waitForForecast();
  void selectSomething();
  void takeAll();
  QString take(const QString& name);

  MainWindow& m_window;
  ScreenshotOptions m_options;
  qsizetype m_file = 0;
  bool m_isMeasured = false;
};

}  // namespace spanscope::ui
