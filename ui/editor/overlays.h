// SPDX-License-Identifier: GPL-3.0-or-later
// Small widgets that lie over the canvas: the find bar, the line edit for renaming, the minimap.
#pragma once

#include "engine/workbench/document/document.h"
#include "ui/theme/theme.h"

#include <QFrame>
#include <QLineEdit>
#include <QPointF>
#include <QRectF>
#include <QString>
#include <QWidget>

#include <functional>
#include <vector>

class QLabel;

namespace spanscope::ui {

/// Searches for a text. Enter goes to the next hit.
class FindBar : public QFrame {
  Q_OBJECT
 public:
  explicit FindBar(QWidget* parent);
  void open(const Theme& theme);
  /// `place` counts from 1; `count` 0: nothing was found.
  void showHits(std::size_t place, std::size_t count);

 Q_SIGNALS:
  void textChanged(const QString& text);
  void nextWanted(bool backwards);
  void closed();

 protected:
  bool eventFilter(QObject* watched, QEvent* event) override;
  void paintEvent(QPaintEvent* event) override;

 private:
  Theme m_theme;
  QLineEdit* m_search;
  QLabel* m_hits;
};

/// A line edit that renames something in its place. Enter and losing the focus keep the new text; Escape
/// drops it.
class InlineEdit : public QLineEdit {
  Q_OBJECT
 public:
  explicit InlineEdit(QWidget* parent);
  void open(const QRect& area, const QString& text, const QString& hint, const Theme& theme,
            std::function<void(const QString&)> done);

 Q_SIGNALS:
  void closed();

 protected:
  bool event(QEvent* event) override;
  void keyPressEvent(QKeyEvent* event) override;
  void focusOutEvent(QFocusEvent* event) override;

 private:
  void finish(bool keep);
  std::function<void(const QString&)> m_done;
};

/// A small picture of the whole canvas that marks the part in sight.
class Minimap : public QWidget {
  Q_OBJECT
 public:
  struct Shape {
    QRectF rect;
    bool selected = false;
    bool operator==(const Shape&) const = default;
  };
  explicit Minimap(QWidget* parent);
  void setTheme(const Theme& theme);
  void setShapes(std::vector<Shape> shapes);
  void setSeen(const QRectF& seen);

 Q_SIGNALS:
  void centerWanted(QPointF scenePoint);

 protected:
  void paintEvent(QPaintEvent* event) override;
  void mousePressEvent(QMouseEvent* event) override;
  void mouseMoveEvent(QMouseEvent* event) override;

 private:
  QRectF world() const;
  QTransform toWidget() const;

  Theme m_theme;
  std::vector<Shape> m_shapes;
  QRectF m_content;
  QRectF m_seen;
};

}  // namespace spanscope::ui
