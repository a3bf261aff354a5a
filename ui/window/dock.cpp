// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/window/dock.h"

#include "ui/theme/theme.h"
#include "ui/window/elided_label.h"

#include <QEvent>
#include <QFrame>
#include <QHBoxLayout>
#include <QMenu>
#include <QTimer>
#include <QToolButton>
#include <QVBoxLayout>

namespace spanscope::ui {
namespace {

constexpr QPoint kStep(48, 48);
constexpr QSize kLeastFloating(420, 320);

}  // namespace

Dock::Dock(const QString& id, const QString& title, QWidget* content, bool titled, QWidget* parent)
    : QDockWidget(title, parent), m_id(id), m_view(qobject_cast<View*>(content)) {
  setObjectName(QStringLiteral("dock-") + id);
  setAccessibleName(title);
  // The frame and its title bar are one card: together they draw the border.
  auto* frame = new QFrame;
  frame->setObjectName(titled ? QStringLiteral("dockBody") : QStringLiteral("dockCard"));
  auto* layout = new QVBoxLayout(frame);
  layout->setContentsMargins(1, titled ? 0 : 1, 1, 1);
  layout->addWidget(content);
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
      m_floatAction->setText(floating ? tr("Put back into the window") : tr("Float"));
      m_maximise->setVisible(!floating);
      m_maximiseAction->setVisible(!floating);
    }
    Q_EMIT rearranged();
    // The dock is still being changed, or dragged.
    m_wasDragged = m_isPressed;
    if (floating) QTimer::singleShot(0, this, &Dock::frameWindow);
  });
}

QWidget* Dock::makeTitleBar(const QString& title) {
  auto* bar = new QFrame;
  bar->setObjectName(QStringLiteral("dockTitle"));
  bar->setFixedHeight(kDockTitleHeight);
  auto* layout = new QHBoxLayout(bar);
  layout->setContentsMargins(10, 0, 4, 0);
  layout->setSpacing(8);

  auto* name = new QLabel(title);
  name->setFont(Theme().titleFont());
  layout->addWidget(name);
  m_summary = new ElidedLabel;
  m_summary->setObjectName(QStringLiteral("dockSummary"));
  m_summary->setFont(Theme().smallFont());
  m_summary->setSizePolicy(QSizePolicy::Ignored, QSizePolicy::Preferred);
  layout->addWidget(m_summary, 1);
  if (m_view != nullptr) {
    if (QWidget* controls = m_view->takeTitleControls()) layout->addWidget(controls);
    connect(m_view, &View::summaryChanged, this, &Dock::setSummary);
  }

  m_maximise = new QToolButton;
  m_maximise->setAutoRaise(true);
  connect(m_maximise, &QToolButton::clicked, this, [this] { Q_EMIT maximiseWanted(m_id); });
  layout->addWidget(m_maximise);
  bar->installEventFilter(this);

  auto* more = new QToolButton;
  more->setText(QStringLiteral("⋯"));
  more->setAutoRaise(true);
  more->setAccessibleName(tr("Menu of %1").arg(title));
  more->setToolTip(tr("Export, maximise, float or close this view"));
  more->setPopupMode(QToolButton::InstantPopup);
  auto* menu = new QMenu(more);
  menu->addAction(tr("Export…"), this, [this] { Q_EMIT exportWanted(m_id); });
  m_maximiseAction = menu->addAction(QString(), this, [this] { Q_EMIT maximiseWanted(m_id); });
  m_floatAction = menu->addAction(tr("Float"), this, [this] { setFloating(!isFloating()); });
  menu->addAction(tr("Close"), this, &QDockWidget::close);
  more->setMenu(menu);
  layout->addWidget(more);
  return bar;
}

void Dock::setSummary(const QString& text) {
  if (m_summary != nullptr) m_summary->setText(text);
}

void Dock::setMaximised(bool maximised) {
  if (m_maximise == nullptr) return;
  m_maximise->setText(maximised ? QStringLiteral("⤡") : QStringLiteral("⤢"));
  m_maximise->setAccessibleName(maximised ? tr("Put %1 back").arg(windowTitle())
                                          : tr("Maximise %1").arg(windowTitle()));
  m_maximise->setToolTip(maximised ? tr("Show the other docks again (double click on the title)")
                                   : tr("Give this dock the whole window (double click on the title)"));
  m_maximiseAction->setText(maximised ? tr("Show the other docks") : tr("Maximise"));
}

void Dock::frameWindow() {
  if (!isFloating() || m_isPressed) return;
  if (windowType() == Qt::Window && (windowFlags() & Qt::FramelessWindowHint) == 0) return;
  // Beside where it stood, so that it is seen to have left, and large enough to be of use.
  const QRect place(pos() + kStep, size().expandedTo(kLeastFloating));
  const bool wasDragged = m_wasDragged;
  // Another native window: one that is hidden and shown again before the window manager has seen the first
  // showing may stay hidden.
  hide();
  destroy();
  setWindowFlags(Qt::Window | Qt::WindowTitleHint | Qt::WindowSystemMenuHint | Qt::WindowMinMaxButtonsHint |
                 Qt::WindowCloseButtonHint);
  setGeometry(wasDragged ? geometry() : place);
  show();
}

bool Dock::event(QEvent* event) {
  if (event->type() == QEvent::HideToParent || event->type() == QEvent::ShowToParent) Q_EMIT rearranged();
  if (event->type() == QEvent::MouseButtonPress) m_isPressed = true;
  if (event->type() == QEvent::MouseButtonRelease) m_isPressed = false;
  const bool handled = QDockWidget::event(event);
  // A drag sets the flags of a window without a frame again.
  if (event->type() == QEvent::MouseButtonRelease && isFloating())
    QTimer::singleShot(0, this, &Dock::frameWindow);
  return handled;
}

bool Dock::eventFilter(QObject* watched, QEvent* event) {
  if (watched == m_titleBar && event->type() == QEvent::MouseButtonDblClick) {
    if (isFloating())
      setFloating(false);
    else
      Q_EMIT maximiseWanted(m_id);
    return true;
  }
  return QDockWidget::eventFilter(watched, event);
}

}  // namespace spanscope::ui
