// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/window/whole_tabs.h"

#include "ui/theme/theme.h"

#include <QEvent>
#include <QKeyEvent>
#include <QMenu>
#include <QSignalBlocker>
#include <QStyle>
#include <QTabBar>
#include <QTimer>
#include <QToolButton>

#include <algorithm>
#include <cstddef>
#include <numeric>

namespace spanscope::ui {

WholeTabs::WholeTabs(QTabBar& bar, bool listsTabs) : QObject(&bar), m_bar(bar) {
  if (listsTabs) {
    m_list = new QToolButton(&bar);
    m_list->setAutoRaise(true);
    m_list->setPopupMode(QToolButton::InstantPopup);
    // The arrow keys of the bar reach all tabs.
    m_list->setFocusPolicy(Qt::NoFocus);
    m_list->setAccessibleName(tr("List of docks at this place"));
    m_list->setToolTip(tr("All docks at this place"));
    m_menu = new QMenu(m_list);
    m_list->setMenu(m_menu);
    m_list->hide();
    connect(m_menu, &QMenu::aboutToShow, this, &WholeTabs::fillList);
  }
  bar.installEventFilter(this);
  connect(&bar, &QTabBar::currentChanged, this, &WholeTabs::fit);
}

WholeTabs::State WholeTabs::state() const {
  State state{.width = m_bar.width(), .current = m_bar.currentIndex(), .names = {}, .visible = {}};
  for (int i = 0; i < m_bar.count(); ++i) {
    state.names.append(m_bar.tabText(i));
    state.visible.push_back(m_bar.isTabVisible(i));
  }
  return state;
}

int WholeTabs::listWidth() const {
  return m_list == nullptr ? 0 : m_list->sizeHint().width() + 2 * kSpace;
}

void WholeTabs::fitAgain() {
  m_fitted.reset();
  fit();
}

void WholeTabs::fit() {
  const int count = m_bar.count();
  const int current = m_bar.currentIndex();
  if (m_isFitting || count == 0 || current < 0 || !m_bar.isVisible() || m_fitted == state()) return;
  m_isFitting = true;
  // A hidden tab has no width.
  showTabs(0, count - 1);
  std::vector<int> widths;
  for (int i = 0; i < count; ++i) widths.push_back(m_bar.tabRect(i).width());
  const auto widthOf = [&widths](int first, int last) {
    return std::accumulate(widths.begin() + first, widths.begin() + last + 1, 0);
  };
  const bool fitsAll = widthOf(0, count - 1) <= m_bar.width();
  if (m_list != nullptr) m_list->setText(tr("%1 ▾").arg(count));
  const int room = fitsAll ? m_bar.width() : m_bar.width() - listWidth();
  // The tabs move only if the current tab would be hidden.
  int first = fitsAll ? 0 : std::min(m_first, current);
  while (first < current && widthOf(first, current) > room) ++first;
  int last = current;
  while (last + 1 < count && widthOf(first, last + 1) <= room) ++last;
  while (first > 0 && widthOf(first - 1, last) <= room) --first;
  m_first = first;
  showTabs(first, last);
  resetScroll();
  if (m_list != nullptr) {
    m_list->setVisible(!fitsAll);
    const QRect end(m_bar.width() - listWidth(), 0, listWidth(), m_bar.height());
    m_list->setGeometry(QStyle::visualRect(m_bar.layoutDirection(), m_bar.rect(), end));
    m_list->raise();
  }
  m_fitted = state();
  m_isFitting = false;
}

// NOLINTNEXTLINE(readability-make-member-function-const): it changes the bar.
void WholeTabs::showTabs(int first, int last) {
  for (int i = 0; i < m_bar.count(); ++i) {
    const bool isWanted = first <= i && i <= last;
    // Qt forgets to lay out the tabs if it gets a value that a tab already has.
    if (m_bar.isTabVisible(i) != isWanted) m_bar.setTabVisible(i, isWanted);
  }
}

// NOLINTNEXTLINE(readability-make-member-function-const): it changes the bar.
void WholeTabs::resetScroll() {
  const QRect begin = QStyle::visualRect(m_bar.layoutDirection(), m_bar.rect(), m_bar.tabRect(m_first));
  const int current = m_bar.currentIndex();
  if (begin.left() == 0 || m_bar.count() < 2) return;
  // Qt scrolls only to the current tab.
  const QSignalBlocker quiet(m_bar);
  m_bar.setCurrentIndex(current == m_first ? (current + 1) % m_bar.count() : m_first);
  m_bar.setCurrentIndex(current);
}

void WholeTabs::fillList() {
  m_menu->clear();
  for (int i = 0; i < m_bar.count(); ++i) {
    QAction* action = m_menu->addAction(m_bar.tabText(i), this, [this, i] {
      m_bar.setCurrentIndex(i);
      Q_EMIT chosen(i);
    });
    action->setCheckable(true);
    action->setChecked(i == m_bar.currentIndex());
  }
}

// NOLINTNEXTLINE(readability-make-member-function-const): it changes the bar.
void WholeTabs::go(int step) {
  for (int i = m_bar.currentIndex() + step; 0 <= i && i < m_bar.count(); i += step) {
    if (!m_bar.isTabEnabled(i)) continue;
    m_bar.setCurrentIndex(i);
    return;
  }
}

bool WholeTabs::eventFilter(QObject* watched, QEvent* event) {
  switch (event->type()) {
    case QEvent::Resize:
    case QEvent::Show:
      fit();
      break;
    case QEvent::FontChange:
    case QEvent::StyleChange:
      // The bar has not handled the change yet.
      QTimer::singleShot(0, this, &WholeTabs::fitAgain);
      break;
    case QEvent::KeyPress: {
      const auto& key = static_cast<const QKeyEvent&>(*event);
      const bool isArrow = key.key() == Qt::Key_Left || key.key() == Qt::Key_Right;
      if (!isArrow || (key.modifiers() & ~Qt::KeypadModifier) != Qt::NoModifier) break;
      go((key.key() == Qt::Key_Left) == m_bar.isRightToLeft() ? 1 : -1);
      return true;
    }
    default:
      break;
  }
  return QObject::eventFilter(watched, event);
}

}  // namespace spanscope::ui
