// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/window/dock.h"

#include "ui/theme/theme.h"
#include "ui/views/common/elided_text.h"
#include "ui/views/common/text_painting.h"
#include "ui/window/focus_keeper.h"

#include <QEvent>
#include <QFrame>
#include <QHBoxLayout>
#include <QMenu>
#include <QPainter>
#include <QScrollBar>
#include <QStyle>
#include <QTimer>
#include <QToolButton>
#include <QVBoxLayout>

#include <algorithm>
#include <set>
#include <utility>
#include <vector>

namespace spanscope::ui {

namespace {

/// Whether the view has hidden the widget explicitly. Widgets are also hidden before their parents are shown.
bool isHiddenByItsView(const QWidget& widget) {
  return widget.isHidden() && widget.testAttribute(Qt::WA_WState_ExplicitShowHide);
}

constexpr QPoint kStep(48, 48);
constexpr QSize kLeastFloating(420, 320);

/// A title bar that requests space only for its name and its menu. Other controls move into the drawer if
/// there is no space.
class TitleBar : public QFrame {
 public:
  // QDockWidget reads this height.
  QSize sizeHint() const override { return {QFrame::sizeHint().width(), minimumHeight()}; }
  QSize minimumSizeHint() const override {
    constexpr int kLeastTitle = 160;
    return {std::min(kLeastTitle, QFrame::minimumSizeHint().width()), minimumHeight()};
  }
};

/// A sentence in place of a view, or above it. In a low dock, it has only lines that are whole.
class DockSentence : public QLabel {
 protected:
  void paintEvent(QPaintEvent* event) override {
    const QRect room = contentsRect();
    const QString shown = textThatFits(text(), room.size(), fontMetrics());
    if (shown == text()) return QLabel::paintEvent(event);
    QPainter painter(this);
    style()->drawItemText(&painter, room, static_cast<int>(alignment()) | Qt::TextWordWrap, palette(),
                          isEnabled(), shown, foregroundRole());
  }
};

/// The widget and its children that get the focus by Tab, in the order of Tab.
std::vector<QWidget*> tabbedInside(QWidget* widget) {
  std::vector<QWidget*> inside;
  std::set<QWidget*> seen;  // a focus chain that Qt has repaired may not lead back to its start
  QWidget* at = widget;
  do {
    if ((at->focusPolicy() & Qt::TabFocus) != 0) inside.push_back(at);
    at = at->nextInFocusChain();
  } while (widget->isAncestorOf(at) && seen.insert(at).second);
  return inside;
}

}  // namespace

Dock::Dock(const QString& id, const QString& title, MakeView make, bool titled, QWidget* parent)
    : Dock(id, title, titled, parent) {
  m_make = std::move(make);
  m_isStrip = !titled;
}

Dock::Dock(const QString& id, const QString& title, QWidget* content, QWidget* parent)
    : Dock(id, title, false, parent) {
  m_content->addWidget(content);
}

Dock::Dock(const QString& id, const QString& title, bool titled, QWidget* parent)
    : QDockWidget(title, parent), m_id(id) {
  setObjectName(QStringLiteral("dock-") + id);
  setAccessibleName(title);
  keepFocusIn(*this);
  // The frame and its title bar draw one common border.
  auto* frame = new QFrame;
  frame->setObjectName(titled ? QStringLiteral("dockBody") : QStringLiteral("dockCard"));
  m_content = new QVBoxLayout(frame);
  m_content->setContentsMargins(1, titled ? 0 : 1, 1, 1);
  setWidget(frame);
  if (titled) {
    m_titleBar = makeTitleBar(title);
    setTitleBarWidget(m_titleBar);
    setMaximised(false);
  } else {
    setTitleBarWidget(new QWidget);
    setFeatures(DockWidgetClosable | DockWidgetFloatable);
  }
  connect(this, &QDockWidget::topLevelChanged, this, [this](bool floating) {
    if (m_titleBar != nullptr) {
      m_floatAction->setText(floating ? tr("Return dock to window") : tr("Float dock"));
      fitTitle();
      m_maximiseAction->setVisible(!floating);
    }
    Q_EMIT rearranged();
    // The dock is still being changed, or dragged.
    m_wasDragged = m_isPressed;
    if (floating) QTimer::singleShot(0, this, &Dock::frameWindow);
  });
}

View* Dock::openView() {
  if (!m_make) return m_view;
  // The factory may call this function again.
  m_view = std::exchange(m_make, nullptr)();
  // Tab leads through the title into the view, whichever docks were opened before.
  std::vector<QWidget*> order = m_titleBar == nullptr ? std::vector<QWidget*>() : tabbedInside(m_titleBar);
  const auto append = [&order](QWidget* widget) {
    const std::vector<QWidget*> inside = tabbedInside(widget);
    order.insert(order.end(), inside.begin(), inside.end());
  };
  if (QWidget* controls = m_title == nullptr ? nullptr : m_view->takeTitleControls()) {
    append(controls);
    m_controls = controls;
    m_title->insertWidget(m_title->indexOf(m_summary) + 1, controls);
    controls->installEventFilter(this);
  }
  append(m_view);
  m_holder = m_isStrip ? static_cast<QWidget*>(m_view) : new ViewScroll(m_view);
  m_content->addWidget(m_holder);
  for (std::size_t i = 1; i < order.size(); ++i) setTabOrder(order[i - 1], order[i]);
  fitTitle();
  connect(m_view, &View::summaryChanged, this, &Dock::setSummary);
  showUnreported();
  return m_view;
}

QWidget* Dock::makeTitleBar(const QString& title) {
  auto* bar = new TitleBar;
  bar->setObjectName(QStringLiteral("dockTitle"));
  bar->setFixedHeight(kDockTitleHeight);
  m_title = new QHBoxLayout(bar);
  m_title->setContentsMargins(10, 0, 4, 0);
  m_title->setSpacing(8);

  m_name = new QLabel(title);
  m_name->setFont(Theme().titleFont());
  m_title->addWidget(m_name);
  m_summary = new ElidedLabel;
  m_summary->setObjectName(QStringLiteral("dockSummary"));
  m_summary->setFont(Theme().smallFont());
  m_summary->setSizePolicy(QSizePolicy::Ignored, QSizePolicy::Preferred);
  m_title->addWidget(m_summary, 1);

  m_drawerButton = new QToolButton;
  m_drawerButton->setText(QStringLiteral("▾"));
  m_drawerButton->setAutoRaise(true);
  m_drawerButton->setAccessibleName(tr("Controls of %1").arg(title));
  m_drawerButton->setToolTip(tr("Show the legend and the controls of this view"));
  m_drawerButton->hide();
  connect(m_drawerButton, &QToolButton::clicked, this, &Dock::openDrawer);
  m_title->addWidget(m_drawerButton);
  m_maximise = new QToolButton;
  m_maximise->setAutoRaise(true);
  connect(m_maximise, &QToolButton::clicked, this, [this] { Q_EMIT maximiseWanted(m_id); });
  m_title->addWidget(m_maximise);
  bar->installEventFilter(this);

  m_more = new QToolButton;
  auto* more = m_more;
  more->setText(QStringLiteral("⋯"));
  more->setAutoRaise(true);
  more->setAccessibleName(tr("Menu of %1").arg(title));
  more->setToolTip(tr("Export, maximize, float or close this view"));
  more->setPopupMode(QToolButton::InstantPopup);
  auto* menu = new QMenu(more);
  menu->addAction(tr("Export view…"), this, [this] { Q_EMIT exportWanted(m_id); });
  m_maximiseAction = menu->addAction(QString(), this, [this] { Q_EMIT maximiseWanted(m_id); });
  m_floatAction = menu->addAction(tr("Float dock"), this, [this] { setFloating(!isFloating()); });
  menu->addAction(tr("Close dock"), this, &QDockWidget::close);
  more->setMenu(menu);
  m_title->addWidget(more);
  return bar;
}

void Dock::fitTitle() {
  if (m_titleBar == nullptr) return;
  const QMargins margins = m_title->contentsMargins();
  const auto room = [this](const QWidget& widget) { return widget.sizeHint().width() + m_title->spacing(); };
  const int needed = margins.left() + margins.right() + room(*m_name) + room(*m_more) + m_title->spacing();
  const int controls = m_controls == nullptr ? 0 : m_controls->minimumSizeHint().width() + m_title->spacing();
  const bool fits = needed + controls <= m_titleBar->width();
  // Controls that could be shorter, such as a legend, have precedence over the button.
  const int whole = m_controls == nullptr ? 0 : room(*m_controls);
  m_maximise->setVisible(!isFloating() && needed + whole + room(*m_maximise) <= m_titleBar->width());
  if (m_controls == nullptr) return;
  // Views hide controls for which there is nothing to choose.
  const bool isOffered = !isHiddenByItsView(*m_controls);
  m_drawerButton->setVisible(!fits && isOffered);
  if (fits == (m_controls->parentWidget() == m_titleBar)) return;
  if (fits) {
    m_title->insertWidget(m_title->indexOf(m_summary) + 1, m_controls);
    m_drawer->hide();
    // The popup window has removed the controls from the order of Tab.
    QWidget* before = m_more;
    for (QWidget* control : tabbedInside(m_controls)) {
      setTabOrder(before, control);
      before = control;
    }
  } else {
    if (m_drawer == nullptr) {
      m_drawer = new QFrame(this, Qt::Popup);
      m_drawer->setObjectName(QStringLiteral("drawer"));
      m_drawer->setFrameShape(QFrame::StyledPanel);
      m_drawer->setAccessibleName(m_drawerButton->accessibleName());
      new QHBoxLayout(m_drawer);
      m_drawer->installEventFilter(this);
    }
    m_drawer->layout()->addWidget(m_controls);
  }
  m_controls->setVisible(isOffered);
}

void Dock::fitTitleHeight() {
  int height = kDockTitleHeight;
  if (m_controls != nullptr && m_controls->parentWidget() == m_titleBar && m_controls->hasHeightForWidth() &&
      !isHiddenByItsView(*m_controls)) {
    constexpr int kBorders = 2;
    const int needed = m_controls->heightForWidth(m_controls->width());
    if (needed > m_controls->sizeHint().height()) height = std::max(height, needed + kBorders);
  }
  if (height != m_titleBar->minimumHeight()) m_titleBar->setFixedHeight(height);
}

void Dock::openDrawer() {
  m_drawer->adjustSize();
  const QPoint below = m_drawerButton->mapToGlobal(QPoint(m_drawerButton->width(), m_drawerButton->height()));
  m_drawer->move(std::max(0, below.x() - m_drawer->width()), below.y());
  m_drawer->show();
}

void Dock::setSummary(const QString& text) {
  m_summaryText = text;
  // For a hidden view, the summary would be out of date.
  if (m_summary != nullptr) m_summary->setText(m_saysOnlyThat ? QString() : text);
}

void Dock::setUnreported(const QString& text, bool inItsPlace) {
  if (m_unreportedText == text && m_saysOnlyThat == inItsPlace) return;
  m_unreportedText = text;
  m_saysOnlyThat = inItsPlace;
  showUnreported();
}

void Dock::showUnreported() {
  if (m_view == nullptr || (m_unreported == nullptr && m_unreportedText.isEmpty())) return;
  if (m_unreported == nullptr) {
    m_unreported = new DockSentence;
    m_unreported->setObjectName(QStringLiteral("dockUnreported"));
    m_unreported->setFont(Theme().interfaceFont());
    m_unreported->setWordWrap(true);
    m_unreported->setContentsMargins(3 * kSpace, kSpace, 3 * kSpace, kSpace);
    m_content->insertWidget(0, m_unreported);
  }
  m_unreported->setText(m_unreportedText);
  m_unreported->setAlignment(m_saysOnlyThat ? Qt::AlignCenter : Qt::AlignLeft | Qt::AlignVCenter);
  QSizePolicy policy(QSizePolicy::Preferred,
                     m_saysOnlyThat ? QSizePolicy::Expanding : QSizePolicy::Preferred);
  // The height depends on the width. A new size policy does not have this flag yet.
  policy.setHeightForWidth(true);
  m_unreported->setSizePolicy(policy);
  m_unreported->setVisible(!m_unreportedText.isEmpty());
  // An empty scroll area would take half of the height.
  m_holder->setVisible(!m_saysOnlyThat);
  m_view->setVisible(!m_saysOnlyThat);
  setSummary(m_summaryText);
}

void Dock::setLit(bool isLit) {
  if (m_titleBar == nullptr || m_titleBar->property("lit").toBool() == isLit) return;
  QWidget* body = widget()->objectName() == QLatin1String("dockBody")
                      ? widget()
                      : widget()->findChild<QWidget*>(QStringLiteral("dockBody"));
  for (QWidget* part : {m_titleBar, body}) {
    if (part == nullptr) continue;
    part->setProperty("lit", isLit);
    part->style()->unpolish(part);
    part->style()->polish(part);
  }
  // The mark is also in text and description, so that it does not depend on colour.
  m_name->setText(isLit ? QStringLiteral("▸ ") + windowTitle() : windowTitle());
  m_titleBar->setAccessibleDescription(isLit ? tr("The lesson explains this dock") : QString());
}

void Dock::setMaximised(bool maximised) {
  if (m_maximise == nullptr) return;
  m_maximise->setText(maximised ? QStringLiteral("⤡") : QStringLiteral("⤢"));
  m_maximise->setAccessibleName(maximised ? tr("Restore %1").arg(windowTitle())
                                          : tr("Maximize %1").arg(windowTitle()));
  m_maximise->setToolTip(maximised ? tr("Show the other docks (double-click the title)")
                                   : tr("Enlarge this dock to the whole window (double-click the title)"));
  m_maximiseAction->setText(maximised ? tr("Show the other docks") : tr("Maximize dock"));
}

void Dock::frameWindow() {
  if (!isFloating() || m_isPressed) return;
  if (windowType() == Qt::Window && (windowFlags() & Qt::FramelessWindowHint) == 0) return;
  // The floating dock is next to its old place, so that the user sees the change. The size of the dock is
  // large enough to be useful.
  const QRect place(pos() + kStep, size().expandedTo(kLeastFloating));
  const bool wasDragged = m_wasDragged;
  // destroy() makes another native window. A window may stay hidden if it is hidden and shown again too fast
  // for the window manager.
  hide();
  destroy();
  setWindowFlags(Qt::Window | Qt::WindowTitleHint | Qt::WindowSystemMenuHint | Qt::WindowMinMaxButtonsHint |
                 Qt::WindowCloseButtonHint);
  setGeometry(wasDragged ? geometry() : place);
  show();
}

bool Dock::event(QEvent* event) {
  if (event->type() == QEvent::ShowToParent) openView();
  if (event->type() == QEvent::HideToParent || event->type() == QEvent::ShowToParent) Q_EMIT rearranged();
  if (event->type() == QEvent::MouseButtonPress) m_isPressed = true;
  if (event->type() == QEvent::MouseButtonRelease) m_isPressed = false;
  const bool handled = QDockWidget::event(event);
  // After a drag, Qt has set the flags of a frameless window again.
  if (event->type() == QEvent::MouseButtonRelease && isFloating())
    QTimer::singleShot(0, this, &Dock::frameWindow);
  return handled;
}

bool Dock::eventFilter(QObject* watched, QEvent* event) {
  // Views show and hide controls depending on their content. Controls that change their size notify their
  // parent.
  const bool isAround = watched == m_titleBar || watched == m_drawer;
  const bool isRoom = (watched == m_titleBar && event->type() == QEvent::Resize) ||
                      (isAround && event->type() == QEvent::LayoutRequest);
  const bool isControls = watched == m_controls &&
                          (event->type() == QEvent::LayoutRequest || event->type() == QEvent::ShowToParent ||
                           event->type() == QEvent::HideToParent);
  if (isRoom || isControls) fitTitle();
  if (isRoom || isControls) fitTitleHeight();
  // The title bar must not change its height while its layout moves the controls.
  if (watched == m_controls && event->type() == QEvent::Resize)
    QMetaObject::invokeMethod(this, &Dock::fitTitleHeight, Qt::QueuedConnection);
  if (watched == m_titleBar && event->type() == QEvent::MouseButtonDblClick) {
    if (isFloating())
      setFloating(false);
    else
      Q_EMIT maximiseWanted(m_id);
    return true;
  }
  return QDockWidget::eventFilter(watched, event);
}

namespace {

constexpr QSize kLeast(120, 64);

QSize leastOf(const QWidget& view) {
  return view.minimumSizeHint().expandedTo(view.minimumSize());
}

}  // namespace

ViewScroll::ViewScroll(QWidget* view, QWidget* parent) : QScrollArea(parent) {
  setFrameShape(QFrame::NoFrame);
  setFocusPolicy(Qt::NoFocus);
  viewport()->setAutoFillBackground(false);
  setWidget(view);
  view->setAutoFillBackground(false);
  view->installEventFilter(this);
  setFocusProxy(view);
}

QSize ViewScroll::minimumSizeHint() const {
  return leastOf(*widget()).boundedTo(kLeast);
}

QSize ViewScroll::sizeHint() const {
  return widget()->sizeHint();
}

bool ViewScroll::eventFilter(QObject* watched, QEvent* event) {
  // Trying a width makes the view request a layout. Without another change, the width is not tried again.
  if (watched == widget() && event->type() == QEvent::LayoutRequest &&
      (leastOf(*widget()) != m_least || maximumViewportSize() != m_room)) {
    fit();
    updateGeometry();
  }
  return QScrollArea::eventFilter(watched, event);
}

void ViewScroll::resizeEvent(QResizeEvent* event) {
  QScrollArea::resizeEvent(event);
  fit();
}

// NOLINTNEXTLINE(readability-make-member-function-const): it changes the size of the view.
void ViewScroll::fit() {
  // QScrollArea would give a view with wrapped texts its preferred height, although the plots in it can be
  // lower. The minimum height may depend on the width, so each width is tried.
  const auto leastAt = [this](int width) {
    if (widget()->width() < width || leastOf(*widget()).width() <= width)
      widget()->resize(width, widget()->height());
    return leastOf(*widget());
  };
  QSize room = maximumViewportSize();
  QSize least = leastAt(room.width());
  const bool isHigh = least.height() > room.height();
  if (isHigh) {
    room.rwidth() -= verticalScrollBar()->sizeHint().width();
    least = leastAt(room.width());
  }
  if (least.width() > room.width()) {
    room.rheight() -= horizontalScrollBar()->sizeHint().height();
    if (!isHigh && least.height() > room.height()) room.rwidth() -= verticalScrollBar()->sizeHint().width();
  }
  widget()->resize(room.expandedTo(least));
  m_least = leastOf(*widget());
  m_room = maximumViewportSize();
}

}  // namespace spanscope::ui
