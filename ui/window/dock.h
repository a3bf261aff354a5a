// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "ui/views/view.h"

#include <QDockWidget>
#include <QLabel>

namespace spanscope::ui {

/// A dock with its title bar: name, a second text with counts, the view's own small controls, a menu.
class Dock : public QDockWidget {
  Q_OBJECT
 public:
  /// Around a view, or around any other widget without a title bar of its own (`titled` false).
  Dock(const QString& id, const QString& title, QWidget* content, bool titled, QWidget* parent = nullptr);

  const QString& id() const { return m_id; }
  View* view() const { return m_view; }  ///< nullptr: the content is none
  void setSummary(const QString& text);

 Q_SIGNALS:
  void exportWanted(const QString& id);

 private:
  QWidget* makeTitleBar(const QString& title);

  QString m_id;
  View* m_view = nullptr;
  QLabel* m_summary = nullptr;
};

}  // namespace spanscope::ui
