// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QObject>

namespace spanscope::ui {

/// Makes the tool tips and file dialogs of Qt fully readable. Qt shows a plain tool tip on one line, as wide
/// as its text. Qt also shortens the columns and filters of a file dialog. Install this event filter on
/// the application, because Qt makes these windows.
class ReadableTexts : public QObject {
  Q_OBJECT
 public:
  using QObject::QObject;

  bool eventFilter(QObject* watched, QEvent* event) override;
};

}  // namespace spanscope::ui
