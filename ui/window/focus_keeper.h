// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QObject>

class QWidget;

namespace spanscope::ui {

/// Makes the widget a panel that keeps the keyboard focus, see FocusKeeper.
void keepFocusIn(QWidget& panel);

/// Keeps the keyboard focus in a panel when the focused control is hidden or disabled. Without this class, Qt
/// gives the focus to the next control of the window, which may be far away. The panel itself shows no frame,
/// and Tab then goes to the next control in the panel.
class FocusKeeper : public QObject {
  Q_OBJECT
 public:
  explicit FocusKeeper(QObject* parent = nullptr);

 private:
  static void keep(const QWidget* old, const QWidget* now);
};

}  // namespace spanscope::ui
