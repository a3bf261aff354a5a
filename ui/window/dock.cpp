// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/window/dock.h"

#include "ui/theme/theme.h"

#include <QFrame>
#include <QHBoxLayout>
#include <QMenu>
#include <QToolButton>
#include <QVBoxLayout>

namespace spanscope::ui {

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
    setTitleBarWidget(makeTitleBar(title));
  } else {
    setTitleBarWidget(new QWidget);
    setFeatures(DockWidgetClosable);
  }
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
  m_summary = new QLabel;
  m_summary->setObjectName(QStringLiteral("dockSummary"));
  m_summary->setFont(Theme().smallFont());
  m_summary->setMinimumWidth(0);
  m_summary->setSizePolicy(QSizePolicy::Ignored, QSizePolicy::Preferred);
  layout->addWidget(m_summary, 1);
  if (m_view != nullptr) {
    if (QWidget* controls = m_view->takeTitleControls()) layout->addWidget(controls);
    connect(m_view, &View::summaryChanged, this, &Dock::setSummary);
  }

  auto* more = new QToolButton;
  more->setText(QStringLiteral("⋯"));
  more->setAutoRaise(true);
  more->setAccessibleName(tr("Menu of %1").arg(title));
  more->setToolTip(tr("Export, float or close this view"));
  more->setPopupMode(QToolButton::InstantPopup);
  auto* menu = new QMenu(more);
  menu->addAction(tr("Export…"), this, [this] { Q_EMIT exportWanted(m_id); });
  menu->addAction(tr("Float"), this, [this] { setFloating(!isFloating()); });
  menu->addAction(tr("Close"), this, &QDockWidget::close);
  more->setMenu(menu);
  layout->addWidget(more);
  return bar;
}

void Dock::setSummary(const QString& text) {
  if (m_summary != nullptr) m_summary->setText(text);
}

}  // namespace spanscope::ui
