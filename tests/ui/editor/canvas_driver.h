// SPDX-License-Identifier: GPL-3.0-or-later
// Drives a canvas in a window with the keys of the command table, by real mouse and key events. It finds
// nodes through the accessible tree, as a screen reader does.
#pragma once

#include "ui/document/document_model.h"
#include "ui/editor/canvas.h"

#include <QAccessible>
#include <QPoint>
#include <QRect>
#include <QString>
#include <QWidget>

#include <memory>
#include <vector>

namespace spanscope::test {

class CanvasDriver {
 public:
  explicit CanvasDriver(document::Document document = {});

  ui::DocumentModel& model() { return m_model; }
  const document::Document& document() const { return m_model.document(); }
  ui::Canvas& canvas() { return *m_canvas; }
  void setInput(const ui::ViewInput& input) { m_canvas->setInput(input); }

  QAccessibleInterface* accessible(document::NodeId id);
  /// The rectangle of a node in pixels of the canvas.
  QRect rect(document::NodeId id);
  QPoint center(document::NodeId id) { return rect(id).center(); }
  QPoint output(document::NodeId id);
  QPoint input(document::NodeId id);  ///< the input of a node with one input
  QPoint emptyPoint();                ///< a point far from everything
  std::vector<document::NodeId> selection();

  void click(QPoint at, Qt::KeyboardModifiers modifiers = {});
  void doubleClick(QPoint at);
  void press(QPoint at, Qt::KeyboardModifiers modifiers = {}, Qt::MouseButton button = Qt::LeftButton);
  void move(QPoint at, Qt::KeyboardModifiers modifiers = {}, Qt::MouseButton button = Qt::LeftButton);
  void release(QPoint at, Qt::KeyboardModifiers modifiers = {}, Qt::MouseButton button = Qt::LeftButton);
  void drag(QPoint from, QPoint to, Qt::KeyboardModifiers modifiers = {},
            Qt::MouseButton button = Qt::LeftButton);

  /// Drops an operator from the list of operators.
  void dropOperator(const QString& op, QPoint at);

  /// Sends a key to the widget with the focus.
  void key(Qt::Key key, Qt::KeyboardModifiers modifiers = {});
  void type(const QString& text);

  bool popupIsOpen();
  QStringList popupItems();
  void clickInPopup(const QString& title);
  /// Adds a node with the keys Tab, a name, Return.
  void addByKeys(const QString& title);

  std::vector<ui::Selection> selections;  ///< all selections that the canvas asked for
  std::vector<document::NodeId> edits;
  QStringList messages;
  QStringList dropped;

 private:
  QWidget* viewport();

  ui::DocumentModel m_model;
  QWidget m_window;
  ui::Canvas* m_canvas;
};

}  // namespace spanscope::test
