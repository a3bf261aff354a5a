// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/window/focus_keeper.h"

#include <QApplication>
#include <QWidget>

namespace spanscope::ui {
namespace {

constexpr const char* kKeepsFocus = "keepsFocus";

/// The innermost visible panel around a widget; nullptr: there is none.
QWidget* panelOf(const QWidget& widget) {
  for (QWidget* at = widget.parentWidget(); at != nullptr && !at->isWindow(); at = at->parentWidget()) {
    if (at->isVisible() && at->property(kKeepsFocus).toBool()) return at;
  }
  return nullptr;
}

}  // namespace

void keepFocusIn(QWidget& panel) {
  panel.setProperty(kKeepsFocus, true);
}

FocusKeeper::FocusKeeper(QObject* parent) : QObject(parent) {
  connect(qApp, &QApplication::focusChanged, this, &FocusKeeper::keep);
}

void FocusKeeper::keep(const QWidget* old, const QWidget* now) {
  // The user moves the focus only from a control that stays usable.
  if (old == nullptr || now == nullptr || (old->isVisible() && old->isEnabled())) return;
  if (old->window() != now->window()) return;
  QWidget* const panel = panelOf(*old);
  if (panel != nullptr && panel != now && !panel->isAncestorOf(now)) panel->setFocus(Qt::OtherFocusReason);
}

}  // namespace spanscope::ui
