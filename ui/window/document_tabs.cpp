// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/window/document_tabs.h"

#include "ui/theme/theme.h"

#include <QDir>
#include <QHBoxLayout>
#include <QSignalBlocker>
#include <QStyle>

#include <algorithm>

namespace spanscope::ui {
namespace {

constexpr int kMostName = 150;  // pixels; longer names are shortened from the middle

QString plain(QString text) {
  return text.replace(QLatin1Char('&'), QStringLiteral("&&"));
}

QString toolTipOf(const TabLabel& label) {
  QString text = label.path.isEmpty() ? DocumentTabs::tr("%1, never saved").arg(label.title)
                                      : QDir::toNativeSeparators(label.path);
  if (label.isModified) text += QLatin1Char('\n') + DocumentTabs::tr("has changes that are not saved");
  return text;
}

}  // namespace

/// Tabs that keep their width. Qt would shrink them to a few letters before it scrolls.
class DocumentTabs::Bar : public QTabBar {
 public:
  using QTabBar::QTabBar;
  int wanted() const {
    int width = 0;
    for (int i = 0; i < count(); ++i) width += tabSizeHint(i).width();
    return width;
  }
  /// With the two buttons that scroll, if there are other tabs.
  int readable() const {
    if (currentIndex() < 0) return 0;
    const int buttons = 2 * style()->pixelMetric(QStyle::PM_TabBarScrollButtonWidth, nullptr, this);
    return std::min(wanted(), tabSizeHint(currentIndex()).width() + buttons);
  }
  QSize sizeHint() const override { return {wanted(), QTabBar::sizeHint().height()}; }

 protected:
  QSize minimumTabSizeHint(int index) const override { return tabSizeHint(index); }
};

DocumentTabs::DocumentTabs(QWidget* parent) : QWidget(parent) {
  m_bar = new Bar;
  m_bar->setAccessibleName(tr("Open documents"));
  m_bar->setTabsClosable(true);
  m_bar->setExpanding(false);
  m_bar->setElideMode(Qt::ElideNone);
  m_bar->setDrawBase(false);
  m_bar->setUsesScrollButtons(true);
  m_bar->setFocusPolicy(Qt::TabFocus);
  m_bar->setSizePolicy(QSizePolicy::Maximum, QSizePolicy::Preferred);
  connect(m_bar, &QTabBar::currentChanged, this, &DocumentTabs::chosen);
  connect(m_bar, &QTabBar::tabCloseRequested, this, &DocumentTabs::closeWanted);
  m_list = new QToolButton;
  m_list->setAutoRaise(true);
  m_list->setPopupMode(QToolButton::InstantPopup);
  m_list->setAccessibleName(tr("List of open documents"));
  m_list->setToolTip(tr("All open documents"));
  m_menu = new QMenu(m_list);
  m_menu->setToolTipsVisible(true);
  connect(m_menu, &QMenu::aboutToShow, this, &DocumentTabs::fillList);
  m_list->setMenu(m_menu);
  m_list->hide();

  auto* row = new QHBoxLayout(this);
  row->setContentsMargins(0, 0, 0, 0);
  row->setSpacing(kSpace);
  row->addWidget(m_bar, 1);
  row->addWidget(m_list);
}

void DocumentTabs::setTabs(const std::vector<TabLabel>& labels, int current) {
  const QSignalBlocker quiet(m_bar);
  if (labels != m_labels) {
    m_labels = labels;
    const int count = static_cast<int>(labels.size());
    while (m_bar->count() > count) m_bar->removeTab(m_bar->count() - 1);
    while (m_bar->count() < count) m_bar->addTab(QString());
    const QFontMetrics metrics(m_bar->font());
    for (int i = 0; i < count; ++i) {
      const TabLabel& label = labels[static_cast<std::size_t>(i)];
      // The mark of unsaved changes is added after shortening, so that it stays.
      QString text = plain(metrics.elidedText(label.title, Qt::ElideMiddle, kMostName));
      if (label.isModified) text += QStringLiteral(" •");
      if (m_bar->tabText(i) != text) m_bar->setTabText(i, text);
      m_bar->setTabToolTip(i, toolTipOf(label));
    }
    m_bar->updateGeometry();
    updateGeometry();
    showListButton();
  }
  if (current >= 0 && current != m_bar->currentIndex()) m_bar->setCurrentIndex(current);
}

int DocumentTabs::readableWidth() const {
  const int tabs = m_bar->readable();
  return tabs < m_bar->wanted() ? tabs + kSpace + m_list->sizeHint().width() : tabs;
}

void DocumentTabs::showListButton() {
  const bool isNeeded = m_bar->count() > 1 && m_bar->wanted() > width();
  m_list->setText(tr("%1 ▾").arg(m_bar->count()));
  if (m_list->isHidden() == isNeeded) m_list->setVisible(isNeeded);
}

void DocumentTabs::resizeEvent(QResizeEvent* event) {
  QWidget::resizeEvent(event);
  showListButton();
}

void DocumentTabs::fillList() {
  m_menu->clear();
  for (std::size_t i = 0; i < m_labels.size(); ++i) {
    const TabLabel& label = m_labels[i];
    const int index = static_cast<int>(i);
    QAction* action =
        m_menu->addAction(plain(label.title) + (label.isModified ? QStringLiteral(" •") : QString()), this,
                          [this, index] { m_bar->setCurrentIndex(index); });
    action->setCheckable(true);
    action->setChecked(index == m_bar->currentIndex());
    action->setToolTip(toolTipOf(label));
  }
}

void DocumentTabs::showList() {
  fillList();
  QWidget* below = m_list->isVisible() ? static_cast<QWidget*>(m_list) : m_bar;
  m_menu->popup(below->mapToGlobal(QPoint(0, below->height())));
}

void DocumentTabs::go(int step) {
  const int count = m_bar->count();
  if (count == 0) return;
  m_bar->setCurrentIndex(((m_bar->currentIndex() + step) % count + count) % count);
}

}  // namespace spanscope::ui
