// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QMenu>
#include <QTabBar>
#include <QToolButton>
#include <QWidget>

#include <vector>

namespace spanscope::ui {

/// The content of a tab's label.
struct TabLabel {
  QString title;
  QString path;  ///< empty: never saved
  bool isModified = false;
  bool operator==(const TabLabel&) const = default;
};

/// The tabs of documents. Tabs stay wide enough to read their names. If there is no room for all tabs, only
/// whole tabs are visible, and a button lists all documents.
class DocumentTabs : public QWidget {
  Q_OBJECT
 public:
  explicit DocumentTabs(QWidget* parent = nullptr);

  void setTabs(const std::vector<TabLabel>& labels, int current);
  /// Shows the menu of all documents below the button.
  void showList();
  /// The width in pixels at which the shown tab is completely readable. Includes the button that lists the
  /// other tabs.
  int readableWidth() const;
  /// Goes to the tab `step` places further; from the last tab to the first.
  void go(int step);

 Q_SIGNALS:
  void chosen(int index);
  void closeWanted(int index);

 protected:
  void resizeEvent(QResizeEvent* event) override;

 private:
  class Bar;
  void fillList();
  void showListButton();

  std::vector<TabLabel> m_labels;
  Bar* m_bar = nullptr;
  QToolButton* m_list = nullptr;
  QMenu* m_menu = nullptr;
};

}  // namespace spanscope::ui
