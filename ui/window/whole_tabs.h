// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QObject>
#include <QStringList>

#include <optional>
#include <vector>

class QMenu;
class QTabBar;
class QToolButton;

namespace spanscope::ui {

/// Shows only whole tabs in a tab bar. Without this class, Qt cuts the tabs at the edges in the middle of a
/// word. The current tab is always visible, and tabs without room are hidden. The arrow keys also reach
/// hidden tabs.
class WholeTabs : public QObject {
  Q_OBJECT
 public:
  /// The bar becomes the parent. If `listsTabs` is true, the bar has a button that lists all tabs while some
  /// tabs are hidden.
  WholeTabs(QTabBar& bar, bool listsTabs);

  /// Hides and shows tabs if the width, the names or the current tab have changed. Must be called after tabs
  /// were added, removed or renamed.
  void fit();
  /// The same, also if only the margins of the tabs have changed.
  void fitAgain();
  const QToolButton* list() const { return m_list; }  ///< nullptr: the bar has no list

  bool eventFilter(QObject* watched, QEvent* event) override;

 Q_SIGNALS:
  void chosen(int index);  ///< the user has chosen a tab in the list

 private:
  /// Everything that decides which tabs are visible.
  struct State {
    int width = 0;
    int current = -1;
    QStringList names;
    std::vector<bool> visible;
    bool operator==(const State&) const = default;
  };

  State state() const;
  /// The width of the button with its margins, in pixels; 0: the bar has no list.
  int listWidth() const;
  void showTabs(int first, int last);
  /// Moves the first visible tab to the edge. The bar may have scrolled while it had more visible tabs.
  void resetScroll();
  void fillList();
  /// Goes to the next tab in this direction, also if that tab is hidden.
  void go(int step);

  QTabBar& m_bar;
  QToolButton* m_list = nullptr;
  QMenu* m_menu = nullptr;
  std::optional<State> m_fitted;  ///< the state after the last fit(); nothing: the tabs do not fit yet
  int m_first = 0;                ///< the first visible tab
  bool m_isFitting = false;
};

}  // namespace spanscope::ui
