// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/window/document_tabs.h"

#include "ui/theme/theme.h"
#include "ui/window/whole_tabs.h"

#include <QDir>
#include <QEvent>
#include <QHBoxLayout>
#include <QSignalBlocker>

#include <algorithm>

namespace spanscope::ui {
namespace {

constexpr int kMostName = 150;  // pixels; longer names are shortened from the middle
constexpr int kLeastName = 28;  // min width of a name; tabs that do not fit are hidden

QString plain(QString text) {
  return text.replace(QLatin1Char('&'), QStringLiteral("&&"));
}

QString toolTipOf(const TabLabel& label) {
  QString text = label.path.isEmpty() ? DocumentTabs::tr("%1, never saved").arg(label.title)
                                      : QDir::toNativeSeparators(label.path);
  if (label.isModified) text += QLatin1Char('\n') + DocumentTabs::tr("has unsaved changes");
  return text;
}

/// The mark of unsaved changes is added after shortening, so that it stays.
QString textOf(const TabLabel& label, int room, const QFontMetrics& metrics) {
  QString text = plain(metrics.elidedText(label.title, Qt::ElideMiddle, room));
  if (label.isModified) text += QStringLiteral(" •");
  return text;
}

}  // namespace

/// Tabs that keep their width. Qt would shrink tabs to a few letters. Tabs without room are hidden. If not
/// even one tab fits, names get shorter. So the start and the end of the shown name stay readable.
class DocumentTabs::Bar : public QTabBar {
 public:
  Bar() : m_whole(new WholeTabs(*this, false)) {}

  void setLabels(const std::vector<TabLabel>& labels) {
    m_labels = labels;
    const int wantedCount = static_cast<int>(labels.size());
    while (count() > wantedCount) removeTab(count() - 1);
    while (count() < wantedCount) addTab(QString());
    for (int i = 0; i < count(); ++i) setTabToolTip(i, toolTipOf(labels[static_cast<std::size_t>(i)]));
    fit();
    updateGeometry();
  }
  /// The width of all tabs with unshortened names.
  int wanted() const {
    int width = 0;
    for (int i = 0; i < count(); ++i) width += wantedOf(i);
    return width;
  }
  /// The width of the shown tab with unshortened name.
  int readable() const { return currentIndex() < 0 ? 0 : wantedOf(currentIndex()); }
  /// Shortens names and hides tabs if there is no room for all of them.
  void fit() {
    const bool isNarrow = wanted() > width();
    for (int i = 0; i < count(); ++i) {
      const int mark = labelOf(i).isModified ? fontMetrics().horizontalAdvance(QStringLiteral(" •")) : 0;
      const int room = isNarrow ? width() - besideOf(i) - mark : kMostName;
      const QString text = textOf(labelOf(i), std::clamp(room, kLeastName, kMostName), fontMetrics());
      if (tabText(i) != text) setTabText(i, text);
    }
    m_whole->fit();
  }
  QSize sizeHint() const override { return {wanted(), QTabBar::sizeHint().height()}; }

 protected:
  QSize minimumTabSizeHint(int index) const override { return tabSizeHint(index); }
  void resizeEvent(QResizeEvent* event) override {
    QTabBar::resizeEvent(event);
    fit();
  }
  void changeEvent(QEvent* event) override {
    QTabBar::changeEvent(event);
    if (event->type() == QEvent::FontChange || event->type() == QEvent::StyleChange) fit();
  }

 private:
  const TabLabel& labelOf(int index) const { return m_labels[static_cast<std::size_t>(index)]; }
  /// The width of a tab without its text.
  int besideOf(int index) const {
    return tabSizeHint(index).width() - fontMetrics().horizontalAdvance(tabText(index));
  }
  int wantedOf(int index) const {
    return besideOf(index) +
           fontMetrics().horizontalAdvance(textOf(labelOf(index), kMostName, fontMetrics()));
  }

  std::vector<TabLabel> m_labels;
  WholeTabs* m_whole = nullptr;
};

DocumentTabs::DocumentTabs(QWidget* parent) : QWidget(parent) {
  m_bar = new Bar;
  m_bar->setAccessibleName(tr("Open tabs"));
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
  m_list->setAccessibleName(tr("List of open tabs"));
  m_list->setToolTip(tr("All open tabs"));
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
    m_bar->setLabels(labels);
    updateGeometry();
    showListButton();
  }
  if (current >= 0 && current != m_bar->currentIndex()) {
    m_bar->setCurrentIndex(current);
    // The bar sends no signal here.
    m_bar->fit();
  }
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
