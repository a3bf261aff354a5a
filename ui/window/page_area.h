// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QSplitter>
#include <QStackedWidget>

namespace spanscope::ui {

/// The middle of the window: the welcome page or the documents, and at their left the panel of a lesson.
class PageArea : public QSplitter {
  Q_OBJECT
 public:
  /// Shows the welcome page first. Takes ownership of both pages.
  PageArea(QWidget* welcome, QWidget* documents);

  bool isWelcome() const { return m_pages->currentIndex() == 0; }
  void showWelcome() { m_pages->setCurrentIndex(0); }
  void showDocuments() { m_pages->setCurrentIndex(1); }
  /// The two pages, without the panels at the left.
  QStackedWidget& pages() { return *m_pages; }

  /// Adds a panel at the left of the pages.
  void addPanel(QWidget& panel);
  /// Gives a panel this width in pixels. The pages get the rest of the window.
  void giveWidth(QWidget& panel, int wide);

 private:
  QStackedWidget* m_pages;
};

}  // namespace spanscope::ui
