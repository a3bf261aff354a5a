// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QObject>

namespace spanscope::ui {

/// Gives the texts of Qt's own windows their room. Qt shows a plain tool tip on one line, as wide as its
/// text. Qt also shortens the columns and filters of a file dialog. The filter is for the application,
/// because Qt makes these windows.
class ReadableTexts : public QObject {
  Q_OBJECT
 public:
  using QObject::QObject;

  bool eventFilter(QObject* watched, QEvent* event) override;
};

}  // namespace spanscope::ui
