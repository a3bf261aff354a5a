// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QObject>

namespace spanscope::ui {

/// Makes tool tips and dialogs fully readable. Qt shows a plain tool tip on one line, as wide as its text. Qt
/// also shortens the columns and filters of a file dialog, and opens dialogs that are larger than the screen.
/// Install this event filter on the application, because Qt makes some of these windows.
class ReadableTexts : public QObject {
  Q_OBJECT
 public:
  using QObject::QObject;

  bool eventFilter(QObject* watched, QEvent* event) override;
};

}  // namespace spanscope::ui
