// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QMenu>
#include <QTabBar>
#include <QToolButton>
#include <QWidget>

#include <vector>

namespace spanscope::ui {

/// What a tab says.
struct TabLabel {
  QString title;
  QString path;  ///< empty: never saved
  bool isModified = false;
  bool operator==(const TabLabel&) const = default;
};

/// The tabs of documents. They keep a width at which their names can be read; where there is no room for all
/// of them they scroll, and a button lists them.
class DocumentTabs : public QWidget {
  Q_OBJECT
 public:
  explicit DocumentTabs(QWidget* parent = nullptr);

  void setTabs(const std::vector<TabLabel>& labels, int current);
  /// All documents as a menu below the button.
  void showList();
  /// The tab `step` places further, going round.
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
