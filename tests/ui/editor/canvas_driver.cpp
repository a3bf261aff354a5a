// SPDX-License-Identifier: GPL-3.0-or-later
#include "tests/ui/editor/canvas_driver.h"

#include "engine/workbench/document/edits.h"
#include "ui/commands/command_table.h"

#include <QAction>
#include <QApplication>
#include <QDebug>
#include <QDragEnterEvent>
#include <QDropEvent>
#include <QEvent>
#include <QGraphicsView>
#include <QLineEdit>
#include <QList>
#include <QListWidget>
#include <QMimeData>
#include <QMouseEvent>
#include <QObject>
#include <QPoint>
#include <QRect>
#include <QString>
#include <QStringList>
#include <QStringLiteral>
#include <QTest>
#include <QVBoxLayout>

#include <cstdlib>
#include <functional>
#include <map>

namespace spanscope::test {

using document::kNoNode;
using document::NodeId;

CanvasDriver::CanvasDriver(document::Document document)
    : m_model(std::move(document)), m_canvas(new ui::Canvas(&m_window)) {
  auto* box = new QVBoxLayout(&m_window);
  box->setContentsMargins(0, 0, 0, 0);
  box->addWidget(m_canvas);
  for (const ui::CommandInfo& info : ui::commandTable()) {
    if (info.keys.isEmpty() ||
        !(info.id.startsWith(QStringLiteral("edit.")) || info.id.startsWith(QStringLiteral("node.")) ||
          info.id.startsWith(QStringLiteral("view.")))) {
      continue;
    }
    auto* action = new QAction(info.text, m_canvas);
    QList<QKeySequence> keys;
    for (const QString& key : info.keys) keys.append(QKeySequence(key));
    action->setShortcuts(keys);
    const bool ofCanvas = info.scope == ui::CommandScope::Canvas;
    action->setShortcutContext(ofCanvas ? Qt::WidgetWithChildrenShortcut : Qt::WindowShortcut);
    const QString id = info.id;
    QObject::connect(action, &QAction::triggered, m_canvas, [this, id] { m_canvas->perform(id); });
    (ofCanvas ? static_cast<QWidget*>(m_canvas) : &m_window)->addAction(action);
  }
  QObject::connect(m_canvas, &ui::Canvas::selectionWanted, m_canvas,
                   [this](const ui::Selection& selection) { selections.push_back(selection); });
  QObject::connect(m_canvas, &ui::Canvas::editWanted, m_canvas, [this](NodeId id) { edits.push_back(id); });
  QObject::connect(m_canvas, &ui::Canvas::messageWanted, m_canvas,
                   [this](const QString& text) { messages.append(text); });
  QObject::connect(m_canvas, &ui::Canvas::filesDropped, m_canvas,
                   [this](const QStringList& paths) { dropped = paths; });
  m_canvas->setModel(&m_model);
  m_window.resize(1280, 800);
  m_window.show();
  QApplication::setActiveWindow(&m_window);
  if (!QTest::qWaitForWindowActive(&m_window)) qWarning("the window did not become active");
  m_canvas->setFocus();
}

QWidget* CanvasDriver::viewport() {
  return m_canvas->findChild<QGraphicsView*>()->viewport();
}

QAccessibleInterface* CanvasDriver::accessible(NodeId id) {
  QAccessibleInterface* canvas = QAccessible::queryAccessibleInterface(m_canvas);
  if (canvas == nullptr) return nullptr;
  // The accessible tree has the shape of the document.
  std::vector<NodeId> path;
  for (NodeId at = id; at != kNoNode; at = document().at(at).parent) path.push_back(at);
  const std::vector<NodeId> tops = document().tops();
  const auto top = std::find(tops.begin(), tops.end(), path.back());
  QAccessibleInterface* found = canvas->child(static_cast<int>(top - tops.begin()));
  for (std::size_t i = path.size() - 1; i > 0 && found != nullptr; --i) {
    std::vector<NodeId> children = document().at(path[i]).children;
    std::erase(children, kNoNode);
    const auto child = std::find(children.begin(), children.end(), path[i - 1]);
    found = found->child(static_cast<int>(child - children.begin()));
  }
  return found;
}

QRect CanvasDriver::rect(NodeId id) {
  QAccessibleInterface* interface = accessible(id);
  if (interface == nullptr) return {};
  const QRect global = interface->rect();
  return {m_canvas->mapFromGlobal(global.topLeft()), global.size()};
}

QPoint CanvasDriver::output(NodeId id) {
  const QRect at = rect(id);
  return {at.right() + 1, at.center().y()};
}

QPoint CanvasDriver::input(NodeId id) {
  const QRect at = rect(id);
  return {at.left(), at.center().y()};
}

QPoint CanvasDriver::emptyPoint() {
  const int away = 60;
  for (int y = m_canvas->height() - 100; y > away; y -= 20) {
    for (int x = 100; x < m_canvas->width() - 340; x += 20) {
      bool free = true;
      for (const NodeId id : document().ids()) {
        const QRect at = rect(id);
        if (at.isValid() && at.adjusted(-away, -away, away, away).contains(x, y)) free = false;
      }
      if (free) return {x, y};
    }
  }
  qWarning("no empty point");
  return {};
}

std::vector<NodeId> CanvasDriver::selection() {
  std::vector<NodeId> selected;
  for (const NodeId id : document().ids()) {
    QAccessibleInterface* interface = accessible(id);
    if (interface != nullptr && interface->state().selected) selected.push_back(id);
  }
  return selected;
}

void CanvasDriver::click(QPoint at, Qt::KeyboardModifiers modifiers) {
  QTest::mouseClick(viewport(), Qt::LeftButton, modifiers, at);
}

void CanvasDriver::doubleClick(QPoint at) {
  // As a window system sends it: a click first.
  QTest::mouseClick(viewport(), Qt::LeftButton, {}, at);
  QTest::mouseDClick(viewport(), Qt::LeftButton, {}, at);
  QTest::mouseRelease(viewport(), Qt::LeftButton, {}, at);
}

void CanvasDriver::press(QPoint at, Qt::KeyboardModifiers modifiers, Qt::MouseButton button) {
  QTest::mousePress(viewport(), button, modifiers, at);
}

void CanvasDriver::move(QPoint at, Qt::KeyboardModifiers modifiers, Qt::MouseButton button) {
  // QTest::mouseMove has no buttons and no modifiers.
  QMouseEvent event(QEvent::MouseMove, at, viewport()->mapToGlobal(at), Qt::NoButton, button, modifiers);
  QApplication::sendEvent(viewport(), &event);
}

void CanvasDriver::release(QPoint at, Qt::KeyboardModifiers modifiers, Qt::MouseButton button) {
  QTest::mouseRelease(viewport(), button, modifiers, at);
}

void CanvasDriver::drag(QPoint from, QPoint to, Qt::KeyboardModifiers modifiers, Qt::MouseButton button) {
  press(from, modifiers, button);
  for (int step = 1; step <= 8; ++step) move(from + (to - from) * step / 8, modifiers, button);
  release(to, modifiers, button);
}

void CanvasDriver::dropOperator(const QString& op, QPoint at) {
  QMimeData data;
  data.setData(QLatin1String(document::kOperatorMimeType), op.toUtf8());
  const QPoint place = viewport()->mapFrom(m_canvas, at);
  QDragEnterEvent enter(place, Qt::CopyAction, &data, Qt::LeftButton, Qt::NoModifier);
  QApplication::sendEvent(viewport(), &enter);
  if (!enter.isAccepted()) return;
  QDropEvent drop(place, Qt::CopyAction, &data, Qt::LeftButton, Qt::NoModifier);
  QApplication::sendEvent(viewport(), &drop);
}

void CanvasDriver::key(Qt::Key key, Qt::KeyboardModifiers modifiers) {
  QWidget* target = QApplication::focusWidget();
  QTest::keyClick(target != nullptr ? target : m_canvas, key, modifiers);
}

void CanvasDriver::type(const QString& text) {
  QWidget* target = QApplication::focusWidget();
  QTest::keyClicks(target != nullptr ? target : m_canvas, text);
}

bool CanvasDriver::popupIsOpen() {
  auto* popup = m_canvas->findChild<QWidget*>(QStringLiteral("addPopup"));
  return popup != nullptr && popup->isVisible();
}

QStringList CanvasDriver::popupItems() {
  QStringList titles;
  auto* list = m_canvas->findChild<QListWidget*>(QStringLiteral("addList"));
  for (int i = 0; i < list->count(); ++i) titles.append(list->item(i)->text());
  return titles;
}

void CanvasDriver::clickInPopup(const QString& title) {
  auto* list = m_canvas->findChild<QListWidget*>(QStringLiteral("addList"));
  const QList<QListWidgetItem*> items = list->findItems(title, Qt::MatchExactly);
  if (items.isEmpty()) {
    qWarning("not in the popup: %s", qPrintable(title));
    return;
  }
  list->scrollToItem(items.first());
  QTest::mouseClick(list->viewport(), Qt::LeftButton, {}, list->visualItemRect(items.first()).center());
}

void CanvasDriver::addByKeys(const QString& title) {
  // The text of a message that was added before may still be open.
  QCoreApplication::processEvents();
  if (!m_canvas->hasFocus()) key(Qt::Key_Escape);
  key(Qt::Key_Tab);
  type(title);
  key(Qt::Key_Return);
}

}  // namespace spanscope::test
